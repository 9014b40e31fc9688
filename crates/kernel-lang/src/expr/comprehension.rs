// SPDX-License-Identifier: Apache-2.0
//! `[e for x in xs if c]`: tuples that are made while compiling.

use crate::elaborate::Elaborator;
use crate::number::Condition;
use crate::python::tree::{Comprehension, ComprehensionLoop};
use crate::value::Elaborated;

/// The most loops of one comprehension.
const MOST_LOOPS: usize = 8;

impl Elaborator<'_> {
    pub(super) fn comprehension(&mut self, made: &Comprehension) -> Elaborated {
        if made.loops.len() > MOST_LOOPS {
            let message = format!("a comprehension of more than {MOST_LOOPS} loops");
            let span = made.element.span;
            return self.mistake("too-deep", span, message, "write a function for the inner ones");
        }
        // Its names are its own.
        let (module, outer) = (self.scopes.module(), self.scopes.frame_id());
        let frame = self.scopes.open(module, Some(outer));
        let current = std::mem::replace(&mut self.scopes.activation().frame, frame);
        let mut items = Vec::new();
        let is_made = self.comprehend(made, &made.loops, &mut items);
        self.scopes.activation().frame = current;
        if is_made { Elaborated::tuple(items) } else { Elaborated::Poison }
    }

    fn comprehend(
        &mut self,
        made: &Comprehension,
        loops: &[ComprehensionLoop],
        items: &mut Vec<Elaborated>,
    ) -> bool {
        let Some((one, inner)) = loops.split_first() else {
            items.push(self.expr(&made.element));
            return true;
        };
        let iter = self.expr(&one.iter);
        let Some(turns) = self.turns(&iter, one) else { return false };
        for turn in turns {
            self.budget.count(1);
            if self.is_too_large(one.target.span) {
                return false;
            }
            self.assign_turn(&one.target, turn);
            let mut holds = true;
            for condition in &one.conditions {
                let value = self.expr(condition);
                match self.read_condition(&value, condition.span) {
                    Some(Condition::Constant(truth)) => holds &= truth,
                    Some(Condition::Typed(_)) => {
                        let message = "a comprehension is made while compiling";
                        let help = "write a loop, with an `if` in it";
                        self.mistake("constexpr", condition.span, message, help);
                        return false;
                    }
                    None => return false,
                }
            }
            if holds && !self.comprehend(made, inner, items) {
                return false;
            }
        }
        true
    }

    /// The turns of a comprehension.
    fn turns(
        &mut self,
        iter: &Elaborated,
        one: &ComprehensionLoop,
    ) -> Option<Box<dyn Iterator<Item = Elaborated>>> {
        match iter {
            Elaborated::Tuple(tuple) => Some(Box::new(tuple.items.clone().into_iter())),
            Elaborated::Range(range) => {
                let ints = [&range.first, &range.end, &range.step].map(Elaborated::as_int);
                let [Some(first), Some(end), Some(step)] = ints else {
                    let message = "a comprehension is made while compiling";
                    let help = "let its range have constant bounds";
                    self.mistake("constexpr", one.iter.span, message, help);
                    return None;
                };
                Some(Box::new(self.constant_turns([first, end, step], one.iter.span)?))
            }
            Elaborated::Poison => None,
            other => {
                self.not_a_tuple(other, one.iter.span);
                None
            }
        }
    }
}
