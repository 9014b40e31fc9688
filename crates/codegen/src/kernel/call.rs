// SPDX-License-Identifier: Apache-2.0
//! Calls of rows of the table.

use super::Lowering;
use super::inline::Asm;
use super::number::ty;
use crate::llvm::Ty;
use kernpack_kernel_ir::intrinsic::{Level, Meaning, Nvptx, Overload};
use kernpack_kernel_ir::kernel::Value;
use kernpack_kernel_ir::op::{Call, Operand};
use kernpack_kernel_ir::types::Type;

/// All lanes of a warp.
const EVERYONE: i64 = -1;
/// The barrier of all threads of a block.
const FIRST_BARRIER: i64 = 0;

impl Lowering<'_, '_> {
    pub(super) fn lower_call(&mut self, result: Option<Value>, call: &Call) {
        let values = values(call);
        match (call.intrinsic.nvptx, result) {
            (Nvptx::Llvm(name, overload), Some(result)) => {
                self.lower_llvm(result, (name, overload), &values);
            }
            (Nvptx::Ptx(text, _), _) => {
                let asm = Asm { text, has_effects: result.is_none() };
                self.lower_asm(result, asm, &values);
            }
            (Nvptx::AsMeant(_), _) => self.lower_meaning(result, call, &values),
            (Nvptx::Llvm(..), None) => unreachable!("`{}` gives a number", call.intrinsic.name),
        }
    }

    /// Calls a function of LLVM. What it takes beyond the operands is whether an operand of 0 may
    /// give anything, which it may not.
    fn lower_llvm(&mut self, result: Value, of: (&str, Overload), values: &[Value]) {
        let mut args: Vec<_> = values.iter().map(|value| self.full(*value)).collect();
        if matches!(of.0, "llvm.ctlz" | "llvm.cttz") {
            args.push(self.emitter.truth(false));
        }
        let first: &[Ty] = match of.1 {
            Overload::Plain => &[],
            Overload::First => &[ty(self.kernel.ty(values[0]))],
        };
        let value = self.emitter.intrinsic(of.0, first, &args);
        let value = value.unwrap_or_else(|| unreachable!("`{}` gives a number", of.0));
        match self.kernel.ty(result) {
            Type::Scalar(scalar) => self.set_number(result, value, scalar),
            Type::Vector(..) | Type::Pointer(_) => self.set_value(result, value),
        }
    }

    fn lower_meaning(&mut self, result: Option<Value>, call: &Call, values: &[Value]) {
        let row = call.intrinsic;
        match (row.meaning, result) {
            (Meaning::Geometry(geometry), Some(result)) => self.lower_geometry(result, geometry),
            (Meaning::Warp(op), Some(result)) => self.lower_warp(result, op, values),
            (Meaning::Barrier, _) => self.lower_barrier(row.together),
            (Meaning::Fence, _) => self.lower_fence(&words(call)),
            (Meaning::Atomic(op), result) => self.lower_atomic(result, op, values, &words(call)),
            (Meaning::Expand(_), _) => unreachable!("`{}` is expanded", row.name),
            (Meaning::Pure(_) | Meaning::Approximate(_), _)
            | (Meaning::Geometry(_) | Meaning::Warp(_), None) => {
                unreachable!("`{}` says how it is lowered", row.name)
            }
        }
    }

    fn lower_barrier(&self, level: Level) {
        let (name, of) = match level {
            Level::Warp => ("llvm.nvvm.bar.warp.sync", EVERYONE),
            Level::Block => ("llvm.nvvm.barrier.cta.sync.aligned.all", FIRST_BARRIER),
            Level::Thread | Level::Warpgroup | Level::Cluster | Level::Grid => {
                unreachable!("no barrier is of a {level:?}")
            }
        };
        self.emitter.intrinsic(name, &[], &[self.emitter.int(Ty::I32, of)]);
    }
}

/// The operands that are values.
fn values(call: &Call) -> Vec<Value> {
    let values = call.operands.iter().filter_map(|operand| match operand {
        Operand::Value(value) => Some(*value),
        Operand::Constant(_) | Operand::Word(_) | Operand::Local(_) => None,
    });
    values.collect()
}

/// The operands that are words.
pub(super) fn words(call: &Call) -> Vec<&'static str> {
    let words = call.operands.iter().filter_map(|operand| match operand {
        Operand::Word(word) => Some(*word),
        Operand::Value(_) | Operand::Constant(_) | Operand::Local(_) => None,
    });
    words.collect()
}
