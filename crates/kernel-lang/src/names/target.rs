// SPDX-License-Identifier: Apache-2.0
//! Targets of assignments: names, fields, elements, and tuples of these within each other. The
//! value is there before any of them is given its part, so that `a, b = b, a` swaps.

use crate::python::tree::{Expr, ExprKind, Ident, Name};
use crate::walker::Walker;
use kernpack_syntax::Span;

/// A walker that assigns.
pub(crate) trait Target: Walker {
    /// The value of which nothing can be told, as a mistake was reported.
    const POISON: Self::Value;

    /// Gives a name a value, which stands at `span`.
    fn bind(&mut self, name: &Name, value: Self::Value, place: Span, span: Span);

    /// Gives a field of an object a value. Gives whether there are objects at all.
    fn set_field(&mut self, _: (&Expr, &Ident), _: &Self::Value, _: Span, _: Span) -> bool {
        false
    }

    /// Gives an element a value. Gives whether there are elements at all.
    fn store(&mut self, of: (&Expr, &Expr), value: &Self::Value, place: Span, span: Span) -> bool;
}

/// Gives a target a value, which stands at `span`.
pub(crate) fn assign<W: Target>(cx: &mut W, target: &Expr, value: W::Value, span: Span) {
    let is_assigned = match &target.kind {
        ExprKind::Name(name) => {
            cx.bind(name, value, target.span, span);
            true
        }
        ExprKind::Tuple(parts) | ExprKind::List(parts) => {
            let items = unpacked(cx, target, parts.len(), &value, span);
            parts.iter().zip(items).for_each(|(part, item)| assign(cx, part, item, span));
            true
        }
        ExprKind::Attribute(of, field) => cx.set_field((of, field), &value, target.span, span),
        ExprKind::Subscript(of, index) => cx.store((of, index), &value, target.span, span),
        _ => false,
    };
    if !is_assigned {
        let (code, message, help) = W::WORDS.target;
        cx.tell(W::WORDS.problem(code, message, target.span, "here").help(help));
    }
}

/// As many parts of a value as there are names for.
fn unpacked<W: Target>(
    cx: &mut W,
    target: &Expr,
    n_parts: usize,
    value: &W::Value,
    span: Span,
) -> Vec<W::Value> {
    match cx.items(value, span) {
        Some(items) if items.len() == n_parts => return items,
        Some(items) => {
            let message = format!("{n_parts} names for a tuple of {}", items.len());
            let problem = W::WORDS.problem(W::WORDS.unpack, message, target.span, "not as many");
            cx.tell(problem.help("name each part, `_` those unused"));
        }
        None => {}
    }
    vec![W::POISON; n_parts]
}
