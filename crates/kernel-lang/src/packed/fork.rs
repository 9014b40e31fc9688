// SPDX-License-Identifier: Apache-2.0
//! Where ways through a packed function part: at an `if` whose condition each call answers. Each
//! side is gone through from the same names and facts, and with what is known there.
//!
//! Not here: conditions themselves, and what a way is.

use super::body::{End, Rest, State, Walk};
use super::call::Scope;
use super::closure::Names;
use super::expression::Evaluator;
use super::facts::CallFacts;
use super::max_blocks;
use super::value::Evaluated;
use crate::python::tree::{Block, Expr, StmtKind};
use crate::python::walk;
use kernpack_syntax::Diagnostic;
use kernpack_validators::expr::Name;
use kernpack_validators::{Branch, Rule};

/// The most ways through a function that are gone.
const MOST_WAYS: usize = 64;

/// Where ways part, for each of them to begin there.
pub(super) struct Place {
    scope: Scope,
    names: Names,
    facts: CallFacts,
}

impl Place {
    /// The facts on a side that begins there.
    pub fn facts_on(&self, branch: &Branch) -> CallFacts {
        self.facts.on_side(branch)
    }
}

/// An `if` whose condition each call answers.
struct Fork<'b> {
    /// The condition; nothing where it is no good.
    rule: Option<Rule>,
    then: &'b Block,
    others: &'b [(Expr, Block)],
    otherwise: &'b Block,
}

impl Fork<'_> {
    /// The one side, or the other.
    fn branch(&self, holds: bool) -> Option<Branch> {
        self.rule.clone().map(|rule| Branch { rule, holds })
    }

    /// The facts on one side.
    fn known(&self, facts: &CallFacts, holds: bool) -> CallFacts {
        self.branch(holds).map_or_else(|| facts.clone(), |branch| facts.on_side(&branch))
    }

    /// Whether what comes behind is the same for all sides.
    fn meets(&self) -> bool {
        let others = self.others.iter().map(|(_, block)| block);
        let mut blocks = [self.then, self.otherwise].into_iter().chain(others);
        blocks.all(|block| walk::assigned(block).is_empty() && !leaves(block, true))
    }
}

impl Walk<'_> {
    /// `if`, `elif` and `else`.
    pub(super) fn ifs(
        &mut self,
        state: State,
        sides: &[(Expr, Block)],
        otherwise: &Block,
        behind: &Rest<'_>,
    ) -> End {
        let Some((test, _)) = sides.first() else { return self.side(state, otherwise, behind) };
        if !self.evaluator.begin(1, test.span) {
            return End::Function;
        }
        let end = self.first_if(state, sides, otherwise, behind);
        self.evaluator.end(1);
        end
    }

    fn first_if(
        &mut self,
        state: State,
        sides: &[(Expr, Block)],
        otherwise: &Block,
        behind: &Rest<'_>,
    ) -> End {
        let Some(((test, then), others)) = sides.split_first() else {
            return self.side(state, otherwise, behind);
        };
        let rule = match self.evaluator.truth(test) {
            Some(Evaluated::Bool(true)) => return self.side(state, then, behind),
            Some(Evaluated::Bool(false)) => return self.ifs(state, others, otherwise, behind),
            Some(Evaluated::Rule(rule)) => {
                let is_late = |name: &Name| max_blocks::is_name(&name.text);
                if rule.names().iter().any(is_late) {
                    self.evaluator.report(max_blocks::known_late().label(test.span, "asked here"));
                }
                Some(rule)
            }
            // What is wrong with it was reported, and the sides are looked at all the same.
            _ => None,
        };
        self.fork(&state, &Fork { rule, then, others, otherwise }, behind)
    }

    /// Goes through the whole function twice: where a rule holds, and where it does not.
    pub(super) fn twice(&mut self, rule: Rule, body: &Block) {
        let fork = Fork { rule: Some(rule), then: body, others: &[], otherwise: body };
        let (before, progress) = (self.place(), self.evaluator.progress.clone());
        for holds in self.possible_sides(&fork) {
            self.begin_at(&before, fork.known(&before.facts, holds));
            // Each side may go as far as the function that somebody has written.
            (self.n_ways, self.evaluator.progress) = (1, progress.clone());
            let own = State::default().on_side(fork.branch(holds));
            self.block(own, Rest::of(body, None));
        }
    }

    /// Goes through both sides of an `if`, from the same names and facts.
    fn fork(&mut self, state: &State, fork: &Fork<'_>, behind: &Rest<'_>) -> End {
        let sides = self.possible_sides(fork);
        let meet = fork.meets();
        if !meet && sides.len() > 1 && !self.begin_way() {
            return End::Function;
        }
        let before = self.place();
        let mut ends = Vec::new();
        for holds in sides {
            self.begin_at(&before, fork.known(&before.facts, holds));
            let own = state.on_side(fork.branch(holds));
            match meet {
                true => ends.extend(self.run_to_meeting(own, fork, holds)),
                false => self.run_to_end(own, fork, holds, behind),
            }
        }
        self.go_back(*before);
        match State::met(ends, &state.branches) {
            Some(joined) => End::Behind(joined),
            None => End::Function,
        }
    }

    /// The sides that a call may take.
    fn possible_sides(&self, fork: &Fork<'_>) -> Vec<bool> {
        let may_be = |holds: &bool| !fork.known(&self.evaluator.facts, *holds).is_impossible();
        [true, false].into_iter().filter(may_be).collect()
    }

    /// Where we are.
    pub(super) fn place(&self) -> Box<Place> {
        let Evaluator { names, facts, .. } = &self.evaluator;
        let (names, facts) = (names.clone(), facts.clone());
        Box::new(Place { scope: self.evaluator.scope_here(), names, facts })
    }

    /// Begins a way where others begin too.
    pub(super) fn begin_at(&mut self, before: &Place, facts: CallFacts) {
        self.evaluator.enter(before.scope.clone());
        self.evaluator.names = before.names.clone();
        self.evaluator.facts = facts;
    }

    /// Goes back to where ways part.
    pub(super) fn go_back(&mut self, before: Place) {
        self.evaluator.enter(before.scope);
        (self.evaluator.names, self.evaluator.facts) = (before.names, before.facts);
    }

    /// Goes through one side, up to where it meets the other. Its own ways meet there too, which
    /// part in the functions that it calls.
    fn run_to_meeting(&mut self, state: State, fork: &Fork<'_>, holds: bool) -> Option<State> {
        let branches = state.branches.clone();
        self.meetings.push(Vec::new());
        self.run_to_end(state, fork, holds, &Rest::of(&[], None));
        State::met(self.meetings.pop()?, &branches)
    }

    /// Goes through one side, and what is behind it.
    fn run_to_end(&mut self, state: State, fork: &Fork<'_>, holds: bool, behind: &Rest<'_>) {
        let end = match holds {
            true => self.side(state, fork.then, behind),
            false => self.ifs(state, fork.others, fork.otherwise, behind),
        };
        self.go_on(end, Some(behind));
    }

    /// Whether there may be one more way through the function.
    pub(super) fn begin_way(&mut self) -> bool {
        self.n_ways += 1;
        let is_good = self.n_ways <= MOST_WAYS;
        if !is_good {
            let name = &self.parts.definition.function.name;
            let message =
                format!("`{}` has more than {MOST_WAYS} ways through its `if`s", name.name);
            let problem = Diagnostic::new("too-many-ways", message);
            let help = "assign what differs behind one `if`, or split the function";
            self.evaluator.report(problem.label(name.span, "this function").help(help));
        }
        is_good
    }

    /// One side of an `if`, to its own end.
    fn side(&mut self, state: State, block: &Block, behind: &Rest<'_>) -> End {
        self.statements(state, Rest::of(block, Some(behind)))
    }
}

/// Whether a block returns somewhere, or leaves a turn of a loop that it stands in.
fn leaves(block: &Block, is_in_turn: bool) -> bool {
    block.iter().any(|stmt| match &stmt.kind {
        StmtKind::Return(_) => true,
        StmtKind::Break | StmtKind::Continue => is_in_turn,
        StmtKind::If(sides, otherwise) => {
            sides.iter().any(|(_, block)| leaves(block, is_in_turn))
                || leaves(otherwise, is_in_turn)
        }
        StmtKind::For(_, _, body) | StmtKind::While(_, body) => leaves(body, false),
        _ => false,
    })
}
