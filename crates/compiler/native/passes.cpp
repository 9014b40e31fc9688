// SPDX-License-Identifier: Apache-2.0
// Which passes of LLVM's do not run where PTX is written. LLVM asks a context's gate before each pass that it can do without.

#include "passes.h"

#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/OptBisect.h"

namespace {

// Both look for sums that are computed from others with fewer operations. That takes up to a third of the time of the code generator,
// and the machine code of every example is as long without, within two in a hundred.
class Gate : public llvm::OptPassGate {
public:
  bool shouldRunPass(llvm::StringRef pass, llvm::StringRef) const override {
    return pass != "slsr" && pass != "nary-reassociate";
  }
  bool isEnabled() const override { return true; }
};

} // namespace

void kernpack_leave_out_passes(LLVMContextRef context) {
  static Gate gate;
  llvm::unwrap(context)->setOptPassGate(gate);
}
