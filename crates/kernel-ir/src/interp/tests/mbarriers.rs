// SPDX-License-Identifier: Apache-2.0
//! Mbarriers: a ring of tiles in any order, and what only text can do with one.

use super::super::Outcome;
use super::{Trial, ring, trial};
use crate::types::Scalar;
use expect_test::{Expect, expect};

const TURNS: i64 = 6;

/// The lines of a ring of two tiles that can be left out or changed: one warp fills it, and the
/// other one sums it up.
#[derive(Clone, Copy)]
struct Lines {
    /// The first waits for a tile to be free.
    free: &'static str,
    filled: &'static str,
    /// The second waits for a tile to be there.
    there: &'static str,
    emptied: &'static str,
}

const RIGHT: Lines = Lines {
    free: "call mbarrier.wait(v24, v38) @2:1",
    filled: "call mbarrier.arrive(v23) @4:1",
    there: "call mbarrier.wait(v23, v37) @5:1",
    emptied: "call mbarrier.arrive(v24) @7:1",
};

fn ring(Lines { free, filled, there, emptied }: Lines) -> Trial {
    let text = format!(
        "kernel k(v0 x: pointer.global int32 align 4, v1 out: pointer.global int32 align 4 written,
            v2 turns: int64 0..100) block [64, 1, 1] {{
            shared0 ring: int32 bytes 256 align 16
            shared1 bars: uint64 bytes 32 align 8
            s0 sum: int32
            v3: int64 = call lane_idx()
            v4: int64 = call warp_idx()
            v5: int64 = const 0
            v6: int64 = const 1
            v7: int64 = const 2
            v8: int64 = const 4
            v9: int64 = const 128
            v10: int32 = const 0
            v11: int32 = const 32
            v12: int64 = const 8
            v13: bool = eq v4, v5
            v14: int64 = mul v3, v8
            v15: pointer.shared = shared0
            v16: int64 = const 124
            v17: int64 = sub v16, v14
            v50: pointer.shared = shared1
            v51: bool = eq v3, v5
            v52: bool = and v13, v51
            if v52 {{
                for v53: int64 = v5 to v8 step v6 {{
                    v54: int64 = mul v53, v12
                    v55: pointer.shared = offset v50, v54
                    call mbarrier.init(v55, v11) @1:1
                }}
            }}
            call barrier()
            set s0, v10
            for v18: int64 = v5 to v2 step v6 {{
                v19: int64 = floormod v18, v7
                v20: int64 = mul v19, v9
                v21: int64 = mul v19, v12
                v25: pointer.shared = offset v15, v20
                v23: pointer.shared = offset v50, v21
                v22: int64 = const 16
                v24: pointer.shared = offset v23, v22
                v39: int64 = floordiv v18, v7
                v37: int32 = convert v39
                v56: int32 = const 1
                v38: int32 = add v37, v56
                if v13 {{
                    {free}
                    v27: int64 = mul v18, v9
                    v28: int64 = add v27, v14
                    v29: pointer.global = offset v0, v28
                    v30: int32 = load v29 align 4
                    v31: pointer.shared = offset v25, v14
                    store v31, v30 align 4 @3:1
                    {filled}
                }} else {{
                    {there}
                    v32: pointer.shared = offset v25, v17
                    v33: int32 = load v32 align 4 @6:1
                    v34: int32 = get s0
                    v35: int32 = add v34, v33
                    set s0, v35
                    {emptied}
                }}
            }}
            v40: int32 = get s0
            v41: pointer.global = offset v1, v14
            if v13 {{ }} else {{ store v41, v40 align 4 @8:1 }}
        }}"
    );
    let x: Vec<_> = (0..TURNS as i32 * 32).collect();
    trial(&text, 1, 64).ints(&x).fresh(Scalar::I32, 32).int(TURNS)
}

#[test]
fn warps_hand_tiles_on_in_any_order() {
    ring::expect_sums(|| ring(RIGHT), TURNS, 100);
}

fn expect_first(lines: Lines, expected: &Expect) {
    ring::expect_first(|| ring(lines), expected);
}

#[test]
fn what_nobody_waits_for_is_found_in_any_order() {
    expect_first(
        Lines { there: "", ..RIGHT },
        &expect![
            "error[shared-race]: race: `ring[31]` is read, and nothing orders that with another thread's write"
        ],
    );
    expect_first(
        Lines { free: "", ..RIGHT },
        &expect![
            "error[misused-barrier]: waits for phase 0 of the mbarrier `bars[0]`, and phase 2 is complete already: parity 0 means phase 2"
        ],
    );
    expect_first(
        Lines { filled: "", ..RIGHT },
        &expect![
            "error[deadlock]: deadlock: waits at the mbarrier `bars[2]` for phase 0: 32 of 32 arrivals are missing"
        ],
    );
    expect_first(
        Lines { emptied: "", ..RIGHT },
        &expect![
            "error[deadlock]: deadlock: waits at the mbarrier `bars[2]` for phase 0: 32 of 32 arrivals are missing"
        ],
    );
    // An arrival that orders neither what was written nor what was read.
    expect_first(
        Lines { filled: "call mbarrier.arrive_relaxed(v23) @4:1", ..RIGHT },
        &expect![
            "error[shared-race]: race: `ring[31]` is read, and nothing orders that with another thread's write"
        ],
    );
    expect_first(
        Lines { emptied: "call mbarrier.arrive_relaxed(v24) @7:1", ..RIGHT },
        &expect![
            "error[shared-race]: race: `ring[0]` is written, and nothing orders that with another thread's read"
        ],
    );
    // A wait for the phase before, which is complete.
    expect_first(
        Lines { there: "call mbarrier.wait(v23, v38) @5:1", ..RIGHT },
        &expect![
            "error[misused-barrier]: waits for the phase before the first of the mbarrier `bars[0]`, and phase 0 is complete already: parity 1 means phase 1"
        ],
    );
}

/// A kernel with an mbarrier, for one arrival.
fn with_one(body: &str) -> Trial {
    let text = format!(
        "kernel k() block [32, 1, 1] {{
            shared0 bar: uint64 bytes 24 align 8
            v0: pointer.shared = shared0
            v1: int32 = const 1
            v2: int64 = const 0
            v3: int64 = call lane_idx()
            v4: bool = eq v3, v2
            v5: uint64 = const 3
            v6: int64 = const 4
            v7: pointer.shared = offset v0, v6
            v8: int64 = const 24
            v9: pointer.shared = offset v0, v8
            if v4 {{ {body} }}
        }}"
    );
    trial(&text, 1, 32)
}

#[test]
fn an_mbarrier_is_no_number() {
    with_one(
        "call mbarrier.init(v0, v1) @1:1
         store v0, v5 align 8 @2:1
         v10: uint64 = load v0 align 8 @3:1
         v11: uint32 = load v7 align 4 @4:1
         v12: uint64 = call atomic.add(v0, v5, acq_rel, block) @5:1
         call mbarrier.arrive(v7) @6:1
         call mbarrier.arrive(v9) @7:1",
    )
    .expect_findings(expect![[r#"
        error[misused-barrier]: writes the mbarrier `bar[0]`, in thread (0, 0, 0) of block (0, 0, 0), at kernel.py:2:1; thread (0, 0, 0) of block (0, 0, 0) initialises it, at kernel.py:1:1
        error[misused-barrier]: reads the mbarrier `bar[0]`, in thread (0, 0, 0) of block (0, 0, 0), at kernel.py:3:1; thread (0, 0, 0) of block (0, 0, 0) initialises it, at kernel.py:1:1
        error[misused-barrier]: reads the mbarrier `bar[0]`, in thread (0, 0, 0) of block (0, 0, 0), at kernel.py:4:1; thread (0, 0, 0) of block (0, 0, 0) initialises it, at kernel.py:1:1
        error[misused-barrier]: updates the mbarrier `bar[0]`, in thread (0, 0, 0) of block (0, 0, 0), at kernel.py:5:1; thread (0, 0, 0) of block (0, 0, 0) initialises it, at kernel.py:1:1
        error[misaligned-access]: updates `bar[0]` as if aligned to 8 bytes, at byte 4, which is no multiple of 8, in thread (0, 0, 0) of block (0, 0, 0), at kernel.py:6:1
        error[out-of-bounds]: updates element 3 of `bar`, which has 3, in thread (0, 0, 0) of block (0, 0, 0), at kernel.py:7:1
    "#]]);
}

/// One thread has a phase expect bytes, has so many come that no copy brings, and waits for it.
fn brought(bytes: i32) -> String {
    let text = format!(
        "kernel k(v0 out: pointer.global int32 align 4 written) block [1, 1, 1] {{
            shared0 bar: uint64 bytes 8 align 8
            v1: pointer.shared = shared0
            v2: int32 = const 1
            v3: int32 = const 16
            v4: int32 = const {bytes}
            v5: int32 = const 0
            call mbarrier.init(v1, v2)
            call mbarrier.arrive_expect_tx(v1, v3) @1:1
            call mbarrier.complete_tx(v1, v4) @2:1
            call mbarrier.wait(v1, v5) @3:1
            store v0, v2 align 4
        }}"
    );
    let mut run = trial(&text, 1, 1).ints(&[0]);
    run.options.most_idle_turns = 1000;
    let Outcome { findings, .. } = run.run();
    let told = run.told(&findings);
    format!("{told}{:?}\n", run.ints_at(0))
}

#[test]
fn bytes_that_no_copy_brings_complete_a_phase() {
    expect![[r#"
        [1]
    "#]]
    .assert_eq(&brought(16));
    expect![[r#"
        error[deadlock]: deadlock: waits at the mbarrier `bar[0]` for phase 0: 0 of 1 arrivals and 4 bytes are missing, in thread (0, 0, 0) of block (0, 0, 0), at kernel.py:3:1
        [0]
    "#]].assert_eq(&brought(12));
    expect![[r#"
        error[misused-barrier]: copies bring 4 bytes more to phase 0 of the mbarrier `bar[0]` than it expects, in thread (0, 0, 0) of block (0, 0, 0), at kernel.py:2:1
        [1]
    "#]].assert_eq(&brought(20));
    expect![[r#"
        error[misused-barrier]: -4 bytes come to the mbarrier `bar[0]`: there are 0 to 1048575, in thread (0, 0, 0) of block (0, 0, 0), at kernel.py:2:1
        error[deadlock]: deadlock: waits at the mbarrier `bar[0]` for phase 0: 0 of 1 arrivals and 16 bytes are missing, in thread (0, 0, 0) of block (0, 0, 0), at kernel.py:3:1
        [0]
    "#]].assert_eq(&brought(-4));
}

#[test]
fn bytes_are_expected_before_those_come_that_may_complete_the_phase() {
    let text = "kernel k() block [64, 1, 1] {
        shared0 bar: uint64 bytes 8 align 8
        v0: pointer.shared = shared0
        v1: int32 = const 2
        v2: int32 = const 16
        v3: int64 = call thread_idx.x()
        v4: int64 = const 0
        v5: bool = eq v3, v4
        v6: int64 = const 32
        v7: bool = eq v3, v6
        v8: int32 = const 0
        if v5 { call mbarrier.init(v0, v1) }
        call barrier()
        if v5 {
            call mbarrier.arrive_expect_tx(v0, v2) @1:1
            call mbarrier.complete_tx(v0, v2) @2:1
            call mbarrier.expect_tx(v0, v8) @3:1
        }
        if v7 { call mbarrier.arrive(v0) @4:1 }
    }";
    trial(text, 1, 64).expect_findings(expect![[r#"
        error[misused-barrier]: phase 0 of the mbarrier `bar[0]` may be complete before these bytes are expected, in thread (0, 0, 0) of block (0, 0, 0), at kernel.py:3:1; thread (32, 0, 0) of block (0, 0, 0) completes it, at kernel.py:4:1
    "#]]);
}

/// A thread looks at a number again and again, as if it waited, and brings a phase on meanwhile.
#[test]
fn who_brings_a_phase_on_does_not_wait_for_ever() {
    for step in ["expect_tx", "complete_tx"] {
        let text = format!(
            "kernel k(v0 flag: pointer.global int32 align 4) {{
                shared0 bar: uint64 bytes 8 align 8
                s0 turn: int64
                v1: pointer.shared = shared0
                v2: int32 = const 1
                v3: int64 = const 0
                v4: int64 = const 1
                v5: int64 = const 2000
                call mbarrier.init(v1, v2)
                set s0, v3
                while @1:1 {{
                    v6: int32 = call atomic.load.int32(v0, relaxed, gpu)
                    call mbarrier.{step}(v1, v2)
                    v7: int64 = get s0
                    v8: int64 = add v7, v4
                    set s0, v8
                    v9: bool = lt v8, v5
                }} v9 {{ }}
            }}"
        );
        let mut run = trial(&text, 1, 1).ints(&[0]);
        run.options.most_idle_turns = 100;
        run.clean();
    }
}
