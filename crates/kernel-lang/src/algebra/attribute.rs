// SPDX-License-Identifier: Apache-2.0
//! Attributes of layouts and tensors: behind a point, in brackets, and as functions.

use super::read::Algebra;
use kernpack_layout::{self as layout, Composed, Int, Layout, Shape, Slot, Swizzle, Tuple, modes};
use kernpack_syntax::{Diagnostic, Span};

/// The names of layouts' attributes.
const OF_LAYOUTS: &[&str] = &["shape", "stride"];

/// The names of tensors' attributes, of those that their layouts have.
const OF_TENSORS: &[&str] = &["shape", "stride", "layout", "numel", "size", "ndim"];

/// The names that [`attribute`] knows.
pub(crate) fn names_of(is_tensor: bool) -> &'static [&'static str] {
    if is_tensor { OF_TENSORS } else { OF_LAYOUTS }
}

/// The attribute of a layout, or of the tensor that has it, by one of its [names](names_of).
pub(crate) fn attribute<E: Algebra>(
    cx: &mut E,
    of: &Layout<E::Leaf>,
    name: &str,
    span: Span,
) -> Option<E::Value> {
    match name {
        "shape" => Some(shape_value(cx, &of.shape())),
        "stride" => stride_value(cx, of, span),
        "layout" => Some(cx.of_layout(of.clone(), None)),
        "numel" | "size" => {
            let size = cx.compute(span, |numbers| layout::size(numbers, of))?;
            Some(cx.of_number(&size))
        }
        "ndim" => Some(cx.of_number(&Int::Known(of.rank() as i64))),
        _ => None,
    }
}

/// A shape as a tuple, of one item too.
pub(crate) fn shape_value<E: Algebra>(cx: &E, shape: &Shape<E::Leaf>) -> E::Value {
    cx.of_tuple(shape.modes().iter().map(|mode| nested(cx, mode)).collect())
}

/// Numbers nested in tuples. A mode of one mode is as good as that.
fn nested<E: Algebra>(cx: &E, shape: &Shape<E::Leaf>) -> E::Value {
    match shape {
        Tuple::Leaf(number) => cx.of_number(number),
        Tuple::Node(modes) if modes.len() == 1 => nested(cx, &modes[0]),
        Tuple::Node(modes) => cx.of_tuple(modes.iter().map(|mode| nested(cx, mode)).collect()),
    }
}

fn stride_value<E: Algebra>(cx: &mut E, of: &Layout<E::Leaf>, span: Span) -> Option<E::Value> {
    if !of.is_plain() {
        let problem = Diagnostic::new("layout", format!("the strides of `{of}` are no numbers"));
        let problem = problem.label(span, "they go along modes");
        cx.refuse(problem.help("ask a tensor in memory for its strides"));
        return None;
    }
    let strides = of.map(&mut |mode| mode.stride.scale.clone());
    Some(shape_value(cx, &strides))
}

/// The index of a coordinate, which the swizzle of a layout changes where there is one.
pub(crate) fn index_of<E: Algebra>(
    cx: &mut E,
    (of, swizzle): (&Layout<E::Leaf>, Option<Swizzle>),
    coord: &E::Value,
    span: Span,
) -> Option<E::Value> {
    let coord = cx.read_coord(coord, span)?;
    let index = cx.compute(span, |numbers| match swizzle {
        Some(swizzle) => Composed::swizzled(swizzle, of.clone()).crd2idx(numbers, &coord),
        None => layout::crd2idx(numbers, &coord, of),
    })?;
    Some(nested(cx, &index))
}

/// The layout that brackets give: a mode by its number, or the part that a coordinate leaves free.
pub(crate) fn mode_of<E: Algebra>(
    cx: &mut E,
    (of, swizzle): (&Layout<E::Leaf>, Option<Swizzle>),
    index: &E::Value,
    span: Span,
) -> Option<E::Value> {
    let coord = cx.read_coord(index, span)?;
    let mode = match &coord {
        Tuple::Leaf(Slot::At(Int::Known(mode))) => usize::try_from(*mode).ok(),
        Tuple::Leaf(_) | Tuple::Node(_) => None,
    };
    match mode {
        Some(mode) => {
            let made = cx.compute(span, |_| modes::get(of, &[mode]))?;
            Some(cx.of_layout(made, swizzle))
        }
        None if coord.has_free() => {
            let of = cx.plain(of.clone(), swizzle, span)?;
            let made = cx.compute(span, |_| layout::slice(&coord, &of))?;
            Some(cx.of_layout(made, None))
        }
        None => {
            let problem = Diagnostic::new("subscript", "a layout has modes by number");
            cx.refuse(problem.label(span, "").help("count its modes from 0"));
            None
        }
    }
}
