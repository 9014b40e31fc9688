// SPDX-License-Identifier: Apache-2.0
//! Which integers an operation of a kernel gives: those of whole numbers, and what is left of these
//! in a type.

use crate::op::{Binary, Unary};
use crate::types::Scalar;
use kernpack_interval::Interval;

pub(super) fn unary(op: Unary, value: Interval, scalar: Scalar) -> Interval {
    let all = scalar.integers();
    match op {
        Unary::Neg => (-value).wrapped(all),
        Unary::Abs => value.abs().wrapped(all),
        Unary::Not if scalar.is_signed() => Interval::exactly(-1) - value,
        Unary::Not => Interval::exactly(all.max) - value,
    }
}

/// Sums, differences and products as they are without a type; nothing of other operations.
pub(super) fn exact(op: Binary, a: Interval, b: Interval) -> Option<Interval> {
    match op {
        Binary::Add => Some(a + b),
        Binary::Sub => Some(a - b),
        Binary::Mul => Some(a * b),
        Binary::Div
        | Binary::FloorDiv
        | Binary::FloorMod
        | Binary::MulHigh
        | Binary::Min
        | Binary::Max
        | Binary::And
        | Binary::Or
        | Binary::Xor
        | Binary::Shl
        | Binary::Shr => None,
    }
}

/// The interval that an operation on two integers of a type gives.
pub fn binary(op: Binary, a: Interval, b: Interval, scalar: Scalar) -> Interval {
    let all = scalar.integers();
    let given = match op {
        Binary::Add => a + b,
        Binary::Sub => a - b,
        Binary::Mul => a * b,
        // By 0 it gives 0, and what is left is the first number.
        Binary::FloorDiv => or_by_zero(a.floor_div(b), Interval::exactly(0), b),
        Binary::FloorMod => or_by_zero(a.floor_mod(b), a, b),
        Binary::Min => a.smaller(b),
        Binary::Max => a.larger(b),
        Binary::And => a & b,
        Binary::Or => a | b,
        Binary::Xor => a ^ b,
        Binary::Shl => match known_shift(b, scalar) {
            Some(count) => a.shifted_left(count),
            None => all,
        },
        // A count is one without a sign.
        Binary::Shr => match known_shift(b, scalar) {
            Some(count) => a.shifted_right(count),
            None => a.shifted_right_by_any(),
        },
        Binary::MulHigh | Binary::Div => all,
    };
    given.wrapped(all)
}

/// The results of a division, where the divisor may be 0 with that one, too.
fn or_by_zero(results: Option<Interval>, of_zero: Interval, by: Interval) -> Interval {
    match results {
        Some(results) if by.contains(0) => results.hull(of_zero),
        Some(results) => results,
        None => of_zero,
    }
}

/// A shift that is known, and less than the width.
fn known_shift(count: Interval, scalar: Scalar) -> Option<u32> {
    let known = u32::try_from(count.known()?).ok()?;
    (known < scalar.bits()).then_some(known)
}
