// SPDX-License-Identifier: Apache-2.0
//! Pipelines under many schedules: a right kernel is right under each, and one that is wrong is
//! found under each. What is found at which line is in the suite.

use super::{elaborate_k, int, read, written};
use kernpack_kernel_ir::interp::{Memory, Trial};
use kernpack_kernel_ir::{Const, Scalar};

const ROWS: usize = 5;
const N_SCHEDULES: u64 = 50;

/// A warp copies rows of 128, and another one adds up 4 numbers of each.
const SUMS: &str = "
@kp.kernel
def k(x, out, stages):
    ring = kp.shared(kp.float32, kp.make_layout((stages, 32, 4), stride=(128, 4, 1)))
    rows = kp.zipped_divide(x, (1, 4))
    load, use = kp.PipelineCpAsync.create(stages, 32, 32).make_participants()
    lane = kp.lane_idx()
    if kp.warp_idx() == 0:
        for i in range(x.shape[0]):
            stage = load.acquire_and_advance()
            kp.copy(rows[None, (i, lane)], ring[stage.index, lane, None], to=stage)
            stage.commit()
        load.tail()
    else:
        total = kp.float32(0)
        for i in range(x.shape[0]):
            stage = use.wait_and_advance()
            for j in kp.range_constexpr(4):
                total += ring[stage.index, 31 - lane, j]
            stage.release()
        out[lane] = total
";

/// Runs a kernel with so many stages under a schedule. Gives the codes of what is found, and what
/// the first thread of the second warp has added up.
fn run(source: &str, stages: i128, schedule: u64) -> (Vec<&'static str>, String) {
    let arguments = [
        read("x", Scalar::F32, &[&ROWS.to_string(), "128"]),
        written("out", Scalar::F32, &["32"]),
        int(stages),
    ];
    let instance = elaborate_k(source, &arguments, 64).unwrap_or_else(|told| panic!("{told}"));
    let numbers: Vec<_> = (0..ROWS * 128)
        .map(|i| Const::float(Scalar::F32, (i % 128 / 4 + i / 128) as f64))
        .collect();
    let x = Memory::of("x", Scalar::F32, &numbers);
    let out = Memory::of("out", Scalar::F32, &[Const::float(Scalar::F32, 0.0); 32]);
    let trial = Trial::of_verified(instance.kernel).unwrap_or_else(|problems| panic!("{problems}"));
    let mut trial = trial.block([64, 1, 1]).seed(schedule).tensor(x).tensor(out);
    let outcome = trial.run();
    let found = outcome.findings.iter().map(|finding| finding.kind.code()).collect();
    (found, trial.left(1).elements()[0].to_string())
}

#[test]
fn a_right_one_is_right_under_every_schedule() {
    for schedule in 0..N_SCHEDULES {
        for stages in 1..=4 {
            // 4 numbers a row, each 31 and the number of the row.
            let expected = (Vec::new(), "660.0".to_string());
            assert_eq!(run(SUMS, stages, schedule), expected, "{stages} stages, {schedule}");
        }
    }
}

#[test]
fn a_wrong_one_is_found_under_every_schedule() {
    let planted = [
        ("            stage.commit()\n", "", "deadlock"),
        ("            stage.release()\n", "", "deadlock"),
        ("create(stages, 32, 32)", "create(stages, 32, 64)", "deadlock"),
        ("create(stages, 32, 32)", "create(stages, 31, 32)", "copy-in-flight"),
        ("ring[stage.index, 31 - lane", "ring[1 - stage.index, 31 - lane", "copy-in-flight"),
        ("use.wait_and_advance()\n", "use.wait_and_advance()\n            stage.release()\n", ""),
    ];
    for (from, to, code) in planted {
        let source = SUMS.replace(from, to);
        assert_ne!(source, SUMS);
        for schedule in 0..N_SCHEDULES {
            let (found, _) = run(&source, 2, schedule);
            let is_found = found.iter().any(|one| *one == code || code.is_empty());
            assert!(is_found, "`{from}` as `{to}` under {schedule}: {found:?}");
        }
    }
}
