// SPDX-License-Identifier: Apache-2.0
//! The checks of a tensor's strides, and the stride that each dim has for rules and kernels.

use super::{Order, Strides, Tensor};
use crate::check;
use crate::expr::Field;
use crate::path::Path;
use crate::plan::{Arith, Compare, Guarded, Value};
use crate::planner::Planner;
use kernpack_ffi_abi::layout::dl_tensor;

impl Tensor {
    /// Checks the strides; returns the stride of every dim, the compact one where the dim is free.
    pub(super) fn plan_strides(
        &self,
        path: &Path,
        view: Value,
        extents: &[Value],
        empty: Value,
        cx: &mut Planner<'_>,
    ) -> Vec<Value> {
        let strides = cx.b.load(view, dl_tensor::STRIDES);
        let n_dims = extents.len();
        let row_major = compact_strides(cx, extents, &Order::Row);
        if n_dims == 0 {
            return row_major;
        }
        if self.strides == Strides::Compact(Order::Row) {
            let null = cx.b.int(0);
            let present = cx.b.compare(Compare::Ne, strides, null);
            cx.when(present, |cx| {
                let actual: Vec<_> = (0..n_dims).map(|i| cx.b.element(strides, i)).collect();
                check::stride::require_compact(
                    cx,
                    path,
                    &actual,
                    &row_major,
                    extents,
                    empty,
                    &Order::Row,
                );
            });
            return row_major;
        }
        let actual = strides_or_row_major(cx, strides, &row_major);
        for (i, stride) in actual.iter().enumerate() {
            cx.b.let_named(&path.part(Field::Stride(i)).text, *stride);
        }
        match &self.strides {
            Strides::Compact(order) => {
                let expected = compact_strides(cx, extents, order);
                check::stride::require_compact(cx, path, &actual, &expected, extents, empty, order);
                expected
            }
            Strides::Any => {
                let free = free_dims(cx, extents, empty);
                self.require_writable(cx, path, &actual, &free);
                cx.b.select_each(&free, &row_major, &actual)
            }
            Strides::Dims(wanted) => {
                let free = free_dims(cx, extents, empty);
                for (i, dim) in wanted.iter().enumerate() {
                    let path = path.part(Field::Stride(i));
                    let at = check::stride::StrideUse {
                        path: &path,
                        actual: actual[i],
                        free: free[i],
                        compact: row_major[i],
                    };
                    check::stride::require(cx, &at, dim, self.mutable);
                }
                cx.b.select_each(&free, &row_major, &actual)
            }
        }
    }

    fn require_writable(
        &self,
        cx: &mut Planner<'_>,
        path: &Path,
        actual: &[Value],
        free: &[Value],
    ) {
        for (i, stride) in actual.iter().enumerate().filter(|_| self.mutable) {
            check::mut_broadcast::require(cx, &path.part(Field::Stride(i)), *stride, free[i]);
        }
    }
}
/// The strides of a compact tensor.
fn compact_strides(cx: &mut Planner<'_>, extents: &[Value], order: &Order) -> Vec<Value> {
    let mut strides = vec![cx.b.int(1); extents.len()];
    let mut next = cx.b.int(1);
    for dim in order.fastest_first(extents.len()).expect("a checked order is a permutation") {
        strides[dim] = next;
        next = cx.b.arith(Arith::Mul, next, extents[dim]);
    }
    strides
}

/// Whether each dim meets every stride requirement: its extent is 1, or the tensor is empty.
fn free_dims(cx: &mut Planner<'_>, extents: &[Value], empty: Value) -> Vec<Value> {
    let free = |extent: &Value| {
        let single = cx.b.eq_int(*extent, 1);
        cx.b.or(single, empty)
    };
    extents.iter().map(free).collect()
}

/// The strides as given; row-major ones where the pointer to them is NULL.
fn strides_or_row_major(cx: &mut Planner<'_>, strides: Value, row_major: &[Value]) -> Vec<Value> {
    let null = cx.b.int(0);
    let present = cx.b.compare(Compare::Ne, strides, null);
    cx.b.open();
    let values: Vec<_> = row_major
        .iter()
        .enumerate()
        .map(|(i, compact)| Guarded { inner: cx.b.element(strides, i), otherwise: *compact })
        .collect();
    cx.b.close(present, &values)
}
