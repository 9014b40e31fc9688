// SPDX-License-Identifier: Apache-2.0
//! What happens as a kernel runs: slots, writes, threads together.

use super::super::verify;
use super::{expect_problems, expect_right, kernel};
use crate::intrinsic::Level;
use crate::kernel::Value;
use expect_test::expect;

#[test]
fn slots_are_set_on_every_way() {
    expect_problems(
        "kernel k(v0 c: bool, v1 n: int32, v2 x: int32) {
          s0 never: int32
          s1 otherwise: int32
          s2 then: int32
          s3 counted: int32
          s4 repeated: int32
          s5 broken: int32
          v3: int32 = get s0
          if v0 { set s1, v2 } else { set s2, v2 }
          v4: int32 = get s1
          v5: int32 = get s2
          for v6: int32 = v1 to v1 step v1 { set s3, v2 }
          v7: int32 = get s3
          while { } v0 { set s4, v2 }
          v8: int32 = get s4
          v9: bool = const true
          while { } v9 { if v0 { break } set s5, v2 if v0 { break } }
          v10: int32 = get s5
        }",
        expect![[r#"
            unassigned: `never` is used before it is assigned
              8: `v3: int32 = get s0`: used here
              help: assign `never` before, for every way to here
            unassigned: `otherwise` is not assigned where this condition does not hold
              10: `v4: int32 = get s1`: used here
              9: `if v0`: not assigned where this condition does not hold
              help: assign `otherwise` before, for every way to here
            unassigned: `then` is not assigned where this condition holds
              11: `v5: int32 = get s2`: used here
              9: `if v0`: not assigned where this condition holds
              help: assign `then` before, for every way to here
            unassigned: `counted` is not assigned on every way through this loop
              13: `v7: int32 = get s3`: used here
              12: `for v6: int32 = v1 to v1 step v1`: not assigned on every way through this loop
              help: assign `counted` before, for every way to here
            unassigned: `repeated` is not assigned on every way through this loop
              15: `v8: int32 = get s4`: used here
              14: `while`: not assigned on every way through this loop
              help: assign `repeated` before, for every way to here
            unassigned: `broken` is not assigned on every way through this loop
              18: `v10: int32 = get s5`: used here
              17: `while`: not assigned on every way through this loop
              help: assign `broken` before, for every way to here
        "#]],
    );
    expect_right(
        "kernel k(v0 c: bool, v1 n: int32, v2 x: int32) {
          s0 a: int32 s1 b: int32 s2 d: int32 s3 e: int32
          if v0 { set s0, v2 } else { return }
          v3: int32 = get s0
          while { set s1, v2 } v0 { v4: int32 = get s1 continue }
          v5: int32 = get s1
          v6: bool = const true
          while { } v6 { set s2, v2 if v0 { break } }
          v7: int32 = get s2
          for v8: int32 = v1 to v1 step v1 { if v0 { continue } else { set s3, v2 } v9: int32 = get s3 }
          return
        }",
    );
}

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

#[test]
fn what_is_written_may_be() {
    expect_problems(
        "kernel k(v0 x: pointer.global int32 align 4, v1 y: pointer.global int32 align 4 written, v2 n: int64, v3 c: bool, v4 i: int32) {
          s0 p: pointer.global
          store v0, v4 align 4
          store v1, v4 align 4
          v5: pointer.global = offset v0, v2
          store v5, v4 align 4
          v6: pointer.global = select v3, v1, v5
          v7: int32 = call atomic.add(v6, v4, relaxed, gpu)
          v8: int32 = call atomic.load.int32(v6, relaxed, gpu)
          set s0, v1
          for v9: int64 = v2 to v2 step v2 {
            v10: pointer.global = get s0
            store v10, v4 align 4
            set s0, v0
          }
        }",
        expect![[r#"
            read-only: `x` is written, and is not `mut`
              3: `store v0, v4 align 4`: written here
              help: write `mut` behind the dtype of `x` in the signature
            read-only: `x` is written, and is not `mut`
              6: `store v5, v4 align 4`: written here
              help: write `mut` behind the dtype of `x` in the signature
            read-only: `x` is written, and is not `mut`
              8: `v7: int32 = call atomic.add(v6, v4, relaxed, gpu)`: written here
              help: write `mut` behind the dtype of `x` in the signature
            read-only: `x` is written, and is not `mut`
              13: `store v10, v4 align 4`: written here
              help: write `mut` behind the dtype of `x` in the signature
        "#]],
    );
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
          v27: int64 = ptx "mov.u64 {0}, 1;"
          v28: int64 = call shuffle.idx(v2, v1)
          v29: int64 = call shuffle.idx(v2, v2)
          v30: int64 = call shuffle.xor(v2, v1)
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

#[test]
fn barriers_are_where_every_thread_comes_by() {
    expect_right(
        "kernel k(v0 x: pointer.global int64 align 8, v1 n: int64, v2 c: bool) {
          v3: int64 = call block_idx.x()
          v4: pointer.global = offset v0, v3
          v5: int64 = load v4 align 8
          v6: bool = lt v5, v1
          if v6 { call barrier() }
          for v7: int64 = v3 to v5 step v1 { call barrier() if v2 { break } if v6 { continue } call barrier() }
          v8: int64 = call thread_idx.x()
          for v9: int64 = v8 to v1 step v1 { v10: bool = lt v9, v1 if v10 { break } else { continue } }
          call barrier()
          v11: int64 = call warp_idx()
          v12: bool = lt v11, v1
          if v12 { call barrier.warp() v13: int64 = call shuffle.xor(v8, v1) return }
          call barrier.warp()
        }",
    );
}

#[test]
fn a_barrier_under_a_condition_of_the_thread_is_divergent() {
    expect_problems(
        "kernel k(v0 n: int64) {
          v1: int64 = call thread_idx.x()  @1:1
          v2: bool = lt v1, v0
          if v2 @2:1 {
            call barrier()
          } else {
            v3: bool = const true
            if v3 { call barrier() }
          }
          v4: int64 = call warp_idx()
          v5: bool = lt v4, v0
          if v5 {
            call barrier()
          }
          v6: bool = call vote.any(v5)
          if v2 {
            v7: bool = call vote.any(v5)
          }
        }",
        expect![[r#"
            divergent: not every thread of a block gets to `barrier`: the `if` at kernel.py:2 depends on the thread
              5: `call barrier()`: every thread of the block has to get here
              4: `if v2`: this condition depends on the thread
              help: move `barrier` to where every thread of the block comes by
            divergent: not every thread of a block gets to `barrier`: the `if` at kernel.py:2 depends on the thread
              8: `call barrier()`: every thread of the block has to get here
              4: `if v2`: this condition depends on the thread
              help: move `barrier` to where every thread of the block comes by
            divergent: not every thread of a block gets to `barrier`: the `if` depends on the warp
              13: `call barrier()`: every thread of the block has to get here
              12: `if v5`: this condition depends on the warp
              help: move `barrier` to where every thread of the block comes by
            divergent: not every thread of a warp gets to `vote.any`: the `if` depends on the thread
              17: `v7: bool = call vote.any(v5)`: every thread of the warp has to get here
              16: `if v2`: this condition depends on the thread
              help: move `vote.any` to where every thread of the warp comes by
        "#]],
    );
}

#[test]
fn a_barrier_in_a_loop_of_the_thread_is_divergent() {
    expect_problems(
        "kernel k(v0 n: int64, v1 c: bool) {
          s0 i: int64
          v2: int64 = call thread_idx.x()
          for v3: int64 = v2 to v0 step v0 {
            call barrier()
          }
          set s0, v0
          while { v4: int64 = get s0 v5: bool = lt v4, v2 } v5 {
            call barrier()
            set s0, v2
          }
          for v6: int64 = v0 to v0 step v0 {
            call barrier()
            v7: bool = lt v2, v6
            if v7 { continue }
            if v1 {
              call barrier()
            }
            break
          }
          for v8: int64 = v0 to v0 step v0 {
            call barrier()
            v9: bool = lt v2, v8
            if v9 { break }
          }
          call barrier()
        }",
        expect![[r#"
            divergent: not every thread of a block gets to `barrier`: how often the loop runs depends on the thread
              5: `call barrier()`: every thread of the block has to get here
              4: `for v3: int64 = v2 to v0 step v0`: how often this runs depends on the thread
              help: move `barrier` to where every thread of the block comes by
            divergent: not every thread of a block gets to `barrier`: how often the loop runs depends on the thread
              9: `call barrier()`: every thread of the block has to get here
              8: `while`: how often this runs depends on the thread
              help: move `barrier` to where every thread of the block comes by
            divergent: not every thread of a block gets to `barrier`: some leave by the `continue`, as the `if` depends on the thread
              13: `call barrier()`: every thread of the block has to get here
              15: `if v7`: this condition depends on the thread
              15: `continue`: some threads leave here
              help: in place of the `continue`, put what only some threads do into an `if`
            divergent: not every thread of a block gets to `barrier`: some leave by the `continue`, as the `if` depends on the thread
              17: `call barrier()`: every thread of the block has to get here
              15: `if v7`: this condition depends on the thread
              15: `continue`: some threads leave here
              help: in place of the `continue`, put what only some threads do into an `if`
            divergent: not every thread of a block gets to `barrier`: some leave by the `break`, as the `if` depends on the thread
              22: `call barrier()`: every thread of the block has to get here
              24: `if v9`: this condition depends on the thread
              24: `break`: some threads leave here
              help: in place of the `break`, put what only some threads do into an `if`
        "#]],
    );
}

#[test]
fn a_barrier_behind_a_return_of_some_threads_is_divergent() {
    expect_problems(
        "kernel k(v0 n: int64) {
          v1: int64 = call thread_idx.x()
          for v2: int64 = v0 to v0 step v0 {
            call barrier.warp()
            v3: bool = ge v1, v2
            if v3 {
              return
            }
          }
          call barrier()
        }",
        expect![[r#"
            divergent: not every thread of a warp gets to `barrier.warp`: some leave by the `return`, as the `if` depends on the thread
              4: `call barrier.warp()`: every thread of the warp has to get here
              6: `if v3`: this condition depends on the thread
              7: `return`: some threads leave here
              help: in place of the `return`, put what only some threads do into an `if`
            divergent: not every thread of a block gets to `barrier`: some leave by the `return`, as the `if` depends on the thread
              10: `call barrier()`: every thread of the block has to get here
              6: `if v3`: this condition depends on the thread
              7: `return`: some threads leave here
              help: in place of the `return`, put what only some threads do into an `if`
        "#]],
    );
}
