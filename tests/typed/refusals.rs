// SPDX-License-Identifier: Apache-2.0
//! Refusals of calls of `table`, word by word: the package says it, and the error has it
//! whole.

use crate::packages::table;
use crate::table::describe::Range;
use expect_test::{Expect, expect};
use kernpack::{DLTensor, Element, Error, Result, View};
use ndarray::{Array1, Array2, array};
use std::fmt::Debug;

#[track_caller]
fn expect_refusal<T: Debug>(outcome: Result<T>, expected: &Expect) {
    expected.assert_eq(&outcome.expect_err("it is refused").to_string());
}

fn ones(rows: usize, columns: usize) -> Array2<f32> {
    Array2::ones((rows, columns))
}

#[test]
fn what_is_accepted_is_done() {
    let (x, mut y) = (ones(2, 4), Array2::zeros((2, 4)));
    table().scale(&x, &mut y).call().unwrap();
    assert_eq!(y, &x * 2.0);
    let mut out = Array1::zeros(4);
    table().describe([2, 3], Range { low: 1, high: 5 }, &mut out).step(7).call().unwrap();
    assert_eq!(out.to_vec(), [6, 1, 5, 7]);
    let sums = table().sums(&x).call().unwrap();
    assert_eq!(sums.rows.as_slice().unwrap(), [4.0; 2]);
    assert_eq!(sums.columns.as_slice().unwrap(), [2.0; 4]);
}

#[test]
fn extents_are_checked() {
    expect_refusal(
        table().scale(&ones(2, 4), &mut ones(2, 8)).call(),
        &expect![[
            r#"ValueError: Mismatched y.shape[1] on argument #1 when calling: `scale(x: Tensor([m, n], T), y: Tensor([m, n], T), alpha: float32)`, expected to match x.shape[1], got 8 (x.shape[1] is 4)"#
        ]],
    );
    expect_refusal(
        table().scale(&ones(2, 6), &mut ones(2, 6)).call(),
        &expect![
            "ValueError: Invalid x.shape[1] on argument #0 when calling: `scale(x: Tensor([m, n], T), y: Tensor([m, n], T), alpha: float32)`, expected to be divisible by 4, got 6"
        ],
    );
    expect_refusal(
        table().add(&ones(2, 6)).call(),
        &expect![
            "ValueError: Mismatched Tensor on argument #0 when calling: `add(a: Tensor([n], float32), b: Optional[Tensor([n], float32)], bias: float32) -> y: Tensor([n], float32)`, expected ndim=1, got 2"
        ],
    );
    let (a, b) = (array![1.0f32], array![1.0f32, 2.0]);
    expect_refusal(
        table().add(&a).b(&b).call(),
        &expect![
            "ValueError: Mismatched b.shape[0] on argument #1 when calling: `add(a: Tensor([n], float32), b: Optional[Tensor([n], float32)], bias: float32) -> y: Tensor([n], float32)`, expected to match a.shape[0], got 2 (a.shape[0] is 1)"
        ],
    );
}

#[test]
fn values_are_checked() {
    let mut out = Array1::zeros(4);
    let range = Range { low: 1, high: 5 };
    expect_refusal(
        table().describe([3, 2], range, &mut out).call(),
        &expect![
            "ValueError: Invalid shape[1] on argument #0 when calling: `describe(shape: Shape([h, w]), range: Tuple(low: int32, high: int32), out: Tensor([4], int64), step: Optional[int64])`, expected h <= w, got 3 and 2 (h is shape[0])"
        ],
    );
    let mut taken = Array1::zeros(1);
    let nothing = Array1::<f64>::zeros(0);
    expect_refusal(
        table().take(&nothing, 6, true, &mut taken).call(),
        &expect![
            "RuntimeError: Function `take` failed when calling: `take(x: Tensor([n], float64), index: uint8, wrap: bool, out: Tensor([1], float64))`, expected status 0, got 1"
        ],
    );
}

#[test]
fn data_is_checked() {
    let extents = [2i64, 4];
    let (shape, dtype) = (extents.as_ptr() as u64, f32::DTYPE.packed());
    let x = DLTensor { device_type: 1, ndim: 2, dtype, shape, ..DLTensor::default() };
    #[expect(unsafe_code, reason = "what is NULL has no other view")]
    // SAFETY: a function does not read what is NULL: it refuses it.
    let x = unsafe { View::<f32>::from_raw(x) }.unwrap();
    expect_refusal(
        table().scale(x, &mut ones(2, 4)).call(),
        &expect![
            "ValueError: Invalid Tensor data on argument #0 when calling: `scale(x: Tensor([m, n], T), y: Tensor([m, n], T), alpha: float32)`, expected a non-NULL data pointer, got NULL"
        ],
    );
}

#[test]
fn errors_are_told_apart() {
    let refused = table().scale(&ones(2, 6), &mut ones(2, 6)).call().unwrap_err();
    assert!(matches!(refused, Error::Value(_)) && refused.kind() == "ValueError");
    let (x, mut out) = (Array1::<f64>::zeros(4), Array1::zeros(1));
    let failed = table().take(&x, 6, false, &mut out).call().unwrap_err();
    assert!(matches!(failed, Error::Runtime(_)));
    let error: Box<dyn std::error::Error + Send + Sync> = Box::new(failed.clone());
    assert_eq!(error.to_string(), format!("RuntimeError: {}", failed.message()));
}
