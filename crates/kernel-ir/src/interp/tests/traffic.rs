// SPDX-License-Identifier: Apache-2.0
//! Counts of accesses: how many there are, how wide, and how much of memory they take.

use super::{Trial, trial};
use crate::interp::{Amount, Outcome, Widths};
use crate::kernel::PlaceData;
use crate::types::Space;
use expect_test::{Expect, expect};
use std::sync::Arc;

/// The counts of an outcome, a line each.
fn told(outcome: &Outcome) -> String {
    let lines = outcome.traffic.iter().flatten().map(|one| {
        let Amount { accesses, threads, taken, least } = one.amount;
        let of = if one.space == Space::Global { "sectors" } else { "turns" };
        format!(
            "{}: {} {}, {} bytes: {accesses} of {threads} threads, {taken} {of} of {least}\n",
            one.place.line,
            one.deed.text(),
            one.memory,
            one.bytes
        )
    });
    lines.collect()
}

impl Trial {
    #[track_caller]
    fn expect_counts(mut self, expected: &Expect) {
        self.options.count.get_or_insert_default();
        expected.assert_eq(&told(&self.run()));
    }

    /// Counts accesses of a line, all reading or all writing, as those of so many bytes.
    fn joining(mut self, line: u32, is_write: bool, bytes: u32) -> Trial {
        let is_of_line = |place: &&PlaceData| place.line == line;
        let places: Vec<_> = self.kernel.places.iter().filter(is_of_line).copied().collect();
        let mut widths = Widths::default();
        widths.join(&places, is_write, bytes);
        self.options.count = Some(Arc::new(widths));
        self
    }
}

/// A kernel that reads and writes at a multiple of the thread's number.
fn strided(bytes: i64) -> Trial {
    let text = format!(
        "kernel k(v0 x: pointer.global int32 align 4, v1 y: pointer.global int32 align 4 written)
            block [_, 1, 1] {{
          v2: int64 = call thread_idx.x()
          v3: int64 = const {bytes}
          v4: int64 = mul v2, v3
          v5: pointer.global = offset v0, v4
          v6: pointer.global = offset v1, v4
          v7: int32 = load v5 align 4 @1:1
          store v6, v7 align 4 @2:1
        }}"
    );
    trial(&text, 2, 40).ints(&[7; 512]).ints(&[0; 512])
}

#[test]
fn accesses_side_by_side_take_few_sectors() {
    // Two blocks of a warp and a quarter.
    let side_by_side = expect![[r#"
        1: reads x, 4 bytes: 4 of 80 threads, 10 sectors of 10
        2: writes y, 4 bytes: 4 of 80 threads, 10 sectors of 10
    "#]];
    strided(4).expect_counts(&side_by_side);
    let every_second = expect![[r#"
        1: reads x, 4 bytes: 4 of 80 threads, 20 sectors of 10
        2: writes y, 4 bytes: 4 of 80 threads, 20 sectors of 10
    "#]];
    strided(8).expect_counts(&every_second);
    let one = expect![[r#"
        1: reads x, 4 bytes: 4 of 80 threads, 4 sectors of 4
        2: writes y, 4 bytes: 4 of 80 threads, 4 sectors of 4
    "#]];
    strided(0).expect_counts(&one);
}

#[test]
fn where_a_tensor_begins_counts() {
    let mut trial = strided(4);
    let begins_behind = trial.memories.0.remove(0).at_address(4);
    trial.memories.0.insert(0, begins_behind);
    let counts = expect![[r#"
        1: reads x, 4 bytes: 4 of 80 threads, 14 sectors of 10
        2: writes y, 4 bytes: 4 of 80 threads, 10 sectors of 10
    "#]];
    trial.expect_counts(&counts);
}

#[test]
fn nothing_is_counted_unless_it_is_wanted() {
    assert_eq!(told(&strided(4).run()), "");
}

#[test]
fn accesses_outside_count_too() {
    let counts = expect![[r#"
        1: reads x, 4 bytes: 4 of 80 threads, 80 sectors of 10
        2: writes y, 4 bytes: 4 of 80 threads, 80 sectors of 10
    "#]];
    strided(-64).expect_counts(&counts);
    // Addresses wrap around.
    let counts = expect![[r#"
        1: reads x, 4 bytes: 4 of 80 threads, 16 sectors of 10
        2: writes y, 4 bytes: 4 of 80 threads, 16 sectors of 10
    "#]];
    strided(i64::MAX).expect_counts(&counts);
}

/// A kernel of which each thread accesses so many bytes at a stride in shared memory.
fn shared(stride: i64, ty: &str, bytes: u32) -> Trial {
    let text = format!(
        "kernel k(v0 x: pointer.global {ty} align {bytes}) block [32, 1, 1] {{
          shared0 tile: {ty} bytes 8192 align 16
          v1: int64 = call thread_idx.x()
          v2: int64 = const {stride}
          v3: int64 = mul v1, v2
          v4: pointer.shared = shared0
          v5: pointer.shared = offset v4, v3
          v6: {ty} = load v0 align {bytes} @1:1
          store v5, v6 align {bytes} @2:1
        }}"
    );
    trial(&text, 1, 32).ints(&[1; 64])
}

#[test]
fn words_of_one_bank_wait_for_each_other() {
    let turns = |stride, ty, bytes| {
        let mut trial = shared(stride, ty, bytes);
        trial.options.count = Some(Arc::default());
        let outcome = trial.run();
        let amount = outcome.traffic.expect("it is counted")[1].amount;
        (amount.taken, amount.least)
    };
    // Columns of rows of 32 words, and of 33.
    assert_eq!(turns(128, "int32", 4), (32, 1));
    assert_eq!(turns(132, "int32", 4), (1, 1));
    assert_eq!(turns(64, "int32", 4), (16, 1));
    // One word, and parts of one.
    assert_eq!(turns(0, "int32", 4), (1, 1));
    assert_eq!(turns(2, "int16", 2), (1, 1));
    // Half a warp is served at a time.
    assert_eq!(turns(8, "int64", 8), (2, 2));
    assert_eq!(turns(16, "int64", 8), (4, 2));
}

/// A kernel whose threads read four numbers each, one by one, in three turns of a loop.
const FOUR: &str = "
    kernel k(v0 x: pointer.global int32 align 16, v1 y: pointer.global int32 align 4 written)
        block [_, 1, 1] {
      s0 sum: int32
      v2: int64 = call thread_idx.x()
      v3: int64 = const 16
      v4: int64 = mul v2, v3
      v5: int32 = const 0
      v6: int64 = const 0
      v7: int64 = const 3
      v8: int64 = const 1
      v9: int64 = const 512
      v10: int64 = const 4
      set s0, v5
      for v11: int64 = v6 to v7 step v8 {
        v12: int64 = mul v11, v9
        v13: int64 = add v12, v4
        v14: pointer.global = offset v0, v13
        v15: pointer.global = offset v14, v10
        v16: pointer.global = offset v15, v10
        v17: pointer.global = offset v16, v10
        v18: int32 = load v14 align 4 @1:1
        v19: int32 = load v15 align 4 @1:3
        v20: int32 = load v16 align 4 @1:3
        v21: int32 = load v17 align 4 @1:5
        v22: int32 = add v18, v19
        v23: int32 = add v20, v21
        v24: int32 = add v22, v23
        set s0, v24
      }
      v25: int32 = get s0
      store v1, v25 align 4 @2:1
    }";

#[test]
fn what_becomes_one_access_is_counted_as_one() {
    let four = || trial(FOUR, 1, 32).ints(&[1; 384]).ints(&[0; 1]);
    let alone = expect![[r#"
        1: reads x, 4 bytes: 12 of 384 threads, 192 sectors of 48
        2: writes y, 4 bytes: 1 of 32 threads, 1 sectors of 1
    "#]];
    four().expect_counts(&alone);
    let whole = expect![[r#"
        1: reads x, 16 bytes: 3 of 96 threads, 48 sectors of 48
        2: writes y, 4 bytes: 1 of 32 threads, 1 sectors of 1
    "#]];
    four().joining(1, false, 16).expect_counts(&whole);
    let halves = expect![[r#"
        1: reads x, 8 bytes: 6 of 192 threads, 96 sectors of 48
        2: writes y, 4 bytes: 1 of 32 threads, 1 sectors of 1
    "#]];
    four().joining(1, false, 8).expect_counts(&halves);
    // What is written is another access, and so is what stands elsewhere.
    four().joining(1, true, 16).expect_counts(&alone);
    four().joining(2, false, 16).expect_counts(&alone);
}

#[test]
fn threads_that_part_make_accesses_of_their_own() {
    let text = "
        kernel k(v0 x: pointer.global int32 align 4 written) block [32, 1, 1] {
          v1: int64 = call thread_idx.x()
          v2: int64 = const 4
          v3: int64 = mul v1, v2
          v4: pointer.global = offset v0, v3
          v5: int64 = const 8
          v6: bool = lt v1, v5
          v7: int32 = const 1
          if v6 {
            store v4, v7 align 4 @1:1
          } else {
            store v4, v7 align 4 @2:1
          }
        }";
    let counts = expect![[r#"
        1: writes x, 4 bytes: 1 of 8 threads, 1 sectors of 1
        2: writes x, 4 bytes: 1 of 24 threads, 3 sectors of 3
    "#]];
    trial(text, 1, 32).ints(&[0; 32]).expect_counts(&counts);
}

#[test]
fn cores_count_what_one_does() {
    let text = "
        kernel k(v0 x: pointer.global int32 align 16 written) block [64, 1, 1] {
          v1: int64 = call thread_idx.x()
          v2: int64 = call block_idx.x()
          v3: int64 = const 512
          v4: int64 = const 8
          v5: int64 = mul v2, v3
          v6: int64 = mul v1, v4
          v7: int64 = add v5, v6
          v8: pointer.global = offset v0, v7
          v9: int64 = const 4
          v10: pointer.global = offset v8, v9
          v11: int32 = const 1
          store v8, v11 align 4 @1:1
          store v10, v11 align 4 @1:2
        }";
    let run = |n_cores| {
        let mut trial = trial(text, 9, 64).ints(&[0; 9 * 128]).joining(1, true, 8);
        (trial.options.n_cores, trial.options.least_warps) = (n_cores, 0);
        let outcome = trial.run();
        (told(&outcome), outcome.n_cores)
    };
    let alone = "1: writes x, 8 bytes: 18 of 576 threads, 144 sectors of 144\n".to_string();
    assert_eq!(run(1), (alone.clone(), 1));
    assert_eq!(run(3), (alone, 3));
}

#[test]
fn copies_and_atomic_operations_count() {
    let text = "
        kernel k(v0 x: pointer.global int32 align 16, v1 sum: pointer.global int32 align 4 written)
            block [32, 1, 1] {
          shared0 tile: int32 bytes 2048 align 16
          v2: int64 = call thread_idx.x()
          v3: int64 = const 16
          v4: int64 = mul v2, v3
          v5: pointer.global = offset v0, v4
          v6: pointer.shared = shared0
          v7: pointer.shared = offset v6, v4
          v8: int64 = const 8
          v9: bool = lt v2, v8
          call copy.async(v7, v5, 16, v9) @1:1
          call copy.commit() @2:1
          call copy.wait(0) @3:1
          v10: int32 = const 1
          v11: int32 = call atomic.add(v1, v10, relaxed, gpu) @4:1
        }";
    let counts = expect![[r#"
        1: reads x, 16 bytes: 1 of 8 threads, 4 sectors of 4
        1: writes tile, 16 bytes: 1 of 32 threads, 4 turns of 4
        4: updates sum, 4 bytes: 1 of 32 threads, 1 sectors of 1
    "#]];
    trial(text, 1, 32).ints(&[1; 128]).ints(&[0]).expect_counts(&counts);
}

#[test]
fn rows_of_matrices_count() {
    // Four matrices, of which lanes have the rows: side by side, and all in the same banks.
    let of_rows = |stride: u32| {
        let text = format!(
            "kernel k(v0 x: pointer.global int32 align 4) block [32, 1, 1] {{
              shared0 tile: uint16 bytes 4096 align 16
              v1: int64 = call thread_idx.x()
              v2: int64 = const {stride}
              v3: int64 = mul v1, v2
              v4: pointer.shared = shared0
              v5: pointer.shared = offset v4, v3
              v6: uint16x8 = call matrix.load4(v5, rows) @1:1
              call matrix.store4(v5, v6, rows) @2:1
            }}"
        );
        trial(&text, 1, 32).ints(&[0])
    };
    let side_by_side = expect![[r#"
        1: reads tile, 16 bytes: 1 of 32 threads, 4 turns of 4
        2: writes tile, 16 bytes: 1 of 32 threads, 4 turns of 4
    "#]];
    of_rows(16).expect_counts(&side_by_side);
    let in_one_place = expect![[r#"
        1: reads tile, 16 bytes: 1 of 32 threads, 32 turns of 4
        2: writes tile, 16 bytes: 1 of 32 threads, 32 turns of 4
    "#]];
    of_rows(128).expect_counts(&in_one_place);
}
