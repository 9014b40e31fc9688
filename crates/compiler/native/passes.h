// SPDX-License-Identifier: Apache-2.0
// The C interface of passes.cpp, mirrored by src/llvm/passes.rs.

#ifndef KERNPACK_NATIVE_PASSES_H
#define KERNPACK_NATIVE_PASSES_H

#include "llvm-c/Types.h"

// Leaves out passes of LLVM's that cost more than they give, wherever a module of this context becomes PTX.
extern "C" void kernpack_leave_out_passes(LLVMContextRef context);

#endif
