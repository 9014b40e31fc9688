// SPDX-License-Identifier: Apache-2.0
//! Products of matrices: what `matmul.py` and `gemm.py` compute.

use crate::call::{Arg, Array, call, call_on_device};
use crate::results::{
    F32, U, expect_near, fresh, function, in_place, input, last, last_on, rounding,
};
use kernpack_kernel_ir::Scalar;

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

#[test]
fn matrix_units_multiply() {
    let [simple, roles] = ["gemm_simple", "gemm"].map(|name| function("gemm", name));
    // Below a tile and on both sides of it, steps below the stages and above, rows of the result
    // at multiples of 16 bytes and not; by warps, by warpgroups, and by warpgroups with roles.
    for (element, m, n, k) in [
        (Scalar::F16, 0, 8, 16),
        (Scalar::BF16, 8, 0, 16),
        (Scalar::F16, 3, 5, 0),
        (Scalar::BF16, 1, 1, 8),
        (Scalar::F16, 1, 8, 40),
        (Scalar::BF16, 127, 129, 24),
        (Scalar::F16, 128, 128, 128),
        (Scalar::BF16, 129, 136, 160),
        (Scalar::F16, 257, 31, 72),
    ] {
        let ((a, left), (b, right)) = (input(element, &[m, k], 7), input(element, &[n, k], 8));
        let args = [a, b, fresh(element, &[m, n])];
        for (gemm, cc) in [(&simple, 80), (&simple, 90), (&roles, 90)] {
            if std::ptr::eq(gemm, &roles) && k == 0 {
                continue;
            }
            let found = last_on(cc, gemm, &args);
            let roles = if std::ptr::eq(gemm, &roles) { "roles, " } else { "" };
            let what = format!("{roles}{element} {m}x{n}x{k} on {cc}");
            expect_near(&what, &found, products_of_rows(element, [&left, &right], (m, n, k)));
        }
    }
}

/// Every size of tiles, and every number of blocks that share one along k: each is the quickest for
/// some extents on some device.
#[test]
fn tiles_go_by_the_shape_and_the_device() {
    let gemm = function("gemm", "gemm");
    for (n_multiprocessors, [m, n, k], kernel) in [
        (1, [130, 256, 72], "gemm_roles_float16"),
        (1, [130, 224, 72], "gemm_roles_2_float16"),
        (1, [130, 192, 72], "gemm_roles_3_float16"),
        (132, [130, 136, 72], "gemm_roles_4_float16"),
        (4, [16, 136, 1104], "gemm_parts_float16"),
        (8, [16, 136, 1104], "gemm_parts_2_float16"),
        (132, [16, 136, 1104], "gemm_parts_3_float16"),
        (1, [130, 255, 72], "gemm_roles_5_float16"),
        (132, [130, 31, 1104], "gemm_roles_6_float16"),
    ] {
        let ((a, left), (b, right)) =
            (input(Scalar::F16, &[m, k], 3), input(Scalar::F16, &[n, k], 4));
        let args = [a, b, fresh(Scalar::F16, &[m, n])];
        let device = [n_multiprocessors, 227 << 10, 90];
        let came = call_on_device(device, &gemm, &args).expect("the call is accepted");
        assert_eq!((came.found, came.launched), (vec![], vec![kernel.to_string()]));
        let found = came.tensors.last().expect("there is a tensor");
        expect_near(kernel, found, products_of_rows(Scalar::F16, [&left, &right], (m, n, k)));
    }
}

#[test]
fn matrix_units_do_not_multiply_in_place() {
    let gemm = function("gemm", "gemm_simple");
    let (a, _) = input(Scalar::F16, &[16, 16], 9);
    let args = [a, fresh(Scalar::F16, &[16, 16]), in_place(&[16, 16])];
    let refused = call(&gemm, &args).unwrap_err();
    assert!(refused.contains("noalias(a, c)"), "{refused}");
}

/// Small integers are exact in every order.
#[test]
fn matrix_units_are_exact_where_sums_are() {
    let [simple, roles] = ["gemm_simple", "gemm"].map(|name| function("gemm", name));
    let (m, n, k) = (33, 40, 104);
    let whole = |shape: &[i64], seed| {
        let (_, values) = input(Scalar::F16, shape, seed);
        let values: Vec<_> = values.iter().map(|value| value.round()).collect();
        (Arg::Tensor(Array::of(Scalar::F16, shape, values.clone())), values)
    };
    let ((a, left), (b, right)) = (whole(&[m, k], 1), whole(&[n, k], 2));
    let args = [a, b, fresh(Scalar::F16, &[m, n])];
    let exact = products_of_rows(Scalar::F16, [&left, &right], (m, n, k));
    let exact: Vec<_> = exact.into_iter().map(|(exact, _)| exact).collect();
    for (gemm, cc) in [(&simple, 80), (&simple, 90), (&roles, 90)] {
        assert_eq!(last_on(cc, gemm, &args), exact, "on {cc}");
    }
}

/// The products of rows, and how far they may be off.
fn products_of_rows(
    element: Scalar,
    [a, b]: [&[f64]; 2],
    (m, n, k): (i64, i64, i64),
) -> Vec<(f64, f64)> {
    let (unit, least) = rounding(element);
    let products = exact_products([a, b], (m, n, k)).into_iter();
    let bound = |exact: f64, size| unit * exact.abs() + 3.0 * k as f64 * U * size + least;
    products.map(|(exact, size)| (exact, bound(exact, size))).collect()
}

/// The products of rows, and the sums of the magnitudes of what is added there.
fn exact_products([a, b]: [&[f64]; 2], (m, n, k): (i64, i64, i64)) -> Vec<(f64, f64)> {
    let (n, k) = (n as usize, k as usize);
    let product = |i: usize| {
        let terms = || (0..k).map(|t| a[i / n * k + t] * b[i % n * k + t]);
        (terms().sum(), terms().map(f64::abs).sum())
    };
    (0..m as usize * n).map(product).collect()
}
