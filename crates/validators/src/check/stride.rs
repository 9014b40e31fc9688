// SPDX-License-Identifier: Apache-2.0
//! A stride: that of a compact tensor, a constant, a symbol or an expression. Dims that are free
//! meet every requirement.

use super::{Info, dim, mut_broadcast, negative_stride};
use crate::declare::Sharers;
use crate::dim::Dim;
use crate::expr::Expr;
use crate::fault::{Format, Phrase};
use crate::param::Order;
use crate::path::Path;
use crate::plan::Value;
use crate::planner::{Planner, SharedUse};
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

/// Requires the stride that follows from those of faster dims in this order, unless the dim is
/// free.
pub fn require_in_order(
    cx: &mut Planner<'_>,
    path: &Path,
    (actual, expected): (Value, Value),
    free: Value,
    order: &Order,
) {
    let equal = cx.b.eq(actual, expected);
    let cond = cx.b.or(equal, free);
    let words = Phrase::text("to be ")
        .and_value(expected, Format::Int)
        .and(format!(" for {}", order.words()));
    let got = Phrase::value(actual, Format::Int);
    cx.require(cond, INFO.complaint(path.subject("Mismatched"), words, got));
}

/// Requires a stride to be what `dim` says, now or as soon as it has a value; takes it as its
/// symbol's value where only strides give it one.
///
/// Whatever it is must not be negative, and for a `mutable` tensor not 0.
pub fn require(cx: &mut Planner<'_>, at: &StrideUse<'_>, dim: &Dim, mutable: bool) {
    match dim {
        Dim::Expr(expr) if expr.as_int().is_some() => require_constant(cx, at, expr),
        Dim::Any | Dim::Expr(_) | Dim::Star(_) => {
            negative_stride::require(cx, at.path, at.actual, at.free)
        }
    }
    if mutable {
        mut_broadcast::require(cx, at.path, at.actual, at.free);
    }
    match dim {
        Dim::Any | Dim::Star(_) => {}
        Dim::Expr(expr) if expr.as_int().is_some() => {}
        Dim::Expr(Expr::Symbol(symbol, _)) if cx.sharers(symbol) == Some(Sharers::Strides) => {
            let StrideUse { path, actual, free, compact } = *at;
            let at = SharedUse { info: &INFO, path, actual, excuse: free, otherwise: compact };
            cx.bind_shared(symbol, &at, None);
        }
        Dim::Expr(expr) => cx.check_stride(at.path, at.actual, at.free, expr),
    }
}

fn require_constant(cx: &mut Planner<'_>, at: &StrideUse<'_>, expr: &Expr) {
    let expected = cx.expr(expr).value;
    let equal = cx.b.eq(at.actual, expected);
    let cond = cx.b.or(equal, at.free);
    let subject = at.path.subject("Mismatched");
    let got = Phrase::value(at.actual, Format::Int);
    cx.require(cond, INFO.complaint(subject, format!("to be {expr}"), got));
}

/// Requires `actual` to be the value of an expression whose names all have one, unless the dim is
/// free.
pub fn require_expr(cx: &mut Planner<'_>, path: &Path, actual: Value, free: Value, expr: &Expr) {
    dim::require_value(cx, &INFO, path, (actual, expr), free);
}
