// SPDX-License-Identifier: Apache-2.0
//! What the operations on numbers give: the one place that says it in Rust. Constants are folded
//! with it, and the interpreter computes with it. Every operation is total: any bits give a result,
//! and none traps.
//!
//! The result of an operation on floats is rounded to its type, of halves too: they are computed
//! in float32 or float64, which have more than twice their bits, so that rounding twice is rounding
//! once. A NaN that comes out is the usual quiet one.

use crate::constant::Const;
use crate::op::{Binary, Compare, Rounding, Unary};
use crate::types::{Class, Scalar};

/// Computes with one number.
///
/// # Panics
/// Where the operation is not defined on that type: a verified kernel has none of those.
pub fn unary(op: Unary, value: Const) -> Const {
    let scalar = value.scalar();
    match (op, scalar.class()) {
        (Unary::Neg, Class::Float) => Const::from_bits(scalar, value.bits() ^ sign_bit(scalar)),
        (Unary::Abs, Class::Float) => Const::from_bits(scalar, value.bits() & !sign_bit(scalar)),
        (Unary::Neg, Class::Signed | Class::Unsigned) => {
            Const::from_bits(scalar, value.bits().wrapping_neg())
        }
        (Unary::Abs, Class::Signed) => {
            Const::from_bits(scalar, value.signed().wrapping_abs() as u64)
        }
        (Unary::Abs, Class::Unsigned) => value,
        (Unary::Not, Class::Bool | Class::Signed | Class::Unsigned) => {
            Const::from_bits(scalar, !value.bits())
        }
        (Unary::Neg | Unary::Abs, Class::Bool) | (Unary::Not, Class::Float) => {
            unreachable!("`{}` of {scalar}", op.name())
        }
    }
}

/// Computes with two numbers of one type.
///
/// # Panics
/// Where the operation is not defined on that type, or the types differ.
pub fn binary(op: Binary, left: Const, right: Const) -> Const {
    assert_eq!(left.scalar(), right.scalar(), "`{}` of two types", op.name());
    match left.scalar().class() {
        Class::Float => floats(op, left, right),
        Class::Bool => truths(op, left, right),
        Class::Signed | Class::Unsigned => ints(op, left, right),
    }
}

fn truths(op: Binary, left: Const, right: Const) -> Const {
    let bits = match op {
        Binary::And => left.bits() & right.bits(),
        Binary::Or => left.bits() | right.bits(),
        Binary::Xor => left.bits() ^ right.bits(),
        _ => unreachable!("`{}` of truth values", op.name()),
    };
    Const::from_bits(Scalar::Bool, bits)
}

fn ints(op: Binary, left: Const, right: Const) -> Const {
    let scalar = left.scalar();
    let (a, b) = (wide(left), wide(right));
    let bits = match op {
        Binary::Add => (a + b) as u64,
        Binary::Sub => (a - b) as u64,
        Binary::Mul => left.bits().wrapping_mul(right.bits()),
        Binary::FloorDiv => floor_div(a, b) as u64,
        Binary::FloorMod => (a - floor_div(a, b) * b) as u64,
        Binary::MulHigh => mul_high(left, right),
        Binary::Min => a.min(b) as u64,
        Binary::Max => a.max(b) as u64,
        Binary::And => left.bits() & right.bits(),
        Binary::Or => left.bits() | right.bits(),
        Binary::Xor => left.bits() ^ right.bits(),
        Binary::Shl => match right.bits() < u64::from(scalar.bits()) {
            true => left.bits() << right.bits(),
            false => 0,
        },
        Binary::Shr => (a >> right.bits().min(u64::from(scalar.bits()))) as u64,
        Binary::Div => unreachable!("`div` of integers"),
    };
    Const::from_bits(scalar, bits)
}

/// Any integer, with its sign.
fn wide(value: Const) -> i128 {
    match value.scalar().is_signed() {
        true => i128::from(value.signed()),
        false => i128::from(value.bits()),
    }
}

fn floor_div(a: i128, b: i128) -> i128 {
    match b {
        0 => 0,
        _ if a % b != 0 && (a < 0) != (b < 0) => a / b - 1,
        _ => a / b,
    }
}

fn mul_high(left: Const, right: Const) -> u64 {
    let bits = left.scalar().bits();
    match left.scalar().is_signed() {
        true => ((wide(left) * wide(right)) >> bits) as u64,
        false => ((u128::from(left.bits()) * u128::from(right.bits())) >> bits) as u64,
    }
}

fn floats(op: Binary, left: Const, right: Const) -> Const {
    let scalar = left.scalar();
    match op {
        Binary::Min | Binary::Max => extreme(op, left, right),
        Binary::Add | Binary::Sub | Binary::Mul | Binary::Div if scalar == Scalar::F64 => {
            quiet(Const::float(scalar, arithmetic(op, float(left), float(right))))
        }
        Binary::Add | Binary::Sub | Binary::Mul | Binary::Div => {
            // The sum or product of two halves is a float64, and their quotient is rounded there to
            // more than twice their bits.
            let result = arithmetic(op, float(left), float(right));
            quiet(Const::float(scalar, result))
        }
        Binary::FloorDiv
        | Binary::FloorMod
        | Binary::MulHigh
        | Binary::And
        | Binary::Or
        | Binary::Xor
        | Binary::Shl
        | Binary::Shr => unreachable!("`{}` of floats", op.name()),
    }
}

fn arithmetic(op: Binary, left: f64, right: f64) -> f64 {
    match op {
        Binary::Add => left + right,
        Binary::Sub => left - right,
        Binary::Mul => left * right,
        _ => left / right,
    }
}

/// The smaller or larger float: the one that is no NaN, and -0 before +0.
fn extreme(op: Binary, left: Const, right: Const) -> Const {
    let (a, b) = (float(left), float(right));
    if a.is_nan() || b.is_nan() {
        return quiet(if a.is_nan() { right } else { left });
    }
    let is_left_less = a < b || (a == b && a.is_sign_negative());
    if is_left_less == (op == Binary::Min) { left } else { right }
}

/// Compares two numbers of one type.
///
/// # Panics
/// Where the types differ.
pub fn compare(op: Compare, left: Const, right: Const) -> bool {
    assert_eq!(left.scalar(), right.scalar(), "`{}` of two types", op.name());
    match left.scalar().class() {
        Class::Float => holds(op, &float(left), &float(right)),
        Class::Bool | Class::Signed | Class::Unsigned => holds(op, &wide(left), &wide(right)),
    }
}

fn holds<T: PartialOrd>(op: Compare, left: &T, right: &T) -> bool {
    match op {
        Compare::Eq => left == right,
        Compare::Ne => left != right,
        Compare::Lt => left < right,
        Compare::Le => left <= right,
        Compare::Gt => left > right,
        Compare::Ge => left >= right,
    }
}

/// The same number as another type.
pub fn convert(value: Const, to: Scalar, rounding: Rounding) -> Const {
    match (value.scalar().class(), to.class()) {
        (Class::Float, Class::Float) => float_to_float(value, to, rounding),
        (Class::Float, Class::Bool) => Const::bool(float(value) != 0.0),
        (Class::Float, Class::Signed | Class::Unsigned) => float_to_int(value, to, rounding),
        (_, Class::Bool) => Const::bool(value.bits() != 0),
        (_, Class::Float) => int_to_float(value, to, rounding),
        (_, Class::Signed | Class::Unsigned) => Const::from_bits(to, wide(value) as u64),
    }
}

fn float_to_int(value: Const, to: Scalar, rounding: Rounding) -> Const {
    let value = match rounding {
        Rounding::NearestEven => float(value).round_ties_even(),
        Rounding::Zero => float(value).trunc(),
        Rounding::Down => float(value).floor(),
        Rounding::Up => float(value).ceil(),
    };
    let (least, most) = match to.is_signed() {
        true => (i128::from(i64::MIN >> (64 - to.bits())), i128::from(to.mask() >> 1)),
        false => (0, i128::from(to.mask())),
    };
    Const::from_bits(to, (value as i128).clamp(least, most) as u64)
}

fn float_to_float(value: Const, to: Scalar, rounding: Rounding) -> Const {
    let exact = float(value);
    round_from(exact, to, rounding, |nearest| nearest.partial_cmp(&exact))
}

fn int_to_float(value: Const, to: Scalar, rounding: Rounding) -> Const {
    let exact = wide(value);
    // An integer of 64 bits may lie between two float64, and rounding twice is not rounding once:
    // the float64 on the way is rounded to an odd mantissa, which keeps on which side it lies.
    let odd = to_odd(exact);
    let through = if to == Scalar::F64 { exact as f64 } else { odd };
    round_from(through, to, rounding, |nearest| {
        Some(if nearest.is_infinite() {
            nearest.total_cmp(&0.0)
        } else {
            (nearest as i128).cmp(&exact)
        })
    })
}

/// The float64 of an integer; where there is none, the neighbour whose last bit is 1.
fn to_odd(exact: i128) -> f64 {
    let nearest = exact as f64;
    match (nearest as i128).cmp(&exact) {
        std::cmp::Ordering::Equal => nearest,
        _ if nearest.to_bits() & 1 == 1 => nearest,
        std::cmp::Ordering::Less if exact > 0 => f64::from_bits(nearest.to_bits() + 1),
        std::cmp::Ordering::Greater if exact < 0 => f64::from_bits(nearest.to_bits() + 1),
        _ => f64::from_bits(nearest.to_bits() - 1),
    }
}

/// A number rounded to a float type. `compare` says on which side of it a float lies.
fn round_from(
    number: f64,
    to: Scalar,
    rounding: Rounding,
    compare: impl Fn(f64) -> Option<std::cmp::Ordering>,
) -> Const {
    use std::cmp::Ordering::{Greater, Less};
    let nearest = Const::float(to, number);
    let side = compare(float(nearest));
    let is_negative = number.is_sign_negative();
    let moved = match (rounding, side) {
        (Rounding::Zero, Some(Greater)) if !is_negative => step(nearest, false),
        (Rounding::Zero, Some(Less)) if is_negative => step(nearest, false),
        (Rounding::Down, Some(Greater)) => step(nearest, is_negative),
        (Rounding::Up, Some(Less)) => step(nearest, !is_negative),
        _ => nearest,
    };
    quiet(moved)
}

/// The next float away from zero, or towards it.
fn step(value: Const, is_away: bool) -> Const {
    let magnitude = value.bits() & !sign_bit(value.scalar());
    let sign = value.bits() & sign_bit(value.scalar());
    let next = if is_away { magnitude + 1 } else { magnitude.saturating_sub(1) };
    Const::from_bits(value.scalar(), sign | next)
}

/// The float that a constant is.
///
/// # Panics
/// Where it is none.
pub fn float(value: Const) -> f64 {
    value.as_float().unwrap_or_else(|| unreachable!("{} is no float", value.scalar()))
}

/// The usual NaN for any other.
pub fn quiet(value: Const) -> Const {
    match value.as_float() {
        Some(float) if float.is_nan() => Const::float(value.scalar(), f64::NAN),
        _ => value,
    }
}

const fn sign_bit(scalar: Scalar) -> u64 {
    1 << (scalar.bits() - 1)
}
