// SPDX-License-Identifier: Apache-2.0
//! Kernels that write down what they wait for: what is in the buffer once they have run.

use super::super::Trial;
use crate::kernel::Kernel;
use crate::text::{Item, parse};
use crate::timeline::{head, id, record, timed, waits};
use expect_test::expect;

/// The second warp waits for the first, at one mbarrier after the other.
const WAITS: &str = "
    kernel k(v0 n: int64 0..8) block [64, 1, 1] {
        shared0 bars: uint64 bytes 16 align 8
        v1: int64 = call lane_idx()
        v2: int64 = call warp_idx()
        v3: int64 = const 0
        v4: int64 = const 1
        v5: int64 = const 8
        v6: int32 = const 32
        v7: int32 = const 0
        v8: pointer.shared = shared0
        v9: pointer.shared = offset v8, v5
        v10: bool = eq v1, v3
        v11: bool = eq v2, v3
        v12: bool = and v10, v11
        if v12 {
            call mbarrier.init(v8, v6)
            call mbarrier.init(v9, v6)
        }
        call barrier() @1:1
        if v11 {
            call mbarrier.arrive(v8)
            call mbarrier.arrive(v9)
            return
        }
        for v13: int64 = v3 to v0 step v4 {
            v14: int64 = mul v13, v5
            v15: pointer.shared = offset v8, v14
            call mbarrier.wait(v15, v7) @2:1
        }
    }";

fn kernel(text: &str) -> Kernel {
    match parse(&text.into()).expect("it is right").pop() {
        Some(Item::Kernel(kernel)) => kernel,
        _ => panic!("it is a kernel"),
    }
}

/// The numbers of 32 bits of a buffer with room for so many records and events, once blocks have
/// run.
fn buffer(blocks: u32, n_records: i32, n_events: i32) -> Vec<i32> {
    let units = 1 + n_records * (record::UNITS as i32 + n_events);
    let mut numbers = vec![0; 4 * units as usize];
    numbers[head::N_RECORDS as usize / 4] = n_records;
    numbers[head::N_EVENTS as usize / 4] = n_events;
    let trial = Trial::of(timed(&kernel(WAITS))).grid([blocks, 1, 1]).block([64, 1, 1]);
    let mut trial = trial.int(2).ints(&numbers);
    trial.expect_findings(expect![""]);
    trial.ints_at(1)
}

/// A record: its block and warp, how many events it counts, and the number and stage of each that
/// is there. Times are held to be in order.
fn shown(record_of: &[i32]) -> String {
    let long = |at: i64| {
        let at = at as usize / 4;
        i64::from(record_of[at] as u32) | i64::from(record_of[at + 1]) << 32
    };
    assert_eq!(long(record::KERNEL) as u64, id(&kernel(WAITS)));
    assert!(long(record::BEGIN) < long(record::END) && long(record::BEGIN + 8) > 0);
    let (head, events) = record_of.split_at(4 * record::UNITS as usize);
    let [block, warp, count] =
        [record::WARP, record::WARP + 12, record::COUNT].map(|at| head[at as usize / 4]);
    let there = events.chunks(4).filter(|event| event[1] != 0);
    let mut last = long(record::BEGIN) as i32;
    let events = there.map(|event| {
        assert!(last <= event[0] && event[0] < event[1]);
        last = event[1];
        format!(" {}/{}", event[2], event[3])
    });
    format!("block {block} warp {warp}: {count} events{}\n", events.collect::<String>())
}

fn records(numbers: &[i32], n_events: i32) -> String {
    let size = 4 * (record::UNITS + i64::from(n_events)) as usize;
    let all = numbers[4..].chunks(size).filter(|one| one[record::END as usize / 4] != 0);
    let mut lines: Vec<_> = all.map(shown).collect();
    lines.sort();
    lines.concat()
}

#[test]
fn each_warp_writes_its_waits_down() {
    let numbers = buffer(2, 4, 8);
    assert_eq!(numbers[0], 4);
    expect![[r#"
        block 0 warp 0: 1 events 0/-1
        block 0 warp 1: 3 events 0/-1 1/0 1/1
        block 1 warp 0: 1 events 0/-1
        block 1 warp 1: 3 events 0/-1 1/0 1/1
    "#]]
    .assert_eq(&records(&numbers, 8));
}

#[test]
fn what_there_is_no_room_for_is_counted() {
    let numbers = buffer(1, 2, 2);
    assert_eq!(numbers[0], 2);
    expect![[r#"
        block 0 warp 0: 1 events 0/-1
        block 0 warp 1: 3 events 0/-1 1/0
    "#]]
    .assert_eq(&records(&numbers, 2));
    // Warps that find no record leave the buffer alone.
    let numbers = buffer(3, 1, 1);
    assert_eq!(numbers[0], 6);
    assert_eq!(records(&numbers, 1).lines().count(), 1);
}

#[test]
fn waits_are_the_same_once_they_are_timed() {
    let kernel = kernel(WAITS);
    let of = |kernel: &Kernel| {
        waits(kernel).iter().map(|wait| format!("{wait:?}\n")).collect::<String>()
    };
    let timed = timed(&kernel);
    assert_eq!(of(&kernel), of(&timed));
    assert_eq!(id(&kernel), id(&timed));
    assert!(crate::verify(&timed).is_ok());
    let names: Vec<_> = waits(&kernel).iter().map(|wait| (wait.row.name, wait.array)).collect();
    expect![[r#"[("barrier", None), ("mbarrier.wait", Some(shared0))]"#]]
        .assert_eq(&format!("{names:?}"));
    let elsewhere = WAITS.replace("@2:1", "@3:1");
    assert_ne!(id(&kernel), id(&self::kernel(&elsewhere)));
}

#[test]
fn a_wait_stands_between_two_readings_of_the_clock() {
    let text = "kernel k(v0 x: int32) { v1: int32 = add v0, v0 call barrier() @1:1 }";
    expect![[r#"
        kernel k(v0 x: int32, v1 timeline: pointer.global int32 align 16 alone written) files "kernel.py" {
          s0 "timeline.next": int32
          s1 "timeline.end": int32
          v3: int32 = const 0
          set s0, v3
          set s1, v3
          v4: int64 = call lane_idx()
          v5: int32 = convert v4
          v6: bool = eq v5, v3
          if v6 {
            v7: int64 = const 4
            v8: pointer.global = offset v1, v7
            v9: int32 = load v8 align 4
            v10: int64 = const 8
            v11: pointer.global = offset v1, v10
            v12: int32 = load v11 align 4
            v13: int32 = const 1
            v14: int32 = call atomic.add(v1, v13, relaxed, gpu)
            v15: bool = lt v14, v9
            if v15 {
              v16: int32 = const 4
              v17: int32 = add v12, v16
              v18: int32 = mul v14, v17
              v19: int32 = const 5
              v20: int32 = add v18, v19
              v21: int32 = add v20, v12
              set s0, v20
              set s1, v21
              v22: int32 = const 4
              v23: int32 = sub v20, v22
              v24: int64 = convert v23
              v25: int64 = const 16
              v26: int64 = mul v24, v25
              v27: pointer.global = offset v1, v26
              v28: int64 = const 5700857467076989886
              v29: int64 = const 0
              v30: pointer.global = offset v27, v29
              store v30, v28 align 8
              v31: int64 = call block_idx.x()
              v32: int32 = convert v31
              v33: int64 = const 8
              v34: pointer.global = offset v27, v33
              store v34, v32 align 4
              v35: int64 = call block_idx.y()
              v36: int32 = convert v35
              v37: int64 = const 12
              v38: pointer.global = offset v27, v37
              store v38, v36 align 4
              v39: int64 = call block_idx.z()
              v40: int32 = convert v39
              v41: int64 = const 16
              v42: pointer.global = offset v27, v41
              store v42, v40 align 4
              v43: int64 = call warp_idx()
              v44: int32 = convert v43
              v45: int64 = const 20
              v46: pointer.global = offset v27, v45
              store v46, v44 align 4
              v47: int64 = call clock()
              v48: int64 = const 24
              v49: pointer.global = offset v27, v48
              store v49, v47 align 8
              v50: int64 = call globaltimer()
              v51: int64 = const 32
              v52: pointer.global = offset v27, v51
              store v52, v50 align 8
            }
          }
          v2: int32 = add v0, v0
          v53: int32 = const -1  @1:1
          v54: int64 = call clock()  @1:1
          v55: int32 = convert v54  @1:1
          call barrier()  @1:1
          v56: int64 = call clock()  @1:1
          v57: int32 = convert v56  @1:1
          v58: int32 = const 0  @1:1
          v59: int32 = get s0  @1:1
          v60: int32 = get s1  @1:1
          v61: bool = lt v59, v60  @1:1
          v62: int64 = convert v59  @1:1
          v63: int64 = const 16  @1:1
          v64: int64 = mul v62, v63  @1:1
          v65: pointer.global = offset v1, v64  @1:1
          v66: int32x4 = vector v55, v57, v58, v53  @1:1
          store v65, v66 align 16 when v61  @1:1
          v67: int32 = const 1  @1:1
          v68: int32 = add v59, v67  @1:1
          set s0, v68  @1:1
          v69: int32 = get s0  @1:1
          v70: int32 = get s1  @1:1
          v71: int32 = const 0  @1:1
          v72: bool = ne v70, v71  @1:1
          if v72  @1:1 {
            v73: int64 = const 8  @1:1
            v74: pointer.global = offset v1, v73  @1:1
            v75: int32 = load v74 align 4  @1:1
            v76: int32 = sub v70, v75  @1:1
            v77: int32 = const 4  @1:1
            v78: int32 = sub v76, v77  @1:1
            v79: int64 = convert v78  @1:1
            v80: int64 = const 16  @1:1
            v81: int64 = mul v79, v80  @1:1
            v82: pointer.global = offset v1, v81  @1:1
            v83: int32 = sub v69, v76  @1:1
            v84: int64 = const 56  @1:1
            v85: pointer.global = offset v82, v84  @1:1
            store v85, v83 align 4  @1:1
            v86: int64 = call clock()  @1:1
            v87: int64 = const 40  @1:1
            v88: pointer.global = offset v82, v87  @1:1
            store v88, v86 align 8  @1:1
            v89: int64 = call globaltimer()  @1:1
            v90: int64 = const 48  @1:1
            v91: pointer.global = offset v82, v90  @1:1
            store v91, v89 align 8  @1:1
          }
        }
    "#]].assert_eq(&timed(&kernel(text)).to_string());
}
