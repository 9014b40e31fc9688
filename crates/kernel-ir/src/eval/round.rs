// SPDX-License-Identifier: Apache-2.0
//! Rounds any number to a float type, once, in every direction. Whatever is a whole number of at
//! most 128 bits times a power of two can be rounded here: all floats, all integers.

use crate::op::Rounding;
use crate::types::Scalar;

/// A number: a whole one times a power of two.
#[derive(Clone, Copy)]
pub(super) struct Number {
    pub is_negative: bool,
    pub magnitude: u128,
    pub exponent: i32,
}

impl Number {
    /// A float64 that is finite.
    pub fn of_float(value: f64) -> Number {
        let bits = value.to_bits();
        let exponent = (bits >> 52 & 0x7ff) as i32;
        let mantissa = bits & ((1 << 52) - 1);
        let (magnitude, exponent) = match exponent {
            0 => (mantissa, -1074),
            _ => (mantissa | 1 << 52, exponent - 1075),
        };
        Number { is_negative: value.is_sign_negative(), magnitude: magnitude.into(), exponent }
    }

    /// An integer.
    pub fn of_int(value: i128) -> Number {
        Number { is_negative: value < 0, magnitude: value.unsigned_abs(), exponent: 0 }
    }

    /// The bits of the float that stands for it.
    pub fn round(self, to: Scalar, rounding: Rounding) -> u64 {
        let format = to.float_format();
        let sign = if self.is_negative { format.sign() } else { 0 };
        if self.magnitude == 0 {
            return sign;
        }
        let top = self.exponent + self.magnitude.ilog2() as i32;
        let exponent = top.max(format.least_exponent());
        let (kept, rest) = self.split(exponent - format.mantissa_bits as i32 - self.exponent);
        let is_up = self.is_rounded_up(rounding, kept & 1 == 1, rest);
        // The bit above the mantissa counts as one step of the exponent, so that a subnormal, which
        // lacks it, and a carry come out right.
        let step = (exponent - format.least_exponent()) as u64;
        let bits = (step << format.mantissa_bits) + kept + u64::from(is_up);
        if bits < format.infinity() {
            return sign | bits;
        }
        let is_infinite = match rounding {
            Rounding::NearestEven => true,
            Rounding::Zero => false,
            Rounding::Down => self.is_negative,
            Rounding::Up => !self.is_negative,
        };
        sign | if is_infinite { format.infinity() } else { format.infinity() - 1 }
    }

    /// The magnitude without so many low bits, and what those are.
    fn split(self, dropped: i32) -> (u64, Rest) {
        match dropped {
            ..=0 => ((self.magnitude << -dropped) as u64, Rest::Nothing),
            1..=127 => {
                let rest = self.magnitude & ((1 << dropped) - 1);
                ((self.magnitude >> dropped) as u64, Rest::of(rest, 1 << (dropped - 1)))
            }
            128 => (0, Rest::of(self.magnitude, 1 << 127)),
            129.. => (0, Rest::BelowHalf),
        }
    }

    fn is_rounded_up(self, rounding: Rounding, is_odd: bool, rest: Rest) -> bool {
        match (rounding, rest) {
            (_, Rest::Nothing) | (Rounding::Zero, _) => false,
            (Rounding::NearestEven, Rest::BelowHalf) => false,
            (Rounding::NearestEven, Rest::Half) => is_odd,
            (Rounding::NearestEven, Rest::AboveHalf) => true,
            (Rounding::Down, _) => self.is_negative,
            (Rounding::Up, _) => !self.is_negative,
        }
    }
}

/// The rest, in units of the last bit that is kept.
#[derive(Clone, Copy)]
enum Rest {
    Nothing,
    BelowHalf,
    Half,
    AboveHalf,
}

impl Rest {
    fn of(rest: u128, half: u128) -> Rest {
        match rest.cmp(&half) {
            _ if rest == 0 => Rest::Nothing,
            std::cmp::Ordering::Less => Rest::BelowHalf,
            std::cmp::Ordering::Equal => Rest::Half,
            std::cmp::Ordering::Greater => Rest::AboveHalf,
        }
    }
}

/// The bits of the float of that type that stands for a float64. A NaN is the usual one.
pub(crate) fn round(value: f64, to: Scalar, rounding: Rounding) -> u64 {
    let format = to.float_format();
    if value.is_nan() {
        return format.quiet_nan();
    }
    if value.is_infinite() {
        return format.infinity() | if value < 0.0 { format.sign() } else { 0 };
    }
    Number::of_float(value).round(to, rounding)
}
