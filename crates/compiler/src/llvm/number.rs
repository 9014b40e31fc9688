// SPDX-License-Identifier: Apache-2.0
//! Numbers of any width: what kernels compute with, beyond what entry points do.

use super::{Emitter, Operation, Ty, V, int};
use inkwell::FloatPredicate;

impl<'c> Emitter<'c> {
    /// Addition, subtraction or multiplication of which it is known that the result has no more
    /// bits than the operands, with a sign or without.
    pub fn arith_exact(&self, operation: Operation, is_signed: bool, a: V<'c>, b: V<'c>) -> V<'c> {
        let (left, right) = (int(a), int(b));
        let builder = &self.builder;
        let result = match (operation, is_signed) {
            (Operation::Add, true) => builder.build_int_nsw_add(left, right, ""),
            (Operation::Add, false) => builder.build_int_nuw_add(left, right, ""),
            (Operation::Sub, true) => builder.build_int_nsw_sub(left, right, ""),
            (Operation::Sub, false) => builder.build_int_nuw_sub(left, right, ""),
            (Operation::Mul, true) => builder.build_int_nsw_mul(left, right, ""),
            (Operation::Mul, false) => builder.build_int_nuw_mul(left, right, ""),
            (
                Operation::Div
                | Operation::Rem
                | Operation::DivUnsigned
                | Operation::RemUnsigned
                | Operation::And
                | Operation::Or
                | Operation::Xor
                | Operation::ShiftLeft
                | Operation::ShiftRight
                | Operation::ShiftRightZeros,
                _,
            ) => return self.arith(operation, a, b),
        };
        result.expect("a block is being written").into()
    }

    /// An integer in as many bits as another type has: cut off, or extended with its sign or with
    /// zeros.
    pub fn resize(&self, value: V<'c>, ty: Ty, is_signed: bool) -> V<'c> {
        let (value, ty) = (int(value), self.ty(ty).into_int_type());
        let (from, to) = (value.get_type().get_bit_width(), ty.get_bit_width());
        let resized = match from.cmp(&to) {
            std::cmp::Ordering::Equal => return value.into(),
            std::cmp::Ordering::Greater => self.builder.build_int_truncate(value, ty, ""),
            std::cmp::Ordering::Less if is_signed => self.builder.build_int_s_extend(value, ty, ""),
            std::cmp::Ordering::Less => self.builder.build_int_z_extend(value, ty, ""),
        };
        resized.expect("a block is being written").into()
    }

    /// The number or truth of that type which these bits are.
    pub fn bits(&self, ty: Ty, bits: u64) -> V<'c> {
        match ty {
            Ty::Half => self.bitcast(self.int(Ty::I16, bits as i64), ty),
            Ty::BFloat => self.bitcast(self.int(Ty::I16, bits as i64), ty),
            Ty::Float => self.bitcast(self.int(Ty::I32, bits as i64), ty),
            Ty::Double => self.bitcast(self.int(Ty::I64, bits as i64), ty),
            Ty::I1 => self.truth(bits == 1),
            Ty::I8
            | Ty::I16
            | Ty::I32
            | Ty::I64
            | Ty::Ptr
            | Ty::PtrTo(_)
            | Ty::Words(_)
            | Ty::Floats(..)
            | Ty::Vector(..) => self.int(ty, bits as i64),
        }
    }

    /// A float with the other sign.
    pub fn float_neg(&self, value: V<'c>) -> V<'c> {
        let value = value.into_float_value();
        self.builder.build_float_neg(value, "").expect("a block is being written").into()
    }

    /// A comparison of floats.
    pub fn float_compare(&self, predicate: FloatPredicate, a: V<'c>, b: V<'c>) -> V<'c> {
        let (a, b) = (a.into_float_value(), b.into_float_value());
        let result = self.builder.build_float_compare(predicate, a, b, "");
        result.expect("a block is being written").into()
    }

    /// The nearest float of fewer bits.
    pub fn float_narrow(&self, value: V<'c>, ty: Ty) -> V<'c> {
        let (value, ty) = (value.into_float_value(), self.ty(ty).into_float_type());
        self.builder.build_float_trunc(value, ty, "").expect("a block is being written").into()
    }

    /// The same float in more bits.
    pub fn float_widen(&self, value: V<'c>, ty: Ty) -> V<'c> {
        let (value, ty) = (value.into_float_value(), self.ty(ty).into_float_type());
        self.builder.build_float_ext(value, ty, "").expect("a block is being written").into()
    }

    /// The float nearest to an integer.
    pub fn int_to_float(&self, value: V<'c>, ty: Ty, is_signed: bool) -> V<'c> {
        let (value, ty) = (int(value), self.ty(ty).into_float_type());
        let result = match is_signed {
            true => self.builder.build_signed_int_to_float(value, ty, ""),
            false => self.builder.build_unsigned_int_to_float(value, ty, ""),
        };
        result.expect("a block is being written").into()
    }
}
