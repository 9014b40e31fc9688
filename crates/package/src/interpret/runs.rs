// SPDX-License-Identifier: Apache-2.0
//! The bytes that the elements of a tensor are, and no others: what lies between them belongs to
//! whoever it belongs to.

use kernpack_ffi_abi::DType;
use std::ops::Range;

/// Calls `each` with bytes of the tensor, counted from its first element, until all had their turn.
/// Elements that lie side by side come together, and none comes twice.
pub(super) fn each_run(
    dtype: DType,
    shape: &[i64],
    strides: &[i64],
    each: &mut dyn FnMut(Range<i64>),
) {
    if shape.iter().any(|extent| *extent <= 0) {
        return;
    }
    let modes = shape.iter().zip(strides).filter(|(extent, stride)| **extent > 1 && **stride != 0);
    let mut modes: Vec<_> = modes.map(|(extent, stride)| (*extent, *stride)).collect();
    // What goes back begins at its end.
    let back = modes.iter().map(|(extent, stride)| (extent - 1) * stride.min(&0));
    let first: i64 = back.sum();
    modes.iter_mut().for_each(|(_, stride)| *stride = stride.abs());
    modes.sort_by_key(|(_, stride)| *stride);
    let mut n_together = 1;
    let inner = modes.iter().take_while(|(extent, stride)| {
        let is_next = *stride == n_together;
        n_together *= if is_next { *extent } else { 1 };
        is_next
    });
    let n_inner = inner.count();
    let bits = i64::from(dtype.element_bits());
    each_start(&modes[n_inner..], first, &mut |start| {
        let end = (start + n_together) * bits;
        each((start * bits).div_euclid(8)..(end + 7).div_euclid(8));
    });
}

/// Calls `each` with the place of every element of these modes.
fn each_start(modes: &[(i64, i64)], start: i64, each: &mut dyn FnMut(i64)) {
    match modes.split_last() {
        None => each(start),
        Some(((extent, stride), inner)) => {
            (0..*extent).for_each(|i| each_start(inner, start + i * stride, each));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn expect_runs(dtype: DType, shape: &[i64], strides: &[i64], expected: &[(i64, i64)]) {
        let mut runs = Vec::new();
        each_run(dtype, shape, strides, &mut |run| runs.push((run.start, run.end)));
        assert_eq!(runs, expected);
    }

    #[test]
    fn what_lies_side_by_side_is_one_run_in_any_order() {
        expect_runs(DType::FLOAT32, &[2, 3], &[3, 1], &[(0, 24)]);
        expect_runs(DType::FLOAT32, &[2, 3], &[1, 2], &[(0, 24)]);
        expect_runs(DType::FLOAT32, &[2, 3], &[-3, -1], &[(-20, 4)]);
        expect_runs(DType::FLOAT64, &[], &[], &[(0, 8)]);
        expect_runs(DType::FLOAT32, &[1, 4], &[99, 1], &[(0, 16)]);
    }

    #[test]
    fn what_lies_between_elements_is_in_no_run() {
        expect_runs(DType::FLOAT32, &[2, 2], &[3, 1], &[(0, 8), (12, 20)]);
        expect_runs(DType::INT16, &[3], &[2], &[(0, 2), (4, 6), (8, 10)]);
        expect_runs(DType::INT16, &[3], &[-2], &[(-8, -6), (-4, -2), (0, 2)]);
        expect_runs(DType::UINT8, &[2, 2, 2], &[10, 4, 1], &[(0, 2), (4, 6), (10, 12), (14, 16)]);
    }

    #[test]
    fn an_element_that_stands_for_many_comes_once() {
        expect_runs(DType::FLOAT32, &[5, 2], &[0, 1], &[(0, 8)]);
    }

    #[test]
    fn a_tensor_without_elements_has_no_runs() {
        expect_runs(DType::FLOAT32, &[2, 0], &[1, 1], &[]);
    }

    #[test]
    fn elements_smaller_than_bytes_take_the_bytes_that_they_are_in() {
        expect_runs(DType::FLOAT4_E2M1FN, &[3], &[1], &[(0, 2)]);
        expect_runs(DType::FLOAT4_E2M1FN, &[2, 2], &[3, 1], &[(0, 1), (1, 3)]);
    }
}
