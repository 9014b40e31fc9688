// SPDX-License-Identifier: Apache-2.0
//! Copies of many bytes: a ring of tiles in any order, and what only text can ask of one.

use super::{Trial, ring, trial};
use crate::types::Scalar;
use expect_test::{Expect, expect};

const TURNS: i64 = 5;

/// The lines of a ring of two tiles that can be left out or changed: one thread fills it, and the
/// other warp sums it up, and sends the sums.
#[derive(Clone, Copy)]
struct Lines {
    free: &'static str,
    expects: &'static str,
    there: &'static str,
    fence: &'static str,
    sent: &'static str,
}

const RIGHT: Lines = Lines {
    free: "call mbarrier.wait(v24, v38) @2:1",
    expects: "call mbarrier.arrive_expect_tx(v23, v9) @3:1",
    there: "call mbarrier.wait(v23, v37) @5:1",
    fence: "call fence.proxy_async() @7:1",
    sent: "call copy.bulk_commit() @9:1 call copy.bulk_wait_read(0) @10:1",
};

fn ring(Lines { free, expects, there, fence, sent }: Lines) -> Trial {
    let text = format!(
        "kernel k(v0 x: pointer.global int32 align 16, v1 out: pointer.global int32 align 16 written,
            v2 turns: int64 0..100) block [64, 1, 1] {{
            shared0 ring: int32 bytes 256 align 16
            shared1 sums: int32 bytes 128 align 16
            shared2 bars: uint64 bytes 32 align 8
            s0 sum: int32
            v3: int64 = call lane_idx()
            v4: int64 = call warp_idx()
            v5: int64 = const 0
            v6: int64 = const 1
            v7: int64 = const 2
            v8: int64 = const 4
            v9: int32 = const 128
            v10: int32 = const 0
            v11: int32 = const 32
            v12: int64 = const 8
            v13: bool = eq v4, v5
            v14: int64 = mul v3, v8
            v15: pointer.shared = shared0
            v16: int64 = const 124
            v17: int64 = sub v16, v14
            v50: pointer.shared = shared2
            v51: bool = eq v3, v5
            v52: bool = and v13, v51
            v56: int32 = const 1
            v57: int64 = const 128
            v22: int64 = const 16
            if v52 {{
                for v53: int64 = v5 to v7 step v6 {{
                    v54: int64 = mul v53, v12
                    v55: pointer.shared = offset v50, v54
                    call mbarrier.init(v55, v56) @1:1
                    v58: pointer.shared = offset v55, v22
                    call mbarrier.init(v58, v11) @1:1
                }}
            }}
            call barrier()
            set s0, v10
            for v18: int64 = v5 to v2 step v6 {{
                v19: int64 = floormod v18, v7
                v20: int64 = mul v19, v57
                v21: int64 = mul v19, v12
                v25: pointer.shared = offset v15, v20
                v23: pointer.shared = offset v50, v21
                v24: pointer.shared = offset v23, v22
                v39: int64 = floordiv v18, v7
                v37: int32 = convert v39
                v38: int32 = add v37, v56
                if v52 {{
                    {free}
                    v27: int64 = mul v18, v57
                    v29: pointer.global = offset v0, v27
                    {expects}
                    call copy.bulk(v25, v29, v9, v23) @4:1
                }}
                if v13 {{ }} else {{
                    {there}
                    v32: pointer.shared = offset v25, v17
                    v33: int32 = load v32 align 4 @6:1
                    v34: int32 = get s0
                    v35: int32 = add v34, v33
                    set s0, v35
                    call mbarrier.arrive(v24)
                }}
            }}
            if v13 {{ }} else {{
                v40: int32 = get s0
                v41: pointer.shared = shared1
                v42: pointer.shared = offset v41, v14
                store v42, v40 align 4 @8:1
                {fence}
                call barrier.warp()
                if v51 {{
                    call copy.bulk_store(v1, v41, v9) @8:2
                    {sent}
                }}
            }}
        }}"
    );
    let x: Vec<_> = (0..TURNS as i32 * 32).collect();
    trial(&text, 1, 64).ints(&x).fresh(Scalar::I32, 32).int(TURNS)
}

#[test]
fn a_thread_fills_tiles_in_any_order() {
    ring::expect_sums(|| ring(RIGHT), TURNS, 100);
}

fn expect_first(lines: Lines, expected: &Expect) {
    ring::expect_first(|| ring(lines), expected);
}

#[test]
fn what_is_left_out_is_found_in_any_order() {
    expect_first(
        Lines { free: "", ..RIGHT },
        &expect![
            "error[copy-in-flight]: writes `ring[0]` while a copy into it is in flight, and no wait has seen that it is done"
        ],
    );
    expect_first(
        Lines { expects: "", ..RIGHT },
        &expect![
            "error[deadlock]: deadlock: waits at the mbarrier `bars[2]` for phase 0: 32 of 32 arrivals are missing"
        ],
    );
    expect_first(
        Lines { expects: "call mbarrier.arrive(v23) @3:1", ..RIGHT },
        &expect![
            "error[copy-in-flight]: reads `ring[31]` while a copy into it is in flight, and no wait has seen that it is done"
        ],
    );
    expect_first(
        Lines { there: "", ..RIGHT },
        &expect![
            "error[copy-in-flight]: reads `ring[31]` while a copy into it is in flight, and no wait has seen that it is done"
        ],
    );
    expect_first(
        Lines { fence: "", ..RIGHT },
        &expect![
            "error[missing-proxy-fence]: a copy reads `sums[0]`, which a thread has written, and no proxy fence stands between"
        ],
    );
    expect_first(
        Lines { sent: "", ..RIGHT },
        &expect![
            "error[unawaited-copy]: a copy out of shared memory is in flight when its thread ends, and is in no group"
        ],
    );
    expect_first(
        Lines { sent: "call copy.bulk_commit() @9:1", ..RIGHT },
        &expect![
            "error[unawaited-copy]: a copy out of shared memory is in flight when its thread ends"
        ],
    );
}

#[test]
fn bytes_and_addresses_are_multiples_of_16() {
    let text = "kernel k(v0 out: pointer.global int32 align 4 written, v1 n: int32) {
        shared0 tile: int32 bytes 64 align 4
        v2: pointer.shared = shared0
        v3: int32 = const 16
        v4: int32 = const 0
        store v2, v4 align 4 @1:1
        v5: int64 = const 4
        v6: pointer.global = offset v0, v5
        call copy.bulk_store(v0, v2, v1) @2:1
        call copy.bulk_store(v6, v2, v3) @3:1
        call copy.bulk_store(v0, v2, v4) @4:1
    }";
    for n in [8, -16] {
        let number = crate::Const::int(Scalar::I32, n);
        let mut trial = trial(text, 1, 1).fresh(Scalar::I32, 8).number(number);
        let outcome = trial.run();
        let told = trial.told(&outcome.findings);
        let expected =
            format!("error[misaligned-access]: copies {n} bytes, which are no multiple of 16");
        assert!(told.starts_with(&expected), "{told}");
        assert!(told.contains("reads `tile[0]` as if aligned to 16 bytes"), "{told}");
        assert!(
            !told.contains(":4:1"),
            "no bytes are a multiple, and copied from anywhere: {told}"
        );
    }
}

#[test]
fn an_mbarrier_is_no_number_to_be_copied() {
    let text = "kernel k(v0 out: pointer.global uint64 align 16 written) {
        shared0 bars: uint64 bytes 16 align 16
        v1: pointer.shared = shared0
        v2: int32 = const 1
        v3: int32 = const 16
        v4: int64 = const 8
        v5: pointer.shared = offset v1, v4
        call mbarrier.init(v1, v2) @1:1
        call mbarrier.init(v5, v2) @1:2
        call fence.proxy_async()
        call copy.bulk_store(v0, v1, v3) @2:1
        call copy.bulk_commit()
        call copy.bulk_wait(0)
    }";
    trial(text, 1, 1).fresh(Scalar::U64, 2).expect_findings(expect![[r#"
        error[misused-barrier]: reads the mbarrier `bars[0]`, in thread (0, 0, 0) of block (0, 0, 0), at kernel.py:2:1; thread (0, 0, 0) of block (0, 0, 0) initialises it, at kernel.py:1:1
    "#]]);
}

#[test]
fn what_may_not_be_written_is_not() {
    let text = "kernel k(v0 out: pointer.global int32 align 16) {
        shared0 tile: int32 bytes 16 align 16
        v1: pointer.shared = shared0
        v2: int32 = const 7
        v3: int32x4 = splat v2
        store v1, v3 align 16
        call fence.proxy_async()
        v4: int32 = const 16
        call copy.bulk_store(v0, v1, v4) @2:1
        call copy.bulk_commit()
        call copy.bulk_wait(0)
    }";
    trial(text, 1, 1).ints(&[1, 2, 3, 4]).expect_findings(expect![[r#"
        error[read-only-write]: writes `out[0]`, but may not write `out`, in thread (0, 0, 0) of block (0, 0, 0), at kernel.py:2:1
    "#]]);
}

/// A thread looks at a number again and again, as if it waited, and sends tiles meanwhile.
#[test]
fn who_sends_tiles_does_not_wait_for_ever() {
    const ROWS: usize = 2000;
    let text = format!(
        "kernel k(v0 out: pointer.global int32 align 16 written,
            v1 flag: pointer.global int32 align 4 written) {{
            shared0 tile: int32 bytes 16 align 16
            s0 at: int64
            v2: pointer.shared = shared0
            v3: int32 = const 1
            v4: int32x4 = splat v3
            store v2, v4 align 16
            call fence.proxy_async()
            v5: int64 = const 0
            v6: int64 = const 16
            v7: int32 = const 16
            v8: int64 = const {}
            set s0, v5
            while @1:1 {{
                v9: int32 = call atomic.load.int32(v1, relaxed, gpu)
                v10: int64 = get s0
                v11: pointer.global = offset v0, v10
                call copy.bulk_store(v11, v2, v7)
                call copy.bulk_commit()
                call copy.bulk_wait(0)
                v12: int64 = add v10, v6
                set s0, v12
                v13: bool = lt v12, v8
            }} v13 {{ }}
        }}",
        16 * ROWS
    );
    let mut run = trial(&text, 1, 1).fresh(Scalar::I32, 4 * ROWS).ints(&[0]);
    run.options.most_idle_turns = 100;
    run.clean();
    assert_eq!(run.ints_at(0), vec![1; 4 * ROWS]);
}
