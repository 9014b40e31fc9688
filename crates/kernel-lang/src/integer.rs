// SPDX-License-Identifier: Apache-2.0
//! Python's integers: of any size, until one of a type is made of them.
//!
//! Numbers that a kernel or packed function computes of literals and constants alone are computed
//! with these. Results of more than [`MOST_BITS`] bits are refused before they are computed, so
//! that `9 ** 9 ** 9` is a diagnostic and no wait.

use kernpack_kernel_ir::op::Rounding;
use kernpack_kernel_ir::{Const, Scalar};
use num_bigint::BigInt;
use num_integer::Integer as _;
use num_rational::BigRational;
use num_traits::{FromPrimitive, Pow, Signed, ToPrimitive, Zero};
use std::cmp::Ordering;
use std::fmt;
use std::ops::{Neg, Not};

/// The most bits of a constant integer.
pub const MOST_BITS: u64 = 1 << 16;
/// The most digits of a literal: no more than [`MOST_BITS`] bits, in whatever base it is written.
const MOST_DIGITS: usize = MOST_BITS as usize;

/// An integer of any size.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Integer(BigInt);

impl Integer {
    /// The integer that digits say, as Python writes them: `17`, `0x1f`, `1_000`. `None` where they
    /// are none, or too many.
    pub fn parse(text: &str) -> Option<Integer> {
        let digits: Vec<u8> = text.bytes().filter(|digit| *digit != b'_').collect();
        let (radix, digits) = match &digits[..] {
            [b'0', b'x' | b'X', digits @ ..] => (16, digits),
            [b'0', b'o' | b'O', digits @ ..] => (8, digits),
            [b'0', b'b' | b'B', digits @ ..] => (2, digits),
            digits => (10, digits),
        };
        if digits.len() > MOST_DIGITS {
            return None;
        }
        BigInt::parse_bytes(digits, radix).and_then(bounded)
    }

    /// The number, where it fits 128 bits.
    pub fn small(&self) -> Option<i128> {
        self.0.to_i128()
    }

    /// The number, where it fits 64 bits.
    pub(crate) fn as_i64(&self) -> Option<i64> {
        self.0.to_i64()
    }

    /// Whether it is 0.
    pub(crate) fn is_zero(&self) -> bool {
        self.0.is_zero()
    }

    /// Whether it is below 0.
    pub(crate) fn is_negative(&self) -> bool {
        self.0.is_negative()
    }

    /// The number without its sign.
    pub(crate) fn abs(&self) -> Integer {
        Integer(self.0.abs())
    }

    /// The lowest 64 bits, of a negative number those of its two's complement.
    pub(crate) fn low_bits(&self) -> u64 {
        let low = &self.0 & BigInt::from(u64::MAX);
        low.to_u64().unwrap_or_default()
    }

    /// The nearest float64; nothing where it is beyond all of them.
    pub(crate) fn nearest(&self) -> Option<f64> {
        match self.0.to_i128() {
            Some(small) => Some(small as f64),
            None => self.0.to_f64().filter(|float| float.is_finite()),
        }
    }

    /// The nearest number of a type of floats, rounded once; infinity beyond all of them.
    pub(crate) fn to_float(&self, scalar: Scalar) -> Const {
        Const::float(scalar, if scalar == Scalar::F64 { self.rounded() } else { self.to_odd() })
    }

    fn rounded(&self) -> f64 {
        self.nearest().unwrap_or(if self.is_negative() { f64::NEG_INFINITY } else { f64::INFINITY })
    }

    /// A float64 that is rounded to the odd one where it is not exact. What is rounded to fewer
    /// bits again is rounded once.
    pub(crate) fn to_odd(&self) -> f64 {
        let (towards_zero, is_exact) = self.truncated();
        match is_exact {
            true => towards_zero,
            false => f64::from_bits(towards_zero.to_bits() | 1),
        }
    }

    /// The float64 that a rounding other than to the nearest gives.
    pub(crate) fn to_float64(&self, rounding: Rounding) -> f64 {
        let (towards_zero, is_exact) = self.truncated();
        let is_away = match rounding {
            Rounding::Zero => false,
            Rounding::Down => self.is_negative(),
            Rounding::Up => !self.is_negative(),
            Rounding::NearestEven => return self.rounded(),
        };
        match is_away && !is_exact {
            // The bits of a float without its sign are in the order of floats.
            true => f64::from_bits(towards_zero.to_bits() + 1),
            false => towards_zero,
        }
    }

    /// The next float64 towards zero, and whether it is the number.
    fn truncated(&self) -> (f64, bool) {
        if let Some(exact) = self.as_i64().filter(|small| small.unsigned_abs() >> 53 == 0) {
            return (exact as f64, true);
        }
        let magnitude = self.0.magnitude();
        let excess = magnitude.bits().saturating_sub(53);
        let kept = magnitude >> excess;
        let is_exact = &kept << excess == *magnitude;
        let places = i32::try_from(excess).ok().filter(|places| *places <= 971);
        let sign = if self.is_negative() { -1.0 } else { 1.0 };
        match (kept.to_u64(), places) {
            (Some(kept), Some(places)) => (sign * kept as f64 * 2_f64.powi(places), is_exact),
            _ => (sign * f64::MAX, false),
        }
    }

    /// How it compares with a float, as exact numbers do; nothing where that is no number.
    pub(crate) fn compare_float(&self, float: f64) -> Option<Ordering> {
        if float.is_infinite() {
            return Some(if float > 0.0 { Ordering::Less } else { Ordering::Greater });
        }
        let floor = BigInt::from_f64(float.floor())?;
        Some(self.0.cmp(&floor).then(match float > float.floor() {
            true => Ordering::Less,
            false => Ordering::Equal,
        }))
    }

    fn bits(&self) -> u64 {
        self.0.bits()
    }

    /// `self + other`; nothing where it is too large.
    pub(crate) fn add(&self, other: &Integer) -> Option<Integer> {
        bounded(&self.0 + &other.0)
    }

    /// `self - other`; nothing where it is too large.
    pub(crate) fn sub(&self, other: &Integer) -> Option<Integer> {
        bounded(&self.0 - &other.0)
    }

    /// `self * other`; nothing where it is too large.
    pub(crate) fn mul(&self, other: &Integer) -> Option<Integer> {
        bounded(&self.0 * &other.0)
    }

    /// The float64 that is nearest to the quotient, as in Python; nothing where it is by zero, or
    /// beyond all floats.
    pub(crate) fn true_div(&self, other: &Integer) -> Option<f64> {
        if other.is_zero() {
            return None;
        }
        let quotient = BigRational::new_raw(self.0.clone(), other.0.clone());
        quotient.to_f64().filter(|float| float.is_finite())
    }

    /// The quotient, rounded down; nothing where it is by zero.
    pub(crate) fn floor_div(&self, other: &Integer) -> Option<Integer> {
        (!other.is_zero()).then(|| Integer(self.0.div_floor(&other.0)))
    }

    /// The quotient, rounded up; nothing where it is by zero.
    pub(crate) fn ceil_div(&self, other: &Integer) -> Option<Integer> {
        (!other.is_zero()).then(|| Integer(self.0.div_ceil(&other.0)))
    }

    /// The rest of [`Integer::floor_div`], which has the divisor's sign.
    pub(crate) fn floor_mod(&self, other: &Integer) -> Option<Integer> {
        (!other.is_zero()).then(|| Integer(self.0.mod_floor(&other.0)))
    }

    /// The number to a power that is not negative; nothing where it is too large.
    pub(crate) fn pow(&self, power: &Integer) -> Option<Integer> {
        // Of 0, 1 and -1 every power is small.
        if self.bits() <= 1 {
            let is_even = power.0.is_even();
            return Some(match (power.is_zero(), self.is_negative() && is_even) {
                (true, _) | (_, true) => Integer::from(1),
                (false, false) => self.clone(),
            });
        }
        let power = power.0.to_u64().filter(|power| {
            (self.bits() - 1).checked_mul(*power).is_some_and(|bits| bits <= MOST_BITS)
        })?;
        bounded(Pow::pow(&self.0, power))
    }

    /// `self << count`; nothing where it is too large, or the count is negative.
    pub(crate) fn shl(&self, count: &Integer) -> Option<Integer> {
        if self.is_zero() && !count.is_negative() {
            return Some(self.clone());
        }
        let count = count.0.to_u64().filter(|count| *count <= MOST_BITS)?;
        bounded(&self.0 << count)
    }

    /// `self >> count`, rounded down; nothing where the count is negative.
    pub(crate) fn shr(&self, count: &Integer) -> Option<Integer> {
        let beyond = || if self.is_negative() { -1 } else { 0 };
        if count.is_negative() {
            return None;
        }
        Some(match count.0.to_u64().filter(|count| *count <= MOST_BITS) {
            Some(count) => Integer(&self.0 >> count),
            None => Integer::from(beyond()),
        })
    }

    /// The bits that both have.
    pub(crate) fn and(&self, other: &Integer) -> Integer {
        Integer(&self.0 & &other.0)
    }

    /// The bits that one of both has.
    pub(crate) fn or(&self, other: &Integer) -> Integer {
        Integer(&self.0 | &other.0)
    }

    /// The bits that only one of both has.
    pub(crate) fn xor(&self, other: &Integer) -> Integer {
        Integer(&self.0 ^ &other.0)
    }
}

/// A result that is not too large.
fn bounded(result: BigInt) -> Option<Integer> {
    (result.bits() <= MOST_BITS).then_some(Integer(result))
}

impl<T: Into<i128>> From<T> for Integer {
    fn from(int: T) -> Integer {
        Integer(BigInt::from(int.into()))
    }
}

impl Neg for &Integer {
    type Output = Integer;

    fn neg(self) -> Integer {
        Integer(-&self.0)
    }
}

impl Not for &Integer {
    type Output = Integer;

    fn not(self) -> Integer {
        Integer(-&self.0 - 1)
    }
}

impl fmt::Display for Integer {
    /// The digits; of very many, the first and the last, with how many there are.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const MOST_SHOWN: usize = 80;
        let text = self.0.to_string();
        match text.len() {
            0..=MOST_SHOWN => f.write_str(&text),
            length => write!(f, "{}...{} ({length} digits)", &text[..20], &text[length - 20..]),
        }
    }
}

#[cfg(test)]
mod tests;
