// SPDX-License-Identifier: Apache-2.0
//! Operations on floats. Each rounds once: halves are computed with instructions of their own,
//! those that there are, and else in float32, which has more than twice their bits.

use super::{Lowering, Target};
use crate::llvm::{FloatOperation, FloatPredicate, V};
use kernpack_kernel_ir::op::{Binary, Compare, Unary};
use kernpack_kernel_ir::types::Scalar;

impl<'c, T: Target> Lowering<'c, '_, T> {
    pub(super) fn float_unary(&self, op: Unary, scalar: Scalar, value: V<'c>) -> V<'c> {
        match op {
            Unary::Neg => self.emitter.float_neg(value),
            Unary::Abs => self.intrinsic("llvm.fabs", scalar, &[value]),
            Unary::Not => unreachable!("`not` of a float"),
        }
    }

    pub(super) fn float_binary(&self, op: Binary, scalar: Scalar, a: V<'c>, b: V<'c>) -> V<'c> {
        match op {
            Binary::Add => self.emitter.float_arith(FloatOperation::Add, a, b),
            Binary::Sub => self.emitter.float_arith(FloatOperation::Sub, a, b),
            Binary::Mul => self.emitter.float_arith(FloatOperation::Mul, a, b),
            Binary::Div => self.emitter.float_arith(FloatOperation::Div, a, b),
            // IEEE 754's minimumNumber: PTX's `min` takes the number, and -0 before +0.
            Binary::Min => self.intrinsic("llvm.minimumnum", scalar, &[a, b]),
            Binary::Max => self.intrinsic("llvm.maximumnum", scalar, &[a, b]),
            Binary::FloorDiv
            | Binary::FloorMod
            | Binary::MulHigh
            | Binary::And
            | Binary::Or
            | Binary::Xor
            | Binary::Shl
            | Binary::Shr => unreachable!("`{}` of floats", op.name()),
        }
    }

    pub(super) fn float_compare(&self, op: Compare, a: V<'c>, b: V<'c>) -> V<'c> {
        let predicate = match op {
            Compare::Eq => FloatPredicate::OEQ,
            Compare::Ne => FloatPredicate::UNE,
            Compare::Lt => FloatPredicate::OLT,
            Compare::Le => FloatPredicate::OLE,
            Compare::Gt => FloatPredicate::OGT,
            Compare::Ge => FloatPredicate::OGE,
        };
        self.emitter.float_compare(predicate, a, b)
    }
}
