// SPDX-License-Identifier: Apache-2.0
//! Lowers a plan's steps to compares and branches.
//!
//! Entry points are mostly checks, and LLVM takes its time over each instruction and block. So a
//! check that a later one implies is left to the later one, checks that one condition excuses share
//! it, and what is seldom run is one block. The code of a condition is in `condition`, that of
//! other expressions in `value`.

use super::condition::Continue;
use super::function::FunctionBuilder;
use super::program::n_steps;
use kernpack_validators::plan::{Compare, Expr, Plan, Step, Value, When};

/// How many steps share a block for their failures: as many as the runtime has to go through again.
const STEPS_PER_BLOCK: u32 = 16;

impl FunctionBuilder<'_, '_> {
    /// Lowers the plan's steps, from where the builder stands.
    pub fn plan(&mut self) {
        let (mut rest, mut first_step) = (&self.plan.steps[..], 0);
        while !rest.is_empty() {
            self.refused.push((self.block(), first_step));
            let start = first_step;
            let n_together = rest.iter().take_while(|step| {
                let fits = first_step - start < STEPS_PER_BLOCK;
                first_step += if fits { n_steps(step) } else { 0 };
                fits
            });
            let (together, behind) = rest.split_at(n_together.count());
            self.steps(together);
            rest = behind;
        }
    }

    pub(super) fn steps(&mut self, steps: &[Step]) {
        let mut rest = steps;
        while let [step, behind @ ..] = rest {
            rest = behind;
            match step {
                Step::Let(_, value) if self.needed[value.0 as usize] => {
                    self.value(*value);
                }
                Step::Let(..) => {}
                Step::When(when) => self.when(when),
                Step::Repeat(repeat) => self.repeat(repeat),
                Step::AskDevice => self.ask_device(),
                Step::AskBlocks(asked) => self.ask_blocks(asked),
                Step::Require(cond, _) if let Some((cond, n_steps)) = self.but(*cond, behind) => {
                    self.require(cond, None);
                    rest = &behind[n_steps..];
                }
                Step::Require(cond, _) => match self.excused_together(*cond, behind) {
                    Some((excuse, conds, n_steps)) => {
                        self.require_unless(excuse, &conds);
                        rest = &behind[n_steps..];
                    }
                    None => self.require(*cond, next_condition(behind)),
                },
            }
        }
    }

    /// A check: where it fails, nothing but that is known, and the runtime finds out the rest.
    fn require(&mut self, cond: Value, next: Option<Value>) {
        if let Some(value) = self.at_least_zero(cond) {
            self.not_negative.push(value);
            if next.is_some_and(|next| self.is_equal_to_not_negative(next, value)) {
                return;
            }
        }
        let ok = self.block();
        self.branch_to(cond, ok, self.refused(), Continue::Yes, Some(true));
        self.e.at(ok);
    }

    /// The value of which the condition says that it is not negative.
    fn at_least_zero(&self, cond: Value) -> Option<Value> {
        match *self.plan.expr(cond) {
            Expr::Compare(Compare::Le, zero, value) if *self.plan.expr(zero) == Expr::Int(0) => {
                Some(value)
            }
            _ => None,
        }
    }

    /// Whether the condition is that `value` equals something which is known not to be negative.
    fn is_equal_to_not_negative(&self, cond: Value, value: Value) -> bool {
        let Expr::Compare(Compare::Eq, a, b) = *self.plan.expr(cond) else { return false };
        let not_negative = |other: Value| match *self.plan.expr(other) {
            Expr::Int(int) => int >= 0,
            _ => other != value && self.not_negative.contains(&other),
        };
        (a == value && not_negative(b)) || (b == value && not_negative(a))
    }

    /// The rest of a condition whose last alternative the next check rules out, where it
    /// implies that check too: a value that is one of several constants, and is not the last of
    /// them. With how many of `steps` the next check takes.
    fn but(&self, cond: Value, steps: &[Step]) -> Option<(Value, usize)> {
        let next = steps.iter().position(|step| !matches!(step, Step::Let(..)))?;
        let Step::Require(ruled_out, _) = &steps[next] else { return None };
        let (Expr::Or(rest, last), Expr::Compare(Compare::Ne, value, constant)) =
            (self.plan.expr(cond), self.plan.expr(*ruled_out))
        else {
            return None;
        };
        let Expr::Int(int) = self.plan.expr(*constant) else { return None };
        let is_it = *self.plan.expr(*last) == Expr::Compare(Compare::Eq, *value, *constant);
        let (same, others) = self.one_of(*rest)?;
        let implied = is_it && same == *value && !others.contains(int);
        implied.then_some((*rest, next + 1))
    }

    /// Conditions of checks in a row, the first of them `cond`, each of which is an alternative to
    /// one and the same `excuse`. Returns that, the conditions, and how many of `steps` they take.
    fn excused_together(&self, cond: Value, steps: &[Step]) -> Option<(Value, Vec<Value>, usize)> {
        let next = next_condition(steps)?;
        let alternatives = self.alternatives(next);
        let excuse =
            self.alternatives(cond).into_iter().find(|excuse| alternatives.contains(excuse))?;
        let (mut conds, mut n_steps) = (vec![cond], 0);
        for (i, step) in steps.iter().enumerate() {
            match step {
                Step::Let(..) => {}
                Step::Require(cond, _) if self.alternatives(*cond).contains(&excuse) => {
                    conds.push(*cond);
                    n_steps = i + 1;
                }
                Step::Require(..)
                | Step::When(_)
                | Step::Repeat(_)
                | Step::AskDevice
                | Step::AskBlocks(_) => break,
            }
        }
        Some((excuse, conds, n_steps))
    }

    /// The alternatives on the right of the condition's `or`s, the longest first.
    fn alternatives(&self, cond: Value) -> Vec<Value> {
        let right = |value: &Value| match *self.plan.expr(*value) {
            Expr::Or(_, right) => Some(right),
            _ => None,
        };
        std::iter::successors(right(&cond), right).collect()
    }

    /// Checks that need not hold where `excuse` does, which each of them ends with.
    fn require_unless(&mut self, excuse: Value, conds: &[Value]) {
        let (behind, otherwise) = (self.block(), self.block());
        self.scoped(|builder| {
            for cond in conds {
                let ok = builder.block();
                builder.branch_without(excuse, *cond, ok, otherwise);
                builder.e.at(ok);
            }
        });
        self.e.jump(behind);
        self.e.at(otherwise);
        self.scoped(|builder| builder.branch_seldom(excuse, behind, builder.refused()));
        self.e.at(behind);
    }

    fn when(&mut self, when: &When) {
        let e = self.e;
        let outside: Vec<_> = when.yields.iter().map(|y| self.value(y.otherwise)).collect();
        let (body, behind, around) = (self.block(), self.block(), self.block());
        let (inside, from) = self.scoped(|builder| {
            builder.branch_to(when.cond, body, around, Continue::Yes, None);
            e.at(body);
            builder.steps(&when.steps);
            let inside: Vec<_> = when.yields.iter().map(|y| builder.value(y.inner)).collect();
            (inside, e.here())
        });
        e.jump(behind);
        e.at(around);
        e.jump(behind);
        e.at(behind);
        for (i, yielded) in when.yields.iter().enumerate() {
            let incoming = [(inside[i], from), (outside[i], around)];
            let phi = e.phi(self.ty(yielded.outer), &incoming);
            self.known.insert_value(yielded.outer, phi);
        }
    }
}

/// The condition of the check that comes next, where nothing but names comes before it.
fn next_condition(steps: &[Step]) -> Option<Value> {
    match steps.iter().find(|step| !matches!(step, Step::Let(..)))? {
        Step::Require(cond, _) => Some(*cond),
        Step::Let(..) | Step::When(_) | Step::Repeat(_) | Step::AskDevice | Step::AskBlocks(_) => {
            None
        }
    }
}

/// Which values code needs: those of conditions and of what follows the checks, with their
/// operands.
pub(super) fn needed(plan: &Plan) -> Vec<bool> {
    fn steps(plan: &Plan, of: &[Step], needed: &mut Vec<bool>) {
        for step in of {
            match step {
                // What follows the checks needs the device, too.
                Step::Let(..) | Step::AskDevice => {}
                Step::AskBlocks(asked) => {
                    asked.values().for_each(|value| mark(plan, value, needed));
                }
                Step::Require(cond, _) => mark(plan, *cond, needed),
                Step::When(when) => {
                    mark(plan, when.cond, needed);
                    steps(plan, &when.steps, needed);
                    for yielded in &when.yields {
                        mark(plan, yielded.inner, needed);
                        mark(plan, yielded.otherwise, needed);
                    }
                }
                Step::Repeat(repeat) => {
                    mark(plan, repeat.count, needed);
                    steps(plan, &repeat.steps, needed);
                    for carried in &repeat.carried {
                        mark(plan, carried.first, needed);
                        mark(plan, carried.next, needed);
                    }
                }
            }
        }
    }
    fn mark(plan: &Plan, value: Value, needed: &mut [bool]) {
        // Values may hang together in very long chains.
        let mut open = vec![value];
        while let Some(value) = open.pop() {
            if !std::mem::replace(&mut needed[value.0 as usize], true) {
                open.extend(plan.expr(value).operands());
            }
        }
    }
    let mut needed = vec![false; plan.exprs.len()];
    steps(plan, &plan.steps, &mut needed);
    plan.for_each_effect_value(&mut |value| mark(plan, value, &mut needed));
    needed
}
