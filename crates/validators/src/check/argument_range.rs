// SPDX-License-Identifier: Apache-2.0
//! A kernel argument fits its C type.

use super::scalar::{fits_float, fits_int, float_range, int_range, overflow_limit};
use super::{Info, dim};
use crate::expr::Expr;
use crate::fault::{Format, Phrase};
use crate::plan::{Compare, MOST_TURNS, Value};
use crate::planner::{BoundStar, Checked, Planner};
use kernpack_ffi_abi::{DType, ErrorKind};

/// The check.
pub const INFO: Info = Info {
    name: "argument-range",
    kind: ErrorKind::ValueError,
    doc: "The value of an expression that a launch uses fits 64 bits, and the C type it is passed as. Nothing is truncated.",
    example: "Out of bound kernel argument `m*n: int32` when calling: `f(a: Tensor([m, n], float32))`, expected to be in int32 range [-2147483648, 2147483647], got 4294967296",
};

/// Requires an expression to have a value, and an integer `dtype` to hold it. `what` names it:
/// ``kernel argument `n: int32` ``.
pub fn require_int(cx: &mut Planner<'_>, what: &str, expr: &Expr, value: Checked, dtype: DType) {
    let range = int_range(dtype);
    let subject = format!("Out of bound {what}");
    let none = dim::no_value(cx, expr, value);
    cx.require(value.valid, INFO.complaint(subject.as_str(), range.expected.as_str(), none));
    let cond = fits_int(cx, value.value, &range);
    let got = Phrase::value(value.value, Format::Int);
    cx.require(cond, INFO.complaint(subject, range.expected, got));
}

/// Requires an extent: a value that is not negative.
pub fn require_extent(cx: &mut Planner<'_>, what: &str, expr: &Expr, value: Checked) {
    let subject = format!("Out of bound {what}");
    let none = dim::no_value(cx, expr, value);
    cx.require(value.valid, INFO.complaint(subject.as_str(), "a non-negative value", none));
    let zero = cx.b.int(0);
    let cond = cx.b.compare(Compare::Le, zero, value.value);
    let got = Phrase::value(value.value, Format::Int);
    cx.require(cond, INFO.complaint(subject, "a non-negative value", got));
}

/// Requires at most 64 dims of an allocation: those of a star, and `n_others`.
pub fn require_few_dims(cx: &mut Planner<'_>, what: &str, bound: &BoundStar, n_others: usize) {
    let (n_others, most) = (cx.b.int(n_others as i64), cx.b.int(MOST_TURNS));
    let n_dims = cx.b.add_ints(bound.dims.ndim, n_others);
    let cond = cx.b.compare(Compare::Le, n_dims, most);
    let got = Phrase::value(n_dims, Format::Int);
    let expected = format!("ndim<={MOST_TURNS}");
    cx.require(cond, INFO.complaint(format!("Out of bound {what}"), expected, got));
}

/// Requires the bits of an allocation to fit 64 bits.
pub fn require_bytes(cx: &mut Planner<'_>, what: &str, valid: Value, dims: &[Phrase]) {
    let mut got = Phrase::text("shape [");
    for (i, dim) in dims.iter().enumerate() {
        got = got.and(if i > 0 { ", " } else { "" }).and_phrase(dim.clone());
    }
    let expected = format!("at most {} bits", i64::MAX);
    cx.require(valid, INFO.complaint(format!("Out of bound {what}"), expected, got.and("]")));
}

/// Requires a float `dtype` to hold the float64 with these bits.
pub fn require_float(cx: &mut Planner<'_>, what: &str, bits: Value, dtype: DType) {
    let Some(limit) = overflow_limit(dtype) else { return };
    let cond = fits_float(cx, bits, limit);
    let got = Phrase::value(bits, Format::Float);
    cx.require(cond, INFO.complaint(format!("Out of bound {what}"), float_range(dtype), got));
}
