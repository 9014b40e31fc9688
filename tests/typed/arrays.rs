// SPDX-License-Identifier: Apache-2.0
//! Arrays of `ndarray` in every layout: what `strides=any` takes, and what compact tensors refuse.

use crate::packages::{everything, table};
use expect_test::{Expect, expect};
use kernpack::{Result, Tensor};
use ndarray::{
    ArcArray, Array1, Array2, ArrayView2, ArrayViewMut2, Axis, CowArray, Ix1, ShapeBuilder, array,
    s,
};

#[track_caller]
fn expect_refusal(outcome: Result<()>, expected: &Expect) {
    expected.assert_eq(&outcome.unwrap_err().to_string());
}

fn numbers(rows: usize, columns: usize) -> Array2<f32> {
    Array2::from_shape_fn((rows, columns), |(i, j)| (i * columns + j) as f32)
}

/// The array that arrives of a view under `strides=any`.
fn arrived(x: ArrayView2<'_, f32>) -> Array2<f32> {
    let mut y = Array2::zeros(x.raw_dim());
    everything().strided(x, &mut y).call().unwrap();
    y
}

#[test]
fn any_strides_are_lent_as_they_are() {
    let x = numbers(3, 4);
    for view in [
        x.view(),
        x.t(),
        x.slice(s![..;-1, ..]),
        x.slice(s![..;-1, ..;-2]),
        x.slice(s![1.., ..;3]),
        x.slice(s![.., 1..2]),
        x.slice(s![3.., ..]),
        x.slice(s![..0, ..;-1]),
        x.row(1).insert_axis(Axis(0)).broadcast((2, 4)).unwrap(),
    ] {
        assert_eq!(arrived(view), view);
    }
    let mut turned = x.clone();
    turned.invert_axis(Axis(1));
    assert_eq!(arrived(turned.view()), turned);
    let fortran = Array2::from_shape_vec((2, 3).f(), vec![0.0, 1.0, 2.0, 3.0, 4.0, 5.0]).unwrap();
    assert_eq!(arrived(fortran.view()), fortran);
}

#[test]
fn any_strides_are_written_where_they_lie() {
    let (x, mut y) = (numbers(2, 3), Array2::<f32>::ones((4, 3)));
    let every_second: ArrayViewMut2<'_, f32> = y.slice_mut(s![..;-2, ..;-1]);
    everything().strided(&x, every_second).call().unwrap();
    let line = array![1.0, 1.0, 1.0];
    assert_eq!(y.row(0), line);
    assert_eq!(y.row(1), array![5.0, 4.0, 3.0]);
    assert_eq!(y.row(2), line);
    assert_eq!(y.row(3), array![2.0, 1.0, 0.0]);
}

#[test]
fn what_is_not_compact_is_refused() {
    let (x, mut y) = (numbers(4, 4), Array2::zeros((4, 4)));
    let mut call = |x: ArrayView2<'_, f32>| {
        let mut y = y.slice_mut(s![..x.nrows(), ..]);
        table().scale(x, &mut y).call()
    };
    expect_refusal(
        call(x.slice(s![..;-1, ..])),
        &expect![
            "ValueError: Mismatched x.strides[0] on argument #0 when calling: `scale(x: Tensor([m, n], T), y: Tensor([m, n], T), alpha: float32)`, expected to be 4 for row-major order, got -4"
        ],
    );
    expect_refusal(
        call(x.slice(s![..;2, ..])),
        &expect![
            "ValueError: Mismatched x.strides[0] on argument #0 when calling: `scale(x: Tensor([m, n], T), y: Tensor([m, n], T), alpha: float32)`, expected to be 4 for row-major order, got 8"
        ],
    );
    expect_refusal(
        call(x.t()),
        &expect![
            "ValueError: Mismatched x.strides[0] on argument #0 when calling: `scale(x: Tensor([m, n], T), y: Tensor([m, n], T), alpha: float32)`, expected to be 4 for row-major order, got 1"
        ],
    );
    let every_row = x.row(1).insert_axis(Axis(0));
    expect_refusal(
        call(every_row.broadcast((4, 4)).unwrap()),
        &expect![
            "ValueError: Mismatched x.strides[0] on argument #0 when calling: `scale(x: Tensor([m, n], T), y: Tensor([m, n], T), alpha: float32)`, expected to be 4 for row-major order, got 0"
        ],
    );
    // One row is compact, whatever stride it has.
    call(x.slice(s![..;4, ..])).unwrap();
    call(x.slice(s![..0;-1, ..])).unwrap();
    let mut fortran = Array2::<f32>::zeros((2, 4).f());
    expect_refusal(
        table().scale(&numbers(2, 4), &mut fortran).call(),
        &expect![
            "ValueError: Mismatched y.strides[0] on argument #1 when calling: `scale(x: Tensor([m, n], T), y: Tensor([m, n], T), alpha: float32)`, expected to be 4 for row-major order, got 1"
        ],
    );
}

#[test]
fn what_is_shared_is_copied_before_it_is_written() {
    let mut y: ArcArray<f32, Ix1> = Array1::zeros(3).into_shared();
    let other = y.clone();
    everything().scratch(&array![1.0f32, 2.0, 3.0], &mut y).call().unwrap();
    assert_eq!(y, array![3.0, 2.0, 1.0]);
    assert_eq!(other, array![0.0, 0.0, 0.0]);
    // Nobody else has it now.
    let before = y.as_ptr();
    everything().scratch(&other, &mut y).call().unwrap();
    assert_eq!((y.as_ptr(), &y), (before, &other));
    let borrowed = array![0.0f32, 0.0, 0.0];
    let mut y = CowArray::from(borrowed.view());
    everything().scratch(&array![1.0f32, 2.0, 3.0], &mut y).call().unwrap();
    assert!(y.is_owned() && y == array![3.0, 2.0, 1.0] && borrowed == array![0.0, 0.0, 0.0]);
}

#[test]
fn arrays_are_lent_whole_or_by_reference() {
    let x = array![1.0f32, 2.0];
    let sum = |y: Result<Tensor<f32>>| y.unwrap().as_slice().unwrap().iter().sum::<f32>();
    assert_eq!(sum(table().add(&x).call()), 3.0);
    assert_eq!(sum(table().add(&&x).b(x.view()).call()), 6.0);
    assert_eq!(sum(table().add(x).bias(1.0).call()), 5.0);
}
