// SPDX-License-Identifier: Apache-2.0
//! The alignment of a tensor's first element.

use super::Info;
use crate::fault::{Format, Phrase};
use crate::path::Path;
use crate::plan::{Arith, Value};
use crate::planner::Planner;
use kernpack_ffi_abi::ErrorKind;

/// The check.
pub const INFO: Info = Info {
    name: "alignment",
    kind: ErrorKind::ValueError,
    doc: "The address of the first element, byte_offset included, is a multiple of `align` bytes; without `align`, of an element's size. Empty tensors pass.",
    example: "Misaligned Tensor data on argument #0 when calling: `f(a: Tensor([n], float32))`, expected data alignment=16 bytes, got address % 16 == 4",
};

/// Requires a multiple of `align` bytes, or of the size of an element, unless the tensor is empty.
pub fn require(
    cx: &mut Planner<'_>,
    path: &Path,
    address: Value,
    align: Option<u32>,
    element_bits: Value,
    empty: Value,
) {
    let align = match align {
        Some(align) => cx.b.int(align),
        None => element_bytes(cx, element_bits),
    };
    let one = cx.b.int(1);
    if align == one {
        return;
    }
    let mask = cx.b.arith(Arith::Sub, align, one);
    let rest = cx.b.arith(Arith::BitAnd, address, mask);
    let aligned = cx.b.eq_int(rest, 0);
    let cond = cx.b.or(aligned, empty);
    let number = |phrase: Phrase| match cx.b.as_int(align) {
        Some(align) => phrase.and(align.to_string()),
        None => phrase.and_value(align, Format::Int),
    };
    let expected = number(Phrase::text("data alignment=")).and(" bytes");
    let got = number(Phrase::text("address % ")).and(" == ").and_value(rest, Format::Int);
    let subject = path.location("Misaligned Tensor data");
    cx.require(cond, INFO.complaint(subject, expected, got));
}

/// Whole bytes, at least 1.
pub(crate) fn element_bytes(cx: &mut Planner<'_>, element_bits: Value) -> Value {
    let (seven, eight) = (cx.b.int(7), cx.b.int(8));
    let up = cx.b.add_ints(element_bits, seven);
    cx.b.arith(Arith::FloorDiv, up, eight)
}
