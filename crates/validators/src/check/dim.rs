// SPDX-License-Identifier: Apache-2.0
//! An extent: a constant, a symbol or an expression. Binds the symbol that it is the binding of.

use super::{Info, dim_solve, negative_dim};
use crate::dim::Dim;
use crate::expr::Expr;
use crate::fault::{Format, Phrase};
use crate::path::Path;
use crate::plan::Value;
use crate::planner::{
    BoundStar, Checked, Direction, Named, NamedKind, Planner, SharedUse, StarUse,
};
use kernpack_ffi_abi::ErrorKind;

/// The check.
pub const INFO: Info = Info {
    name: "dim",
    kind: ErrorKind::ValueError,
    doc: "The extent is what the signature says: a constant, the same as another extent, or the value of an expression.",
    example: "Mismatched b.shape[0] on argument #1 when calling: `f(a: Tensor([n], float32), b: Tensor([n], float32))`, expected to match a.shape[0], got 126 (a.shape[0] is 128)",
};

/// Requires `actual` to be what `dim` says, now or as soon as it has a value; binds a symbol where
/// this is its binding.
///
/// Either way the path itself has its value then, for rules and kernel arguments.
pub fn require(cx: &mut Planner<'_>, path: &Path, actual: Value, dim: &Dim) {
    let own = Named::new(actual, NamedKind::Int, path);
    match dim {
        Dim::Star(_) => unreachable!("the dims of a star are required in a loop"),
        Dim::Any => negative_dim::require(cx, path, actual),
        Dim::Expr(expr) if expr.as_int().is_some() => require_constant(cx, path, actual, expr),
        Dim::Expr(expr) => {
            negative_dim::require(cx, path, actual);
            if let Some(symbol) = expr.as_symbol().filter(|symbol| cx.sharers(symbol).is_some()) {
                return bind_shared(cx, symbol, Some(own), actual, path);
            }
            match expr.as_affine() {
                Some(affine) if cx.is_binding(affine.symbol, path) => {
                    let value = dim_solve::require(cx, path, actual, expr, &affine);
                    let exact = expr.as_symbol().is_some();
                    let named = Named::new(value, NamedKind::Int, path).called(affine.symbol);
                    return cx.define_all([named.solved(exact), own]);
                }
                _ => cx.check_dim(path, actual, expr),
            }
        }
    }
    cx.define(own);
}

/// Takes an extent, or an integer parameter, as the value of a symbol that `Optional`s share. `own`
/// is the name that the path itself has.
pub(crate) fn bind_shared(
    cx: &mut Planner<'_>,
    symbol: &str,
    own: Option<Named>,
    actual: Value,
    path: &Path,
) {
    let (excuse, otherwise) = (cx.b.bool(false), cx.b.int(0));
    let at = SharedUse { info: &INFO, path, actual, excuse, otherwise };
    cx.bind_shared(symbol, &at, own);
}

fn require_constant(cx: &mut Planner<'_>, path: &Path, actual: Value, expr: &Expr) {
    let expected = cx.expr(expr).value;
    let cond = cx.b.eq(actual, expected);
    let subject = path.subject("Mismatched");
    let got = Phrase::value(actual, Format::Int);
    cx.require(cond, INFO.complaint(subject, format!("to be {expr}"), got));
}

/// Requires `actual` to be the value of an expression whose names all have one.
pub fn require_expr(cx: &mut Planner<'_>, path: &Path, actual: Value, expr: &Expr) {
    let never = cx.b.bool(false);
    require_value(cx, &INFO, path, (actual, expr), never);
}

/// Requires an extent or stride to be the value of an expression, which has to have one, except
/// where `skip` holds.
pub(crate) fn require_value(
    cx: &mut Planner<'_>,
    info: &Info,
    path: &Path,
    (actual, expr): (Value, &Expr),
    skip: Value,
) {
    let subject = path.subject("Mismatched");
    for name in expr.names() {
        if let Some(valid) = cx.named(&name.text).and_then(|named| named.valid) {
            let cond = cx.b.or(valid, skip);
            let got = Phrase::value(actual, Format::Int);
            let got = got.and(format!(" and an overflow ({} is an overflow)", name.text));
            cx.require(cond, info.complaint(&subject, expr.to_string(), got));
        }
    }
    let expected = cx.expr(expr);
    let none = Phrase::value(actual, Format::Int).and(" and ");
    let none = none.and_phrase(no_value(cx, expr, expected));
    let cond = cx.b.or(expected.valid, skip);
    cx.require(cond, info.complaint(&subject, expr.to_string(), none));
    let equal = cx.b.eq(actual, expected.value);
    let cond = cx.b.or(equal, skip);
    let (wanted, got) = comparison(cx, actual, expr);
    cx.require(cond, info.complaint(subject, wanted, got));
}

/// Requires each of the dims of a star to be the same as where the star was bound; there are as
/// many.
pub fn require_same_dims(cx: &mut Planner<'_>, at: &StarUse, bound: &BoundStar) {
    cx.for_each_dim(bound.dims.ndim, Direction::Forward, &[], |cx, turn| {
        let actual = cx.row_element(at.extents, turn.number);
        let expected = cx.row_element(bound.dims.extents, turn.number);
        let cond = cx.b.eq(actual, expected);
        let subject = at.path(cx, turn.number).subject("Mismatched");
        let other = bound.from.path(cx, turn.number).phrase();
        let words = Phrase::text("to match ").and_phrase(other.clone());
        let got = Phrase::value(actual, Format::Int).and(" (").and_phrase(other).and(" is ");
        let got = got.and_value(expected, Format::Int).and(")");
        cx.require(cond, INFO.complaint(subject, words, got));
        vec![]
    });
}

/// The phrases for expected and received where `actual` should be the value of `expr`.
fn comparison(cx: &Planner<'_>, actual: Value, expr: &Expr) -> (Phrase, Phrase) {
    let got = Phrase::value(actual, Format::Int);
    let named = expr.as_symbol().map(|symbol| cx.named(symbol).expect("the symbol has a value"));
    if let Some(named) = named.filter(|named| named.stands_at_path()) {
        let other = &named.path.text;
        let got = got.and(format!(" ({other} is ")).and_value(named.value, Format::Int).and(")");
        return (Phrase::text(format!("to match {other}")), got);
    }
    (Phrase::text(expr.to_string()), got.and_phrase(names_and_values(cx, expr)))
}

/// ` (m is 2, n is 3)`, for the names of an expression; nothing where it has none.
pub(crate) fn names_and_values(cx: &Planner<'_>, expr: &Expr) -> Phrase {
    let mut phrase = Phrase::default();
    for (i, name) in expr.names().iter().enumerate() {
        let named = cx.named(&name.text).expect("the name has a value");
        phrase = phrase
            .and(format!("{}{} is ", if i > 0 { ", " } else { " (" }, name.text))
            .and_value(named.value, Format::Int);
    }
    if phrase.0.is_empty() { phrase } else { phrase.and(")") }
}

/// The phrase for what is received from an expression that has no value: why, and what its names
/// are.
pub(crate) fn no_value(cx: &Planner<'_>, expr: &Expr, value: Checked) -> Phrase {
    Phrase::text(value.dangers.text()).and_phrase(names_and_values(cx, expr))
}
