// SPDX-License-Identifier: Apache-2.0
//! Operations on numbers, lane by lane, and those of integers and truth values.

use super::control::less;
use super::number::scalar_ty;
use super::{Lowering, Target};
use crate::llvm::{Exact, Operation, Predicate, Ty, V};
use kernpack_interval::Interval;
use kernpack_kernel_ir::kernel::Value;
use kernpack_kernel_ir::op::{Binary, Compare, Unary};
use kernpack_kernel_ir::ranges::is_exact;
use kernpack_kernel_ir::types::{Class, Scalar, Type};

/// The form that two integers are computed in.
#[derive(Clone, Copy)]
pub(super) struct Ints {
    /// The type.
    pub scalar: Scalar,
    /// The ranges of the operands.
    pub ranges: [Interval; 2],
}

impl<'c, T: Target> Lowering<'c, '_, T> {
    pub(super) fn lower_unary(&mut self, result: Value, op: Unary, value: Value) {
        match self.kernel.ty(result) {
            Type::Vector(scalar, _) => {
                let lanes = self.lanes(value).into_iter();
                let lanes: Vec<_> = lanes.map(|lane| self.unary(op, scalar, lane)).collect();
                self.set_lanes(result, &lanes);
            }
            Type::Scalar(scalar) => {
                let fits = Scalar::I32.holds(self.ranges.operand(result, 0));
                let scalar = if self.is_narrow(result) && fits { Scalar::I32 } else { scalar };
                let computed = self.unary(op, scalar, self.cut_int(value, scalar));
                self.set_number(result, computed, scalar);
            }
            Type::Pointer(_) => unreachable!("`{}` of a pointer", op.name()),
        }
    }

    /// An operand as it is computed with.
    fn cut_int(&self, value: Value, scalar: Scalar) -> V<'c> {
        if scalar.is_int() { self.cut(value, scalar) } else { self.kept(value) }
    }

    fn unary(&self, op: Unary, scalar: Scalar, value: V<'c>) -> V<'c> {
        let emitter = self.emitter;
        match (op, scalar.class()) {
            (Unary::Neg | Unary::Abs, Class::Float) => self.float_unary(op, scalar, value),
            (Unary::Neg, _) => {
                emitter.arith(Operation::Sub, emitter.int(scalar_ty(scalar), 0), value)
            }
            (Unary::Abs, Class::Signed) => {
                let wraps = emitter.truth(false);
                self.intrinsic("llvm.abs", scalar, &[value, wraps])
            }
            (Unary::Abs, _) => value,
            (Unary::Not, _) => emitter.not(value),
        }
    }

    pub(super) fn lower_binary(&mut self, result: Value, op: Binary, left: Value, right: Value) {
        match self.kernel.ty(result) {
            Type::Vector(scalar, _) => {
                let pairs = self.lanes(left).into_iter().zip(self.lanes(right));
                let of = Ints { scalar, ranges: [scalar.integers(); 2] };
                let lanes: Vec<_> = pairs.map(|(a, b)| self.binary(op, of, a, b)).collect();
                self.set_lanes(result, &lanes);
            }
            Type::Scalar(scalar) => {
                let of = self.ints(result, op, scalar);
                let [a, b] = [left, right].map(|value| self.cut_int(value, of.scalar));
                let computed = self.binary(op, of, a, b);
                self.set_number(result, computed, of.scalar);
                self.split_sum(result, op, left, right);
            }
            Type::Pointer(_) => unreachable!("`{}` of pointers", op.name()),
        }
    }

    /// In how many bits two integers are computed with.
    fn ints(&self, result: Value, op: Binary, scalar: Scalar) -> Ints {
        let ranges = [0, 1].map(|place| self.ranges.operand(result, place));
        let fit = ranges.iter().all(|range| Scalar::I32.holds(*range));
        let is_32 = self.is_narrow(result)
            && match op {
                // The lower bits of the result are those of the operands' lower bits.
                Binary::Add
                | Binary::Sub
                | Binary::Mul
                | Binary::And
                | Binary::Or
                | Binary::Xor
                | Binary::Shl => true,
                Binary::FloorDiv | Binary::FloorMod | Binary::Min | Binary::Max | Binary::Shr => {
                    fit
                }
                Binary::Div | Binary::MulHigh => false,
            };
        Ints { scalar: if is_32 { Scalar::I32 } else { scalar }, ranges }
    }

    fn binary(&self, op: Binary, of: Ints, a: V<'c>, b: V<'c>) -> V<'c> {
        match of.scalar.class() {
            Class::Float => self.float_binary(op, of.scalar, a, b),
            Class::Bool | Class::Signed | Class::Unsigned => self.int_binary(op, of, a, b),
        }
    }

    fn int_binary(&self, op: Binary, of: Ints, a: V<'c>, b: V<'c>) -> V<'c> {
        match op {
            Binary::Add => self.sum(Operation::Add, op, of, a, b),
            Binary::Sub => self.sum(Operation::Sub, op, of, a, b),
            Binary::Mul => self.sum(Operation::Mul, op, of, a, b),
            Binary::FloorDiv => self.floor_div(of, a, b),
            Binary::FloorMod => self.floor_mod(of, a, b),
            Binary::MulHigh => self.mul_high(of.scalar, a, b),
            Binary::Min => self.extreme("min", of.scalar, a, b),
            Binary::Max => self.extreme("max", of.scalar, a, b),
            Binary::And => self.emitter.arith(Operation::And, a, b),
            Binary::Or => self.emitter.arith(Operation::Or, a, b),
            Binary::Xor => self.emitter.arith(Operation::Xor, a, b),
            Binary::Shl => self.shift_left(of, a, b),
            Binary::Shr => self.shift_right(of, a, b),
            Binary::Div => unreachable!("`div` of integers"),
        }
    }

    /// A sum, difference or product, and what is known of its bits.
    fn sum(&self, operation: Operation, op: Binary, of: Ints, a: V<'c>, b: V<'c>) -> V<'c> {
        let Ints { scalar, ranges: [left, right] } = of;
        let fit = scalar.holds(left) && scalar.holds(right);
        let is_exact = fit && is_exact(op, left, right, scalar);
        let is_positive = op != Binary::Sub && left.min >= 0 && right.min >= 0;
        let exact = match (is_exact, scalar.is_signed()) {
            (false, _) => Exact::No,
            (true, true) if is_positive => Exact::Both,
            (true, true) => Exact::Signed,
            (true, false) => Exact::Unsigned,
        };
        self.emitter.sum(operation, exact, a, b)
    }

    pub(super) fn extreme(&self, which: &str, scalar: Scalar, a: V<'c>, b: V<'c>) -> V<'c> {
        let sign = if scalar.is_signed() { "s" } else { "u" };
        self.intrinsic(&format!("llvm.{sign}{which}"), scalar, &[a, b])
    }

    /// The upper half of a product: of short integers, that of a product in 32 bits.
    fn mul_high(&self, scalar: Scalar, a: V<'c>, b: V<'c>) -> V<'c> {
        if scalar.bits() >= 32 {
            return T::mul_high(self, scalar, a, b);
        }
        let (emitter, is_signed) = (self.emitter, scalar.is_signed());
        let [a, b] = [a, b].map(|value| emitter.resize(value, Ty::I32, is_signed));
        let product = emitter.arith(Operation::Mul, a, b);
        let bits = emitter.int(Ty::I32, scalar.bits().into());
        let upper = emitter.arith(Operation::ShiftRight, product, bits);
        emitter.resize(upper, scalar_ty(scalar), is_signed)
    }

    /// Whether a count, which has no sign, is known to be less than the width.
    fn is_short(of: Ints) -> bool {
        of.ranges[1].is_within(Interval::new(0, i128::from(of.scalar.bits()) - 1))
    }

    fn shift_left(&self, of: Ints, a: V<'c>, count: V<'c>) -> V<'c> {
        let shifted = self.emitter.arith(Operation::ShiftLeft, a, self.below_width(of, count));
        self.unless_long(of, count, shifted)
    }

    /// A count below the width: the count itself where it is one. LLVM takes PTX's shifts for ones
    /// that look at all of a count of 64 bits, and leaves the comparison of it out; but they look
    /// at the lower 32.
    fn below_width(&self, of: Ints, count: V<'c>) -> V<'c> {
        if Self::is_short(of) || of.scalar.bits() < 64 {
            return count;
        }
        let most = self.emitter.int(scalar_ty(of.scalar), i64::from(of.scalar.bits()) - 1);
        self.emitter.arith(Operation::And, count, most)
    }

    /// The number that was shifted, or 0 where that was by the width or more.
    fn unless_long(&self, of: Ints, count: V<'c>, shifted: V<'c>) -> V<'c> {
        if Self::is_short(of) {
            return shifted;
        }
        let ty = scalar_ty(of.scalar);
        let width = self.emitter.int(ty, of.scalar.bits().into());
        let is_short = self.emitter.compare(Predicate::ULT, count, width);
        self.emitter.select(is_short, shifted, self.emitter.int(ty, 0))
    }

    fn shift_right(&self, of: Ints, a: V<'c>, count: V<'c>) -> V<'c> {
        if !of.scalar.is_signed() {
            let within = self.below_width(of, count);
            let shifted = self.emitter.arith(Operation::ShiftRightZeros, a, within);
            return self.unless_long(of, count, shifted);
        }
        let count = match Self::is_short(of) {
            true => count,
            false => {
                let most = self.emitter.int(scalar_ty(of.scalar), i64::from(of.scalar.bits()) - 1);
                self.intrinsic("llvm.umin", of.scalar, &[count, most])
            }
        };
        self.emitter.arith(Operation::ShiftRight, a, count)
    }

    pub(super) fn lower_compare(&mut self, result: Value, op: Compare, left: Value, right: Value) {
        let Type::Scalar(scalar) = self.kernel.ty(left) else {
            unreachable!("`{}` of scalars", op.name())
        };
        let compared = match scalar.class() {
            Class::Float => self.float_compare(op, self.kept(left), self.kept(right)),
            Class::Bool | Class::Signed | Class::Unsigned => {
                let ranges = [0, 1].map(|place| self.ranges.operand(result, place));
                let is_wide = matches!(scalar, Scalar::I64 | Scalar::U64);
                let is_32 = is_wide && ranges.iter().all(|range| Scalar::I32.holds(*range));
                let scalar = if is_32 { Scalar::I32 } else { scalar };
                let [a, b] = [left, right].map(|value| self.cut_int(value, scalar));
                self.emitter.compare(predicate(op, scalar), a, b)
            }
        };
        self.set_value(result, compared);
    }

    /// Calls a function of LLVM that has variants by this type.
    pub(super) fn intrinsic(&self, name: &str, scalar: Scalar, args: &[V<'c>]) -> V<'c> {
        let result = self.emitter.intrinsic(name, &[scalar_ty(scalar)], args);
        result.unwrap_or_else(|| unreachable!("`{name}` gives a number"))
    }

    /// Calls a function of LLVM that has no variants.
    pub(in crate::kernel) fn plain_intrinsic(&self, name: &str, args: &[V<'c>]) -> V<'c> {
        let result = self.emitter.intrinsic(name, &[], args);
        result.unwrap_or_else(|| unreachable!("`{name}` gives a number"))
    }
}

fn predicate(op: Compare, scalar: Scalar) -> Predicate {
    match (op, scalar.is_signed()) {
        (Compare::Eq, _) => Predicate::EQ,
        (Compare::Ne, _) => Predicate::NE,
        (Compare::Lt, _) => less(scalar),
        (Compare::Le, true) => Predicate::SLE,
        (Compare::Le, false) => Predicate::ULE,
        (Compare::Gt, true) => Predicate::SGT,
        (Compare::Gt, false) => Predicate::UGT,
        (Compare::Ge, true) => Predicate::SGE,
        (Compare::Ge, false) => Predicate::UGE,
    }
}
