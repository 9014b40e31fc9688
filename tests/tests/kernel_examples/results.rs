// SPDX-License-Identifier: Apache-2.0
//! What the examples' functions compute. Sizes lie on both sides of every tile and of every `if`;
//! the bounds are those of `docs/kernel-examples.md`.

use crate::call::{Arg, Array, Came, File, Function, call, rounded};
use crate::text;
use kernpack_kernel_ir::Scalar;

const F32: Scalar = Scalar::F32;
/// Half of the distance from 1 to the next float32.
const U: f64 = 1.0 / (1 << 24) as f64;

fn function(file: &str, name: &str) -> Function {
    let file = File::read(&text(file)).unwrap_or_else(|found| panic!("{found:?}"));
    file.function(name).unwrap_or_else(|found| panic!("{found:?}"))
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

fn input(element: Scalar, shape: &[i64], seed: u64) -> (Arg, Vec<f64>) {
    let values = numbers(element, shape.iter().product(), seed);
    (Arg::Tensor(Array::of(element, shape, values.clone())), values)
}

fn fresh(element: Scalar, shape: &[i64]) -> Arg {
    Arg::Tensor(Array::fresh(element, shape))
}

/// The first argument itself.
fn in_place(shape: &[i64]) -> Arg {
    Arg::Within { of: 0, from: 0, shape: shape.to_vec() }
}

/// Makes a call that is accepted and in which nothing is wrong.
fn sound(function: &Function, args: &[Arg]) -> Came {
    let came = call(function, args).unwrap_or_else(|refused| panic!("{refused}"));
    assert_eq!(came.found, [], "{:?}", came.launched);
    came
}

/// Makes such a call; gives its last tensor.
fn last(function: &Function, args: &[Arg]) -> Vec<f64> {
    sound(function, args).tensors.pop().expect("there is a tensor")
}

/// Holds each result against the exact one and how far it may be off.
fn expect_near(what: &str, found: &[f64], exact: impl IntoIterator<Item = (f64, f64)>) {
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

fn expect_sums(name: &str, (m, n): (i64, i64), threads: i64, kernel: &str) {
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

/// The softmax of each row, and how far it may be off.
fn softmaxes(x: &[f64], n: i64, threads: i64) -> Vec<(f64, f64)> {
    let mut all = Vec::new();
    for row in x.chunks(n as usize) {
        let most = row.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let finite = row.iter().copied().filter(|x| x.is_finite());
        let range = most - finite.fold(f64::INFINITY, f64::min);
        let total: f64 = row.iter().map(|x| (x - most).exp()).sum();
        let relative = (4.0 * (n / threads) as f64 + 2.0 * range.min(104.0) + 40.0) * U;
        all.extend(row.iter().map(|x| {
            let exact = (x - most).exp() / total;
            (exact, exact * relative + 2f64.powi(-148))
        }));
    }
    all
}

fn expect_softmax((m, n): (i64, i64), scale: f64, threads: i64, kernel: &str) {
    let softmax = function("softmax", "softmax");
    let values: Vec<_> =
        numbers(F32, m * n, n as u64).iter().map(|x| rounded(F32, x * scale)).collect();
    let x = Arg::Tensor(Array::of(F32, &[m, n], values.clone()));
    let exact = softmaxes(&values, n, threads);
    let what = format!("softmax of {m}x{n}");
    let came = sound(&softmax, &[x.clone(), fresh(F32, &[m, n])]);
    assert_eq!(came.launched, if m == 0 { vec![] } else { vec![kernel.to_string()] }, "{what}");
    expect_near(&what, &came.tensors[1], exact.clone());
    expect_near(&what, &last(&softmax, &[x, in_place(&[m, n])]), exact);
}

#[test]
fn a_softmax_stays_in_registers() {
    for n in [4, 252, 256, 260, 1020, 1024] {
        expect_softmax((3, n), 1.0, 64, "softmax_registers");
    }
    for (n, threads) in [(1028, 128), (4096, 128), (4100, 256), (16384, 256)] {
        expect_softmax((2, n), 40.0, threads, &kernel_of(threads));
    }
    expect_softmax((0, 8), 1.0, 64, "softmax_registers");
}

/// The kernels of one name, for other constants, are numbered.
fn kernel_of(threads: i64) -> String {
    let number = match threads {
        128 => "_2",
        256 => "_3",
        _ => "",
    };
    format!("softmax_registers{number}")
}

#[test]
fn a_softmax_of_any_length_reads_twice() {
    for n in [1, 2, 3, 511, 513, 1021, 4099] {
        expect_softmax((2, n), 1.0, 512, "softmax_twice");
        expect_softmax((1, n), 45.0, 512, "softmax_twice");
    }
    expect_softmax((1, 16388), 1.0, 512, "softmax_twice");
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
        expect_near(&format!("a masked row of {n}"), &found, softmaxes(&values, n, 64));
    }
}

/// RMSNorm of each row, and how far it may be off.
fn norms(element: Scalar, x: &[f64], w: &[f64], eps: f64) -> Vec<(f64, f64)> {
    // Half of the distance from 1 to the next number; and of the smallest ones to each other.
    let (unit, least) = match element {
        Scalar::F16 => (2f64.powi(-11), 2f64.powi(-25)),
        _ => (2f64.powi(-8), 2f64.powi(-134)),
    };
    let mut all = Vec::new();
    for row in x.chunks(w.len()) {
        let mean = row.iter().map(|x| x * x).sum::<f64>() / w.len() as f64;
        let scale = (mean + eps).sqrt().recip();
        all.extend(row.iter().zip(w).map(|(x, w)| {
            let exact = x * scale * w;
            (exact, exact.abs() * (unit + 2f64.powi(-18)) + least)
        }));
    }
    all
}

fn expect_norm(element: Scalar, (m, d): (i64, i64), kernel: &str) {
    let rms_norm = function("rms_norm", "rms_norm");
    let eps = f64::from(1e-6_f32);
    let ((x, values), (w, weights)) = (input(element, &[m, d], 5), input(element, &[d], 6));
    let exact = norms(element, &values, &weights, eps);
    let what = format!("{element} of {m}x{d}");
    let came = sound(&rms_norm, &[x.clone(), w.clone(), fresh(element, &[m, d]), Arg::Float(eps)]);
    let kernel = format!("{kernel}_{element}");
    assert_eq!(came.launched, if m == 0 { vec![] } else { vec![kernel.to_string()] }, "{what}");
    expect_near(&what, &came.tensors[2], exact.clone());
    let came = sound(&rms_norm, &[x, w, in_place(&[m, d]), Arg::Float(eps)]);
    expect_near(&what, &came.tensors[0], exact);
}

#[test]
fn rows_are_normalised_in_halves() {
    for element in [Scalar::F16, Scalar::BF16] {
        for d in [8, 248, 256, 264, 8 * 127, 1024] {
            expect_norm(element, (3, d), "rms_rows");
        }
        for (d, number) in [(1032, 2), (4096, 2), (4104, 3), (8192, 3), (8200, 4)] {
            let kernel = &format!("rms_rows_{number}");
            expect_norm(element, (2, d), kernel);
        }
        expect_norm(element, (1, 16384), "rms_rows_4");
        expect_norm(element, (0, 64), "rms_rows");
    }
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

#[test]
fn matrices_are_multiplied() {
    let matmul = function("matmul", "matmul");
    for (m, n, k) in [(0, 128, 16), (128, 128, 16), (128, 256, 32), (256, 128, 48)] {
        let ((a, left), (b, right)) = (input(F32, &[m, k], 7), input(F32, &[k, n], 8));
        let found = last(&matmul, &[a, b, fresh(F32, &[m, n])]);
        expect_near(&format!("{m}x{n}x{k}"), &found, products(&left, &right, (m, n, k)));
    }
    let (a, values) = input(F32, &[128, 128], 9);
    let shape = [128, 128];
    let found = last(&matmul, &[a.clone(), in_place(&shape), fresh(F32, &shape)]);
    expect_near("a square", &found, products(&values, &values, (128, 128, 128)));
    let refused = call(&matmul, &[a.clone(), fresh(F32, &shape), in_place(&shape)]).unwrap_err();
    assert!(refused.contains("noalias(a, c)"), "{refused}");
}

fn products(a: &[f64], b: &[f64], (m, n, k): (i64, i64, i64)) -> Vec<(f64, f64)> {
    let (n, k) = (n as usize, k as usize);
    let product = |i: usize| {
        let terms = || (0..k).map(|t| a[i / n * k + t] * b[t * n + i % n]);
        let size: f64 = terms().map(f64::abs).sum();
        (terms().sum(), (k as f64 + 1.0) * U * size)
    };
    (0..m as usize * n).map(product).collect()
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
