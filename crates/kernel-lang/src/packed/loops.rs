// SPDX-License-Identifier: Apache-2.0
//! Loops of packed functions, which are gone through while the package is built: their turns, and
//! how a turn is left. Where ways part in a turn, each goes through the others.
//!
//! What a loop may go over is in `unroll.rs` of the crate, for kernels too.

use super::body::{End, Rest, State, Walk};
use super::expression::Evaluator;
use super::value::Evaluated;
use crate::budget::DEPTH_OF_CALL;
use crate::names::FrameId;
use crate::python::tree::{Block, Expr};
use crate::unroll::{Items, Unroll, counted};
use kernpack_syntax::{Diagnostic, Span};
use std::collections::HashMap;

/// The turns of a loop that are still to be gone through.
#[derive(Clone, Copy)]
pub(super) struct Turns<'b> {
    target: &'b Expr,
    body: &'b Block,
    /// The items that it goes over in these.
    items: &'b [Evaluated],
}

/// How a turn is left early.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Leave {
    /// For what is behind the loop.
    Break,
    /// For the next turn.
    Continue,
}

impl Leave {
    fn word(self) -> &'static str {
        match self {
            Leave::Break => "break",
            Leave::Continue => "continue",
        }
    }
}

impl Walk<'_> {
    /// `for target in iter:`
    pub(super) fn for_loop(
        &mut self,
        state: State,
        (target, iter, body): (&Expr, &Expr, &Block),
        behind: &Rest<'_>,
    ) -> End {
        let value = self.evaluator.expr(iter);
        let Some(items) = value.and_then(|value| self.evaluator.turns(&value, iter.span)) else {
            // The body may have other mistakes.
            self.evaluator.assign_all(std::slice::from_ref(target), &Evaluated::Poison, iter.span);
            return match self.statements(state, Rest::of(body, Some(behind))) {
                End::Left(state, _) => End::Behind(state),
                end => end,
            };
        };
        if !self.evaluator.begin(DEPTH_OF_CALL, iter.span) {
            return End::Function;
        }
        let turns = Turns { target, body, items: &items };
        let end = self.turns(state, turns, Some(behind));
        self.evaluator.end(DEPTH_OF_CALL);
        end
    }

    /// Goes through the turns of a loop.
    pub(super) fn turns(
        &mut self,
        mut state: State,
        turns: Turns<'_>,
        behind: Option<&Rest<'_>>,
    ) -> End {
        let mut items = turns.items;
        while let Some((item, others)) = items.split_first() {
            items = others;
            self.evaluator.assign_turn(turns.target, item.clone());
            let next = Turns { items, ..turns };
            let next = Rest { turns: Some(next), ..Rest::of(&[], behind) };
            match self.statements(state, Rest::of(turns.body, Some(&next))) {
                End::Behind(behind) | End::Left(behind, Leave::Continue) => state = behind,
                End::Left(behind, Leave::Break) => return End::Behind(behind),
                end @ (End::Returned(_) | End::Function) => return end,
            }
        }
        End::Behind(state)
    }

    /// `break` and `continue`
    pub(super) fn leave(&mut self, state: State, how: Leave, span: Span, behind: &Rest<'_>) -> End {
        if turns_around(Some(behind)).is_some() {
            return End::Left(state, how);
        }
        let message = format!("`{}` stands in no loop", how.word());
        let problem = Diagnostic::new("loop", message).label(span, "here");
        self.evaluator.report(problem.help("remove it"));
        End::Behind(state)
    }

    /// Goes on where a turn was left.
    pub(super) fn left(&mut self, state: State, how: Leave, behind: Option<&Rest<'_>>) {
        match (turns_around(behind), how) {
            (Some(turns), Leave::Continue) => self.block(state, *turns),
            (Some(turns), Leave::Break) => self.go_on(End::Behind(state), turns.behind),
            // It was reported that this stands in no loop.
            (None, _) => {}
        }
    }
}

/// The turns of the innermost loop of the function that we are in.
fn turns_around<'b>(mut behind: Option<&'b Rest<'b>>) -> Option<&'b Rest<'b>> {
    while let Some(rest) = behind.filter(|rest| rest.caller.is_none()) {
        if rest.turns.is_some() {
            return Some(rest);
        }
        behind = rest.behind;
    }
    None
}

impl Evaluator<'_> {
    /// The items that a loop goes over, turn by turn; nothing where a mistake was reported.
    pub(super) fn turns(&mut self, iter: &Evaluated, span: Span) -> Option<Vec<Evaluated>> {
        let items = self.turns_of(iter, span)?;
        let mut all = Vec::new();
        for item in items {
            if !self.begin_turn(span) {
                return None;
            }
            all.push(item);
        }
        Some(all)
    }

    /// `range(first, end, step)`, of constants.
    pub(super) fn range(&mut self, bounds: [Evaluated; 3], span: Span) -> Option<Evaluated> {
        let mut numbers = [0; 3];
        for (number, bound) in numbers.iter_mut().zip(bounds) {
            match self.folded(bound) {
                Evaluated::Int(int) if int.as_i64().is_some() => *number = int.as_i64()?.into(),
                Evaluated::Dim(_) => {
                    let message = "how many turns this loop has depends on the call";
                    let problem = Diagnostic::new("loop", message);
                    let problem = problem.label(span, "not known while the package is built");
                    return self.report(problem.help(
                        "let the kernel loop, or make the number a constant: \
                         `n = kp.static(n, (1, 2, 4))`",
                    ));
                }
                other => return self.expected("a constant integer", &other, span),
            }
        }
        Some(Evaluated::Range(numbers))
    }
}

impl Unroll for Evaluator<'_> {
    type Names = Option<FrameId>;

    fn of_items(&self, items: Vec<Evaluated>) -> Evaluated {
        Evaluated::tuple(items)
    }

    fn turns_of(&mut self, iter: &Evaluated, span: Span) -> Option<Items<Evaluated>> {
        match iter {
            Evaluated::Tuple(items) => {
                let items: Vec<_> = items.iter().map(|(_, item)| item.clone()).collect();
                Some(Box::new(items.into_iter()))
            }
            Evaluated::Range(bounds) => {
                let turns = counted(self, *bounds, span)?;
                Some(Box::new(turns.map(|index| Evaluated::Int(index.into()))))
            }
            other => {
                self.expected("a tuple or a range", other, span);
                None
            }
        }
    }

    fn begin_turn(&mut self, span: Span) -> bool {
        self.count_steps(1, span)
    }

    fn assign_turn(&mut self, target: &Expr, item: Evaluated) {
        self.assign_all(std::slice::from_ref(target), &item, target.span);
    }

    fn known_condition(&mut self, condition: &Expr) -> Option<bool> {
        let help = "write a loop, with an `if` in it";
        self.known_truth(condition, ("which items there are depends on the call", help))
    }

    fn open_names(&mut self) -> Option<FrameId> {
        let own = self.names.open(self.names.here(), HashMap::new());
        self.names.go_to(Some(own))
    }

    fn close_names(&mut self, names: Option<FrameId>) {
        self.names.go_to(names);
    }
}
