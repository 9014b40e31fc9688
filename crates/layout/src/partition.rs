// SPDX-License-Identifier: Apache-2.0
//! Parts of a layout: a block's tile, a thread's elements, and who has which element of a tile.
//!
//! A part is a layout and the index at which it begins, which the layout itself cannot say.

use crate::arith::Arith;
use crate::composition::composition;
use crate::divide::zipped_divide;
use crate::error::{Error, Result, text};
use crate::index::{idx2crd_by_stride, product_each, size};
use crate::inverse;
use crate::layout::{IntOf, LayoutOf, ShapeOf, make_layout};
use crate::product::raked_product;
use crate::slice::{Coord, Slot, slice_and_offset};
use crate::tiler::Tiler;
use crate::tuple::Tuple;
use std::fmt::{self, Display, Formatter};

/// A part of a layout.
#[derive(Clone, Debug, PartialEq)]
pub struct Part<V> {
    /// The modes of the part.
    pub layout: crate::Layout<V>,
    /// The index of its first element.
    pub offset: crate::Shape<V>,
}

impl<V> Part<V> {
    /// Whether its first element is where that of the layout is.
    pub fn is_at_origin(&self) -> bool {
        self.offset.leaves().into_iter().all(|offset| offset.is(0))
    }
}

impl<V: Display> Display for Part<V> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        self.layout.fmt(f)?;
        f.write_str(" at ")?;
        self.offset.fmt(f)
    }
}

/// Parts of layouts of a context.
pub type PartOf<C> = Part<<C as Arith>::Value>;

/// The tile at a coordinate of the tiles. Its modes are those of the tile, and behind them what the
/// coordinate leaves free; a coordinate with fewer modes than there are leaves the last ones free.
///
/// A projection picks the modes of tiler and coordinate that count: those where it is not free.
pub fn local_tile<C: Arith>(
    cx: &mut C,
    layout: &LayoutOf<C>,
    tiler: &Tiler<C::Value>,
    coord: &Coord<C::Value>,
    projection: Option<&Coord<C::Value>>,
) -> Result<PartOf<C>> {
    let (divided, coord) = tile_place(cx, layout, tiler, coord, projection)?;
    part(cx, &divided, coord)
}

/// Where [`local_tile`] finds its tile: a layout of tiles and rests, and the coordinate in it, of
/// which the tile's modes are free.
pub fn tile_place<C: Arith>(
    cx: &mut C,
    layout: &LayoutOf<C>,
    tiler: &Tiler<C::Value>,
    coord: &Coord<C::Value>,
    projection: Option<&Coord<C::Value>>,
) -> Result<(LayoutOf<C>, Coord<C::Value>)> {
    if let Some(projection) = projection {
        let (tiler, coord) = projected(tiler, coord, projection)?;
        return tile_place(cx, layout, &tiler, &coord, None);
    }
    let divided = zipped_divide(cx, layout, tiler)?;
    let (tile, rest) = (divided.modes()[0].rank(), divided.modes()[1].rank());
    let all = free(tile, divided.modes()[0].is_leaf());
    let at = match coord {
        Tuple::Leaf(_) => coord.clone(),
        Tuple::Node(_) => coord.padded(rest),
    };
    Ok((divided, Tuple::Node(vec![all, at])))
}

/// The elements of one thread: those at its place in each tile, which has the shape of the threads'
/// layout. A mode for each mode of the tiles.
pub fn local_partition<C: Arith>(
    cx: &mut C,
    layout: &LayoutOf<C>,
    threads: &LayoutOf<C>,
    thread: &IntOf<C>,
) -> Result<PartOf<C>> {
    let shape = product_each(cx, &threads.shape())?;
    let tiler = Tiler::of_shape(cx, &shape)?;
    let divided = zipped_divide(cx, layout, &tiler)?;
    let place = Coord::at(&idx2crd_by_stride(cx, thread, threads)?);
    let rest = &divided.modes()[1];
    let all = free(rest.rank(), rest.is_leaf());
    part(cx, &divided, Tuple::Node(vec![place, all]))
}

/// As [`local_partition`], for a projection: the modes of the threads' layout that count.
pub fn local_partition_by<C: Arith>(
    cx: &mut C,
    layout: &LayoutOf<C>,
    threads: &LayoutOf<C>,
    thread: &IntOf<C>,
    projection: &Coord<C::Value>,
) -> Result<PartOf<C>> {
    require_projection(projection, threads.rank(), threads)?;
    let shape = picked(&product_each(cx, &threads.shape())?, projection);
    let tiler = Tiler::of_shape(cx, &shape)?;
    let divided = zipped_divide(cx, layout, &tiler)?;
    let place = picked(&idx2crd_by_stride(cx, thread, threads)?, projection);
    let rest = &divided.modes()[1];
    let all = free(rest.rank(), rest.is_leaf());
    part(cx, &divided, Tuple::Node(vec![Coord::at(&place), all]))
}

/// A layout of threads and values: from thread and value to the number of an element in a tile.
///
/// The threads lie in the tile as their layout says, each with its values side by side as theirs
/// says. Returned are the tile's shape and the layout, which has a mode of threads and a mode of
/// values. Both have to be without holes and repetitions, as otherwise elements of the tile would
/// have no owner or several.
pub fn make_layout_tv<C: Arith>(
    cx: &mut C,
    threads: &LayoutOf<C>,
    values: &LayoutOf<C>,
) -> Result<(ShapeOf<C>, LayoutOf<C>)> {
    for layout in [threads, values] {
        if inverse::right_inverse_and_rest(cx, layout)?.1 > 0 {
            return Err(Error::NotCompact { layout: text(layout) });
        }
    }
    let tile = raked_product(cx, threads, values)?;
    let (owners, n_left_out) = inverse::right_inverse_and_rest(cx, &tile)?;
    if n_left_out > 0 {
        return Err(Error::NotCompact { layout: text(&tile) });
    }
    let shape = [size(cx, threads)?, size(cx, values)?].map(Tuple::Leaf);
    let both = make_layout(cx, &Tuple::Node(shape.to_vec()))?;
    Ok((product_each(cx, &tile.shape())?, composition(cx, &owners, &both)?))
}

/// The layout as seen from a coordinate on: the same one, at another offset.
pub fn domain_offset<C: Arith>(
    cx: &mut C,
    layout: &LayoutOf<C>,
    coord: &Coord<C::Value>,
) -> Result<PartOf<C>> {
    let offset = crate::index::crd2idx(cx, coord, layout)?;
    Ok(Part { layout: layout.clone(), offset })
}

fn part<C: Arith>(cx: &mut C, divided: &LayoutOf<C>, coord: Coord<C::Value>) -> Result<PartOf<C>> {
    let (layout, offset) = slice_and_offset(cx, &coord, divided)?;
    Ok(Part { layout, offset })
}

/// A coordinate of which all modes are free.
fn free<V>(rank: usize, is_leaf: bool) -> Coord<V> {
    match is_leaf {
        true => Tuple::Leaf(Slot::Free),
        false => Tuple::Node((0..rank).map(|_| Tuple::Leaf(Slot::Free)).collect()),
    }
}

/// The modes that a projection does not leave free.
fn picked<V: Clone>(shape: &crate::Shape<V>, projection: &Coord<V>) -> crate::Shape<V> {
    let pairs = shape.modes().iter().zip(projection.modes());
    let kept = pairs.filter(|(_, by)| !matches!(by, Tuple::Leaf(Slot::Free)));
    Tuple::Node(kept.map(|(mode, _)| mode.clone()).collect())
}

/// The modes of tiler and coordinate that count, for a projection of [`local_tile`].
pub fn projected<V: crate::Value>(
    tiler: &Tiler<V>,
    coord: &Coord<V>,
    projection: &Coord<V>,
) -> Result<(Tiler<V>, Coord<V>)> {
    require_projection(projection, tiler.rank(), tiler)?;
    require_projection(projection, coord.rank(), coord)?;
    let is_kept = |by: &&Coord<V>| !matches!(by, Tuple::Leaf(Slot::Free));
    let tilers = match tiler {
        Tiler::Modes(tilers) => tilers.clone(),
        Tiler::Keep | Tiler::Layout(_) => vec![tiler.clone()],
    };
    let pairs = tilers.iter().zip(projection.modes()).filter(|(_, by)| is_kept(by));
    let tiler = Tiler::Modes(pairs.map(|(tiler, _)| tiler.clone()).collect());
    let pairs = coord.modes().iter().zip(projection.modes()).filter(|(_, by)| is_kept(by));
    Ok((tiler, Tuple::Node(pairs.map(|(coord, _)| coord.clone()).collect())))
}

fn require_projection<V: crate::Value>(
    projection: &Coord<V>,
    rank: usize,
    of: &impl std::fmt::Display,
) -> Result<()> {
    match projection.rank() == rank {
        true => Ok(()),
        false => Err(Error::NotPaired { a: text(projection), b: text(of) }),
    }
}
