// SPDX-License-Identifier: Apache-2.0
//! Numbers as other types.
//!
//! To a half, 32 and 64-bit integers and float64 go through float32, rounded there to an odd
//! mantissa, which keeps on which side of two halves a number lies: rounding twice would not be
//! rounding once. Rounding down twice is rounding down once, and so are the other directions.

use super::number::{bits_ty, scalar_ty};
use super::{Lowering, Target};
use crate::llvm::{FloatPredicate, Lane, Operation, Predicate, Ty, V};
use kernpack_kernel_ir::kernel::Value;
use kernpack_kernel_ir::op::Rounding;
use kernpack_kernel_ir::types::{Class, Scalar, Type};

impl<'c, T: Target> Lowering<'c, '_, T> {
    pub(super) fn lower_convert(&mut self, result: Value, value: Value, rounding: Rounding) {
        let (from, to) = (self.kernel.ty(value), self.kernel.ty(result));
        let (Some(of), Some(as_scalar)) = (from.scalar(), to.scalar()) else {
            unreachable!("`convert` of a pointer")
        };
        if let (Type::Scalar(_), true, true) = (from, of.is_int(), as_scalar.is_int()) {
            let kept = self.kept(value);
            // What is narrow has a sign.
            let is_signed = of.is_signed() || self.is_narrow(value);
            let ty = scalar_ty(self.kept_scalar(result));
            let cut = match is_signed {
                true => self.extended(kept, ty, self.ranges.value(value)),
                false => self.emitter.resize(kept, ty, false),
            };
            return self.set_value(result, cut);
        }
        if (of, as_scalar) == (Scalar::BF16, Scalar::F32)
            && let Some(single) = self.half_of_word(value)
        {
            return self.set_number(result, single, as_scalar);
        }
        let lanes = self.lanes(value).into_iter();
        let lanes: Vec<_> = lanes.map(|lane| self.convert(lane, of, as_scalar, rounding)).collect();
        self.set_lanes(result, &lanes);
    }

    /// The float32 of a bfloat16 that was taken of a vector, of which two lanes are a word. It is
    /// the upper half of its float32: one operation on the word, and taking that apart is another.
    fn half_of_word(&self, value: Value) -> Option<V<'c>> {
        let (vector, lane) = *self.taken.get(&value)?;
        let (emitter, n_lanes) = (self.emitter, u32::from(self.kernel.ty(vector).lanes()));
        if n_lanes % 2 == 1 {
            return None;
        }
        let words = emitter.bitcast(self.kept(vector), Ty::Vector(Lane::I32, n_lanes / 2));
        let word = emitter.lane(words, u32::from(lane) / 2);
        let bits = match lane % 2 {
            0 => emitter.arith(Operation::ShiftLeft, word, emitter.int(Ty::I32, 16)),
            _ => emitter.arith(Operation::And, word, emitter.int(Ty::I32, !0xffff)),
        };
        Some(emitter.bitcast(bits, Ty::Float))
    }

    /// The type in whose bits an integer is kept.
    fn kept_scalar(&self, value: Value) -> Scalar {
        match self.kernel.ty(value).scalar() {
            Some(scalar) if !self.is_narrow(value) => scalar,
            _ => Scalar::I32,
        }
    }

    /// A number, in all its bits, as one of another type.
    pub(in crate::kernel) fn convert(
        &self,
        value: V<'c>,
        from: Scalar,
        to: Scalar,
        by: Rounding,
    ) -> V<'c> {
        let (emitter, ty) = (self.emitter, scalar_ty(to));
        match (from.class(), to.class()) {
            (Class::Float, Class::Float) => self.float_to_float(value, from, to, by),
            (Class::Float, Class::Bool) => {
                let zero = emitter.bits(scalar_ty(from), 0);
                emitter.float_compare(FloatPredicate::UNE, value, zero)
            }
            (Class::Float, Class::Signed | Class::Unsigned) => {
                self.float_to_int(value, from, to, by)
            }
            (Class::Bool, Class::Float) => emitter.int_to_float(value, ty, false),
            (_, Class::Float) => self.int_to_float(value, from, to, by),
            (Class::Bool, Class::Bool) => value,
            (_, Class::Bool) => {
                emitter.compare(Predicate::NE, value, emitter.int(scalar_ty(from), 0))
            }
            (_, Class::Signed | Class::Unsigned) => emitter.resize(value, ty, from.is_signed()),
        }
    }

    // To integers.

    fn float_to_int(&self, value: V<'c>, from: Scalar, to: Scalar, by: Rounding) -> V<'c> {
        let (value, from) = self.at_least_single(value, from);
        // The bounds of short types lie within those of `int32`.
        let at = if to.bits() < 32 { Scalar::I32 } else { to };
        let converted = T::float_to_int(self, value, [from, at], by);
        if at == to { converted } else { self.clamped(converted, to) }
    }

    /// An `int32` as the nearest integer of a short type.
    fn clamped(&self, value: V<'c>, to: Scalar) -> V<'c> {
        let (least, most) = match to.is_signed() {
            true => (-(1 << (to.bits() - 1)), (1 << (to.bits() - 1)) - 1),
            false => (0, (1 << to.bits()) - 1),
        };
        let int = |number| self.emitter.int(Ty::I32, number);
        let above = self.intrinsic("llvm.smax", Scalar::I32, &[value, int(least)]);
        let within = self.intrinsic("llvm.smin", Scalar::I32, &[above, int(most)]);
        self.emitter.resize(within, scalar_ty(to), true)
    }

    /// A float as it is or, of a half, as a float32.
    fn at_least_single(&self, value: V<'c>, from: Scalar) -> (V<'c>, Scalar) {
        match from {
            Scalar::F64 | Scalar::F32 => (value, from),
            _ => (self.emitter.float_widen(value, Ty::Float), Scalar::F32),
        }
    }

    // To floats.

    fn int_to_float(&self, value: V<'c>, from: Scalar, to: Scalar, by: Rounding) -> V<'c> {
        let (emitter, is_signed) = (self.emitter, from.is_signed());
        match to {
            Scalar::F64 | Scalar::F32 if by == Rounding::NearestEven || from.bits() < 32 => {
                emitter.int_to_float(value, scalar_ty(to), is_signed)
            }
            Scalar::F64 if from.bits() == 32 => emitter.int_to_float(value, Ty::Double, is_signed),
            Scalar::F64 | Scalar::F32 => T::int_to_float(self, value, [from, to], by),
            _ => {
                let single = match (from.bits() < 32, by) {
                    (true, _) => emitter.int_to_float(value, Ty::Float, is_signed),
                    (false, Rounding::NearestEven) => self.int_to_odd(value, from),
                    (false, _) => T::int_to_float(self, value, [from, Scalar::F32], by),
                };
                self.single_to_half(single, to, by)
            }
        }
    }

    /// The float32 of an integer; where there is none, the neighbour whose last bit is 1.
    fn int_to_odd(&self, value: V<'c>, from: Scalar) -> V<'c> {
        let towards_zero = T::int_to_float(self, value, [from, Scalar::F32], Rounding::Zero);
        let back = T::whole_to_int(self, towards_zero, from);
        let is_other = self.emitter.compare(Predicate::NE, back, value);
        self.odd_if(is_other, towards_zero)
    }

    /// The same for a float64.
    fn double_to_odd(&self, value: V<'c>) -> V<'c> {
        let towards_zero = T::double_to_single(self, value, Rounding::Zero);
        let back = self.emitter.float_widen(towards_zero, Ty::Double);
        let is_other = self.emitter.float_compare(FloatPredicate::ONE, back, value);
        self.odd_if(is_other, towards_zero)
    }

    fn odd_if(&self, condition: V<'c>, single: V<'c>) -> V<'c> {
        let emitter = self.emitter;
        let bits = emitter.bitcast(single, Ty::I32);
        let last = emitter.resize(condition, Ty::I32, false);
        emitter.bitcast(emitter.arith(Operation::Or, bits, last), Ty::Float)
    }

    fn float_to_float(&self, value: V<'c>, from: Scalar, to: Scalar, by: Rounding) -> V<'c> {
        let emitter = self.emitter;
        match (from, to) {
            _ if from == to => value,
            (Scalar::F64, Scalar::F32) if by == Rounding::NearestEven => {
                emitter.float_narrow(value, Ty::Float)
            }
            (Scalar::F64, Scalar::F32) => T::double_to_single(self, value, by),
            (_, Scalar::F64 | Scalar::F32) => emitter.float_widen(value, scalar_ty(to)),
            (Scalar::F64, _) if by == Rounding::NearestEven => {
                self.single_to_half(self.double_to_odd(value), to, by)
            }
            (Scalar::F64, _) => {
                let single = self.float_to_float(value, from, Scalar::F32, by);
                self.single_to_half(single, to, by)
            }
            (_, _) => {
                let (single, _) = self.at_least_single(value, from);
                self.single_to_half(single, to, by)
            }
        }
    }

    fn single_to_half(&self, single: V<'c>, to: Scalar, by: Rounding) -> V<'c> {
        match (by, to) {
            (Rounding::NearestEven, Scalar::F16 | Scalar::BF16) => {
                self.emitter.float_narrow(single, scalar_ty(to))
            }
            (_, Scalar::BF16) => self.single_to_bfloat(single, by),
            (_, Scalar::F16) => T::single_to_half(self, single, by),
            (_, _) => unreachable!("{to} is no half"),
        }
    }

    /// A bfloat16 is the upper half of a float32. Rounding away from zero is one more.
    fn single_to_bfloat(&self, single: V<'c>, by: Rounding) -> V<'c> {
        let emitter = self.emitter;
        let int = |number| emitter.int(Ty::I32, number);
        let bits = emitter.bitcast(single, bits_ty(Scalar::F32));
        let upper = emitter.arith(Operation::ShiftRightZeros, bits, int(16));
        let lower = emitter.arith(Operation::And, bits, int(0xffff));
        let is_between = emitter.compare(Predicate::NE, lower, int(0));
        let is_away = match by {
            Rounding::Down => emitter.compare(Predicate::SLT, bits, int(0)),
            Rounding::Up => emitter.compare(Predicate::SGE, bits, int(0)),
            Rounding::Zero | Rounding::NearestEven => emitter.truth(false),
        };
        let more = emitter.arith(Operation::And, is_between, is_away);
        let rounded = emitter.arith(Operation::Add, upper, emitter.resize(more, Ty::I32, false));
        let is_nan = emitter.float_compare(FloatPredicate::UNO, single, single);
        let chosen = emitter.select(is_nan, int(0x7fc0), rounded);
        emitter.bitcast(emitter.resize(chosen, Ty::I16, false), Ty::BFloat)
    }
}
