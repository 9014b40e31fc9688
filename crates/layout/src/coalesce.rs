// SPDX-License-Identifier: Apache-2.0
//! Fewer modes for the same function.
//!
//! A layout has an index for numbers beyond its size, too: its last mode goes on. What coalesces a
//! layout for its own sake keeps the function of the numbers below the size, as CuTe does, where
//! `1:7` becomes `1:0`. What takes a layout apart for another operation needs all of the function,
//! and has [`coalesce_beyond`].

use crate::arith::Arith;
use crate::error::{Error, Result, text};
use crate::int::Int;
use crate::layout::{Layout, LayoutOf, Mode};
use crate::tuple::Tuple;

/// The layout of the fewest modes that has the same index for each number of a coordinate.
///
/// Modes of extent 1 go. A mode that goes on where the one before it ends is joined to it, if both
/// extents are known or neither is: a known extent next to one that is not known says more than
/// their product.
pub fn coalesce<C: Arith>(cx: &mut C, layout: &LayoutOf<C>) -> Result<LayoutOf<C>> {
    join(cx, layout.leaves().into_iter())
}

/// The layout of the fewest modes that has the same index for each number, those beyond its size
/// included. A last mode of extent 1 stays, unless it goes on where the one before it ends.
pub(crate) fn coalesce_beyond<C: Arith>(cx: &mut C, layout: &LayoutOf<C>) -> Result<LayoutOf<C>> {
    let leaves = layout.leaves();
    let Some((last, others)) = leaves.split_last().filter(|(last, _)| last.extent.is(1)) else {
        return coalesce(cx, layout);
    };
    let joined = join(cx, others.iter().copied())?;
    let mut modes: Vec<_> = joined.leaves().into_iter().filter(|mode| !mode.extent.is(1)).collect();
    if modes.last().is_none_or(|end| !continues(cx, end, last)) {
        modes.push(last);
    }
    Ok(Tuple::of_leaves(modes.into_iter().cloned().collect(), Mode::unit()))
}

/// As [`coalesce`], within the modes that a profile has: what its leaves are is of no matter. Modes
/// beyond the profile stay as they are.
pub fn coalesce_by<C: Arith, T>(
    cx: &mut C,
    layout: &LayoutOf<C>,
    profile: &Tuple<T>,
) -> Result<LayoutOf<C>> {
    by_profile(cx, layout, profile, &mut |cx, layout| coalesce(cx, layout))
}

/// Without modes of stride 0, and coalesced.
pub fn filter<C: Arith>(cx: &mut C, layout: &LayoutOf<C>) -> Result<LayoutOf<C>> {
    let leaves = layout.leaves().into_iter();
    join(cx, leaves.filter(|mode| !mode.stride.scale.is(0)))
}

/// As [`filter`], within the modes that a profile has.
pub fn filter_by<C: Arith, T>(
    cx: &mut C,
    layout: &LayoutOf<C>,
    profile: &Tuple<T>,
) -> Result<LayoutOf<C>> {
    by_profile(cx, layout, profile, &mut |cx, layout| filter(cx, layout))
}

/// The same layout, in which modes of stride 0 have extent 1.
pub fn filter_zeros<V: crate::Value>(layout: &Layout<V>) -> Layout<V> {
    layout.map(&mut |mode| match mode.stride.scale.is(0) {
        true => Mode { extent: Int::Known(1), stride: mode.stride.clone() },
        false => mode.clone(),
    })
}

fn by_profile<C: Arith, T>(
    cx: &mut C,
    layout: &LayoutOf<C>,
    profile: &Tuple<T>,
    each: &mut impl FnMut(&mut C, &LayoutOf<C>) -> Result<LayoutOf<C>>,
) -> Result<LayoutOf<C>> {
    let Tuple::Node(profiles) = profile else { return each(cx, layout) };
    if profiles.len() > layout.rank() {
        let tiler = text(&profile.map(&mut |_| 1_i64));
        return Err(Error::TooManyModes { what: "the profile", tiler, layout: text(layout) });
    }
    let mut modes = layout.modes().to_vec();
    for (mode, profile) in modes.iter_mut().zip(profiles) {
        *mode = by_profile(cx, mode, profile, each)?;
    }
    Ok(Tuple::Node(modes))
}

fn join<'l, C: Arith>(
    cx: &mut C,
    modes: impl Iterator<Item = &'l Mode<C::Value>>,
) -> Result<LayoutOf<C>>
where
    C::Value: 'l,
{
    let mut joined: Vec<Mode<C::Value>> = Vec::new();
    for mode in modes.filter(|mode| !mode.extent.is(1)) {
        match joined.last_mut() {
            Some(last) if goes_on(cx, last, mode) => {
                last.extent = cx.mul(&last.extent, &mode.extent)?;
            }
            Some(_) | None => joined.push(mode.clone()),
        }
    }
    Ok(Tuple::of_leaves(joined, Mode::unit()))
}

/// Whether a mode goes on where the last one ends, and loses nothing by being joined to it.
fn goes_on<C: Arith>(cx: &C, last: &Mode<C::Value>, mode: &Mode<C::Value>) -> bool {
    let is_known = |mode: &Mode<C::Value>| mode.extent.known().is_some();
    is_known(last) == is_known(mode) && continues(cx, last, mode)
}

/// Whether a mode goes on where the last one ends.
fn continues<C: Arith>(cx: &C, last: &Mode<C::Value>, mode: &Mode<C::Value>) -> bool {
    last.stride.basis == mode.stride.basis
        && cx.is_product_of(&mode.stride.scale, &last.extent, &last.stride.scale)
}
