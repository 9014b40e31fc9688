// SPDX-License-Identifier: Apache-2.0
//! Functions of floats. What rounds once is the machine's; the rest is written in `math/`, with the
//! operations that every machine does alike.

use super::{Accepts, Intrinsic, Meaning, pure};
use crate::constant::Const;
use crate::eval::{float, quiet};
use crate::types::Scalar;

const FLOAT: Accepts = Accepts::Float(&[]);
const SINGLE: Accepts = Accepts::Float(&[Scalar::F32]);
const WIDE: Accepts = Accepts::Float(&[Scalar::F32, Scalar::F64]);

const fn rounds(
    name: &'static str,
    doc: &'static str,
    meaning: fn(&[Const]) -> Const,
) -> Intrinsic {
    pure(name, doc, &[WIDE], Meaning::Pure(meaning))
}

const fn expands(name: &'static str, doc: &'static str) -> Intrinsic {
    pure(name, doc, &[SINGLE], Meaning::Expand(name))
}

const fn approximates(
    name: &'static str,
    doc: &'static str,
    meaning: fn(&[Const]) -> Const,
) -> Intrinsic {
    pure(name, doc, &[SINGLE], Meaning::Approximate(meaning))
}

fn of(operands: &[Const], function: fn(f64) -> f64) -> Const {
    quiet(Const::float(operands[0].scalar(), function(float(operands[0]))))
}

pub(super) const ROWS: &[Intrinsic] = &[
    pure(
        "fma",
        "`a * b + c`, rounded once.",
        &[FLOAT, Accepts::Like(0), Accepts::Like(0)],
        Meaning::Pure(fma),
    ),
    rounds("sqrt", "The square root, rounded once.", |x| of(x, f64::sqrt)),
    rounds("floor", "The largest whole number not above.", |x| of(x, f64::floor)),
    rounds("ceil", "The least whole number not below.", |x| of(x, f64::ceil)),
    rounds("trunc", "The whole number towards zero.", |x| of(x, f64::trunc)),
    rounds("round_even", "The nearest whole number, ties to the even one.", |x| {
        of(x, f64::round_ties_even)
    }),
    expands("exp", "The exponential function."),
    expands("exp2", "Two to that power."),
    expands("log", "The natural logarithm."),
    expands("log2", "The logarithm to base two."),
    expands("sin", "The sine of an angle in radians."),
    expands("cos", "The cosine of an angle in radians."),
    expands("tanh", "The hyperbolic tangent."),
    expands("erf", "The error function."),
    expands("rsqrt", "One over the square root."),
    pure(
        "pow",
        "The first to the power of the second.",
        &[SINGLE, Accepts::Like(0)],
        Meaning::Expand("pow"),
    ),
    approximates(
        "fast_exp2",
        "Two to that power, approximately: within 2 ulp, and 0 below 2^-126.",
        |x| of(x, |x| if x < -126.0 { 0.0 } else { x.exp2() }),
    ),
    approximates("fast_log2", "The logarithm to base two, approximately.", |x| of(x, f64::log2)),
    approximates("fast_sin", "The sine, approximately: for small angles.", |x| of(x, f64::sin)),
    approximates("fast_cos", "The cosine, approximately: for small angles.", |x| of(x, f64::cos)),
    approximates(
        "fast_tanh",
        "The hyperbolic tangent, approximately: a relative error up to 2^-11.",
        |x| of(x, f64::tanh),
    ),
    approximates("fast_rsqrt", "One over the square root, approximately: within 2 ulp.", |x| {
        of(x, |x| 1.0 / x.sqrt())
    }),
    approximates("fast_rcp", "One over a number, approximately: within 1 ulp.", |x| {
        of(x, f64::recip)
    }),
];

/// Rounds once: the sum of a product and a number is rounded to an odd mantissa on its way to fewer
/// bits.
fn fma(operands: &[Const]) -> Const {
    let scalar = operands[0].scalar();
    if scalar == Scalar::F32 {
        let [a, b, c] = [0, 1, 2].map(|place| f32::from_bits(operands[place].bits() as u32));
        return quiet(Const::from_bits(scalar, a.mul_add(b, c).to_bits().into()));
    }
    let [a, b, c] = [0, 1, 2].map(|place| float(operands[place]));
    let result = match scalar {
        Scalar::F64 => Const::float(scalar, a.mul_add(b, c)),
        _ => Const::float(scalar, odd_sum(a * b, c)),
    };
    quiet(result)
}

/// The sum of two float64, as the one of the two around it whose last bit is 1, unless it is one.
fn odd_sum(a: f64, b: f64) -> f64 {
    let sum = a + b;
    if !sum.is_finite() || sum == 0.0 {
        return sum;
    }
    // The error of rounding the sum (Knuth, TAOCP 2, 4.2.2): exact.
    let part = sum - a;
    let error = (a - (sum - part)) + (b - part);
    if error == 0.0 || sum.to_bits() & 1 == 1 {
        return sum;
    }
    let is_away = (error > 0.0) == (sum > 0.0);
    f64::from_bits(if is_away { sum.to_bits() + 1 } else { sum.to_bits() - 1 })
}
