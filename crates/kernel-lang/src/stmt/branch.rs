// SPDX-License-Identifier: Apache-2.0
//! `if`, `elif` and `else`: while compiling where the condition is constant, and in the kernel
//! where it is not.

use super::Flow;
use crate::elaborate::Elaborator;
use crate::expr::Guards;
use crate::guard::Guard;
use crate::inline::Control;
use crate::number::Condition;
use crate::python::tree::{Block, Expr, Name};
use crate::scope::{Binding, Bound, Horizon, Key, Lost, Stored, Variable};
use crate::value::Elaborated;
use kernpack_kernel_ir::kernel;
use kernpack_kernel_ir::op::Region;
use kernpack_syntax::{Diagnostic, Span};

/// A branch that was elaborated.
struct Branch {
    flow: Flow,
    bound: Bound,
    region: Region,
}

impl Branch {
    fn is_ended(&self) -> bool {
        !matches!(self.flow, Flow::Next)
    }

    fn variable(&self, key: &Key) -> Option<&Variable> {
        self.bound.iter().find(|(one, _)| one == key).map(|(_, variable)| variable)
    }
}

impl Elaborator<'_> {
    /// An `if` with its `elif` and `else`.
    pub(super) fn branches(
        &mut self,
        branches: &[(Expr, Block)],
        otherwise: &Block,
        held: &mut Vec<Guard>,
    ) -> Flow {
        let Some(((test, then), rest)) = branches.split_first() else {
            return self.block(otherwise);
        };
        if self.is_too_deep(test.span) {
            return Flow::Ended;
        }
        self.budget.enter(1);
        let flow = self.first_branch(test, then, rest, otherwise, held);
        self.budget.leave(1);
        flow
    }

    fn first_branch(
        &mut self,
        test: &Expr,
        then: &Block,
        rest: &[(Expr, Block)],
        otherwise: &Block,
        held: &mut Vec<Guard>,
    ) -> Flow {
        let value = self.expr(test);
        let guards = self.guards_of(test, &value);
        match self.read_condition(&value, test.span) {
            Some(Condition::Constant(true)) => self.block(then),
            Some(Condition::Constant(false)) => self.branches(rest, otherwise, held),
            Some(Condition::Typed(condition)) => {
                let from = self.horizon();
                let first = self.branch(&guards.0, |cx| cx.block(then));
                let second = self.branch(&guards.1, |cx| {
                    let mut held = Vec::new();
                    let flow = cx.branches(rest, otherwise, &mut held);
                    cx.guards.leave(&held);
                    flow
                });
                self.hold(&first, &second, &guards, held);
                self.join(condition, first, second, from)
            }
            None => {
                // Neither is known to run, and both may have mistakes.
                let first = self.branch(&guards.0, |cx| cx.block(then));
                let second =
                    self.branch(&guards.1, |cx| cx.branches(rest, otherwise, &mut Vec::new()));
                for (key, variable) in first.bound.into_iter().chain(second.bound) {
                    let binding = Binding::Lost(Lost::Poison);
                    self.scopes.bind(&key, Variable { binding, ..variable });
                }
                Flow::Next
            }
        }
    }

    fn branch(&mut self, guards: &[Guard], build: impl FnOnce(&mut Self) -> Flow) -> Branch {
        let mark = self.scopes.mark();
        self.scopes.activation().controls.push(Control::Branch);
        let (flow, region) = self.in_region(guards, build);
        self.scopes.activation().controls.pop();
        let bound = self.scopes.undo(mark);
        Branch { flow, bound, region }
    }

    /// Holds what is known from here on, as a branch has left where it is not so.
    fn hold(&mut self, first: &Branch, second: &Branch, guards: &Guards, held: &mut Vec<Guard>) {
        let given = match (first.is_ended(), second.is_ended()) {
            (true, false) => &guards.1,
            (false, true) => &guards.0,
            (true, true) | (false, false) => return,
        };
        self.guards.enter(given);
        held.extend(given);
    }

    /// Brings two branches together: names that they bind are joined.
    fn join(
        &mut self,
        condition: kernel::Value,
        mut first: Branch,
        mut second: Branch,
        from: Horizon,
    ) -> Flow {
        let ended = first.is_ended() && second.is_ended();
        let mut keys: Vec<Key> = Vec::new();
        for (key, _) in first.bound.iter().chain(&second.bound) {
            if !keys.contains(key) && !ended {
                keys.push(key.clone());
            }
        }
        let from_first = self.values_at_end(&keys, &mut first);
        let from_second = self.values_at_end(&keys, &mut second);
        let mut joined = Vec::new();
        for ((key, a), b) in keys.iter().zip(from_first).zip(from_second) {
            let places = [&first, &second].map(|branch| branch.variable(key).map(|one| one.span));
            joined.push(match self.join_name(&key.name, a, b, places, from) {
                one if one.is_in_slots() && self.scopes.is_constexpr(key) => {
                    Joined::lost(Lost::Changes)
                }
                one => one,
            });
        }
        for (branch, is_first) in [(&mut first, true), (&mut second, false)] {
            if branch.is_ended() {
                continue;
            }
            self.emit.b.reopen(std::mem::take(&mut branch.region));
            for one in &joined {
                let value = if is_first { &one.first } else { &one.second };
                if let (Some(value), Binding::Stored(stored)) = (value, &one.binding) {
                    self.emit.store_into(&stored.clone(), value);
                }
            }
            branch.region = self.emit.b.close();
        }
        for (key, one) in keys.iter().zip(joined) {
            let variable = first.variable(key).or(second.variable(key));
            let before = self.scopes.get(key).cloned();
            let Some(kept) = before.as_ref().or(variable) else { continue };
            let (binding, scalar) = match one.binding {
                Binding::Stored(Stored::Same(value)) => (Binding::Value(value), kept.scalar),
                Binding::Stored(Stored::One(slot)) => {
                    (Binding::Stored(Stored::One(slot)), Some(self.emit.slot_scalar(slot)))
                }
                Binding::Lost(lost) if before.is_none() => (Binding::Lost(lost), None),
                binding => (binding, kept.scalar),
            };
            let variable = Variable { binding, scalar, span: kept.span };
            self.scopes.bind(key, variable);
        }
        self.emit.b.if_else(condition, first.region, second.region);
        if ended { Flow::Ended } else { Flow::Next }
    }

    /// The values of names at the end of a branch; nothing where it does not get there.
    fn values_at_end(
        &mut self,
        keys: &[Key],
        branch: &mut Branch,
    ) -> Vec<Option<Result<Elaborated, Lost>>> {
        if branch.is_ended() {
            return vec![None; keys.len()];
        }
        self.emit.b.reopen(std::mem::take(&mut branch.region));
        let mut values = Vec::with_capacity(keys.len());
        for key in keys {
            let variable = branch.variable(key).cloned();
            let variable = variable.or_else(|| self.scopes.get(key).cloned());
            values.push(Some(match variable.map(|variable| variable.binding) {
                None => Err(Lost::Branch),
                Some(Binding::Lost(lost)) => Err(lost),
                Some(Binding::Value(value)) => Ok(value),
                Some(Binding::Stored(stored)) => Ok(self.emit.stored(&stored)),
            }));
        }
        branch.region = self.emit.b.close();
        values
    }

    fn join_name(
        &mut self,
        name: &Name,
        first: Option<Result<Elaborated, Lost>>,
        second: Option<Result<Elaborated, Lost>>,
        places: [Option<Span>; 2],
        from: Horizon,
    ) -> Joined {
        let lost = Joined::lost;
        let (first, second) = match (first, second) {
            (Some(Err(reason)), _) | (_, Some(Err(reason))) => return lost(reason),
            (first, second) => (first.and_then(Result::ok), second.and_then(Result::ok)),
        };
        // A branch that has left counts for nothing.
        let (a, b) = match (&first, &second) {
            (Some(a), Some(b)) => (a.clone(), b.clone()),
            (Some(only), None) | (None, Some(only)) => (only.clone(), only.clone()),
            (None, None) => return lost(Lost::Branch),
        };
        if !self.keeps_type(name, &a, &b, places) {
            return lost(Lost::Poison);
        }
        let stored = match self.emit.is_same(&a, &b) && !self.emit.is_visible(&a, from) {
            true => self.emit.promote(name, &a),
            false => self.emit.join_values(name, &a, &b, from),
        };
        let Some(stored) = stored else { return lost(Lost::Changes) };
        for (value, place) in [(&a, places[0]), (&b, places[1])] {
            let place = place.or(places[0]).or(places[1]).unwrap_or_default();
            if !self.fits_in(&stored, value, place) {
                return lost(Lost::Poison);
            }
        }
        Joined { binding: Binding::Stored(stored), first, second }
    }

    /// Whether a name has one type in both branches; reports where it has not.
    fn keeps_type(
        &mut self,
        name: &Name,
        a: &Elaborated,
        b: &Elaborated,
        places: [Option<Span>; 2],
    ) -> bool {
        use crate::number::Kind;
        let (Some(x), Some(y)) = (self.emit.kind(a), self.emit.kind(b)) else { return true };
        let agrees = match (x, y) {
            (Kind::Int, Kind::Of(scalar)) | (Kind::Of(scalar), Kind::Int) => {
                scalar != kernpack_kernel_ir::Scalar::Bool
            }
            (Kind::Float, Kind::Of(scalar)) | (Kind::Of(scalar), Kind::Float) => scalar.is_float(),
            _ => x.alone() == y.alone(),
        };
        if !agrees {
            let (x, y) = (x.alone(), y.alone());
            let message = format!("`{name}` is {x} in one branch and {y} in another");
            let mut problem = Diagnostic::new("first-type", message);
            for (place, scalar) in places.into_iter().zip([x, y]) {
                if let Some(place) = place {
                    problem = problem.label(place, scalar.to_string());
                }
            }
            self.report(problem.help("convert one of them to the other's type"));
        }
        agrees
    }
}

/// A name where branches meet, with what each of them brings.
struct Joined {
    binding: Binding,
    first: Option<Elaborated>,
    second: Option<Elaborated>,
}

impl Joined {
    fn lost(lost: Lost) -> Joined {
        Joined { binding: Binding::Lost(lost), first: None, second: None }
    }

    /// Whether threads find out what it is.
    fn is_in_slots(&self) -> bool {
        !matches!(self.binding, Binding::Lost(_) | Binding::Stored(Stored::Same(_)))
    }
}
