// SPDX-License-Identifier: Apache-2.0
//! The barrier of the grid: what blocks give one another through global memory, and who is missing.

use super::{Trial, trial};
use expect_test::expect;

/// Blocks of 64 threads in turns: each thread gives its number to the one 37 behind, and takes what
/// it is given, with what stands between the two.
fn passed_on(n_blocks: u32, between: &str) -> Trial {
    let text = format!(
        "kernel k(v0 x: pointer.global int32 align 4 written, v1 turns: int64) block [64, 1, 1] {{
            v2: int64 = call thread_idx.x()
            v3: int64 = call block_idx.x()
            v4: int64 = call grid_dim.x()
            v5: int64 = const 64
            v6: int64 = mul v3, v5
            v7: int64 = add v6, v2
            v8: int64 = mul v4, v5
            v9: int64 = const 37
            v10: int64 = add v7, v9
            v11: int64 = floormod v10, v8
            v12: int64 = const 4
            v13: int64 = mul v7, v12
            v14: pointer.global = offset v0, v13
            v15: int64 = mul v11, v12
            v16: pointer.global = offset v0, v15
            v17: int64 = const 0
            v18: int64 = const 1
            for v19: int64 = v17 to v1 step v18 {{
                v20: int32 = load v14 align 4 @2:1
                {between}
                store v16, v20 align 4 @4:1
                {between}
            }}
        }}"
    );
    let n = n_blocks as i32 * 64;
    trial(&text, n_blocks, 64).ints(&(0..n).collect::<Vec<_>>()).int(5)
}

const SYNC: &str = "call barrier.grid() @3:1";

#[test]
fn all_blocks_see_what_was_written_before() {
    for (seed, n_blocks) in (0..20).zip([1, 2, 9, 200].into_iter().cycle()) {
        let mut trial = passed_on(n_blocks, SYNC).seed(seed);
        trial.clean();
        let n = n_blocks as i32 * 64;
        let from = |i: i32| (i - 5 * 37).rem_euclid(n);
        assert_eq!(trial.ints_at(0), (0..n).map(from).collect::<Vec<_>>());
    }
}

#[test]
fn blocks_of_clusters_wait_for_those_of_all_others() {
    for seed in 0..4 {
        passed_on(8, SYNC).cluster([4, 1, 1]).seed(seed).clean();
    }
    let mut trial = passed_on(8, SYNC).cluster([4, 1, 1]);
    trial.options.most_blocks = Some(7);
    assert_eq!(trial.run().findings.len(), 1);
}

#[test]
fn it_is_the_same_on_several_cores() {
    let mut trial = passed_on(60, SYNC);
    (trial.options.n_cores, trial.options.least_warps) = (4, 0);
    assert_eq!(trial.clean().n_cores, 1);
}

#[test]
fn a_barrier_of_each_block_orders_nothing_between_them() {
    for seed in 0..20 {
        let outcome = passed_on(2, "call barrier()").seed(seed).run();
        assert!(!outcome.findings.is_empty(), "{seed}");
    }
}

#[test]
fn blocks_that_cannot_begin_are_missing() {
    let mut trial = passed_on(10, SYNC);
    trial.options.most_blocks = Some(8);
    trial.expect_findings(expect![[r#"
        error[deadlock]: deadlock: waits at the grid's barrier for 2 blocks that cannot begin before one of these ends, in thread (0, 0, 0) of block (0, 0, 0), at kernel.py:3:1
        found 16 times
    "#]]);
    let mut trial = passed_on(10, SYNC);
    trial.options.most_blocks = Some(10);
    trial.clean();
}

/// A kernel in which only some come to the barrier: that is what the verifier refuses.
fn parted(condition: &str, otherwise: &str) -> Trial {
    let text = format!(
        "kernel k(v0 x: pointer.global int32 align 4 written) {{
            v1: int64 = call block_idx.x()
            v2: int64 = call warp_idx()
            v3: int64 = const 1
            v4: bool = {condition}
            if v4 {{ call barrier.grid() @3:1 }} else {{ {otherwise} }}
        }}"
    );
    trial(&text, 3, 64).ints(&[0])
}

#[test]
fn a_block_that_ends_is_missing() {
    for seed in 0..10 {
        let outcome = parted("ne v1, v3", "").seed(seed).run();
        assert_eq!(outcome.findings.len(), 1, "{seed}");
    }
    parted("ne v1, v3", "").expect_findings(expect![[r#"
        error[deadlock]: deadlock: waits at the grid's barrier for block (1, 0, 0), which has ended, in thread (0, 0, 0) of block (0, 0, 0), at kernel.py:3:1
        found 4 times
    "#]]);
}

#[test]
fn a_warp_that_ends_or_waits_elsewhere_is_missing() {
    parted("ne v2, v3", "").expect_findings(expect![[r#"
        error[deadlock]: deadlock: waits at the grid's barrier for thread (32, 0, 0) of block (0, 0, 0), in thread (0, 0, 0) of block (0, 0, 0), at kernel.py:3:1
        found 3 times
    "#]]);
    parted("ne v2, v3", "call barrier() @4:1").expect_findings(expect![[r#"
        error[deadlock]: deadlock: waits at the grid's barrier for thread (32, 0, 0) of block (0, 0, 0), in thread (0, 0, 0) of block (0, 0, 0), at kernel.py:3:1
        found 3 times
        error[deadlock]: deadlock: waits at its block's barrier for thread (0, 0, 0) of block (0, 0, 0), in thread (32, 0, 0) of block (0, 0, 0), at kernel.py:4:1
        found 3 times
    "#]]);
}

#[test]
fn a_thread_that_waits_in_a_loop_is_missing() {
    let wait = "v5: int32 = const 0
        while @4:1 { v6: int32 = call atomic.load.int32(v0, acquire, gpu) v7: bool = eq v6, v5 } v7 { }";
    let mut trial = parted("ne v1, v3", wait);
    trial.options.most_idle_turns = 5000;
    trial.expect_findings(expect![[r#"
        error[deadlock]: deadlock: 3 blocks run, and all wait for what never happens, in thread (0, 0, 0) of block (1, 0, 0), at kernel.py:4:1
        error[deadlock]: deadlock: waits at the grid's barrier for thread (0, 0, 0) of block (1, 0, 0), in thread (0, 0, 0) of block (0, 0, 0), at kernel.py:3:1
        found 4 times
    "#]]);
}

#[test]
fn lanes_that_do_not_come_are_told() {
    let text = "kernel k() {
        v1: int64 = call lane_idx()
        v2: int64 = const 3
        v3: bool = ne v1, v2
        if v3 { call barrier.grid() @3:1 }
    }";
    trial(text, 1, 32).expect_findings(expect![[r#"
        error[divergent-barrier]: the grid's barrier that not all threads come to: thread (3, 0, 0) of block (0, 0, 0) does not, in thread (0, 0, 0) of block (0, 0, 0), at kernel.py:3:1
    "#]]);
}
