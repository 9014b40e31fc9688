// SPDX-License-Identifier: Apache-2.0
//! The rules of steps: which values exist where.

use super::{Findings, MAX_DEPTH, MAX_REPEATS, Verified, VerifyError, error, require};
use crate::plan::{AskBlocks, Device, DeviceFact, Expr, Plan, Repeat, Step, Type, Value, When};

/// The values that may be used at a place of the plan.
pub struct Scope<'p> {
    plan: &'p Plan,
    findings: Findings,
    /// The values that have been found to be usable here: what steps define, and what has been made
    /// of that.
    is_usable: Vec<bool>,
    /// The order in which they were.
    trail: Vec<Value>,
    /// The values that some step has defined, here or elsewhere.
    is_defined: Vec<bool>,
    depth: usize,
    n_repeats: usize,
    asks_device: bool,
}

impl<'p> Scope<'p> {
    /// Where the plan starts.
    pub fn new(plan: &'p Plan, findings: Findings) -> Scope<'p> {
        let none = vec![false; plan.exprs.len()];
        Scope {
            plan,
            findings,
            is_usable: none.clone(),
            trail: vec![],
            is_defined: none,
            depth: 0,
            n_repeats: 0,
            asks_device: false,
        }
    }

    /// Checks steps, one after the other.
    pub fn block(&mut self, steps: &[Step]) -> Verified {
        steps.iter().try_for_each(|step| match step {
            Step::Let(_, value) => self.uses(*value).map(|_| ()),
            Step::Require(cond, fault) => {
                self.uses_as(*cond, Type::Bool)?;
                fault.shown().try_for_each(|(value, ty)| self.uses_as(value, ty))?;
                super::fault(*cond, fault)
            }
            Step::When(when) => self.when(when),
            Step::Repeat(repeat) => self.repeat(repeat),
            Step::AskDevice => self.ask_device(),
            Step::AskBlocks(asked) => self.ask_blocks(asked),
        })
    }

    fn when(&mut self, when: &When) -> Verified {
        self.uses_as(when.cond, Type::Bool)?;
        when.yields.iter().try_for_each(|yielded| self.uses(yielded.otherwise).map(|_| ()))?;
        self.inside(when.cond, |scope| {
            scope.block(&when.steps)?;
            when.yields.iter().try_for_each(|yielded| {
                let ty = scope.type_of(yielded.otherwise);
                scope.uses_as(yielded.inner, ty)
            })
        })?;
        when.yields.iter().try_for_each(|yielded| {
            self.define(yielded.outer, self.type_of(yielded.otherwise), is_yield)
        })
    }

    fn repeat(&mut self, repeat: &Repeat) -> Verified {
        self.uses_as(repeat.count, Type::Int)?;
        repeat.carried.iter().try_for_each(|carried| self.uses(carried.first).map(|_| ()))?;
        self.n_repeats += 1;
        if self.n_repeats > MAX_REPEATS {
            return Err(error(repeat.count, "repeats what repeats too often"));
        }
        self.inside(repeat.count, |scope| {
            scope.define(repeat.turn, Type::Int, is_turn)?;
            for carried in &repeat.carried {
                scope.define(carried.inner, scope.type_of(carried.first), is_turn)?;
            }
            scope.block(&repeat.steps)?;
            repeat.carried.iter().try_for_each(|carried| {
                let ty = scope.type_of(carried.first);
                scope.uses_as(carried.next, ty)
            })
        })?;
        self.n_repeats -= 1;
        repeat.carried.iter().try_for_each(|carried| {
            self.define(carried.outer, self.type_of(carried.first), is_yield)
        })
    }

    /// Checks a block of its own: what is defined there is not usable behind it.
    fn inside(&mut self, of: Value, check: impl FnOnce(&mut Self) -> Verified) -> Verified {
        let mark = self.trail.len();
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return Err(error(of, "stands too deep in other steps"));
        }
        check(self)?;
        self.depth -= 1;
        for value in self.trail.drain(mark..) {
            self.is_usable[value.0 as usize] = false;
        }
        Ok(())
    }

    fn ask_device(&mut self) -> Verified {
        self.device()?;
        let place = || "the device".to_string();
        require(self.depth == 0, place, "is asked about under a condition")?;
        require(!self.asks_device, place, "is asked about twice")?;
        self.asks_device = true;
        let is_device = |expr: &Expr| *expr == Expr::Device;
        for number in (0..).zip(&self.plan.exprs).filter(|(_, it)| is_device(it)).map(|it| it.0) {
            self.is_usable[number as usize] = true;
        }
        Ok(())
    }

    fn ask_blocks(&mut self, asked: &AskBlocks) -> Verified {
        let place = || format!("launch {}", asked.launch);
        require(self.asks_device, place, "is asked about before the device is")?;
        require(self.depth == 0, place, "is asked about under a condition")?;
        let mut launches = self.plan.launches.iter().filter(|launch| launch.grid().is_some());
        let is_there = launches.any(|launch| launch.index == asked.launch);
        require(is_there, place, "is asked about, and none on a GPU")?;
        self.plan.combinations.index.map_or(Ok(()), |index| self.uses_as(index, Type::Int))?;
        asked.cond.into_iter().try_for_each(|cond| self.uses_as(cond, Type::Bool))?;
        let mut numbers = asked.block.into_iter().chain([asked.shared]);
        numbers.try_for_each(|number| self.uses_as(number, Type::Int))?;
        self.define(asked.answer, Type::Int, is_answer)
    }

    /// A step that tells the call's device.
    pub fn device(&mut self) -> Verified {
        let Device { kind, index, is_told } = self.plan.device;
        self.uses_as(kind, Type::Int)?;
        self.uses_as(index, Type::Int)?;
        self.uses_as(is_told, Type::Bool)
    }

    /// A value that a step defines, of a type, by an expression made for it.
    fn define(&mut self, value: Value, ty: Type, is_made_for_it: fn(&Expr) -> bool) -> Verified {
        self.claim(value, ty, is_made_for_it)?;
        self.mark(value);
        Ok(())
    }

    /// The status of a host function, which no step may use.
    pub fn status(&mut self, value: Value) -> Verified {
        self.claim(value, Type::Int, is_yield)
    }

    fn claim(&mut self, value: Value, ty: Type, is_made_for_it: fn(&Expr) -> bool) -> Verified {
        self.exists(value)?;
        if !is_made_for_it(self.plan.expr(value)) || self.type_of(value) != ty {
            return Err(error(value, "is no expression for what is defined by it, of its type"));
        }
        match std::mem::replace(&mut self.is_defined[value.0 as usize], true) {
            true => Err(error(value, "is defined twice")),
            false => Ok(()),
        }
    }

    /// A value that is used here, as that type.
    pub fn uses_as(&mut self, value: Value, ty: Type) -> Verified {
        match self.uses(value)? == ty {
            true => Ok(()),
            false => Err(error(value, "is used as another type than it has")),
        }
    }

    /// The type of a value that is used here, with all that it is made of.
    fn uses(&mut self, value: Value) -> Result<Type, VerifyError> {
        self.exists(value)?;
        if self.findings.is_address[value.0 as usize] {
            return Err(error(value, "is an address, and used by a step"));
        }
        let mut open = vec![value];
        while let Some(value) = open.pop() {
            if self.is_usable[value.0 as usize] {
                continue;
            }
            let expr = self.plan.expr(value);
            let is_made = matches!(expr, Expr::Yield(..) | Expr::Turn(..) | Expr::Device);
            if is_made || self.is_answer(value) {
                return Err(error(value, "is used where no step has defined it"));
            }
            self.mark(value);
            open.extend(expr.operands());
        }
        Ok(self.type_of(value))
    }

    /// Whether a value is an answer about a launch.
    fn is_answer(&self, value: Value) -> bool {
        match self.plan.expr(value) {
            Expr::Element(base, _) => {
                *self.plan.expr(*base) == Expr::Device && is_answer(self.plan.expr(value))
            }
            _ => false,
        }
    }

    fn exists(&self, value: Value) -> Verified {
        match (value.0 as usize) < self.plan.exprs.len() {
            true => Ok(()),
            false => Err(error(value, "does not exist")),
        }
    }

    fn mark(&mut self, value: Value) {
        self.is_usable[value.0 as usize] = true;
        self.trail.push(value);
    }

    fn type_of(&self, value: Value) -> Type {
        self.findings.types[value.0 as usize]
    }
}

fn is_yield(expr: &Expr) -> bool {
    matches!(expr, Expr::Yield(..))
}

/// Of elements of the device.
fn is_answer(expr: &Expr) -> bool {
    matches!(expr, Expr::Element(_, index) if *index as usize >= DeviceFact::ALL.len())
}

fn is_turn(expr: &Expr) -> bool {
    matches!(expr, Expr::Turn(..))
}
