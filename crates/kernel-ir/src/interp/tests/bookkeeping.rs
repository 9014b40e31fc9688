// SPDX-License-Identifier: Apache-2.0
//! Bookkeeping of who touched memory, and of which memory is elements.

use super::trial;
use crate::interp::memory::{Memory, Mode};
use crate::types::Scalar;
use expect_test::expect;

/// Each thread of a launch in one dimension touches its own element.
fn each(operations: &str) -> String {
    format!(
        "kernel k(v0 x: pointer.global float32 align 4 written, v1 n: int64) {{
            v2: int64 = call thread_idx.x()
            v3: int64 = call block_idx.x()
            v4: int64 = const 256
            v5: int64 = mul v3, v4
            v6: int64 = add v5, v2
            v7: int64 = const 4
            {operations}
        }}"
    )
}

/// The bytes of bookkeeping for each element of four bytes, and what there is in any case.
const MOST_PER_ELEMENT: u64 = 24;
const ONCE: u64 = 4 << 20;

#[test]
fn an_element_of_four_bytes_takes_24_more_at_most() {
    let n = 1 << 16;
    let text = each(
        "v8: int64 = mul v6, v7
         v9: pointer.global = offset v0, v8
         v10: float32 = const 1.0
         store v9, v10 align 4",
    );
    let mut run = trial(&text, n / 256, 256).fresh(Scalar::F32, n as usize).int(n.into());
    run.options.n_cores = 1;
    let bytes = run.clean().bookkeeping_bytes;
    assert!(bytes <= MOST_PER_ELEMENT * u64::from(n) + 1024, "{bytes} for {n}");
    let said = crate::interp::bookkeeping_bytes(4, u64::from(n) * 4);
    assert!(bytes <= said && said <= MOST_PER_ELEMENT * u64::from(n) + 1024, "{said}");
}

/// Memory that is touched byte by byte takes as much for each byte, however many threads have read
/// it.
#[test]
fn an_element_of_which_bytes_are_touched_takes_what_is_said_of_bytes() {
    let n = 1_u32 << 12;
    let text = each(
        "v8: int64 = mul v6, v7
         v9: pointer.global = offset v0, v8
         v10: float32 = load v9 align 4
         v11: uint8 = load v9 align 1",
    );
    let x = vec![1.0; n as usize];
    let mut run = trial(&text, n / 256, 256).floats(&x).int(n.into());
    run.options.n_cores = 1;
    let bytes = run.clean().bookkeeping_bytes;
    let cells = crate::interp::cell_bytes(&run.kernel, Scalar::F32);
    let said = crate::interp::bookkeeping_bytes(cells, u64::from(n) * 4);
    assert_eq!(cells, 1);
    assert!((80 * u64::from(n)..=said).contains(&bytes), "{bytes} of {said}");
}

#[test]
fn threads_that_all_read_an_element_take_no_more() {
    // Twelve blocks read what all others read, and each reader of a cell is one more to know.
    let (n, block, readers) = (1_u32 << 16, 256, 12);
    let text = each(
        "v8: int64 = mul v2, v7
         for v9: int64 = v8 to v1 step v10 {
           v11: pointer.global = offset v0, v9
           v12: float32 = load v11 align 4
         }",
    );
    let text = text.replace("v8: int64", "v10: int64 = const 1024 v8: int64");
    let x = vec![1.0; n as usize];
    let mut run = trial(&text, readers, block).floats(&x).int((n * 4).into());
    let outcome = run.clean();
    assert!(outcome.thread_ops > u64::from(n * readers), "each block reads everything");
    let bytes = outcome.bookkeeping_bytes;
    assert!(bytes <= MOST_PER_ELEMENT * u64::from(n) + ONCE, "{bytes} for {n}");
    assert!(bytes > 20 * u64::from(n) + ONCE / 2, "{bytes}: as many as there is room for are kept");
}

#[test]
fn a_race_with_a_read_that_was_forgotten_is_missed() {
    // Two blocks read everything; then the second one writes the last element.
    let text = each(
        "v8: int64 = mul v2, v7
         v10: int64 = const 1024
         for v9: int64 = v8 to v1 step v10 {
           v11: pointer.global = offset v0, v9
           v12: float32 = load v11 align 4 @2:5
         }
         v13: int64 = const 511
         v14: bool = eq v6, v13
         if v14 {
           v15: int64 = sub v1, v7
           v16: pointer.global = offset v0, v15
           v17: float32 = const 2.0
           store v16, v17 align 4 @3:5
         }",
    );
    let run = |n: usize| trial(&text, 2, 256).floats(&vec![1.0; n]).int((n * 4) as i64);
    run(1 << 10).expect_findings(expect![[r#"
        error[global-race]: race: `x[1023]` is written, and nothing orders that with another thread's read, in thread (255, 0, 0) of block (1, 0, 0), at kernel.py:3:5; thread (255, 0, 0) of block (0, 0, 0) reads it, at kernel.py:2:5
    "#]]);
    // There is room for what has read about 50,000 elements.
    run(1 << 18).clean();
}

#[test]
fn what_lies_between_rows_is_no_element() {
    let at = |element: i64, vector: &str| {
        let text = format!(
            "kernel k(v0 x: pointer.global int32 align 16 written) {{
              v1: int64 = const {element}
              v2: pointer.global = offset v0, v1
              {vector}
            }}"
        );
        let modes = [(2, 8), (5, 1)].map(|(extent, stride)| Mode { extent, stride });
        let held = Memory::new("x", Scalar::I32, vec![0; 4 * 13]).with_modes(modes.to_vec());
        trial(&text, 1, 1).tensor(held)
    };
    let load = "v3: int32 = load v2 align 4 @2:5";
    at(4 * 4, load).clean();
    at(8 * 4, load).clean();
    at(12 * 4, load).clean();
    at(5 * 4, load).expect_findings(expect![[r#"
        error[out-of-bounds]: reads what lies at 5 in `x`, between elements: its strides are [8, 1], in thread (0, 0, 0) of block (0, 0, 0), at kernel.py:2:5
    "#]]);
    let wide = "v3: int32x4 = load v2 align 16 @2:5 store v2, v3 align 16 @3:5";
    at(0, wide).clean();
    at(4 * 4, wide).expect_findings(expect![[r#"
        error[out-of-bounds]: reads what lies at 5 in `x`, between elements: its strides are [8, 1], in thread (0, 0, 0) of block (0, 0, 0), at kernel.py:2:5
        error[out-of-bounds]: writes what lies at 5 in `x`, between elements: its strides are [8, 1], in thread (0, 0, 0) of block (0, 0, 0), at kernel.py:3:5
    "#]]);
    let add = "v3: int32 = const 1 v4: int32 = call atomic.add(v2, v3, relaxed, gpu) @2:5";
    at(8 * 4, add).clean();
    at(7 * 4, add).expect_findings(expect![[r#"
        error[out-of-bounds]: updates what lies at 7 in `x`, between elements: its strides are [8, 1], in thread (0, 0, 0) of block (0, 0, 0), at kernel.py:2:5
    "#]]);
    at(13 * 4, load).expect_findings(expect![[r#"
        error[out-of-bounds]: reads element 13 of `x`, which has 13, in thread (0, 0, 0) of block (0, 0, 0), at kernel.py:2:5
    "#]]);
}

#[test]
fn strides_in_any_order_have_their_gaps() {
    let text = "kernel k(v0 x: pointer.global int8 align 1, v1 at: int64) {
      v2: pointer.global = offset v0, v1
      v3: int8 = load v2 align 1
    }";
    let check = |modes: &[(u64, i64)], elements: &[usize], n_bytes: usize| {
        for at in 0..n_bytes {
            let modes = modes.iter().map(|&(extent, stride)| Mode { extent, stride });
            let held = Memory::new("x", Scalar::I8, vec![0; n_bytes]).with_modes(modes.collect());
            let mut run = trial(text, 1, 1).tensor(held).int(at as i64);
            let is_found = !run.run().findings.is_empty();
            assert_eq!(is_found, !elements.contains(&at), "element {at}");
        }
    };
    // Columns, gaps in both modes, one row of many, and what lies upon itself.
    check(&[(3, 1), (2, 4)], &[0, 1, 2, 4, 5, 6], 7);
    check(&[(2, 6), (3, 2)], &[0, 2, 4, 6, 8, 10], 11);
    check(&[(1, 100), (3, 2)], &[0, 2, 4], 5);
    check(&[(3, 1), (2, 2)], &[0, 1, 2, 3, 4], 5);
    check(&[(4, 0), (3, 2)], &[0, 1, 2, 3, 4], 5);
}

/// Every block says that it is there, and waits for all others.
const WAIT: &str = "kernel wait(v0 count: pointer.global int32 align 4 written) {
    v1: int32 = const 1
    v2: int32 = call atomic.add(v0, v1, release, gpu)
    v3: int32 = const 8
    while @3:1 { v4: int32 = call atomic.load.int32(v0, acquire, gpu) v5: bool = lt v4, v3 } v5 { }
}";

#[test]
fn blocks_that_a_device_does_not_hold_at_once_wait_for_ever() {
    for most in [None, Some(9), Some(8)] {
        let mut run = trial(WAIT, 8, 1).ints(&[0]);
        run.options.most_blocks = most;
        run.clean();
    }
    let mut run = trial(WAIT, 8, 1).ints(&[0]);
    run.options.most_blocks = Some(7);
    run.options.most_idle_turns = 100;
    run.expect_findings(expect![[r#"
        error[deadlock]: deadlock: 7 blocks run, and all wait for what never happens; 1 more cannot begin before one of these ends, in thread (0, 0, 0) of block (0, 0, 0), at kernel.py:3:1
    "#]]);
}
