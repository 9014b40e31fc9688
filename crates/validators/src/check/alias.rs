// SPDX-License-Identifier: Apache-2.0
//! `noalias(a, b)`: two tensors share no memory.

use super::Info;
use crate::path::Path;
use crate::plan::{Arith, Compare, Value};
use crate::planner::Planner;
use crate::rule::{Rule, RuleKind};
use kernpack_ffi_abi::ErrorKind;

/// The check.
pub const INFO: Info = Info {
    name: "alias",
    kind: ErrorKind::ValueError,
    doc: "The byte ranges that the two tensors span do not meet. Views that interleave without sharing an element are refused too; empty tensors never alias.",
    example: "Invalid Tensor data on argument #1 when calling: `f(a: Tensor([n], float32), b: Tensor([n], float32))`, expected noalias(a, b), got overlapping memory",
};

/// The byte range that a tensor spans.
#[derive(Clone, Copy, Debug)]
pub struct Extent {
    /// The address of the lowest byte.
    pub low: Value,
    /// One past the highest byte.
    pub high: Value,
    /// Whether nothing overflowed.
    pub valid: Value,
    /// Whether there is no element.
    pub empty: Value,
}

/// The size of a tensor's elements.
#[derive(Clone, Copy, Debug)]
pub struct Element {
    /// In bits.
    pub bits: Value,
    /// Whether that is a multiple of 8, whatever the dtype.
    pub is_whole_bytes: bool,
}

/// Whether a rule asks about that tensor's memory.
pub fn is_asked(rules: &[Rule], tensor: &str) -> bool {
    rules.iter().any(|rule| match &rule.kind {
        RuleKind::NoAlias(a, b) => a == tensor || b == tensor,
        _ => false,
    })
}

/// The range: each dim reaches `(extent - 1) * stride` elements up, or down where its stride is negative.
pub fn extent(
    cx: &mut Planner<'_>,
    tensor: &str,
    address: Value,
    extents: &[Value],
    strides: &[Value],
    element: Element,
) -> Extent {
    let (zero, one) = (cx.b.int(0), cx.b.int(1));
    let (mut down, mut up, mut valid) = (zero, zero, cx.b.bool(true));
    for (i, (extent, stride)) in extents.iter().zip(strides).enumerate() {
        let last = cx.b.arith(Arith::Sub, *extent, one);
        let reach = checked(cx, Arith::Mul, last, *stride, &mut valid);
        cx.b.let_named(format!("{tensor}.reach[{i}]"), reach);
        let negative = cx.b.compare(Compare::Lt, reach, zero);
        let (below, above) = (cx.b.select(negative, reach, zero), cx.b.select(negative, zero, reach));
        down = checked(cx, Arith::Add, down, below, &mut valid);
        up = checked(cx, Arith::Add, up, above, &mut valid);
    }
    let count = checked(cx, Arith::Add, up, one, &mut valid);
    let low = bytes(cx, down, element, &mut valid);
    let high = bytes(cx, count, element, &mut valid);
    let low = checked(cx, Arith::Add, address, low, &mut valid);
    let high = checked(cx, Arith::Add, address, high, &mut valid);
    cx.b.let_named(format!("{tensor}.low"), low);
    cx.b.let_named(format!("{tensor}.high"), high);
    let empty = cx.b.eq_zero_any(extents);
    Extent { low, high, valid, empty }
}

fn checked(cx: &mut Planner<'_>, op: Arith, a: Value, b: Value, valid: &mut Value) -> Value {
    let overflows = cx.b.overflows(op, a, b);
    let fits = cx.b.not(overflows);
    *valid = cx.b.and(*valid, fits);
    cx.b.arith(op, a, b)
}

/// The bytes of that many elements, rounded away from the tensor's start where an element is no whole number of them.
fn bytes(cx: &mut Planner<'_>, elements: Value, element: Element, valid: &mut Value) -> Value {
    let (zero, seven, eight) = (cx.b.int(0), cx.b.int(7), cx.b.int(8));
    if element.is_whole_bytes {
        let size = cx.b.arith(Arith::FloorDiv, element.bits, eight);
        return checked(cx, Arith::Mul, elements, size, valid);
    }
    let bits = checked(cx, Arith::Mul, elements, element.bits, valid);
    let negative = cx.b.compare(Compare::Lt, bits, zero);
    let round = cx.b.select(negative, zero, seven);
    let bits = checked(cx, Arith::Add, bits, round, valid);
    cx.b.arith(Arith::FloorDiv, bits, eight)
}

/// Requires two tensors not to overlap.
pub fn require(cx: &mut Planner<'_>, path: &Path, a: &str, b: &str) {
    let extent = |name| *cx.extent(name).expect("the tensor's extent is known");
    let (first, second) = (extent(a), extent(b));
    let before = cx.b.compare(Compare::Le, first.high, second.low);
    let behind = cx.b.compare(Compare::Le, second.high, first.low);
    let apart = cx.b.or(before, behind);
    let valid = cx.b.and(first.valid, second.valid);
    let disjoint = cx.b.and(valid, apart);
    let empty = cx.b.or(first.empty, second.empty);
    let cond = cx.b.or(disjoint, empty);
    let subject = format!("Invalid Tensor data {}", path.location());
    cx.require(cond, INFO.complaint(subject, format!("noalias({a}, {b})"), "overlapping memory"));
}
