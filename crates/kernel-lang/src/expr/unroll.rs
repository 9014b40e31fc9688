// SPDX-License-Identifier: Apache-2.0
//! Loops that are unrolled while a kernel is compiled: what comprehensions go over, and the names
//! of turns.

use crate::elaborate::Elaborator;
use crate::names::FrameId;
use crate::number::Condition;
use crate::python::tree::Expr;
use crate::python::walk;
use crate::scope::{Binding, Lost, Variable};
use crate::unroll::{Items, Unroll, counted};
use crate::value::Elaborated;
use kernpack_syntax::Span;

impl Unroll for Elaborator<'_> {
    type Names = FrameId;

    fn of_items(&self, items: Vec<Elaborated>) -> Elaborated {
        Elaborated::tuple(items)
    }

    fn turns_of(&mut self, iter: &Elaborated, span: Span) -> Option<Items<Elaborated>> {
        match iter {
            Elaborated::Tuple(tuple) => Some(Box::new(tuple.items.clone().into_iter())),
            Elaborated::Range(range) => {
                let ints = [&range.first, &range.end, &range.step].map(Elaborated::as_int);
                let [Some(first), Some(end), Some(step)] = ints else {
                    let message = "a comprehension is made while compiling";
                    let help = "let its range have constant bounds";
                    self.mistake("constexpr", span, message, help);
                    return None;
                };
                let turns = counted(self, [first, end, step], span)?;
                Some(Box::new(turns.map(|index| Elaborated::Int(index.into()))))
            }
            Elaborated::Poison => None,
            other => {
                self.not_a_tuple(other, span);
                None
            }
        }
    }

    fn begin_turn(&mut self, span: Span) -> bool {
        self.budget.count(1);
        !self.is_too_large(span)
    }

    /// They are new in each turn: a type that one had before, in the turn before or in front of the
    /// loop, is not kept.
    fn assign_turn(&mut self, target: &Expr, item: Elaborated) {
        let mut names = Vec::new();
        walk::target_names(target, &mut names);
        for name in names {
            if self.scopes.own(&name).is_some() {
                let binding = Binding::Lost(Lost::Index);
                let variable = Variable { binding, scalar: None, span: target.span };
                self.scopes.bind_here(&name, variable);
            }
        }
        self.assign_to(target, item, target.span);
    }

    fn known_condition(&mut self, condition: &Expr) -> Option<bool> {
        let value = self.expr(condition);
        match self.read_condition(&value, condition.span)? {
            Condition::Constant(truth) => Some(truth),
            Condition::Typed(_) => {
                let message = "a comprehension is made while compiling";
                let help = "write a loop, with an `if` in it";
                self.mistake("constexpr", condition.span, message, help);
                None
            }
        }
    }

    fn open_names(&mut self) -> FrameId {
        let (module, outer) = (self.scopes.module(), self.scopes.frame_id());
        let frame = self.scopes.open(module, Some(outer));
        std::mem::replace(&mut self.scopes.activation().frame, frame)
    }

    fn close_names(&mut self, names: FrameId) {
        self.scopes.activation().frame = names;
    }
}
