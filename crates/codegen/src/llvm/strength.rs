// SPDX-License-Identifier: Apache-2.0
//! Code generation without straight-line strength reduction.
//!
//! The pass writes `(x + 1) * y` as the product `x * y` that is there already, plus `y`. LLVM's
//! code generator runs it for GPUs. It asks of each pair of such sums whether one may stand for the
//! other, and takes nine tenths of the time of kernels that keep a hundred sums a thread.
#![expect(unsafe_code, reason = "LLVM's C interface has no switch for a pass")]

use inkwell::context::{AsContextRef, Context};
use inkwell::llvm_sys::prelude::LLVMContextRef;

unsafe extern "C" {
    fn kernpack_without_strength_reduction(context: LLVMContextRef);
}

/// Has no module of the context strength-reduced.
pub(super) fn leave_out(context: &Context) {
    // SAFETY: the context is alive, and what `native/passes.cpp` gives it lives as long as the
    // process.
    unsafe { kernpack_without_strength_reduction(context.as_ctx_ref()) }
}
