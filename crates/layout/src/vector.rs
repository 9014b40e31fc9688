// SPDX-License-Identifier: Apache-2.0
//! How wide an access may be, from what is known of a layout and of the address it starts at.

use crate::arith::Arith;
use crate::coalesce::coalesce;
use crate::error::{Error, Result, text};
use crate::facts::gcd;
use crate::int::Int;
use crate::layout::{IntOf, LayoutOf, Mode};

/// The elements and the alignment of accesses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Access {
    /// The size of an element, in bytes.
    pub element_bytes: i64,
    /// A divisor of the address of the layout's first element, in bytes.
    pub alignment_bytes: i64,
    /// The most bytes that one access has, such as 16.
    pub max_bytes: i64,
}

/// How many elements one access has at most, which is a power of two: the accesses are aligned to
/// their size, have elements side by side in memory, and there is no element left that would need a
/// narrower one.
///
/// It is the largest number `n` for which the layout is whole runs of `n` indices, each beginning
/// at a multiple of `n`, as far as is known: the extents of the contiguous modes are multiples of
/// it, and so are all other strides, and the alignment.
pub fn vector_width<C: Arith>(cx: &mut C, layout: &LayoutOf<C>, access: &Access) -> Result<i64> {
    let flat = coalesce(cx, layout)?;
    if !flat.is_plain() {
        return Err(Error::BasisStrides { what: "an access", layout: text(layout) });
    }
    let mut modes = flat.leaves();
    modes.retain(|mode| !mode.extent.is(1) && !mode.stride.scale.is(0));
    let run = run(cx, &mut modes);
    let strides = modes.iter().map(|mode| cx.facts_of(&mode.stride.scale).divisor);
    let elements = strides.fold(run, gcd);
    let is_aligned = |width: &i64| {
        let bytes = width.saturating_mul(access.element_bytes);
        bytes > 0 && bytes <= access.max_bytes && access.alignment_bytes % bytes == 0
    };
    let widest = power_of_two_in(elements).trailing_zeros();
    Ok((0..=widest).rev().map(|places| 1 << places).find(is_aligned).unwrap_or(1))
}

/// A divisor of the number of indices that lie side by side from the first on; its modes are taken
/// out of the others.
fn run<C: Arith>(cx: &C, modes: &mut Vec<&Mode<C::Value>>) -> i64 {
    let mut run = 1_i64;
    let mut end: Option<(IntOf<C>, IntOf<C>)> = None;
    loop {
        let begins = |mode: &&Mode<C::Value>| match &end {
            None => mode.stride.scale.is(1),
            Some((extent, stride)) => cx.is_product_of(&mode.stride.scale, extent, stride),
        };
        let Some(at) = modes.iter().position(begins) else { return run };
        let mode = modes.remove(at);
        let divisor = cx.facts_of(&mode.extent).divisor;
        run = run.saturating_mul(if divisor == 0 { 1 << 62 } else { power_of_two_in(divisor) });
        end = Some((mode.extent.clone(), mode.stride.scale.clone()));
    }
}

/// The largest power of two that divides a number: of 0, one that is larger than any access.
fn power_of_two_in(number: i64) -> i64 {
    match number {
        0 => 1 << 62,
        number => 1 << number.trailing_zeros().min(62),
    }
}

/// A divisor of the address of an element, in bytes: from the alignment of an address, and how many
/// elements are before it.
pub fn alignment<C: Arith>(
    cx: &C,
    alignment_bytes: i64,
    offset: &IntOf<C>,
    element_bytes: i64,
) -> i64 {
    match offset {
        Int::Known(0) => alignment_bytes,
        offset => {
            let divisor = cx.facts_of(offset).divisor;
            gcd(alignment_bytes, divisor.saturating_mul(element_bytes))
        }
    }
}
