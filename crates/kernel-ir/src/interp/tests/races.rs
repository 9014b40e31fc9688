// SPDX-License-Identifier: Apache-2.0
//! Races that are there are found, at both places, and kernels without them stay silent.

use super::{Run, reduce_sum};
use crate::types::Scalar;
use expect_test::expect;

fn sum(barrier: &str, block: u32) -> Run {
    let x: Vec<f32> = (0..3 * 1000).map(|i| i as f32).collect();
    Run::of(&reduce_sum(barrier), 3, block).floats(&x).fresh(Scalar::F32, 3).int(1000)
}

#[test]
fn a_barrier_orders_the_warps_of_a_block() {
    sum("call barrier() @8:1", 256).clean();
}

#[test]
fn without_a_barrier_the_first_warp_races_with_the_others() {
    let expected = expect![[r#"
        error[uninitialised-read]: reads `partial[1]`, which was never written, in thread (1, 0, 0) of block (0, 0, 0), at kernel.py:9:1
        found 21 times
        error[shared-race]: race: `partial[1]` is written, and nothing orders that with another thread's read, in thread (32, 0, 0) of block (0, 0, 0), at kernel.py:7:1; thread (1, 0, 0) of block (0, 0, 0) reads it, at kernel.py:9:1
        found 21 times
    "#]];
    sum("", 256).expect_findings(expected);
}

#[test]
fn a_block_of_one_warp_reads_what_its_first_lane_wrote() {
    sum("", 32).clean();
}

#[test]
fn blocks_that_write_one_element_race() {
    let text = "kernel k(v0 out: pointer.global int32 align 4 written) {
        v1: int64 = call thread_idx.x()
        v2: int64 = const 0
        v3: bool = eq v1, v2
        v4: int32 = const 7
        if v3 { store v0, v4 align 4 @2:3 }
    }";
    Run::of(text, 1, 64).fresh(Scalar::I32, 1).clean();
    Run::of(text, 2, 64).fresh(Scalar::I32, 1).expect_findings(expect![[r#"
        error[global-race]: race: `out[0]` is written, and nothing orders that with another thread's write, in thread (0, 0, 0) of block (1, 0, 0), at kernel.py:2:3; thread (0, 0, 0) of block (0, 0, 0) writes it, at kernel.py:2:3
    "#]]);
}

#[test]
fn lanes_of_a_warp_are_ordered_by_its_barrier_only() {
    let text = |between: &str| {
        format!(
            "kernel k(v0 out: pointer.global int64 align 8 written) {{
                shared0 line: int64 bytes 256 align 8
                v1: int64 = call thread_idx.x()
                v2: int64 = const 8
                v3: int64 = mul v1, v2
                v4: pointer.shared = shared0
                v5: pointer.shared = offset v4, v3
                store v5, v1 align 8 @2:1
                {between}
                v6: int64 = const 31
                v7: int64 = sub v6, v1
                v8: int64 = mul v7, v2
                v9: pointer.shared = offset v4, v8
                v10: int64 = load v9 align 8 @4:1
                v11: pointer.global = offset v0, v3
                store v11, v10 align 8 @5:1
            }}"
        )
    };
    Run::of(&text("call barrier.warp()"), 1, 32).fresh(Scalar::I64, 32).clean();
    Run::of(&text("call barrier()"), 1, 32).fresh(Scalar::I64, 32).clean();
    let shuffled = "v20: int64 = const 1 v21: int64 = call shuffle.xor(v1, v20)";
    let expected = expect![[r#"
        error[shared-race]: race: `line[31]` is read, and nothing orders that with another thread's write, in thread (0, 0, 0) of block (0, 0, 0), at kernel.py:4:1; thread (31, 0, 0) of block (0, 0, 0) writes it, at kernel.py:2:1
        found 32 times
    "#]];
    Run::of(&text(shuffled), 1, 32).fresh(Scalar::I64, 32).expect_findings(expected);
}
