// SPDX-License-Identifier: Apache-2.0
//! Division that rounds down, and what it leaves. LLVM's rounds towards zero, and is nothing at all
//! for a divisor of 0 and for the least integer by -1: neither gets there.

use super::arithmetic::Ints;
use super::number::scalar_ty;
use super::{Lowering, Target};
use crate::llvm::{Operation, Predicate, V};
use kernpack_kernel_ir::types::Scalar;

impl<'c, T: Target> Lowering<'c, '_, T> {
    pub(super) fn floor_div(&self, of: Ints, a: V<'c>, b: V<'c>) -> V<'c> {
        let Ints { scalar, ranges: [left, right] } = of;
        let emitter = self.emitter;
        if let Some(bits) = power_of_two(of) {
            let bits = emitter.int(scalar_ty(scalar), bits.into());
            let has_sign = scalar.is_signed() && left.min < 0;
            let shift = if has_sign { Operation::ShiftRight } else { Operation::ShiftRightZeros };
            return emitter.arith(shift, a, bits);
        }
        let quotient = |divisor| match scalar.is_signed() && (left.min < 0 || right.min < 0) {
            true => self.floor_quotient(scalar, a, divisor),
            false => emitter.arith(Operation::DivUnsigned, a, divisor),
        };
        let zero = emitter.int(scalar_ty(scalar), 0);
        self.by_safe_divisor(of, b, quotient, |quotient| {
            let is_zero = emitter.compare(Predicate::EQ, b, zero);
            let negated = emitter.arith(Operation::Sub, zero, a);
            let quotient = match scalar.is_signed() {
                true => emitter.select(self.is_minus_one(scalar, b), negated, quotient),
                false => quotient,
            };
            emitter.select(is_zero, zero, quotient)
        })
    }

    pub(super) fn floor_mod(&self, of: Ints, a: V<'c>, b: V<'c>) -> V<'c> {
        let Ints { scalar, ranges: [left, right] } = of;
        let emitter = self.emitter;
        if let Some(bits) = power_of_two(of) {
            let mask = emitter.int(scalar_ty(scalar), (1 << bits) - 1);
            return emitter.arith(Operation::And, a, mask);
        }
        let remainder = |divisor| match scalar.is_signed() && (left.min < 0 || right.min < 0) {
            true => self.floor_remainder(scalar, a, divisor),
            false => emitter.arith(Operation::RemUnsigned, a, divisor),
        };
        let zero = emitter.int(scalar_ty(scalar), 0);
        self.by_safe_divisor(of, b, remainder, |remainder| {
            let remainder = match scalar.is_signed() {
                true => emitter.select(self.is_minus_one(scalar, b), zero, remainder),
                false => remainder,
            };
            emitter.select(emitter.compare(Predicate::EQ, b, zero), a, remainder)
        })
    }

    /// Computes with a divisor that is neither 0 nor -1: with 1 instead of these, which
    /// `otherwise` then sees to.
    fn by_safe_divisor(
        &self,
        of: Ints,
        divisor: V<'c>,
        compute: impl Fn(V<'c>) -> V<'c>,
        otherwise: impl Fn(V<'c>) -> V<'c>,
    ) -> V<'c> {
        if of.ranges[1].min > 0 {
            return compute(divisor);
        }
        let (emitter, ty) = (self.emitter, scalar_ty(of.scalar));
        let is_zero = emitter.compare(Predicate::EQ, divisor, emitter.int(ty, 0));
        let is_unsafe = match of.scalar.is_signed() {
            true => {
                let is_minus_one = self.is_minus_one(of.scalar, divisor);
                emitter.arith(Operation::Or, is_zero, is_minus_one)
            }
            false => is_zero,
        };
        let safe = emitter.select(is_unsafe, emitter.int(ty, 1), divisor);
        otherwise(compute(safe))
    }

    fn is_minus_one(&self, scalar: Scalar, divisor: V<'c>) -> V<'c> {
        let minus_one = self.emitter.int(scalar_ty(scalar), -1);
        self.emitter.compare(Predicate::EQ, divisor, minus_one)
    }

    /// The quotient of integers with signs, rounded down: one less than towards zero where
    /// something is left and the signs differ.
    fn floor_quotient(&self, scalar: Scalar, a: V<'c>, b: V<'c>) -> V<'c> {
        let emitter = self.emitter;
        let quotient = emitter.arith(Operation::Div, a, b);
        let left = emitter.arith(Operation::Sub, a, emitter.arith(Operation::Mul, quotient, b));
        let one = emitter.int(scalar_ty(scalar), 1);
        let less = emitter.arith(Operation::Sub, quotient, one);
        emitter.select(self.is_other_side(scalar, left, b), less, quotient)
    }

    fn floor_remainder(&self, scalar: Scalar, a: V<'c>, b: V<'c>) -> V<'c> {
        let emitter = self.emitter;
        let left = emitter.arith(Operation::Rem, a, b);
        let more = emitter.arith(Operation::Add, left, b);
        emitter.select(self.is_other_side(scalar, left, b), more, left)
    }

    /// Whether something is left, with another sign than the divisor.
    fn is_other_side(&self, scalar: Scalar, left: V<'c>, divisor: V<'c>) -> V<'c> {
        let (emitter, zero) = (self.emitter, self.emitter.int(scalar_ty(scalar), 0));
        let signs = emitter.arith(Operation::Xor, left, divisor);
        let differ = emitter.compare(Predicate::SLT, signs, zero);
        let is_left = emitter.compare(Predicate::NE, left, zero);
        emitter.arith(Operation::And, is_left, differ)
    }
}

/// The power of two that a divisor is known to be.
fn power_of_two(of: Ints) -> Option<u32> {
    let divisor = of.ranges[1];
    let known = u64::try_from(divisor.min).ok().filter(|_| divisor.min == divisor.max)?;
    let is_below_sign = known.leading_zeros() > 64 - of.scalar.bits();
    (known.is_power_of_two() && is_below_sign).then(|| known.trailing_zeros())
}
