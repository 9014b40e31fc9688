// SPDX-License-Identifier: Apache-2.0
//! Loops: in the kernel, or unrolled while compiling.
//!
//! Names that a loop of the kernel's assigns, and that were there before, are in slots before it
//! begins, as a turn may read what the turn before has written.

use super::Flow;
use crate::elaborate::Elaborator;
use crate::guard::Guard;
use crate::inline::{Control, Held, Turn};
use crate::number::Condition;
use crate::python::assigner::Head;
use crate::python::tree::{Block, Expr, Name};
use crate::python::walk;
use crate::scope::{Binding, Key, Lost, Variable};
use crate::unroll::{Unroll, counted};
use crate::value::{Elaborated, Range};
use kernpack_kernel_ir::kernel;
use kernpack_kernel_ir::op::{Binary, OpKind};
use kernpack_kernel_ir::{Const, Scalar};
use kernpack_layout::{Facts, gcd};
use kernpack_syntax::Span;

/// The bounds of a loop of the kernel's.
struct Bounds {
    first: kernel::Value,
    end: kernel::Value,
    step: kernel::Value,
    /// Where the loop counts down: where it begins, and by how much.
    down: Option<(kernel::Value, i64)>,
}

impl Elaborator<'_> {
    /// `for target in iter:`
    pub(super) fn for_loop(
        &mut self,
        target: &Expr,
        iter: &Expr,
        body: &Block,
        span: Span,
    ) -> Flow {
        match self.expr(iter) {
            Elaborated::Range(range) if range.is_constant => {
                self.unroll_range(target, &range, body, iter)
            }
            Elaborated::Range(range) => match self.bounds(&range, iter.span) {
                Some(bounds) => self.typed_loop(target, &bounds, body),
                None => self.poisoned_loop(target, body),
            },
            Elaborated::Tuple(tuple) => {
                self.unroll(target, &mut tuple.items.iter().cloned(), body, span)
            }
            Elaborated::Poison => self.poisoned_loop(target, body),
            other => {
                let message = format!("a loop over {}", self.emit.describe(&other));
                let help = "write `range(n)`, or `kp.range_constexpr(n)` to unroll";
                self.mistake("loop", iter.span, message, help);
                self.poisoned_loop(target, body)
            }
        }
    }

    /// A loop of which a mistake was reported: its body may have others.
    fn poisoned_loop(&mut self, target: &Expr, body: &Block) -> Flow {
        self.assign_to(target, Elaborated::Poison, target.span);
        let mark = self.scopes.mark();
        let (_, _) = self.in_region(&[], |cx| {
            cx.begin_turns(vec![]);
            cx.loop_body(body)
        });
        for (key, variable) in self.scopes.undo(mark) {
            let binding = Binding::Lost(Lost::Poison);
            self.scopes.bind(&key, Variable { binding, ..variable });
        }
        self.poison_assigned(body, target.span);
        Flow::Next
    }

    /// Has nothing said of what a block assigns.
    fn poison_assigned(&mut self, body: &Block, span: Span) {
        for name in walk::assigned(body) {
            let (binding, scalar) = (Binding::Lost(Lost::Poison), None);
            self.scopes.bind_here(&name, Variable { binding, scalar, span });
        }
    }

    fn unroll_range(&mut self, target: &Expr, range: &Range, body: &Block, iter: &Expr) -> Flow {
        let ints = [&range.first, &range.end, &range.step].map(Elaborated::as_int);
        let [Some(first), Some(end), Some(step)] = ints else {
            return self.poisoned_loop(target, body);
        };
        match counted(self, [first, end, step], iter.span) {
            Some(turns) => {
                let mut turns = turns.map(|index| Elaborated::Int(index.into()));
                self.unroll(target, &mut turns, body, iter.span)
            }
            None => self.poisoned_loop(target, body),
        }
    }

    fn unroll(
        &mut self,
        target: &Expr,
        turns: &mut dyn Iterator<Item = Elaborated>,
        body: &Block,
        span: Span,
    ) -> Flow {
        self.scopes.activation().controls.push(Control::Unrolled(span));
        let before = self.names_before(target);
        let mut flow = Flow::Next;
        for item in turns {
            if !self.begin_turn(span) {
                break;
            }
            let n_repeated = self.n_repeated();
            self.assign_turn(target, item);
            match self.block(body) {
                Flow::Next | Flow::Continue => {}
                Flow::Break => break,
                other @ (Flow::Ended | Flow::Return(_)) => {
                    flow = other;
                    break;
                }
            }
            // Further turns would have nothing new to tell, and there may be millions.
            if self.n_repeated() > n_repeated {
                self.poison_assigned(body, target.span);
                break;
            }
        }
        self.scopes.activation().controls.pop();
        for (name, scalar) in before {
            self.end_index(&name, scalar);
        }
        flow
    }

    /// The names of a target that have a type already, with that.
    fn names_before(&mut self, target: &Expr) -> Vec<(Name, Scalar)> {
        let mut names = Vec::new();
        walk::target_names(target, &mut names);
        let typed = names.into_iter().filter_map(|name| {
            let scalar = self.scopes.own(&name)?.scalar?;
            Some((name, scalar))
        });
        typed.collect()
    }

    /// The end of an unrolled loop, for a name that had a type before: where it has another one
    /// now, it was the loop's index alone.
    fn end_index(&mut self, name: &Name, before: Scalar) {
        let Some(variable) = self.scopes.own(name).cloned() else { return };
        if variable.scalar.is_some_and(|now| now != before) {
            let binding = Binding::Lost(Lost::Index);
            self.scopes.bind_here(name, Variable { binding, scalar: Some(before), ..variable });
        }
    }

    /// The bounds of a range as `int64` of the kernel.
    fn bounds(&mut self, range: &Range, span: Span) -> Option<Bounds> {
        let first = self.read_index(&range.first, span)?;
        let end = self.read_index(&range.end, span)?;
        let step = self.read_index(&range.step, span)?;
        let facts = self.emit.facts_of_value(step);
        match self.emit.b.known_int(step) {
            Some(by) if by < 0 => {
                let Some(up) = by.checked_neg() else {
                    let message = format!("a step of {by}, whose opposite is no int64");
                    self.mistake("loop", span, message, "count by a smaller number");
                    return None;
                };
                // It counts up to how many turns there are, and the index goes down.
                let distance = self.emit.compute_binary(Binary::Sub, first, end);
                let by_value = self.emit.b.index(up);
                let turns = self.emit.ceil_div_value(distance, by_value);
                let (zero, one) = (self.emit.b.index(0), self.emit.b.index(1));
                Some(Bounds { first: zero, end: turns, step: one, down: Some((first, by)) })
            }
            _ if facts.min >= 1 => Some(Bounds { first, end, step, down: None }),
            known => {
                let (message, help) = match known {
                    Some(_) => ("a step of 0", "count by another number"),
                    None => (
                        "the step is not known to be positive",
                        "count by a constant, or say in the signature that it is at least 1",
                    ),
                };
                self.mistake("loop", span, message, help);
                None
            }
        }
    }

    fn typed_loop(&mut self, target: &Expr, bounds: &Bounds, body: &Block) -> Flow {
        let mut targets = Vec::new();
        walk::target_names(target, &mut targets);
        let held = self.prepare_loop(Head::For(target), body, &targets);
        let index = self.emit.b.loop_index(Scalar::I64.into());
        let facts =
            [bounds.first, bounds.end, bounds.step].map(|one| self.emit.facts_of_value(one));
        let last = facts[1].max.saturating_sub(1).max(facts[0].min);
        let divisor = gcd(facts[0].divisor, facts[2].divisor).max(1);
        self.emit.know(index, Facts { divisor, min: facts[0].min, max: last });
        let mark = self.scopes.mark();
        self.emit.b.open();
        let shown = match bounds.down {
            None => index,
            Some((from, by)) => {
                let by = self.emit.b.index(by);
                let moved = self.emit.compute_binary(Binary::Mul, index, by);
                self.emit.compute_binary(Binary::Add, from, moved)
            }
        };
        for name in &targets {
            // A slot of that name is of another loop.
            let lost = Binding::Lost(Lost::Index);
            let variable = Variable { binding: lost, scalar: None, span: target.span };
            self.scopes.bind_here(name, variable);
        }
        self.begin_turns(held);
        self.assign_to(target, Elaborated::Typed(shown), target.span);
        // A loop that no thread turns may be there for other launches.
        let is_unreached = facts[1].max <= facts[0].min;
        let guards = if is_unreached { &[Guard::Unreached][..] } else { &[] };
        let held = self.with_guards(guards, |cx| cx.loop_body(body));
        let region = self.emit.b.close();
        let bound = self.scopes.undo(mark);
        self.emit.b.effect(OpKind::For {
            index,
            first: bounds.first,
            end: bounds.end,
            step: bounds.step,
            body: region,
        });
        self.finish_loop(bound, held, &targets);
        self.leave_outer_loop();
        Flow::Next
    }

    /// Begins the turns of a loop, whose names are those of the innermost branch.
    fn begin_turns(&mut self, held: Vec<Held>) {
        let branch = self.scopes.branch();
        self.scopes.activation().turns.push(Turn { branch, held });
    }

    /// The body of a loop, and the end of its turns. Gives what became of the names that no slot
    /// holds where one is left.
    fn loop_body(&mut self, body: &Block) -> Vec<Held> {
        self.scopes.activation().controls.push(Control::Loop);
        self.block(body);
        self.scopes.activation().controls.pop();
        self.scopes.activation().turns.pop().map_or_else(Vec::new, |turn| turn.held)
    }

    /// A turn of the innermost loop ends here, before its body does.
    pub(super) fn leaves_early(&mut self) {
        let Some(mut turn) = self.scopes.activation().turns.pop() else { return };
        for one in &mut turn.held {
            let now = self.scopes.bound_in(&one.key, turn.branch).cloned();
            one.is_left_changed |= now.is_some_and(|now| !self.is_unchanged(&one.before, &now));
        }
        self.scopes.activation().turns.push(turn);
    }

    /// `while test:`
    pub(super) fn while_loop(&mut self, test: &Expr, body: &Block) -> Flow {
        let held = self.prepare_loop(Head::While(test), body, &[]);
        let mark = self.scopes.mark();
        self.emit.b.open();
        self.begin_turns(held);
        let value = self.expr(test);
        let guards = self.guards_of(test, &value);
        let condition = match self.read_condition(&value, test.span) {
            Some(Condition::Constant(truth)) => self.emit.b.constant(Const::bool(truth)),
            Some(Condition::Typed(condition)) => condition,
            None => self.emit.b.constant(Const::bool(false)),
        };
        let before = self.emit.b.close();
        self.emit.b.open();
        let held = self.with_guards(&guards.0, |cx| cx.loop_body(body));
        let region = self.emit.b.close();
        let bound = self.scopes.undo(mark);
        self.emit.b.effect(OpKind::While { before, condition, body: region });
        self.finish_loop(bound, held, &[]);
        self.leave_outer_loop();
        Flow::Next
    }

    /// Makes ready for a loop the names that it assigns, and fields that it may assign. Gives those
    /// that no slot can hold.
    fn prepare_loop(&mut self, head: Head<'_>, body: &Block, targets: &[Name]) -> Vec<Held> {
        let inner = walk::loop_targets(body);
        let assigned = walk::assigned(body).into_iter().filter(|name| !targets.contains(name));
        let names: Vec<_> = assigned.map(|name| self.scopes.key(&name)).collect();
        let mut held = Vec::new();
        for key in names {
            let is_index = inner.contains(&key.name);
            held.extend(self.prepare_name(key, is_index));
        }
        self.prepare_fields(head, body);
        held
    }

    /// Puts into slots what a name stands for. Gives it where no slot can hold that.
    fn prepare_name(&mut self, key: Key, is_index: bool) -> Option<Held> {
        let before = self.scopes.get(&key).cloned()?;
        let Binding::Value(value) = &before.binding else { return None };
        if !is_index && self.put_in_slots(&key, &before, value) {
            return None;
        }
        let lost = if is_index { Lost::Index } else { Lost::Changes };
        self.scopes.bind(&key, Variable { binding: Binding::Lost(lost), ..before });
        Some(Held { key, before, lost, is_left_changed: false })
    }

    /// Puts into slots the fields that statements may assign. One that no slot holds stays what it
    /// is: assigning it is a mistake, where that is done.
    pub fn prepare_fields(&mut self, head: Head<'_>, body: &Block) {
        let mut fields = self.scopes.fields();
        if fields.is_empty() {
            return;
        }
        let assigned = self.files.assigned_fields(head, body);
        fields.retain(|key| assigned.contains(&key.name) && !self.scopes.is_constexpr(key));
        for key in fields {
            let Some(before) = self.scopes.get(&key).cloned() else { continue };
            if let Binding::Value(value) = &before.binding {
                self.put_in_slots(&key, &before, value);
            }
        }
    }

    /// Has slots hold the value of a name. Gives whether there are such.
    fn put_in_slots(&mut self, key: &Key, before: &Variable, value: &Elaborated) -> bool {
        let Some(stored) = self.emit.promote(&key.name, value) else { return false };
        let binding = match self.fits_in(&stored, value, before.span) {
            true => {
                self.emit.store_into(&stored, value);
                Binding::Stored(stored)
            }
            false => Binding::Lost(Lost::Poison),
        };
        self.scopes.bind(key, Variable { binding, ..*before });
        true
    }

    /// Gives names their values behind a loop.
    fn finish_loop(&mut self, bound: crate::scope::Bound, held: Vec<Held>, targets: &[Name]) {
        let here = self.scopes.frame_id();
        for (key, variable) in bound {
            let was = held.iter().find(|one| one.key == key);
            let binding = match was {
                // Whatever happened, it is what it was.
                Some(Held { before, is_left_changed: false, .. })
                    if self.is_unchanged(before, &variable) =>
                {
                    before.binding.clone()
                }
                _ if key.frame == here && targets.contains(&key.name) => Binding::Lost(Lost::Index),
                Some(one) => Binding::Lost(one.lost),
                None => match variable.binding {
                    Binding::Lost(Lost::Poison) => Binding::Lost(Lost::Poison),
                    _ => Binding::Lost(Lost::Loop),
                },
            };
            let scalar = was.and_then(|one| one.before.scalar);
            self.scopes.bind(&key, Variable { binding, scalar, span: variable.span });
        }
    }

    fn is_unchanged(&self, before: &Variable, after: &Variable) -> bool {
        match (&before.binding, &after.binding) {
            (Binding::Value(a), Binding::Value(b)) => self.emit.is_same(a, b),
            _ => false,
        }
    }
}
