// SPDX-License-Identifier: Apache-2.0
//! Complement: the layout of what a layout leaves out.
//!
//! A layout and its complement together, as two modes, have each index below a target once. The
//! strides of a complement are positive and grow, so that there is only one. Where nothing is left
//! out below the target it is `1:0`. Tiles and copies beyond the last one are looked for with it,
//! too: divisions and products have [`complement_beyond`], which says where they are.
//!
//! There is one where the modes, in the order of their strides, each begin at a multiple of what
//! the modes below them span. CuTe asks for less and then leaves indices out; here the others have
//! no complement. Of numbers that are not known, the multiples have to follow from facts.

use crate::arith::Arith;
use crate::coalesce::{coalesce, filter};
use crate::error::{Error, Result, text};
use crate::index::{cosize, product};
use crate::int::{Int, Value};
use crate::layout::{IntOf, Layout, LayoutOf, Mode, ShapeOf, Stride};
use crate::tuple::Tuple;

/// The complement below a target, which is the size of a shape. Where extents of the shape are not
/// known, its modes say more than its size does.
pub fn complement<C: Arith>(
    cx: &mut C,
    layout: &LayoutOf<C>,
    target: &ShapeOf<C>,
) -> Result<LayoutOf<C>> {
    let flat = filter(cx, layout)?;
    let holes = below(cx, &flat, target)?;
    coalesce(cx, &holes)
}

/// The complement below a target, with the stride of what lies beyond where it is one index: `1:4`
/// is that of `4:1` below 4.
pub(crate) fn complement_beyond<C: Arith>(
    cx: &mut C,
    layout: &LayoutOf<C>,
    target: &ShapeOf<C>,
) -> Result<LayoutOf<C>> {
    let flat = filter(cx, layout)?;
    let holes = below(cx, &flat, target)?;
    let complement = coalesce(cx, &holes)?;
    match holes.leaves().last() {
        Some(&last) if complement == Layout::unit() => Ok(Tuple::Leaf(last.clone())),
        Some(_) | None => Ok(complement),
    }
}

/// The complement below the layout's own cosize.
pub fn complement_of_all<C: Arith>(cx: &mut C, layout: &LayoutOf<C>) -> Result<LayoutOf<C>> {
    let flat = filter(cx, layout)?;
    let target = cosize(cx, &flat)?;
    let holes = below(cx, &flat, &Tuple::Leaf(target))?;
    coalesce(cx, &holes)
}

/// The complement of a layout that is filtered, before it is coalesced. What goes on behind the
/// layout comes last.
fn below<C: Arith>(cx: &mut C, flat: &LayoutOf<C>, target: &ShapeOf<C>) -> Result<LayoutOf<C>> {
    if !flat.is_plain() {
        return Err(Error::BasisStrides { what: "a complement", layout: text(flat) });
    }
    let mut modes = flat.leaves();
    modes.retain(|mode| !mode.extent.is(1));
    let mut holes = Vec::new();
    let mut span = Int::Known(1);
    while !modes.is_empty() {
        let mode = modes.remove(next(cx, &modes, &span));
        let stride = &mode.stride.scale;
        if cx.facts_of(stride).min <= 0 || !cx.divides(&span, stride) {
            return Err(Error::Complement {
                layout: text(flat),
                stride: text(stride),
                span: text(&span),
            });
        }
        let hole = cx.div(stride, &span)?;
        holes.push(Mode { extent: hole, stride: span.into() });
        span = cx.mul(&mode.extent, stride)?;
        if cx.facts_of(&span).min <= 0 {
            return Err(Error::EmptySpan { layout: text(flat), span: text(&span) });
        }
    }
    holes.extend(rest(cx, target, &span)?);
    Ok(Tuple::Node(holes.into_iter().map(Tuple::Leaf).collect()))
}

/// The mode that comes next: that of the least stride, and of those that are not known one that
/// begins at a multiple of the span.
fn next<C: Arith>(cx: &C, modes: &[&Mode<C::Value>], span: &IntOf<C>) -> usize {
    let known = |mode: &Mode<C::Value>| mode.stride.scale.known();
    let least = modes.iter().enumerate().filter_map(|(at, mode)| Some((known(mode)?, at))).min();
    let follows = || modes.iter().position(|mode| cx.divides(span, &mode.stride.scale));
    least.map(|(_, at)| at).or_else(follows).unwrap_or(0)
}

/// The modes behind the span of a layout, up to the target.
fn rest<C: Arith>(cx: &mut C, target: &ShapeOf<C>, span: &IntOf<C>) -> Result<Vec<Mode<C::Value>>> {
    let extents = target.leaves();
    let says_more = extents.len() > 1 && extents.iter().any(|extent| extent.known().is_none());
    if says_more && let Some(modes) = rest_by_mode(cx, &extents, span)? {
        return Ok(modes);
    }
    let size = product(cx, target)?;
    let count = cx.ceil_div(&size, span)?;
    Ok(vec![Mode { extent: count, stride: span.clone().into() }])
}

/// The same, with modes for those of the target, where the span ends within or between them.
fn rest_by_mode<C: Arith>(
    cx: &mut C,
    extents: &[&IntOf<C>],
    span: &IntOf<C>,
) -> Result<Option<Vec<Mode<C::Value>>>> {
    let mut modes = Vec::new();
    let (mut before, mut left) = (Int::Known(1), span.clone());
    for (number, &extent) in extents.iter().enumerate() {
        let is_last = number + 1 == extents.len();
        let stride = if left.is(1) { before.clone() } else { span.clone() };
        if left.is(1) {
            modes.push(Mode { extent: extent.clone(), stride: stride.into() });
        } else if is_last || cx.divides(&left, extent) {
            let count = cx.ceil_div(extent, &left)?;
            modes.push(Mode { extent: count, stride: stride.into() });
            left = Int::Known(1);
        } else if cx.divides(extent, &left) {
            left = cx.div(&left, extent)?;
        } else {
            return Ok(None);
        }
        if !is_last {
            before = cx.mul(&before, extent)?;
        }
    }
    Ok(Some(modes))
}

/// The modes of stride 0, as numbers of coordinates: a layout of all coordinates that have index 0.
pub fn nullspace<C: Arith>(cx: &mut C, layout: &LayoutOf<C>) -> Result<LayoutOf<C>> {
    let leaves = layout.leaves();
    let is_zero = |mode: &Mode<C::Value>| mode.stride.scale.is(0) && !mode.extent.is(1);
    let last = leaves.iter().rposition(|mode| is_zero(mode)).unwrap_or(0);
    let mut span = Int::Known(1);
    let mut modes = Vec::new();
    for mode in leaves.into_iter().take(last + 1) {
        if is_zero(mode) {
            modes.push(Mode { extent: mode.extent.clone(), stride: Stride::from(span.clone()) });
        }
        span = cx.mul(&span, &mode.extent)?;
    }
    Ok(Tuple::of_leaves(modes, Mode::unit()))
}

/// Whether each coordinate has an index of its own: `None` where that is not known.
///
/// Of layouts whose modes begin behind what those of smaller strides reach, it follows from the
/// strides. Of others that are known, up to a million coordinates, all are tried.
pub fn is_injective<V: Value>(layout: &Layout<V>) -> Option<bool> {
    let mut modes = layout.leaves();
    modes.retain(|mode| !mode.extent.is(1));
    if modes.iter().any(|mode| mode.extent.is(0)) {
        return Some(true);
    }
    let is_many = |mode: &&Mode<V>| mode.extent.known().is_some();
    if modes.iter().filter(|mode| is_many(mode)).any(|mode| mode.stride.scale.is(0)) {
        return Some(false);
    }
    let known = |mode: &&Mode<V>| {
        Some((mode.stride.basis.clone(), mode.stride.scale.known()?, mode.extent.known()?))
    };
    let mut known: Vec<_> = modes.iter().map(known).collect::<Option<_>>()?;
    known.sort_by_key(|(basis, stride, _)| (basis.clone(), stride.unsigned_abs()));
    let mut is_ordered = true;
    for basis in known.chunk_by(|a, b| a.0 == b.0) {
        let mut reach = 0_i128;
        for (_, stride, extent) in basis {
            let stride = i128::from(*stride).abs();
            is_ordered &= stride > reach;
            reach = reach.saturating_add(stride.saturating_mul(i128::from(*extent) - 1));
        }
    }
    if is_ordered { Some(true) } else { tried(&known) }
}

/// Whether the indices of modes, by basis, stride and extent, are different, by trying.
fn tried(modes: &[(Vec<usize>, i64, i64)]) -> Option<bool> {
    const MOST: i64 = 1 << 20;
    let size = |size: i64, mode: &(_, _, i64)| size.checked_mul(mode.2).filter(|&s| s <= MOST);
    modes.iter().try_fold(1, size)?;
    // One number for each mode of an index, as bases are few.
    let mut bases: Vec<_> = modes.iter().map(|mode| &mode.0).collect();
    bases.dedup();
    let mut indices = vec![vec![0_i128; bases.len()]];
    for (basis, stride, extent) in modes {
        let at = bases.iter().position(|other| *other == basis)?;
        let moved = |index: &Vec<i128>, steps: i64| {
            let mut index = index.clone();
            index[at] += i128::from(steps) * i128::from(*stride);
            index
        };
        let moved = indices.iter().flat_map(|index| (0..*extent).map(move |by| moved(index, by)));
        indices = moved.collect();
    }
    let n_indices = indices.len();
    indices.sort_unstable();
    indices.dedup();
    Some(indices.len() == n_indices)
}
