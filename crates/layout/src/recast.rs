// SPDX-License-Identifier: Apache-2.0
//! The same bytes as elements of another width.

use crate::arith::Arith;
use crate::error::{Error, Result, text};
use crate::facts::gcd;
use crate::int::Int;
use crate::layout::{LayoutOf, Mode, Stride};
use std::fmt::Display;

/// The layout of the same memory, as elements of `new_bits` instead of `old_bits`. A contiguous
/// mode gets shorter or longer, the strides of the others do.
pub fn recast_layout<C: Arith>(
    cx: &mut C,
    layout: &LayoutOf<C>,
    new_bits: i64,
    old_bits: i64,
) -> Result<LayoutOf<C>> {
    let (up, down) = ratio(new_bits, old_bits, layout)?;
    let refused = |why: String| Error::Recast { layout: text(layout), new_bits, old_bits, why };
    let larger = layout.try_map(&mut |mode| upcast_mode(cx, mode, up, &refused))?;
    downcast_modes(cx, &larger, down, &refused)
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

fn upcast_mode<C: Arith>(
    cx: &mut C,
    mode: &Mode<C::Value>,
    n: i64,
    refused: &impl Fn(String) -> Error,
) -> Result<Mode<C::Value>> {
    let stride = &mode.stride.scale;
    if n == 1 || stride.is(0) {
        return Ok(mode.clone());
    }
    if cx.facts_of(stride).is_multiple_of(n) {
        let scale = cx.div(stride, &Int::Known(n))?;
        let stride = Stride { scale, basis: mode.stride.basis.clone() };
        return Ok(Mode { extent: mode.extent.clone(), stride });
    }
    let step = stride.known().unwrap_or(0);
    let per_element = match step != 0 && n % step == 0 {
        true => (n / step).abs(),
        false => return Err(refused(format!("the stride {stride} is not known to fit {n}"))),
    };
    if !cx.facts_of(&mode.extent).is_multiple_of(per_element) {
        let why = format!("{per_element} is not known to divide the extent {}", mode.extent);
        return Err(refused(why));
    }
    let extent = cx.div(&mode.extent, &Int::Known(per_element))?;
    let stride = Stride { scale: Int::Known(step.signum()), basis: mode.stride.basis.clone() };
    Ok(Mode { extent, stride })
}

fn downcast_modes<C: Arith>(
    cx: &mut C,
    layout: &LayoutOf<C>,
    n: i64,
    refused: &impl Fn(String) -> Error,
) -> Result<LayoutOf<C>> {
    let is_unit = |mode: &&Mode<C::Value>| matches!(mode.stride.scale.known(), Some(1 | -1));
    if n != 1 && !layout.leaves().iter().any(is_unit) {
        return Err(refused("no stride is 1, so that the parts of an element have no mode".into()));
    }
    layout.try_map(&mut |mode| {
        let (extent, scale) = (&mode.extent, &mode.stride.scale);
        let (extent, scale) = match is_unit(&mode) {
            true => (cx.mul(extent, &Int::Known(n))?, scale.clone()),
            false => (extent.clone(), cx.mul(scale, &Int::Known(n))?),
        };
        Ok(Mode { extent, stride: Stride { scale, basis: mode.stride.basis.clone() } })
    })
}
