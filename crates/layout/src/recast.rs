// SPDX-License-Identifier: Apache-2.0
//! The same bytes as elements of another width.

use crate::arith::Arith;
use crate::error::{Error, Result, text};
use crate::facts::gcd;
use crate::int::Int;
use crate::layout::{LayoutOf, Mode, Stride};
use std::fmt::Display;

/// The layout of the same memory, as elements of `new_bits` instead of `old_bits`: where indices
/// lie side by side, modes get shorter or longer, and the strides of the others do.
///
/// Where elements get larger, those that become one have to lie side by side, from a multiple of
/// their number on. Where none do, as no stride is 1, each new element has an old one and what lies
/// behind it.
pub fn recast_layout<C: Arith>(
    cx: &mut C,
    layout: &LayoutOf<C>,
    new_bits: i64,
    old_bits: i64,
) -> Result<LayoutOf<C>> {
    let (up, down) = ratio(new_bits, old_bits, layout)?;
    let refused = |why: String| Error::Recast { layout: text(layout), new_bits, old_bits, why };
    let larger = match up {
        1 => layout.clone(),
        up => upcast_modes(cx, layout, up, &refused)?,
    };
    match down {
        1 => Ok(larger),
        down => downcast_modes(cx, &larger, down, &refused),
    }
}

/// The layout of elements that are `n` times as large.
pub fn upcast<C: Arith>(cx: &mut C, layout: &LayoutOf<C>, n: i64) -> Result<LayoutOf<C>> {
    recast_layout(cx, layout, n, 1)
}

/// The layout of elements of which `n` take the place of one.
pub fn downcast<C: Arith>(cx: &mut C, layout: &LayoutOf<C>, n: i64) -> Result<LayoutOf<C>> {
    recast_layout(cx, layout, 1, n)
}

/// How many old elements make up one that both widths have, and how many new ones it has.
pub(crate) fn ratio(new_bits: i64, old_bits: i64, of: &impl Display) -> Result<(i64, i64)> {
    if new_bits < 1 || old_bits < 1 {
        let why = "a width is at least 1 bit".to_string();
        return Err(Error::Recast { layout: text(of), new_bits, old_bits, why });
    }
    let both = gcd(new_bits, old_bits);
    Ok((new_bits / both, old_bits / both))
}

fn upcast_modes<C: Arith>(
    cx: &mut C,
    layout: &LayoutOf<C>,
    n: i64,
    refused: &impl Fn(String) -> Error,
) -> Result<LayoutOf<C>> {
    let mut modes: Vec<_> = layout.leaves().into_iter().cloned().collect();
    let is_outside = |mode: &Mode<C::Value>| cx.facts_of(&mode.stride.scale).is_multiple_of(n);
    let mut inside: Vec<_> = (0..modes.len()).filter(|&at| !is_outside(&modes[at])).collect();
    inside.retain(|&at| !modes[at].extent.is(1));
    inside.sort_by_key(|&at| modes[at].stride.scale.known().unwrap_or(i64::MAX));
    let mut span = 1;
    for &at in &inside {
        let mode = &modes[at];
        if !mode.stride.scale.is(span) || span >= n {
            let stride = &mode.stride;
            return Err(refused(format!("the stride {stride} is not known to fit {n} elements")));
        }
        (modes[at], span) = upcast_inside(cx, mode, n, span, refused)?;
    }
    if !inside.is_empty() && span < n {
        return Err(refused(format!("only {span} of {n} elements lie side by side")));
    }
    for (at, mode) in modes.iter_mut().enumerate() {
        let is_whole = cx.facts_of(&mode.stride.scale).is_multiple_of(n);
        mode.stride.scale = match () {
            () if inside.contains(&at) => continue,
            () if is_whole => cx.div(&mode.stride.scale, &Int::Known(n))?,
            // One element, beyond which no stride in whole elements leads.
            () => Int::Known(0),
        };
    }
    let mut modes = modes.into_iter();
    Ok(layout.map(&mut |mode| modes.next().unwrap_or_else(|| mode.clone())))
}

/// A mode whose elements lie side by side, in runs of `span`; and how long the runs are with it.
fn upcast_inside<C: Arith>(
    cx: &mut C,
    mode: &Mode<C::Value>,
    n: i64,
    span: i64,
    refused: &impl Fn(String) -> Error,
) -> Result<(Mode<C::Value>, i64)> {
    let basis = mode.stride.basis.clone();
    if let Some(run) = mode.extent.known().and_then(|extent| extent.checked_mul(span))
        && (1..n).contains(&run)
        && n % run == 0
    {
        let stride = Stride { scale: Int::Known(0), basis };
        return Ok((Mode { extent: Int::Known(1), stride }, run));
    }
    let count = n / span;
    if n % span != 0 || !cx.facts_of(&mode.extent).is_multiple_of(count) {
        return Err(refused(format!("{count} is not known to divide the extent {}", mode.extent)));
    }
    let extent = cx.div(&mode.extent, &Int::Known(count))?;
    Ok((Mode { extent, stride: Stride { scale: Int::Known(1), basis } }, n))
}

/// The parts of an element go into the mode of stride 1.
fn downcast_modes<C: Arith>(
    cx: &mut C,
    layout: &LayoutOf<C>,
    n: i64,
    refused: &impl Fn(String) -> Error,
) -> Result<LayoutOf<C>> {
    let leaves = layout.leaves();
    let is_unit = |at: &usize| leaves[*at].stride.scale.is(1);
    let units: Vec<_> = (0..leaves.len()).filter(is_unit).collect();
    let longer: Vec<_> = units.iter().filter(|&&at| !leaves[at].extent.is(1)).collect();
    let parts = match (&longer[..], &units[..]) {
        ([at], _) => **at,
        ([], [at, ..]) => *at,
        ([], []) => {
            let why = "no stride is 1, so that the parts of an element have no mode";
            return Err(refused(why.into()));
        }
        (_, _) => return Err(refused("several strides are 1".into())),
    };
    let mut at = 0;
    layout.try_map(&mut |mode| {
        let is_parts = at == parts;
        at += 1;
        let (extent, scale) = (&mode.extent, &mode.stride.scale);
        let (extent, scale) = match is_parts {
            true => (cx.mul(extent, &Int::Known(n))?, scale.clone()),
            false => (extent.clone(), cx.mul(scale, &Int::Known(n))?),
        };
        Ok(Mode { extent, stride: Stride { scale, basis: mode.stride.basis.clone() } })
    })
}
