// SPDX-License-Identifier: Apache-2.0
//! The dims of a tensor in a call: one value for each dim that is written, and a loop's worth for
//! those that a star stands for.

use super::Tensor;
use crate::dim::{Dim, Rank, Star};
use crate::expr::Field;
use crate::path::Path;
use crate::plan::{Arith, Value};
use crate::planner::{Direction, Planner, Row, StarDims, StarUse};

/// One dim as it is written, in a call.
#[derive(Clone, Copy, Debug)]
pub(super) enum Axis {
    /// An extent.
    One(Value),
    /// The dims of a star.
    Star(StarDims),
}

impl Axis {
    /// The same with whether that is the product.
    pub(super) fn numel_if_it_fits(self, cx: &mut Planner<'_>) -> (Value, Value) {
        match self {
            Axis::One(extent) => (extent, cx.b.bool(true)),
            Axis::Star(dims) => (dims.numel, dims.fits),
        }
    }

    /// The extent, or the product of those of the star's dims; modulo 2^64.
    pub(super) fn numel(self) -> Value {
        match self {
            Axis::One(extent) => extent,
            Axis::Star(dims) => dims.numel,
        }
    }
}

/// Where the numbers of a tensor's dims lie: its shape, or its strides.
#[derive(Clone, Copy, Debug)]
pub(super) struct DimNumbers {
    start: Value,
    /// How many dims stand in front of the star, and the address of what lies behind its dims.
    star: Option<(usize, Value)>,
}

impl DimNumbers {
    /// The numbers at `start`, one for each of the tensor's `n_dims` dims.
    pub(super) fn new(
        cx: &mut Planner<'_>,
        tensor: &Tensor,
        start: Value,
        n_dims: Value,
    ) -> DimNumbers {
        let star = Star::among(&tensor.dims).map(|(n_before, _)| {
            let (n_behind, size) =
                (cx.b.int((tensor.dims.len() - n_before - 1) as i64), cx.b.int(8));
            let number = cx.b.arith(Arith::Sub, n_dims, n_behind);
            let offset = cx.b.mul(number, size);
            (n_before, cx.b.add_ints(start, offset))
        });
        DimNumbers { start, star }
    }

    /// The number of the dim that is written at place `i`, which is no star.
    pub(super) fn one(self, cx: &mut Planner<'_>, i: usize) -> Value {
        match self.star {
            Some((n_before, behind)) if i > n_before => cx.b.element(behind, i - n_before - 1),
            _ => cx.b.element(self.start, i),
        }
    }

    /// The numbers of the star's dims.
    pub(super) fn star(self, cx: &mut Planner<'_>) -> Row {
        let (n_before, _) = self.star.expect("the tensor has a star");
        let (before, step) = (cx.b.int(8 * n_before as i64), cx.b.int(8));
        Row { start: cx.b.add_ints(self.start, before), step }
    }
}

impl Tensor {
    /// The path of the extent or stride that belongs to the dim written at place `i`.
    pub(super) fn dim_path(&self, path: &Path, field: fn(i64) -> Field, i: usize) -> Path {
        match &self.dims[i] {
            Dim::Star(star) => path.part(field(0).to_string().replace('0', &star.to_string())),
            Dim::Any | Dim::Expr(_) => Rank::of(&self.dims).path(path, field, i),
        }
    }

    /// The use of the tensor's star.
    pub(super) fn star_use(
        &self,
        cx: &mut Planner<'_>,
        path: &Path,
        n_dims: Value,
        shape: DimNumbers,
    ) -> Option<StarUse> {
        let (n_before, star) = Star::among(&self.dims)?;
        Some(StarUse {
            star: star.clone(),
            owner: path.clone(),
            field: Field::Shape,
            n_before,
            n_others: self.dims.len() - 1,
            n_dims,
            extents: shape.star(cx),
        })
    }

    /// Whether an extent is 0, before any is known to be one.
    pub(super) fn is_empty(
        &self,
        cx: &mut Planner<'_>,
        shape: DimNumbers,
        star: Option<&StarUse>,
    ) -> Value {
        let is_one = |i: &usize| !matches!(self.dims[*i], Dim::Star(_));
        let places: Vec<_> = (0..self.dims.len()).filter(is_one).collect();
        let extents: Vec<_> = places.into_iter().map(|i| shape.one(cx, i)).collect();
        let empty = cx.b.eq_zero_any(&extents);
        let Some(star) = star else { return empty };
        let ndim = star.ndim(cx);
        let left = cx.for_each_dim(ndim, Direction::Forward, &[("empty", empty)], |cx, turn| {
            let extent = cx.row_element(star.extents, turn.number);
            let is_zero = cx.b.eq_int(extent, 0);
            vec![cx.b.or(turn.carried[0], is_zero)]
        });
        left[0]
    }
}

/// Whether an extent is 0.
pub(super) fn is_empty(cx: &mut Planner<'_>, axes: &[Axis]) -> Value {
    let mut empty = cx.b.bool(false);
    for axis in axes {
        let is_zero = match axis {
            Axis::One(extent) => cx.b.eq_int(*extent, 0),
            Axis::Star(dims) => dims.empty,
        };
        empty = cx.b.or(empty, is_zero);
    }
    empty
}
