// SPDX-License-Identifier: Apache-2.0
//! Division: a layout split into a tile, and what is left of it.
//!
//! `logical_divide(a, b)` is `composition(a, (b, complement(b)))`: what the tiler points to in the
//! first mode, and the tiles in the second. Where there is one tile, the second is one of extent 1,
//! with the stride to the next. The other divisions are the same modes, arranged
//! otherwise. For a layout `(M,N,L)` and a tiler of `(TileM,TileN)`:
//!
//! ```text
//! logical_divide  ((TileM,RestM),(TileN,RestN),L)
//! zipped_divide   ((TileM,TileN),(RestM,RestN,L))
//! tiled_divide    ((TileM,TileN),RestM,RestN,L)
//! flat_divide     (TileM,TileN,RestM,RestN,L)
//! ```

use crate::arith::Arith;
use crate::coalesce::coalesce;
use crate::complement::{complement, complement_beyond};
use crate::composition::composition;
use crate::error::Result;
use crate::layout::{Layout, LayoutOf, ShapeOf};
use crate::tiler::Tiler;
use crate::tuple::Tuple;

/// The tile and the rest, of each mode that the tiler has one for.
pub fn logical_divide<C: Arith>(
    cx: &mut C,
    layout: &LayoutOf<C>,
    tiler: &Tiler<C::Value>,
) -> Result<LayoutOf<C>> {
    by_mode(cx, layout, tiler, divide)
}

/// The tiles' modes in one mode, and what is left of each in another.
pub fn zipped_divide<C: Arith>(
    cx: &mut C,
    layout: &LayoutOf<C>,
    tiler: &Tiler<C::Value>,
) -> Result<LayoutOf<C>> {
    zipped(cx, layout, tiler, divide)
}

/// The tiles' modes in one mode, and one mode for each rest.
pub fn tiled_divide<C: Arith>(
    cx: &mut C,
    layout: &LayoutOf<C>,
    tiler: &Tiler<C::Value>,
) -> Result<LayoutOf<C>> {
    Ok(tiled(zipped_divide(cx, layout, tiler)?))
}

/// One mode for each mode of the tile, and one for each rest.
pub fn flat_divide<C: Arith>(
    cx: &mut C,
    layout: &LayoutOf<C>,
    tiler: &Tiler<C::Value>,
) -> Result<LayoutOf<C>> {
    Ok(flat(zipped_divide(cx, layout, tiler)?))
}

/// How many tiles there are: the shape of the rests that a division leaves.
pub fn tile_count<C: Arith>(
    cx: &mut C,
    shape: &ShapeOf<C>,
    tiler: &Tiler<C::Value>,
) -> Result<ShapeOf<C>> {
    match (tiler, shape) {
        (Tiler::Keep, shape) => Ok(shape.clone()),
        (Tiler::Layout(layout), shape) => Ok(complement(cx, layout, shape)?.shape()),
        (Tiler::Modes(tilers), shape) => {
            let mut modes = shape.modes().to_vec();
            for (mode, tiler) in modes.iter_mut().zip(tilers) {
                *mode = tile_count(cx, mode, tiler)?;
            }
            Ok(Tuple::Node(modes))
        }
    }
}

fn divide<C: Arith>(cx: &mut C, layout: &LayoutOf<C>, tiler: &LayoutOf<C>) -> Result<LayoutOf<C>> {
    let target = coalesce(cx, layout)?.shape();
    let rest = complement_beyond(cx, tiler, &target)?;
    composition(cx, layout, &Tuple::Node(vec![tiler.clone(), rest]))
}

/// An operation of a layout with a tiler that is a layout, and whose result has two modes.
pub(crate) type Split<C> = fn(&mut C, &LayoutOf<C>, &LayoutOf<C>) -> Result<LayoutOf<C>>;

/// A split of each mode that the tiler has a layout for.
pub(crate) fn by_mode<C: Arith>(
    cx: &mut C,
    layout: &LayoutOf<C>,
    tiler: &Tiler<C::Value>,
    split: Split<C>,
) -> Result<LayoutOf<C>> {
    match tiler {
        Tiler::Keep => Ok(layout.clone()),
        Tiler::Layout(tiler) => split(cx, layout, tiler),
        Tiler::Modes(tilers) => {
            tiler.require_modes_of(layout)?;
            let mut modes = layout.modes().to_vec();
            for (mode, tiler) in modes.iter_mut().zip(tilers) {
                *mode = by_mode(cx, mode, tiler, split)?;
            }
            Ok(Tuple::Node(modes))
        }
    }
}

/// The same split, with the first modes of all in one, and the second modes of all in another. Of a
/// mode that is kept, the first is `1:0`.
pub(crate) fn zipped<C: Arith>(
    cx: &mut C,
    layout: &LayoutOf<C>,
    tiler: &Tiler<C::Value>,
    split: Split<C>,
) -> Result<LayoutOf<C>> {
    let (tile, rest) = halves(cx, layout, tiler, split)?;
    Ok(Tuple::Node(vec![tile, rest]))
}

fn halves<C: Arith>(
    cx: &mut C,
    layout: &LayoutOf<C>,
    tiler: &Tiler<C::Value>,
    split: Split<C>,
) -> Result<(LayoutOf<C>, LayoutOf<C>)> {
    match tiler {
        Tiler::Keep => Ok((Layout::unit(), layout.clone())),
        Tiler::Layout(tiler) => {
            let mut modes = split(cx, layout, tiler)?.into_modes().into_iter();
            let (tile, rest) = (modes.next(), modes.next());
            Ok((tile.unwrap_or_else(Layout::unit), rest.unwrap_or_else(Layout::unit)))
        }
        Tiler::Modes(tilers) => {
            tiler.require_modes_of(layout)?;
            let (mut tiles, mut rests) = (Vec::new(), Vec::new());
            for (mode, tiler) in layout.modes().iter().zip(tilers) {
                let (tile, rest) = halves(cx, mode, tiler, split)?;
                tiles.push(tile);
                rests.push(rest);
            }
            rests.extend_from_slice(&layout.modes()[tilers.len()..]);
            Ok((Tuple::Node(tiles), Tuple::Node(rests)))
        }
    }
}

/// With the modes of the second mode at the top.
pub(crate) fn tiled<V: crate::Value>(zipped: Layout<V>) -> Layout<V> {
    let mut modes = zipped.into_modes();
    let rest = modes.pop().map(Tuple::into_modes);
    Tuple::Node([modes, rest.unwrap_or_default()].concat())
}

/// With the modes of both modes at the top.
pub(crate) fn flat<V: crate::Value>(zipped: Layout<V>) -> Layout<V> {
    Tuple::Node(zipped.into_modes().into_iter().flat_map(Tuple::into_modes).collect())
}
