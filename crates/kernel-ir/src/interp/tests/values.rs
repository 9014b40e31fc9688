// SPDX-License-Identifier: Apache-2.0
//! Results of operations, as the interpreter runs them: vectors, bits, memory, exchanges. What they
//! compute with numbers is `eval`'s, and tested there.

use super::{Memory, trial};
use crate::interp::Mode;
use crate::types::Scalar;

/// Runs operations in each thread of a warp, which know their lane as `v1`, an `int32`, and print.
fn printed(operations: &str) -> Vec<String> {
    let text = format!(
        "kernel k() {{
            local0 row: float32 count 4
            local1 bits: uint8 count 16
            s0 pair: float32x2
            s1 where: pointer.local
            v0: int64 = call lane_idx()
            v1: int32 = convert v0
            {operations}
        }}"
    );
    trial(&text, 1, 32).clean().printed
}

/// The same for all lanes.
fn print_one(operations: &str) -> String {
    let lines = printed(operations);
    assert!(lines.iter().all(|line| *line == lines[0]), "{lines:?}");
    lines[0].clone()
}

#[test]
fn vectors_are_lanes() {
    let text = "
        v2: float32 = const 1.5
        v3: float32 = const -2.0
        v4: float32x2 = vector v2, v3
        v5: float32x2 = splat v2
        v6: float32x2 = add v4, v5
        v7: float32x2 = insert v6, 0, v3
        v8: float32 = extract v7, 1
        v9: float32x2 = neg v7
        v10: int16x2 = convert v9 down
        v11: bool = lt v3, v2
        v12: float32x2 = select v11, v4, v9
        set s0, v12
        v13: float32x2 = get s0
        print \"{} {} {} {} {} {}\", v6, v7, v8, v9, v10, v13";
    let expected = "(3.0, -0.5) (-2.0, -0.5) -0.5 (2.0, 0.5) (2, 0) (1.5, -2.0)";
    assert_eq!(print_one(text), expected);
}

#[test]
fn bits_are_those_of_another_type() {
    let text = "
        v2: float32 = const 1.0
        v3: uint32 = bitcast v2
        v4: uint8x4 = bitcast v2
        v5: float32x2 = splat v2
        v6: uint64 = bitcast v5
        v7: float32 = bitcast v4
        v8: uint16x4 = bitcast v5
        v9: float32x2 = bitcast v6
        v10: uint8x8 = bitcast v8
        v11: int16x4 = bitcast v10
        print \"{} {} {} {} {} {} {}\", v3, v4, v6, v7, v8, v9, v11";
    let expected = "1065353216 (0, 0, 128, 63) 4575657222473777152 1.0 (0, 16256, 0, 16256) \
                    (1.0, 1.0) (0, 16256, 0, 16256)";
    assert_eq!(print_one(text), expected);
}

#[test]
fn register_tensors_are_each_threads_own() {
    let text = "
        v2: float32 = convert v1
        v3: pointer.local = local0
        v4: int64 = const 4
        v5: int64 = const 3
        v6: int64 = and v0, v5
        v7: int64 = mul v6, v4
        v8: pointer.local = offset v3, v7
        store v8, v2 align 4
        v9: pointer.local = local1
        v10: bool = gt v6, v5
        set s1, v9
        v11: int64 = const 8
        v12: pointer.local = offset v9, v11
        store v12, v0 align 8
        v13: pointer.local = get s1
        v14: pointer.local = select v10, v13, v12
        v15: uint8 = load v14 align 1
        v16: float32 = load v8 align 4
        print \"{} {}\", v15, v16";
    let expected: Vec<_> = (0..32).map(|lane| format!("{lane} {lane}.0")).collect();
    assert_eq!(printed(text), expected);
}

#[test]
fn register_tensors_have_vectors() {
    let text = "
        v2: float32 = const 1.5
        v3: float32 = const -2.0
        v4: float32x2 = vector v2, v3
        v5: pointer.local = local0
        store v5, v4 align 8
        v6: float32x2 = load v5 align 8
        v7: int64 = const 4
        v8: pointer.local = offset v5, v7
        v9: float32 = load v8 align 4
        print \"{} {}\", v6, v9";
    assert_eq!(print_one(text), "(1.5, -2.0) -2.0");
}

#[test]
fn guards_leave_out_what_is_not_there() {
    let text =
        "kernel k(v0 x: pointer.global int32 align 4, v1 out: pointer.global int32 align 4 written,
        v2 n: int64) {
        v3: int64 = call thread_idx.x()
        v4: int64 = const 4
        v5: int64 = mul v3, v4
        v6: pointer.global = offset v0, v5
        v7: pointer.global = offset v1, v5
        v8: bool = lt v3, v2
        v9: int32 = const -1
        v10: int32 = load v6 align 4 when v8 else v9
        v11: int32 = const 8
        v12: bool = ge v10, v11
        v13: bool = not v12
        store v7, v10 align 4 when v13
    }";
    let x: Vec<i32> = (0..20).map(|i| i * 7 % 20).collect();
    let mut run = trial(text, 1, 64).ints(&x).ints(&[50; 64]).int(20);
    run.clean();
    let expected: Vec<_> = (0..64).map(|i| *x.get(i).unwrap_or(&-1)).collect();
    let expected: Vec<_> = expected.iter().map(|x| if *x < 8 { *x } else { 50 }).collect();
    assert_eq!(run.ints_at(1), expected);
}

#[test]
fn lanes_exchange_what_they_have() {
    let text = "
        v2: int32 = const 3
        v3: int32 = const 5
        v4: int32 = mul v1, v2
        v10: int32 = call shuffle.idx(v4, v3)
        v11: int32 = call shuffle.up(v4, v3)
        v12: int32 = call shuffle.down(v4, v3)
        v13: int32 = call shuffle.xor(v4, v3)
        v14: int32 = call shuffle.idx(v4, v4)
        v21: int64 = const 37
        v22: int32 = call shuffle.up(v4, v21)
        v23: int32 = call shuffle.xor(v4, v21)
        v15: bool = lt v1, v2
        v16: bool = call vote.any(v15)
        v17: bool = call vote.all(v15)
        v18: uint32 = call vote.ballot(v15)
        v19: int32 = floormod v1, v3
        v20: uint32 = call match.any(v19)
        print \"{} {} {} {} {} {} {} {} {}\", v10, v11, v12, v13, v14, v16, v17, v18, v20
        v24: bool = eq v22, v11
        v25: bool = eq v23, v13
        v26: bool = and v24, v25
        v27: bool = call vote.all(v26)
        if v27 { } else { print \"the distance counts modulo 32\" }";
    let of = |lane: u32| {
        let up = if lane >= 5 { lane - 5 } else { lane };
        let down = if lane + 5 < 32 { lane + 5 } else { lane };
        let same: u32 = (0..32).filter(|other| other % 5 == lane % 5).map(|other| 1 << other).sum();
        let three = |from: u32| from * 3;
        format!(
            "15 {} {} {} {} true false 7 {same}",
            three(up),
            three(down),
            three(lane ^ 5),
            three(lane * 3 % 32),
        )
    };
    assert_eq!(printed(text), (0..32).map(of).collect::<Vec<_>>());
}

#[test]
fn atomic_operations_give_what_was_there() {
    let text = "kernel k(v0 x: pointer.global int32 align 4 written) {
        v1: int32 = const -7
        v2: int32 = const 12
        v3: int32 = call atomic.add(v0, v1, relaxed, gpu)
        v4: int32 = call atomic.min(v0, v1, relaxed, gpu)
        v5: int32 = call atomic.max(v0, v2, acquire, block)
        v6: int32 = call atomic.and(v0, v1, release, sys)
        v7: int32 = call atomic.or(v0, v2, acq_rel, cluster)
        v8: int32 = call atomic.xor(v0, v2, relaxed, gpu)
        v9: int32 = call atomic.exchange(v0, v2, relaxed, gpu)
        v10: int32 = call atomic.cas(v0, v1, v1, relaxed, gpu)
        v11: int32 = call atomic.cas(v0, v2, v1, relaxed, gpu)
        v13: int32 = call atomic.load.int32(v0, relaxed, gpu)
        call atomic.store(v0, v10, relaxed, gpu)
        v12: int32 = call atomic.load.int32(v0, relaxed, gpu)
        print \"{} {} {} {} {} {}\", v3, v4, v5, v6, v7, v8
        print \"{} {} {} {} {}\", v9, v10, v11, v13, v12
    }";
    let mut run = trial(text, 1, 1).ints(&[100]);
    let after_and = 12 & -7;
    let after_or = after_and | 12;
    let expected =
        [format!("100 93 -7 12 {after_and} {after_or}"), format!("{} 12 12 -7 12", after_or ^ 12)];
    let outcome = run.clean();
    assert_eq!(outcome.printed, expected);
    assert!(outcome.is_exact);
    assert_eq!(run.ints_at(0), [12]);
}

#[test]
fn what_gpus_round_as_they_like_marks_a_run() {
    let text = "kernel k(v0 x: pointer.global float32 align 4 written) {
        v1: float32 = const 3.0
        v2: float32 = call atomic.add(v0, v1, relaxed, gpu)
    }";
    let mut sum = trial(text, 1, 64).floats(&[1.0]);
    assert!(!sum.clean().is_exact);
    assert_eq!(sum.floats_at(0), [193.0]);
    let approximate = "v2: float32 = const 3.0 v3: float32 = call fast_exp2(v2) print \"{}\", v3";
    assert_eq!(print_one(approximate), "8.0");
    for (power, expected) in [("-126.0", f32::MIN_POSITIVE), ("-126.5", 0.0), ("-inf", 0.0)] {
        let of = format!(
            "v2: float32 = const {power} v3: float32 = call fast_exp2(v2) print \"{{}}\", v3"
        );
        assert_eq!(print_one(&of).parse(), Ok(expected), "two to the power of {power}");
    }
    let text = format!("kernel k() {{ {approximate} }}");
    assert!(!trial(&text, 1, 1).clean().is_exact);
    assert!(trial("kernel k() { v2: float32 = const 3.0 }", 1, 1).clean().is_exact);
}

#[test]
fn memory_is_shared_by_launches_which_are_ordered() {
    let text = "kernel k(v0 x: pointer.global int32 align 4 written) {
        v1: int64 = call block_idx.x()
        v2: int64 = call grid_dim.x()
        v3: int64 = const 1
        v4: int64 = const 4
        v5: int64 = sub v2, v3
        v6: int64 = sub v5, v1
        v7: int64 = mul v6, v4
        v8: pointer.global = offset v0, v7
        v9: int32 = load v8 align 4
        v10: int32 = convert v1
        v11: int32 = add v9, v10
        store v8, v11 align 4
    }";
    let mut run = trial(text, 4, 1).ints(&[0, 10, 20, 30]);
    run.clean();
    run.grid = [3, 1, 1];
    run.clean();
    assert_eq!(run.ints_at(0), [5, 13, 21, 30]);
}

#[test]
fn memory_knows_what_was_written_and_names_elements() {
    let mut memory = Memory::fresh("x", Scalar::F32, 300).with_shape(&[3, 5, 5]);
    assert_eq!(memory.first_unwritten(), Some(0));
    for byte in 0..299 {
        if let Some(written) = &mut memory.written {
            written.set(byte, 1);
        }
        assert_eq!(memory.first_unwritten(), Some(byte + 1));
    }
    memory.written.as_mut().expect("it was fresh").set(290, 10);
    assert_eq!(memory.first_unwritten(), None);
    assert_eq!(Memory::new("y", Scalar::I8, vec![]).first_unwritten(), None);
    let at = |byte: u64| memory.element_at(byte);
    assert_eq!([at(0), at(4 * 24 + 3), at(4 * 74)], ["x[0, 0, 0]", "x[0, 4, 4]", "x[2, 4, 4]"]);
    let modes = [(5, 1), (3, 8), (1, 100)].map(|(extent, stride)| Mode { extent, stride });
    let strided = Memory::new("y", Scalar::F16, vec![]).with_modes(modes.to_vec());
    // Between two rows there is no element.
    let at = |byte: u64| strided.element_at(byte);
    assert_eq!([at(2 * 20), at(2 * 5)], ["y[4, 2, 0]", "y[5]"]);
}
