// SPDX-License-Identifier: Apache-2.0
//! Definite assignment: a slot that is read has been set on every way there.
//!
//! A state says which slots are set at a point; where ways join, those that are set on all of
//! them. A loop is entered with what was set before it, and what is set in it adds to that, so one
//! walk suffices.

use super::report::Report;
use crate::kernel::{Place, Slot};
use crate::op::{Expr, Jump, Op, OpKind, Region};
use kernpack_syntax::Diagnostic;

/// On which way a slot is not set.
#[derive(Clone, Copy)]
enum Missing {
    /// Where the condition there holds.
    Then(Place),
    /// Where the condition there does not hold.
    Otherwise(Place),
    /// On some way through the loop there.
    Loop(Place),
}

struct Flow<'r, 'k> {
    report: &'r mut Report<'k>,
    /// Which slots are set; nothing where no way leads.
    set: Option<Vec<bool>>,
    missing: Vec<Option<Missing>>,
    /// The slots that are set where each open loop is left by a `break`.
    breaks: Vec<Option<Vec<bool>>>,
}

pub(super) fn verify(report: &mut Report<'_>) {
    let kernel = report.kernel;
    let n_slots = kernel.slots.len();
    let (set, missing) = (Some(vec![false; n_slots]), vec![None; n_slots]);
    Flow { report, set, missing, breaks: Vec::new() }.region(&kernel.body);
}

/// The slots that are set on two ways that join.
fn join(a: Option<Vec<bool>>, b: Option<Vec<bool>>) -> Option<Vec<bool>> {
    match (a, b) {
        (Some(mut a), Some(b)) => {
            a.iter_mut().zip(b).for_each(|(a, b)| *a &= b);
            Some(a)
        }
        (a, b) => a.or(b),
    }
}

impl Flow<'_, '_> {
    fn region(&mut self, region: &Region) {
        region.0.iter().for_each(|op| self.op(op));
    }

    fn op(&mut self, op: &Op) {
        match &op.kind {
            OpKind::Expr(expr) => {
                if let Expr::Get(slot) = expr {
                    self.get(op, *slot);
                }
            }
            OpKind::Set(slot, _) => {
                if let Some(set) = &mut self.set {
                    set[slot.index()] = true;
                }
            }
            OpKind::Asm(asm) => {
                if let Some(set) = &mut self.set {
                    asm.results.iter().for_each(|slot| set[slot.index()] = true);
                }
            }
            OpKind::If { then, otherwise, .. } => self.branch(op.place, then, otherwise),
            OpKind::For { body, .. } => {
                let before = self.set.clone();
                self.breaks.push(None);
                self.region(body);
                self.breaks.pop();
                self.leave(op.place, before);
            }
            OpKind::While { before, condition, body } => {
                self.region(before);
                // A loop without a condition is left by a `break` only.
                let constant = self.report.kernel.constant(*condition);
                let is_endless = constant.and_then(|it| it.as_bool()) == Some(true);
                let left = self.set.clone().filter(|_| !is_endless);
                self.breaks.push(None);
                self.region(body);
                let broken = self.breaks.pop().flatten();
                self.leave(op.place, join(left, broken));
            }
            OpKind::Jump(Jump::Break) => {
                let set = self.set.take();
                if let Some(last) = self.breaks.last_mut() {
                    *last = join(last.take(), set);
                }
            }
            OpKind::Jump(Jump::Continue | Jump::Return) => self.set = None,
            OpKind::Store(_)
            | OpKind::InBounds { .. }
            | OpKind::Call(_)
            | OpKind::Print(..)
            | OpKind::Assert(_) => {}
        }
    }

    fn branch(&mut self, place: Place, then: &Region, otherwise: &Region) {
        let before = self.set.clone();
        self.region(then);
        let then = std::mem::replace(&mut self.set, before);
        self.region(otherwise);
        if let (Some(then), Some(otherwise)) = (&then, &self.set) {
            for (slot, missing) in self.missing.iter_mut().enumerate() {
                match (then[slot], otherwise[slot]) {
                    (true, false) => *missing = Some(Missing::Otherwise(place)),
                    (false, true) => *missing = Some(Missing::Then(place)),
                    (true, true) | (false, false) => {}
                }
            }
        }
        self.set = join(then, self.set.take());
    }

    /// Behind a loop, where `left` is what is set.
    fn leave(&mut self, place: Place, left: Option<Vec<bool>>) {
        let inside = std::mem::replace(&mut self.set, left);
        if let (Some(inside), Some(left)) = (inside, &self.set) {
            for (slot, missing) in self.missing.iter_mut().enumerate() {
                if inside[slot] && !left[slot] {
                    *missing = Some(Missing::Loop(place));
                }
            }
        }
    }

    fn get(&mut self, op: &Op, slot: Slot) {
        let Some(set) = &mut self.set else { return };
        // What has been reported once is taken for set.
        if std::mem::replace(&mut set[slot.index()], true) {
            return;
        }
        let name = &self.report.kernel.slots[slot.index()].name;
        let (place, where_not) = match self.missing[slot.index()] {
            None => (None, "before"),
            Some(Missing::Then(place)) => (Some(place), "where this condition holds"),
            Some(Missing::Otherwise(place)) => (Some(place), "where this condition does not hold"),
            Some(Missing::Loop(place)) => (Some(place), "on every way through this loop"),
        };
        let line = place.and_then(|place| self.report.line(place));
        let line = line.map_or(String::new(), |line| format!(" ({line})"));
        let problem = match place {
            None => format!("`{name}` is used before it is assigned"),
            Some(_) => format!("`{name}` is not assigned {where_not}{line}"),
        };
        let mut problem = Diagnostic::new("unassigned", problem);
        if let Some(place) = place {
            problem = self.report.mark(problem, place, &format!("not assigned {where_not}"));
        }
        let problem = problem.help(format!("assign `{name}` before, for every way to here"));
        self.report.push(op, problem, "used here");
    }
}
