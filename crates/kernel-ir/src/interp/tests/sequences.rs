// SPDX-License-Identifier: Apache-2.0
//! Launches one behind another, of which some begin early: what is found of random ones is what a
//! graph of all that happens says, and single ones are found with both their lines.

use super::super::{Argument, Early, Memories, Memory, MemoryId, Options, Outcome, Sequence, Turn};
use super::{Trial, trial};
use crate::generate::rng::Rng;
use crate::interp::Launch;
use crate::types::Scalar;
use expect_test::{Expect, expect};
use kernpack_syntax::Span;
use std::collections::BTreeSet;

/// How many tensors there are, of one element each.
const TENSORS: usize = 3;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Step {
    Read(usize),
    Write(usize),
    Wait,
    Let,
}

/// A launch of one thread.
#[derive(Clone, Debug)]
struct Stage {
    is_early: bool,
    /// The tensors that nothing before the call has written.
    unwritten: Vec<usize>,
    steps: Vec<Step>,
}

impl Stage {
    fn random(rng: &mut Rng) -> Stage {
        let steps = (0..rng.within(1, 5)).map(|_| match rng.below(8) {
            0..=2 => Step::Read(rng.below(TENSORS as u64) as usize),
            3 | 4 => Step::Write(rng.below(TENSORS as u64) as usize),
            5 | 6 => Step::Wait,
            _ => Step::Let,
        });
        let steps = steps.collect();
        let unwritten = (0..TENSORS).filter(|_| rng.percent(30)).collect();
        Stage { is_early: rng.percent(75), unwritten, steps }
    }

    /// The kernel, each step on a line of its own number.
    fn kernel(&self) -> String {
        let lines = self.steps.iter().enumerate().map(|(i, step)| {
            let (line, value) = (i + 1, 10 + i);
            match step {
                Step::Read(t) => format!("v{value}: int32 = load v{t} align 4 @{line}:1\n"),
                Step::Write(t) => {
                    format!("v{value}: int32 = const 1\nstore v{t}, v{value} align 4 @{line}:1\n")
                }
                Step::Wait => format!("call griddepcontrol.wait() @{line}:1\n"),
                Step::Let => format!("call griddepcontrol.launch_dependents() @{line}:1\n"),
            }
        });
        let params =
            (0..TENSORS).map(|t| format!("v{t} t{t}: pointer.global int32 align 4 written"));
        let params = params.collect::<Vec<_>>().join(", ");
        format!("kernel k({params}) {{\n{}}}", lines.collect::<String>())
    }

    fn turn(&self, next: Option<&Stage>) -> Turn {
        let unwritten = self.unwritten.iter().map(|t| MemoryId(*t as u32)).collect();
        let early = self.is_early.then(|| Early { span: Span::default(), unwritten });
        Turn { early, may_be_met: next.is_some_and(|next| next.is_early) }
    }
}

/// A launch of a kernel that takes that many tensors, the first memories.
fn with_tensors(trial: &Trial, n_tensors: u32) -> Launch<'_> {
    let argument = |memory| Argument::Tensor { memory: MemoryId(memory), offset: 0 };
    let arguments = (0..n_tensors).map(argument).collect();
    let Trial { kernel, grid, block, cluster, .. } = trial;
    Launch { kernel, grid: *grid, block: *block, cluster: *cluster, arguments }
}

/// The steps at which something is found, by launch and line.
fn found(stages: &[Stage], options: &Options) -> BTreeSet<(usize, u32)> {
    let (mut sequence, mut memories) = (Sequence::default(), Memories::default());
    (0..TENSORS).for_each(|t| {
        memories.add(Memory::new(format!("t{t}"), Scalar::I32, vec![0; 4]));
    });
    let mut all = BTreeSet::new();
    for (number, stage) in stages.iter().enumerate() {
        let trial = trial(&stage.kernel(), 1, 1);
        let launch = with_tensors(&trial, TENSORS as u32);
        let turn = stage.turn(stages.get(number + 1));
        let outcome = sequence.run(&launch, &turn, &mut memories, options);
        let lines = outcome.findings.iter().map(|finding| trial.kernel.place(finding.place).line);
        all.extend(lines.map(|line| (number, line)));
    }
    all
}

/// All that happens: before the call, its end; of each launch its begin, its steps, the moment from
/// which the next may begin, and its end. An arrow goes to what happens later.
struct Happenings {
    arrows: Vec<Vec<usize>>,
    begins: Vec<usize>,
    steps: Vec<Vec<usize>>,
    ends: Vec<usize>,
}

impl Happenings {
    /// Of these launches, and of one that is not known in front of them.
    fn of(stages: &[Stage]) -> Happenings {
        let (begins, steps, ends) = (vec![0], vec![vec![]], vec![1]);
        let mut all = Happenings { arrows: vec![vec![1], vec![]], begins, steps, ends };
        let mut let_next = 0;
        for stage in stages {
            let begin = all.add();
            match stage.is_early {
                true => all.arrow(let_next, begin),
                false => all.ends.clone().into_iter().for_each(|end| all.arrow(end, begin)),
            }
            let front = all.ends[all.ends.len() - 1];
            let mut last = begin;
            let steps = stage.steps.iter().map(|step| {
                let next = all.add();
                all.arrow(last, next);
                if stage.is_early && *step == Step::Wait {
                    all.arrow(front, next);
                }
                last = next;
                next
            });
            let steps: Vec<_> = steps.collect();
            let end = all.add();
            all.arrow(last, end);
            // Its threads have ended behind their last step, and it has once all can be seen.
            let lets = stage.steps.iter().position(|step| *step == Step::Let);
            let_next = lets.map_or(last, |lets| steps[lets]);
            all.begins.push(begin);
            all.steps.push(steps);
            all.ends.push(end);
        }
        all
    }

    fn add(&mut self) -> usize {
        self.arrows.push(vec![]);
        self.arrows.len() - 1
    }

    fn arrow(&mut self, from: usize, to: usize) {
        self.arrows[from].push(to);
    }

    fn leads(&self, from: usize, to: usize) -> bool {
        from == to || self.arrows[from].iter().any(|next| self.leads(*next, to))
    }
}

/// The steps that touch what an earlier launch touches, and may do so before that has ended.
fn expected(stages: &[Stage]) -> BTreeSet<(usize, u32)> {
    let happenings = Happenings::of(stages);
    let mut all = BTreeSet::new();
    for (number, stage) in stages.iter().enumerate() {
        for (i, step) in stage.steps.iter().enumerate() {
            let at = happenings.steps[number + 1][i];
            let may_run = |launch: usize| !happenings.leads(happenings.ends[launch], at);
            let outside = match step {
                Step::Read(t) => !stage.unwritten.contains(t),
                Step::Write(_) => true,
                Step::Wait | Step::Let => false,
            };
            let meets = |other: &Step| match (step, other) {
                (Step::Read(t), Step::Write(u))
                | (Step::Write(t), Step::Read(u) | Step::Write(u)) => t == u,
                _ => false,
            };
            let is_met = (0..number)
                .any(|other| stages[other].steps.iter().any(meets) && may_run(other + 1));
            if outside && may_run(0) || is_met {
                all.insert((number, i as u32 + 1));
            }
        }
    }
    all
}

#[test]
fn random_sequences_are_found_as_a_graph_of_all_that_happens_says() {
    let mut n_found = [0; 2];
    for seed in 0..3000 {
        let mut rng = Rng::new(seed);
        let stages: Vec<_> = (0..rng.within(1, 5)).map(|_| Stage::random(&mut rng)).collect();
        let expected = expected(&stages);
        n_found[usize::from(expected.is_empty())] += 1;
        let options = Options { seed: seed % 2, ..Options::default() };
        assert_eq!(found(&stages, &options), expected, "seed {seed}: {stages:#?}");
    }
    assert!(n_found.iter().all(|count| *count > 300), "{n_found:?}");
}

/// Runs kernels one behind another, all but the first early, each with `x` and `y` of 64 elements,
/// which nothing before has written, and holds that this is found.
fn expect_found(block: u32, bodies: &[&str], expected: Expect) {
    let mut sequence = Sequence::default();
    let mut memories = Memories::default();
    for name in ["x", "y"] {
        memories.add(Memory::new(name, Scalar::I32, vec![0; 256]));
    }
    let mut told = String::new();
    for (number, body) in bodies.iter().enumerate() {
        let name = ["first", "second", "third"][number];
        let text = format!(
            "kernel {name}(v0 x: pointer.global int32 align 4 written,
                v1 y: pointer.global int32 align 4 written) {{
                shared0 flag: int32 bytes 4 align 4
                v2: int64 = call thread_idx.x()
                v3: int64 = const 4
                v4: int64 = mul v2, v3
                v5: pointer.global = offset v0, v4
                v6: pointer.global = offset v1, v4
                v7: int64 = const 0
                v8: bool = eq v2, v7
                v9: int32 = const 1
                {body}
            }}"
        );
        let trial: Trial = trial(&text, 1, block);
        let launch = with_tensors(&trial, 2);
        let early = Early { span: Span::default(), unwritten: vec![] };
        let early = (number > 0).then_some(early);
        let turn = Turn { early, may_be_met: number + 1 < bodies.len() };
        let outcome = sequence.run(&launch, &turn, &mut memories, &Options::default());
        told += &trial.told(&outcome.findings);
    }
    expected.assert_eq(&told);
}

const WRITES_X: &str = "store v5, v9 align 4 @1:1";
const READS_X: &str = "v20: int32 = load v5 align 4 @3:1";

#[test]
fn one_thread_waits_for_all_where_a_barrier_tells_the_others() {
    let one = "if v8 { call griddepcontrol.wait() }";
    let told = format!("{one} call barrier() {READS_X}");
    expect_found(64, &[WRITES_X, &told], expect![[""]]);
    expect_found(
        64,
        &[WRITES_X, &format!("{one} {READS_X}")],
        expect![[r#"
        error[dependent-race]: race: `x[1]` is read, and an earlier launch of `first` may still write it: its thread has not waited for it, in thread (1, 0, 0) of block (0, 0, 0), at kernel.py:3:1; thread (1, 0, 0) of block (0, 0, 0) of `first` writes it, at kernel.py:1:1
        found 63 times
    "#]],
    );
    // A warp's barrier tells its own threads alone.
    let of_warp = format!("{one} call barrier.warp() {READS_X}");
    expect_found(
        64,
        &[WRITES_X, &of_warp],
        expect![[r#"
        error[dependent-race]: race: `x[32]` is read, and an earlier launch of `first` may still write it: its thread has not waited for it, in thread (32, 0, 0) of block (0, 0, 0), at kernel.py:3:1; thread (32, 0, 0) of block (0, 0, 0) of `first` writes it, at kernel.py:1:1
        found 32 times
    "#]],
    );
}

#[test]
fn atomic_operations_of_two_launches_may_meet_where_both_are_for_all() {
    let adds = |scope: &str| format!("v20: int32 = call atomic.add(v5, v9, relaxed, {scope}) @3:1");
    expect_found(1, &[&adds("gpu"), &adds("gpu")], expect![[""]]);
    expect_found(
        1,
        &[&adds("gpu"), &adds("block")],
        expect![[r#"
        error[dependent-race]: race: `x[0]` is updated, and an earlier launch of `first` may still write it: its thread has not waited for it, in thread (0, 0, 0) of block (0, 0, 0), at kernel.py:3:1; thread (0, 0, 0) of block (0, 0, 0) of `first` updates it in one step, at kernel.py:3:1
    "#]],
    );
    // The plain write is what the atomic one races with, whichever was first.
    let both = format!("{} {WRITES_X}", adds("gpu"));
    expect_found(
        1,
        &[&both, &adds("gpu")],
        expect![[r#"
        error[dependent-race]: race: `x[0]` is updated, and an earlier launch of `first` may still write it: its thread has not waited for it, in thread (0, 0, 0) of block (0, 0, 0), at kernel.py:3:1; thread (0, 0, 0) of block (0, 0, 0) of `first` writes it, at kernel.py:1:1
    "#]],
    );
}

#[test]
fn a_copy_in_flight_reads_from_where_it_begins() {
    let copy = |wait: &str, behind: &str| {
        format!(
            "v30: pointer.shared = shared0
             v31: bool = const true
             {wait}
             call copy.async(v30, v5, 4, v31) @3:1
             {behind}
             call copy.commit()
             call copy.wait(0)"
        )
    };
    let wait = "call griddepcontrol.wait()";
    expect_found(1, &[WRITES_X, &copy(wait, "")], expect![[""]]);
    expect_found(
        1,
        &[WRITES_X, &copy("", wait)],
        expect![[r#"
        error[dependent-race]: race: `x[0]` is read, and an earlier launch of `first` may still write it: its thread has not waited for it, in thread (0, 0, 0) of block (0, 0, 0), at kernel.py:3:1; thread (0, 0, 0) of block (0, 0, 0) of `first` writes it, at kernel.py:1:1
    "#]],
    );
    let writes = format!("{wait} {WRITES_X}");
    expect_found(
        1,
        &[&copy("", ""), WRITES_X],
        expect![[r#"
        error[dependent-race]: race: `x[0]` is written, and an earlier launch of `first` may still read it: its thread has not waited for it, in thread (0, 0, 0) of block (0, 0, 0), at kernel.py:1:1; thread (0, 0, 0) of block (0, 0, 0) of `first` reads it, at kernel.py:3:1
    "#]],
    );
    expect_found(1, &[&copy("", ""), &writes], expect![[""]]);
}

#[test]
fn a_wait_covers_the_launch_in_front_alone() {
    let waits = format!("call griddepcontrol.wait() {READS_X}");
    let idle = "store v6, v9 align 4 @2:1";
    expect_found(
        1,
        &[WRITES_X, idle, &waits],
        expect![[r#"
        error[dependent-race]: race: `x[0]` is read, and an earlier launch of `first` may still write it: its thread has waited for `second`, which may end before that, in thread (0, 0, 0) of block (0, 0, 0), at kernel.py:3:1; thread (0, 0, 0) of block (0, 0, 0) of `first` writes it, at kernel.py:1:1
    "#]],
    );
    let waiting = format!("{idle} call griddepcontrol.wait()");
    expect_found(1, &[WRITES_X, &waiting, &waits], expect![[""]]);
}

#[test]
fn a_launch_that_lets_the_next_begin_behind_its_wait_has_seen_what_was_before() {
    let lets = "call griddepcontrol.wait() call griddepcontrol.launch_dependents()";
    expect_found(1, &[WRITES_X, lets, READS_X], expect![[""]]);
    let early = "call griddepcontrol.launch_dependents() call griddepcontrol.wait()";
    expect_found(
        1,
        &[WRITES_X, early, READS_X],
        expect![[r#"
        error[dependent-race]: race: `x[0]` is read, and an earlier launch of `first` may still write it: its thread has not waited for it, in thread (0, 0, 0) of block (0, 0, 0), at kernel.py:3:1; thread (0, 0, 0) of block (0, 0, 0) of `first` writes it, at kernel.py:1:1
    "#]],
    );
}

#[test]
fn a_launch_without_blocks_is_none() {
    let mut memories = Memories::default();
    let mut sequence = Sequence::default();
    let memory = memories.add(Memory::new("t", Scalar::I32, vec![0; 4]));
    let arguments = vec![Argument::Tensor { memory, offset: 0 }];
    let head = "kernel k(v0 t: pointer.global int32 align 4 written) {";
    let [writes, reads] =
        ["v1: int32 = const 1 store v0, v1 align 4", "v1: int32 = load v0 align 4"]
            .map(|body| trial(&format!("{head} {body} }}"), 1, 1).kernel);
    let mut run = |kernel, n_blocks, is_early: bool| {
        let (grid, block) = ([n_blocks, 1, 1], [1; 3]);
        let cluster = [1; 3];
        let launch = Launch { kernel, grid, block, cluster, arguments: arguments.clone() };
        let early = Early { span: Span::default(), unwritten: vec![] };
        let turn = Turn { early: is_early.then_some(early), may_be_met: true };
        sequence.run(&launch, &turn, &mut memories, &Options::default()).findings.len()
    };
    assert_eq!([run(&writes, 1, false), run(&reads, 0, false), run(&reads, 1, true)], [0, 0, 1]);
    assert_eq!([run(&reads, 1, false), run(&reads, 1, true)], [0, 0]);
}

#[test]
fn of_what_an_earlier_launch_reads_and_writes_the_write_is_told() {
    let both = "v20: int32 = load v5 align 4 @1:1 store v5, v9 align 4 @2:1";
    expect_found(
        1,
        &[both, "store v5, v9 align 4 @3:1"],
        expect![[r#"
        error[dependent-race]: race: `x[0]` is written, and an earlier launch of `first` may still write it: its thread has not waited for it, in thread (0, 0, 0) of block (0, 0, 0), at kernel.py:3:1; thread (0, 0, 0) of block (0, 0, 0) of `first` writes it, at kernel.py:2:1
    "#]],
    );
}

/// Runs kernels of one thread on one tensor, and gives the outcome of the last.
fn last_of(launches: &[(&str, bool, bool)], options: &Options) -> (Outcome, String) {
    let mut memories = Memories::default();
    let mut sequence = Sequence::default();
    memories.add(Memory::new("t", Scalar::I32, vec![0; 4]));
    let mut last = None;
    for (body, is_early, may_be_met) in launches {
        let head = "kernel k(v0 t: pointer.global int32 align 4 written) {";
        let trial = trial(&format!("{head} {body} }}"), 1, 1);
        let early = Early { span: Span::default(), unwritten: vec![] };
        let turn = Turn { early: is_early.then_some(early), may_be_met: *may_be_met };
        let outcome = sequence.run(&with_tensors(&trial, 1), &turn, &mut memories, options);
        let told = trial.told(&outcome.findings);
        last = Some((outcome, told));
    }
    last.expect("there is a launch")
}

#[test]
fn what_is_not_known_may_touch_everything() {
    let [reads, writes] =
        ["v1: int32 = load v0 align 4 @1:1", "v1: int32 = const 1 store v0, v1 align 4 @2:1"];
    let told = |launches: &[_]| last_of(launches, &Options::default()).1;
    expect![[r#"
        error[dependent-race]: race: `t[0]` is read, and a launch before the call may still write it: its thread has not waited for it, in thread (0, 0, 0) of block (0, 0, 0), at kernel.py:1:1; launched to begin before what is in front of it has ended
    "#]].assert_eq(&told(&[(reads, true, false)]));
    expect![[r#"
        error[dependent-race]: race: `t[0]` is written, and a launch before the call may still use it: its thread has not waited for it, in thread (0, 0, 0) of block (0, 0, 0), at kernel.py:2:1; launched to begin before what is in front of it has ended
    "#]].assert_eq(&told(&[(writes, true, false)]));
    // A launch that may not be met is not known behind it.
    let behind = [("", false, true), ("", false, false), (reads, true, false)];
    assert_eq!(told(&behind), told(&behind[2..]));
    let options = Options { most_findings: 1, ..Options::default() };
    assert!(!last_of(&behind[2..], &options).0.is_complete);
}
