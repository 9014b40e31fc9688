// SPDX-License-Identifier: Apache-2.0
//! Integers that LLVM takes as they are, and joins with nothing that made them.
#![expect(unsafe_code, reason = "inkwell has no call for `freeze`")]

use super::Emitter;
use inkwell::llvm_sys::core::LLVMBuildFreeze;
use inkwell::values::{AsValueRef, IntValue};

impl<'c> Emitter<'c> {
    /// The same integer.
    pub(super) fn freeze(&self, value: IntValue<'c>) -> IntValue<'c> {
        let builder = self.builder.as_mut_ptr();
        // SAFETY: a block is being written, and the value is one of its function.
        let frozen = unsafe { LLVMBuildFreeze(builder, value.as_value_ref(), c"".as_ptr()) };
        // SAFETY: LLVM gives a value of the same type.
        unsafe { IntValue::new(frozen) }
    }
}
