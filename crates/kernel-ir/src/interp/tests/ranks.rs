// SPDX-License-Identifier: Apache-2.0
//! Ranks that exchange numbers through one another's memory: what system scope orders, and what
//! nothing does, in one launch and between launches.

use super::super::{Argument, Launch, Memories, Memory, MemoryId, Options, Outcome, Ranks, Trial};
use super::trial;
use crate::constant::Const;
use crate::types::Scalar;
use expect_test::{Expect, expect};

/// Each rank leaves `10 * epoch` in its own `x`, raises the other one's flag, waits for its own,
/// and writes the sum of what both have left to `out`. Behind that, `{end}` is run.
fn exchange(order: [&str; 2], scope: &str, end: &str) -> String {
    let [release, acquire] = order;
    format!(
        "kernel exchange(v0 own: pointer.global int32 align 4 written,
            v1 other: pointer.global int32 align 4,
            v2 flag: pointer.global int32 align 4 written,
            v3 raised: pointer.global int32 align 4 written,
            v4 out: pointer.global int32 align 4 written,
            v5 epoch: int32) {{
          v6: int64 = const 4
          v7: pointer.global = offset v2, v6
          v8: pointer.global = offset v3, v6
          v9: int32 = const 10
          v10: int32 = mul v5, v9
          store v0, v10 align 4 @1:1
          call atomic.store(v3, v5, {release}, {scope}) @2:1
          while @3:1 {{ v11: int32 = call atomic.load.int32(v2, {acquire}, {scope}) @3:1 v12: bool = lt v11, v5 }} v12 {{ }}
          v13: int32 = load v1 align 4 @4:1
          v14: int32 = load v0 align 4 @4:2
          v15: int32 = add v13, v14
          store v4, v15 align 4 @5:1
          {end}
        }}"
    )
}

const ORDER: [&str; 2] = ["release", "acquire"];
/// Waits until the other rank has read, too.
const END: &str = "call atomic.store(v8, v5, release, sys) @6:1
    while @7:1 { v20: int32 = call atomic.load.int32(v7, acquire, sys) @7:1 v21: bool = lt v20, v5 } v21 { }";

/// The memories of both ranks: `x`, two flags and `out` of each.
fn memories() -> Memories {
    let mut memories = Memories::default();
    for rank in 0..2 {
        let mut add = |name, bytes: usize| {
            memories.add(Memory::new(format!("{name}{rank}"), Scalar::I32, vec![0; bytes]));
        };
        add("x", 4);
        add("flags", 8);
        add("out", 4);
    }
    memories
}

fn launch(trial: &Trial, rank: usize, epoch: i64) -> Launch<'_> {
    let at = |rank: usize, place: usize| Argument::Tensor {
        memory: MemoryId((3 * rank + place) as u32),
        offset: 0,
    };
    let other = 1 - rank;
    let tensors = [at(rank, 0), at(other, 0), at(rank, 1), at(other, 1), at(rank, 2)];
    let epoch = Argument::Scalar(Const::int(Scalar::I32, epoch));
    let arguments = tensors.into_iter().chain([epoch]).collect();
    let Trial { kernel, grid, block, cluster, .. } = trial;
    Launch { kernel, grid: *grid, block: *block, cluster: *cluster, arguments }
}

/// Runs launches with these epochs, one after another. Gives their findings, and both sums.
fn run(trial: &Trial, epochs: &[i64], options: &Options) -> (String, [i32; 2]) {
    let (mut memories, mut ranks) = (memories(), Ranks::default());
    let mut told = String::new();
    for epoch in epochs {
        let launches = [launch(trial, 0, *epoch), launch(trial, 1, *epoch)];
        let Outcome { findings, is_complete, .. } = ranks.run(&launches, &mut memories, options);
        told += &trial.told(&findings);
        if !is_complete {
            break;
        }
    }
    let sum = |memory: usize| match memories.0[memory].elements()[0].as_int() {
        Some(sum) => sum as i32,
        None => unreachable!("sums are integers"),
    };
    (told, [sum(2), sum(5)])
}

#[track_caller]
fn expect_found(text: &str, epochs: &[i64], expected: Expect) {
    let options = Options { most_idle_turns: 1000, ..Options::default() };
    expected.assert_eq(&run(&trial(text, 1, 1), epochs, &options).0);
}

#[test]
fn flags_of_system_scope_hand_memory_to_another_rank_again_and_again() {
    let text = trial(&exchange(ORDER, "sys", END), 1, 1);
    for seed in 0..50 {
        let options = Options { seed, ..Options::default() };
        assert_eq!(run(&text, &[1, 2, 3, 4], &options), (String::new(), [80, 80]));
    }
}

#[test]
fn fences_of_system_scope_do_so_too() {
    let before = exchange(["relaxed", "relaxed"], "sys", END);
    let text = before
        .replace("call atomic.store(v3", "call fence(sys) call atomic.store(v3")
        .replace("v13: int32 = load", "call fence(sys) v13: int32 = load");
    expect_found(&text, &[1, 2, 3], expect![[""]]);
    let near = text.replacen("fence(sys)", "fence(gpu)", 1);
    expect_found(
        &near,
        &[1],
        expect![[r#"
        error[global-race]: race: `x0[0]` is read, and nothing orders that with another thread's write, in thread (0, 0, 0) of block (0, 0, 0) of rank 1, at kernel.py:4:1; thread (0, 0, 0) of block (0, 0, 0) of rank 0 writes it, at kernel.py:1:1
        found 2 times
    "#]],
    );
}

#[test]
fn what_reaches_no_further_than_a_device_orders_no_other_rank() {
    expect_found(
        &exchange(ORDER, "gpu", ""),
        &[1],
        expect![[r#"
        error[global-race]: race: `flags0[0]` is written, and nothing orders that with another thread's read, in thread (0, 0, 0) of block (0, 0, 0) of rank 1, at kernel.py:2:1; thread (0, 0, 0) of block (0, 0, 0) of rank 0 reads it in one step, at kernel.py:3:1
        error[global-race]: race: `flags1[0]` is read, and nothing orders that with another thread's write, in thread (0, 0, 0) of block (0, 0, 0) of rank 1, at kernel.py:3:1; thread (0, 0, 0) of block (0, 0, 0) of rank 0 updates it in one step, at kernel.py:2:1
        found 2 times
        error[global-race]: race: `x0[0]` is read, and nothing orders that with another thread's write, in thread (0, 0, 0) of block (0, 0, 0) of rank 1, at kernel.py:4:1; thread (0, 0, 0) of block (0, 0, 0) of rank 0 writes it, at kernel.py:1:1
        found 2 times
    "#]],
    );
}

#[test]
fn what_is_not_released_or_not_acquired_is_a_race() {
    for order in [["relaxed", "acquire"], ["release", "relaxed"]] {
        expect_found(
            &exchange(order, "sys", ""),
            &[1],
            expect![[r#"
        error[global-race]: race: `x0[0]` is read, and nothing orders that with another thread's write, in thread (0, 0, 0) of block (0, 0, 0) of rank 1, at kernel.py:4:1; thread (0, 0, 0) of block (0, 0, 0) of rank 0 writes it, at kernel.py:1:1
        found 2 times
    "#]],
        );
    }
}

/// Ranks look at their flags once and do not wait: who is ahead reads what the other one has yet to
/// write.
#[test]
fn either_rank_is_ahead_with_some_seed() {
    let waits = exchange(ORDER, "sys", END);
    let looks = waits.replacen("lt v11, v5", "lt v11, v11", 1);
    assert_ne!(looks, waits);
    let text = trial(&looks, 1, 1);
    let told = |seed| run(&text, &[1], &Options { seed, ..Options::default() }).0;
    let told: Vec<_> = (1..20).map(told).collect();
    for late in ["of rank 0, at kernel.py:1:1", "of rank 1, at kernel.py:1:1"] {
        assert!(told.iter().any(|told| told.contains(late)), "{late}: {told:?}");
    }
}

#[test]
fn a_launch_that_does_not_wait_for_readers_races_with_the_next_one() {
    expect_found(
        &exchange(ORDER, "sys", ""),
        &[1, 2],
        expect![[r#"
        error[global-race]: race: `x0[0]` is written, and nothing orders that with another rank's read in an earlier launch, in thread (0, 0, 0) of block (0, 0, 0) of rank 0, at kernel.py:1:1; thread (0, 0, 0) of block (0, 0, 0) of rank 1 of `exchange` reads it, at kernel.py:4:1
        found 2 times
    "#]],
    );
    // Nor does one that takes a flag of the launch in front for its own.
    expect_found(
        &exchange(ORDER, "sys", END),
        &[1, 1],
        expect![[r#"
        error[global-race]: race: `x1[0]` is written, and nothing orders that with another thread's read, in thread (0, 0, 0) of block (0, 0, 0) of rank 1, at kernel.py:1:1; thread (0, 0, 0) of block (0, 0, 0) of rank 0 reads it, at kernel.py:4:1
    "#]],
    );
}

#[test]
fn ranks_that_wait_for_one_another_for_ever_are_told() {
    let lost =
        exchange(ORDER, "sys", END).replace("store(v3, v5, release", "store(v3, v9, release");
    let lost = lost.replace("lt v11, v5", "ne v11, v5");
    expect_found(
        &lost,
        &[1],
        expect![[r#"
        error[deadlock]: deadlock: 2 blocks run, and all wait for what never happens, in thread (0, 0, 0) of block (0, 0, 0) of rank 0, at kernel.py:3:1
        found 2 times
    "#]],
    );
}

#[test]
fn each_rank_ends_behind_what_it_has_acquired() {
    // A later launch of a rank knows what its first one was told.
    let read = "kernel read(v0 own: pointer.global int32 align 4 written,
            v1 other: pointer.global int32 align 4 written,
            v2 flag: pointer.global int32 align 4 written,
            v3 raised: pointer.global int32 align 4 written,
            v4 out: pointer.global int32 align 4 written,
            v5 epoch: int32) {
          v6: int32 = load v1 align 4 @8:1
          v7: int32 = load v4 align 4 @8:2
          store v4, v6 align 4 @9:1
        }";
    let (both, read) = (trial(&exchange(ORDER, "sys", ""), 1, 1), trial(read, 1, 1));
    let (mut memories, mut ranks) = (memories(), Ranks::default());
    for one in [&both, &read, &read] {
        let launches = [launch(one, 0, 1), launch(one, 1, 1)];
        let outcome = ranks.run(&launches, &mut memories, &Options::default());
        assert_eq!(one.told(&outcome.findings), "");
    }
}

#[test]
fn ranks_launch_alike() {
    let both = trial(&exchange(ORDER, "sys", ""), 1, 1);
    let refused = |change: &dyn Fn(&mut Launch)| {
        let mut launches = [launch(&both, 0, 1), launch(&both, 1, 1)];
        change(&mut launches[1]);
        let outcome = Ranks::default().run(&launches, &mut memories(), &Options::default());
        both.told(&outcome.findings)
    };
    let larger = refused(&|launch| launch.grid = [2, 1, 1]);
    let message = "rank 0 launches a grid of [1, 1, 1] blocks of [1, 1, 1] threads, and rank 1 a \
                   grid of [2, 1, 1] blocks of [1, 1, 1] threads";
    assert!(larger.contains(message), "{larger}");
    let fewer = refused(&|launch| launch.arguments.truncate(5));
    assert!(fewer.contains("expected 6 arguments, found 5"), "{fewer}");
}
