// SPDX-License-Identifier: Apache-2.0
//! Mistakes of one access, one barrier, one launch: each kind of finding, planted.

use super::{Memory, Trial, reduce_sum, trial};
use crate::types::Scalar;
use expect_test::expect;

/// One thread that copies an `int32` from `x` to `out`.
fn copy(operations: &str) -> Trial {
    let text = format!(
        "kernel k(v0 x: pointer.global int32 align 16, v1 out: pointer.global int32 align 4 written) {{
            {operations}
            store v1, v9 align 4
        }}"
    );
    trial(&text, 1, 1).ints(&[1, 2, 3, 4, 5]).fresh(Scalar::I32, 1)
}

#[test]
fn reads_outside_are_found_and_give_zero() {
    let at = |byte: i64| {
        format!(
            "v2: int64 = const {byte} v3: pointer.global = offset v0, v2
             v9: int32 = load v3 align 4 @2:5"
        )
    };
    copy(&at(16)).clean();
    copy(&at(20)).expect_findings(expect![[r#"
        error[out-of-bounds]: reads element 5 of `x`, which has 5, in thread (0, 0, 0) of block (0, 0, 0), at kernel.py:2:5
    "#]]);
    copy(&at(-4)).expect_findings(expect![[r#"
        error[out-of-bounds]: reads 4 bytes at byte -4 of `x`, which has 20, in thread (0, 0, 0) of block (0, 0, 0), at kernel.py:2:5
    "#]]);
    let mut outside = copy(&at(i64::MAX - 3));
    outside.expect_findings(expect![[r#"
        error[out-of-bounds]: reads element 2305843009213693951 of `x`, which has 5, in thread (0, 0, 0) of block (0, 0, 0), at kernel.py:2:5
    "#]]);
    assert_eq!(outside.ints_at(1), [0]);
}

#[test]
fn what_is_read_outside_is_zero_where_something_else_was_read_before() {
    let text = "kernel k(v0 x: pointer.global int32 align 4 written) {
        local0 mine: int32 count 1
        v1: int64 = const 0
        v2: int64 = const 8
        v3: int64 = const 4
        v4: pointer.local = local0
        v5: int32 = const 6
        store v4, v5 align 4
        for v6: int64 = v1 to v2 step v3 {
          v7: pointer.global = offset v0, v6
          v8: int32 = load v7 align 4 @1:1
          v9: pointer.local = offset v4, v6
          v10: int32 = load v9 align 4 @2:1
          v11: int32 = call atomic.add(v7, v5, relaxed, gpu) @3:1
          print \"{} {} {}\", v8, v10, v11
        }
    }";
    let outcome = trial(text, 1, 1).ints(&[5]).run();
    assert_eq!(outcome.printed, ["5 6 5", "0 0 0"]);
    assert_eq!(outcome.findings.len(), 3);
}

#[test]
fn writes_outside_are_found_and_left_out() {
    let text = "kernel k(v0 out: pointer.global int32 align 4 written) {
        v1: int64 = call thread_idx.x()
        v2: int64 = const 4
        v3: int64 = mul v1, v2
        v4: pointer.global = offset v0, v3
        v5: int32 = convert v1
        store v4, v5 align 4 @3:7
    }";
    let mut outside = trial(text, 1, 70).fresh(Scalar::I32, 64);
    outside.expect_findings(expect![[r#"
        error[out-of-bounds]: writes element 64 of `out`, which has 64, in thread (64, 0, 0) of block (0, 0, 0), at kernel.py:3:7
        found 6 times
    "#]]);
    assert_eq!(outside.ints_at(0), (0..64).collect::<Vec<_>>());
}

#[test]
fn what_was_never_written_is_found_where_it_is_read() {
    let text = "kernel k(v0 out: pointer.global int32 align 4 written) {
        shared0 line: int32 bytes 128 align 4
        local0 mine: int32 count 4
        v1: int32 = load v0 align 4 @1:1
        v2: pointer.shared = shared0
        v3: int32 = load v2 align 4 @2:1
        v4: pointer.local = local0
        v5: int64 = const 8
        v6: pointer.local = offset v4, v5
        v7: int32 = load v6 align 4 @3:1
        store v6, v7 align 4
        v8: int32 = load v6 align 4 @4:1
    }";
    trial(text, 1, 1).fresh(Scalar::I32, 1).expect_findings(expect![[r#"
        error[uninitialised-read]: reads `out[0]`, which was never written, in thread (0, 0, 0) of block (0, 0, 0), at kernel.py:1:1
        error[uninitialised-read]: reads `line[0]`, which was never written, in thread (0, 0, 0) of block (0, 0, 0), at kernel.py:2:1
        error[uninitialised-read]: reads `mine[2]`, which was never written, in thread (0, 0, 0) of block (0, 0, 0), at kernel.py:3:1
    "#]]);
}

#[test]
fn an_index_beyond_its_extent_is_found() {
    let text = "kernel k(v0 n: int64) {
        v1: int64 = call thread_idx.x()
        v2: int64 = const 2
        v3: int64 = sub v1, v2
        inbounds v3, v0 @4:9
    }";
    trial(text, 1, 2).int(10).expect_findings(expect![[r#"
        error[index-out-of-bounds]: index -2 is out of bounds: the extent is 10, in thread (0, 0, 0) of block (0, 0, 0), at kernel.py:4:9
        found 2 times
    "#]]);
    let text = "kernel k(v0 n: uint32) { v1: uint32 = const 7 inbounds v1, v0 @4:9 }";
    trial(text, 1, 1).number(crate::Const::int(Scalar::U32, -1)).clean();
}

#[test]
fn what_may_not_be_written_is_not() {
    let text = "kernel k(v0 x: pointer.global int32 align 4) {
        v1: int32 = const 0
        store v0, v1 align 4 @2:2
    }";
    trial(text, 1, 1).ints(&[5]).expect_findings(expect![[r#"
        error[read-only-write]: writes `x[0]`, but may not write `x`, in thread (0, 0, 0) of block (0, 0, 0), at kernel.py:2:2
    "#]]);
}

#[test]
fn barriers_that_some_threads_do_not_come_to_are_found() {
    let within = "kernel k() {
        v0: int64 = call thread_idx.x()
        v1: int64 = const 40
        v2: bool = lt v0, v1
        if v2 { call barrier() @3:3 }
    }";
    trial(within, 1, 64).expect_findings(expect![[r#"
        error[divergent-barrier]: a barrier that not all threads come to: thread (40, 0, 0) of block (0, 0, 0) does not, in thread (32, 0, 0) of block (0, 0, 0), at kernel.py:3:3
    "#]]);
    let ended = "kernel k() {
        v0: int64 = call warp_idx()
        v1: int64 = const 1
        v2: bool = eq v0, v1
        if v2 { return }
        call barrier() @3:3
    }";
    trial(ended, 1, 96).expect_findings(expect![[r#"
        error[divergent-barrier]: a barrier that not all threads come to: thread (32, 0, 0) of block (0, 0, 0) has ended, in thread (0, 0, 0) of block (0, 0, 0), at kernel.py:3:3
    "#]]);
    let other = "kernel k() {
        v0: int64 = call warp_idx()
        v1: int64 = const 1
        v2: bool = eq v0, v1
        if v2 { call barrier() @3:3 } else { call barrier() @4:4 }
    }";
    trial(other, 1, 64).expect_findings(expect![[r#"
        error[divergent-barrier]: a barrier that not all threads come to: thread (32, 0, 0) of block (0, 0, 0) is at another one, in thread (0, 0, 0) of block (0, 0, 0), at kernel.py:4:4; thread (32, 0, 0) of block (0, 0, 0) is at this barrier, at kernel.py:3:3
    "#]]);
}

#[test]
fn shuffles_need_all_lanes_and_lanes_that_are_there() {
    let text = "kernel k() {
        v0: int64 = call thread_idx.x()
        v1: int64 = const 16
        v2: int64 = call shuffle.xor(v0, v1) @2:2
        v3: bool = lt v0, v1
        if v3 { v4: bool = call vote.any(v3) @3:3 }
    }";
    trial(text, 1, 48).expect_findings(expect![[r#"
        error[divergent-exchange]: `vote.any` that not all threads come to: thread (16, 0, 0) of block (0, 0, 0) does not, in thread (0, 0, 0) of block (0, 0, 0), at kernel.py:3:3
        error[divergent-exchange]: `shuffle.xor` reads lane 16, which is not there: the block's threads end before it, in thread (32, 0, 0) of block (0, 0, 0), at kernel.py:2:2
        found 16 times
    "#]]);
}

#[test]
fn loops_that_do_not_end_are_ended() {
    let text = "kernel k() { while @5:5 { v0: bool = const true } v0 { } }";
    let mut endless = trial(text, 1, 1);
    endless.options.most_turns = 1000;
    endless.expect_findings(expect![[r#"
        error[endless-loop]: a loop does not end: its warp has run 1000 turns, in thread (0, 0, 0) of block (0, 0, 0), at kernel.py:5:5
    "#]]);
}

#[test]
fn inline_ptx_ends_the_run() {
    let text = r#"kernel k() { ptx "nanosleep.u32 1;" effects @2:3 }"#;
    let mut unsupported = trial(text, 1, 1);
    assert!(!unsupported.run().is_complete);
    unsupported.expect_findings(expect![[r#"
        error[unsupported]: the interpreter cannot run PTX without a model: `nanosleep.u32 1;`, in thread (0, 0, 0) of block (0, 0, 0), at kernel.py:2:3
    "#]]);
}

#[test]
fn alignment_is_that_of_addresses() {
    let text = "kernel k(v0 x: pointer.global int32 align 4) {
        v1: int64 = const 4
        v2: pointer.global = offset v0, v1
        v3: int32x2 = load v2 align 8 @1:1
    }";
    let run = |address| {
        let memory = Memory::new("x", Scalar::I32, vec![0; 16]).at_address(address);
        let mut run = trial(text, 1, 1).tensor(memory);
        let outcome = run.run();
        run.told(&outcome.findings)
    };
    assert_eq!(run(0x1004), "");
    let told = run(0x1008);
    let why =
        "as if aligned to 8 bytes, at byte 4 of what begins 8 bytes behind a multiple of 1024";
    assert!(told.contains(why), "{told}");
    let told = run(0x1000);
    assert!(told.contains("at byte 4, which is no multiple of 8"), "{told}");
    let told = run(0x1002);
    assert!(told.contains("bad-launch") && told.contains("`x` is at byte 2: expected"), "{told}");
}

#[test]
fn bad_launches_run_nothing() {
    let sum = || trial(&reduce_sum(""), 1, 256);
    sum().expect_findings(expect![[r#"
        error[bad-launch]: expected 3 arguments, found 0
    "#]]);
    let mut facts = sum().floats(&[]).floats(&[]).int(-1);
    facts.expect_findings(expect![[r#"
        error[bad-launch]: `n` is -1: expected 0 to 65536, a multiple of 1
    "#]]);
    let mut block = sum().floats(&[]).floats(&[]).int(0).block([512, 1, 4]);
    block.expect_findings(expect![[r#"
        error[bad-launch]: a block of [512, 1, 4] threads: there are 1 to 1024, in z at most 64
    "#]]);
}

#[test]
fn findings_count_and_end_a_run() {
    let text = "kernel k(v0 n: int64) {
        v1: int64 = call thread_idx.x()
        inbounds v1, v0 @1:1
        inbounds v1, v0 @2:1
    }";
    let mut many = trial(text, 3, 64).int(0);
    let counts: Vec<_> = many.run().findings.iter().map(|one| one.count).collect();
    assert_eq!(counts, [192, 192]);
    many.options.most_findings = 1;
    let outcome = many.run();
    assert!(!outcome.is_complete);
    assert_eq!(outcome.findings.len(), 1);
}

/// Beside the numbers of so many blocks there is little room for times in shadow memory.
#[test]
fn barriers_that_are_more_than_can_be_told_apart_end_a_run() {
    let barriers = [
        "call barrier() @2:1",
        "call barrier.sync(v5, 32) @2:1",
        "call cluster.arrive(relaxed) @2:1 call cluster.wait()",
    ];
    for barrier in barriers {
        let text = format!(
            "kernel k(v0 n: int64) block [32, 1, 1] {{
                v1: int64 = const 0
                v2: int64 = const 1
                v5: int32 = const 1
                for v3: int64 = v1 to v0 step v2 {{ {barrier} }}
                inbounds v0, v1 @3:1
            }}"
        );
        let mut trial = trial(&text, 1, 32).grid([1 << 25, 1 << 15, 1]).int(1 << 16);
        (trial.options.most_findings, trial.options.most_blocks) = (1, Some(1));
        let outcome = trial.run();
        assert!(!outcome.is_complete);
        let [found] = &outcome.findings[..] else { panic!("{:?}", outcome.findings) };
        assert!(found.message.starts_with("more barriers"), "{barrier}: {}", found.message);
    }
}
