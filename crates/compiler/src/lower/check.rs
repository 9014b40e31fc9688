// SPDX-License-Identifier: Apache-2.0
//! Lowers a plan's steps.
//!
//! An expression is emitted where it is first needed, and kept as long as that place dominates what is being written: [`Check::scoped`] forgets what was
//! emitted on one side of a branch.

use super::Faults;
use super::program::n_steps;
use crate::llvm::{Block, Emitter, Function, Operation, Predicate, Ty, V};
use kernpack_ffi_abi::DType;
use kernpack_validators::plan::{Arith, Compare, Expr, Plan, Step, Type, Value, When};

/// A function in the making.
pub struct Check<'f, 'c> {
    /// What is written to.
    pub e: &'f Emitter<'c>,
    /// What is lowered.
    pub plan: &'f Plan,
    /// The function.
    pub function: Function<'c>,
    args: V<'c>,
    n_args: V<'c>,
    /// What code needs, and not only messages.
    needed: Vec<bool>,
    /// What has been emitted and may be used again.
    known: Vec<Option<V<'c>>>,
    /// The order of `known`'s entries.
    trail: Vec<Value>,
    /// The blocks that failed checks go to, with the step that each begins at. The last is where they go now.
    refused: Vec<(Block<'c>, u32)>,
    /// The number of the next step outside of a `when`, as the program counts.
    next_step: u32,
}

/// How many steps share a block for their failures: as many as the runtime has to go through again.
const STEPS_PER_BLOCK: u32 = 16;

impl<'f, 'c> Check<'f, 'c> {
    /// A function whose arguments are these.
    pub fn new(
        e: &'f Emitter<'c>,
        plan: &'f Plan,
        function: Function<'c>,
        args: V<'c>,
        n_args: V<'c>,
    ) -> Check<'f, 'c> {
        let (known, trail) = (vec![None; plan.exprs.len()], vec![]);
        let n_args = e.sign_extend(n_args);
        let refused = vec![(e.block(function, "refused"), 0)];
        let needed = needed(plan);
        Check { e, plan, function, args, n_args, needed, known, trail, refused, next_step: 0 }
    }

    /// Lowers the plan's steps, from where the builder stands.
    pub fn plan(&mut self) {
        for step in &self.plan.steps {
            if self.next_step - self.refused.last().map_or(0, |last| last.1) >= STEPS_PER_BLOCK {
                self.refused.push((self.e.block(self.function, "refused"), self.next_step));
            }
            self.steps(std::slice::from_ref(step));
            self.next_step += n_steps(step);
        }
    }

    fn steps(&mut self, steps: &[Step]) {
        for step in steps {
            match step {
                Step::Let(_, value) if self.needed[value.0 as usize] => {
                    self.value(*value);
                }
                Step::Let(..) => {}
                Step::Require(cond, _) => self.require(*cond),
                Step::When(when) => self.when(when),
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
    pub fn mark(&self) -> usize {
        self.trail.len()
    }

    /// Forgets what was emitted behind a mark.
    pub fn forget(&mut self, mark: usize) {
        for value in self.trail.split_off(mark.min(self.trail.len())) {
            self.known[value.0 as usize] = None;
        }
    }

    /// A check: where it fails, nothing but that is known, and the runtime finds out the rest.
    fn require(&mut self, cond: Value) {
        let ok = self.e.block(self.function, "");
        let (refused, _) = self.refused[self.refused.len() - 1];
        self.branch_to(cond, ok, refused, Continue::Yes, Some(true));
        self.e.at(ok);
    }

    /// Writes the blocks that failed checks go to.
    pub fn finish(self, faults: &mut Faults) {
        let e = self.e;
        let refuse = e.block(self.function, "");
        let from = self.refused.iter().map(|&(refused, first_step)| {
            e.at(refused);
            e.jump(refuse);
            (e.int(Ty::I32, first_step.into()), refused)
        });
        let from: Vec<_> = from.collect();
        e.at(refuse);
        let first_step = e.phi(Ty::I32, &from);
        let program = e.int(Ty::I32, faults.add_program(self.plan).into());
        let n_args = e.truncate(self.n_args, Ty::I32);
        Faults::refuse(e, self.function, [program, first_step, self.args, n_args]);
    }

    fn when(&mut self, when: &When) {
        let e = self.e;
        let outside: Vec<_> = when.yields.iter().map(|y| self.value(y.otherwise)).collect();
        let (body, behind) = (e.block(self.function, ""), e.block(self.function, ""));
        let around = e.block(self.function, "");
        let (inside, from) = self.scoped(|check| {
            check.branch_to(when.cond, body, around, Continue::Yes, None);
            e.at(body);
            check.steps(&when.steps);
            let inside: Vec<_> = when.yields.iter().map(|y| check.value(y.inner)).collect();
            (inside, e.here())
        });
        e.jump(behind);
        e.at(around);
        e.jump(behind);
        e.at(behind);
        for (i, yielded) in when.yields.iter().enumerate() {
            let incoming = [(inside[i], from), (outside[i], around)];
            let phi = e.phi(self.ty(yielded.outer), &incoming);
            self.remember(yielded.outer, phi);
        }
    }

    fn ty(&self, value: Value) -> Ty {
        match self.plan.type_of(value) {
            Type::Int => Ty::I64,
            Type::Bool => Ty::I1,
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
    ) -> usize {
        let e = self.e;
        match *self.plan.expr(cond) {
            _ if self.known[cond.0 as usize].is_some() => {}
            Expr::Not(inner) => {
                let likely = likely.map(|likely| !likely);
                return self.branch_to(inner, no, yes, go_on.other(), likely);
            }
            Expr::And(a, b) | Expr::Or(a, b) => {
                let second = e.block(self.function, "");
                let (yes_first, no_first, both) = match *self.plan.expr(cond) {
                    Expr::And(..) => (second, no, Continue::Yes),
                    _ => (yes, second, Continue::No),
                };
                let mark = self.branch_to(a, yes_first, no_first, both, likely);
                e.at(second);
                self.branch_to(b, yes, no, go_on, likely);
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

    fn remember(&mut self, value: Value, emitted: V<'c>) {
        self.known[value.0 as usize] = Some(emitted);
        self.trail.push(value);
    }

    /// The code of a value, emitted here unless it is known.
    pub fn value(&mut self, value: Value) -> V<'c> {
        if let Some(known) = self.known[value.0 as usize] {
            return known;
        }
        let emitted = self.emit(value);
        self.remember(value, emitted);
        emitted
    }

    fn emit(&mut self, value: Value) -> V<'c> {
        let e = self.e;
        match *self.plan.expr(value) {
            Expr::Int(int) => e.int(Ty::I64, int),
            Expr::Bool(truth) => e.truth(truth),
            Expr::Args => e.to_int(self.args),
            Expr::NumArgs => self.n_args,
            Expr::Load(base, field) => {
                let base = self.address(base);
                e.load_field(base, field.offset, field.width)
            }
            Expr::Element(base, index) => {
                let base = self.address(base);
                e.load_field(base, 8 * index, kernpack_ffi_abi::Width::I64)
            }
            Expr::Arith(op, a, b) => self.arith(op, a, b),
            Expr::Overflows(op, a, b) => {
                let (a, b) = (self.value(a), self.value(b));
                e.with_overflow(intrinsic(op), a, b).1
            }
            Expr::Compare(op, a, b) => {
                let (a, b) = (self.value(a), self.value(b));
                e.compare(predicate(op), a, b)
            }
            Expr::And(a, b) => self.connective(a, b, Operation::And),
            Expr::Or(a, b) => self.connective(a, b, Operation::Or),
            Expr::Not(a) => {
                let a = self.value(a);
                e.not(a)
            }
            Expr::Select(cond, a, b) => {
                let (cond, a, b) = (self.value(cond), self.value(a), self.value(b));
                e.select(cond, a, b)
            }
            Expr::FloatBits(a) => {
                let a = self.value(a);
                e.bitcast(e.int_to_double(a), Ty::I64)
            }
            Expr::Rounded(a, dtype) => {
                let a = self.value(a);
                round(e, a, dtype)
            }
            Expr::Yield(..) => unreachable!("a verified plan yields before it uses"),
        }
    }

    /// A value as a pointer. The arguments, and what lies behind them, are pointers already.
    fn address(&mut self, base: Value) -> V<'c> {
        let e = self.e;
        match *self.plan.expr(base) {
            Expr::Args => self.args,
            Expr::Arith(Arith::Add, a, b) if self.known[base.0 as usize].is_none() => {
                let a = self.address(a);
                let b = self.value(b);
                e.offset(a, b)
            }
            _ => {
                let base = self.value(base);
                e.to_pointer(base)
            }
        }
    }

    fn arith(&mut self, op: Arith, a: Value, b: Value) -> V<'c> {
        let e = self.e;
        let divisor = match *self.plan.expr(b) {
            Expr::Int(divisor) => Some(divisor),
            _ => None,
        };
        let (a, b) = (self.value(a), self.value(b));
        match op {
            Arith::Add => e.arith(Operation::Add, a, b),
            Arith::Sub => e.arith(Operation::Sub, a, b),
            Arith::Mul => e.arith(Operation::Mul, a, b),
            Arith::BitAnd => e.arith(Operation::And, a, b),
            Arith::FloorDiv | Arith::Mod => match divisor {
                Some(divisor) if divisor > 0 => divide_by_constant(e, op, a, divisor),
                _ => divide(e, op, a, b),
            },
        }
    }

    /// A connective as a value. The second operand may read memory that only the first makes safe: then it gets a block of its own.
    fn connective(&mut self, a: Value, b: Value, operation: Operation) -> V<'c> {
        let e = self.e;
        let first = self.value(a);
        if self.reads_nothing_new(b) {
            let second = self.value(b);
            return e.arith(operation, first, second);
        }
        let from = e.here();
        let (other, behind) = (e.block(self.function, ""), e.block(self.function, ""));
        let (yes, no) =
            if matches!(operation, Operation::And) { (other, behind) } else { (behind, other) };
        e.branch(first, yes, no, None);
        e.at(other);
        let second = self.scoped(|check| check.value(b));
        let other = e.here();
        e.jump(behind);
        e.at(behind);
        e.phi(Ty::I1, &[(first, from), (second, other)])
    }

    fn reads_nothing_new(&self, value: Value) -> bool {
        if self.known[value.0 as usize].is_some() {
            return true;
        }
        let expr = self.plan.expr(value);
        let reads = matches!(expr, Expr::Load(..) | Expr::Element(..));
        !reads && expr.operands().into_iter().all(|operand| self.reads_nothing_new(operand))
    }
}

/// Which values code needs: those of conditions and of what follows the checks, with their operands.
fn needed(plan: &Plan) -> Vec<bool> {
    fn steps(plan: &Plan, of: &[Step], needed: &mut Vec<bool>) {
        for step in of {
            match step {
                Step::Let(..) => {}
                Step::Require(cond, _) => mark(plan, *cond, needed),
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

impl Continue {
    fn other(self) -> Continue {
        match self {
            Continue::Yes => Continue::No,
            Continue::No => Continue::Yes,
        }
    }
}

fn intrinsic(op: Arith) -> &'static str {
    match op {
        Arith::Add => "sadd",
        Arith::Sub => "ssub",
        Arith::Mul => "smul",
        Arith::FloorDiv | Arith::Mod | Arith::BitAnd => {
            unreachable!("a verified plan asks of sums and products")
        }
    }
}

fn predicate(op: Compare) -> Predicate {
    match op {
        Compare::Eq => Predicate::EQ,
        Compare::Ne => Predicate::NE,
        Compare::Lt => Predicate::SLT,
        Compare::Le => Predicate::SLE,
    }
}

/// The bits of a float64, rounded to a narrower float. Of halves the runtime takes care: the compiler's own functions are not everywhere.
fn round<'c>(e: &Emitter<'c>, bits: V<'c>, dtype: DType) -> V<'c> {
    let function = match dtype {
        DType::FLOAT16 => "kernpack_rt_round_to_f16",
        DType::BFLOAT16 => "kernpack_rt_round_to_bf16",
        DType::FLOAT32 => {
            let float = e.double_to_float(e.bitcast(bits, Ty::Double));
            return e.bitcast(e.float_to_double(float), Ty::I64);
        }
        _ => unreachable!("a verified plan rounds to narrower floats"),
    };
    let function = e.declare(function, &[Ty::I64], Some(Ty::I64));
    e.call(function, &[bits]).expect("64 bits")
}

/// Division rounded down: a power of two shifts or masks; otherwise a quotient towards zero is corrected.
fn divide_by_constant<'c>(e: &Emitter<'c>, op: Arith, a: V<'c>, divisor: i64) -> V<'c> {
    if divisor.count_ones() == 1 {
        let (shift, mask) = (i64::from(divisor.trailing_zeros()), divisor - 1);
        return match op {
            Arith::FloorDiv => e.arith(Operation::ShiftRight, a, e.int(Ty::I64, shift)),
            _ => e.arith(Operation::And, a, e.int(Ty::I64, mask)),
        };
    }
    floor(e, op, a, e.int(Ty::I64, divisor))
}

/// The like for a divisor that may not be positive: 0 then.
fn divide<'c>(e: &Emitter<'c>, op: Arith, a: V<'c>, b: V<'c>) -> V<'c> {
    let (zero, one) = (e.int(Ty::I64, 0), e.int(Ty::I64, 1));
    let positive = e.compare(Predicate::SGT, b, zero);
    let divisor = e.select(positive, b, one);
    e.select(positive, floor(e, op, a, divisor), zero)
}

fn floor<'c>(e: &Emitter<'c>, op: Arith, a: V<'c>, divisor: V<'c>) -> V<'c> {
    let rest = e.arith(Operation::Rem, a, divisor);
    let negative = e.compare(Predicate::SLT, rest, e.int(Ty::I64, 0));
    if op == Arith::Mod {
        return e.select(negative, e.arith(Operation::Add, rest, divisor), rest);
    }
    let quotient = e.arith(Operation::Div, a, divisor);
    let below = e.arith(Operation::Sub, quotient, e.int(Ty::I64, 1));
    e.select(negative, below, quotient)
}
