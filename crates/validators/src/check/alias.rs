// SPDX-License-Identifier: Apache-2.0
//! `noalias(a, b)`: two tensors share no memory.

use super::Info;
use crate::path::Path;
use crate::plan::{Arith, Compare, Value};
use crate::planner::Planner;
use crate::rule::{Rule, RuleKind};
use kernpack_ffi_abi::ErrorKind;
use std::collections::HashSet;

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

/// The tensors whose memory rules ask about.
pub fn asked(rules: &[Rule]) -> HashSet<&str> {
    let tensors = rules.iter().flat_map(|rule| match &rule.kind {
        RuleKind::NoAlias(a, b) => vec![a.as_str(), b],
        RuleKind::Compare(..) | RuleKind::In(..) | RuleKind::DTypes(..) => vec![],
    });
    tensors.collect()
}

/// A number of elements, as far as indices reach. It leaves 64 bits only where the bytes that these elements take do, too.
#[derive(Clone, Copy)]
struct Reach {
    /// Groups of elements that fill whole bytes: single elements, or 8 of them where one may be no whole number of bytes.
    groups: Value,
    /// Single elements beside them, only a few, and negative only where the groups are not positive.
    rest: Value,
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
    let mut valid = cx.b.bool(true);
    let mut down = Reach { groups: zero, rest: zero };
    let mut up = down;
    for (i, (extent, stride)) in extents.iter().zip(strides).enumerate() {
        let last = cx.b.arith(Arith::Sub, *extent, one);
        let reach = product(cx, last, *stride, element, &mut valid);
        cx.b.let_named(format!("{tensor}.reach[{i}]"), reach.groups);
        let negative = cx.b.compare(Compare::Lt, *stride, zero);
        let (below, above) = split(cx, negative, reach.groups);
        let (rest_below, rest_above) = split(cx, negative, reach.rest);
        down.groups = checked(cx, Arith::Add, down.groups, below, &mut valid);
        down.rest = cx.b.add_ints(down.rest, rest_below);
        up.groups = checked(cx, Arith::Add, up.groups, above, &mut valid);
        up.rest = cx.b.add_ints(up.rest, rest_above);
    }
    up.rest = cx.b.add_ints(up.rest, one);
    let (round_down, round_up) = (zero, cx.b.int(if element.is_whole_bytes { 0 } else { 7 }));
    let low = bytes(cx, down, element, round_down, &mut valid);
    let high = bytes(cx, up, element, round_up, &mut valid);
    let low = checked(cx, Arith::Add, address, low, &mut valid);
    let high = checked(cx, Arith::Add, address, high, &mut valid);
    cx.b.let_named(format!("{tensor}.low"), low);
    cx.b.let_named(format!("{tensor}.high"), high);
    let empty = cx.b.eq_zero_any(extents);
    Extent { low, high, valid, empty }
}

/// The value where it counts downwards and 0 elsewhere, and the other way round.
fn split(cx: &mut Planner<'_>, negative: Value, value: Value) -> (Value, Value) {
    let zero = cx.b.int(0);
    (cx.b.select(negative, value, zero), cx.b.select(negative, zero, value))
}

/// The elements between the first index of a dim and the last.
fn product(
    cx: &mut Planner<'_>,
    last: Value,
    stride: Value,
    element: Element,
    valid: &mut Value,
) -> Reach {
    let (zero, eight) = (cx.b.int(0), cx.b.int(8));
    if element.is_whole_bytes {
        return Reach { groups: checked(cx, Arith::Mul, last, stride, valid), rest: zero };
    }
    // (8a + b) * (8c + d) elements are a * (8c + d) + b*c groups of 8, and b*d beside them. No product has another sign than the stride.
    let (a, b) = (cx.b.arith(Arith::FloorDiv, last, eight), cx.b.arith(Arith::Mod, last, eight));
    let (c, d) = divide_towards_zero(cx, stride, eight);
    let most = checked(cx, Arith::Mul, a, stride, valid);
    let others = cx.b.mul(b, c);
    Reach { groups: checked(cx, Arith::Add, most, others, valid), rest: cx.b.mul(b, d) }
}

/// Quotient and rest, neither of which has another sign than `value`.
fn divide_towards_zero(cx: &mut Planner<'_>, value: Value, divisor: Value) -> (Value, Value) {
    let (zero, one) = (cx.b.int(0), cx.b.int(1));
    let negative = cx.b.compare(Compare::Lt, value, zero);
    let most = cx.b.arith(Arith::Sub, divisor, one);
    let up = cx.b.select(negative, most, zero);
    let raised = cx.b.add_ints(value, up);
    let quotient = cx.b.arith(Arith::FloorDiv, raised, divisor);
    let multiple = cx.b.mul(quotient, divisor);
    (quotient, cx.b.arith(Arith::Sub, value, multiple))
}

fn checked(cx: &mut Planner<'_>, op: Arith, a: Value, b: Value, valid: &mut Value) -> Value {
    let overflows = cx.b.overflows(op, a, b);
    let fits = cx.b.not(overflows);
    *valid = cx.b.and(*valid, fits);
    cx.b.arith(op, a, b)
}

/// The bytes of that many elements, where a byte of which only some bits are taken counts or not as `round` bits more make it.
fn bytes(
    cx: &mut Planner<'_>,
    reach: Reach,
    element: Element,
    round: Value,
    valid: &mut Value,
) -> Value {
    let eight = cx.b.int(8);
    let bits = element.bits;
    let group_bytes =
        if element.is_whole_bytes { cx.b.arith(Arith::FloorDiv, bits, eight) } else { bits };
    let most = checked(cx, Arith::Mul, reach.groups, group_bytes, valid);
    let rest_bits = cx.b.mul(reach.rest, bits);
    let rounded = cx.b.add_ints(rest_bits, round);
    let others = cx.b.arith(Arith::FloorDiv, rounded, eight);
    checked(cx, Arith::Add, most, others, valid)
}

/// Requires two tensors not to overlap.
pub fn require(cx: &mut Planner<'_>, path: &Path, a: &str, b: &str) {
    let extent = |name| *cx.extent(name).expect("the tensor's extent is known");
    let (first, second) = (extent(a), extent(b));
    let before = cx.b.compare(Compare::Le, first.high, second.low);
    let behind = cx.b.compare(Compare::Le, second.high, first.low);
    let apart = cx.b.or(before, behind);
    let valid = cx.b.and(first.valid, second.valid);
    let empty = cx.b.or(first.empty, second.empty);
    let subject = format!("Invalid Tensor data {}", path.location());
    for (holds, got) in [(valid, "a byte range beyond 64 bits"), (apart, "overlapping memory")] {
        let cond = cx.b.or(holds, empty);
        let rule = format!("noalias({a}, {b})");
        cx.require(cond, INFO.complaint(subject.as_str(), rule, got));
    }
}
