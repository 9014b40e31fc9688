// SPDX-License-Identifier: Apache-2.0
//! Products: a layout, repeated as another one says.
//!
//! `logical_product(a, b)` is `(a, composition(complement(a), b))`: the first mode is the block,
//! and the second has the places of its copies, in the order of `b`. The other products are the
//! same modes, arranged otherwise, as the [divisions](crate::divide) are; and `blocked_product` and
//! `raked_product` pair the modes of block and tiler, which are of one rank for that.

use crate::arith::Arith;
use crate::complement::complement_beyond;
use crate::composition::composition;
use crate::divide::{by_mode, flat, tiled, zipped};
use crate::error::{Error, Result, text};
use crate::index::{cosize, size};
use crate::layout::{LayoutOf, ShapeOf, make_ordered_layout};
use crate::modes::{append, zip};
use crate::tiler::Tiler;
use crate::tuple::Tuple;

/// The block and its copies, of each mode that the tiler has one for.
pub fn logical_product<C: Arith>(
    cx: &mut C,
    block: &LayoutOf<C>,
    tiler: &Tiler<C::Value>,
) -> Result<LayoutOf<C>> {
    by_mode(cx, block, tiler, multiply)
}

/// The blocks' modes in one mode, and their copies in another.
pub fn zipped_product<C: Arith>(
    cx: &mut C,
    block: &LayoutOf<C>,
    tiler: &Tiler<C::Value>,
) -> Result<LayoutOf<C>> {
    zipped(cx, block, tiler, multiply)
}

/// The blocks' modes in one mode, and one mode for each mode of the tiler.
pub fn tiled_product<C: Arith>(
    cx: &mut C,
    block: &LayoutOf<C>,
    tiler: &Tiler<C::Value>,
) -> Result<LayoutOf<C>> {
    Ok(tiled(zipped_product(cx, block, tiler)?))
}

/// One mode for each mode of the block, and one for each mode of the tiler.
pub fn flat_product<C: Arith>(
    cx: &mut C,
    block: &LayoutOf<C>,
    tiler: &Tiler<C::Value>,
) -> Result<LayoutOf<C>> {
    Ok(flat(zipped_product(cx, block, tiler)?))
}

/// Copies of the block side by side, placed as the tiler says. Each mode is the block's mode, and
/// behind it the tiler's.
pub fn blocked_product<C: Arith>(
    cx: &mut C,
    block: &LayoutOf<C>,
    tiler: &LayoutOf<C>,
) -> Result<LayoutOf<C>> {
    let (block, copies) = of_one_rank(cx, block, tiler)?;
    zip(&block, &copies)
}

/// Copies of the block that interleave: each mode is the tiler's mode, and behind it the block's.
pub fn raked_product<C: Arith>(
    cx: &mut C,
    block: &LayoutOf<C>,
    tiler: &LayoutOf<C>,
) -> Result<LayoutOf<C>> {
    let (block, copies) = of_one_rank(cx, block, tiler)?;
    zip(&copies, &block)
}

/// As many copies of the block as cover a shape, which come in an order of its modes: where none is
/// given, the first mode first.
pub fn tile_to_shape<C: Arith>(
    cx: &mut C,
    block: &LayoutOf<C>,
    shape: &ShapeOf<C>,
    order: Option<&Tuple<i64>>,
) -> Result<LayoutOf<C>> {
    let rank = shape.rank();
    if block.rank() > rank {
        return Err(Error::TooManyModes {
            what: "the block",
            tiler: text(block),
            layout: text(shape),
        });
    }
    let block = match rank {
        1 => block.clone(),
        _ => append(block, rank),
    };
    let mut counts = Vec::new();
    for (mode, extent) in block.modes().iter().zip(shape.modes()) {
        let (of_block, of_shape) = (size(cx, mode)?, crate::index::product(cx, extent)?);
        counts.push(Tuple::Leaf(cx.ceil_div(&of_shape, &of_block)?));
    }
    let counts = Tuple::Node(counts);
    let first = Tuple::Node((0..rank as i64).map(Tuple::Leaf).collect());
    let tiler = make_ordered_layout(cx, &counts, order.unwrap_or(&first))?;
    blocked_product(cx, &block, &tiler)
}

fn multiply<C: Arith>(cx: &mut C, block: &LayoutOf<C>, tiler: &LayoutOf<C>) -> Result<LayoutOf<C>> {
    let (size, cosize) = (size(cx, block)?, cosize(cx, tiler)?);
    let target = cx.mul(&size, &cosize)?;
    let free = complement_beyond(cx, block, &Tuple::Leaf(target))?;
    let copies = composition(cx, &free, tiler)?;
    Ok(Tuple::Node(vec![block.clone(), copies]))
}

/// The block and its copies, each with as many modes as the other.
fn of_one_rank<C: Arith>(
    cx: &mut C,
    block: &LayoutOf<C>,
    tiler: &LayoutOf<C>,
) -> Result<(LayoutOf<C>, LayoutOf<C>)> {
    let rank = block.rank().max(tiler.rank());
    let (block, tiler) = (append(block, rank), append(tiler, rank));
    let both = multiply(cx, &block, &tiler)?.into_modes();
    let copies = both.into_iter().nth(1).unwrap_or(tiler);
    Ok((block, copies))
}
