// SPDX-License-Identifier: Apache-2.0
//! Coordinates to indices and back, and how many there are of both.
//!
//! A coordinate is nested as the shape, or less: a number stands for the coordinate of a mode with
//! modes that comes at its place, the first mode being the fastest. The last mode takes whatever is
//! left, so that a coordinate beyond the shape has an index beyond it, too.
//!
//! An index is a number, or where strides go along modes a tuple of numbers.

use crate::arith::Arith;
use crate::error::{Error, Result, text};
use crate::int::{Int, Value};
use crate::layout::{
    IntOf, Layout, LayoutOf, Mode, Shape, ShapeOf, Stride, make_identity_layout, make_layout,
};
use crate::slice::{Coord, Slot};
use crate::tuple::Tuple;

/// The product of all leaves: how many coordinates a shape has.
pub fn product<C: Arith>(cx: &mut C, shape: &ShapeOf<C>) -> Result<IntOf<C>> {
    shape.leaves().into_iter().try_fold(Int::Known(1), |size, extent| cx.mul(&size, extent))
}

/// The product of each mode at the top.
pub fn product_each<C: Arith>(cx: &mut C, shape: &ShapeOf<C>) -> Result<ShapeOf<C>> {
    match shape {
        Tuple::Leaf(_) => Ok(shape.clone()),
        Tuple::Node(modes) => {
            let mode = |mode| Ok(Tuple::Leaf(product(cx, mode)?));
            Ok(Tuple::Node(modes.iter().map(mode).collect::<Result<_>>()?))
        }
    }
}

/// How many coordinates a layout has.
pub fn size<C: Arith>(cx: &mut C, layout: &LayoutOf<C>) -> Result<IntOf<C>> {
    let extents = layout.leaves().into_iter().map(|mode| &mode.extent);
    extents.into_iter().try_fold(Int::Known(1), |size, extent| cx.mul(&size, extent))
}

/// The least shape that all indices lie in, where no stride is negative: one more than the largest
/// index, in each mode of the index.
pub fn coshape<C: Arith>(cx: &mut C, layout: &LayoutOf<C>) -> Result<ShapeOf<C>> {
    let leaves = layout.leaves();
    let is_empty = leaves.iter().any(|mode| mode.extent.is(0));
    let mut last = Tuple::Leaf(Int::Known(0));
    for mode in leaves.iter().filter(|_| !is_empty) {
        let reach = cx.sub(&mode.extent, &Int::Known(1))?;
        let scale = cx.abs(&mode.stride.scale)?;
        last = step(cx, last, &reach, &Stride { scale, basis: mode.stride.basis.clone() })?;
    }
    let one = Int::Known(i64::from(!is_empty));
    last.try_map(&mut |last| cx.add(last, &one))
}

/// One more than the largest index: the product of [`coshape`].
pub fn cosize<C: Arith>(cx: &mut C, layout: &LayoutOf<C>) -> Result<IntOf<C>> {
    let coshape = coshape(cx, layout)?;
    product(cx, &coshape)
}

/// The index of a coordinate. Free modes count as 0.
pub fn crd2idx<C: Arith>(
    cx: &mut C,
    coord: &Coord<C::Value>,
    layout: &LayoutOf<C>,
) -> Result<ShapeOf<C>> {
    add_up(cx, Tuple::Leaf(Int::Known(0)), coord, layout)
}

/// The index of a coordinate, where strides are plain.
pub fn index<C: Arith>(
    cx: &mut C,
    coord: &Coord<C::Value>,
    layout: &LayoutOf<C>,
) -> Result<IntOf<C>> {
    match crd2idx(cx, coord, layout)? {
        Tuple::Leaf(index) => Ok(index),
        Tuple::Node(_) => Err(Error::BasisStrides { what: "an index", layout: text(layout) }),
    }
}

/// The index of the coordinate with that number.
pub fn index_of<C: Arith>(cx: &mut C, number: &IntOf<C>, layout: &LayoutOf<C>) -> Result<IntOf<C>> {
    index(cx, &Tuple::Leaf(Slot::At(number.clone())), layout)
}

/// The coordinate with that number, nested as the shape.
pub fn idx2crd<C: Arith>(cx: &mut C, number: &IntOf<C>, shape: &ShapeOf<C>) -> Result<ShapeOf<C>> {
    let identity = make_identity_layout(shape);
    crd2idx(cx, &Tuple::Leaf(Slot::At(number.clone())), &identity)
}

/// The number of a coordinate of a shape.
pub fn crd2num<C: Arith>(
    cx: &mut C,
    coord: &Coord<C::Value>,
    shape: &ShapeOf<C>,
) -> Result<IntOf<C>> {
    let layout = make_layout(cx, shape)?;
    index(cx, coord, &layout)
}

fn add_up<C: Arith>(
    cx: &mut C,
    sum: ShapeOf<C>,
    coord: &Coord<C::Value>,
    layout: &LayoutOf<C>,
) -> Result<ShapeOf<C>> {
    match (coord, layout) {
        (Tuple::Leaf(Slot::Free), layout) => add_number(cx, sum, &Int::Known(0), layout),
        (Tuple::Leaf(Slot::At(number)), layout) => add_number(cx, sum, number, layout),
        (Tuple::Node(coords), Tuple::Node(modes)) if coords.len() == modes.len() => {
            let mut pairs = coords.iter().zip(modes);
            pairs.try_fold(sum, |sum, (coord, mode)| add_up(cx, sum, coord, mode))
        }
        (Tuple::Node(_), _) => {
            Err(Error::Coordinate { coord: text(coord), shape: text(&layout.shape()) })
        }
    }
}

/// Adds the index of the coordinate with a number. Each mode but the last takes what it has place
/// for.
fn add_number<C: Arith>(
    cx: &mut C,
    sum: ShapeOf<C>,
    number: &IntOf<C>,
    layout: &LayoutOf<C>,
) -> Result<ShapeOf<C>> {
    let leaves = layout.leaves();
    let Some((last, others)) = leaves.split_last() else { return Ok(sum) };
    let (mut sum, mut number) = (sum, number.clone());
    for mode in others {
        let (at, rest) = match mode.extent.is(1) {
            true => (Int::Known(0), number),
            false => (cx.rem(&number, &mode.extent)?, cx.div(&number, &mode.extent)?),
        };
        sum = step(cx, sum, &at, &mode.stride)?;
        number = rest;
    }
    step(cx, sum, &number, &last.stride)
}

/// An index, so many strides further.
fn step<C: Arith>(
    cx: &mut C,
    index: ShapeOf<C>,
    count: &IntOf<C>,
    stride: &Stride<C::Value>,
) -> Result<ShapeOf<C>> {
    let distance = cx.mul(count, &stride.scale)?;
    place(cx, index, &stride.basis, &distance)
}

/// Adds a number to one mode of an index.
fn place<C: Arith>(
    cx: &mut C,
    index: ShapeOf<C>,
    path: &[usize],
    distance: &IntOf<C>,
) -> Result<ShapeOf<C>> {
    let mixed = |index: &ShapeOf<C>| Error::MixedStrides { layout: text(index) };
    let Some((&mode, rest)) = path.split_first() else {
        return match index {
            Tuple::Leaf(number) => Ok(Tuple::Leaf(cx.add(&number, distance)?)),
            Tuple::Node(_) if distance.is(0) => Ok(index),
            Tuple::Node(_) => Err(mixed(&index)),
        };
    };
    let mut modes = match index {
        Tuple::Node(modes) => modes,
        Tuple::Leaf(Int::Known(0)) => Vec::new(),
        Tuple::Leaf(_) => return Err(mixed(&index)),
    };
    let n_modes = modes.len().max(mode + 1);
    modes.resize(n_modes, Tuple::Leaf(Int::Known(0)));
    let old = std::mem::replace(&mut modes[mode], Tuple::Leaf(Int::Known(0)));
    modes[mode] = place(cx, old, rest, distance)?;
    Ok(Tuple::Node(modes))
}

/// The sum of two indices. The number 0 adds nothing to any, and a mode that one of them lacks is
/// 0.
pub fn add_indices<C: Arith>(cx: &mut C, a: &ShapeOf<C>, b: &ShapeOf<C>) -> Result<ShapeOf<C>> {
    match (a, b) {
        (Tuple::Leaf(Int::Known(0)), other) | (other, Tuple::Leaf(Int::Known(0))) => {
            Ok(other.clone())
        }
        (Tuple::Leaf(a), Tuple::Leaf(b)) => Ok(Tuple::Leaf(cx.add(a, b)?)),
        (Tuple::Node(a), Tuple::Node(b)) => {
            let zero = Tuple::Leaf(Int::Known(0));
            let mode =
                |mode| add_indices(cx, a.get(mode).unwrap_or(&zero), b.get(mode).unwrap_or(&zero));
            Ok(Tuple::Node((0..a.len().max(b.len())).map(mode).collect::<Result<_>>()?))
        }
        (Tuple::Leaf(_), Tuple::Node(_)) | (Tuple::Node(_), Tuple::Leaf(_)) => {
            Err(Error::MixedStrides { layout: format!("{a} + {b}") })
        }
    }
}

/// For each mode at the top, the number of the coordinate at which a layout has an index: for
/// layouts that have each index once, as those of threads do.
pub fn idx2crd_by_stride<C: Arith>(
    cx: &mut C,
    index: &IntOf<C>,
    layout: &LayoutOf<C>,
) -> Result<ShapeOf<C>> {
    if !layout.is_plain() {
        return Err(Error::BasisStrides { what: "a coordinate", layout: text(layout) });
    }
    let natural = layout.try_map(&mut |mode: &Mode<C::Value>| {
        if mode.extent.is(1) || mode.stride.scale.is(0) {
            return Ok(Int::Known(0));
        }
        let steps = cx.div(index, &mode.stride.scale)?;
        cx.rem(&steps, &mode.extent)
    })?;
    let number = |(coord, mode): (&Shape<C::Value>, &Layout<C::Value>)| {
        let coord = coord.map(&mut |at| Slot::At(at.clone()));
        Ok(Tuple::Leaf(crd2num(cx, &coord, &mode.shape())?))
    };
    match &natural {
        Tuple::Leaf(_) => Ok(natural),
        Tuple::Node(coords) => {
            let numbers = coords.iter().zip(layout.modes()).map(number);
            Ok(Tuple::Node(numbers.collect::<Result<_>>()?))
        }
    }
}

/// How many indices there are of which [`idx2crd_by_stride`] finds the coordinate: up to the step
/// of the slowest mode beyond its last coordinate. Of a compact layout, as many as elements. Behind
/// them coordinates begin anew.
pub fn reach<C: Arith>(cx: &mut C, layout: &LayoutOf<C>) -> Result<IntOf<C>> {
    let mut most = size(cx, layout)?;
    for mode in layout.leaves() {
        let steps = cx.mul(&mode.extent, &mode.stride.scale)?;
        most = cx.max(&most, &steps)?;
    }
    Ok(most)
}

/// Whether every coordinate of the first shape is one of the second: both have the same size, and
/// the second is nested as the first or deeper. Of sizes that are not known, no.
pub fn is_compatible<V: Value>(a: &Shape<V>, b: &Shape<V>) -> bool {
    match (a, b) {
        (Tuple::Leaf(Int::Known(size)), b) => {
            let extents = b.leaves().into_iter().map(Int::known);
            let product = |size: i64, extent: Option<i64>| size.checked_mul(extent?);
            extents.into_iter().try_fold(1, product) == Some(*size)
        }
        (Tuple::Leaf(a), Tuple::Leaf(b)) => a == b,
        (Tuple::Leaf(_), Tuple::Node(_)) | (Tuple::Node(_), Tuple::Leaf(_)) => false,
        (Tuple::Node(a), Tuple::Node(b)) => {
            a.len() == b.len() && a.iter().zip(b).all(|(a, b)| is_compatible(a, b))
        }
    }
}
