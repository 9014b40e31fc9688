// SPDX-License-Identifier: Apache-2.0
//! A stride: that of a compact tensor, a constant, a symbol or an expression. Dims that are free meet every requirement.

use super::{Info, dim, mut_broadcast, negative_stride};
use crate::dim::Dim;
use crate::expr::{Expr, Field};
use crate::fault::{Format, Phrase};
use crate::param::Order;
use crate::path::Path;
use crate::plan::Value;
use crate::planner::Planner;
use kernpack_ffi_abi::ErrorKind;

/// The check.
pub const INFO: Info = Info {
    name: "stride",
    kind: ErrorKind::ValueError,
    doc: "The stride, in elements, is what the signature says. Dims of extent 1 and empty tensors pass, whatever their strides; make other tensors contiguous, or give the parameter `strides=`.",
    example: "Mismatched a.strides[0] on argument #0 when calling: `f(a: Tensor([m, n], float32))`, expected to be 128 for row-major order, got 130",
};

/// A stride and what there is to know about its dim.
#[derive(Clone, Copy, Debug)]
pub struct StrideUse<'p> {
    /// Where it stands.
    pub path: &'p Path,
    /// The stride as given.
    pub actual: Value,
    /// Whether its dim is free.
    pub free: Value,
    /// The stride of a compact row-major tensor.
    pub compact: Value,
}

/// Requires each of the strides of a compact tensor.
pub fn require_compact(
    cx: &mut Planner<'_>,
    path: &Path,
    actual: &[Value],
    expected: &[Value],
    extents: &[Value],
    empty: Value,
    order: &Order,
) {
    for i in 0..actual.len() {
        let equal = cx.b.eq(actual[i], expected[i]);
        let single = cx.b.eq_int(extents[i], 1);
        let free = cx.b.or(single, empty);
        let cond = cx.b.or(equal, free);
        let subject = format!("Mismatched {}", path.part(Field::Stride(i)).subject());
        let phrase = Phrase::text("to be ")
            .and_value(expected[i], Format::Int)
            .and(format!(" for {}", order.words()));
        cx.require(cond, INFO.complaint(subject, phrase, Phrase::value(actual[i], Format::Int)));
    }
}

/// Requires a stride to be what `dim` says, now or as soon as it has a value; takes it as its symbol's value where only strides give it one.
///
/// Whatever it is must not be negative, and for a `mutable` tensor not 0.
pub fn require(cx: &mut Planner<'_>, at: &StrideUse<'_>, dim: &Dim, mutable: bool) {
    match dim {
        Dim::Expr(expr) if expr.as_int().is_some() => require_constant(cx, at, expr),
        Dim::Any | Dim::Expr(_) => negative_stride::require(cx, at.path, at.actual, at.free),
    }
    if mutable {
        mut_broadcast::require(cx, at.path, at.actual, at.free);
    }
    match dim {
        Dim::Any => {}
        Dim::Expr(expr) if expr.as_int().is_some() => {}
        Dim::Expr(Expr::Symbol(symbol, _)) if cx.is_shared(symbol) => cx.bind_shared(symbol, at),
        Dim::Expr(expr) => cx.check_stride(at.path, at.actual, at.free, expr),
    }
}

fn require_constant(cx: &mut Planner<'_>, at: &StrideUse<'_>, expr: &Expr) {
    let expected = cx.expr(expr).value;
    let equal = cx.b.eq(at.actual, expected);
    let cond = cx.b.or(equal, at.free);
    let subject = format!("Mismatched {}", at.path.subject());
    let got = Phrase::value(at.actual, Format::Int);
    cx.require(cond, INFO.complaint(subject, format!("to be {expr}"), got));
}

/// Requires `actual` to be the value of an expression whose names all have one, unless the dim is free.
pub fn require_expr(cx: &mut Planner<'_>, path: &Path, actual: Value, free: Value, expr: &Expr) {
    dim::require_value(cx, &INFO, path, (actual, expr), free);
}
