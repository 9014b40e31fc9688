// SPDX-License-Identifier: Apache-2.0
// The C interface of passes.cpp, mirrored by src/llvm/strength.rs.

#ifndef KERNPACK_NATIVE_PASSES_H
#define KERNPACK_NATIVE_PASSES_H

#include "llvm-c/Types.h"

extern "C" {

// From now on the code generator reduces the strength of no module's sums and products that is of
// the context.
void kernpack_without_strength_reduction(LLVMContextRef context);
}

#endif
