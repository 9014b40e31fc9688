// SPDX-License-Identifier: Apache-2.0
//! Results of operations on numbers: the one place that says it in Rust. Constants are folded
//! with it, and the interpreter computes with it, many threads at once. Every operation is total:
//! any bits give a result, and none traps.
//!
//! The result of an operation on floats is rounded to its type, of halves too. A NaN that comes out
//! is the usual quiet one.

mod number;
mod round;

#[cfg(test)]
mod tests;

use crate::constant::Const;
use crate::op::{Binary, Compare, Rounding, Unary};
use crate::types::{Class, Scalar};
use half::{bf16, f16};
use number::{Bits, Float, Int, with_type};
use round::Number;
pub(crate) use round::round;
use std::ops::{Add, Div, Mul, Sub};

/// Computes with one number.
///
/// # Panics
/// Where the operation is not defined on that type: a verified kernel has none of those.
pub fn unary(op: Unary, value: Const) -> Const {
    let mut out = [0];
    unary_lanes(op, value.scalar(), &[value.bits()], &mut out);
    Const::from_bits(value.scalar(), out[0])
}

/// Computes with two numbers of one type.
///
/// # Panics
/// Where the operation is not defined on that type, or the types differ.
pub fn binary(op: Binary, left: Const, right: Const) -> Const {
    assert_eq!(left.scalar(), right.scalar(), "`{}` of two types", op.name());
    let mut out = [0];
    binary_lanes(op, left.scalar(), &[left.bits()], &[right.bits()], &mut out);
    Const::from_bits(left.scalar(), out[0])
}

/// Compares two numbers of one type.
///
/// # Panics
/// Where the types differ.
pub fn compare(op: Compare, left: Const, right: Const) -> bool {
    assert_eq!(left.scalar(), right.scalar(), "`{}` of two types", op.name());
    let mut out = [0];
    compare_lanes(op, left.scalar(), &[left.bits()], &[right.bits()], &mut out);
    out[0] == 1
}

/// The same number as another type.
pub fn convert(value: Const, to: Scalar, rounding: Rounding) -> Const {
    let mut out = [0];
    convert_lanes(value.scalar(), to, rounding, &[value.bits()], &mut out);
    Const::from_bits(to, out[0])
}

/// [`unary`] of the bits of many, which lie in as many places of `out` then. Bits beyond the type's
/// do not count.
pub(crate) fn unary_lanes(op: Unary, scalar: Scalar, x: &[u64], out: &mut [u64]) {
    with_type!(
        scalar,
        int T => match op {
            Unary::Neg => each(x, out, |x| T::of(x).neg().bits()),
            Unary::Abs => each(x, out, |x| Int::abs(T::of(x)).bits()),
            Unary::Not => each(x, out, |x| (!T::of(x)).bits()),
        },
        float F => match op {
            Unary::Neg => each(x, out, |x| F::of(x).bits() ^ F::SCALAR.float_format().sign()),
            Unary::Abs => each(x, out, |x| F::of(x).bits() & !F::SCALAR.float_format().sign()),
            Unary::Not => unreachable!("`not` of {scalar}"),
        },
        bool => match op {
            Unary::Not => each(x, out, |x| !x & 1),
            Unary::Neg | Unary::Abs => unreachable!("`{}` of truth values", op.name()),
        }
    );
}

/// [`binary`] of the bits of many.
pub(crate) fn binary_lanes(op: Binary, scalar: Scalar, a: &[u64], b: &[u64], out: &mut [u64]) {
    with_type!(
        scalar,
        int T => ints::<T>(op, a, b, out),
        float F => floats::<F>(op, a, b, out),
        bool => truths(op, a, b, out)
    );
}

/// [`compare`] of the bits of many: 1 where it holds.
pub(crate) fn compare_lanes(op: Compare, scalar: Scalar, a: &[u64], b: &[u64], out: &mut [u64]) {
    with_type!(
        scalar,
        int T => holds(op, a, b, out, T::of),
        float F => holds(op, a, b, out, |x| F::of(x).widen()),
        bool => holds(op, a, b, out, |x| x & 1)
    );
}

/// [`convert`] of the bits of many.
pub(crate) fn convert_lanes(from: Scalar, to: Scalar, how: Rounding, x: &[u64], out: &mut [u64]) {
    with_type!(
        from,
        int T => from_ints::<T>(to, how, x, out),
        float F => from_floats::<F>(to, how, x, out),
        // A truth value is the number 0 or 1.
        bool => each(x, out, |x| convert(Const::from_bits(Scalar::U8, x & 1), to, how).bits())
    );
}

fn each(x: &[u64], out: &mut [u64], f: impl Fn(u64) -> u64) {
    for (out, &x) in out.iter_mut().zip(x) {
        *out = f(x);
    }
}

fn each_two(a: &[u64], b: &[u64], out: &mut [u64], f: impl Fn(u64, u64) -> u64) {
    for ((out, &a), &b) in out.iter_mut().zip(a).zip(b) {
        *out = f(a, b);
    }
}

fn truths(op: Binary, a: &[u64], b: &[u64], out: &mut [u64]) {
    match op {
        Binary::And => each_two(a, b, out, |a, b| a & b & 1),
        Binary::Or => each_two(a, b, out, |a, b| (a | b) & 1),
        Binary::Xor => each_two(a, b, out, |a, b| (a ^ b) & 1),
        Binary::Add
        | Binary::Sub
        | Binary::Mul
        | Binary::Div
        | Binary::FloorDiv
        | Binary::FloorMod
        | Binary::MulHigh
        | Binary::Min
        | Binary::Max
        | Binary::Shl
        | Binary::Shr => unreachable!("`{}` of truth values", op.name()),
    }
}

fn ints<T: Int>(op: Binary, a: &[u64], b: &[u64], out: &mut [u64]) {
    let by = |f: fn(T, T) -> T| move |a, b| f(T::of(a), T::of(b)).bits();
    match op {
        Binary::Add => each_two(a, b, out, |a, b| T::of(a).add(T::of(b)).bits()),
        Binary::Sub => each_two(a, b, out, |a, b| T::of(a).sub(T::of(b)).bits()),
        Binary::Mul => each_two(a, b, out, |a, b| T::of(a).mul(T::of(b)).bits()),
        Binary::FloorDiv => each_two(a, b, out, by(T::floor_div)),
        Binary::FloorMod => each_two(a, b, out, by(T::floor_mod)),
        Binary::MulHigh => each_two(a, b, out, by(T::mul_high)),
        Binary::Min => each_two(a, b, out, |a, b| T::of(a).min(T::of(b)).bits()),
        Binary::Max => each_two(a, b, out, |a, b| T::of(a).max(T::of(b)).bits()),
        Binary::And => each_two(a, b, out, |a, b| T::of(a & b).bits()),
        Binary::Or => each_two(a, b, out, |a, b| T::of(a | b).bits()),
        Binary::Xor => each_two(a, b, out, |a, b| T::of(a ^ b).bits()),
        Binary::Shl => each_two(a, b, out, |a, b| T::of(a).shl(T::of(b)).bits()),
        Binary::Shr => each_two(a, b, out, |a, b| T::of(a).shr(T::of(b)).bits()),
        Binary::Div => unreachable!("`div` of integers"),
    }
}

fn floats<F: Float>(op: Binary, a: &[u64], b: &[u64], out: &mut [u64]) {
    fn rounded<F: Float>(
        a: &[u64],
        b: &[u64],
        out: &mut [u64],
        f: impl Fn(F::Wide, F::Wide) -> F::Wide,
    ) {
        each_two(a, b, out, |a, b| F::narrow(f(F::of(a).widen(), F::of(b).widen())).bits());
    }
    match op {
        Binary::Add => rounded::<F>(a, b, out, F::Wide::add),
        Binary::Sub => rounded::<F>(a, b, out, F::Wide::sub),
        Binary::Mul => rounded::<F>(a, b, out, F::Wide::mul),
        Binary::Div => rounded::<F>(a, b, out, F::Wide::div),
        Binary::Min => each_two(a, b, out, |a, b| extreme::<F>(a, b, true)),
        Binary::Max => each_two(a, b, out, |a, b| extreme::<F>(a, b, false)),
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

/// The smaller or larger float: the one that is no NaN, and -0 before +0.
fn extreme<F: Float>(a: u64, b: u64, is_min: bool) -> u64 {
    let (a, b) = (F::of(a), F::of(b));
    let (left, right): (f64, f64) = (a.widen().into(), b.widen().into());
    let chosen = match (left.is_nan(), right.is_nan()) {
        (true, true) => return F::SCALAR.float_format().quiet_nan(),
        (true, false) => b,
        (false, true) => a,
        (false, false) => {
            let is_left_less = left < right || (left == right && left.is_sign_negative());
            if is_left_less == is_min { a } else { b }
        }
    };
    chosen.bits()
}

fn holds<T: PartialOrd>(op: Compare, a: &[u64], b: &[u64], out: &mut [u64], of: impl Fn(u64) -> T) {
    match op {
        Compare::Eq => each_two(a, b, out, |a, b| u64::from(of(a) == of(b))),
        Compare::Ne => each_two(a, b, out, |a, b| u64::from(of(a) != of(b))),
        Compare::Lt => each_two(a, b, out, |a, b| u64::from(of(a) < of(b))),
        Compare::Le => each_two(a, b, out, |a, b| u64::from(of(a) <= of(b))),
        Compare::Gt => each_two(a, b, out, |a, b| u64::from(of(a) > of(b))),
        Compare::Ge => each_two(a, b, out, |a, b| u64::from(of(a) >= of(b))),
    }
}

fn from_ints<T: Int>(to: Scalar, how: Rounding, x: &[u64], out: &mut [u64]) {
    match to.class() {
        Class::Bool => each(x, out, |x| u64::from(T::of(x).wide() != 0)),
        Class::Signed | Class::Unsigned => {
            let mask = to.mask();
            each(x, out, |x| T::of(x).wide() as u64 & mask);
        }
        Class::Float => match (to, how) {
            (Scalar::F32, Rounding::NearestEven) => {
                each(x, out, |x| (T::of(x).wide() as f32).bits());
            }
            (Scalar::F64, Rounding::NearestEven) => {
                each(x, out, |x| (T::of(x).wide() as f64).bits());
            }
            _ => each(x, out, |x| Number::of_int(T::of(x).wide()).round(to, how)),
        },
    }
}

fn from_floats<F: Float>(to: Scalar, how: Rounding, x: &[u64], out: &mut [u64]) {
    let float = float_of::<F>;
    match to.class() {
        Class::Bool => each(x, out, |x| u64::from(float(x) != 0.0)),
        Class::Signed | Class::Unsigned => each(x, out, |x| float_to_int(float(x), to, how)),
        Class::Float => float_to_floats::<F>(to, how, x, out),
    }
}

fn float_to_floats<F: Float>(to: Scalar, how: Rounding, x: &[u64], out: &mut [u64]) {
    let float = float_of::<F>;
    let wide = F::SCALAR.bits() < to.bits();
    match (to, how) {
        (Scalar::F64, _) => each(x, out, |x| f64::narrow(float(x)).bits()),
        (Scalar::F32, _) if wide => each(x, out, |x| f32::narrow(float(x) as f32).bits()),
        (Scalar::F32, Rounding::NearestEven) => {
            each(x, out, |x| f32::narrow(float(x) as f32).bits());
        }
        (Scalar::BF16, Rounding::NearestEven) if F::SCALAR == Scalar::F32 => {
            each(x, out, |x| bf16::narrow(f32::of(x)).bits());
        }
        (Scalar::F16, Rounding::NearestEven) if F::SCALAR == Scalar::F32 => {
            each(x, out, |x| f16::narrow(f32::of(x)).bits());
        }
        _ => each(x, out, |x| round(float(x), to, how)),
    }
}

fn float_to_int(value: f64, to: Scalar, rounding: Rounding) -> u64 {
    let whole = match rounding {
        Rounding::NearestEven => value.round_ties_even(),
        Rounding::Zero => value.trunc(),
        Rounding::Down => value.floor(),
        Rounding::Up => value.ceil(),
    };
    // Rust's conversion keeps to the bounds, and gives 0 for NaN.
    match to.is_signed() {
        true => {
            let most = (to.mask() >> 1) as i64;
            (whole as i64).clamp(-most - 1, most) as u64 & to.mask()
        }
        false => (whole as u64).min(to.mask()),
    }
}

fn float_of<F: Float>(bits: u64) -> f64 {
    F::of(bits).widen().into()
}

/// The float of a type that these bits are, exactly; nothing where the type is no float.
pub(crate) fn widened(scalar: Scalar, bits: u64) -> Option<f64> {
    with_type!(
        scalar,
        int _T => None,
        float F => Some(float_of::<F>(bits)),
        bool => None
    )
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
