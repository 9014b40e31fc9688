// SPDX-License-Identifier: Apache-2.0
//! How long a thread's operation takes: printed by `cargo test --release speed -- --nocapture`.

use super::{Run, reduce_sum, sum_as_kernel};
use std::time::Instant;

#[test]
fn a_row_is_summed_as_addition_by_addition() {
    let (rows, columns) = (8, 4096);
    let x: Vec<f32> = (0..rows * columns).map(|i| (i % 97) as f32 * 0.01).collect();
    let mut sum = Run::of(&reduce_sum("call barrier() @8:1"), rows as u32, 256)
        .floats(&x)
        .fresh(crate::types::Scalar::F32, rows)
        .int(columns as i64);
    let start = Instant::now();
    let outcome = sum.clean();
    let ns = start.elapsed().as_nanos() as f64;
    let expected: Vec<_> = x.chunks(columns).map(|row| sum_as_kernel(row, 256)).collect();
    assert_eq!(sum.floats_at(1), expected);
    assert!(outcome.is_exact);
    eprintln!(
        "reduce_sum: {} thread-ops, {:.2} ns each, {:.2} ns an element",
        outcome.thread_ops,
        ns / outcome.thread_ops as f64,
        ns / x.len() as f64
    );
}
