// SPDX-License-Identifier: Apache-2.0
//! A kernel as it runs: slots, writes, threads together.

use super::super::verify;
use super::kernel;
use crate::intrinsic::Level;
use crate::kernel::Value;
use expect_test::expect;

#[test]
fn what_was_not_written_in_a_text_is_named_by_its_operation() {
    let text = "kernel k(v0 c: bool) {
        s0 a: int32
        if v0 @7:3 { v1: int32 = const 1 set s0, v1 }
        v2: int32 = get s0  @9:5
      }";
    let mut k = kernel(text);
    k.places.iter_mut().for_each(|place| place.span = Default::default());
    expect![[r#"
        error[unassigned]: `a` is not assigned where this condition does not hold (kernel.py:7), in `v2: int32 = get s0` at kernel.py:9
          help: assign `a` before, for every way to here"#]].assert_eq(&verify(&k).unwrap_err().to_string());
}

/// The problems of a kernel whose endless loop has one of steps inside, which a `break` may leave.
/// Behind that a slot is set, or not, and then the outer loop is left.
fn of_nested_loops(set_before: bool) -> Vec<String> {
    let set = if set_before { "set s0, v1" } else { "" };
    let text = format!(
        "kernel k(v0 c: bool) {{
            s0 a: int32
            v1: int32 = const 1
            v2: bool = const true
            while {{ }} v2 {{
                for v3: int32 = v1 to v1 step v1 {{ if v0 {{ break }} }}
                {set}
                if v0 {{ break }}
                set s0, v1
            }}
            v4: int32 = get s0
        }}"
    );
    let problems = verify(&kernel(&text)).err().map(|problems| problems.0).unwrap_or_default();
    problems.into_iter().map(|problem| problem.message).collect()
}

#[test]
fn a_break_leaves_the_loop_that_it_is_in() {
    assert_eq!(of_nested_loops(true), [""; 0]);
    assert_eq!(of_nested_loops(false), ["`a` is not assigned on every way through this loop"]);
}

#[test]
fn what_a_loop_may_leave_unset_is_named_with_it() {
    let text = "kernel k(v0 c: bool) {
        s0 a: int32
        v1: int32 = const 1
        for v2: int32 = v1 to v1 step v1 @5:1 { set s0, v1 }
        v3: int32 = get s0
      }";
    let problems = verify(&kernel(text)).unwrap_err().to_string();
    assert!(problems.contains("`a` is not assigned on every way through this loop"), "{problems}");
}

/// The level of a value of a kernel that keeps the rules.
fn expect_levels(text: &str, expected: &[(u32, Level)]) {
    let verified = verify(&kernel(text)).unwrap_or_else(|problems| panic!("{problems}"));
    for (value, level) in expected {
        assert_eq!(verified.uniformity.level(Value(*value)), *level, "v{value}");
    }
}

#[test]
fn values_are_as_alike_as_what_they_are_made_of() {
    use Level::{Block, Grid, Thread, Warp};
    expect_levels(
        r#"kernel k(v0 x: pointer.global int64 align 8, v1 n: int64) block [64, 2, 1] {
          local0 a: int64 count 1
          s0 made: int64
          v2: int64 = call thread_idx.x()
          v3: int64 = call thread_idx.y()
          v4: int64 = call thread_idx.z()
          v5: int64 = call block_idx.x()
          v6: int64 = call warp_idx()
          v7: int64 = call block_dim.x()
          v8: int64 = add v5, v7
          v9: int64 = add v8, v2
          v10: int64 = const 32
          v11: int64 = floordiv v2, v10
          v12: int32 = convert v2
          v13: int32 = const 6
          v14: int32 = shr v12, v13
          v15: int64 = floordiv v9, v10
          v16: pointer.global = offset v0, v5
          v17: int64 = load v16 align 8
          v18: int64 = load v0 align 8
          v19: pointer.global = offset v0, v2
          v20: int64 = load v19 align 8
          v21: pointer.local = local0
          v22: int64 = load v21 align 8
          v23: bool = lt v2, v1
          v24: bool = call vote.any(v23)
          v25: int64 = select v23, v1, v1
          v26: int64 = load v0 align 8 when v23 else v1
          ptx "mov.u64 {0}, 1;" sets s0
          v27: int64 = get s0
          v28: int64 = call shuffle.idx(v2, v1)
          v29: int64 = call shuffle.idx(v2, v2)
          v30: int64 = call shuffle.xor(v2, v1)
          v31: int64 = load v0 align 8 volatile
        }"#,
        &[
            (0, Grid),
            (2, Thread),
            (3, Warp),
            (4, Grid),
            (5, Block),
            (6, Warp),
            (7, Grid),
            (8, Block),
            (9, Thread),
            (11, Warp),
            (14, Warp),
            (15, Thread),
            (17, Block),
            (18, Block),
            (20, Thread),
            (21, Grid),
            (22, Thread),
            (23, Thread),
            (24, Warp),
            (25, Thread),
            (26, Thread),
            (27, Thread),
            (28, Warp),
            (29, Thread),
            (30, Thread),
            (31, Thread),
        ],
    );
    // Rows of 48 threads lie across warps.
    expect_levels(
        "kernel k() block [48, 2, 1] {
          v0: int64 = call thread_idx.x()
          v1: int64 = const 32
          v2: int64 = floordiv v0, v1
          v3: int64 = call thread_idx.y()
        }",
        &[(2, Thread), (3, Thread)],
    );
}

#[test]
fn lanes_that_reduce_have_the_same_step_by_step() {
    use Level::{Block, Thread, Warp};
    let steps = |op: &str, masks: [u32; 5]| {
        let mut text = String::from(
            "kernel k(v0 x: pointer.global float32 align 4) block [64, 1, 1] {
               v1: int64 = call thread_idx.x()
               v2: pointer.global = offset v0, v1
               v3: float32 = load v2 align 4\n",
        );
        let mut last = 3;
        for mask in masks {
            let [bits, other, next] = [last + 1, last + 2, last + 3];
            text += &format!(
                "v{bits}: int32 = const {mask}
                 v{other}: float32 = call shuffle.xor(v{last}, v{bits})
                 v{next}: float32 = {op} v{other}, v{last}\n"
            );
            last = next;
        }
        text + "}"
    };
    let all = [16, 8, 4, 2, 1];
    expect_levels(&steps("add", all), &[(5, Thread), (15, Thread), (18, Warp)]);
    expect_levels(&steps("max", all), &[(18, Warp)]);
    // Which of both is first makes a difference.
    expect_levels(&steps("sub", all), &[(18, Thread)]);
    // A bit is left out, and lanes that differ in it may have another sum.
    expect_levels(&steps("add", [16, 8, 4, 2, 2]), &[(18, Thread)]);
    expect_levels(&steps("add", [16, 8, 4, 2, 3]), &[(18, Thread)]);
    // The partial sums of all warps are read by each of them.
    let block = "kernel k() block [64, 1, 1] {
          shared0 a: float32 bytes 128 align 4
          v0: int64 = call lane_idx()
          v1: int64 = const 4
          v2: int64 = mul v0, v1
          v3: pointer.shared = shared0
          v4: pointer.shared = offset v3, v2
          v5: float32 = load v4 align 4
          v6: int32 = const 0
          v7: float32 = call shuffle.idx(v5, v6)
          v8: int64 = call warp_idx()
          v9: int64 = add v0, v8
          v10: int64 = call shuffle.idx(v9, v6)
          v11: bool = lt v0, v1
          v12: bool = call vote.any(v11)
          v13: float32 = call shuffle.down(v5, v6)
        }";
    expect_levels(block, &[(0, Thread), (5, Thread), (7, Block), (10, Warp), (12, Warp)]);
    expect_levels(&block.replace("[64, 1, 1]", "[32, 1, 1]"), &[(10, Block), (12, Block)]);
    expect_levels(block, &[(13, Thread)]);
}

#[test]
fn multiples_of_a_warp_leave_the_place_in_it_alone() {
    use Level::{Thread, Warp};
    let text = |block: &str, size: u32| {
        format!(
            "kernel k(v0 n: int64 0.. multiple 64, v1 m: int64) block {block} {{
              v2: int64 = call thread_idx.x()
              v3: int64 = call block_idx.x()
              v4: int64 = const {size}
              v5: int64 = mul v3, v4
              v6: int64 = add v5, v2
              v7: int64 = const 32
              v8: int64 = floordiv v6, v7
              v9: int32 = convert v6
              v10: int32 = const 5
              v11: int32 = shr v9, v10
              v12: bool = lt v6, v0
              v13: bool = lt v6, v1
              v14: bool = gt v0, v6
              v15: bool = le v6, v0
              v16: int64 = const 16
              v17: int64 = floordiv v6, v16
              v18: int64 = const 128
              v19: int64 = floormod v6, v18
              v20: int64 = floordiv v19, v7
              v21: int64 = mul v3, v16
              v22: int64 = add v21, v2
              v23: int64 = floordiv v22, v7
              v24: int64 = sub v5, v2
              v25: int64 = floordiv v24, v7
              v26: int64 = floormod v6, v16
              v27: int64 = floordiv v26, v7
              v28: int8 = convert v6
              v29: int8 = const 5
              v30: int8 = shr v28, v29
              for v31: int64 = v6 to v1 step v4 {{
                v32: int64 = floordiv v31, v7
              }}
              for v33: int64 = v6 to v1 step v16 {{
                v34: int64 = floordiv v33, v7
              }}
            }}"
        )
    };
    let rows = [8, 11, 12, 14, 20, 32];
    let others = [13, 15, 17, 23, 25, 27, 30, 34];
    let all = |level, values: &[u32]| values.iter().map(|v| (*v, level)).collect::<Vec<_>>();
    for block in ["[128, 1, 1]", "[_, 1, 1]", "[64, 2, 1]"] {
        expect_levels(&text(block, 128), &all(Warp, &rows));
        expect_levels(&text(block, 128), &all(Thread, &others));
    }
    // Blocks do not begin at a multiple, or rows of threads do not.
    expect_levels(&text("[128, 1, 1]", 48), &all(Thread, &[8, 11, 12, 14, 20, 32]));
    expect_levels(&text("[48, 2, 1]", 128), &all(Thread, &rows));
}

#[test]
fn slots_are_as_alike_as_the_ways_to_them() {
    use Level::{Block, Grid, Thread};
    expect_levels(
        "kernel k(v0 n: int64, v1 c: bool) {
          s0 a: int64 s1 b: int64 s2 d: int64 s3 e: int64 s4 f: int64 s5 g: int64 s6 h: int64
          v2: int64 = call thread_idx.x()
          v3: bool = lt v2, v0
          v4: int64 = call block_idx.x()
          set s0, v0
          v5: int64 = get s0
          if v3 { set s0, v4 v6: int64 = get s0 }
          v7: int64 = get s0
          set s0, v0
          v8: int64 = get s0
          set s1, v0
          if v1 { set s1, v4 }
          v9: int64 = get s1
          set s2, v0 set s3, v0
          for v10: int64 = v2 to v0 step v0 { set s2, v4 v11: int64 = get s2 }
          v12: int64 = get s2
          v13: int64 = get s3
          set s4, v0 set s5, v0
          for v14: int64 = v0 to v4 step v0 {
            v15: int64 = get s4
            v16: int64 = get s5
            set s4, v16
            set s5, v2
          }
          v17: int64 = get s4
          set s6, v0
          while { v18: int64 = get s6 v19: bool = lt v18, v0 } v19 {
            v20: int64 = add v18, v0
            set s6, v20
            if v3 { break }
          }
          v21: int64 = get s6
        }",
        &[
            (5, Grid),
            (6, Block),
            (7, Thread),
            (8, Grid),
            (9, Block),
            (10, Thread),
            (11, Block),
            (12, Thread),
            (13, Grid),
            (14, Grid),
            (15, Thread),
            (16, Thread),
            (17, Thread),
            (18, Grid),
            (21, Thread),
        ],
    );
}

#[test]
fn who_jumps_parts_from_the_others() {
    use Level::{Grid, Thread};
    // Who goes on to the next round early has not set what the others have.
    expect_levels(
        "kernel k(v0 n: int64) {
          s0 a: int64
          v1: int64 = call thread_idx.x()
          v2: bool = lt v1, v0
          set s0, v0
          for v3: int64 = v0 to v0 step v0 {
            v4: int64 = get s0
            if v2 { continue }
            v5: int64 = get s0
            set s0, v3
            v6: int64 = get s0
          }
          v7: int64 = get s0
        }",
        &[(4, Thread), (5, Thread), (6, Grid), (7, Thread)],
    );
    // Who has returned does not part those that stay.
    expect_levels(
        "kernel k(v0 n: int64, v1 c: bool) {
          s0 a: int64
          v2: int64 = call thread_idx.x()
          v3: bool = lt v2, v0
          set s0, v0
          if v3 { return }
          for v4: int64 = v0 to v0 step v0 { set s0, v4 if v1 { break } }
          v5: int64 = get s0
        }",
        &[(5, Grid)],
    );
}
