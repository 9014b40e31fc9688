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

/// Every size of tiles, every number of blocks that share one along k, and blocks that share tiles
/// of `b`: each is the quickest for some extents on some device.
#[test]
fn tiles_go_by_the_shape_and_the_device() {
    let gemm = function("gemm", "gemm");
    for (n_multiprocessors, [m, n, k], kernel) in [
        (132, [16, 136, 72], "gemm_roles_float16"),
        (1, [130, 256, 80], "gemm_roles_2_float16"),
        (1, [130, 224, 80], "gemm_roles_3_float16"),
        (1, [130, 192, 80], "gemm_roles_4_float16"),
        (132, [130, 136, 80], "gemm_roles_5_float16"),
        (132, [17, 16, 2048], "gemm_parts_float16"),
        (132, [17, 16, 7168], "gemm_parts_2_float16"),
        // Rows that are slow to load.
        (4, [250, 496, 72], "gemm_roles_6_float16"),
        // A cluster has two blocks, however few multiprocessors there are.
        (1, [250, 496, 72], "gemm_roles_6_float16"),
        (4, [300, 376, 200], "gemm_roles_7_float16"),
        (132, [15, 31, 72], "gemm_roles_float16"),
        (1, [130, 255, 80], "gemm_roles_8_float16"),
        (132, [130, 31, 1104], "gemm_roles_9_float16"),
        (2, [500, 255, 136], "gemm_roles_10_float16"),
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

/// The error function, by a series whose terms have one sign.
fn erf(x: f64) -> f64 {
    let mut term = x.clamp(-6.0, 6.0);
    let square = term * term;
    let mut sum = 0.0;
    for n in 0..200 {
        sum += term;
        term *= 2.0 * square / f64::from(2 * n + 3);
    }
    sum * (-square).exp() * std::f64::consts::FRAC_2_SQRT_PI
}

/// An activation of `gemm_epilogue.py`, by the function that has it.
fn activation(function: &str, x: f64) -> f64 {
    match function {
        "gemm_gelu" => 0.5 * x * (1.0 + erf(x * std::f64::consts::FRAC_1_SQRT_2)),
        "gemm_gelu_tanh" => {
            let scale = (2.0 / std::f64::consts::PI).sqrt();
            0.5 * x * (1.0 + (scale * (x + 0.044715 * x.powi(3))).tanh())
        }
        "gemm_relu" => x.max(0.0),
        _ => x / (1.0 + (-x).exp()),
    }
}

/// Calls a function of `gemm_epilogue.py` on a device, and holds the result to its bound.
fn expect_linear(
    name: &'static str,
    cc: i64,
    (m, n, k): (i64, i64, i64),
    (element, has_residual): (Scalar, bool),
) {
    let ((a, left), (b, right)) = (input(element, &[m, k], 5), input(element, &[n, k], 6));
    let ((bias, biases), (residual, residuals)) =
        (input(element, &[n], 7), input(element, &[m, n], 8));
    let scale = 0.375;
    let residual = if has_residual { residual } else { Arg::None };
    let args = [a, b, bias, fresh(element, &[m, n]), residual, Arg::Float(scale)];
    let came = call_on_device([132, 227 << 10, cc], &function("gemm_epilogue", name), &args);
    let came = came.expect("the call is accepted");
    assert_eq!(came.found, [], "{name}");
    let (unit, least) = rounding(element);
    let sums = exact_products([&left, &right], (m, n, k)).into_iter().enumerate();
    let exact = sums.map(|(i, (sum, size))| {
        let bias = biases[i % n as usize];
        let residual = if has_residual { residuals[i] } else { 0.0 };
        let x = sum * scale + bias;
        let off = 3.0 * (k + 1) as f64 * U * (scale * size + bias.abs());
        let made = activation(name, x);
        let part = if name == "gemm_gelu" { x.max(0.0) - made } else { 0.0 };
        let bound = 1.13 * off + 2.2e-5 * part + 9.0 * U * x.abs() + U * residual.abs();
        let exact = made + residual;
        (exact, unit * exact.abs() + bound * (1.0 + unit) + least)
    });
    expect_near(&format!("{name} {m}x{n}x{k} on {cc}"), &came.tensors[3], exact);
}

#[test]
fn sums_are_finished_before_they_are_written() {
    for cc in [80, 90] {
        expect_linear("gemm_gelu", cc, (130, 136, 72), (Scalar::BF16, true));
        expect_linear("gemm_gelu", cc, (33, 129, 24), (Scalar::F16, false));
    }
    // Parts of k.
    expect_linear("gemm_gelu", 90, (16, 136, 1104), (Scalar::F16, true));
    expect_linear("gemm_gelu_tanh", 90, (65, 40, 40), (Scalar::F16, false));
    expect_linear("gemm_relu", 80, (1, 7, 8), (Scalar::BF16, true));
    expect_linear("gemm_silu", 90, (20, 31, 16), (Scalar::BF16, true));
}

/// A bias that is no number, or infinite, is seen in its column, whatever the activation.
#[test]
fn activations_say_what_is_no_number() {
    let tensor = |shape: &[i64], values| Arg::Tensor(Array::of(Scalar::F16, shape, values));
    for name in ["gemm_gelu", "gemm_gelu_tanh", "gemm_relu", "gemm_silu"] {
        let [a, b] = [0; 2].map(|_| tensor(&[8, 8], vec![0.5; 64]));
        let bias = tensor(&[8], vec![f64::NAN, f64::INFINITY, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0]);
        let args = [a, b, bias, fresh(Scalar::F16, &[8, 8]), Arg::None, Arg::Float(1.0)];
        let came = call_on_device([132, 227 << 10, 90], &function("gemm_epilogue", name), &args);
        let came = came.expect("the call is accepted");
        for row in came.tensors[3].chunks(8) {
            assert!(row[0].is_nan() && row[1] == f64::INFINITY, "{name}: {row:?}");
            assert!(row[2..].iter().all(|value| value.is_finite()), "{name}: {row:?}");
        }
    }
}

#[test]
fn groups_of_rows_have_their_own_products() {
    let grouped = function("grouped_gemm", "grouped_gemm");
    // Empty groups, some below a tile and beyond it, rows of none in front and behind; tiles of 64
    // rows and of 128.
    for (m, n, k, offsets) in [
        (200, 264, 72, vec![0, 3, 3, 70, 200]),
        (300, 16, 136, vec![2, 2, 135, 290]),
        (9, 31, 8, vec![0, 4, 4, 4, 8, 9]),
        (5, 8, 16, vec![0, 0]),
        (5, 8, 16, vec![3, 1, 4000]),
    ] {
        let groups = offsets.len() as i64 - 1;
        let ((a, left), (b, right)) =
            (input(Scalar::F16, &[m, k], 1), input(Scalar::F16, &[groups, n, k], 2));
        let starts: Vec<_> = offsets.iter().map(|start| f64::from(*start)).collect();
        let starts = Arg::Tensor(Array::of(Scalar::I32, &[groups + 1], starts));
        // Rows of no group stay as they are.
        let kept = Arg::Tensor(Array::of(Scalar::F16, &[m, n], vec![-7.0; (m * n) as usize]));
        let came = call_on_device([5, 227 << 10, 90], &grouped, &[a, b, starts, kept]);
        let came = came.expect("the call is accepted");
        assert_eq!(came.found, [], "{offsets:?}");
        let mut expected = vec![(-7.0, 0.0); (m * n) as usize];
        for (group, bounds) in offsets.windows(2).enumerate() {
            let rows = bounds[0] as usize..(bounds[1] as usize).min(m as usize);
            let size = (n * k) as usize;
            let own = &right[group * size..(group + 1) * size];
            for row in rows {
                let left = &left[row * k as usize..(row + 1) * k as usize];
                let products = products_of_rows(Scalar::F16, [left, own], (1, n, k));
                expected[row * n as usize..(row + 1) * n as usize].copy_from_slice(&products);
            }
        }
        expect_near(&format!("{offsets:?}"), &came.tensors[3], expected);
    }
}
