// SPDX-License-Identifier: Apache-2.0
//! Lowers a plan's steps to compares and branches.
//!
//! Entry points are mostly checks, and LLVM takes its time over each instruction and block. So a check that a later one implies is left to
//! the later one, checks that one condition excuses share it, and what is seldom run is one block. The code of an expression is in `value`.

use super::faults::{Faults, raise_written};
use super::program::n_steps;
use super::value::Known;
use crate::llvm::{Block, Emitter, Function, Predicate, Ty, V};
use kernpack_runtime::ERROR_BYTES;
use kernpack_validators::plan::{Compare, DeviceFact, Expr, Plan, Step, Value, When};

/// A function in the making.
pub struct FunctionBuilder<'f, 'c> {
    /// What is written to.
    pub e: &'f Emitter<'c>,
    /// What is lowered.
    pub plan: &'f Plan,
    /// The function.
    pub function: Function<'c>,
    pub(super) args: V<'c>,
    pub(super) n_args: V<'c>,
    /// What code needs, and not only messages.
    needed: Vec<bool>,
    /// What has been emitted and may be used again.
    pub(super) known: Known<'c>,
    /// Values that checks have found not to be negative.
    not_negative: Vec<Value>,
    /// The blocks that failed checks go to, with the step that each begins at. The last is where they go now.
    refused: Vec<(Block<'c>, u32)>,
    error: Option<V<'c>>,
    /// Where the facts of the device are.
    pub(super) device: Option<V<'c>>,
    /// Whether errors are the caller's to raise.
    is_piece: bool,
}

/// How many steps share a block for their failures: as many as the runtime has to go through again.
const STEPS_PER_BLOCK: u32 = 16;

/// A point to go back to.
#[derive(Clone, Copy)]
pub struct Mark {
    known: usize,
    not_negative: usize,
}

impl<'f, 'c> FunctionBuilder<'f, 'c> {
    /// A function whose arguments are these.
    pub fn new(
        e: &'f Emitter<'c>,
        plan: &'f Plan,
        function: Function<'c>,
        args: V<'c>,
        n_args: V<'c>,
    ) -> FunctionBuilder<'f, 'c> {
        let (known, not_negative) = (Known::new(plan), vec![]);
        let n_args = e.sign_extend(n_args);
        let (needed, refused, error) = (needed(plan), vec![], None);
        let is_piece = false;
        FunctionBuilder {
            e,
            plan,
            function,
            args,
            n_args,
            needed,
            known,
            not_negative,
            refused,
            error,
            device: None,
            is_piece,
        }
    }

    /// The like for a piece of a function: its caller has memory for an error, and raises it.
    pub fn piece(mut self, error: V<'c>) -> FunctionBuilder<'f, 'c> {
        (self.error, self.is_piece) = (Some(error), true);
        self
    }

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

    fn steps(&mut self, steps: &[Step]) {
        let mut rest = steps;
        while let [step, behind @ ..] = rest {
            rest = behind;
            match step {
                Step::Let(_, value) if self.needed[value.0 as usize] => {
                    self.value(*value);
                }
                Step::Let(..) => {}
                Step::When(when) => self.when(when),
                Step::AskDevice(index) => self.ask_device(*index),
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

    /// Forgets what `body` emits: it does not dominate what follows.
    pub fn scoped<T>(&mut self, body: impl FnOnce(&mut Self) -> T) -> T {
        let mark = self.mark();
        let result = body(self);
        self.forget(mark);
        result
    }

    /// A point to go back to.
    pub fn mark(&self) -> Mark {
        Mark { known: self.known.len(), not_negative: self.not_negative.len() }
    }

    /// Forgets what was found out behind a mark.
    pub fn forget(&mut self, mark: Mark) {
        self.known.truncate(mark.known);
        self.not_negative.truncate(mark.not_negative);
    }

    /// Memory for an error.
    pub fn error(&mut self) -> V<'c> {
        *self.error.get_or_insert_with(|| self.e.stack(self.function, ERROR_BYTES as u32))
    }

    /// Takes a value as it has been found before.
    pub fn know(&mut self, value: Value, found: V<'c>) {
        self.known.insert_value(value, found);
    }

    /// Leaves the function where the runtime has written an error: where that has any strings.
    pub fn leave_if_written(&mut self, n_strings: V<'c>) {
        let e = self.e;
        let (ok, failed) = (self.block(), self.block());
        let fine = e.compare(Predicate::EQ, n_strings, e.int(Ty::I32, 0));
        e.branch(fine, ok, failed, Some(true));
        e.at(failed);
        self.leave(n_strings);
        e.at(ok);
    }

    /// Leaves the function with the error of that many strings that has been written to the words.
    pub fn leave(&mut self, n_strings: V<'c>) {
        match self.is_piece {
            true => self.e.ret(n_strings),
            false => raise_written(self.e, self.error(), n_strings),
        }
    }

    pub(super) fn block(&self) -> Block<'c> {
        self.e.block(self.function, "")
    }

    fn refused(&self) -> Block<'c> {
        self.refused[self.refused.len() - 1].0
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

    /// What is left of a condition whose last alternative the next check rules out, where it implies that check too: a value that is one
    /// of several constants, and is not the last of them. With how many of `steps` the next check takes.
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

    /// Conditions of checks in a row, the first of them `cond`, each of which is an alternative to one and the same `excuse`. Returns that, the
    /// conditions, and how many of `steps` they take.
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
                Step::Require(..) | Step::When(_) | Step::AskDevice(_) => break,
            }
        }
        Some((excuse, conds, n_steps))
    }

    /// What stands on the right of the condition's `or`s, the longest first.
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

    /// Goes to `yes` where one of the condition's alternatives before `excuse` holds, else to `no`.
    fn branch_without(&mut self, excuse: Value, cond: Value, yes: Block<'c>, no: Block<'c>) {
        let Expr::Or(first, rest) = *self.plan.expr(cond) else {
            unreachable!("the condition ends with the excuse")
        };
        if rest == excuse {
            self.branch_to(first, yes, no, Continue::Yes, Some(true));
            return;
        }
        let second = self.block();
        let mark = self.branch_to(first, yes, second, Continue::Yes, Some(true));
        self.forget(mark);
        self.scoped(|builder| {
            builder.e.at(second);
            builder.branch_without(excuse, rest, yes, no);
        });
    }

    /// Writes the blocks that failed checks go to.
    pub fn finish(mut self, faults: &mut Faults) {
        let e = self.e;
        // In memory: the copies that a phi needs would end up among the checks.
        let first_step_at = e.stack(self.function, 8);
        let refuse = self.block();
        for &(refused, first_step) in &self.refused {
            e.at(refused);
            e.store(first_step_at, e.int(Ty::I32, first_step.into()));
            e.jump(refuse);
        }
        e.at(refuse);
        let first_step = e.load(Ty::I32, first_step_at);
        let program = e.int(Ty::I32, faults.add_program(self.plan).into());
        let n_args = e.truncate(self.n_args, Ty::I32);
        let device = self.device.unwrap_or_else(|| e.null());
        let call = [program, first_step, self.args, n_args, device];
        let n_strings = Faults::word_refused(e, self.error(), call);
        self.leave(n_strings);
    }

    /// The number of the call's device, which is the current one where the arguments do not tell one.
    pub fn current_device(&mut self, index: V<'c>) -> V<'c> {
        let e = self.e;
        let at = e.stack(self.function, 8);
        e.store(at, e.truncate(index, Ty::I32));
        let error = self.error();
        let current = e.declare("kernpack_rt_cuda_current", &[Ty::Ptr, Ty::Ptr], Some(Ty::I32));
        let n_strings = e.call(current, &[at, error]).expect("a number");
        self.leave_if_written(n_strings);
        e.sign_extend(e.load(Ty::I32, at))
    }

    /// Has the runtime write down what is known of a device. The call keeps to that device, even if it is prepared and another one is current
    /// when it is made.
    fn ask_device(&mut self, value: Value) {
        let e = self.e;
        let mut index = self.value(value);
        if self.plan.may_lack_device() {
            index = self.current_device(index);
            self.know(value, index);
        }
        let facts = e.stack(self.function, 8 * DeviceFact::ALL.len() as u32);
        let error = self.error();
        let ask = e.declare("kernpack_rt_cuda_device", &[Ty::I64, Ty::Ptr, Ty::Ptr], Some(Ty::I32));
        let n_strings = e.call(ask, &[index, facts, error]).expect("a number");
        self.leave_if_written(n_strings);
        // Where an earlier check fails, there are none, and no message needs them.
        self.device = Some(facts);
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

    /// Goes to `yes` or `no`. Writing goes on in one of them: there, what both operands of a connective evaluated stays known where both
    /// lie on the way. Returns the mark of the first branch: what was known by then is known everywhere.
    fn branch_to(
        &mut self,
        cond: Value,
        yes: Block<'c>,
        no: Block<'c>,
        go_on: Continue,
        likely: Option<bool>,
    ) -> Mark {
        let e = self.e;
        match *self.plan.expr(cond) {
            _ if self.known.has(cond) || self.membership(cond).is_some() => {}
            Expr::Not(inner) => {
                let likely = likely.map(|likely| !likely);
                let mark = self.branch_to(inner, no, yes, Continue::Yes, likely);
                self.forget(mark);
                return mark;
            }
            Expr::And(a, b) | Expr::Or(a, b) => {
                let second = self.block();
                let (yes_first, no_first, both) = match *self.plan.expr(cond) {
                    Expr::And(..) => (second, no, Continue::Yes),
                    _ => (yes, second, Continue::No),
                };
                let mark = self.branch_to(a, yes_first, no_first, both, likely);
                e.at(second);
                if likely == Some(both == Continue::No) {
                    self.scoped(|builder| builder.branch_seldom(b, yes, no));
                } else {
                    self.branch_to(b, yes, no, go_on, likely);
                }
                if go_on != both {
                    self.forget(mark);
                }
                return mark;
            }
            _ => {}
        }
        let cond = self.value(cond);
        e.branch(cond, yes, no, likely);
        self.mark()
    }

    /// The like on a way that is seldom gone: a block for each operand is not worth its while there.
    fn branch_seldom(&mut self, cond: Value, yes: Block<'c>, no: Block<'c>) {
        // This much is evaluated in any case.
        let mut first = cond;
        while let Expr::And(a, _) | Expr::Or(a, _) = *self.plan.expr(first) {
            first = a;
        }
        self.value(first);
        if self.reads_nothing_new(cond) {
            let cond = self.value(cond);
            self.e.branch_whole(cond, yes, no);
        } else {
            self.branch_to(cond, yes, no, Continue::Yes, Some(true));
        }
    }
}

/// The condition of the check that comes next, where nothing but names comes before it.
fn next_condition(steps: &[Step]) -> Option<Value> {
    match steps.iter().find(|step| !matches!(step, Step::Let(..)))? {
        Step::Require(cond, _) => Some(*cond),
        Step::Let(..) | Step::When(_) | Step::AskDevice(_) => None,
    }
}

/// Which values code needs: those of conditions and of what follows the checks, with their operands.
fn needed(plan: &Plan) -> Vec<bool> {
    fn steps(plan: &Plan, of: &[Step], needed: &mut Vec<bool>) {
        for step in of {
            match step {
                Step::Let(..) => {}
                Step::Require(cond, _) => mark(plan, *cond, needed),
                Step::AskDevice(index) => mark(plan, *index, needed),
                Step::When(when) => {
                    mark(plan, when.cond, needed);
                    steps(plan, &when.steps, needed);
                    for yielded in &when.yields {
                        mark(plan, yielded.inner, needed);
                        mark(plan, yielded.otherwise, needed);
                    }
                }
            }
        }
    }
    fn mark(plan: &Plan, value: Value, needed: &mut Vec<bool>) {
        if !std::mem::replace(&mut needed[value.0 as usize], true) {
            plan.expr(value).operands().into_iter().for_each(|operand| mark(plan, operand, needed));
        }
    }
    let mut needed = vec![false; plan.exprs.len()];
    steps(plan, &plan.steps, &mut needed);
    plan.for_each_effect_value(&mut |value| mark(plan, value, &mut needed));
    needed
}

/// In which of a branch's two blocks writing goes on.
#[derive(Clone, Copy, PartialEq)]
enum Continue {
    Yes,
    No,
}
