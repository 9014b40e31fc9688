// SPDX-License-Identifier: Apache-2.0
//! What is known of a number that is not known itself: what divides it, and bounds.
//!
//! Facts may be weaker than the truth, and never stronger.

use crate::arith::Op;
use kernpack_interval::{Interval, greatest_common_divisor, power_of_two_in};

/// What divides a number, and its bounds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Facts {
    /// The largest number that is known to divide it: 1 where nothing is known, 0 for the number 0.
    pub divisor: i64,
    /// It is at least this.
    pub min: i64,
    /// It is at most this.
    pub max: i64,
}

impl Facts {
    /// Nothing is known.
    pub const NONE: Facts = Facts { divisor: 1, min: i64::MIN, max: i64::MAX };
    /// It is not negative, as extents are.
    pub const NON_NEGATIVE: Facts = Facts { divisor: 1, min: 0, max: i64::MAX };

    /// All about a number that is known.
    pub fn of_number(number: i64) -> Facts {
        Facts { divisor: number.checked_abs().unwrap_or(1), min: number, max: number }
    }

    /// Whether a number, which is not 0, divides it for certain.
    pub fn is_multiple_of(&self, number: i64) -> bool {
        number != 0 && self.divisor.checked_rem(number) == Some(0)
    }

    /// The number, where the bounds leave only one.
    pub fn known(&self) -> Option<i64> {
        (self.min == self.max).then_some(self.min)
    }

    /// What is known of the result of an operation that does not overflow.
    pub fn of(op: Op, a: Facts, b: Facts) -> Facts {
        let (a, b) = (Interval::from(a), Interval::from(b));
        let count = b.known().and_then(|count| u32::try_from(count).ok());
        let count = count.filter(|count| *count < 63);
        let result = match op {
            Op::Add => Some(a + b),
            Op::Sub => Some(a - b),
            Op::Mul => Some(a * b),
            Op::Div => a.floor_div(b),
            Op::CeilDiv => a.ceil_div(b),
            Op::Rem => a.floor_mod(b),
            Op::Min => Some(a.smaller(b)),
            Op::Max => Some(a.larger(b)),
            Op::And => Some(a & b),
            Op::Xor => Some(a ^ b),
            Op::Shl => count.map(|count| a.shifted_left(count)),
            Op::Shr => Some(match count {
                Some(count) => a.shifted_right(count),
                None => a.shifted_right_by_any(),
            }),
        };
        result.map_or(Facts::NONE, Facts::from)
    }

    /// What is known of a number that is one or the other.
    pub fn either(self, other: Facts) -> Facts {
        Interval::from(self).hull(other.into()).into()
    }

    /// What is known of a number of which both are known; nothing where there is none.
    pub fn both(self, other: Facts) -> Option<Facts> {
        Interval::from(self).meet(other.into()).map(Facts::from)
    }
}

impl From<Facts> for Interval {
    fn from(Facts { divisor, min, max }: Facts) -> Interval {
        Interval::new(min.into(), max.into()).with_divisor(divisor.unsigned_abs().into())
    }
}

/// Bounds of more than 64 bits are those of 64.
impl From<Interval> for Facts {
    fn from(interval: Interval) -> Facts {
        let Interval { divisor, min, max } = interval.clamped(Interval::I64);
        // What has more bits is a multiple of some power of two at least.
        let power = (power_of_two_in(divisor) as i64).checked_abs().unwrap_or(1 << 62);
        let divisor = i64::try_from(divisor).unwrap_or(power);
        Facts { divisor, min: min as i64, max: max as i64 }
    }
}

/// The greatest common divisor; of 0 and a number, the number.
pub fn gcd(a: i64, b: i64) -> i64 {
    let divisor = greatest_common_divisor(a.unsigned_abs().into(), b.unsigned_abs().into());
    // Only of the least number there is would it not fit, and 1 divides that too.
    i64::try_from(divisor).unwrap_or(1)
}
