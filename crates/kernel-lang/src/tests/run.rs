// SPDX-License-Identifier: Apache-2.0
//! Kernels of the examples, run by the interpreter: what they compute, and that nothing is found.

use super::{elaborate_of, int, read, run_clean, scalar, written};
use crate::argument::{Argument, Constant, FunctionArg};
use kernpack_kernel_ir::interp::Memory;
use kernpack_kernel_ir::{Const, Scalar};
use kernpack_validators::Expr;
use std::collections::HashMap;

/// A launch of a kernel.
struct Run<'r> {
    source: &'r str,
    kernel: &'r str,
    arguments: Vec<Argument>,
    /// The values of the signature's symbols.
    dims: &'r [(&'r str, i64)],
    /// The numbers that are passed and are no integers.
    floats: &'r [(&'r str, f64)],
    /// The tensors that are read, and those that are written.
    tensors: Vec<(&'r str, Scalar, Vec<f64>)>,
    grid: [u32; 3],
    block: [u32; 3],
}

fn memory_of(name: &str, scalar: Scalar, values: &[f64]) -> Memory {
    let values = values.iter().map(|value| match scalar.is_float() {
        true => Const::float(scalar, *value),
        false => Const::int(scalar, *value as i64),
    });
    Memory::of(name, scalar, &values.collect::<Vec<_>>())
}

fn values_of(memory: &Memory) -> Vec<f64> {
    let value = |known: Const| {
        known.as_float().or(known.as_int().map(|int| int as f64)).unwrap_or_default()
    };
    memory.elements().into_iter().map(value).collect()
}

impl Run<'_> {
    /// Runs it; gives what the tensors hold then.
    fn run(&self) -> HashMap<String, Vec<f64>> {
        let made = elaborate_of(self.source, self.kernel, &self.arguments, self.block);
        let instance = made.unwrap_or_else(|problems| panic!("{problems}"));
        assert_eq!(instance.warnings.to_string(), "");
        let tensors = self.tensors.iter();
        let tensors = tensors.map(|(name, element, values)| memory_of(name, *element, values));
        let mut tensors: Vec<_> = tensors.collect();
        let number = |expr: &Expr, scalar| self.number(expr, scalar);
        run_clean(instance, [self.grid, self.block], &mut tensors, &number);
        tensors.iter().map(|memory| (memory.name.clone(), values_of(memory))).collect()
    }

    fn number(&self, expr: &Expr, scalar: Scalar) -> Const {
        let text = expr.to_string();
        if let Some((_, float)) = self.floats.iter().find(|(name, _)| *name == text) {
            return Const::float(scalar, *float);
        }
        let dim = |name: &str| {
            self.dims.iter().find(|(known, _)| *known == name).map(|(_, value)| *value)
        };
        let value = expr.value(&dim).unwrap_or_else(|| panic!("`{text}` has a value"));
        Const::int(scalar, value)
    }
}

/// Numbers that differ, small enough that sums of them are exact.
fn numbers(count: usize) -> Vec<f64> {
    (0..count).map(|i| ((i * 7919) % 17) as f64 - 8.0).collect()
}

const F32: Scalar = Scalar::F32;

fn reduce_sum() -> &'static str {
    include_str!("../../../../examples/kernels/reduce_sum.py")
}

fn row_sums(x: &[f64], n: usize) -> Vec<f64> {
    x.chunks(n).map(|row| row.iter().sum()).collect()
}

#[test]
fn rows_are_summed_as_in_cuda() {
    for n in [1, 31, 256, 1000] {
        let x = numbers(3 * n);
        let run = Run {
            source: reduce_sum(),
            kernel: "sum_rows",
            arguments: vec![read("x", F32, &["m", "n"]), written("out", F32, &["m"]), int(256)],
            dims: &[("m", 3), ("n", n as i64)],
            floats: &[],
            tensors: vec![("x", F32, x.clone()), ("out", F32, vec![0.0; 3])],
            grid: [3, 1, 1],
            block: [256, 1, 1],
        };
        assert_eq!(run.run()["out"], row_sums(&x, n));
    }
}

#[test]
fn rows_are_summed_with_vectors() {
    for n in [4, 256, 4096, 5000] {
        let x = numbers(2 * n);
        let run = Run {
            source: reduce_sum(),
            kernel: "sum_row_vectors",
            arguments: vec![
                read("x", F32, &["m", "n % 4"]),
                written("out", F32, &["m"]),
                int(64),
                int(4),
            ],
            dims: &[("m", 2), ("n", n as i64), ("n // 4", n as i64 / 4)],
            floats: &[],
            tensors: vec![("x", F32, x.clone()), ("out", F32, vec![0.0; 2])],
            grid: [2, 1, 1],
            block: [64, 1, 1],
        };
        assert_eq!(run.run()["out"], row_sums(&x, n));
    }
}

#[test]
fn a_warp_sums_a_row() {
    let (m, n) = (11, 100);
    let x = numbers(m * n);
    let run = Run {
        source: reduce_sum(),
        kernel: "sum_warp_vectors",
        arguments: vec![read("x", F32, &["m", "n % 4"]), written("out", F32, &["m"]), int(4)],
        dims: &[("m", m as i64), ("n", n as i64)],
        floats: &[],
        tensors: vec![("x", F32, x.clone()), ("out", F32, vec![0.0; m])],
        grid: [3, 1, 1],
        block: [128, 1, 1],
    };
    assert_eq!(run.run()["out"], row_sums(&x, n));
}

#[test]
fn rows_are_summed_with_layouts() {
    use kernpack_layout::{Static, Tuple, make_layout_tv};
    let threads = kernpack_layout::Layout::mode(128, 1);
    let values = kernpack_layout::Layout::mode(4, 1);
    let (tile, tv) = make_layout_tv(&mut Static, &threads, &values).expect("they are compact");
    let Tuple::Node(tile) = Tuple::Node(tile.into_modes()) else { panic!("a tuple") };
    let tile = tile.iter().map(|mode| match mode {
        Tuple::Leaf(extent) => (None, int(extent.known().expect("a number").into())),
        Tuple::Node(_) => panic!("a number"),
    });
    for n in [1, 512, 700] {
        let x = numbers(2 * n);
        let run = Run {
            source: reduce_sum(),
            kernel: "sum_row_tiles",
            arguments: vec![
                read("x", F32, &["m", "n"]),
                written("out", F32, &["m"]),
                Argument::Constant(Constant::Layout(tv.clone(), None)),
                Argument::Tuple(tile.clone().collect()),
            ],
            dims: &[("m", 2), ("n", n as i64)],
            floats: &[],
            tensors: vec![("x", F32, x.clone()), ("out", F32, vec![0.0; 2])],
            grid: [2, 1, 1],
            block: [128, 1, 1],
        };
        assert_eq!(run.run()["out"], row_sums(&x, n));
    }
}

#[test]
fn a_tile_is_transposed() {
    let (m, n) = (70, 100);
    let x: Vec<_> = (0..m * n).map(|i| i as f64).collect();
    let run = Run {
        source: include_str!("../../../../examples/kernels/transpose.py"),
        kernel: "transpose_tiles",
        arguments: vec![read("x", F32, &["m", "n"]), written("out", F32, &["n", "m"])],
        dims: &[("m", m as i64), ("n", n as i64)],
        floats: &[],
        tensors: vec![("x", F32, x.clone()), ("out", F32, vec![0.0; m * n])],
        grid: [2, 2, 1],
        block: [32, 16, 1],
    };
    let expected: Vec<_> = (0..m * n).map(|i| x[(i % m) * n + i / m]).collect();
    assert_eq!(run.run()["out"], expected);
}

#[test]
fn a_function_is_passed_in() {
    let source = include_str!("../../../../examples/kernels/elementwise.py");
    let x = numbers(200);
    let run = Run {
        source,
        kernel: "map_scalars",
        arguments: vec![
            Argument::Function(FunctionArg::Builtin("abs".into())),
            read("x", F32, &["n"]),
            written("out", F32, &["n"]),
        ],
        dims: &[("n", 200)],
        floats: &[],
        tensors: vec![("x", F32, x.clone()), ("out", F32, vec![0.0; 200])],
        grid: [1, 1, 1],
        block: [256, 1, 1],
    };
    let expected: Vec<_> = x.iter().map(|x| x.abs()).collect();
    assert_eq!(run.run()["out"], expected);
}

#[test]
fn rows_are_normalised_in_halves() {
    let (m, d) = (2, 1000);
    let (x, w) = (numbers(m * d), vec![2.0; d]);
    let run = Run {
        source: include_str!("../../../../examples/kernels/rms_norm.py"),
        kernel: "rms_rows",
        arguments: vec![
            read("x", Scalar::BF16, &["m", "d % 8"]),
            read("w", Scalar::BF16, &["d % 8"]),
            written("out", Scalar::BF16, &["m", "d % 8"]),
            scalar("eps", F32),
            int(32),
            int(4),
        ],
        dims: &[("m", m as i64), ("d", d as i64)],
        floats: &[("eps", 1e-6)],
        tensors: vec![
            ("x", Scalar::BF16, x.clone()),
            ("w", Scalar::BF16, w),
            ("out", Scalar::BF16, vec![0.0; m * d]),
        ],
        grid: [m as u32, 1, 1],
        block: [32, 1, 1],
    };
    let out = &run.run()["out"];
    for (row, found) in x.chunks(d).zip(out.chunks(d)) {
        let scale = (row.iter().map(|x| x * x).sum::<f64>() / d as f64 + 1e-6).sqrt().recip();
        for (x, found) in row.iter().zip(found) {
            let exact = x * scale * 2.0;
            assert!((found - exact).abs() <= exact.abs() / 128.0, "{found} for {exact}");
        }
    }
}

#[test]
fn a_softmax_is_one_in_sum() {
    let (m, n) = (2, 600);
    let x: Vec<_> = numbers(m * n).iter().map(|x| x / 4.0).collect();
    let source = include_str!("../../../../examples/kernels/softmax.py");
    let in_registers = Argument::Constant(Constant::Bool(false));
    for (kernel, last) in [("softmax_once", in_registers), ("softmax_twice", int(4))] {
        let constants = [int(64), int(4), last];
        let tensors = [read("x", F32, &["m", "n % 4"]), written("out", F32, &["m", "n % 4"])];
        let run = Run {
            source,
            kernel,
            arguments: tensors.into_iter().chain(constants).collect(),
            dims: &[("m", m as i64), ("n", n as i64)],
            floats: &[],
            tensors: vec![("x", F32, x.clone()), ("out", F32, vec![0.0; m * n])],
            grid: [m as u32, 1, 1],
            block: [64, 1, 1],
        };
        let out = &run.run()["out"];
        for (row, found) in x.chunks(n).zip(out.chunks(n)) {
            let total: f64 = row.iter().map(|x| x.exp()).sum();
            for (x, found) in row.iter().zip(found) {
                let exact = x.exp() / total;
                assert!((found - exact).abs() <= 1e-6 * exact + 1e-9, "{found} for {exact}");
            }
        }
    }
}

#[test]
fn tiles_are_multiplied() {
    let (m, n, k) = (128, 128, 32);
    let (a, b) = (numbers(m * k), numbers(k * n));
    let run = Run {
        source: include_str!("../../../../examples/kernels/matmul.py"),
        kernel: "matmul_tiles",
        arguments: vec![
            read("a", F32, &["m % 128", "k % 16"]),
            read("b", F32, &["k % 16", "n % 128"]),
            written("c", F32, &["m % 128", "n % 128"]),
        ],
        dims: &[("m", m as i64), ("n", n as i64), ("k", k as i64)],
        floats: &[],
        tensors: vec![("a", F32, a.clone()), ("b", F32, b.clone()), ("c", F32, vec![0.0; m * n])],
        grid: [1, 1, 1],
        block: [256, 1, 1],
    };
    let dot = |i: usize| {
        let terms = (0..k).map(|t| a[i / n * k + t] * b[t * n + i % n]);
        terms.sum::<f64>()
    };
    let expected: Vec<_> = (0..m * n).map(dot).collect();
    assert_eq!(run.run()["c"], expected);
}
