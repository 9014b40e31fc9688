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
    let parts = rules.iter().flat_map(Rule::parts);
    let tensors = parts.flat_map(|part| match &part.kind {
        RuleKind::NoAlias(a, b) => vec![a.as_str(), b],
        _ => vec![],
    });
    tensors.collect()
}

/// A number of elements, as far as indices reach. It leaves 64 bits only where the bytes that these
/// elements take do, too.
#[derive(Clone, Copy)]
struct Reach {
    /// Groups of elements that fill whole bytes: single elements, or 8 of them where one may be no
    /// whole number of bytes.
    groups: Value,
    /// Single elements beside them, only a few, and negative only where the groups are not
    /// positive.
    rest: Value,
}

/// How far a tensor reaches from its first element: each dim `(extent - 1) * stride` elements up,
/// or down where its stride is negative.
#[derive(Clone, Copy)]
pub struct Span {
    down: Reach,
    up: Reach,
    valid: Value,
}

impl Span {
    /// The names of its values.
    pub const NAMES: [&str; 5] = ["down", "down.rest", "up", "up.rest", "reaches"];

    /// That of one element.
    pub fn of_one_element(cx: &mut Planner<'_>) -> Span {
        let (zero, valid) = (cx.b.int(0), cx.b.bool(true));
        let none = Reach { groups: zero, rest: zero };
        Span { down: none, up: none, valid }
    }

    /// Its values, in the order of their names.
    pub fn values(&self) -> [Value; 5] {
        [self.down.groups, self.down.rest, self.up.groups, self.up.rest, self.valid]
    }

    /// That of these values.
    pub fn from_values(values: &[Value]) -> Span {
        let reach = |i: usize| Reach { groups: values[i], rest: values[i + 1] };
        Span { down: reach(0), up: reach(2), valid: values[4] }
    }

    /// Adds a dim. What it reaches gets a `name`.
    pub fn extend(
        &mut self,
        cx: &mut Planner<'_>,
        name: Option<&str>,
        extent: Value,
        stride: Value,
        element: Element,
    ) {
        let (zero, one) = (cx.b.int(0), cx.b.int(1));
        let last = cx.b.arith(Arith::Sub, extent, one);
        let reach = product(cx, last, stride, element, &mut self.valid);
        name.into_iter().for_each(|name| cx.b.let_named(name, reach.groups));
        let negative = cx.b.compare(Compare::Lt, stride, zero);
        let (below, above) = split(cx, negative, reach.groups);
        let (rest_below, rest_above) = split(cx, negative, reach.rest);
        self.down.groups = checked(cx, Arith::Add, self.down.groups, below, &mut self.valid);
        self.down.rest = cx.b.add_ints(self.down.rest, rest_below);
        self.up.groups = checked(cx, Arith::Add, self.up.groups, above, &mut self.valid);
        self.up.rest = cx.b.add_ints(self.up.rest, rest_above);
    }

    /// The range of the `tensor` whose first element lies at `address`.
    pub fn in_bytes(
        self,
        cx: &mut Planner<'_>,
        tensor: &str,
        address: Value,
        element: Element,
        empty: Value,
    ) -> Extent {
        let Span { down, mut up, mut valid } = self;
        let (zero, one) = (cx.b.int(0), cx.b.int(1));
        up.rest = cx.b.add_ints(up.rest, one);
        let (round_down, round_up) = (zero, cx.b.int(if element.is_whole_bytes { 0 } else { 7 }));
        let low = bytes(cx, down, element, round_down, &mut valid);
        let high = bytes(cx, up, element, round_up, &mut valid);
        let low = checked(cx, Arith::Add, address, low, &mut valid);
        let high = checked(cx, Arith::Add, address, high, &mut valid);
        cx.b.let_named(format!("{tensor}.low"), low);
        cx.b.let_named(format!("{tensor}.high"), high);
        Extent { low, high, valid, empty }
    }
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
    // (8a + b) * (8c + d) elements are a * (8c + d) + b*c groups of 8, and b*d beside them. No
    // product has another sign than the stride.
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

/// The bytes of that many elements, where a byte of which only some bits are taken counts or not as
/// `round` bits more make it.
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

/// Whether two tensors do not overlap, and whether that has an answer: their ranges are within 64
/// bits. Empty ones never overlap.
pub fn apart(cx: &mut Planner<'_>, a: &str, b: &str) -> (Value, Value) {
    let extent = |name| *cx.extent(name).expect("the tensor's extent is known");
    let (first, second) = (extent(a), extent(b));
    let before = cx.b.compare(Compare::Le, first.high, second.low);
    let behind = cx.b.compare(Compare::Le, second.high, first.low);
    let apart = cx.b.or(before, behind);
    let valid = cx.b.and(first.valid, second.valid);
    let empty = cx.b.or(first.empty, second.empty);
    (cx.b.or(apart, empty), cx.b.or(valid, empty))
}

/// Requires two tensors not to overlap.
pub fn require(cx: &mut Planner<'_>, path: &Path, a: &str, b: &str) {
    let (apart, valid) = apart(cx, a, b);
    let subject = path.location("Invalid Tensor data");
    for (cond, got) in [(valid, "a byte range beyond 64 bits"), (apart, "overlapping memory")] {
        let rule = format!("noalias({a}, {b})");
        cx.require(cond, INFO.complaint(&subject, rule, got));
    }
}
