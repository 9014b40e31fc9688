// SPDX-License-Identifier: Apache-2.0
//! Which range an operation on ranges gives.

use super::Range;
use crate::op::{Binary, Unary};
use crate::types::Scalar;

pub(super) fn unary(op: Unary, value: Range, scalar: Scalar) -> Range {
    let divisor = value.divisor;
    match op {
        Unary::Neg => Range { min: -value.max, max: -value.min, divisor }.wrapped(scalar),
        Unary::Abs => {
            let min = value.min.max(-value.max).max(0);
            Range { min, max: value.max.max(-value.min), divisor }.wrapped(scalar)
        }
        Unary::Not if scalar.is_signed() => Range::new(-value.max - 1, -value.min - 1),
        Unary::Not => {
            let all = Range::of(scalar);
            Range::new(all.max - value.max, all.max - value.min)
        }
    }
}

/// Sums, differences and products as they are without a type; nothing where they are beyond all
/// types, and of other operations.
pub(super) fn exact(op: Binary, a: Range, b: Range) -> Option<Range> {
    let divisor = common(a.divisor, b.divisor);
    match op {
        Binary::Add => Some(Range { min: a.min + b.min, max: a.max + b.max, divisor }),
        Binary::Sub => Some(Range { min: a.min - b.max, max: a.max - b.min, divisor }),
        Binary::Mul => product(a, b),
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

pub(super) fn binary(op: Binary, a: Range, b: Range, scalar: Scalar) -> Range {
    let all = Range::of(scalar);
    match op {
        Binary::Add | Binary::Sub | Binary::Mul => {
            exact(op, a, b).map_or(all, |range| range.wrapped(scalar))
        }
        Binary::FloorDiv => quotient(a, b, scalar),
        Binary::FloorMod => remainder(a, b, scalar),
        Binary::Min => {
            let divisor = common(a.divisor, b.divisor);
            Range { min: a.min.min(b.min), max: a.max.min(b.max), divisor }
        }
        Binary::Max => {
            let divisor = common(a.divisor, b.divisor);
            Range { min: a.min.max(b.min), max: a.max.max(b.max), divisor }
        }
        Binary::And => match (a.min >= 0, b.min >= 0) {
            (true, true) => Range::new(0, a.max.min(b.max)),
            (true, false) => Range::new(0, a.max),
            (false, true) => Range::new(0, b.max),
            (false, false) => all,
        },
        Binary::Or | Binary::Xor if a.min >= 0 && b.min >= 0 => {
            Range::new(0, ones(a.max.max(b.max)))
        }
        Binary::Shl => match known_shift(b, scalar) {
            Some(count) => {
                product(a, Range::exactly(1 << count)).map_or(all, |range| range.wrapped(scalar))
            }
            None => all,
        },
        Binary::Shr => shifted(a, b, scalar),
        Binary::Or | Binary::Xor | Binary::MulHigh | Binary::Div => all,
    }
}

/// A shift that is known, and less than the width.
fn known_shift(count: Range, scalar: Scalar) -> Option<u32> {
    let known = u32::try_from(count.min).ok().filter(|_| count.min == count.max)?;
    (known < scalar.bits()).then_some(known)
}

fn product(a: Range, b: Range) -> Option<Range> {
    let first = a.min.checked_mul(b.min)?;
    let others = [a.min.checked_mul(b.max)?, a.max.checked_mul(b.min)?, a.max.checked_mul(b.max)?];
    let bounds = others
        .iter()
        .fold((first, first), |(min, max), corner| (min.min(*corner), max.max(*corner)));
    let divisor = a.divisor.checked_mul(b.divisor).unwrap_or(1);
    Some(Range { min: bounds.0, max: bounds.1, divisor })
}

/// Of a division that rounds down. By 0 it gives 0.
fn quotient(a: Range, b: Range, scalar: Scalar) -> Range {
    if b.min <= 0 {
        // The magnitude does not grow.
        let most = a.max.max(-a.min);
        let least = if a.min >= 0 && b.min >= 0 { 0 } else { -most };
        return Range::new(least, most).wrapped(scalar);
    }
    let corners = [a.min.div_euclid(b.min), a.min.div_euclid(b.max)];
    let others = [a.max.div_euclid(b.min), a.max.div_euclid(b.max)];
    let range = Range::new(corners[0].min(corners[1]), others[0].max(others[1]));
    let is_exact = b.min == b.max && a.is_multiple_of(b.min.unsigned_abs());
    if is_exact && range.min != range.max {
        return Range { divisor: a.divisor / b.min.unsigned_abs(), ..range };
    }
    range
}

/// What that division leaves, which has the divisor's sign. By 0 it is the first number.
fn remainder(a: Range, b: Range, scalar: Scalar) -> Range {
    if b.min <= 0 {
        let all = Range::of(scalar);
        let most = b.max.max(0).max(a.max);
        return Range::new(b.min.min(a.min).min(0), most).and(all).unwrap_or(all);
    }
    if b.min == b.max && a.is_multiple_of(b.min.unsigned_abs()) {
        return Range::exactly(0);
    }
    let is_unchanged = a.min >= 0 && a.max < b.min;
    let divisor = common(a.divisor, b.divisor);
    match is_unchanged {
        true => a,
        false if a.min >= 0 => Range { divisor, ..Range::new(0, (b.max - 1).min(a.max)) },
        false => Range { divisor, ..Range::new(0, b.max - 1) },
    }
}

/// Bits moved down, by as many as a count says without a sign.
fn shifted(a: Range, count: Range, scalar: Scalar) -> Range {
    match known_shift(count, scalar) {
        Some(count) => Range::new(a.min >> count, a.max >> count),
        None => Range::new(a.min.min(0), a.max.max(-1)),
    }
}

/// The least number of ones in a row that is not less.
fn ones(value: i128) -> i128 {
    match u32::try_from(value.max(0)) {
        Ok(0) => 0,
        _ => i128::MAX >> (value.max(1).leading_zeros() - 1),
    }
}

/// What multiples of either are multiples of. Everything divides 0.
pub(super) fn common(a: u128, b: u128) -> u128 {
    let (mut a, mut b) = (a, b);
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a
}

/// The largest power of two that divides a number, up to what every type has values for.
pub(super) fn power_of_two_in(divisor: u128) -> u128 {
    match divisor {
        0 => 1,
        _ => 1 << divisor.trailing_zeros().min(63),
    }
}
