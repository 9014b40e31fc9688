// SPDX-License-Identifier: Apache-2.0
//! Modes of a layout, taken, grouped and put together. Nothing here computes.

use crate::error::{Error, Result, text};
use crate::int::Value;
use crate::layout::Layout;
use crate::tuple::Tuple;
use std::fmt::Display;

/// The part at a path of modes.
pub fn get<V: Value>(layout: &Layout<V>, path: &[usize]) -> Result<Layout<V>> {
    let mut part = layout;
    for &mode in path {
        let rank = part.rank();
        let missing = || Error::NoMode { tuple: text(part), rank, mode };
        part = part.modes().get(mode).ok_or_else(missing)?;
    }
    Ok(part.clone())
}

/// The modes with these numbers, in this order.
pub fn select<V: Value>(layout: &Layout<V>, modes: &[usize]) -> Result<Layout<V>> {
    let modes = modes.iter().map(|&mode| get(layout, &[mode]));
    Ok(Tuple::Node(modes.collect::<Result<_>>()?))
}

/// The modes from `begin` up to, and not with, `end`.
pub fn take<V: Value>(layout: &Layout<V>, begin: usize, end: usize) -> Result<Layout<V>> {
    require_range(layout, layout.rank(), begin, end)?;
    Ok(Tuple::Node(layout.modes()[begin..end].to_vec()))
}

/// With the modes from `begin` up to `end` in one mode.
pub fn group_modes<V: Value>(layout: &Layout<V>, begin: usize, end: usize) -> Result<Layout<V>> {
    require_range(layout, layout.rank(), begin, end)?;
    let modes = layout.modes();
    let group = Tuple::Node(modes[begin..end].to_vec());
    Ok(Tuple::Node([&modes[..begin], &[group], &modes[end..]].concat()))
}

/// With `1:0` behind the modes, up to a rank.
pub fn append<V: Value>(layout: &Layout<V>, rank: usize) -> Layout<V> {
    append_with(layout, rank, &Layout::unit())
}

/// With a mode repeated behind the modes, up to a rank. A layout that has the rank stays as it is.
pub fn append_with<V: Value>(layout: &Layout<V>, rank: usize, mode: &Layout<V>) -> Layout<V> {
    if layout.rank() >= rank {
        return layout.clone();
    }
    let mut modes = layout.modes().to_vec();
    modes.resize(rank, mode.clone());
    Tuple::Node(modes)
}

/// With `1:0` before the modes, up to a rank.
pub fn prepend<V: Value>(layout: &Layout<V>, rank: usize) -> Layout<V> {
    prepend_with(layout, rank, &Layout::unit())
}

/// With a mode repeated before the modes, up to a rank. A layout that has the rank stays as it is.
pub fn prepend_with<V: Value>(layout: &Layout<V>, rank: usize, mode: &Layout<V>) -> Layout<V> {
    if layout.rank() >= rank {
        return layout.clone();
    }
    let mut modes = vec![mode.clone(); rank - layout.rank()];
    modes.extend_from_slice(layout.modes());
    Tuple::Node(modes)
}

/// With another layout for a mode.
pub fn replace<V: Value>(layout: &Layout<V>, mode: usize, by: &Layout<V>) -> Result<Layout<V>> {
    get(layout, &[mode])?;
    let mut modes = layout.modes().to_vec();
    modes[mode] = by.clone();
    Ok(Tuple::Node(modes))
}

/// The modes of two layouts in pairs: `((A0,B0),(A1,B1))`.
pub fn zip<V: Value>(a: &Layout<V>, b: &Layout<V>) -> Result<Layout<V>> {
    if a.rank() != b.rank() {
        return Err(Error::NotPaired { a: text(a), b: text(b) });
    }
    let pair = |(a, b): (&Layout<V>, &Layout<V>)| Tuple::Node(vec![a.clone(), b.clone()]);
    Ok(Tuple::Node(a.modes().iter().zip(b.modes()).map(pair).collect()))
}

fn require_range(of: &impl Display, rank: usize, begin: usize, end: usize) -> Result<()> {
    match begin < end && end <= rank {
        true => Ok(()),
        false => Err(Error::NoRange { tuple: text(of), rank, begin, end }),
    }
}
