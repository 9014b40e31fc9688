// SPDX-License-Identifier: Apache-2.0
//! Inverses: from indices back to numbers of coordinates.

use crate::arith::Arith;
use crate::coalesce::coalesce;
use crate::composition::composition;
use crate::error::{Error, Result, text};
use crate::int::Int;
use crate::layout::{IntOf, Layout, LayoutOf, Mode};
use crate::tuple::Tuple;

/// A mode, and the number of the coordinate at which it begins to count.
struct Weighted<'l, V> {
    mode: &'l Mode<V>,
    weight: Int<V>,
}

/// The modes of a layout that is coalesced, in their order.
fn weighted<'l, C: Arith>(
    cx: &mut C,
    flat: &'l LayoutOf<C>,
) -> Result<Vec<Weighted<'l, C::Value>>> {
    let leaves = flat.leaves();
    let mut weight = Int::Known(1);
    let mut modes = Vec::new();
    for (number, mode) in leaves.iter().enumerate() {
        modes.push(Weighted { mode, weight: weight.clone() });
        if number + 1 < leaves.len() {
            weight = cx.mul(&weight, &mode.extent)?;
        }
    }
    Ok(modes)
}

/// A layout `r` with `layout(r(i)) == i` for all `i` below its size: for each index from 0 on, the
/// number of a coordinate that has it. The size ends before the first index that the layout leaves
/// out, as far as is known.
pub fn right_inverse<C: Arith>(cx: &mut C, layout: &LayoutOf<C>) -> Result<LayoutOf<C>> {
    Ok(right_inverse_and_rest(cx, layout)?.0)
}

/// The right inverse, and how many modes of the layout have no part in it.
pub(crate) fn right_inverse_and_rest<C: Arith>(
    cx: &mut C,
    layout: &LayoutOf<C>,
) -> Result<(LayoutOf<C>, usize)> {
    let flat = coalesce(cx, layout)?;
    if !flat.is_plain() {
        return Err(Error::BasisStrides { what: "an inverse", layout: text(layout) });
    }
    let mut modes = weighted(cx, &flat)?;
    modes.retain(|weighted| !weighted.mode.extent.is(1));
    let mut inverse = Vec::new();
    let mut span = Int::Known(1);
    while let Some(at) = modes.iter().position(|weighted| weighted.mode.stride.scale == span) {
        let Weighted { mode, weight } = modes.remove(at);
        inverse.push(Mode { extent: mode.extent.clone(), stride: weight.into() });
        match following(cx, &modes, mode, &span)? {
            Some(next) => span = next,
            None => break,
        }
    }
    let inverse = Tuple::Node(inverse.into_iter().map(Tuple::Leaf).collect());
    Ok((coalesce(cx, &inverse)?, modes.len()))
}

/// Where a mode of that stride ends, if another one begins there. Nothing is computed that no mode
/// has for a stride.
fn following<C: Arith>(
    cx: &C,
    modes: &[Weighted<'_, C::Value>],
    mode: &Mode<C::Value>,
    stride: &IntOf<C>,
) -> Result<Option<IntOf<C>>> {
    let begins = |weighted: &&Weighted<'_, C::Value>| {
        cx.is_product_of(&weighted.mode.stride.scale, &mode.extent, stride)
    };
    Ok(modes.iter().find(begins).map(|weighted| weighted.mode.stride.scale.clone()))
}

/// The layout `l` with `l(layout(i)) == i` for all `i`: for each index, the number of the
/// coordinate that has it. Modes of stride 0 count as one coordinate; of others, each coordinate
/// must have an index of its own, and strides must be known.
pub fn left_inverse<C: Arith>(cx: &mut C, layout: &LayoutOf<C>) -> Result<LayoutOf<C>> {
    let flat = coalesce(cx, layout)?;
    if !flat.is_plain() {
        return Err(Error::BasisStrides { what: "an inverse", layout: text(layout) });
    }
    let refused = || Error::NotInjective { layout: text(layout) };
    let mut modes = weighted(cx, &flat)?;
    modes.retain(|Weighted { mode, .. }| !mode.stride.scale.is(0) && !mode.extent.is(1));
    let stride = |weighted: &Weighted<'_, C::Value>| weighted.mode.stride.scale.known();
    if modes.iter().any(|weighted| stride(weighted).is_none_or(|stride| stride < 0)) {
        return Err(refused());
    }
    modes.sort_by_key(|weighted| stride(weighted));
    // A mode of the inverse counts the indices from one stride to the next. It begins with those
    // below the first stride, which no coordinate has.
    let mut inverse = Vec::new();
    let mut below = (Int::Known(1), Int::Known(0), Int::Known(1));
    for Weighted { mode, weight } in &modes {
        let (stride, of_coords, reach) = &below;
        let here = &mode.stride.scale;
        let reaches = cx.facts_of(reach).max > cx.facts_of(here).min;
        if reaches || !cx.divides(stride, here) {
            return Err(refused());
        }
        let count = cx.div(here, stride)?;
        inverse.push(Mode { extent: count, stride: of_coords.clone().into() });
        below = (here.clone(), weight.clone(), cx.mul(here, &mode.extent)?);
    }
    let last = modes.last().map_or(Int::Known(1), |weighted| weighted.mode.extent.clone());
    inverse.push(Mode { extent: last, stride: below.1.into() });
    coalesce(cx, &Tuple::Node(inverse.into_iter().map(Tuple::Leaf).collect()))
}

/// The numbers of coordinates at which two layouts both have the indices from 0 on: the part that
/// may be copied from one to the other as it lies in memory.
pub fn max_common_layout<C: Arith>(
    cx: &mut C,
    a: &LayoutOf<C>,
    b: &LayoutOf<C>,
) -> Result<LayoutOf<C>> {
    let inverse = right_inverse(cx, b)?;
    match common(cx, a, b, &inverse)? {
        Some(common) => composition(cx, &inverse, &common),
        None => Ok(Layout::unit()),
    }
}

/// How many indices from 0 on two layouts have at the same coordinates. It is 1 where it is not
/// known.
pub fn max_common_vector<C: Arith>(cx: &mut C, a: &LayoutOf<C>, b: &LayoutOf<C>) -> Result<i64> {
    let inverse = right_inverse(cx, b)?;
    let common = common(cx, a, b, &inverse)?;
    let extent = common.as_ref().and_then(Tuple::as_leaf).and_then(|mode| mode.extent.known());
    Ok(extent.unwrap_or(1))
}

/// The first mode of `a` behind the inverse of `b`, where it is contiguous and its extent is known;
/// nothing where `b` may have coordinates that `a` has not.
fn common<C: Arith>(
    cx: &mut C,
    a: &LayoutOf<C>,
    b: &LayoutOf<C>,
    inverse: &LayoutOf<C>,
) -> Result<Option<LayoutOf<C>>> {
    if a.shape() != b.shape() && known_size(a) < known_size(b).or(Some(i64::MAX)) {
        return Ok(None);
    }
    let Ok(both) = composition(cx, a, inverse) else { return Ok(None) };
    let both = coalesce(cx, &both)?;
    let first = both.leaves().into_iter().next();
    let is_run = |mode: &&Mode<C::Value>| {
        mode.stride.is_plain() && mode.stride.scale.is(1) && mode.extent.known().is_some()
    };
    Ok(first.filter(is_run).map(|mode| Tuple::Leaf(mode.clone())))
}

/// How many coordinates there are, where that is known.
fn known_size<V>(layout: &Layout<V>) -> Option<i64> {
    let extents = layout.leaves().into_iter().map(|mode| mode.extent.known());
    extents.into_iter().try_fold(1_i64, |size, extent| size.checked_mul(extent?))
}
