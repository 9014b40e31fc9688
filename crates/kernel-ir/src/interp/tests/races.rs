// SPDX-License-Identifier: Apache-2.0
//! Races that are there are found, at both places, and kernels without them stay silent.

use super::{Trial, reduce_sum, trial};
use crate::types::Scalar;
use expect_test::expect;

fn sum(barrier: &str, block: u32) -> Trial {
    let x: Vec<f32> = (0..3 * 1000).map(|i| i as f32).collect();
    trial(&reduce_sum(barrier), 3, block).floats(&x).fresh(Scalar::F32, 3).int(1000)
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
    trial(text, 1, 64).fresh(Scalar::I32, 1).clean();
    trial(text, 2, 64).fresh(Scalar::I32, 1).expect_findings(expect![[r#"
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
    trial(&text("call barrier.warp()"), 1, 32).fresh(Scalar::I64, 32).clean();
    trial(&text("call barrier()"), 1, 32).fresh(Scalar::I64, 32).clean();
    let shuffled = "v20: int64 = const 1 v21: int64 = call shuffle.xor(v1, v20)";
    let expected = expect![[r#"
        error[shared-race]: race: `line[31]` is read, and nothing orders that with another thread's write, in thread (0, 0, 0) of block (0, 0, 0), at kernel.py:4:1; thread (31, 0, 0) of block (0, 0, 0) writes it, at kernel.py:2:1
        found 32 times
    "#]];
    trial(&text(shuffled), 1, 32).fresh(Scalar::I64, 32).expect_findings(expected);
}

/// Threads pass numbers on to their neighbours through shared memory, `{n_buffers}` deep, as often
/// as the block has turns.
fn pass_on(n_buffers: u32, barrier_behind: &str) -> Trial {
    let text = format!(
        "kernel k(v0 out: pointer.global int32 align 4 written, v1 turns: int64) {{
            shared0 line: int32 bytes {} align 16
            s0 mine: int32
            v2: int64 = call thread_idx.x()
            v3: int64 = call block_dim.x()
            v4: int64 = const 0
            v5: int64 = const 1
            v6: int64 = const 4
            v7: int64 = const {n_buffers}
            v8: pointer.shared = shared0
            v9: int64 = mul v2, v6
            v10: int64 = add v2, v5
            v11: int64 = floormod v10, v3
            v12: int64 = mul v11, v6
            v13: int64 = mul v3, v6
            v14: int32 = convert v2
            set s0, v14
            for v20: int64 = v4 to v1 step v5 {{
              v21: int64 = floormod v20, v7
              v22: int64 = mul v21, v13
              v23: pointer.shared = offset v8, v22
              v24: pointer.shared = offset v23, v9
              v25: int32 = get s0
              store v24, v25 align 4 @2:1
              call barrier()
              v26: pointer.shared = offset v23, v12
              v27: int32 = load v26 align 4 @3:1
              set s0, v27
              {barrier_behind}
            }}
            v30: pointer.global = offset v0, v9
            v31: int32 = get s0
            store v30, v31 align 4
        }}",
        n_buffers * 4 * 96
    );
    trial(&text, 1, 96).fresh(Scalar::I32, 96).int(7)
}

#[test]
fn two_buffers_need_one_barrier_and_one_buffer_two() {
    for seed in 0..3 {
        for mut run in [pass_on(1, "call barrier()"), pass_on(2, ""), pass_on(3, "")] {
            run.options.seed = seed;
            run.clean();
            assert_eq!(run.ints_at(0), (0..96).map(|i| (i + 7) % 96).collect::<Vec<_>>());
        }
    }
    pass_on(1, "").expect_findings(expect![[r#"
        error[shared-race]: race: `line[1]` is written, and nothing orders that with another thread's read, in thread (1, 0, 0) of block (0, 0, 0), at kernel.py:2:1; thread (0, 0, 0) of block (0, 0, 0) reads it, at kernel.py:3:1
        found 570 times
        error[shared-race]: race: `line[0]` is read, and nothing orders that with another thread's write, in thread (95, 0, 0) of block (0, 0, 0), at kernel.py:3:1; thread (0, 0, 0) of block (0, 0, 0) writes it, at kernel.py:2:1
        found 6 times
    "#]]);
}

#[test]
fn a_race_is_found_in_whatever_order_threads_run() {
    for seed in 0..20 {
        let mut run = pass_on(1, "").seed(seed);
        let outcome = run.run();
        let kinds: Vec<_> = outcome.findings.iter().map(|one| one.kind.code()).collect();
        assert!(kinds.contains(&"shared-race"), "{kinds:?}");
    }
}

#[test]
fn grid_stride_loops_write_each_element_once() {
    let text = |first: &str| {
        format!(
            "kernel k(v0 x: pointer.global int32 align 4 written, v1 n: int64) {{
                v2: int64 = call thread_idx.x()
                v3: int64 = call block_idx.x()
                v4: int64 = call block_dim.x()
                v5: int64 = call grid_dim.x()
                v6: int64 = mul v3, v4
                v7: int64 = add v6, v2
                v8: int64 = mul v4, v5
                v9: int64 = const 4
                v15: int64 = const 1
                {first}
                for v10: int64 = v16 to v1 step v8 {{
                  v11: int64 = mul v10, v9
                  v12: pointer.global = offset v0, v11
                  v13: int32 = load v12 align 4 @2:1
                  v14: int32 = add v13, v13
                  store v12, v14 align 4 @3:1
                }}
            }}"
        )
    };
    let x: Vec<i32> = (0..1001).collect();
    let mut right = trial(&text("v16: int64 = add v7, v9"), 3, 48).ints(&x).int(1001);
    right.clean();
    assert_eq!(right.ints_at(0)[4..], x[4..].iter().map(|i| i * 2).collect::<Vec<_>>());
    // Each block begins one thread too early: two threads meet at the ends.
    let early = "v17: int64 = mul v3, v15 v16: int64 = sub v7, v17";
    trial(&text(early), 3, 48).ints(&x).int(200).expect_findings(expect![[r#"
        error[global-race]: race: `x[47]` is read, and nothing orders that with another thread's write, in thread (0, 0, 0) of block (1, 0, 0), at kernel.py:2:1; thread (47, 0, 0) of block (0, 0, 0) writes it, at kernel.py:3:1
        found 3 times
        error[global-race]: race: `x[47]` is written, and nothing orders that with another thread's write, in thread (0, 0, 0) of block (1, 0, 0), at kernel.py:3:1; thread (47, 0, 0) of block (0, 0, 0) writes it, at kernel.py:3:1
        found 3 times
    "#]]);
}

#[test]
fn a_uniform_load_that_gives_threads_different_numbers_is_a_race() {
    // Every thread reads one number and loops as often as it says, around a barrier; but one thread
    // changes it.
    let text = "kernel k(v0 x: pointer.global int64 align 8 written) {
        v1: int64 = call thread_idx.x()
        v2: int64 = const 40
        v3: bool = eq v1, v2
        v4: int64 = const 0
        v5: int64 = const 1
        v6: int64 = const 3
        if v3 { store v0, v6 align 8 @2:1 }
        v7: int64 = load v0 align 8 @3:1
        for v8: int64 = v4 to v7 step v5 { call barrier() @4:1 }
    }";
    let memory = super::Memory::new("x", Scalar::I64, vec![1, 0, 0, 0, 0, 0, 0, 0]);
    trial(text, 1, 64).tensor(memory).expect_findings(expect![[r#"
        error[global-race]: race: `x[0]` is written, and nothing orders that with another thread's read, in thread (40, 0, 0) of block (0, 0, 0), at kernel.py:2:1; thread (0, 0, 0) of block (0, 0, 0) reads it, at kernel.py:3:1
        error[global-race]: race: `x[0]` is read, and nothing orders that with another thread's write, in thread (32, 0, 0) of block (0, 0, 0), at kernel.py:3:1; thread (40, 0, 0) of block (0, 0, 0) writes it, at kernel.py:2:1
        found 31 times
        error[divergent-barrier]: a barrier that not all threads come to: thread (0, 0, 0) of block (0, 0, 0) has ended, in thread (32, 0, 0) of block (0, 0, 0), at kernel.py:4:1
        found 2 times
    "#]]);
}

#[test]
fn cells_are_as_small_as_the_smallest_access() {
    // Two threads write the halves of an element: no race, whichever came first.
    let text = |offset: &str| {
        format!(
            "kernel k(v0 x: pointer.global int32 align 4 written) {{
                v1: int64 = call thread_idx.x()
                v2: int64 = const 2
                v3: int64 = {offset}
                v4: pointer.global = offset v0, v3
                v5: int16 = convert v1
                store v4, v5 align 2 @2:1
            }}"
        )
    };
    trial(&text("mul v1, v2"), 1, 64).ints(&[0; 32]).clean();
    let expected = expect![[r#"
        error[global-race]: race: `x[0]` is written, and nothing orders that with another thread's write, in thread (1, 0, 0) of block (0, 0, 0), at kernel.py:2:1; thread (0, 0, 0) of block (0, 0, 0) writes it, at kernel.py:2:1
        found 2 times
    "#]];
    trial(&text("and v1, v2"), 1, 4).ints(&[0; 32]).expect_findings(expected);
    // An access across two elements, of which another thread writes the second.
    let text = "kernel k(v0 x: pointer.global int32 align 4 written) {
        v1: int64 = call thread_idx.x()
        v2: int64 = const 4
        v3: int64 = mul v1, v2
        v4: pointer.global = offset v0, v3
        v5: int64x2 = splat v1
        v6: int64 = const 0
        v7: bool = eq v1, v6
        v8: int32 = const 1
        if v7 { store v4, v1 align 4 @2:1 } else { store v4, v8 align 4 @3:1 }
    }";
    trial(text, 1, 2).ints(&[0; 4]).expect_findings(expect![[r#"
        error[global-race]: race: `x[1]` is written, and nothing orders that with another thread's write, in thread (1, 0, 0) of block (0, 0, 0), at kernel.py:3:1; thread (0, 0, 0) of block (0, 0, 0) writes it, at kernel.py:2:1
    "#]]);
}

#[test]
fn tensors_that_overlap_race_where_they_do() {
    let text = "kernel k(v0 x: pointer.global int32 align 4, v1 out: pointer.global int32 align 4 written) {
        v2: int64 = call thread_idx.x()
        v3: int64 = const 4
        v4: int64 = mul v2, v3
        v5: pointer.global = offset v0, v4
        v6: pointer.global = offset v1, v4
        v7: int32 = load v5 align 4 @2:1
        store v6, v7 align 4 @3:1
    }";
    let overlapping = |offset: u64| {
        let mut run = trial(text, 1, 64).ints(&[7; 128]);
        let memory = crate::interp::MemoryId(0);
        run.arguments.push(crate::interp::Argument::Tensor { memory, offset });
        run
    };
    overlapping(0).clean();
    overlapping(256).clean();
    overlapping(128).expect_findings(expect![[r#"
        error[global-race]: race: `x[32]` is read, and nothing orders that with another thread's write, in thread (32, 0, 0) of block (0, 0, 0), at kernel.py:2:1; thread (0, 0, 0) of block (0, 0, 0) writes it, at kernel.py:3:1
        found 32 times
    "#]]);
}
