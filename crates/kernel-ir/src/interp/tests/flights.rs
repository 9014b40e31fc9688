// SPDX-License-Identifier: Apache-2.0
//! Copies in flight: what they move, and what has to wait for them.

use super::{Trial, trial};
use crate::types::Scalar;
use expect_test::{Expect, expect};

const TURNS: i64 = 5;
const THREADS: usize = 64;

/// The lines of a pipeline of two stages that can be left out or changed.
#[derive(Clone, Copy)]
struct Lines {
    commit: &'static str,
    wait: &'static str,
    filled: &'static str,
    emptied: &'static str,
    rest: &'static str,
}

const RIGHT: Lines = Lines {
    commit: "call copy.commit() @5:1",
    wait: "call copy.wait(1) @6:1",
    filled: "call barrier() @7:1",
    emptied: "call barrier() @9:1",
    rest: "call copy.wait(0) @10:1",
};

/// Adds up tiles, of which one is copied while the one before it is read: each thread copies an
/// element, and reads the one of the thread across the block.
fn pipeline(lines: Lines) -> Trial {
    let Lines { commit, wait, filled, emptied, rest } = lines;
    let text = format!(
        "kernel k(v0 x: pointer.global int32 align 16, v1 out: pointer.global int32 align 4 written,
            v2 turns: int64 0..100) block [64, 1, 1] {{
            shared0 ring: int32 bytes 512 align 16
            s0 sum: int32
            v3: int64 = call thread_idx.x()
            v4: int64 = const 4
            v5: int64 = mul v3, v4
            v6: int64 = const 63
            v7: int64 = sub v6, v3
            v8: int64 = mul v7, v4
            v9: int64 = const 0
            v10: int64 = const 1
            v11: int64 = const 2
            v12: int64 = const 256
            v13: int32 = const 0
            v14: pointer.shared = shared0
            v15: pointer.shared = offset v14, v5
            v16: pointer.global = offset v0, v5
            v17: bool = lt v9, v2
            call copy.async(v15, v16, 4, v17) @2:1
            call copy.commit() @3:1
            set s0, v13
            for v20: int64 = v9 to v2 step v10 {{
                v21: int64 = add v20, v10
                v22: int64 = mul v21, v12
                v23: pointer.global = offset v16, v22
                v24: int64 = floormod v21, v11
                v25: int64 = mul v24, v12
                v26: pointer.shared = offset v15, v25
                v27: bool = lt v21, v2
                call copy.async(v26, v23, 4, v27) @4:1
                {commit}
                {wait}
                {filled}
                v30: int64 = floormod v20, v11
                v31: int64 = mul v30, v12
                v32: int64 = add v31, v8
                v33: pointer.shared = offset v14, v32
                v34: int32 = load v33 align 4 @8:1
                v35: int32 = get s0
                v36: int32 = add v35, v34
                set s0, v36
                {emptied}
            }}
            {rest}
            v40: int32 = get s0
            v41: pointer.global = offset v1, v5
            store v41, v40 align 4 @11:1
        }}"
    );
    let n_read = TURNS as usize * THREADS;
    let x: Vec<_> = (0..n_read as i32).collect();
    trial(&text, 1, THREADS as u32).ints(&x).fresh(Scalar::I32, THREADS).int(TURNS)
}

#[test]
fn copies_are_there_behind_their_wait_and_a_barrier() {
    for seed in 0..30 {
        let mut trial = pipeline(RIGHT).seed(seed);
        trial.clean();
        let sum = |thread: usize| {
            let elements = (0..TURNS as usize).map(|turn| turn * THREADS + THREADS - 1 - thread);
            elements.sum::<usize>() as i32
        };
        assert_eq!(trial.ints_at(1), (0..THREADS).map(sum).collect::<Vec<_>>());
    }
}

/// Finds the same first mistake, whatever the order in which warps run.
fn expect_first(lines: Lines, expected: &Expect) {
    let first = |seed| {
        let mut trial = pipeline(lines).seed(seed);
        let outcome = trial.run();
        let told = trial.told(&outcome.findings[..1]);
        told.lines().next().map(|line| line.split(", in thread").next().unwrap().to_string())
    };
    expected.assert_eq(&first(0).unwrap());
    for seed in 1..10 {
        assert!(first(seed).is_some());
    }
}

#[test]
fn what_is_read_before_the_wait_is_found() {
    expect_first(
        Lines { wait: "", ..RIGHT },
        &expect![
            "error[copy-in-flight]: reads `ring[63]` while a copy into it is in flight, and its thread has not waited for it"
        ],
    );
    expect_first(
        Lines { wait: "call copy.wait(2) @6:1", ..RIGHT },
        &expect![
            "error[copy-in-flight]: reads `ring[63]` while a copy into it is in flight, and its thread has not waited for it"
        ],
    );
}

#[test]
fn a_copy_in_no_group_is_not_waited_for() {
    expect_first(
        Lines { commit: "", wait: "call copy.wait(0) @6:1", ..RIGHT },
        &expect![
            "error[copy-in-flight]: reads `ring[127]` while a copy into it is in flight, in no group yet"
        ],
    );
}

#[test]
fn a_wait_is_for_the_copies_of_one_thread() {
    expect_first(
        Lines { filled: "", ..RIGHT },
        &expect!["error[uninitialised-read]: reads `ring[63]`, which was never written"],
    );
}

#[test]
fn a_copy_into_what_others_still_read_is_a_race() {
    expect_first(
        Lines { emptied: "", ..RIGHT },
        &expect![
            "error[copy-in-flight]: reads `ring[31]` while a copy into it is in flight, and its thread has not waited for it"
        ],
    );
}

#[test]
fn a_copy_that_nobody_waits_for_is_found() {
    expect_first(
        Lines { rest: "", ..RIGHT },
        &expect!["error[unawaited-copy]: a copy is in flight when its thread ends"],
    );
    let mut full = pipeline(Lines { rest: "", ..RIGHT });
    full.options.most_findings = 1;
    assert!(!full.run().is_complete);
}

/// One copy of 16 bytes by one thread, with what stands around it.
fn one(before: &str, behind: &str) -> Trial {
    let text = format!(
        "kernel k(v0 x: pointer.global float32 align 16 written,
            v1 out: pointer.global float32 align 16 written, v2 by: int64) {{
            shared0 tile: float32 bytes 64 align 16
            v3: pointer.shared = shared0
            v4: pointer.global = offset v0, v2
            v5: bool = const true
            v6: bool = const false
            v7: float32 = const 7.0
            v8: pointer.shared = offset v3, v2
            v9: int64 = const 16
            v10: pointer.shared = offset v3, v9
            {before}
            call copy.async(v3, v4, 16, v5) @3:1
            {behind}
            call copy.commit()
            call copy.wait(0) @5:1
            v20: float32x4 = load v3 align 16 @6:1
            store v1, v20 align 16 @7:1
        }}"
    );
    let x: Vec<_> = (0..8).map(|i| i as f32).collect();
    trial(&text, 1, 1).floats(&x).fresh(Scalar::F32, 4).int(16)
}

/// All that is found.
fn found(mut trial: Trial) -> String {
    let outcome = trial.run();
    trial.told(&outcome.findings)
}

#[test]
fn sixteen_bytes_move_at_once() {
    let mut trial = one("", "");
    trial.clean();
    assert_eq!(trial.floats_at(1), [4.0, 5.0, 6.0, 7.0]);
}

/// The kernel of [`one`], with something changed.
fn changed(from: &str, to: &str) -> Trial {
    trial(&one("", "").kernel.to_string().replace(from, to), 1, 1)
}

#[test]
fn a_copy_that_is_not_given_writes_zeros_and_reads_nothing() {
    // Its source is far behind the tensor.
    let zeros = changed("16, v5", "16, v6");
    let mut zeros = zeros.floats(&[1.0; 4]).fresh(Scalar::F32, 4).int(4096);
    zeros.clean();
    assert_eq!(zeros.floats_at(1), [0.0; 4]);
    // It writes all the same.
    one("", "call copy.async(v3, v4, 16, v6) @4:1").expect_findings(expect![[r#"
        error[copy-in-flight]: writes `tile[0]` while a copy into it is in flight, in no group yet, in thread (0, 0, 0) of block (0, 0, 0), at kernel.py:4:1; thread (0, 0, 0) of block (0, 0, 0) copies into it, at kernel.py:3:1
    "#]]);
}

#[test]
fn what_a_copy_reads_may_not_be_written_meanwhile() {
    let mut before = one("store v4, v7 align 4 @2:1", "");
    before.clean();
    assert_eq!(before.floats_at(1), [7.0, 5.0, 6.0, 7.0]);
    one("", "store v4, v7 align 4 @4:1").expect_findings(expect![[r#"
        error[copy-in-flight]: writes `x[4]` while a copy from it is in flight, in no group yet, in thread (0, 0, 0) of block (0, 0, 0), at kernel.py:4:1; thread (0, 0, 0) of block (0, 0, 0) copies from it, at kernel.py:3:1
    "#]]);
    one("", "v30: float32 = load v4 align 4").clean();
}

#[test]
fn what_a_copy_writes_may_not_be_touched_meanwhile() {
    one("store v3, v7 align 4 @2:1", "").clean();
    one("", "store v3, v7 align 4 @4:1").expect_findings(expect![[r#"
        error[copy-in-flight]: writes `tile[0]` while a copy into it is in flight, in no group yet, in thread (0, 0, 0) of block (0, 0, 0), at kernel.py:4:1; thread (0, 0, 0) of block (0, 0, 0) copies into it, at kernel.py:3:1
    "#]]);
    one("", "v30: float32 = call atomic.add(v3, v7, relaxed, block) @4:1").expect_findings(expect![[r#"
        error[copy-in-flight]: updates `tile[0]` while a copy into it is in flight, in no group yet, in thread (0, 0, 0) of block (0, 0, 0), at kernel.py:4:1; thread (0, 0, 0) of block (0, 0, 0) copies into it, at kernel.py:3:1
    "#]]);
    one("", "call copy.async(v3, v0, 8, v5) @4:1").expect_findings(expect![[r#"
        error[copy-in-flight]: writes `tile[0]` while a copy into it is in flight, in no group yet, in thread (0, 0, 0) of block (0, 0, 0), at kernel.py:4:1; thread (0, 0, 0) of block (0, 0, 0) copies into it, at kernel.py:3:1
    "#]]);
}

#[test]
fn addresses_of_copies_are_held_to_bounds_and_alignment() {
    let at = |by| {
        let mut trial = one("", "");
        trial.arguments.pop();
        found(trial.int(by))
    };
    expect![[r#"
        error[out-of-bounds]: reads elements 5 to 8 of `x`, which has 8, in thread (0, 0, 0) of block (0, 0, 0), at kernel.py:3:1
        error[uninitialised-read]: reads `tile[0]`, which was never written, in thread (0, 0, 0) of block (0, 0, 0), at kernel.py:6:1
    "#]].assert_eq(&at(20));
    expect![[r#"
        error[misaligned-access]: reads `x[2]` as if aligned to 16 bytes, at byte 8, which is no multiple of 16, in thread (0, 0, 0) of block (0, 0, 0), at kernel.py:3:1
    "#]].assert_eq(&at(8));
    let outside = changed("copy.async(v3,", "copy.async(v8,");
    let told = found(outside.floats(&[1.0; 20]).fresh(Scalar::F32, 4).int(64));
    assert!(told.contains("writes elements 16 to 19 of `tile`, which has 16"), "{told}");
    let unwritten = changed("", "");
    let told = found(unwritten.fresh(Scalar::F32, 8).fresh(Scalar::F32, 4).int(0));
    assert!(told.contains("reads `x[0]`, which was never written"), "{told}");
}

#[test]
fn a_copy_that_begins_behind_a_read_of_another_thread_races_with_it() {
    let text = |between: &str| {
        format!(
            "kernel k(v0 x: pointer.global int32 align 4, v1 out: pointer.global int32 align 4 written)
                block [64, 1, 1] {{
                shared0 tile: int32 bytes 256 align 16
                v2: int64 = call thread_idx.x()
                v3: int64 = const 4
                v4: int64 = mul v2, v3
                v5: int64 = const 63
                v6: int64 = sub v5, v2
                v7: int64 = mul v6, v3
                v8: pointer.shared = shared0
                v9: pointer.shared = offset v8, v4
                v10: pointer.shared = offset v8, v7
                v11: pointer.global = offset v0, v4
                v12: bool = const true
                v13: int32 = const 1
                store v9, v13 align 4
                call barrier()
                v14: int32 = load v10 align 4 @2:1
                {between}
                call copy.async(v9, v11, 4, v12) @4:1
                call copy.commit()
                call copy.wait(0)
                v15: int32 = load v9 align 4
                v16: int32 = add v14, v15
                v17: pointer.global = offset v1, v4
                store v17, v16 align 4
            }}"
        )
    };
    let trial = |between: &str| {
        let x: Vec<_> = (0..64).collect();
        trial(&text(between), 1, 64).ints(&x).fresh(Scalar::I32, 64)
    };
    let mut right = trial("call barrier()");
    right.clean();
    assert_eq!(right.ints_at(1), (1..65).collect::<Vec<_>>());
    trial("").expect_findings(expect![[r#"
        error[shared-race]: race: `tile[31]` is read, and nothing orders that with another thread's write, in thread (32, 0, 0) of block (0, 0, 0), at kernel.py:2:1; thread (31, 0, 0) of block (0, 0, 0) writes it, at kernel.py:4:1
        found 32 times
        error[shared-race]: race: `tile[32]` is written, and nothing orders that with another thread's read, in thread (32, 0, 0) of block (0, 0, 0), at kernel.py:4:1; thread (31, 0, 0) of block (0, 0, 0) reads it, at kernel.py:2:1
        found 32 times
    "#]]);
}

#[test]
fn what_a_copy_has_read_is_read_for_other_blocks() {
    // The first block copies, and the second one writes to what it has read.
    let text = |wait: &str| {
        format!(
            "kernel k(v0 x: pointer.global int32 align 4 written) block [1, 1, 1] {{
                shared0 tile: int32 bytes 4 align 4
                v1: int64 = call block_idx.x()
                v2: int64 = const 0
                v3: bool = eq v1, v2
                v4: pointer.shared = shared0
                v5: bool = const true
                v6: int32 = const 1
                if v3 {{
                    call copy.async(v4, v0, 4, v5) @2:1
                    call copy.commit()
                    {wait}
                }} else {{
                    store v0, v6 align 4 @4:1
                }}
            }}"
        )
    };
    let made = |wait: &str| trial(&text(wait), 2, 1).ints(&[0]);
    made("call copy.wait(0)").expect_findings(expect![[r#"
        error[global-race]: race: `x[0]` is written, and nothing orders that with another thread's read, in thread (0, 0, 0) of block (1, 0, 0), at kernel.py:4:1; thread (0, 0, 0) of block (0, 0, 0) reads it, at kernel.py:2:1
    "#]]);
    // Where nobody waits, it is done when its thread ends.
    made("").expect_findings(expect![[r#"
        error[unawaited-copy]: a copy is in flight when its thread ends, in thread (0, 0, 0) of block (0, 0, 0), at kernel.py:2:1
        error[global-race]: race: `x[0]` is written, and nothing orders that with another thread's read, in thread (0, 0, 0) of block (1, 0, 0), at kernel.py:4:1; thread (0, 0, 0) of block (0, 0, 0) reads it, at kernel.py:2:1
    "#]]);
}

#[test]
fn a_copy_over_a_flag_takes_what_was_released_there() {
    let text = |copy: &str| {
        format!(
            "kernel k(v0 x: pointer.global int32 align 4) block [64, 1, 1] {{
                shared0 flag: int32 bytes 4 align 4
                shared1 data: int32 bytes 4 align 4
                v1: int64 = call thread_idx.x()
                v2: int64 = const 0
                v3: bool = eq v1, v2
                v4: int64 = const 32
                v5: bool = eq v1, v4
                v6: pointer.shared = shared0
                v7: pointer.shared = shared1
                v8: int32 = const 1
                v9: bool = const true
                if v3 {{
                    store v7, v8 align 4 @2:1
                    call atomic.store(v6, v8, release, block) @3:1
                    {copy}
                }}
                if v5 {{
                    v10: int32 = call atomic.load.int32(v6, acquire, block) @5:1
                    v11: int32 = load v7 align 4 @6:1
                }}
            }}"
        )
    };
    let made = |copy: &str| trial(&text(copy), 1, 64).ints(&[1]);
    made("").clean();
    let copy = "call copy.async(v6, v0, 4, v9) @4:1 call copy.commit() call copy.wait(0)";
    made(copy).expect_findings(expect![[r#"
        error[shared-race]: race: `flag[0]` is read, and nothing orders that with another thread's write, in thread (32, 0, 0) of block (0, 0, 0), at kernel.py:5:1; thread (0, 0, 0) of block (0, 0, 0) writes it, at kernel.py:4:1
        error[shared-race]: race: `data[0]` is read, and nothing orders that with another thread's write, in thread (32, 0, 0) of block (0, 0, 0), at kernel.py:6:1; thread (0, 0, 0) of block (0, 0, 0) writes it, at kernel.py:2:1
    "#]]);
}

#[test]
fn a_copy_by_an_index_outside_is_told_once() {
    let mut outside = one("inbounds v2, v9 @2:1", "");
    outside.arguments.pop();
    outside.int(32).expect_findings(expect![[r#"
        error[index-out-of-bounds]: index 32 is out of bounds: the extent is 16, in thread (0, 0, 0) of block (0, 0, 0), at kernel.py:2:1
        error[uninitialised-read]: reads `tile[0]`, which was never written, in thread (0, 0, 0) of block (0, 0, 0), at kernel.py:6:1
    "#]]);
}

/// A thread looks at a number again and again, as if it waited, and copies meanwhile.
#[test]
fn who_copies_does_not_wait_for_ever() {
    const COUNT: usize = 2000;
    let text = format!(
        "kernel k(v0 x: pointer.global int32 align 4, v1 flag: pointer.global int32 align 4 written) {{
            shared0 tile: int32 bytes {bytes} align 4
            s0 at: int64
            v2: pointer.shared = shared0
            v3: bool = const true
            v4: int64 = const 0
            v5: int64 = const 4
            v6: int64 = const {bytes}
            set s0, v4
            while @1:1 {{
                v7: int32 = call atomic.load.int32(v1, relaxed, gpu)
                v8: int64 = get s0
                v9: pointer.shared = offset v2, v8
                v10: pointer.global = offset v0, v8
                call copy.async(v9, v10, 4, v3)
                call copy.commit()
                call copy.wait(0)
                v11: int64 = add v8, v5
                set s0, v11
                v12: bool = lt v11, v6
            }} v12 {{ }}
        }}",
        bytes = 4 * COUNT
    );
    let mut run = trial(&text, 1, 1).ints(&[1; COUNT]).ints(&[0]);
    run.options.most_idle_turns = 100;
    run.clean();
}

#[test]
fn a_copy_that_its_block_leaves_in_flight_is_told_once() {
    let text = "kernel k(v0 x: pointer.global int32 align 4 written) {
        shared0 tile: int32 bytes 4 align 4
        shared1 bar: uint64 bytes 8 align 8
        v1: int64 = call block_idx.x()
        v2: int64 = const 0
        v3: bool = eq v1, v2
        v4: pointer.shared = shared0
        v5: pointer.shared = shared1
        v6: int32 = const 1
        v7: bool = const true
        if v3 {
            call mbarrier.init(v5, v6) @1:1
            call copy.async(v4, v0, 4, v7) @2:1
            call mbarrier.arrive_after_copies(v5) @3:1
        } else { store v0, v6 align 4 @4:1 }
    }";
    let mut blocks = trial(text, 2, 1).ints(&[1]);
    blocks.options.n_cores = 1;
    blocks.expect_findings(expect![[r#"
        error[unawaited-copy]: a copy into its block's memory is in flight when the block ends, in thread (0, 0, 0) of block (0, 0, 0), at kernel.py:2:1
    "#]]);
}
