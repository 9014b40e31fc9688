// SPDX-License-Identifier: Apache-2.0
//! Barriers with numbers: warps with roles, in any order.

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
    free: "call barrier.sync(v24, 64) @2:1",
    filled: "call barrier.arrive(v22, 64) @4:1",
    there: "call barrier.sync(v22, 64) @5:1",
    emptied: "call barrier.arrive(v24, 64) @7:1",
};

fn ring(Lines { free, filled, there, emptied }: Lines) -> Trial {
    let text = format!(
        "kernel k(v0 x: pointer.global int32 align 4, v1 out: pointer.global int32 align 4 written,
            v2 turns: int64 0..100) block [64, 1, 1] {{
            shared0 ring: int32 bytes 256 align 16
            s0 sum: int32
            v3: int64 = call lane_idx()
            v4: int64 = call warp_idx()
            v5: int64 = const 0
            v6: int64 = const 1
            v7: int64 = const 2
            v8: int64 = const 4
            v9: int64 = const 128
            v10: int32 = const 0
            v11: int32 = const 1
            v12: int32 = const 3
            v13: bool = eq v4, v5
            v14: int64 = mul v3, v8
            v15: pointer.shared = shared0
            v16: int64 = const 124
            v17: int64 = sub v16, v14
            set s0, v10
            for v18: int64 = v5 to v2 step v6 {{
                v19: int64 = floormod v18, v7
                v20: int64 = mul v19, v9
                v21: int32 = convert v19
                v22: int32 = add v21, v11
                v24: int32 = add v21, v12
                v25: pointer.shared = offset v15, v20
                if v13 {{
                    v26: bool = ge v18, v7
                    if v26 {{ {free} }}
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
                    v36: int64 = add v18, v7
                    v37: bool = lt v36, v2
                    if v37 {{ {emptied} }}
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
fn warps_with_roles_hand_tiles_on() {
    ring::expect_sums(|| ring(RIGHT), TURNS, 50);
}

fn expect_first(lines: Lines, expected: &Expect) {
    ring::expect_first(|| ring(lines), expected);
}

#[test]
fn a_tile_that_nobody_waits_for_is_found() {
    expect_first(
        Lines { there: "call barrier.arrive(v22, 64) @5:1", ..RIGHT },
        &expect![
            "error[shared-race]: race: `ring[31]` is read, and nothing orders that with another thread's write"
        ],
    );
    expect_first(
        Lines { free: "", emptied: "", ..RIGHT },
        &expect!["error[misused-barrier]: comes to barrier 1 again before the others have come"],
    );
    expect_first(
        Lines { filled: "", ..RIGHT },
        &expect!["error[deadlock]: deadlock: waits at barrier 3 for 32 more threads"],
    );
    expect_first(
        Lines { emptied: "", ..RIGHT },
        &expect!["error[deadlock]: deadlock: waits at barrier 3 for 32 more threads"],
    );
    // Freed before it is read.
    expect_first(
        Lines {
            there: "call barrier.sync(v22, 64) @5:1 call barrier.arrive(v24, 64) @5:1",
            emptied: "",
            ..RIGHT
        },
        &expect![
            "error[shared-race]: race: `ring[0]` is written, and nothing orders that with another thread's read"
        ],
    );
}

#[test]
fn a_part_of_a_warp_that_comes_is_found() {
    let text = "kernel k() block [32, 1, 1] {
        v1: int64 = call thread_idx.x()
        v2: int64 = const 5
        v3: bool = lt v1, v2
        v4: int32 = const 1
        if v3 { call barrier.sync(v4, 32) @2:1 }
    }";
    trial(text, 1, 32).expect_findings(expect![[r#"
        error[divergent-barrier]: a barrier that not all threads come to: thread (5, 0, 0) of block (0, 0, 0) does not, in thread (0, 0, 0) of block (0, 0, 0), at kernel.py:2:1
    "#]]);
}
