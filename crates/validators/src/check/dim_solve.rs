// SPDX-License-Identifier: Apache-2.0
//! An extent `a*s + c` that gives the symbol `s` its value.

use super::Info;
use crate::expr::{Affine, Expr};
use crate::fault::{Format, Phrase};
use crate::path::Path;
use crate::plan::{Arith, Compare, Value};
use crate::planner::Planner;
use kernpack_ffi_abi::ErrorKind;

/// The check.
pub const INFO: Info = Info {
    name: "dim-solve",
    kind: ErrorKind::ValueError,
    doc: "An extent such as `2*n + 1`, the only thing to give `n` its value, has a whole solution that is not negative.",
    example: "Invalid a.shape[0] on argument #0 when calling: `f(a: Tensor([2*n + 1], float32))`, expected 2*n + 1 with n >= 0, got 4",
};

/// Requires a solution; returns it. A bare symbol always has one: the extent itself, which is known
/// not to be negative.
pub fn require(
    cx: &mut Planner<'_>,
    path: &Path,
    actual: Value,
    expr: &Expr,
    affine: &Affine<'_>,
) -> Value {
    let (scale, offset) = (cx.b.int(affine.scale), cx.b.int(affine.offset));
    let overflows = cx.b.overflows(Arith::Sub, actual, offset);
    let multiple = cx.b.arith(Arith::Sub, actual, offset);
    let value =
        if affine.scale == 1 { multiple } else { cx.b.arith(Arith::FloorDiv, multiple, scale) };
    if expr.as_symbol().is_some() {
        return value;
    }
    let mut cond = cx.b.not(overflows);
    let zero = cx.b.int(0);
    let enough = cx.b.compare(Compare::Le, zero, multiple);
    cond = cx.b.and(cond, enough);
    if affine.scale != 1 {
        let rest = cx.b.arith(Arith::Mod, multiple, scale);
        let whole = cx.b.eq(rest, zero);
        cond = cx.b.and(cond, whole);
    }
    let subject = path.subject("Invalid");
    let expected = format!("{expr} with {} >= 0", affine.symbol);
    cx.require(cond, INFO.complaint(subject, expected, Phrase::value(actual, Format::Int)));
    value
}
