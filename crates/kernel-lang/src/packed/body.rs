// SPDX-License-Identifier: Apache-2.0
//! The body of a packed function, statement by statement, along every way through its `if`s.
//!
//! An `if` whose condition depends on the call is gone through on both sides, each with what is
//! known there. Where neither side assigns a name or returns, the ways meet behind it; otherwise
//! what follows is gone through once for each. Ways that part in a function that a side calls meet
//! behind that side at the latest.

use super::call::{Called, Scope};
use super::closure::Names;
use super::expression::Evaluator;
use super::tensor::{self, Memory};
use super::value::Evaluated;
use super::{CallFacts, PackedLaunch};
use crate::argument::Argument;
use crate::budget::DEPTH_OF_CALL;
use crate::file::{Definition, KernelFiles};
use crate::names;
use crate::python::tree::{Block, Call, Expr, ExprKind, Stmt, StmtKind};
use crate::python::walk;
use kernpack_layout::Int;
use kernpack_syntax::{Diagnostic, Diagnostics, Span};
use kernpack_validators::expr::Expr as Number;
use kernpack_validators::{Branch, Rule, Signature, Workspace};
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// The most ways through the `if`s of a function that are gone.
const MOST_WAYS: usize = 64;

/// The parts of a packed function.
#[derive(Clone, Copy)]
pub(super) struct Parts<'f> {
    pub files: &'f KernelFiles,
    pub definition: &'f Definition,
    pub signature: &'f Signature,
    pub workspaces: &'f [Workspace],
}

/// Runs a body with what is known of its calls. Gives the launches, and what is wrong.
pub(super) fn run(parts: Parts<'_>, facts: CallFacts) -> (Vec<PackedLaunch>, Diagnostics) {
    let Parts { files, definition, signature, workspaces } = parts;
    let names = names(signature, workspaces, &facts);
    let results = signature.results.iter();
    let extents = results.map(|result| extents(names.get(&result.name[..]))).collect();
    let evaluator = Evaluator::new(files, definition.module, Names::new(names), facts);
    let (launches, meetings) = (Vec::new(), Vec::new());
    let mut walk = Walk { parts, extents, evaluator, launches, meetings, n_ways: 1 };
    let state = State::default();
    let rest = Rest { block: &definition.function.body, behind: None, caller: None };
    walk.block(state, rest);
    (walk.launches, walk.evaluator.problems)
}

pub(super) fn names(
    signature: &Signature,
    workspaces: &[Workspace],
    facts: &CallFacts,
) -> HashMap<crate::python::tree::Name, Evaluated> {
    let params = signature.params.iter().map(|param| {
        let value = tensor::of_param(&param.name, &param.kind.host_type(), facts);
        (&param.name[..], value)
    });
    let own = Memory::Allocated;
    let results = signature.results.iter().map(|result| {
        (&result.name[..], tensor::of_tensor(&result.name, &result.tensor, own, facts))
    });
    let workspaces = workspaces.iter().map(|workspace| {
        let name = &workspace.name.value;
        (&name[..], tensor::of_tensor(name, &workspace.tensor, own, facts))
    });
    let all = params.chain(results).chain(workspaces);
    all.map(|(name, value)| (name.into(), value)).collect()
}

/// Where a way through the body is.
#[derive(Clone, Default)]
struct State {
    /// The sides of `if`s that it takes.
    branches: Vec<Branch>,
    /// The results that its launches are passed, and those that have no elements there.
    written: BTreeSet<String>,
    /// Where a result may have been left out that is written on other ways.
    missing: BTreeMap<String, Branch>,
}

impl State {
    /// A way on one side.
    fn on_side(&self, fork: &Fork<'_>, holds: bool) -> State {
        let mut own = self.clone();
        own.branches.extend(fork.branch(holds));
        own
    }

    /// Where ways meet behind branches, if any gets there.
    fn met(ways: Vec<State>, branches: &[Branch]) -> Option<State> {
        let joined = ways.into_iter().reduce(State::join)?;
        Some(State { branches: branches.to_vec(), ..joined })
    }

    /// Where two ways meet.
    fn join(self, other: State) -> State {
        let mut missing = self.missing;
        missing.extend(other.missing);
        for (own, others, branches) in [
            (&self.written, &other.written, &self.branches),
            (&other.written, &self.written, &other.branches),
        ] {
            for name in others.difference(own) {
                if let Some(last) = branches.last() {
                    missing.entry(name.clone()).or_insert_with(|| last.clone());
                }
            }
        }
        let written = self.written.intersection(&other.written).cloned().collect();
        State { branches: self.branches, written, missing }
    }
}

/// Where an `if` stands, for each of its sides to begin there.
struct Place {
    scope: Scope,
    names: Names,
    facts: CallFacts,
}

/// Statements that are still to be gone through.
#[derive(Clone, Copy)]
struct Rest<'b> {
    block: &'b [Stmt],
    behind: Option<&'b Rest<'b>>,
    /// Whose statements these are, where they come behind a call of another function.
    caller: Option<&'b Scope>,
}

/// Where a way through some statements ends.
enum End {
    /// Behind the last of them.
    Behind(State),
    /// At a `return`.
    Returned(State),
    /// At the end of the packed function, which has been seen to.
    Function,
}

struct Walk<'f> {
    parts: Parts<'f>,
    /// How many elements each result has along each dim.
    extents: Vec<Vec<Number>>,
    evaluator: Evaluator<'f>,
    launches: Vec<PackedLaunch>,
    /// The sides of `if`s that we are in and that meet others, each with its ways that got there.
    meetings: Vec<Vec<State>>,
    /// How many ways there are through the function, as far as we have got.
    n_ways: usize,
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
        blocks.all(|block| walk::assigned(block).is_empty() && !returns(block))
    }
}

impl Walk<'_> {
    /// Goes through statements, and those behind them, to the end of the function.
    fn block(&mut self, state: State, rest: Rest<'_>) {
        if let Some(caller) = rest.caller {
            self.evaluator.enter(caller.clone());
        }
        match self.statements(state, rest) {
            End::Function => {}
            End::Returned(state) => self.returned(state, rest.behind),
            End::Behind(state) => match rest.behind {
                Some(behind) => self.block(state, *behind),
                None => self.end(state),
            },
        }
    }

    /// Goes on where the function was called that has returned.
    fn returned(&mut self, state: State, mut behind: Option<&Rest<'_>>) {
        while let Some(rest) = behind {
            if rest.caller.is_some() {
                return self.block(state, *rest);
            }
            behind = rest.behind;
        }
        self.end(state);
    }

    /// Goes through the statements of one block. Where ways part for good, what is behind the block
    /// is gone through too.
    fn statements(&mut self, mut state: State, rest: Rest<'_>) -> End {
        for (number, stmt) in rest.block.iter().enumerate() {
            let block = &rest.block[number + 1..];
            let behind = Rest { block, behind: rest.behind, caller: None };
            let end = match &stmt.kind {
                StmtKind::If(sides, otherwise) => self.ifs(state, sides, otherwise, &behind),
                StmtKind::Expr(Expr { kind: ExprKind::Call(call), span }) => {
                    self.call(state, call, *span, &behind)
                }
                StmtKind::Return(value) => {
                    self.check_return(value.as_ref());
                    End::Returned(state)
                }
                _ => {
                    self.statement(&stmt.kind, stmt.span);
                    End::Behind(state)
                }
            };
            match end {
                End::Behind(behind) => state = behind,
                End::Returned(_) | End::Function => return end,
            }
        }
        End::Behind(state)
    }

    fn check_return(&mut self, value: Option<&Expr>) {
        if let Some(value) = value.filter(|value| !matches!(value.kind, ExprKind::None)) {
            let message = "a function that is called for its launches returns nothing";
            let problem = Diagnostic::new("packed-statement", message);
            let problem = problem.label(value.span, "nobody gets this");
            self.evaluator.report(problem.help("write `return` alone"));
        }
    }

    /// A call by itself: a launch, or a function with launches.
    fn call(&mut self, state: State, call: &Call, span: Span, behind: &Rest<'_>) -> End {
        if let Some(of) = self.evaluator.launched(call) {
            return End::Behind(self.launch(state, of, call, span));
        }
        let value = match self.evaluator.begin_call(call, span) {
            None => return End::Behind(state),
            Some(Called::Value(value)) => *value,
            Some(Called::Function(function, scope)) => {
                if !self.evaluator.begin(DEPTH_OF_CALL, span) {
                    return End::Function;
                }
                let caller = self.evaluator.enter(scope);
                let behind = Rest { caller: Some(&caller), ..*behind };
                let own = Rest { block: &function.body, behind: Some(&behind), caller: None };
                let end = self.statements(state, own);
                self.evaluator.end(DEPTH_OF_CALL);
                return match end {
                    End::Behind(state) | End::Returned(state) => {
                        self.evaluator.enter(caller);
                        End::Behind(state)
                    }
                    End::Function => End::Function,
                };
            }
        };
        let (message, help) = match value {
            Evaluated::Call(call) => (
                format!("`{}` is not launched", call.kernel.name()),
                "write `.launch(grid=…, block=…)` behind it",
            ),
            _ => ("this does nothing".to_string(), "remove it, or give it a name"),
        };
        self.refuse(span, &message, help);
        End::Behind(state)
    }

    fn statement(&mut self, kind: &StmtKind, span: Span) {
        match kind {
            StmtKind::Expr(Expr { kind: ExprKind::Text(_), .. }) => {}
            StmtKind::Expr(_) => {
                self.refuse(span, "this does nothing", "remove it, or give it a name");
            }
            StmtKind::Assign(targets, value) => {
                let span = value.span;
                let value = self.evaluator.expr(value).unwrap_or(Evaluated::Poison);
                self.evaluator.assign_all(targets, &value, span);
            }
            StmtKind::Augment(target, op, value) => {
                let value = self.evaluator.augmented(target, *op, value, span);
                names::assign(
                    &mut self.evaluator,
                    target,
                    value.unwrap_or(Evaluated::Poison),
                    span,
                );
            }
            StmtKind::Function(function) => {
                let value = self.evaluator.function(function);
                self.evaluator.names.insert(function.name.name.clone(), value);
            }
            StmtKind::Pass => {}
            StmtKind::Foreign(foreign) => {
                self.evaluator.report(foreign.diagnostic(span));
            }
            StmtKind::Assert(..) => {
                let help = "write it behind `where` in the signature";
                self.refuse(span, "a packed function has no `assert`", help);
            }
            StmtKind::For(..) | StmtKind::While(..) | StmtKind::Break | StmtKind::Continue => {
                let help = "write launches one by one, or the loop in the kernel";
                self.refuse(span, "a packed function has no loops", help);
            }
            StmtKind::Import(_) => {
                self.refuse(span, "imports stand at the top of a file", "move it there");
            }
            StmtKind::If(..) | StmtKind::Return(_) => {}
        }
    }

    fn refuse(&mut self, span: Span, message: &str, help: &str) {
        let problem = Diagnostic::new("packed-statement", message).label(span, "here");
        self.evaluator.report(problem.help(help));
    }

    /// `of.launch(…)`
    fn launch(&mut self, mut state: State, of: &Expr, call: &Call, span: Span) -> State {
        let results = self.parts.signature.results.iter().map(|result| &result.name);
        match self.evaluator.launch(of, call, &state.branches, span) {
            Some(launch) => {
                let passed = results.filter(|name| launch.args.iter().any(|arg| passes(arg, name)));
                state.written.extend(passed.cloned());
                self.launches.push(launch);
            }
            // What is wrong with a launch is not that it writes nothing.
            None => state.written.extend(results.cloned()),
        }
        state
    }

    /// `if`, `elif` and `else`.
    fn ifs(
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
            Some(Evaluated::Rule(rule)) => Some(rule),
            // What is wrong with it was reported, and the sides are looked at all the same.
            _ => None,
        };
        self.fork(&state, &Fork { rule, then, others, otherwise }, behind)
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
            self.begin_side(fork, holds, &before);
            let own = state.on_side(fork, holds);
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

    fn place(&self) -> Box<Place> {
        let Evaluator { names, facts, .. } = &self.evaluator;
        let (names, facts) = (names.clone(), facts.clone());
        Box::new(Place { scope: self.evaluator.scope_here(), names, facts })
    }

    fn begin_side(&mut self, fork: &Fork<'_>, holds: bool, before: &Place) {
        self.evaluator.enter(before.scope.clone());
        self.evaluator.names = before.names.clone();
        self.evaluator.facts = fork.known(&before.facts, holds);
    }

    fn go_back(&mut self, before: Place) {
        self.evaluator.enter(before.scope);
        (self.evaluator.names, self.evaluator.facts) = (before.names, before.facts);
    }

    /// Goes through one side, up to where it meets the other. Its own ways meet there too, which
    /// part in the functions that it calls.
    fn run_to_meeting(&mut self, state: State, fork: &Fork<'_>, holds: bool) -> Option<State> {
        let branches = state.branches.clone();
        self.meetings.push(Vec::new());
        self.run_to_end(state, fork, holds, &Rest { block: &[], behind: None, caller: None });
        State::met(self.meetings.pop()?, &branches)
    }

    /// Goes through one side, and what is behind it.
    fn run_to_end(&mut self, state: State, fork: &Fork<'_>, holds: bool, behind: &Rest<'_>) {
        let end = match holds {
            true => self.side(state, fork.then, behind),
            false => self.ifs(state, fork.others, fork.otherwise, behind),
        };
        match end {
            End::Behind(state) => self.block(state, *behind),
            End::Returned(state) => self.returned(state, Some(behind)),
            End::Function => {}
        }
    }

    /// Whether there may be one more way through the function.
    fn begin_way(&mut self) -> bool {
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
        self.statements(state, Rest { block, behind: Some(behind), caller: None })
    }

    /// The end of a way: where ways meet, or of the whole function.
    fn end(&mut self, state: State) {
        let state = self.with_empty(state);
        match self.meetings.last_mut() {
            Some(meeting) => meeting.push(state),
            None => self.finish(&state),
        }
    }

    /// The end of the function: every result has been passed to a launch, or has no elements.
    fn finish(&mut self, state: &State) {
        for result in &self.parts.signature.results {
            if state.written.contains(&result.name) {
                continue;
            }
            let name = &result.name;
            let message = format!("a call may leave the result `{name}` unwritten");
            let mut problem = Diagnostic::new("unwritten-result", message);
            problem = problem.label(result.span, "this result");
            if let Some(Branch { rule, holds }) = state.missing.get(name).or(state.branches.last())
            {
                let text = if *holds { "where this holds" } else { "where this does not hold" };
                problem = problem.label(rule.span, text);
            }
            self.evaluator
                .report(problem.help(format!("launch a kernel there that is passed `{name}`")));
        }
    }

    /// A way, on which results without elements need no launch.
    fn with_empty(&self, mut state: State) -> State {
        let results = self.parts.signature.results.iter().zip(&self.extents);
        let is_zero = |extent: &Number| self.evaluator.facts.canonical(extent).as_int() == Some(0);
        let empty = results.filter(|(_, extents)| extents.iter().any(is_zero));
        state.written.extend(empty.map(|(result, _)| result.name.clone()));
        state
    }
}

/// How many elements there are along each dim of what a result is.
fn extents(result: Option<&Evaluated>) -> Vec<Number> {
    let Some(Evaluated::Tensor(tensor)) = result else { return vec![] };
    let shape = tensor.view.shape();
    let extents = shape.leaves().into_iter().map(|extent| match extent {
        Int::Known(extent) => Number::Int(*extent),
        Int::Dynamic(dim) => dim.expr.clone(),
    });
    extents.collect()
}

/// Whether a block returns somewhere.
fn returns(block: &Block) -> bool {
    block.iter().any(|stmt| match &stmt.kind {
        StmtKind::Return(_) => true,
        StmtKind::If(sides, otherwise) => {
            sides.iter().any(|(_, block)| returns(block)) || returns(otherwise)
        }
        _ => false,
    })
}

/// Whether a kernel that is passed this gets at the memory of a name.
fn passes(arg: &Argument, name: &str) -> bool {
    let mut found = false;
    let mut arg = arg.clone();
    super::kernel_call::for_each_tensor(&mut arg, &mut |tensor| {
        found |= tensor.pointer == Number::symbol(name);
    });
    found
}
