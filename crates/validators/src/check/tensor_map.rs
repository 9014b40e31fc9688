// SPDX-License-Identifier: Apache-2.0
//! A tensor is one that the driver can encode a tensor map of. The demands are those that the
//! manual of `cuTensorMapEncodeTiled` makes of `globalAddress`, `globalDim` and `globalStrides`;
//! dims of extent 1 have no stride to speak of.

use super::Info;
use crate::fault::{Format, Phrase};
use crate::plan::{Arith, Compare, Value};
use crate::planner::{Checked, Planner};
use kernpack_ffi_abi::ErrorKind;
use kernpack_machine::tensor_map::{MOST_EXTENT, STRIDE_LIMIT};

/// The check.
pub const INFO: Info = Info {
    name: "tensor-map",
    kind: ErrorKind::ValueError,
    doc: "The tensor is one that a tensor map can describe: its data aligned to 16 bytes (32 where the map is interleaved by 32), its dims from 1 to 2^32, the innermost stride 1, the others multiples of 16 (or 32) bytes below 2^40. Dims of extent 1 pass with any stride, and empty tensors are not launched. Pad rows to a multiple of 16 bytes, or pass a contiguous copy.",
    example: "Invalid tensor map of `a` on argument #0 when calling: `f(a: Tensor([m, n], float16))`, expected strides[0] to be a multiple of 16 below 1099511627776 bytes, got 24",
};

/// Requires data at a multiple of `unit` bytes.
pub fn require_alignment(cx: &mut Planner<'_>, subject: &Phrase, address: Value, unit: u32) {
    let mask = cx.b.int(unit - 1);
    let rest = cx.b.arith(Arith::BitAnd, address, mask);
    let aligned = cx.b.eq_int(rest, 0);
    let expected = format!("data alignment={unit} bytes");
    let got = Phrase::text(format!("address % {unit} == ")).and_value(rest, Format::Int);
    cx.require(aligned, INFO.complaint(subject, expected, got));
}

/// Requires the extent of dim `i` to be one that a map can have.
pub fn require_dim(cx: &mut Planner<'_>, subject: &Phrase, i: usize, dim: Checked) {
    let expected = format!("dims[{i}] to be in range [1, {MOST_EXTENT}]");
    let none = dim.dangers.text();
    cx.require(dim.valid, INFO.complaint(subject, expected.as_str(), none));
    let cond = between(cx, dim.value, 1, MOST_EXTENT);
    let got = Phrase::value(dim.value, Format::Int);
    cx.require(cond, INFO.complaint(subject, expected, got));
}

/// Requires the innermost dim, `i`, to be a whole number of a map's elements: `bits` of the tensor
/// are a multiple of `element_bits`.
pub fn require_whole(
    cx: &mut Planner<'_>,
    subject: &Phrase,
    i: usize,
    bits: Value,
    element_bits: Value,
) {
    let rest = cx.b.arith(Arith::Mod, bits, element_bits);
    let cond = cx.b.eq_int(rest, 0);
    let expected = Phrase::text(format!("dims[{i}] to have a multiple of "))
        .and_value(element_bits, Format::Int)
        .and(" bits");
    cx.require(cond, INFO.complaint(subject, expected, Phrase::value(bits, Format::Int)));
}

/// Requires the stride of the innermost dim, `i`, to be 1 element.
pub fn require_innermost(
    cx: &mut Planner<'_>,
    subject: &Phrase,
    i: usize,
    stride: Checked,
    extent: Value,
) {
    let expected = format!("innermost strides[{i}] to be 1");
    let single = cx.b.eq_int(extent, 1);
    let valid = cx.b.or(stride.valid, single);
    let none = stride.dangers.text();
    cx.require(valid, INFO.complaint(subject, expected.as_str(), none));
    let one = cx.b.eq_int(stride.value, 1);
    let cond = cx.b.or(one, single);
    let got = Phrase::value(stride.value, Format::Int);
    cx.require(cond, INFO.complaint(subject, expected, got));
}

/// A stride of a map.
pub struct MapStride {
    /// In bytes, rounded down.
    pub bytes: Checked,
    /// The rest of it behind the last multiple of the unit: 0, where it is one.
    pub rest: Value,
}

/// Requires the stride of dim `i` to be a multiple of `unit` bytes that a map can hold.
pub fn require_stride(
    cx: &mut Planner<'_>,
    subject: &Phrase,
    i: usize,
    stride: &MapStride,
    unit: u32,
    extent: Value,
) {
    let expected = format!("strides[{i}] to be a multiple of {unit} below {STRIDE_LIMIT} bytes");
    let single = cx.b.eq_int(extent, 1);
    let valid = cx.b.or(stride.bytes.valid, single);
    let none = stride.bytes.dangers.text();
    cx.require(valid, INFO.complaint(subject, expected.as_str(), none));
    let multiple = cx.b.eq_int(stride.rest, 0);
    let in_range = between(cx, stride.bytes.value, 0, STRIDE_LIMIT - 1);
    let fits = cx.b.and(multiple, in_range);
    let cond = cx.b.or(fits, single);
    let got = Phrase::value(stride.bytes.value, Format::Int);
    cx.require(cond, INFO.complaint(subject, expected, got));
}

fn between(cx: &mut Planner<'_>, value: Value, least: i64, most: i64) -> Value {
    let (least, most) = (cx.b.int(least), cx.b.int(most));
    let above = cx.b.compare(Compare::Le, least, value);
    let below = cx.b.compare(Compare::Le, value, most);
    cx.b.and(above, below)
}
