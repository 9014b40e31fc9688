// SPDX-License-Identifier: Apache-2.0
//! The checks of a tensor's strides, and the stride that each dim has for rules and kernels.

use super::axis::{Axis, DimNumbers};
use super::{Order, Strides, Tensor};
use crate::check;
use crate::check::stride::StrideUse;
use crate::expr::Field;
use crate::path::Path;
use crate::plan::{Arith, Guarded, Value};
use crate::planner::{Direction, Planner, StarDims};

/// A tensor's dims and strides as they were given.
pub(super) struct Given<'t> {
    /// The tensor.
    pub path: &'t Path,
    /// Its extents.
    pub axes: &'t [Axis],
    /// Whether one of these is 0.
    pub empty: Value,
    /// Whether it has strides: row-major ones are meant where it has none.
    pub present: Value,
    /// Its strides, where it has any.
    pub strides: DimNumbers,
}

impl Tensor {
    /// Checks the strides; returns that of every dim as it is written, the compact one where the
    /// dim is free, and of a star the compact one of its fastest dim.
    pub(super) fn plan_strides(&self, cx: &mut Planner<'_>, given: &Given<'_>) -> Vec<Value> {
        let row_major = compact_strides(cx, given.axes, &Order::Row);
        match &self.strides {
            _ if self.dims.is_empty() => row_major,
            Strides::Compact(Order::Row) => {
                cx.when(given.present, |cx| {
                    let actual = self.strides_there(cx, given);
                    self.require_compact(cx, given, &actual, &row_major, &Order::Row);
                });
                row_major
            }
            Strides::Compact(order) => {
                let actual = self.actual_strides(cx, given, &row_major);
                let expected = compact_strides(cx, given.axes, order);
                self.require_compact(cx, given, &actual, &expected, order);
                expected
            }
            Strides::Any => {
                let actual = self.actual_strides(cx, given, &row_major);
                self.require_writable(cx, given, &actual);
                given.known_strides(cx, &actual, &row_major)
            }
            Strides::Dims(wanted) => {
                let actual = self.actual_strides(cx, given, &row_major);
                for (i, dim) in wanted.iter().enumerate() {
                    let path = self.dim_path(given.path, Field::Stride, i);
                    let (actual, free) = match (given.axes[i], actual[i]) {
                        (Axis::One(extent), Some(actual)) => (actual, given.is_free(cx, extent)),
                        (Axis::One(_), None) => unreachable!("a dim has a stride"),
                        (Axis::Star(dims), _) => self.star_stride(cx, given, &dims, row_major[i]),
                    };
                    let at = StrideUse { path: &path, actual, free, compact: row_major[i] };
                    check::stride::require(cx, &at, dim, self.mutable);
                }
                given.known_strides(cx, &actual, &row_major)
            }
        }
    }

    /// The stride of each dim that is no star, where the tensor has strides.
    fn strides_there(&self, cx: &mut Planner<'_>, given: &Given<'_>) -> Vec<Option<Value>> {
        let there = |(i, axis): (usize, &Axis)| match axis {
            Axis::One(_) => Some(given.strides.one(cx, i)),
            Axis::Star(_) => None,
        };
        given.axes.iter().enumerate().map(there).collect()
    }

    /// The stride of each dim that is no star: as given, or row-major.
    fn actual_strides(
        &self,
        cx: &mut Planner<'_>,
        given: &Given<'_>,
        row_major: &[Value],
    ) -> Vec<Option<Value>> {
        cx.b.open();
        let there = self.strides_there(cx, given);
        let guarded = there.iter().zip(row_major);
        let guarded = guarded.filter_map(|(inner, otherwise)| {
            inner.map(|inner| Guarded { inner, otherwise: *otherwise })
        });
        let guarded: Vec<_> = guarded.collect();
        let mut values = cx.b.close(given.present, &guarded).into_iter();
        let actual: Vec<_> = there.iter().map(|it| it.and_then(|_| values.next())).collect();
        for (i, stride) in actual.iter().enumerate() {
            if let Some(stride) = stride {
                cx.b.let_named(self.dim_path(given.path, Field::Stride, i).text, *stride);
            }
        }
        actual
    }

    /// Requires each stride to be that of a compact tensor.
    fn require_compact(
        &self,
        cx: &mut Planner<'_>,
        given: &Given<'_>,
        actual: &[Option<Value>],
        expected: &[Value],
        order: &Order,
    ) {
        for (i, axis) in given.axes.iter().enumerate() {
            match (axis, actual[i]) {
                (Axis::One(extent), Some(actual)) => {
                    let path = self.dim_path(given.path, Field::Stride, i);
                    let (free, strides) = (given.is_free(cx, *extent), (actual, expected[i]));
                    check::stride::require_in_order(cx, &path, strides, free, order);
                }
                (Axis::One(_), None) => unreachable!("a dim has a stride"),
                (Axis::Star(dims), _) => {
                    self.require_compact_star(cx, given, dims, expected[i], order);
                }
            }
        }
    }

    /// Requires the strides of a star's dims to be those of a compact tensor.
    fn require_compact_star(
        &self,
        cx: &mut Planner<'_>,
        given: &Given<'_>,
        dims: &StarDims,
        fastest: Value,
        order: &Order,
    ) {
        let firsts = [("next", fastest)];
        cx.for_each_dim(dims.ndim, fastest_first(order), &firsts, |cx, turn| {
            let extent = cx.row_element(dims.extents, turn.number);
            let actual = match order {
                // Only where there are strides.
                Order::Row => given.star_stride_there(cx, turn.number),
                Order::Col | Order::Ranks(_) => {
                    let row_major = self.row_major_stride(cx, given, dims, turn.number);
                    given.star_stride(cx, turn.number, row_major)
                }
            };
            let path = self.star_path(cx, given, turn.number);
            let (expected, free) = (turn.carried[0], given.is_free(cx, extent));
            check::stride::require_in_order(cx, &path, (actual, expected), free, order);
            vec![cx.b.mul(expected, extent)]
        });
    }

    /// The stride that a star's dim has where the tensor has none: the product of all extents
    /// behind it, modulo 2^64.
    fn row_major_stride(
        &self,
        cx: &mut Planner<'_>,
        given: &Given<'_>,
        dims: &StarDims,
        number: Value,
    ) -> Value {
        let mut behind = cx.b.int(1);
        let place = given.star_place();
        for axis in &given.axes[place + 1..] {
            behind = cx.b.mul(behind, axis.numel());
        }
        let one = cx.b.int(1);
        let first = cx.b.add_ints(number, one);
        let n_behind = cx.b.arith(Arith::Sub, dims.ndim, first);
        let absent = cx.b.not(given.present);
        cx.b.open();
        let left =
            cx.for_each_dim(n_behind, Direction::Forward, &[("behind", behind)], |cx, turn| {
                let number = cx.b.add_ints(first, turn.number);
                let extent = cx.row_element(dims.extents, number);
                vec![cx.b.mul(turn.carried[0], extent)]
            });
        let otherwise = cx.b.int(0);
        cx.b.close(absent, &[Guarded { inner: left[0], otherwise }])[0]
    }

    /// Requires the dims of a star to lie in row-major order among themselves. Returns the stride
    /// of the last one above 1, and whether there is none.
    fn star_stride(
        &self,
        cx: &mut Planner<'_>,
        given: &Given<'_>,
        dims: &StarDims,
        fastest: Value,
    ) -> (Value, Value) {
        let free = cx.b.bool(true);
        let firsts = [("free", free), ("stride", fastest), ("next", fastest), ("row", fastest)];
        let left = cx.for_each_dim(dims.ndim, Direction::Backward, &firsts, |cx, turn| {
            let [all_free, stride, next, row] = turn.carried[..] else {
                unreachable!("four are handed on")
            };
            let extent = cx.row_element(dims.extents, turn.number);
            let actual = given.star_stride(cx, turn.number, row);
            let free = given.is_free(cx, extent);
            let path = self.star_path(cx, given, turn.number);
            let excused = cx.b.or(free, all_free);
            check::stride::require_in_order(cx, &path, (actual, next), excused, &Order::Row);
            let (behind, scaled) = (cx.b.mul(row, extent), cx.b.mul(actual, extent));
            let fastest = cx.b.select(all_free, actual, stride);
            vec![
                cx.b.and(free, all_free),
                cx.b.select(free, stride, fastest),
                cx.b.select(free, next, scaled),
                behind,
            ]
        });
        (left[1], left[0])
    }

    /// Refuses strides of 0 on dims above 1 of a tensor that is written. Where it has no strides,
    /// none of them is 0.
    fn require_writable(&self, cx: &mut Planner<'_>, given: &Given<'_>, actual: &[Option<Value>]) {
        if !self.mutable {
            return;
        }
        cx.when(given.present, |cx| {
            for (i, axis) in given.axes.iter().enumerate() {
                match (axis, actual[i]) {
                    (Axis::One(extent), Some(stride)) => {
                        let free = given.is_free(cx, *extent);
                        let path = self.dim_path(given.path, Field::Stride, i);
                        check::mut_broadcast::require(cx, &path, stride, free);
                    }
                    (Axis::One(_), None) => unreachable!("a dim has a stride"),
                    (Axis::Star(dims), _) => {
                        cx.for_each_dim(dims.ndim, Direction::Forward, &[], |cx, turn| {
                            let extent = cx.row_element(dims.extents, turn.number);
                            let stride = given.star_stride_there(cx, turn.number);
                            let free = given.is_free(cx, extent);
                            let path = self.star_path(cx, given, turn.number);
                            check::mut_broadcast::require(cx, &path, stride, free);
                            vec![]
                        });
                    }
                }
            }
        });
    }

    /// The path of the stride of a star's dim.
    fn star_path(&self, cx: &mut Planner<'_>, given: &Given<'_>, number: Value) -> Path {
        let before = cx.b.int(given.star_place() as i64);
        let number = cx.b.add_ints(number, before);
        given.path.counted_dim(Field::Stride, number)
    }

    /// Calls `f` with the extent and the stride of every dim of a star, and what it handed on.
    pub(super) fn for_each_star_stride(
        &self,
        cx: &mut Planner<'_>,
        given: &Given<'_>,
        dims: &StarDims,
        fastest: Value,
        firsts: &[(&str, Value)],
        f: impl FnOnce(&mut Planner<'_>, Value, Value, &[Value]) -> Vec<Value>,
    ) -> Vec<Value> {
        let direction = match &self.strides {
            Strides::Compact(order) => fastest_first(order),
            Strides::Any | Strides::Dims(_) => Direction::Backward,
        };
        let is_compact = matches!(self.strides, Strides::Compact(_));
        let all: Vec<_> = [("compact", fastest)].iter().chain(firsts).copied().collect();
        let mut left = cx.for_each_dim(dims.ndim, direction, &all, |cx, turn| {
            let compact = turn.carried[0];
            let extent = cx.row_element(dims.extents, turn.number);
            let stride = if is_compact {
                compact
            } else {
                let actual = given.star_stride(cx, turn.number, compact);
                let free = given.is_free(cx, extent);
                cx.b.select(free, compact, actual)
            };
            let mut nexts = vec![cx.b.mul(compact, extent)];
            nexts.extend(f(cx, extent, stride, &turn.carried[1..]));
            nexts
        });
        left.split_off(1)
    }
}

/// From the fastest dim of a star to the slowest, among dims of that order.
fn fastest_first(order: &Order) -> Direction {
    match order {
        Order::Col => Direction::Forward,
        Order::Row | Order::Ranks(_) => Direction::Backward,
    }
}

impl Given<'_> {
    /// Whether a dim meets every stride requirement: its extent is 1, or the tensor is empty.
    fn is_free(&self, cx: &mut Planner<'_>, extent: Value) -> Value {
        let single = cx.b.eq_int(extent, 1);
        cx.b.or(single, self.empty)
    }

    /// Where the star stands.
    fn star_place(&self) -> usize {
        let place = self.axes.iter().position(|axis| matches!(axis, Axis::Star(_)));
        place.expect("the tensor has a star")
    }

    /// The stride of a star's dim: as given, or row-major.
    fn star_stride(&self, cx: &mut Planner<'_>, number: Value, row_major: Value) -> Value {
        cx.b.open();
        let inner = self.star_stride_there(cx, number);
        cx.b.close(self.present, &[Guarded { inner, otherwise: row_major }])[0]
    }

    /// The stride of a star's dim, where the tensor has strides.
    fn star_stride_there(&self, cx: &mut Planner<'_>, number: Value) -> Value {
        let strides = self.strides.star(cx);
        cx.row_element(strides, number)
    }

    /// The strides that rules and kernels see: the row-major one where the dim is free.
    fn known_strides(
        &self,
        cx: &mut Planner<'_>,
        actual: &[Option<Value>],
        row_major: &[Value],
    ) -> Vec<Value> {
        let mut known = Vec::new();
        for (i, axis) in self.axes.iter().enumerate() {
            known.push(match (axis, actual[i]) {
                (Axis::One(extent), Some(actual)) => {
                    let free = self.is_free(cx, *extent);
                    cx.b.select(free, row_major[i], actual)
                }
                (Axis::One(_), None) | (Axis::Star(_), _) => row_major[i],
            });
        }
        known
    }
}

/// The strides of a compact tensor; of a star, that of its fastest dim.
fn compact_strides(cx: &mut Planner<'_>, axes: &[Axis], order: &Order) -> Vec<Value> {
    let mut strides = vec![cx.b.int(1); axes.len()];
    let mut next = cx.b.int(1);
    for dim in order.fastest_first(axes.len()).expect("a checked order is a permutation") {
        strides[dim] = next;
        next = cx.b.arith(Arith::Mul, next, axes[dim].numel());
    }
    strides
}
