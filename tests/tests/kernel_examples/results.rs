// SPDX-License-Identifier: Apache-2.0
//! What the examples' functions compute. Sizes lie on both sides of every tile and of every `if`;
//! the bounds are those of `docs/kernel-examples.md`.

use crate::call::{Arg, Array, Came, File, Function, call, call_on, rounded};
use crate::folder;
use kernpack_kernel_ir::Scalar;
use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;

pub(crate) const F32: Scalar = Scalar::F32;
/// Half of the distance from 1 to the next float32.
pub(crate) const U: f64 = 1.0 / (1 << 24) as f64;

/// A function of a file, which a test makes once.
pub(crate) fn function(file: &'static str, name: &'static str) -> Rc<Function> {
    thread_local! {
        static MADE: RefCell<HashMap<(&'static str, &'static str), Rc<Function>>> = RefCell::default();
    }
    let make = || {
        let file = File::read(&folder(), file).unwrap_or_else(|found| panic!("{found:?}"));
        Rc::new(file.function(name).unwrap_or_else(|found| panic!("{found:?}")))
    };
    MADE.with_borrow_mut(|made| Rc::clone(made.entry((file, name)).or_insert_with(make)))
}

/// Numbers between -2 and 2 that differ, other ones for each seed.
fn numbers(element: Scalar, count: i64, seed: u64) -> Vec<f64> {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    let mut next = || {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        rounded(element, (state >> 33) as f64 / (1_u64 << 29) as f64 - 2.0)
    };
    (0..count).map(|_| next()).collect()
}

pub(crate) fn input(element: Scalar, shape: &[i64], seed: u64) -> (Arg, Vec<f64>) {
    let values = numbers(element, shape.iter().product(), seed);
    (Arg::Tensor(Array::of(element, shape, values.clone())), values)
}

pub(crate) fn fresh(element: Scalar, shape: &[i64]) -> Arg {
    Arg::Tensor(Array::fresh(element, shape))
}

/// The first argument itself.
pub(crate) fn in_place(shape: &[i64]) -> Arg {
    Arg::Within { of: 0, from: 0, shape: shape.to_vec() }
}

/// Makes a call that is accepted and in which nothing is wrong.
pub(crate) fn sound(function: &Function, args: &[Arg]) -> Came {
    sound_on(90, function, args)
}

/// The same on a device of a compute capability.
fn sound_on(cc: i64, function: &Function, args: &[Arg]) -> Came {
    let came = call_on(cc, function, args).unwrap_or_else(|refused| panic!("{refused}"));
    assert_eq!(came.found, [], "{:?}", came.launched);
    came
}

/// Makes such a call; gives its last tensor.
pub(crate) fn last(function: &Function, args: &[Arg]) -> Vec<f64> {
    last_on(90, function, args)
}

/// The same on a device of a compute capability.
pub(crate) fn last_on(cc: i64, function: &Function, args: &[Arg]) -> Vec<f64> {
    sound_on(cc, function, args).tensors.pop().expect("there is a tensor")
}

/// Holds each result against the exact one and how far it may be off.
pub(crate) fn expect_near(what: &str, found: &[f64], exact: impl IntoIterator<Item = (f64, f64)>) {
    let exact: Vec<_> = exact.into_iter().collect();
    assert_eq!(found.len(), exact.len(), "{what}");
    for (i, (found, (exact, bound))) in found.iter().zip(exact).enumerate() {
        let is_near = (found - exact).abs() <= bound;
        assert!(is_near, "{what}: element {i} is {found:e}, exact {exact:e}, bound {bound:e}");
    }
}

fn f32s(values: &[f64], f: impl Fn(f32) -> f32) -> Vec<f64> {
    values.iter().map(|value| f64::from(f(*value as f32))).collect()
}

#[test]
fn one_is_added() {
    let add_one = function("add_one", "add_one");
    for n in [0, 1, 3, 4, 5, 255, 256, 257, 1020, 1021, 1023, 1024, 1025, 1028, 2052] {
        let (a, values) = input(F32, &[n], n as u64);
        let expected = f32s(&values, |a| a + 1.0);
        assert_eq!(last(&add_one, &[a.clone(), fresh(F32, &[n])]), expected, "{n}");
        assert_eq!(last(&add_one, &[a, in_place(&[n])]), expected, "{n} in place");
    }
}

#[test]
fn functions_are_applied_to_any_rank() {
    let (relu, poly) = (function("elementwise", "relu"), function("elementwise", "poly"));
    let shapes: [&[i64]; 9] =
        [&[], &[0], &[1], &[2, 3, 5], &[3, 0, 4], &[1023], &[4, 256], &[4, 257], &[31, 37]];
    for shape in shapes {
        let (x, values) = input(F32, shape, shape.len() as u64);
        let expected = f32s(&values, |x| if x > 0.0 { x } else { 0.0 });
        assert_eq!(last(&relu, &[x.clone(), fresh(F32, shape)]), expected, "{shape:?}");
        let expected = f32s(&values, |x| x * x + 1.0);
        assert_eq!(last(&poly, &[x.clone(), fresh(F32, shape)]), expected, "{shape:?}");
        assert_eq!(last(&poly, &[x, in_place(shape)]), expected, "{shape:?} in place");
    }
}

/// Each row's sum, and how far one of `threads` that sum it together may be off.
fn sums(x: &[f64], (m, n): (i64, i64), threads: i64) -> Vec<(f64, f64)> {
    let row = |i: i64| {
        let row = &x[(i * n) as usize..((i + 1) * n) as usize];
        let size: f64 = row.iter().map(|x| x.abs()).sum();
        (row.iter().sum(), ((n / threads) as f64 + 16.0) * U * size)
    };
    (0..m).map(row).collect()
}

fn expect_sums(name: &'static str, (m, n): (i64, i64), threads: i64, kernel: &str) {
    let function = function("reduce_sum", name);
    let (x, values) = input(F32, &[m, n], n as u64);
    let came = sound(&function, &[x, fresh(F32, &[m])]);
    let what = format!("{name} of {m}x{n}");
    assert_eq!(came.launched, if m == 0 { vec![] } else { vec![kernel.to_string()] }, "{what}");
    expect_near(&what, &came.tensors[1], sums(&values, (m, n), threads));
}

#[test]
fn rows_are_summed() {
    for n in [0, 1, 31, 511, 512, 513, 1021] {
        expect_sums("reduce_sum", (3, n), 512, "sum_rows");
        expect_sums("reduce_sum_tiled", (3, n), 128, "sum_row_tiles");
    }
    expect_sums("reduce_sum", (0, 5), 512, "sum_rows");
    expect_sums("reduce_sum", (131, 2), 512, "sum_rows");
}

#[test]
fn rows_are_summed_with_vectors() {
    for n in [0, 4, 124, 128, 132, 1020, 1024] {
        expect_sums("reduce_sum_vectors", (3, n), 32, "sum_warp_vectors");
    }
    for n in [1028, 4092, 4096, 4100, 8196] {
        expect_sums("reduce_sum_vectors", (2, n), 256, "sum_row_vectors");
    }
    for m in [0, 1, 7, 8, 9, 17] {
        expect_sums("reduce_sum_vectors", (m, 20), 32, "sum_warp_vectors");
    }
    let refused = call(
        &function("reduce_sum", "reduce_sum_vectors"),
        &[fresh(F32, &[2, 6]), fresh(F32, &[2])],
    );
    let refused = refused.unwrap_err();
    assert!(refused.contains("expected to be divisible by 4, got 6"), "{refused}");
}

/// Half of the distance from 1 to the next number of a type, and half of that of the smallest ones.
pub(crate) fn rounding(element: Scalar) -> (f64, f64) {
    match element {
        Scalar::F16 => (2f64.powi(-11), 2f64.powi(-25)),
        Scalar::BF16 => (2f64.powi(-8), 2f64.powi(-134)),
        _ => (U, 2f64.powi(-147)),
    }
}

/// Exponentials below this may be 0.
const FLUSHED: f64 = f32::MIN_POSITIVE as f64;

/// The largest of a row, its sum of exponentials below that, and how far the sum may be off where
/// so many threads add it.
fn exponentials(row: &[f64], threads: i64) -> (f64, f64, f64) {
    let most = row.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let finite = row.iter().copied().filter(|x| x.is_finite());
    let range = most - finite.fold(f64::INFINITY, f64::min);
    let total: f64 = row.iter().map(|x| (x - most).exp()).sum();
    let n = row.len() as i64;
    (most, total, (4.0 * (n / threads) as f64 + 6.0 * range.min(104.0) + 40.0) * U)
}

/// The softmax of each row, and how far it may be off.
fn softmaxes(element: Scalar, x: &[f64], n: i64, threads: i64) -> Vec<(f64, f64)> {
    let (unit, least) = rounding(element);
    let mut all = Vec::new();
    for row in x.chunks(n as usize) {
        let (most, total, relative) = exponentials(row, threads);
        all.extend(row.iter().map(|x| {
            let exact = (x - most).exp() / total;
            (exact, exact * (relative + unit) + least + FLUSHED)
        }));
    }
    all
}

/// Numbers between -2 and 2, times `scale`.
fn scaled(element: Scalar, count: i64, scale: f64) -> Vec<f64> {
    let numbers = numbers(element, count, count as u64);
    numbers.iter().map(|x| rounded(element, x * scale)).collect()
}

fn expect_softmax(element: Scalar, (m, n): (i64, i64), scale: f64, (kernel, threads): (&str, i64)) {
    let softmax = function("softmax", "softmax");
    let values = scaled(element, m * n, scale);
    let x = Arg::Tensor(Array::of(element, &[m, n], values.clone()));
    let exact = softmaxes(element, &values, n, threads);
    let what = format!("softmax of {element} {m}x{n}");
    let came = sound(&softmax, &[x.clone(), fresh(element, &[m, n])]);
    assert_eq!(came.launched, launched(m, &[kernel], element), "{what}");
    expect_near(&what, &came.tensors[1], exact.clone());
    expect_near(&what, &last(&softmax, &[x, in_place(&[m, n])]), exact);
}

/// The kernels that are launched for `m` rows: those of float32 have no ending.
fn launched(m: i64, kernels: &[&str], element: Scalar) -> Vec<String> {
    let ending = if element == F32 { String::new() } else { format!("_{element}") };
    let kernels = kernels.iter().filter(|_| m > 0);
    kernels.map(|kernel| format!("{kernel}{ending}")).collect()
}

#[test]
fn a_softmax_reads_its_row_once() {
    for n in [4, 252, 256, 260, 1020, 1024] {
        expect_softmax(F32, (3, n), 1.0, ("softmax_once", 64));
    }
    for (n, kernel) in [
        (1028, ("softmax_once_2", 256)),
        (2048, ("softmax_once_2", 256)),
        (2052, ("softmax_once_3", 256)),
        (4096, ("softmax_once_3", 256)),
        (8192, ("softmax_once_4", 512)),
        (8196, ("softmax_once_5", 1024)),
        (16384, ("softmax_once_5", 1024)),
        (16388, ("softmax_once_6", 1024)),
        (32772, ("softmax_once_7", 2048)),
    ] {
        expect_softmax(F32, (1, n), 40.0, kernel);
    }
    for element in [Scalar::F16, Scalar::BF16] {
        expect_softmax(element, (2, 2048), 4.0, ("softmax_once", 64));
        expect_softmax(element, (2, 2056), 4.0, ("softmax_once_2", 256));
        expect_softmax(element, (1, 8200), 4.0, ("softmax_once_4", 512));
    }
    expect_softmax(F32, (0, 8), 1.0, ("softmax_once", 64));
}

#[test]
fn a_softmax_of_any_length_reads_twice() {
    for n in [1, 2, 3, 511, 513, 1021, 4099] {
        expect_softmax(F32, (2, n), 1.0, ("softmax_twice_5", 512));
        expect_softmax(F32, (1, n), 45.0, ("softmax_twice_5", 512));
    }
    expect_softmax(Scalar::F16, (2, 2047), 4.0, ("softmax_twice_5", 512));
    expect_softmax(F32, (1, 131_076), 1.0, ("softmax_twice_4", 512));
}

/// The gradient of a softmax, and how far it may be off.
fn softmax_gradients(
    element: Scalar,
    [y, dy]: [&[f64]; 2],
    n: i64,
    threads: i64,
) -> Vec<(f64, f64)> {
    let (unit, least) = rounding(element);
    let mut all = Vec::new();
    for (y, dy) in y.chunks(n as usize).zip(dy.chunks(n as usize)) {
        let products = || y.iter().zip(dy).map(|(y, dy)| y * dy);
        let (dot, size): (f64, f64) = (products().sum(), products().map(f64::abs).sum());
        let off = ((n / threads) as f64 + 20.0) * U * size;
        all.extend(y.iter().zip(dy).map(|(y, dy)| {
            let exact = y * (dy - dot);
            let bound = y.abs() * (off + 2.0 * U * (dy.abs() + dot.abs()));
            (exact, bound + unit * exact.abs() + least)
        }));
    }
    all
}

#[test]
fn a_softmax_has_a_gradient() {
    let backward = function("softmax", "softmax_backward");
    for (element, m, n, kernel, threads) in [
        (F32, 2, 4, "gradient_once", 128),
        (F32, 2, 1024, "gradient_once", 128),
        (F32, 2, 1028, "gradient_once_2", 256),
        (F32, 1, 4096, "gradient_once_3", 512),
        (F32, 1, 8192, "gradient_once_4", 512),
        (F32, 1, 32772, "gradient_once_7", 4096),
        (F32, 2, 8196, "gradient_once_5", 1024),
        (F32, 1, 65540, "gradient_once_8", 4096),
        (F32, 2, 1021, "gradient_twice_6", 512),
        (F32, 0, 8, "gradient_once", 128),
        (Scalar::BF16, 2, 2056, "gradient_once_2", 256),
        (Scalar::F16, 1, 8200, "gradient_once_4", 512),
    ] {
        let shape = [m, n];
        let y: Vec<_> = softmaxes(element, &scaled(element, m * n, 2.0), n, 64);
        let y: Vec<_> = y.iter().map(|(y, _)| rounded(element, *y)).collect();
        let (dy, gradient) = input(element, &shape, 3);
        let exact = softmax_gradients(element, [&y, &gradient], n, threads);
        let y = Arg::Tensor(Array::of(element, &shape, y));
        let what = format!("a gradient of {element} {m}x{n}");
        let came = sound(&backward, &[y.clone(), dy.clone(), fresh(element, &shape)]);
        assert_eq!(came.launched, launched(m, &[kernel], element), "{what}");
        expect_near(&what, &came.tensors[2], exact.clone());
        let out = Arg::Within { of: 1, from: 0, shape: shape.to_vec() };
        expect_near(&what, &last(&backward, &[y, dy, out]), exact);
    }
}

/// What is masked with minus infinity has no part, wherever it stands in a row.
#[test]
fn minus_infinity_is_nothing_to_a_softmax() {
    let softmax = function("softmax", "softmax");
    for n in [1024, 1021] {
        let mut values = numbers(F32, n, 3);
        for i in [0, 1, 2, 3, 64, 600, n as usize - 1] {
            values[i] = f64::NEG_INFINITY;
        }
        let x = Arg::Tensor(Array::of(F32, &[1, n], values.clone()));
        let found = last(&softmax, &[x, fresh(F32, &[1, n])]);
        expect_near(&format!("a masked row of {n}"), &found, softmaxes(F32, &values, n, 64));
    }
}

/// RMSNorm of each row, and how far it may be off.
fn norms(element: Scalar, x: &[f64], w: &[f64], eps: f64) -> Vec<(f64, f64)> {
    let (unit, least) = rounding(element);
    let mut all = Vec::new();
    for row in x.chunks(w.len()) {
        let scale = (mean(row.iter().map(|x| x * x)) + eps).sqrt().recip();
        all.extend(row.iter().zip(w).map(|(x, w)| {
            let exact = x * scale * w;
            (exact, exact.abs() * (unit + MORE) + least)
        }));
    }
    all
}

/// What all that is computed before rounding to halves adds to a bound.
const MORE: f64 = 1.0 / (1 << 18) as f64;

fn mean(values: impl ExactSizeIterator<Item = f64>) -> f64 {
    let n = values.len() as f64;
    values.sum::<f64>() / n
}

/// The sums of two tensors in their type.
fn added(element: Scalar, x: &[f64], y: &[f64]) -> Vec<f64> {
    x.iter().zip(y).map(|(x, y)| rounded(element, x + y)).collect()
}

fn expect_norm(cc: i64, element: Scalar, (m, d): (i64, i64), number: &str) {
    let (rms_norm, fused) =
        (function("rms_norm", "rms_norm"), function("rms_norm", "fused_add_rms_norm"));
    let (shape, eps) = ([m, d], f64::from(1e-6_f32));
    let ((x, values), (w, weights)) = (input(element, &shape, 5), input(element, &[d], 6));
    let exact = norms(element, &values, &weights, eps);
    let what = format!("{element} of {m}x{d}");
    let out = || fresh(element, &shape);
    let came = sound_on(cc, &rms_norm, &[x.clone(), w.clone(), out(), Arg::Float(eps)]);
    assert_eq!(came.launched, launched(m, &[&format!("rms_{number}")], element), "{what}");
    expect_near(&what, &came.tensors[2], exact.clone());
    let came = sound_on(cc, &rms_norm, &[x.clone(), w.clone(), in_place(&shape), Arg::Float(eps)]);
    expect_near(&what, &came.tensors[0], exact);

    let (residual, more) = input(element, &shape, 7);
    let sums = added(element, &values, &more);
    let exact = norms(element, &sums, &weights, eps);
    let inputs = [x, residual, w];
    let call = |results: [Arg; 2]| {
        let args: Vec<_> = inputs.iter().cloned().chain(results).chain([Arg::Float(eps)]).collect();
        sound_on(cc, &fused, &args).tensors
    };
    let came = call([out(), out()]);
    expect_near(&what, &came[3], exact.clone());
    assert_eq!(came[4], sums, "{what}");
    let came = call([in_place(&shape), Arg::Within { of: 1, from: 0, shape: shape.to_vec() }]);
    expect_near(&what, &came[0], exact);
    assert_eq!(came[1], sums, "{what} in place");
}

#[test]
fn rows_are_normalised_in_halves() {
    for element in [Scalar::F16, Scalar::BF16] {
        for d in [8, 248, 256, 264, 8 * 127, 1024] {
            expect_norm(90, element, (3, d), "rows");
        }
        for (d, number) in [(1032, 2), (2048, 2), (4096, 3), (8192, 4), (8200, 5), (16384, 5)] {
            expect_norm(90, element, (1, d), &format!("rows_{number}"));
        }
        expect_norm(90, element, (0, 64), "rows");
    }
}

#[test]
fn long_rows_are_normalised_in_halves() {
    expect_norm(90, Scalar::F16, (1, 16392), "rows_6");
    // Two blocks of a cluster, and what there is without clusters.
    expect_norm(90, Scalar::BF16, (1, 32776), "rows_7");
    expect_norm(80, Scalar::BF16, (1, 32776), "twice");
}

/// The gradients of an RMSNorm, that of the weights last, and how far they may be off.
fn norm_gradients(element: Scalar, [x, w, dy]: [&[f64]; 3], eps: f64) -> [Vec<(f64, f64)>; 2] {
    let (unit, least) = rounding(element);
    let (mut dx, mut dw) = (vec![], vec![(0.0, 0.0); w.len()]);
    for (x, dy) in x.chunks(w.len()).zip(dy.chunks(w.len())) {
        let scale = (mean(x.iter().map(|x| x * x)) + eps).sqrt().recip();
        let product = |i: usize| dy[i] * w[i] * x[i];
        let along = mean((0..w.len()).map(product)) * scale * scale;
        let size = mean((0..w.len()).map(|i| product(i).abs())) * scale * scale;
        for i in 0..w.len() {
            let exact = (dy[i] * w[i] - x[i] * along) * scale;
            let parts = ((dy[i] * w[i]).abs() + x[i].abs() * size) * scale;
            dx.push((exact, unit * exact.abs() + MORE * parts + least));
            let change: f64 = dy[i] * x[i] * scale;
            dw[i] = (dw[i].0 + change, dw[i].1 + change.abs());
        }
    }
    let rounded = |(exact, size): (f64, f64)| (exact, unit * exact.abs() + MORE * size + least);
    [dx, dw.into_iter().map(rounded).collect()]
}

#[test]
fn an_rms_norm_has_gradients() {
    let backward = function("rms_norm", "rms_norm_backward");
    let eps = f64::from(1e-6_f32);
    for (cc, element, m, d, number) in [
        (90, Scalar::F16, 1, 8, ""),
        (90, Scalar::BF16, 3, 1024, ""),
        (90, Scalar::F16, 2, 2048, "_2"),
        (90, Scalar::BF16, 2, 2056, "_3"),
        (90, Scalar::F16, 1, 8192, "_4"),
        (90, Scalar::BF16, 3, 8200, "_5"),
        (90, Scalar::F16, 2, 16392, "_6"),
        (80, Scalar::F16, 2, 16392, "_twice"),
        // Some blocks have more rows than others.
        (90, Scalar::BF16, 1600, 16, ""),
    ] {
        let shape = [m, d];
        let (x, values) = input(element, &shape, 5);
        let ((w, weights), (dy, gradient)) = (input(element, &[d], 6), input(element, &shape, 7));
        let [dx, dw] = norm_gradients(element, [&values, &weights, &gradient], eps);
        let what = format!("gradients of {element} {m}x{d}");
        let out = [fresh(element, &shape), fresh(element, &[d]), Arg::Float(eps)];
        let came = sound_on(cc, &backward, &[&[x, w, dy][..], &out].concat());
        let kernel = format!("rms_gradient{number}_{element}");
        assert_eq!(came.launched[0], kernel, "{what}");
        expect_near(&what, &came.tensors[3], dx);
        expect_near(&what, &came.tensors[4], dw);
    }
    let halves = |shape: &[i64]| input(Scalar::F16, shape, 1).0;
    let out = [fresh(Scalar::F16, &[0, 8]), fresh(Scalar::F16, &[8]), Arg::Float(eps)];
    let args = [&[halves(&[0, 8]), halves(&[8]), halves(&[0, 8])][..], &out].concat();
    assert_eq!(sound(&backward, &args).tensors[4], [0.0; 8], "no rows");
}

/// The mean of each row with its bound, then one over its deviation.
fn moments(x: &[f64], d: usize, eps: f64) -> [Vec<(f64, f64)>; 2] {
    let rows = x.chunks(d).map(|row| {
        let middle = mean(row.iter().copied());
        let size = mean(row.iter().map(|x| x.abs()));
        let scale = (mean(row.iter().map(|x| (x - middle).powi(2))) + eps).sqrt().recip();
        ((middle, MORE * size), (scale, MORE * scale))
    });
    let (means, scales) = rows.unzip();
    [means, scales]
}

/// LayerNorm of each row, and how far it may be off.
fn layer_norms(element: Scalar, [x, w, b]: [&[f64]; 3], eps: f64) -> Vec<(f64, f64)> {
    let (unit, least) = rounding(element);
    let [means, scales] = moments(x, w.len(), eps);
    let mut all = Vec::new();
    for ((row, (middle, _)), (scale, _)) in x.chunks(w.len()).zip(means).zip(scales) {
        let size = mean(row.iter().map(|x| x.abs()));
        for (i, x) in row.iter().enumerate() {
            let exact = (x - middle) * scale * w[i] + b[i];
            let parts = w[i].abs() * scale * ((x - middle).abs() + size) + b[i].abs();
            all.push((exact, unit * exact.abs() + MORE * parts + least));
        }
    }
    all
}

fn expect_layer_norm(cc: i64, element: Scalar, (m, d): (i64, i64), number: &str) {
    let (layer_norm, fused) =
        (function("layer_norm", "layer_norm"), function("layer_norm", "fused_add_layer_norm"));
    let (shape, eps) = ([m, d], f64::from(1e-5_f32));
    let ((x, values), (w, weights)) = (input(element, &shape, 5), input(element, &[d], 6));
    let ((b, biases), (residual, more)) = (input(element, &[d], 8), input(element, &shape, 7));
    let what = format!("{element} of {m}x{d}");
    let rows = || [fresh(F32, &[m]), fresh(F32, &[m]), Arg::Float(eps)];
    let args = [&[x.clone(), w.clone(), b.clone(), fresh(element, &shape)][..], &rows()].concat();
    let came = sound_on(cc, &layer_norm, &args);
    assert_eq!(came.launched, launched(m, &[&format!("layer_{number}")], element), "{what}");
    expect_near(&what, &came.tensors[3], layer_norms(element, [&values, &weights, &biases], eps));
    let [means, scales] = moments(&values, d as usize, eps);
    expect_near(&what, &came.tensors[4], means);
    expect_near(&what, &came.tensors[5], scales);

    let sums = added(element, &values, &more);
    let exact = layer_norms(element, [&sums, &weights, &biases], eps);
    let second = Arg::Within { of: 1, from: 0, shape: shape.to_vec() };
    let args = [&[x, residual, w, b, in_place(&shape), second][..], &rows()].concat();
    let came = sound_on(cc, &fused, &args).tensors;
    expect_near(&what, &came[0], exact);
    assert_eq!(came[1], sums, "{what}, the sums");
}

#[test]
fn rows_are_normalised_as_layers() {
    for d in [8, 264, 1024] {
        expect_layer_norm(90, Scalar::F16, (3, d), "rows");
    }
    for (d, number) in [(1032, 2), (2056, 3), (8192, 4), (8200, 5), (16392, 6), (32776, 7)] {
        expect_layer_norm(90, Scalar::BF16, (1, d), &format!("rows_{number}"));
    }
    expect_layer_norm(80, Scalar::BF16, (1, 32776), "thrice");
    expect_layer_norm(90, Scalar::F16, (0, 64), "rows");
}

/// The gradients of a LayerNorm, those of weights and biases last, and how far they may be off.
fn layer_gradients(
    element: Scalar,
    [x, w, dy]: [&[f64]; 3],
    [means, scales]: [&[f64]; 2],
) -> [Vec<(f64, f64)>; 3] {
    let (unit, least) = rounding(element);
    let (mut dx, mut dw, mut db) = (vec![], vec![(0.0, 0.0); w.len()], vec![(0.0, 0.0); w.len()]);
    let rows = x.chunks(w.len()).zip(dy.chunks(w.len())).enumerate();
    for (row, (x, dy)) in rows {
        let normed = |i: usize| (x[i] - means[row]) * scales[row];
        let gradient = |i: usize| dy[i] * w[i];
        let all = || 0..w.len();
        let (total, dot) =
            (mean(all().map(gradient)), mean(all().map(|i| gradient(i) * normed(i))));
        let total_size = mean(all().map(|i| gradient(i).abs()));
        let dot_size = mean(all().map(|i| (gradient(i) * normed(i)).abs()));
        for i in all() {
            let exact = (gradient(i) - total - normed(i) * dot) * scales[row];
            let parts = gradient(i).abs() + total_size + normed(i).abs() * dot_size;
            dx.push((exact, unit * exact.abs() + MORE * parts * scales[row] + least));
            let change = dy[i] * normed(i);
            dw[i] = (dw[i].0 + change, dw[i].1 + change.abs());
            db[i] = (db[i].0 + dy[i], db[i].1 + dy[i].abs());
        }
    }
    let rounded = |(exact, size): (f64, f64)| (exact, unit * exact.abs() + MORE * size + least);
    [dx, dw.into_iter().map(rounded).collect(), db.into_iter().map(rounded).collect()]
}

#[test]
fn a_layer_norm_has_gradients() {
    let backward = function("layer_norm", "layer_norm_backward");
    for (cc, element, m, d, number) in [
        (90, Scalar::F16, 1, 8, ""),
        (90, Scalar::BF16, 3, 1024, ""),
        (90, Scalar::F16, 2, 2048, "_2"),
        (90, Scalar::BF16, 1, 4096, "_3"),
        (90, Scalar::F16, 2, 8192, "_4"),
        (90, Scalar::BF16, 2, 8200, "_5"),
        (90, Scalar::F16, 3, 16392, "_6"),
        (80, Scalar::BF16, 2, 16392, "_twice"),
        (90, Scalar::F16, 1400, 16, ""),
    ] {
        let shape = [m, d];
        let (x, values) = input(element, &shape, 5);
        let ((w, weights), (dy, gradient)) = (input(element, &[d], 6), input(element, &shape, 7));
        let rows = moments(&values, d as usize, 1e-5);
        let [means, scales] =
            rows.map(|row| row.iter().map(|x| rounded(F32, x.0)).collect::<Vec<_>>());
        let inputs = [&values[..], &weights, &gradient];
        let [dx, dw, db] = layer_gradients(element, inputs, [&means, &scales]);
        let [means, scales] = [means, scales].map(|row| Arg::Tensor(Array::of(F32, &[m], row)));
        let out = [fresh(element, &shape), fresh(element, &[d]), fresh(element, &[d])];
        let came = sound_on(cc, &backward, &[&[x, w, means, scales, dy][..], &out].concat());
        let what = format!("gradients of {element} {m}x{d}");
        assert_eq!(came.launched[0], format!("layer_gradient{number}_{element}"), "{what}");
        for (found, exact) in came.tensors[5..].iter().zip([dx, dw, db]) {
            expect_near(&what, found, exact);
        }
    }
}

const IGNORED: i64 = -100;

/// Labels of `m` rows of `n` logits: the first, the last, others, and one that is ignored.
fn labels(element: Scalar, (m, n): (i64, i64)) -> (Arg, Vec<i64>) {
    let label = |i: i64| match i {
        0 => 0,
        1 => n - 1,
        2 => IGNORED,
        _ => (i * 7919) % n,
    };
    let labels: Vec<_> = (0..m).map(label).collect();
    let values = labels.iter().map(|label| *label as f64).collect();
    (Arg::Tensor(Array::of(element, &[m], values)), labels)
}

/// The cross entropy of each row and the logarithm of its sum, and how far they may be off.
fn entropies(x: &[f64], labels: &[i64], n: i64, threads: i64) -> [Vec<(f64, f64)>; 2] {
    let rows = x.chunks(n as usize).zip(labels).map(|(row, label)| {
        let (most, total, relative) = exponentials(row, threads);
        let lse = most + total.ln();
        let bound = relative + 4.0 * U * (lse.abs() + most.abs());
        let loss = if *label == IGNORED { lse } else { row[*label as usize] };
        let loss = lse - loss;
        ((loss, bound + U * loss.abs()), (lse, bound))
    });
    let (losses, lses) = rows.unzip();
    [losses, lses]
}

/// The gradient of each row's cross entropy, and how far it may be off.
fn entropy_gradients(
    element: Scalar,
    (x, labels): (&[f64], &[i64]),
    [lse, dloss]: [&[f64]; 2],
    n: i64,
) -> Vec<(f64, f64)> {
    let (unit, least) = rounding(element);
    let mut all = Vec::new();
    for (row, x) in x.chunks(n as usize).enumerate() {
        let by = if labels[row] == IGNORED { 0.0 } else { dloss[row] };
        all.extend(x.iter().enumerate().map(|(i, x)| {
            let below: f64 = x - lse[row];
            let share = below.exp();
            let apart = share - f64::from(u8::from(i as i64 == labels[row]));
            let off = share * (3.0 * below.abs().min(104.0) + 4.0) + 2.0 * apart.abs();
            (apart * by, by.abs() * (off * U + FLUSHED) + unit * (apart * by).abs() + least)
        }));
    }
    all
}

fn expect_entropy(
    element: Scalar,
    index: Scalar,
    (m, n): (i64, i64),
    (number, threads): (&str, i64),
) {
    let forward = function("cross_entropy", "cross_entropy");
    let backward = function("cross_entropy", "cross_entropy_backward");
    let values = scaled(element, m * n, 5.0);
    let x = Arg::Tensor(Array::of(element, &[m, n], values.clone()));
    let (label, labels) = labels(index, (m, n));
    let what = format!("{element} of {m}x{n}, labels of {index}");
    let rows = [fresh(F32, &[m]), fresh(F32, &[m]), Arg::Int(IGNORED)];
    let came = sound(&forward, &[&[x.clone(), label.clone()][..], &rows].concat());
    let ending = if element == F32 { String::new() } else { format!("_{element}") };
    let kernel = format!("losses{number}_{index}{ending}");
    assert_eq!(came.launched, if m == 0 { vec![] } else { vec![kernel] }, "{what}");
    let [losses, lses] = entropies(&values, &labels, n, threads);
    expect_near(&what, &came.tensors[2], losses);
    expect_near(&what, &came.tensors[3], lses);

    let lse = came.tensors[3].clone();
    let (dloss, by) = input(F32, &[m], 4);
    let exact = entropy_gradients(element, (&values, &labels), [&lse, &by], n);
    let rows = [label, Arg::Tensor(Array::of(F32, &[m], lse)), dloss];
    let call = |out: Arg| {
        let args = [&[x.clone()][..], &rows, &[out, Arg::Int(IGNORED)]].concat();
        sound(&backward, &args).tensors
    };
    expect_near(&what, &call(fresh(element, &[m, n]))[4], exact.clone());
    expect_near(&what, &call(in_place(&[m, n]))[0], exact);
}

#[test]
fn rows_have_cross_entropies() {
    let (i32, i64) = (Scalar::I32, Scalar::I64);
    for n in [1, 3, 1021] {
        expect_entropy(F32, i64, (4, n), ("_4", 64));
        expect_entropy(Scalar::BF16, i32, (4, n), ("_4", 64));
    }
    expect_entropy(F32, i32, (4, 4), ("", 64));
    expect_entropy(F32, i32, (2, 4096), ("", 64));
    expect_entropy(F32, i64, (2, 4100), ("_2", 128));
    expect_entropy(F32, i64, (2, 8192), ("_2", 128));
    expect_entropy(F32, i64, (2, 8196), ("_3", 256));
    expect_entropy(Scalar::F16, i64, (3, 8200), ("_2", 128));
    expect_entropy(Scalar::BF16, i64, (1, 40_000), ("_3", 256));
    expect_entropy(F32, i64, (0, 8), ("", 64));
}

/// A row may be its own weight, a weight no result.
#[test]
fn a_weight_may_be_a_row() {
    let rms_norm = function("rms_norm", "rms_norm");
    let (x, values) = input(Scalar::F16, &[1, 64], 9);
    let exact = norms(Scalar::F16, &values, &values, 0.5);
    let out = fresh(Scalar::F16, &[1, 64]);
    expect_near("", &last(&rms_norm, &[x.clone(), in_place(&[64]), out, Arg::Float(0.5)]), exact);
    let out = Arg::Within { of: 1, from: 0, shape: vec![1, 64] };
    let (w, _) = input(Scalar::F16, &[64], 1);
    let refused = call(&rms_norm, &[x, w, out, Arg::Float(0.5)]).unwrap_err();
    assert!(refused.contains("noalias(w, out)"), "{refused}");
}

#[test]
fn matrices_are_transposed() {
    let transpose = function("transpose", "transpose");
    for (m, n) in [(0, 5), (5, 0), (1, 1), (63, 64), (64, 65), (65, 63), (31, 127), (1, 130)] {
        let (x, values) = input(F32, &[m, n], 4);
        let found = last(&transpose, &[x.clone(), fresh(F32, &[n, m])]);
        let expected = (0..m * n).map(|i| values[((i % m) * n + i / m) as usize]);
        assert_eq!(found, expected.collect::<Vec<_>>(), "{m}x{n}");
        if m * n > 0 {
            let refused = call(&transpose, &[x, in_place(&[n, m])]).unwrap_err();
            assert!(refused.contains("noalias(x, out)"), "{refused}");
        }
    }
}

/// Who sums rows reads what the sums would overwrite.
#[test]
fn sums_are_not_made_in_place() {
    for name in ["reduce_sum", "reduce_sum_tiled", "reduce_sum_vectors"] {
        let (x, _) = input(F32, &[4, 8], 2);
        let refused = call(&function("reduce_sum", name), &[x, in_place(&[4])]).unwrap_err();
        assert!(refused.contains("noalias(x, out)"), "{refused}");
    }
}
