// SPDX-License-Identifier: Apache-2.0
//! Coordinates with free modes, and what they leave of a layout.

use crate::arith::Arith;
use crate::error::{Error, Result, text};
use crate::index::crd2idx;
use crate::int::{Int, Value};
use crate::layout::{Layout, LayoutOf, ShapeOf};
use crate::tuple::Tuple;
use std::convert::Infallible;

/// A leaf of a coordinate.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Slot<V = Infallible> {
    /// All of the mode, written `_`.
    Free,
    /// One place in it.
    At(Int<V>),
}

/// A coordinate, in which modes may be free.
pub type Coord<V = Infallible> = Tuple<Slot<V>>;

impl<V: Clone> Coord<V> {
    /// A coordinate without free modes.
    pub fn at(shape: &Tuple<Int<V>>) -> Coord<V> {
        shape.map(&mut |at| Slot::At(at.clone()))
    }

    /// Whether any mode is free.
    pub fn has_free(&self) -> bool {
        self.leaves().iter().any(|slot| matches!(slot, Slot::Free))
    }

    /// The same coordinate with free modes behind, up to a rank.
    pub(crate) fn padded(&self, rank: usize) -> Coord<V> {
        let mut modes = self.modes().to_vec();
        modes.resize(modes.len().max(rank), Tuple::Leaf(Slot::Free));
        Tuple::Node(modes)
    }
}

/// The modes that a coordinate leaves free, and the index of the others.
pub fn slice_and_offset<C: Arith>(
    cx: &mut C,
    coord: &Coord<C::Value>,
    layout: &LayoutOf<C>,
) -> Result<(LayoutOf<C>, ShapeOf<C>)> {
    let offset = crd2idx(cx, coord, layout)?;
    Ok((slice(coord, layout)?, offset))
}

/// The modes that a coordinate leaves free: of a coordinate without any, `():()`.
pub fn slice<V: Value>(coord: &Coord<V>, layout: &Layout<V>) -> Result<Layout<V>> {
    keep(coord, layout, true)
}

/// The modes that a coordinate does not leave free.
pub fn dice<V: Value>(coord: &Coord<V>, layout: &Layout<V>) -> Result<Layout<V>> {
    keep(coord, layout, false)
}

/// The modes that are free, or those that are not.
fn keep<V: Value>(coord: &Coord<V>, layout: &Layout<V>, free: bool) -> Result<Layout<V>> {
    let mut kept = Vec::new();
    match (coord, free) {
        // All of it, with its parentheses.
        (Tuple::Leaf(Slot::Free), true) | (Tuple::Leaf(Slot::At(_)), false) => {
            return Ok(layout.clone());
        }
        (_, _) => collect(coord, layout, free, &mut kept)?,
    }
    Ok(Tuple::Node(kept))
}

fn collect<V: Value>(
    coord: &Coord<V>,
    layout: &Layout<V>,
    free: bool,
    kept: &mut Vec<Layout<V>>,
) -> Result<()> {
    match (coord, layout) {
        (Tuple::Leaf(slot), layout) => {
            if matches!(slot, Slot::Free) == free {
                kept.push(layout.clone());
            }
            Ok(())
        }
        (Tuple::Node(coords), Tuple::Node(modes)) if coords.len() == modes.len() => {
            let mut pairs = coords.iter().zip(modes);
            pairs.try_for_each(|(coord, mode)| collect(coord, mode, free, kept))
        }
        (Tuple::Node(_), _) => {
            Err(Error::Coordinate { coord: text(coord), shape: text(&layout.shape()) })
        }
    }
}
