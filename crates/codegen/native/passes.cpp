// SPDX-License-Identifier: Apache-2.0
// Which passes of LLVM's code generator do not run, for one context. LLVM's own switch is an option
// of the whole process.

#include "passes.h"

#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/OptBisect.h"

namespace {

class WithoutStrengthReduction : public llvm::OptPassGate {
public:
  bool isEnabled() const override { return true; }
  bool shouldRunPass(llvm::StringRef pass, llvm::StringRef) const override { return pass != "slsr"; }
};

} // namespace

void kernpack_without_strength_reduction(LLVMContextRef context) {
  static WithoutStrengthReduction gate;
  llvm::unwrap(context)->setOptPassGate(gate);
}
