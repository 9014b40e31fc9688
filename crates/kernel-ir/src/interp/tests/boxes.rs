// SPDX-License-Identifier: Apache-2.0
//! Boxes of tensors: where their bytes lie in shared memory, and what only text can ask of one.

use super::trial;
use crate::interp::{Memory, Trial};
use crate::types::Scalar;
use expect_test::expect;

/// Brings a box of a map, and sends what lies in shared memory then.
fn there_and_back(map: &str, bytes: u32, align: u32, at: [i32; 2]) -> Trial {
    let [x, y] = at;
    let text = format!(
        "kernel k(v0 x: pointer.map int32 {map}, v1 out: pointer.global int32 align 16 written) block [1, 1, 1] {{
            shared0 tile: int32 bytes 2048 align 1024
            shared1 bar: uint64 bytes 8 align 8
            v2: pointer.shared = shared0
            v3: pointer.shared = shared1
            v4: int32 = const 1
            v5: int32 = const {bytes}
            v6: int32 = const {x}
            v7: int32 = const {y}
            v8: int32 = const 0
            v9: int64 = const {align}
            v10: pointer.shared = offset v2, v9
            call mbarrier.init(v3, v4) @1:1
            call mbarrier.arrive_expect_tx(v3, v5) @2:1
            call tma.load2(v10, v0, v3, v6, v7) @3:1
            call mbarrier.wait(v3, v8) @4:1
            call copy.bulk_store(v1, v10, v5) @5:1
            call copy.bulk_commit() @6:1
            call copy.bulk_wait(0) @7:1
        }}"
    );
    trial(&text, 1, 1)
}

/// The elements that are sent of a tensor with these extents, which counts them.
fn sent(mut trial: Trial, extents: [i64; 2], n_bytes: u32) -> Vec<i64> {
    let count = extents.iter().product::<i64>() as i32;
    let bytes = (0..count).flat_map(i32::to_le_bytes).collect();
    let x = trial.hold(Memory::new("x", Scalar::I32, bytes));
    let out = trial.hold(Memory::fresh("out", Scalar::I32, n_bytes as usize));
    let mut trial = trial.mapped(x, &extents, &[1, extents[0]]).at(out);
    trial.clean();
    trial.memories.get(out).elements().iter().map(|one| one.as_int().unwrap_or(-1)).collect()
}

/// The chunk of 16 bytes that lies in each place of a box, in terms of the tensor's.
fn chunks(swizzle: u32) -> Vec<i64> {
    let row = i64::from(swizzle) / 4;
    let n_bytes = 16 * swizzle;
    let map = format!("box [{row}, 16] swizzle {swizzle}");
    let elements = sent(there_and_back(&map, n_bytes, 0, [0, 0]), [row, 16], n_bytes);
    elements.chunks(4).map(|chunk| chunk[0] / 4).collect()
}

#[test]
fn chunks_change_places_by_the_address_bits_above_them() {
    assert_eq!(chunks(32)[..16], [0, 1, 2, 3, 4, 5, 6, 7, 9, 8, 11, 10, 13, 12, 15, 14]);
    assert_eq!(chunks(64)[8..16], [9, 8, 11, 10, 13, 12, 15, 14]);
    assert_eq!(chunks(64)[24..32], [27, 26, 25, 24, 31, 30, 29, 28]);
    assert_eq!(chunks(128)[8..16], [9, 8, 11, 10, 13, 12, 15, 14]);
    assert_eq!(chunks(128)[56..64], [63, 62, 61, 60, 59, 58, 57, 56]);
    assert_eq!(chunks(128)[64..72], [64, 65, 66, 67, 68, 69, 70, 71]);
}

#[test]
fn what_is_outside_becomes_zeros_on_every_side() {
    let elements = |at| sent(there_and_back("box [4, 2]", 32, 0, at), [8, 2], 32);
    assert_eq!(elements([2, 0]), [2, 3, 4, 5, 10, 11, 12, 13]);
    assert_eq!(elements([-1, -1]), [0, 0, 0, 0, 0, 0, 1, 2]);
    assert_eq!(elements([6, 1]), [14, 15, 0, 0, 0, 0, 0, 0]);
    assert_eq!(elements([100, 0]), [0; 8]);
}

/// The memory of a tensor with these extents, and rows of 8, in which a box of ones was stored.
fn stored(extents: [i64; 2], box_: &str, [x, y]: [i32; 2]) -> Vec<i64> {
    let stores: String = (0..8)
        .map(|i| {
            format!("v{0}: int64 = const {1}\n v{2}: pointer.shared = offset v1, v{0}\n store v{2}, v2 align 4\n", 10 + 2 * i, 4 * i, 11 + 2 * i)
        })
        .collect();
    let text = format!(
        "kernel k(v0 x: pointer.map int32 {box_} written) block [1, 1, 1] {{
            shared0 tile: int32 bytes 128 align 128
            v1: pointer.shared = shared0
            v2: int32 = const 1
            v3: int32 = const {x}
            v4: int32 = const {y}
            {stores}
            call fence.proxy_async()
            call tma.store2(v0, v1, v3, v4)
            call copy.bulk_commit()
            call copy.bulk_wait(0)
        }}"
    );
    let mut trial = trial(&text, 1, 1);
    let n_bytes = 32 * extents[1] as usize;
    let x = trial.hold(Memory::new("x", Scalar::I32, vec![0; n_bytes]));
    let mut trial = trial.mapped(x, &extents, &[1, 8]);
    trial.clean();
    trial.memories.get(x).elements().iter().map(|one| one.as_int().unwrap_or(-1)).collect()
}

/// As a GPU does.
#[test]
fn a_row_that_is_stored_is_written_up_to_a_multiple_of_16_bytes() {
    let stored = |n_columns| stored([n_columns, 1], "box [8, 1]", [0, 0]);
    assert_eq!(stored(3), [1, 1, 1, 1, 0, 0, 0, 0]);
    assert_eq!(stored(4), [1, 1, 1, 1, 0, 0, 0, 0]);
    assert_eq!(stored(5), [1; 8]);
}

#[test]
fn what_is_stored_outside_is_left_out_on_every_side() {
    let stored = |at| stored([8, 2], "box [4, 2]", at);
    assert_eq!(stored([-1, -1]), [1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
    assert_eq!(stored([2, 1]), [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 0, 0]);
    assert_eq!(stored([-4, 0]), [0; 16]);
}

/// A GPU adds to an element in whatever order, which rounds floats otherwise.
#[test]
fn a_box_of_floats_that_is_added_marks_a_run() {
    let is_exact = |element: Scalar| {
        let text = format!(
            "kernel k(v0 x: pointer.map {element} box [4, 1] written) block [1, 1, 1] {{
                shared0 tile: {element} bytes 16 align 128
                v1: pointer.shared = shared0
                v2: int32 = const 0
                v3: {element} = convert v2
                v4: {element}x4 = splat v3
                store v1, v4 align 16
                call fence.proxy_async()
                call tma.reduce2(v0, v1, add, v2, v2)
                call copy.bulk_commit()
                call copy.bulk_wait(0)
            }}"
        );
        let mut trial = trial(&text, 1, 1);
        let x = trial.hold(Memory::new("x", element, vec![0; 16]));
        trial.mapped(x, &[4, 1], &[1, 4]).clean().is_exact
    };
    assert!(is_exact(Scalar::I32));
    assert!(!is_exact(Scalar::F32));
}

#[test]
fn a_box_begins_where_its_swizzle_does() {
    let mut trial = there_and_back("box [32, 8] swizzle 128", 1024, 128, [0, 0]);
    let x = trial.hold(Memory::new("x", Scalar::I32, vec![0; 1024]));
    let out = trial.hold(Memory::fresh("out", Scalar::I32, 1024));
    let mut trial = trial.mapped(x, &[32, 8], &[1, 32]).at(out);
    let outcome = trial.run();
    expect![[r#"
        error[misaligned-access]: writes `tile[32]` as if aligned to 1024 bytes, at byte 128, which is no multiple of 1024, in thread (0, 0, 0) of block (0, 0, 0), at kernel.py:3:1
    "#]].assert_eq(&trial.told(&outcome.findings));
}

#[test]
fn a_launch_has_a_map_that_the_driver_would_take() {
    let told = |address, row| {
        let mut trial = there_and_back("box [4, 2]", 32, 0, [0, 0]);
        let x = Memory::new("x", Scalar::I32, vec![0; 1024]).at_address(address);
        let x = trial.hold(x);
        let out = trial.hold(Memory::fresh("out", Scalar::I32, 1024));
        let mut trial = trial.mapped(x, &[row, 8], &[1, row]).at(out);
        let outcome = trial.run();
        trial.told(&outcome.findings)
    };
    expect![[r#"
        error[bad-launch]: `x` has a stride of 20 bytes: expected a multiple of 16
    "#]]
    .assert_eq(&told(64, 5));
    expect![[r#"
        error[bad-launch]: `x` is not at a multiple of 16 bytes
    "#]]
    .assert_eq(&told(72, 8));
    assert_eq!(told(80, 8), "");
}
