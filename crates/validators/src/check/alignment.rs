// SPDX-License-Identifier: Apache-2.0
//! The alignment of a tensor's first element.

use super::Info;
use crate::expr::Field;
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
    let rest = rest(cx, address, align);
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

/// The rest of an address beyond a multiple of `align`.
fn rest(cx: &mut Planner<'_>, address: Value, align: Value) -> Value {
    let one = cx.b.int(1);
    let mask = cx.b.arith(Arith::Sub, align, one);
    cx.b.arith(Arith::BitAnd, address, mask)
}

/// `aligned(tensor, align)`: whether its first element is at a multiple of that many bytes, or it
/// has none. What the call allocates is where its allocation says: see [`is_established`].
pub fn holds(cx: &mut Planner<'_>, tensor: &str, align: u32) -> Value {
    if is_established(cx, tensor, align) {
        return cx.b.bool(true);
    }
    let rest = rest_of(cx, tensor, align);
    let aligned = cx.b.eq_int(rest, 0);
    let numel =
        cx.named(&format!("{tensor}{}", Field::Numel)).expect("the tensor has a size").clone();
    let mut empty = cx.b.eq_int(numel.value, 0);
    if let Some(valid) = numel.valid {
        empty = cx.b.and(valid, empty);
    }
    cx.b.or(aligned, empty)
}

/// Whether a tensor is one that the call allocates, at a multiple of that many bytes. It has no
/// address yet where conditions are asked.
pub fn is_established(cx: &Planner<'_>, tensor: &str, align: u32) -> bool {
    let is_own = cx.named(tensor).is_none();
    let known = cx.map_source(tensor).and_then(|source| source.align).filter(|_| is_own);
    known.is_some_and(|known| known.is_multiple_of(align))
}

/// The words of a message for a tensor's address: `address % 16 == 4`.
pub fn received(
    cx: &mut Planner<'_>,
    what: &str,
    tensor: &str,
    align: u32,
    equals: &str,
) -> Phrase {
    let rest = rest_of(cx, tensor, align);
    Phrase::text(format!("{what} % {align}{equals}")).and_value(rest, Format::Int)
}

fn rest_of(cx: &mut Planner<'_>, tensor: &str, align: u32) -> Value {
    let (address, align) =
        (cx.named(tensor).expect("the tensor has an address").value, cx.b.int(align));
    rest(cx, address, align)
}

/// Whole bytes, at least 1.
pub(crate) fn element_bytes(cx: &mut Planner<'_>, element_bits: Value) -> Value {
    let (seven, eight) = (cx.b.int(7), cx.b.int(8));
    let up = cx.b.add_ints(element_bits, seven);
    cx.b.arith(Arith::FloorDiv, up, eight)
}
