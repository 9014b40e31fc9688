// SPDX-License-Identifier: Apache-2.0
//! Calls of rows of the table, as far as they have it in common: their operands, and functions of
//! LLVM that do what a row means. How each row is done is the target's.

use super::{Lowering, Target};
use kernpack_kernel_ir::kernel::Value;
use kernpack_kernel_ir::op::Call;
use kernpack_kernel_ir::types::Type;

impl<T: Target> Lowering<'_, '_, T> {
    /// Calls a function of LLVM that has variants by its first operand's type. What it takes beyond
    /// the operands is whether an operand of 0 may give anything, which it may not.
    pub(in crate::kernel) fn lower_llvm(&mut self, result: Value, name: &str, values: &[Value]) {
        let mut args: Vec<_> = values.iter().map(|value| self.full(*value)).collect();
        if matches!(name, "llvm.ctlz" | "llvm.cttz") {
            args.push(self.emitter.truth(false));
        }
        let first = Self::ty(self.kernel.ty(values[0]));
        let value = self.emitter.intrinsic(name, &[first], &args);
        let value = value.unwrap_or_else(|| unreachable!("`{name}` gives a number"));
        match self.kernel.ty(result) {
            Type::Scalar(scalar) => self.set_number(result, value, scalar),
            Type::Vector(..) | Type::Pointer(_) => self.set_value(result, value),
        }
    }
}

/// The operands that are values.
pub(in crate::kernel) fn values(call: &Call) -> Vec<Value> {
    call.values().collect()
}

/// The operands that are words.
pub(in crate::kernel) fn words(call: &Call) -> Vec<&'static str> {
    call.words().collect()
}
