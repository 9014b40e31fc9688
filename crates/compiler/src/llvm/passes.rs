// SPDX-License-Identifier: Apache-2.0
//! Passes of LLVM's that do not run where PTX is written: `native/passes.cpp` says which, and why.

#![expect(unsafe_code, reason = "what decides which passes run is C++")]

use inkwell::context::AsContextRef;
use inkwell::llvm_sys::prelude::LLVMContextRef;

unsafe extern "C" {
    fn kernpack_leave_out_passes(context: LLVMContextRef);
}

/// Leaves them out for the modules of a context.
pub(super) fn leave_out<'c>(context: impl AsContextRef<'c>) {
    // SAFETY: the context is there, and what it is given stays as long as the process.
    unsafe { kernpack_leave_out_passes(context.as_ctx_ref()) }
}

#[cfg(test)]
mod tests {
    use crate::llvm::{Emitter, PtxOptions, ptx};
    use inkwell::context::Context;
    use inkwell::memory_buffer::MemoryBuffer;

    /// Strength reduction would make the second product of the first, with one sum.
    const PRODUCTS: &str = "
        define ptx_kernel void @k(i64 %a, i64 %b, ptr addrspace(1) %x) {
          %first = add i64 %a, 5
          %second = add i64 %a, 6
          %one = mul i64 %first, %b
          %other = mul i64 %second, %b
          store volatile i64 %one, ptr addrspace(1) %x
          store volatile i64 %other, ptr addrspace(1) %x
          ret void
        }";

    #[test]
    fn sums_are_not_made_of_one_another() {
        let context = Context::create();
        let text = MemoryBuffer::create_from_memory_range_copy(PRODUCTS.as_bytes(), "k");
        let mut emitter = Emitter::new(&context, "k");
        emitter.module = context.create_module_from_ir(text).expect("it is a module");
        let arch = "sm_90".parse().expect("it is an architecture");
        let made = ptx(&emitter, arch, &PtxOptions::default()).expect("it becomes PTX");
        assert_eq!(made.text.matches("mul.lo.s64").count(), 2, "{}", made.text);
    }
}
