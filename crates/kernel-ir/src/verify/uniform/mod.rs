// SPDX-License-Identifier: Apache-2.0
//! How alike values are among threads, and whether all threads get to what they do together.
//!
//! A value has a *level*: threads of a group of that level that compute it at once get the same.
//! Control has one too: all threads of a group of that level get somewhere at once, or none does.
//!
//! * A condition that differs among threads parts them: control in its regions is as alike as the
//!   condition. Behind the `if` they are together again, and a slot that was set on one of the ways
//!   is as alike as the condition at most.
//! * A loop parts threads where the number of its rounds differs: in it, control is as alike as its
//!   bounds or condition. Behind it threads are together again, and a slot that was set in it is as
//!   alike as that at most.
//! * Threads that jump leave the others alone for the rest of the round (`continue`), of the loop
//!   (`break`) or of the kernel (`return`): control is as alike there as it was at the jump.
//! * What lies at an address that is alike in a block is alike in it, if no thread writes it
//!   meanwhile: the interpreter sees to that.
//! * Lanes that combine what they have with what the lane has that differs in one bit of its
//!   number, in an operation that does not ask which of both is first, have the same behind it as
//!   that lane. Behind five such steps the warp has the same, and the block where each warp began
//!   with the same.
//!
//! Levels only fall. Loops remember what is known at their beginning, and the kernel is walked
//! until nothing falls any more: as often as slots of loops depend on one another, and not once
//! more for each loop in a loop.

mod control;
mod value;

use super::report::Report;
use crate::intrinsic::Level;
use crate::kernel::{Place, Slot, Value};
use crate::op::{Jump, Op, OpKind, Region};
use control::{CauseKind, Control, report_divergent};
use value::Values;

/// How alike values are among threads.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Uniformity {
    levels: Vec<Level>,
}

impl Uniformity {
    /// The level of a value: all threads of a group of that level that compute it at once get the
    /// same. A parameter is the whole grid's.
    pub fn level(&self, value: Value) -> Level {
        self.levels[value.index()]
    }
}

/// Computes levels, and reports what threads cannot do together.
pub(super) fn verify(report: &mut Report<'_>) -> Uniformity {
    let kernel = report.kernel;
    let mut walk = Walk {
        values: Values::new(kernel),
        slots: vec![Level::Grid; kernel.slots.len()],
        is_dead: false,
        set: Vec::new(),
        returned: Control::ALL,
        loops: Vec::new(),
        n_loops: 0,
        open: Vec::new(),
        has_changed: true,
        divergent: Vec::new(),
    };
    while walk.has_changed {
        walk.start();
        walk.region(&kernel.body, Around::ALL);
    }
    report_divergent(report, &walk.divergent);
    Uniformity { levels: walk.values.levels() }
}

/// How alike threads get to an operation.
#[derive(Clone, Copy)]
struct Around {
    /// Of all threads.
    kernel: Control,
    /// Of those that run this round of the innermost loop.
    round: Control,
}

impl Around {
    const ALL: Around = Around { kernel: Control::ALL, round: Control::ALL };

    /// Where a condition lets through.
    fn under(self, control: Control) -> Around {
        Around { kernel: self.kernel.meet(control), round: self.round.meet(control) }
    }
}

/// The state with which a loop begins each round.
#[derive(Clone)]
struct Head {
    slots: Vec<Level>,
    /// Those that have not left in an earlier round.
    stayed: Control,
}

/// A loop that is walked.
struct Open {
    /// Those that have not left by a `break`.
    unbroken: Control,
    /// Those that have not gone on to the next round.
    in_round: Control,
    /// Slots where it is left by a `break`.
    breaks: Option<Vec<Level>>,
    /// Slots where the next round begins by a `continue`.
    continues: Option<Vec<Level>>,
    /// How many slots had been set before.
    n_set: usize,
}

struct Walk<'k> {
    values: Values<'k>,
    /// The slots' levels at this point.
    slots: Vec<Level>,
    /// Whether no way leads to this point.
    is_dead: bool,
    /// Each slot that was set so far, in order.
    set: Vec<Slot>,
    /// Those that have not left by a `return`.
    returned: Control,
    /// Of all loops, in the order of the text; those that have been met.
    loops: Vec<Head>,
    /// How many have been met in this walk.
    n_loops: usize,
    open: Vec<Open>,
    has_changed: bool,
    divergent: Vec<(&'k Op, Control)>,
}

/// Lowers levels to others. Says whether any fell.
fn lower(levels: &mut [Level], to: &[Level]) -> bool {
    let mut has_fallen = false;
    for (level, to) in levels.iter_mut().zip(to) {
        has_fallen |= to < level;
        *level = (*level).min(*to);
    }
    has_fallen
}

/// Slots where ways join; nothing where no way leads.
fn join(a: Option<Vec<Level>>, b: Option<Vec<Level>>) -> Option<Vec<Level>> {
    match (a, b) {
        (Some(mut a), Some(b)) => {
            lower(&mut a, &b);
            Some(a)
        }
        (a, b) => a.or(b),
    }
}

impl<'k> Walk<'k> {
    fn start(&mut self) {
        self.slots.fill(Level::Grid);
        self.is_dead = false;
        self.set.clear();
        self.returned = Control::ALL;
        self.n_loops = 0;
        self.has_changed = false;
        self.divergent.clear();
    }

    /// The slots' levels where a way leads here, which ends here.
    fn take(&mut self) -> Option<Vec<Level>> {
        let slots = self.slots.clone();
        (!std::mem::replace(&mut self.is_dead, true)).then_some(slots)
    }

    /// Goes on with these levels of slots.
    fn go_on(&mut self, slots: Option<Vec<Level>>) {
        self.is_dead = slots.is_none();
        self.slots = slots.unwrap_or_else(|| std::mem::take(&mut self.slots));
    }

    /// Without those that have left by a jump. Who has left the round for the next one, runs that
    /// one with the others; who has left the loop does not.
    fn remaining(&self, around: Around) -> Around {
        let kernel = around.kernel.meet(self.returned);
        match self.open.last() {
            Some(open) => Around {
                kernel: kernel.meet(open.unbroken).meet(open.in_round),
                round: around.round.meet(open.in_round),
            },
            None => Around { kernel, ..around },
        }
    }

    /// Lowers the slots that were set since then.
    fn lower_set(&mut self, slots: &mut Option<Vec<Level>>, n_set: usize, level: Level) {
        if let Some(slots) = slots {
            for slot in &self.set[n_set..] {
                let at = &mut slots[slot.index()];
                *at = (*at).min(level);
            }
        }
    }

    fn region(&mut self, region: &'k Region, around: Around) {
        let mut around = self.remaining(around);
        for op in &region.0 {
            self.op(op, around);
            around = self.remaining(around);
        }
    }

    fn op(&mut self, op: &'k Op, around: Around) {
        match &op.kind {
            OpKind::Set(slot, value) => {
                self.slots[slot.index()] = self.values.level(*value);
                self.set.push(*slot);
            }
            OpKind::If { condition, then, otherwise } => {
                let level = self.values.level(*condition);
                self.branch(op.place, level, [then, otherwise], around);
            }
            OpKind::For { index, first, end, step, body } => {
                self.values.set_index(*index, *first, *step);
                let [first, end, step] = [first, end, step].map(|it| self.values.level(*it));
                let rounds = first.min(end).min(step);
                self.counted(op.place, rounds, body, around);
            }
            OpKind::While { before, condition, body } => {
                self.repeated(op.place, before, *condition, body, around);
            }
            OpKind::Jump(jump) => self.jump(*jump, op.place, around),
            OpKind::Call(call) => {
                if call.intrinsic.uniform > around.kernel.level {
                    self.divergent.push((op, around.kernel));
                }
                if let Some(result) = op.result {
                    self.values.set_call(result, call);
                }
            }
            OpKind::Expr(expr) => {
                if let Some(result) = op.result {
                    self.values.set_expr(result, expr, &self.slots);
                }
            }
            OpKind::Asm(asm) => {
                // It may read registers that say which thread it is.
                asm.results.iter().for_each(|slot| self.slots[slot.index()] = Level::Thread);
            }
            OpKind::Store(_) | OpKind::InBounds { .. } => {}
            OpKind::Print(..) | OpKind::Assert(_) => {}
        }
    }

    fn branch(&mut self, place: Place, level: Level, regions: [&'k Region; 2], around: Around) {
        let inner = around.under(Control::under(CauseKind::If, place, level));
        let (was_dead, before, n_set) = (self.is_dead, self.slots.clone(), self.set.len());
        self.region(regions[0], inner);
        let then = self.take();
        self.is_dead = was_dead;
        self.slots = before;
        self.region(regions[1], inner);
        let otherwise = self.take();
        let are_two = then.is_some() && otherwise.is_some();
        let mut joined = join(then, otherwise);
        if are_two {
            self.lower_set(&mut joined, n_set, level);
        }
        self.go_on(joined);
    }

    fn jump(&mut self, jump: Jump, place: Place, around: Around) {
        let slots = self.take();
        match (jump, self.open.last_mut()) {
            (Jump::Return, _) => {
                self.returned = self.returned.meet(around.kernel.without(jump, place));
            }
            (Jump::Break, Some(open)) => {
                open.unbroken = open.unbroken.meet(around.round.without(jump, place));
                open.breaks = join(open.breaks.take(), slots);
            }
            (Jump::Continue, Some(open)) => {
                open.in_round = open.in_round.meet(around.round.without(jump, place));
                open.continues = join(open.continues.take(), slots);
            }
            (Jump::Break | Jump::Continue, None) => {}
        }
    }

    /// Enters a loop; gives its number, and what its rounds begin with.
    fn enter(&mut self) -> (usize, Head) {
        let number = self.n_loops;
        self.n_loops += 1;
        if number == self.loops.len() {
            self.loops.push(Head { slots: self.slots.clone(), stayed: Control::ALL });
        }
        let head = &mut self.loops[number];
        lower(&mut head.slots, &self.slots);
        self.slots.clone_from(&head.slots);
        let head = head.clone();
        self.open.push(Open {
            unbroken: Control::ALL,
            in_round: Control::ALL,
            breaks: None,
            continues: None,
            n_set: self.set.len(),
        });
        (number, head)
    }

    /// Leaves a loop at the end of a round. `rounds` says how alike the number of rounds is, and
    /// `left` what slots have where it ends by itself.
    fn leave(&mut self, number: usize, rounds: Control, left: Option<Vec<Level>>) {
        let Some(open) = self.open.pop() else { return };
        let mut next = join(self.take(), open.continues);
        self.lower_set(&mut next, open.n_set, open.in_round.level);
        let stayed = rounds.meet(open.unbroken).meet(self.returned);
        let head = &mut self.loops[number];
        if let Some(next) = next {
            self.has_changed |= lower(&mut head.slots, &next);
        }
        self.has_changed |= stayed.level < head.stayed.level;
        head.stayed = head.stayed.meet(stayed);
        let mut left = join(left, open.breaks);
        self.lower_set(&mut left, open.n_set, rounds.level.min(open.unbroken.level));
        self.go_on(left);
    }

    fn counted(&mut self, place: Place, rounds: Level, body: &'k Region, around: Around) {
        let was_dead = self.is_dead;
        let rounds = Control::under(CauseKind::Loop, place, rounds);
        let (number, head) = self.enter();
        let kernel = around.kernel.meet(rounds).meet(head.stayed);
        self.region(body, Around { kernel, round: Control::ALL });
        self.leave(number, rounds, (!was_dead).then_some(head.slots));
    }

    fn repeated(
        &mut self,
        place: Place,
        before: &'k Region,
        condition: Value,
        body: &'k Region,
        around: Around,
    ) {
        let (number, head) = self.enter();
        let kernel = around.kernel.meet(head.stayed);
        self.region(before, Around { kernel, round: Control::ALL });
        let left = (!self.is_dead).then(|| self.slots.clone());
        let rounds = Control::under(CauseKind::Loop, place, self.values.level(condition));
        let inner = Around { kernel: kernel.meet(rounds), round: Control::ALL };
        self.region(body, inner);
        self.leave(number, rounds, left);
    }
}
