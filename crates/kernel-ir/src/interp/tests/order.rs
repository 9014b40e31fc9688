// SPDX-License-Identifier: Apache-2.0
//! The order of atomic operations and fences: between lanes, warps and blocks, and where there is
//! none.

use super::{Memory, Trial, trial};
use crate::types::Scalar;
use expect_test::expect;

/// Each block leaves a number, takes a ticket, and the block with the last one adds all up.
/// `{take}` takes the ticket, into `v10`.
fn last_block(before: &str, order: &str, behind: &str) -> String {
    format!(
        "kernel last(v0 parts: pointer.global int32 align 4 written,
            v1 ticket: pointer.global int32 align 4 written,
            v2 out: pointer.global int32 align 4 written) {{
          shared0 last: int32 bytes 4 align 4
          s0 sum: int32
          v3: int64 = call thread_idx.x()
          v4: int64 = call block_idx.x()
          v5: int64 = const 0
          v6: bool = eq v3, v5
          v7: int64 = const 4
          v8: int64 = mul v4, v7
          v9: pointer.global = offset v0, v8
          v11: int64 = call grid_dim.x()
          v12: int32 = convert v11
          v13: int32 = const 1
          v14: int32 = sub v12, v13
          v15: pointer.shared = shared0
          v16: int64 = call block_dim.x()
          if v6 {{
            v20: int32 = convert v4
            store v9, v20 align 4 @2:1
            {before}
            v21: int32 = call atomic.add(v1, v13, {order}, gpu) @3:1
            {behind}
            store v15, v21 align 4 @4:1
          }}
          call barrier()
          v22: int32 = load v15 align 4 @5:1
          v23: bool = eq v22, v14
          if v23 {{
            v24: int32 = const 0
            set s0, v24
            for v25: int64 = v3 to v11 step v16 {{
              v26: int64 = mul v25, v7
              v27: pointer.global = offset v0, v26
              v28: int32 = load v27 align 4 @6:1
              v29: int32 = get s0
              v30: int32 = add v29, v28
              set s0, v30
            }}
            v31: int32 = get s0
            v32: int32 = call atomic.add(v2, v31, relaxed, gpu) @7:1
          }}
        }}"
    )
}

fn run(text: &str, seed: u64) -> Trial {
    let n_blocks = 37;
    trial(text, n_blocks, 64).fresh(Scalar::I32, n_blocks as usize).ints(&[0]).ints(&[0]).seed(seed)
}

#[test]
fn the_last_block_sees_what_all_others_left() {
    let fence = "call fence(gpu)";
    for text in [last_block("", "acq_rel", ""), last_block(fence, "relaxed", fence)] {
        for seed in 0..5 {
            let mut last = run(&text, seed);
            last.clean();
            assert_eq!(last.ints_at(2), [(0..37).sum::<i32>()]);
        }
    }
}

#[test]
fn a_ticket_that_is_not_ordered_on_both_sides_orders_nothing() {
    let fence = "call fence(gpu)";
    let near = "call fence(block)";
    for text in [
        last_block("", "relaxed", ""),
        last_block("", "acquire", ""),
        last_block("", "release", ""),
        last_block(fence, "relaxed", ""),
        last_block("", "relaxed", fence),
        last_block(near, "relaxed", near),
    ] {
        let outcome = run(&text, 0).run();
        let codes: Vec<_> = outcome.findings.iter().map(|one| one.kind.code()).collect();
        assert_eq!(codes, ["global-race"]);
    }
    let expected = expect![[r#"
        error[global-race]: race: `parts[0]` is read, and nothing orders that with another thread's write, in thread (0, 0, 0) of block (36, 0, 0), at kernel.py:6:1; thread (0, 0, 0) of block (0, 0, 0) writes it, at kernel.py:2:1
        found 36 times
    "#]];
    run(&last_block("", "relaxed", ""), 0).expect_findings(expected);
}

#[test]
fn atomic_operations_do_not_race_with_one_another_but_with_all_else() {
    let text = |other: &str| {
        format!(
            "kernel k(v0 x: pointer.global int32 align 4 written) {{
              v1: int32 = const 1
              v2: int32 = call atomic.add(v0, v1, relaxed, gpu) @1:1
              v3: int32 = call atomic.max(v0, v1, relaxed, gpu) @1:2
              {other}
            }}"
        )
    };
    let mut count = trial(&text(""), 5, 70).ints(&[0]);
    count.clean();
    assert_eq!(count.ints_at(0), [350]);
    trial(&text("v4: int32 = load v0 align 4 @2:2"), 1, 2).ints(&[0]).expect_findings(expect![[r#"
        error[global-race]: race: `x[0]` is read, and nothing orders that with another thread's write, in thread (0, 0, 0) of block (0, 0, 0), at kernel.py:2:2; thread (1, 0, 0) of block (0, 0, 0) updates it in one step, at kernel.py:1:1
        found 2 times
    "#]]);
    trial(&text("store v0, v1 align 4 @2:2"), 1, 2).ints(&[0]).expect_findings(expect![[r#"
        error[global-race]: race: `x[0]` is written, and nothing orders that with another thread's write, in thread (0, 0, 0) of block (0, 0, 0), at kernel.py:2:2; thread (1, 0, 0) of block (0, 0, 0) updates it in one step, at kernel.py:1:1
        error[global-race]: race: `x[0]` is written, and nothing orders that with another thread's write, in thread (1, 0, 0) of block (0, 0, 0), at kernel.py:2:2; thread (0, 0, 0) of block (0, 0, 0) writes it, at kernel.py:2:2
    "#]]);
    trial(&text("store v0, v1 align 4 @2:2"), 1, 1).ints(&[0]).clean();
}

#[test]
fn operations_for_one_block_race_with_those_of_another() {
    let text = |scope: &str| {
        format!(
            "kernel k(v0 x: pointer.global int32 align 4 written) {{
              v1: int32 = const 1
              v2: int32 = call atomic.add(v0, v1, relaxed, {scope}) @1:1
            }}"
        )
    };
    trial(&text("block"), 1, 256).ints(&[0]).clean();
    trial(&text("gpu"), 2, 256).ints(&[0]).clean();
    let halves = || Memory::new("x".to_string(), Scalar::I64, vec![0; 8]);
    trial(&text("gpu"), 2, 1).tensor(halves()).clean();
    trial(&text("block"), 2, 1).tensor(halves()).expect_findings(expect![[r#"
        error[global-race]: race: `x[0]` is updated, and nothing orders that with another thread's write, in thread (0, 0, 0) of block (1, 0, 0), at kernel.py:1:1; thread (0, 0, 0) of block (0, 0, 0) updates it in one step, at kernel.py:1:1
    "#]]);
    trial(&text("block"), 2, 1).ints(&[0]).expect_findings(expect![[r#"
        error[global-race]: race: `x[0]` is updated, and nothing orders that with another thread's write, in thread (0, 0, 0) of block (1, 0, 0), at kernel.py:1:1; thread (0, 0, 0) of block (0, 0, 0) updates it in one step, at kernel.py:1:1
    "#]]);
}

/// Blocks that all wait for one another, as often as `{turns}` says, and exchange numbers.
const GRID_BARRIER: &str = "kernel wait(v0 line: pointer.global int32 align 4 written,
        v1 count: pointer.global int32 align 4 written, v2 turns: int64) {
      s0 seen: int32
      v3: int64 = call thread_idx.x()
      v4: int64 = call block_idx.x()
      v5: int64 = call grid_dim.x()
      v6: int64 = const 0
      v7: int64 = const 1
      v8: int64 = const 4
      v9: int32 = const 1
      v10: bool = eq v3, v6
      v11: int64 = mul v4, v8
      v12: pointer.global = offset v0, v11
      v13: int64 = add v4, v7
      v14: int64 = floormod v13, v5
      v15: int64 = mul v14, v8
      v16: pointer.global = offset v0, v15
      for v20: int64 = v6 to v2 step v7 {
        if v10 {
          v21: int32 = load v16 align 4 @2:1
          set s0, v21
        }
        call barrier()
        if v10 {
          v22: int32 = call atomic.add(v1, v9, acq_rel, gpu)
          v23: int64 = const 2
          v24: int64 = mul v20, v23
          v25: int64 = add v24, v7
          v26: int64 = mul v25, v5
          v27: int32 = convert v26
          while { v28: int32 = call atomic.load.int32(v1, acquire, gpu) v29: bool = lt v28, v27 } v29 { }
          v30: int32 = get s0
          v31: int32 = add v30, v9
          store v12, v31 align 4 @3:1
          v32: int32 = call atomic.add(v1, v9, acq_rel, gpu)
          v33: int64 = add v25, v7
          v34: int64 = mul v33, v5
          v35: int32 = convert v34
          while { v36: int32 = call atomic.load.int32(v1, acquire, gpu) v37: bool = lt v36, v35 } v37 { }
        }
        call barrier()
      }
    }";

#[test]
fn blocks_may_wait_for_one_another() {
    for seed in 0..4 {
        let n_blocks = 50;
        let line: Vec<i32> = (0..n_blocks).map(|i| i * 100).collect();
        let mut wait =
            trial(GRID_BARRIER, n_blocks as u32, 64).ints(&line).ints(&[0]).int(3).seed(seed);
        wait.clean();
        let expected: Vec<i32> = (0..n_blocks).map(|i| (i + 3) % n_blocks * 100 + 3).collect();
        assert_eq!(wait.ints_at(0), expected);
    }
}

#[test]
fn threads_that_wait_for_what_never_comes_are_found() {
    let text = "kernel k(v0 flag: pointer.global int32 align 4 written) {
        v1: int32 = const 0
        while @4:1 { v2: int32 = call atomic.load.int32(v0, acquire, gpu) v3: bool = eq v2, v1 } v3 { }
    }";
    let mut waiting = trial(text, 4, 32).ints(&[0]);
    waiting.options.most_idle_turns = 5000;
    waiting.expect_findings(expect![[r#"
        error[deadlock]: deadlock: 4 blocks run, and all wait for what never happens, in thread (0, 0, 0) of block (0, 0, 0), at kernel.py:4:1
    "#]]);
}

#[test]
fn a_released_flag_hands_memory_to_another_warp() {
    let text = |release: &str, acquire: &str| {
        let release = format!("call atomic.store(v8, v10, {release}, block)");
        handed_over(&release, acquire, "")
    };
    for seed in 0..4 {
        let mut flag = trial(&text("release", "acquire"), 2, 64).fresh(Scalar::I32, 32).seed(seed);
        let outcome = flag.run();
        let kinds: Vec<_> = outcome.findings.iter().map(|one| one.kind.code()).collect();
        // The blocks write the same elements, but nothing in shared memory races.
        assert_eq!(kinds, ["global-race"]);
        trial(&text("release", "acquire"), 1, 64).fresh(Scalar::I32, 32).seed(seed).clean();
    }
    let late = "call atomic.store(v8, v10, release, block) store v7, v9 align 4";
    let late = handed_over(late, "acquire", "");
    for text in [text("relaxed", "acquire"), text("release", "relaxed"), late] {
        let outcome = trial(&text, 1, 64).fresh(Scalar::I32, 32).run();
        let kinds: Vec<_> = outcome.findings.iter().map(|one| one.kind.code()).collect();
        assert_eq!(kinds, ["shared-race"]);
    }
}

#[test]
fn fences_for_a_block_hand_memory_to_another_warp() {
    let fence = "call fence(block)";
    let release = "call atomic.store(v8, v10, relaxed, block)";
    for seed in 0..4 {
        let text = handed_over(&format!("{fence} {release}"), "relaxed", fence);
        trial(&text, 1, 64).fresh(Scalar::I32, 32).seed(seed).clean();
    }
    let late = format!("{fence} {release} store v7, v9 align 4");
    let read = format!("{release} {fence} v30: int32 = call atomic.load.int32(v8, relaxed, block)");
    for release in [late, read] {
        let text = handed_over(&release, "relaxed", fence);
        let outcome = trial(&text, 1, 64).fresh(Scalar::I32, 32).run();
        let kinds: Vec<_> = outcome.findings.iter().map(|one| one.kind.code()).collect();
        assert_eq!(kinds, ["shared-race"], "{release}");
    }
}

/// A warp leaves numbers in `v7`, and its first lane a flag in `v8`; another one waits for it.
fn handed_over(release: &str, acquire: &str, behind: &str) -> String {
    format!(
        "kernel k(v0 out: pointer.global int32 align 4 written) {{
              shared0 data: int32 bytes 128 align 4
              shared1 flag: int32 bytes 4 align 4
              v1: int64 = call warp_idx()
              v2: int64 = call lane_idx()
              v3: int64 = const 0
              v4: int64 = const 4
              v5: int64 = mul v2, v4
              v6: pointer.shared = shared0
              v7: pointer.shared = offset v6, v5
              v8: pointer.shared = shared1
              v9: int32 = const 0
              v10: int32 = const 1
              v11: bool = eq v1, v3
              v12: bool = eq v2, v3
              v13: int32 = convert v2
              if v11 {{ if v12 {{ call atomic.store(v8, v9, relaxed, block) }} }}
              call barrier()
              if v11 {{
                store v7, v13 align 4 @2:1
                call barrier.warp()
                if v12 {{ {release} }}
              }} else {{
                while {{
                  v20: int32 = call atomic.load.int32(v8, {acquire}, block)
                  v21: bool = eq v20, v9
                }} v21 {{ }}
                {behind}
                v22: int32 = load v7 align 4 @3:1
                v23: pointer.global = offset v0, v5
                store v23, v22 align 4 @4:1
              }}
            }}"
    )
}

#[test]
fn what_was_released_is_forgotten_where_something_else_is_stored() {
    let text = |store: &str| {
        format!(
            "kernel k(v0 data: pointer.global int32 align 4 written,
                v1 flag: pointer.global int32 align 4 written) {{
              v2: int64 = call block_idx.x()
              v3: int64 = const 0
              v4: bool = eq v2, v3
              v5: int32 = const 1
              v6: int32 = const 2
              if v4 {{
                store v0, v5 align 4 @2:1
                call atomic.store(v1, v5, release, gpu)
                {store} @3:1
              }} else {{
                while {{
                  v10: int32 = call atomic.load.int32(v1, relaxed, gpu) @4:1
                  v11: bool = ne v10, v6
                }} v11 {{ }}
                v12: int32 = call atomic.load.int32(v1, acquire, gpu) @5:1
                v13: int32 = load v0 align 4 @6:1
              }}
            }}"
        )
    };
    let run = |store: &str| trial(&text(store), 2, 1).ints(&[0]).ints(&[0]);
    run("v7: int32 = call atomic.add(v1, v5, relaxed, gpu)").clean();
    run("store v1, v6 align 4").expect_findings(expect![[r#"
        error[global-race]: race: `flag[0]` is read, and nothing orders that with another thread's write, in thread (0, 0, 0) of block (1, 0, 0), at kernel.py:4:1; thread (0, 0, 0) of block (0, 0, 0) writes it, at kernel.py:3:1
        error[global-race]: race: `flag[0]` is read, and nothing orders that with another thread's write, in thread (0, 0, 0) of block (1, 0, 0), at kernel.py:5:1; thread (0, 0, 0) of block (0, 0, 0) writes it, at kernel.py:3:1
        error[global-race]: race: `data[0]` is read, and nothing orders that with another thread's write, in thread (0, 0, 0) of block (1, 0, 0), at kernel.py:6:1; thread (0, 0, 0) of block (0, 0, 0) writes it, at kernel.py:2:1
    "#]]);
    run("call atomic.store(v1, v6, relaxed, gpu)").expect_findings(expect![[r#"
        error[global-race]: race: `data[0]` is read, and nothing orders that with another thread's write, in thread (0, 0, 0) of block (1, 0, 0), at kernel.py:6:1; thread (0, 0, 0) of block (0, 0, 0) writes it, at kernel.py:2:1
    "#]]);
}

#[test]
fn more_moments_than_can_be_told_apart_end_a_run() {
    // So many blocks leave 11 bits for the time, which begins with 1.
    let run = |step: &str, turns: i64| {
        let text = format!(
            "kernel k(v0 x: pointer.global int32 align 4 written, v1 turns: int64) {{
              v2: int64 = const 0
              v3: int64 = const 1
              v4: int32 = const 1
              for v5: int64 = v2 to v1 step v3 {{ {step} @1:1 }}
              while @2:1 {{ v6: bool = const true }} v6 {{ }}
            }}"
        );
        let mut run = trial(&text, 1, 1).ints(&[0]).int(turns).grid([1 << 31, 1 << 13, 1]);
        run.options.most_turns = 3000;
        let outcome = run.run();
        let codes = outcome.findings.iter().map(|one| one.kind.code());
        codes.collect::<Vec<_>>().join(" ")
    };
    let release = "v7: int32 = call atomic.add(v0, v4, release, gpu)";
    for step in ["call fence(gpu)", "call barrier.warp()", release] {
        assert_eq!([run(step, 2046), run(step, 2047)], ["endless-loop", "unsupported"], "{step}");
    }
}

#[test]
fn what_only_reads_does_not_race_with_reads() {
    let text = "kernel k(v0 x: pointer.global int32 align 4) {
        v1: int32 = call atomic.load.int32(v0, relaxed, gpu)
        v2: int32 = load v0 align 4
    }";
    trial(text, 2, 64).ints(&[0]).clean();
}
