// SPDX-License-Identifier: Apache-2.0
//! The range of a scalar.

use super::{Info, type_index};
use crate::fault::{Format, Phrase};
use crate::literal::{Literal, float_text};
use crate::param::Argument;
use crate::plan::{Arith, Compare, Value};
use crate::planner::Planner;
use kernpack_ffi_abi::layout::{BIG_INT_WORDS_OFFSET, big_int};
use kernpack_ffi_abi::{DType, ErrorKind, TypeIndex};
use kernpack_interval::Interval;

/// The check.
pub const INFO: Info = Info {
    name: "scalar-range",
    kind: ErrorKind::ValueError,
    doc: "The number fits the scalar's dtype: integers within its range, finite floats without overflow once rounded. inf and nan pass as floats.",
    example: "Out of bound value on argument #0 when calling: `f(n: int32)`, expected to be in int32 range [-2147483648, 2147483647], got 4294967296",
};

/// The words for what is received where an integer has more than 64 bits.
const BEYOND: &str = "an integer beyond 64 bits";

/// Requires an integer or bool of `dtype`; returns its value.
pub fn require_int(cx: &mut Planner<'_>, at: &Argument, dtype: DType) -> Value {
    let word = if dtype == DType::BOOL { "bool" } else { "int" };
    require_number(cx, at, word, &[TypeIndex::INT, TypeIndex::BOOL]);
    let range = int_range(dtype);
    if dtype == DType::UINT64 {
        return require_uint64(cx, at, &range.expected);
    }
    require_small(cx, at, &range.expected);
    require_range(cx, at, &range);
    at.payload
}

/// Requires a float of `dtype`; returns the bits of its float64.
pub fn require_float(cx: &mut Planner<'_>, at: &Argument, dtype: DType) -> Value {
    require_number(cx, at, "float", &[TypeIndex::FLOAT, TypeIndex::INT, TypeIndex::BOOL]);
    let expected = float_range(dtype);
    require_small(cx, at, &expected);
    let bits = cx.float_payload(at);
    if let Some(limit) = overflow_limit(dtype) {
        let cond = fits_float(cx, bits, limit);
        let got = Phrase::value(bits, Format::Float);
        cx.require(cond, INFO.complaint(subject(at), expected, got));
    }
    bits
}

/// The type check, with BigInt let through: it is a number, though out of range.
fn require_number(cx: &mut Planner<'_>, at: &Argument, word: &str, accepted: &[TypeIndex]) {
    type_index::require(cx, at, word, &[accepted, &[TypeIndex::BIG_INT]].concat());
}

fn subject(at: &Argument) -> Phrase {
    at.path.location("Out of bound value")
}

fn require_small(cx: &mut Planner<'_>, at: &Argument, expected: &str) {
    let big = cx.b.eq_int(at.type_index, TypeIndex::BIG_INT.0);
    let cond = cx.b.not(big);
    cx.require(cond, INFO.complaint(subject(at), expected, BEYOND));
}

/// An Int that is not negative, or a BigInt of two words of which the upper is 0.
fn require_uint64(cx: &mut Planner<'_>, at: &Argument, expected: &str) -> Value {
    let big = cx.b.eq_int(at.type_index, TypeIndex::BIG_INT.0);
    let mut value = at.payload;
    cx.b.open();
    let n_words = cx.b.load(at.payload, big_int::SIZE);
    let offset = cx.b.int(BIG_INT_WORDS_OFFSET);
    let digits = cx.b.add_ints(at.payload, offset);
    let (low, high) = (cx.b.element(digits, 0), cx.b.element(digits, 1));
    let (two, zero) = (cx.b.eq_int(n_words, 2), cx.b.eq_int(high, 0));
    let cond = cx.b.and(two, zero);
    cx.require(cond, INFO.complaint(subject(at), expected, BEYOND));
    value = cx.b.close(big, &[crate::plan::Guarded { inner: low, otherwise: value }])[0];
    let zero = cx.b.int(0);
    let positive = cx.b.compare(Compare::Le, zero, at.payload);
    let cond = cx.b.or(big, positive);
    let got = Phrase::value(at.payload, Format::Int);
    cx.require(cond, INFO.complaint(subject(at), expected, got));
    value
}

/// The values of an integer type.
pub(crate) struct IntRange {
    /// The least, where that is a bound at all.
    low: Option<i64>,
    /// The greatest, likewise.
    high: Option<i64>,
    /// `to be in int32 range [-2147483648, 2147483647]`
    pub expected: String,
}

/// The values of `bool` or an integer dtype.
pub fn integers(dtype: DType) -> Interval {
    match dtype {
        DType::BOOL => Interval::new(0, 1),
        _ => Interval::of_bits(dtype.bits.into(), !dtype.is_unsigned()),
    }
}

/// The range of `bool` or an integer dtype, for values that arrive in 64 signed bits.
pub(crate) fn int_range(dtype: DType) -> IntRange {
    let Interval { min: low, max: high, .. } = integers(dtype);
    let bound = |value: i128, limit: i64| (value != limit.into()).then_some(value as i64);
    let high_bound = if high > i64::MAX.into() { None } else { bound(high, i64::MAX) };
    let expected = format!("to be in {dtype} range [{low}, {high}]");
    IntRange { low: bound(low, i64::MIN), high: high_bound, expected }
}

/// Whether an integer lies in a range.
pub(crate) fn fits_int(cx: &mut Planner<'_>, value: Value, range: &IntRange) -> Value {
    let mut cond = cx.b.bool(true);
    if let Some(low) = range.low {
        let low = cx.b.int(low);
        let enough = cx.b.compare(Compare::Le, low, value);
        cond = cx.b.and(cond, enough);
    }
    if let Some(high) = range.high {
        let high = cx.b.int(high);
        let small = cx.b.compare(Compare::Le, value, high);
        cond = cx.b.and(cond, small);
    }
    cond
}

/// Whether a call may pass a scalar of that dtype this literal.
///
/// # Errors
/// The words for what is expected in its place: ``to be in int8 range [-128, 127]``.
pub(crate) fn fits(value: &Literal, dtype: DType) -> Result<(), String> {
    let (fits, range) = match (value, dtype.is_float()) {
        (Literal::Bool(_) | Literal::Int(_), false) => {
            let (range, value) = (int_range(dtype), value.as_any().1);
            let within = |bound: Option<i64>, ok: &dyn Fn(i64) -> bool| bound.is_none_or(ok);
            let fits =
                within(range.low, &|low| low <= value) && within(range.high, &|high| value <= high);
            (fits, range.expected)
        }
        (Literal::Bool(_) | Literal::Int(_), true) => {
            (has_float(value.as_any().1 as f64, dtype), float_range(dtype))
        }
        (Literal::Float(value), true) => (has_float(*value, dtype), float_range(dtype)),
        (Literal::Float(_) | Literal::None | Literal::Text(_) | Literal::DType(_), _) => {
            (false, format!("a literal of {dtype}"))
        }
    };
    if fits { Ok(()) } else { Err(range) }
}

/// Whether a float rounds to `dtype` without overflow: what is not finite does not overflow.
pub(crate) fn has_float(value: f64, dtype: DType) -> bool {
    let is_small = |limit| (value.abs().to_bits() as i64) < limit;
    !value.is_finite() || overflow_limit(dtype).is_none_or(is_small)
}

fn require_range(cx: &mut Planner<'_>, at: &Argument, range: &IntRange) {
    let cond = fits_int(cx, at.payload, range);
    let got = Phrase::value(at.payload, Format::Int);
    cx.require(cond, INFO.complaint(subject(at), range.expected.as_str(), got));
}

/// `to be in float16 range [-65504.0, 65504.0]`
pub(crate) fn float_range(dtype: DType) -> String {
    let greatest = match dtype {
        DType::FLOAT16 => 65504.0,
        DType::BFLOAT16 => f64::from(f32::from_bits(0x7f7f_0000)),
        DType::FLOAT32 => f64::from(f32::MAX),
        _ => f64::MAX,
    };
    let greatest = float_text(greatest);
    format!("to be in {dtype} range [-{greatest}, {greatest}]")
}

/// The bits of the least float64 that rounds to infinity: half a unit above the greatest finite
/// value.
pub(crate) fn overflow_limit(dtype: DType) -> Option<i64> {
    let limit: f64 = match dtype {
        DType::FLOAT16 => 65520.0,
        DType::BFLOAT16 => f64::from_bits(0x47ef_f000_0000_0000),
        DType::FLOAT32 => f64::from_bits(0x47ef_ffff_f000_0000),
        _ => return None,
    };
    Some(limit.to_bits() as i64)
}

/// Whether every float of dtype `from` has a value in the range of `to`.
pub(crate) fn always_fits_float(from: DType, to: DType) -> bool {
    let limit = |dtype| overflow_limit(dtype).unwrap_or(i64::MAX);
    limit(from) <= limit(to)
}

/// Whether a float is below the limit, or inf or nan: the bits without the sign compare as
/// integers.
pub(crate) fn fits_float(cx: &mut Planner<'_>, bits: Value, limit: i64) -> Value {
    let (mask, limit) = (cx.b.int(i64::MAX), cx.b.int(limit));
    let magnitude = cx.b.arith(Arith::BitAnd, bits, mask);
    let small = cx.b.compare(Compare::Lt, magnitude, limit);
    let infinity = cx.b.int(f64::INFINITY.to_bits() as i64);
    let special = cx.b.compare(Compare::Le, infinity, magnitude);
    cx.b.or(small, special)
}
