// SPDX-License-Identifier: Apache-2.0
//! Numbers of any width: what kernels compute with, beyond what entry points do.

use super::{Emitter, Operation, Ty, V, int};
use inkwell::FloatPredicate;

/// As what the result of integers is known to have no more bits than they do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exact {
    /// As neither: it may wrap.
    No,
    /// As one with a sign.
    Signed,
    /// As one without.
    Unsigned,
    /// As both.
    Both,
}

impl<'c> Emitter<'c> {
    /// A sum, a difference or a product, as LLVM has them in the end: with a power of two it is a
    /// shift, and with nothing no instruction at all.
    pub fn sum(&self, operation: Operation, exact: Exact, a: V<'c>, b: V<'c>) -> V<'c> {
        let result = match (operation, power_of_two(a), power_of_two(b)) {
            (Operation::Add, ..) if is_zero(a) => return b,
            (Operation::Add | Operation::Sub, ..) if is_zero(b) => return a,
            (Operation::Mul, _, Some(bits)) => self.shifted_by(a, bits),
            (Operation::Mul, Some(bits), None) => self.shifted_by(b, bits),
            _ => self.arith(operation, a, b),
        };
        // What is computed of constants is no instruction.
        if let Some(sum) = int(result).as_instruction().filter(|_| exact != Exact::No) {
            let (signed, unsigned) = (exact != Exact::Unsigned, exact != Exact::Signed);
            sum.set_no_signed_wrap_flag(signed).expect("a sum may wrap");
            sum.set_no_unsigned_wrap_flag(unsigned).expect("a sum may wrap");
        }
        result
    }

    fn shifted_by(&self, value: V<'c>, bits: u32) -> V<'c> {
        let ty = int(value).get_type();
        self.arith(Operation::ShiftLeft, value, ty.const_int(bits.into(), false).into())
    }

    /// An integer that is known to be no less than 0, in at least as many bits.
    pub fn widen(&self, value: V<'c>, ty: Ty) -> V<'c> {
        let wide = self.resize(value, ty, false);
        if wide != value
            && let Some(extended) = int(wide).as_instruction()
        {
            extended.set_non_negative_flag(true).expect("an extension with zeros");
        }
        wide
    }

    /// An integer in as many bits as another type has: cut off, or extended with its sign or with
    /// zeros.
    ///
    /// A short one is extended by itself, and not as it is loaded. Of such a load assemblers of
    /// CUDA 12.8 and 13.0 take the lower half where two upper ones are stored side by side.
    pub fn resize(&self, value: V<'c>, ty: Ty, is_signed: bool) -> V<'c> {
        let (value, ty) = (int(value), self.ty(ty).into_int_type());
        let (from, to) = (value.get_type().get_bit_width(), ty.get_bit_width());
        let resized = match from.cmp(&to) {
            std::cmp::Ordering::Equal => return value.into(),
            std::cmp::Ordering::Greater => self.builder.build_int_truncate(value, ty, ""),
            std::cmp::Ordering::Less if is_signed => {
                let value = if from > 1 && from <= 16 { self.freeze(value) } else { value };
                self.builder.build_int_s_extend(value, ty, "")
            }
            std::cmp::Ordering::Less => self.builder.build_int_z_extend(value, ty, ""),
        };
        resized.expect("a block is being written").into()
    }

    /// An integer in 32 bits, of which it is known that it has no more with a sign, and whether it
    /// has a sign at all.
    pub fn narrow(&self, value: V<'c>, has_sign: bool) -> V<'c> {
        let cut = self.resize(value, Ty::I32, true);
        if cut != value
            && let Some(cut) = int(cut).as_instruction()
        {
            cut.set_no_signed_wrap_flag(true).expect("a cut may wrap");
            cut.set_no_unsigned_wrap_flag(!has_sign).expect("a cut may wrap");
        }
        cut
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

fn is_zero(value: V<'_>) -> bool {
    int(value).get_sign_extended_constant() == Some(0)
}

/// Which power of two a constant is, as a number with a sign.
fn power_of_two(value: V<'_>) -> Option<u32> {
    let known = u64::try_from(int(value).get_sign_extended_constant()?).ok()?;
    known.is_power_of_two().then(|| known.trailing_zeros())
}
