// SPDX-License-Identifier: Apache-2.0
//! Launches on several cores: what is run so, and that it is what one core does.

use super::{reduce_sum, trial};
use crate::interp::{Cancel, Memory, Outcome, Trial};
use crate::types::Scalar;

/// The parts of an outcome that no number of cores may change, and what memories hold.
fn parts(trial: &Trial, outcome: &Outcome) -> (String, Vec<String>, [bool; 2], u64, Vec<Memory>) {
    let memories = (0..trial.memories.0.len()).map(|at| trial.memories.0[at].clone());
    let Outcome { printed, is_exact, is_complete, thread_ops, .. } = outcome;
    let told = trial.told(&outcome.findings);
    (told, printed.clone(), [*is_exact, *is_complete], *thread_ops, memories.collect())
}

/// Runs a launch on one core and on more, and holds that it is the same. Gives the findings, and on
/// how many cores it ran.
fn run(make: impl Fn() -> Trial) -> (String, usize) {
    let run = |n_cores| {
        let mut trial = make();
        (trial.options.n_cores, trial.options.least_warps) = (n_cores, 0);
        let outcome = trial.run();
        (outcome.n_cores, format!("{:?}", parts(&trial, &outcome)), trial.told(&outcome.findings))
    };
    let (_, alone, told) = run(1);
    let others = [2, 3, 7].map(run);
    for (_, other, _) in &others {
        assert!(*other == alone, "{other}\nalone: {alone}");
    }
    (told, others.iter().map(|other| other.0).max().unwrap_or_default())
}

/// A kernel of one thread a block, which has `v2`, the number of its block, and `v5`, where the
/// element of that number lies.
fn of_blocks(steps: &str) -> String {
    format!(
        "kernel k(v0 x: pointer.global int32 align 4 written, v1 y: pointer.global int32 align 4) {{
          v2: int64 = call block_idx.x()
          v3: int64 = const 4
          v4: int64 = mul v2, v3
          v5: pointer.global = offset v0, v4
          v6: int32 = const 7
          v7: bool = const true
          {steps}
        }}"
    )
}

fn blocks(steps: &str, count: u32) -> (String, usize) {
    let text = of_blocks(steps);
    run(|| trial(&text, count, 1).ints(&[1; 64]).ints(&[2; 64]))
}

#[test]
fn blocks_that_are_apart_run_on_several_cores() {
    let own = "v8: int32 = load v5 align 4
        v9: int32 = load v1 align 4
        v10: int32 = add v8, v9
        store v5, v10 align 4";
    assert_eq!(blocks(own, 64), (String::new(), 7));
    assert_eq!(blocks(own, 2), (String::new(), 2));
    let rows = || {
        let x: Vec<f32> = (0..16 * 500).map(|i| (i % 97) as f32 * 0.01).collect();
        let text = reduce_sum("call barrier() @8:1");
        trial(&text, 16, 256).floats(&x).fresh(Scalar::F32, 16).int(500)
    };
    assert_eq!(run(rows), (String::new(), 7));
}

/// Its thread waits until it has been read alone.
#[test]
fn what_is_copied_out_of_shared_memory_is_there_in_the_end() {
    let text = "kernel k(v0 x: pointer.global int32 align 16 written) {
        shared0 s: int32 bytes 16 align 16
        v1: int64 = call block_idx.x()
        v2: int64 = const 16
        v3: int64 = mul v1, v2
        v4: pointer.global = offset v0, v3
        v5: int32 = const 16
        v6: int32x4 = splat v5
        v7: pointer.shared = shared0
        store v7, v6 align 16
        call fence.proxy_async_shared()
        call copy.bulk_store(v4, v7, v5)
        call copy.bulk_commit()
        call copy.bulk_wait_read(0)
    }";
    let stored = || trial(text, 16, 1).ints(&[1; 64]);
    assert_eq!(run(stored), (String::new(), 7));
    let mut trial = stored();
    (trial.options.n_cores, trial.options.least_warps) = (4, 0);
    trial.run();
    assert_eq!(trial.memories.0[0].bytes, [16_i32.to_le_bytes(); 64].concat());
}

#[test]
fn blocks_that_touch_what_others_write_run_in_their_order() {
    let same = "store v0, v6 align 4 @1:1";
    let (told, n_cores) = blocks(same, 64);
    assert!(told.contains("global-race") && n_cores == 1, "{told}");
    // The first block writes what all others read.
    let one = "v8: int64 = const 0
        v9: bool = eq v2, v8
        if v9 { store v0, v6 align 4 @1:1 }
        v10: int32 = load v0 align 4 @2:1";
    let (told, n_cores) = blocks(one, 64);
    assert!(told.contains("`x[0]` is read, and nothing orders") && n_cores == 1, "{told}");
}

#[test]
fn what_lies_in_one_memory_is_told_apart_by_its_cells() {
    let text = of_blocks(
        "v8: pointer.global = offset v1, v4
         v9: int32 = load v8 align 4 @1:1
         store v5, v9 align 4 @2:1",
    );
    let shared = |by: u64| {
        run(|| {
            let mut trial = trial(&text, 16, 1).ints(&[3; 32]);
            let argument = trial.arguments[0];
            trial.arguments.push(match argument {
                crate::interp::Argument::Tensor { memory, .. } => {
                    crate::interp::Argument::Tensor { memory, offset: by }
                }
                other @ (crate::interp::Argument::Scalar(_) | crate::interp::Argument::Map(_)) => {
                    other
                }
            });
            trial
        })
    };
    assert_eq!(shared(0), (String::new(), 7));
    assert_eq!(shared(64), (String::new(), 7));
    let (told, n_cores) = shared(4);
    assert!(told.contains("global-race") && n_cores == 1, "{told}");
}

#[test]
fn findings_are_those_of_one_core() {
    let beyond = "v8: pointer.global = offset v5, v4
        store v8, v6 align 4 @1:1";
    let (told, n_cores) = blocks(beyond, 64);
    assert!(told.contains("out-of-bounds") && told.contains("found 32 times"), "{told}");
    assert_eq!(n_cores, 1);
}

#[test]
fn lines_and_steps_that_all_see_are_in_their_order() {
    let printed = blocks("print \"{}\", v2", 64);
    assert_eq!(printed, (String::new(), 1));
    let counted = blocks("v8: int32 = call atomic.add(v0, v6, relaxed, gpu)", 64);
    assert_eq!(counted, (String::new(), 1));
}

#[test]
fn what_is_cancelled_ends() {
    let text = "kernel k(v0 n: int64) {
        v1: int64 = const 0
        v2: int64 = const 1
        for v3: int64 = v1 to v0 step v2 { }
    }";
    for n_cores in [1, 2] {
        let mut run = trial(text, 64, 32).int(1 << 40);
        run.options.n_cores = n_cores;
        run.options.most_turns = u64::MAX;
        let cancel = Cancel::default();
        run.options.cancel = cancel.clone();
        let outcome = std::thread::scope(|scope| {
            let running = scope.spawn(move || run.run());
            cancel.cancel();
            running.join().unwrap()
        });
        assert!(!outcome.is_complete && outcome.findings.is_empty());
    }
}
