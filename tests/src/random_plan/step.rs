// SPDX-License-Identifier: Apache-2.0
//! Random steps. Most checks hold in most calls, so that calls come far.

use super::Generator;
use kernpack_ffi_abi::ErrorKind;
use kernpack_validators::fault::{Fault, Format, Part};
use kernpack_validators::plan::{
    Arith, Carried, Compare, Expr, MOST_TURNS, Repeat, Step, Type, Value, When, Yielded,
};

const KINDS: [ErrorKind; 3] =
    [ErrorKind::TypeError, ErrorKind::ValueError, ErrorKind::RuntimeError];
const FORMATS: [Format; 6] = [
    Format::Int,
    Format::Uint,
    Format::Float,
    Format::TypeIndex,
    Format::DType,
    Format::DeviceType,
];
const TEXTS: [&str; 5] = ["Mismatched ", " when calling: `f()`, expected ", ", got ", "ä", ""];

impl Generator<'_> {
    /// The check that makes arguments safe to read.
    pub fn arity(&mut self) {
        let (n_args, wanted) = (self.add(Expr::NumArgs), self.constant(self.n_args as i64));
        let cond = self.add(Expr::Compare(Compare::Eq, n_args, wanted));
        let fault = self.fault(&[n_args]);
        self.plan.steps.push(Step::Require(cond, fault));
    }

    /// Steps, with others in them down to a depth.
    pub fn steps(&mut self, n_steps: usize, depth: usize) -> Vec<Step> {
        let mut steps = Vec::new();
        for _ in 0..n_steps {
            match self.rng.below(11) {
                0 | 1 => steps.push(self.let_step()),
                2..=4 => steps.push(self.require()),
                5 => steps.extend(self.require_block()),
                6 => steps.extend(self.checks_in_a_row()),
                7 | 8 if depth > 0 => steps.push(self.when(depth - 1)),
                9 if depth > 0 && self.n_repeats < 2 => steps.push(self.repeat(depth - 1)),
                10 if depth == 3 && self.on_gpu && !self.has_asked => {
                    self.has_asked = true;
                    steps.push(Step::AskDevice);
                }
                _ => steps.push(self.require()),
            }
        }
        steps
    }

    fn let_step(&mut self) -> Step {
        let ty = self.rng.pick(&[Type::Int, Type::Int, Type::Bool, Type::Text]);
        let (name, value) = (self.name(), self.value(ty, 3));
        self.keep(value, ty);
        Step::Let(name, value)
    }

    fn require(&mut self) -> Step {
        let cond = self.truth(3);
        let cond = self.likely(cond);
        self.require_that(cond)
    }

    fn require_that(&mut self, cond: Value) -> Step {
        let shown: Vec<_> = (0..self.rng.below(4)).map(|_| self.int(2)).collect();
        let mut fault = self.fault(&shown);
        if self.rng.sixteenths(4) {
            fault.parts.push(Part::Value(self.text(1), Format::Text));
        }
        if self.rng.sixteenths(4) {
            let (given, value) = (self.truth(1), self.int(1));
            fault.parts.push(Part::Optional(given, value, self.rng.pick(&FORMATS)));
        }
        Step::Require(cond, fault)
    }

    /// A condition that holds where this one does, and most often elsewhere.
    fn likely(&mut self, cond: Value) -> Value {
        if self.rng.sixteenths(3) {
            return cond;
        }
        let (value, mask, most) = (self.int(1), self.constant(15), self.constant(13));
        let value = self.add(Expr::Arith(Arith::BitAnd, value, mask));
        let other = self.add(Expr::Compare(Compare::Le, value, most));
        self.add(Expr::Or(cond, other))
    }

    /// A check that there is a block, which may be read from here on.
    fn require_block(&mut self) -> Option<Step> {
        let (cond, block) = self.guard()?;
        let step = self.require_that(cond);
        self.scope.blocks.push(block);
        Some(step)
    }

    /// Checks of which code makes fewer.
    fn checks_in_a_row(&mut self) -> Vec<Step> {
        match self.rng.below(3) {
            0 => self.not_negative_and_equal(),
            1 => self.one_of_but_not_the_last(),
            _ => self.excused_together(),
        }
    }

    fn not_negative_and_equal(&mut self) -> Vec<Step> {
        let (zero, int) = (self.constant(0), self.rng.pick(&[-1, 0, 1]));
        let (a, b, checked) = match self.rng.sixteenths(8) {
            true => (self.small(2), self.small(1), 2),
            false => (self.of_block(1), self.constant(int), 1),
        };
        let mut steps = Vec::new();
        for value in [a, b].into_iter().take(checked) {
            let cond = self.add(Expr::Compare(Compare::Le, zero, value));
            steps.push(self.require_that(cond));
        }
        let (a, b) = if self.rng.sixteenths(8) { (a, b) } else { (b, a) };
        let equal = self.add(Expr::Compare(Compare::Eq, a, b));
        steps.push(self.require_that(equal));
        steps
    }

    fn one_of_but_not_the_last(&mut self) -> Vec<Step> {
        let value = self.small(2);
        let constants = if self.rng.sixteenths(8) { vec![0, 1, 2, 3] } else { self.constants() };
        let any = self.is_any(value, &constants);
        let Expr::Or(_, last) = self.plan.exprs[any.0 as usize] else { return vec![] };
        let Expr::Compare(_, _, last) = self.plan.exprs[last.0 as usize] else { return vec![] };
        let is_not_last = self.add(Expr::Compare(Compare::Ne, value, last));
        vec![self.require_that(any), self.require_that(is_not_last)]
    }

    fn excused_together(&mut self) -> Vec<Step> {
        let excuse = self.truth(2);
        let excuse = self.likely(excuse);
        let n_checks = 2 + self.rng.below(3);
        let mut steps = Vec::new();
        for _ in 0..n_checks {
            let (first, own) = (self.truth(2), self.truth(2));
            let mut cond = excuse;
            if self.rng.sixteenths(6) {
                cond = self.add(Expr::Or(own, cond));
            }
            cond = self.add(Expr::Or(first, cond));
            steps.push(self.require_that(cond));
        }
        steps
    }

    fn when(&mut self, depth: usize) -> Step {
        let guard = if self.rng.sixteenths(10) { self.guard() } else { None };
        let (cond, block) = match guard {
            Some((cond, block)) => (cond, Some(block)),
            None => (self.truth(3), None),
        };
        let types = self.types();
        let others: Vec<_> = types.iter().map(|ty| self.kept(*ty)).collect();
        let mark = self.mark();
        self.scope.blocks.extend(block);
        let n_steps = self.rng.below(4);
        let steps = self.steps(n_steps, depth);
        let inners: Vec<_> = types.iter().map(|ty| self.kept(*ty)).collect();
        self.forget(mark);
        let mut yields = Vec::new();
        for (i, ty) in types.into_iter().enumerate() {
            let outer = self.given(Expr::Yield, ty);
            self.keep(outer, ty);
            yields.push(Yielded { outer, inner: inners[i], otherwise: others[i] });
        }
        Step::When(When { cond, steps, yields })
    }

    fn repeat(&mut self, depth: usize) -> Step {
        let most = MOST_TURNS + self.rng.below(3) as i64 - 1;
        let is_long = self.n_repeats == 0 && self.rng.sixteenths(3);
        let count = match self.rng.sixteenths(2) {
            _ if is_long => self.constant(most),
            true => self.int(2),
            false => self.small(2),
        };
        let mut types = self.types();
        if is_long {
            types.insert(0, Type::Int);
        }
        let firsts: Vec<_> = types.iter().map(|ty| self.kept(*ty)).collect();
        let mark = self.mark();
        let (name, turn) = (self.name(), self.given(Expr::Turn, Type::Int));
        self.scope.ints.push(turn);
        let mut inners = Vec::new();
        for ty in &types {
            let inner = self.given(Expr::Turn, *ty);
            self.keep(inner, *ty);
            inners.push(inner);
        }
        self.n_repeats += 1;
        let n_steps = self.rng.below(4);
        let steps = self.steps(n_steps, depth);
        self.n_repeats -= 1;
        let mut nexts: Vec<_> = types.iter().map(|ty| self.value(*ty, 3)).collect();
        if is_long {
            // It tells how many turns there have been.
            nexts[0] = self.add(Expr::Arith(Arith::Sub, inners[0], turn));
        }
        self.forget(mark);
        let mut carried = Vec::new();
        for (i, ty) in types.into_iter().enumerate() {
            let (name, outer) = (self.name(), self.given(Expr::Yield, ty));
            self.keep(outer, ty);
            let (inner, first, next) = (inners[i], firsts[i], nexts[i]);
            carried.push(Carried { name, inner, first, next, outer });
        }
        Step::Repeat(Repeat { count, turn, name, steps, carried })
    }

    /// The types of what leaves a step.
    fn types(&mut self) -> Vec<Type> {
        (0..self.rng.below(3))
            .map(|_| self.rng.pick(&[Type::Int, Type::Bool, Type::Text]))
            .collect()
    }

    /// A fault that shows these integers.
    pub fn fault(&mut self, values: &[Value]) -> Fault {
        let mut parts = vec![Part::Text(format!("check {} ", self.plan.exprs.len()))];
        for value in values {
            parts.push(Part::Text(self.rng.pick(&TEXTS).to_string()));
            parts.push(Part::Value(*value, self.rng.pick(&FORMATS)));
        }
        Fault { name: "rule", kind: self.rng.pick(&KINDS), parts }
    }
}
