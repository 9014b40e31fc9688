// SPDX-License-Identifier: Apache-2.0
//! Layouts that come as text, of which all is known: those that a program captures. Not here: the
//! algebra, and its text.

use kernpack_layout::evaluate::{Object, evaluate};
use kernpack_layout::{Int, Layout, Outer, Swizzle, Symbols, Tuple};

/// A layout, with a swizzle of its indices or without; nothing where the text is none, or has
/// numbers that are not known.
pub fn parse_constant(text: &str) -> Option<(Layout, Option<Swizzle>)> {
    let known = |layout: &Layout<_>| layout.convert(&mut |_| None);
    match evaluate(text, &mut Symbols::default()).ok()? {
        Object::Layout(layout) => Some((known(&layout)?, None)),
        Object::Composed(composed) => match composed.outer {
            Outer::Swizzle(swizzle) if composed.offset == Tuple::Leaf(Int::Known(0)) => {
                Some((known(&composed.inner)?, Some(swizzle)))
            }
            Outer::Swizzle(_) | Outer::Layout(_) => None,
        },
        _ => None,
    }
}

/// A swizzle; nothing where the text is none.
pub fn parse_swizzle(text: &str) -> Option<Swizzle> {
    match evaluate(text, &mut Symbols::default()).ok()? {
        Object::Swizzle(swizzle) => Some(swizzle),
        _ => None,
    }
}
