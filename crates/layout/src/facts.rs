// SPDX-License-Identifier: Apache-2.0
//! What is known of a number that is not known itself: what divides it, and bounds.
//!
//! Facts may be weaker than the truth, and never stronger.

use crate::arith::Op;

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
        let (min, max) = bounds(op, a, b);
        let divisor = divisor(op, a, b);
        match min == max {
            true => Facts::of_number(min),
            false => Facts { divisor, min, max },
        }
    }
}

/// The greatest common divisor; of 0 and a number, the number.
pub fn gcd(a: i64, b: i64) -> i64 {
    let (mut a, mut b) = (a.unsigned_abs(), b.unsigned_abs());
    while b != 0 {
        (a, b) = (b, a % b);
    }
    // Only of the least number there is would it not fit, and 1 divides that too.
    i64::try_from(a).unwrap_or(1)
}

fn divisor(op: Op, a: Facts, b: Facts) -> i64 {
    match op {
        Op::Add | Op::Sub | Op::Min | Op::Max => gcd(a.divisor, b.divisor),
        Op::Mul => a.divisor.checked_mul(b.divisor).unwrap_or(a.divisor),
        // A quotient is exact where the divisor is one number, which divides.
        Op::Div | Op::CeilDiv => match b.known() {
            Some(by) if a.is_multiple_of(by) => (a.divisor / by).abs(),
            Some(_) | None => 1,
        },
        // a - (a // b) * b
        Op::Rem => gcd(a.divisor, b.divisor),
        Op::And | Op::Xor => low_bits(op, a, b),
        Op::Shl => match b.known() {
            Some(by @ 0..62) => a.divisor.checked_mul(1 << by).unwrap_or(1),
            Some(_) | None => 1,
        },
        Op::Shr => match b.known() {
            Some(by @ 0..62) if a.is_multiple_of(1 << by) => a.divisor >> by,
            Some(_) | None => 1,
        },
    }
    .max(1)
}

/// The power of two that divides both, or for an `and` one of them.
fn low_bits(op: Op, a: Facts, b: Facts) -> i64 {
    let zeros = |facts: Facts| if facts.divisor == 0 { 62 } else { facts.divisor.trailing_zeros() };
    let n_bits = if op == Op::And { zeros(a).max(zeros(b)) } else { zeros(a).min(zeros(b)) };
    1 << n_bits.min(62)
}

fn bounds(op: Op, a: Facts, b: Facts) -> (i64, i64) {
    let (a0, a1, b0, b1) = (a.min as i128, a.max as i128, b.min as i128, b.max as i128);
    match op {
        Op::Add => around(&[a0 + b0, a1 + b1]),
        Op::Sub => around(&[a0 - b1, a1 - b0]),
        Op::Mul => around(&[a0 * b0, a0 * b1, a1 * b0, a1 * b1]),
        Op::Min => around(&[a0.min(b0), a1.min(b1)]),
        Op::Max => around(&[a0.max(b0), a1.max(b1)]),
        // Nothing is divided by 0.
        Op::Div if b0 >= 0 && b1 > 0 => {
            let (b0, down) = (b0.max(1), i128::div_euclid);
            around(&[down(a0, b0), down(a0, b1), down(a1, b0), down(a1, b1)])
        }
        Op::CeilDiv if b0 >= 0 && b1 > 0 => {
            let (b0, up) = (b0.max(1), |a: i128, b: i128| -(-a).div_euclid(b));
            around(&[up(a0, b0), up(a0, b1), up(a1, b0), up(a1, b1)])
        }
        Op::Rem if b0 >= 0 && b1 > 0 && a0 >= 0 => around(&[0, a1.min(b1 - 1)]),
        Op::Rem if b0 >= 0 && b1 > 0 => around(&[0, b1 - 1]),
        Op::And if a0 >= 0 && b0 >= 0 => around(&[0, a1.min(b1)]),
        Op::And if b0 >= 0 => around(&[0, b1]),
        Op::And if a0 >= 0 => around(&[0, a1]),
        Op::Xor if a0 >= 0 && b0 >= 0 => around(&[0, all_ones(a1.max(b1))]),
        Op::Shr if b0 == b1 && (0..63).contains(&b0) => around(&[a0 >> b0, a1 >> b0]),
        Op::Shl if b0 == b1 && (0..63).contains(&b0) => around(&[a0 << b0, a1 << b0]),
        Op::Div | Op::CeilDiv | Op::Rem | Op::And | Op::Xor | Op::Shr | Op::Shl => {
            (i64::MIN, i64::MAX)
        }
    }
}

/// The least number of ones in binary that is as large.
fn all_ones(number: i128) -> i128 {
    (1 << (128 - number.leading_zeros())) - 1
}

/// The bounds of a result that is 64 bits wide, from its extremes.
fn around(extremes: &[i128]) -> (i64, i64) {
    let clamp = |number: i128| number.clamp(i64::MIN as i128, i64::MAX as i128) as i64;
    let min = extremes.iter().copied().min().unwrap_or(i128::MIN);
    let max = extremes.iter().copied().max().unwrap_or(i128::MAX);
    (clamp(min), clamp(max))
}
