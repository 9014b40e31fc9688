// SPDX-License-Identifier: Apache-2.0
//! The numbers of a launch are ones that the driver can be given.

use super::{Info, dim};
use crate::expr::Expr;
use crate::fault::{Format, Phrase};
use crate::plan::{Compare, Value};
use crate::planner::{Checked, Planner};
use crate::rule::join;
use kernpack_ffi_abi::ErrorKind;
use kernpack_interval::Interval;
use kernpack_machine::block::{MOST_THREADS, MOST_THREADS_ALONG};
use kernpack_syntax::{Diagnostic, Placed};

/// The check.
pub const INFO: Info = Info {
    name: "launch-range",
    kind: ErrorKind::ValueError,
    doc: "A number of a launch on a GPU, such as an extent of its grid, is in the range that the driver takes. What a device allows below that, the driver says.",
    example: "Out of bound launch grid[1] `n` when calling: `f(a: Tensor([n], float32))`, expected to be in range [0, 65535], got 65536",
};

/// Requires an expression to have a value between `least` and `most`. `what` names it: `grid[0]`.
pub fn require(
    cx: &mut Planner<'_>,
    what: &str,
    expr: &Expr,
    value: Checked,
    least: i64,
    most: i64,
) {
    let subject = format!("Out of bound launch {what} `{expr}`");
    let expected = format!("to be in range [{least}, {most}]");
    let none = dim::no_value(cx, expr, value);
    cx.require(value.valid, INFO.complaint(subject.as_str(), expected.as_str(), none));
    let cond = between(cx, value.value, least, most);
    let got = Phrase::value(value.value, Format::Int);
    cx.require(cond, INFO.complaint(subject, expected, got));
}

/// The problem of an expression that no call gives a value between `least` and `most`, whatever
/// it names.
pub fn never(place: &str, expr: &Expr, least: i64, most: i64) -> Option<Diagnostic> {
    let allowed = Interval::new(least.into(), most.into());
    if expr.interval(&|_| Interval::I64).is_some_and(|all| all.meet(allowed).is_some()) {
        return None;
    }
    let message = format!("{place} is out of range: expected {least} to {most}, found `{expr}`");
    Some(Diagnostic::new(INFO.name, message))
}

/// The most threads that a block has in its third extent.
const MOST_THREADS_Z: u32 = MOST_THREADS_ALONG[2];

/// The problem of a block that has more threads than any GPU takes, whatever its extents name.
pub fn too_many_threads(place: &str, block: &[Placed<Expr>]) -> Option<Diagnostic> {
    let least =
        |expr: &Placed<Expr>| expr.interval(&|_| Interval::I64).map_or(1, |all| all.min.max(1));
    let extents: Vec<_> = block.iter().map(least).collect();
    let in_all = extents.iter().fold(1, |product: i128, extent| product.saturating_mul(*extent));
    if in_all <= MOST_THREADS.into()
        && extents.get(2).is_none_or(|extent| *extent <= MOST_THREADS_Z.into())
    {
        return None;
    }
    let message = format!("{place} has more threads than any GPU takes: found `[{}]`", join(block));
    let help = format!(
        "stay within {MOST_THREADS} threads in all, and {MOST_THREADS_Z} in the third extent"
    );
    Some(Diagnostic::new(INFO.name, message).help(help))
}

fn between(cx: &mut Planner<'_>, value: Value, least: i64, most: i64) -> Value {
    let (least, most) = (cx.b.int(least), cx.b.int(most));
    let (above, below) =
        (cx.b.compare(Compare::Le, least, value), cx.b.compare(Compare::Le, value, most));
    cx.b.and(above, below)
}
