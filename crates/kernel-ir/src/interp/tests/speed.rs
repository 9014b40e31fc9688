// SPDX-License-Identifier: Apache-2.0
//! How long a thread's operation takes: printed by `cargo test --release interp::tests::speed --
//! --nocapture`. Tests hold what is computed.

use super::{Trial, reduce_sum, sum_as_kernel, trial};
use crate::types::Scalar;
use std::time::Instant;

/// Runs, and says how long that took.
fn timed(name: &str, run: &mut Trial) {
    run.options.n_cores = 1;
    let start = Instant::now();
    let outcome = run.clean();
    let ns = start.elapsed().as_nanos() as f64 / outcome.thread_ops as f64;
    eprintln!("{name}: {} thread-ops, {ns:.2} ns each", outcome.thread_ops);
}

#[test]
fn a_row_is_summed_addition_by_addition() {
    let (rows, columns) = (8, 4096);
    let x: Vec<f32> = (0..rows * columns).map(|i| (i % 97) as f32 * 0.01).collect();
    let mut sum = trial(&reduce_sum("call barrier() @8:1"), rows as u32, 256)
        .floats(&x)
        .fresh(Scalar::F32, rows)
        .int(columns as i64);
    timed("reduce_sum", &mut sum);
    let expected: Vec<_> = x.chunks(columns).map(|row| sum_as_kernel(row, 256)).collect();
    assert_eq!(sum.floats_at(1), expected);
}

/// Rows that are apart, on one core and on two, in turns: the medians.
#[test]
fn rows_are_summed_on_two_cores() {
    let (rows, columns) = (64, 1024);
    let x: Vec<f32> = (0..rows * columns).map(|i| (i % 97) as f32 * 0.01).collect();
    let run = |n_cores| {
        let mut sum = trial(&reduce_sum("call barrier() @8:1"), rows as u32, 256)
            .floats(&x)
            .fresh(Scalar::F32, rows)
            .int(columns as i64);
        sum.options.n_cores = n_cores;
        let start = Instant::now();
        assert_eq!(sum.clean().n_cores, n_cores);
        start.elapsed()
    };
    let mut times: Vec<_> = (0..5).map(|_| [run(1), run(2)]).collect();
    let mut median = |at: usize| {
        times.sort_by_key(|pair| pair[at]);
        times[2][at]
    };
    let [one, two] = [median(0), median(1)];
    let ratio = two.as_secs_f64() / one.as_secs_f64();
    eprintln!("reduce_sum: {one:?} on one core, {two:?} on two, {ratio:.2} of it");
}

#[test]
fn elements_are_changed_in_place() {
    let text = "kernel add_one(v0 x: pointer.global float32 align 4 written, v1 n: int64) {
        v2: int64 = call thread_idx.x()
        v3: int64 = call block_idx.x()
        v4: int64 = call block_dim.x()
        v5: int64 = mul v3, v4
        v6: int64 = add v5, v2
        v7: bool = lt v6, v1
        if v7 {
          v8: int64 = const 4
          v9: int64 = mul v6, v8
          v10: pointer.global = offset v0, v9
          inbounds v6, v1
          v11: float32 = load v10 align 4
          v12: float32 = const 1.0
          v13: float32 = add v11, v12
          store v10, v13 align 4
        }
    }";
    let x: Vec<f32> = (0..40_000).map(|i| i as f32).collect();
    let mut add_one = trial(text, 157, 256).floats(&x).int(x.len() as i64);
    timed("add_one, in place", &mut add_one);
    assert_eq!(add_one.floats_at(0), x.iter().map(|x| x + 1.0).collect::<Vec<_>>());
}

/// A product of matrices with tiles of 16 rows and columns in shared memory: each number there is
/// read by 16 threads of up to 8 warps, between two barriers.
const PRODUCT: &str = "kernel product(v0 a: pointer.global float32 align 16,
        v1 b: pointer.global float32 align 16, v2 c: pointer.global float32 align 16 written,
        v3 n: int64) block [16, 16, 1] {
    shared0 left: float32 bytes 1024 align 16
    shared1 right: float32 bytes 1024 align 16
    s0 sum: float32
    v4: int64 = call thread_idx.x()
    v5: int64 = call thread_idx.y()
    v6: int64 = call block_idx.x()
    v7: int64 = call block_idx.y()
    v8: int64 = const 16
    v9: int64 = const 4
    v10: int64 = const 0
    v11: int64 = const 1
    v12: float32 = const 0.0
    v13: int64 = mul v7, v8
    v14: int64 = add v13, v5
    v15: int64 = mul v6, v8
    v16: int64 = add v15, v4
    v17: pointer.shared = shared0
    v18: pointer.shared = shared1
    v19: int64 = mul v5, v8
    v20: int64 = add v19, v4
    v21: int64 = mul v20, v9
    v22: pointer.shared = offset v17, v21
    v23: pointer.shared = offset v18, v21
    set s0, v12
    for v30: int64 = v10 to v3 step v8 {
      v31: int64 = mul v14, v3
      v32: int64 = add v31, v30
      v33: int64 = add v32, v4
      v34: int64 = mul v33, v9
      v35: pointer.global = offset v0, v34
      v36: float32 = load v35 align 4
      store v22, v36 align 4
      v37: int64 = add v30, v5
      v38: int64 = mul v37, v3
      v39: int64 = add v38, v16
      v40: int64 = mul v39, v9
      v41: pointer.global = offset v1, v40
      v42: float32 = load v41 align 4
      store v23, v42 align 4
      call barrier()
      for v50: int64 = v10 to v8 step v11 {
        v51: int64 = add v19, v50
        v52: int64 = mul v51, v9
        v53: pointer.shared = offset v17, v52
        v54: float32 = load v53 align 4
        v55: int64 = mul v50, v8
        v56: int64 = add v55, v4
        v57: int64 = mul v56, v9
        v58: pointer.shared = offset v18, v57
        v59: float32 = load v58 align 4
        v60: float32 = get s0
        v61: float32 = call fma(v54, v59, v60)
        set s0, v61
      }
      call barrier()
    }
    v70: int64 = mul v14, v3
    v71: int64 = add v70, v16
    v72: int64 = mul v71, v9
    v73: pointer.global = offset v2, v72
    v74: float32 = get s0
    store v73, v74 align 4
}";

#[test]
fn a_product_of_matrices_is_that_of_its_tiles() {
    let n = 64;
    let a: Vec<f32> = (0..n * n).map(|i| (i % 13) as f32 * 0.3).collect();
    let b: Vec<f32> = (0..n * n).map(|i| (i % 11) as f32 * 0.7).collect();
    let mut product = trial(PRODUCT, 1, 1)
        .grid([4, 4, 1])
        .block([16, 16, 1])
        .floats(&a)
        .floats(&b)
        .fresh(Scalar::F32, n * n)
        .int(n as i64);
    timed("product of matrices", &mut product);
    let element =
        |i: usize| (0..n).fold(0.0, |sum, k| a[i / n * n + k].mul_add(b[k * n + i % n], sum));
    assert_eq!(product.floats_at(2), (0..n * n).map(element).collect::<Vec<_>>());
}
