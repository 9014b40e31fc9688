// SPDX-License-Identifier: Apache-2.0
//! The body of a packed function, statement by statement, along every way through its `if`s.
//!
//! An `if` whose condition depends on the call is gone through on both sides, each with what is
//! known there (`fork.rs`). Where neither side assigns a name, returns or leaves a turn of a loop,
//! the ways meet behind it; otherwise what follows is gone through once for each. Ways that part in
//! a function that a side calls meet behind that side at the latest. A loop is gone through turn by
//! turn (`loops.rs`).

use super::call::{Called, InScope, Scope};
use super::closure::Names;
use super::expression::{Evaluator, OfRow};
use super::found::{Found, Pass};
use super::loops::{Leave, Turns};
use super::tensor::{self, Memory};
use super::value::Evaluated;
use super::{CallFacts, PackedLaunch, wide};
use crate::argument::Argument;
use crate::budget::DEPTH_OF_CALL;
use crate::call;
use crate::file::{Definition, KernelFiles};
use crate::names;
use crate::python::tree::{Call, Expr, ExprKind, Name, Stmt, StmtKind};
use crate::python::walk;
use kernpack_layout::Int;
use kernpack_syntax::{Diagnostic, Diagnostics, Span};
use kernpack_validators::expr::Expr as Number;
use kernpack_validators::{Branch, Signature, Workspace};
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// The parts of a packed function.
#[derive(Clone, Copy)]
pub(super) struct Parts<'f> {
    pub files: &'f KernelFiles,
    pub definition: &'f Definition,
    pub signature: &'f Signature,
    pub workspaces: &'f [Workspace],
    /// How many of the workspaces the decorator says: the body asks for the others.
    pub n_declared: usize,
    pub pass: Pass,
    /// In the final pass, what the finding pass saw: see [`Evaluator::unasked`].
    pub unasked: &'f [Span],
    /// Whether the signature was made of a call's arguments.
    pub is_made: bool,
}

/// The outcome of going through a body.
pub(super) struct Walked {
    pub launches: Vec<PackedLaunch>,
    /// Rules of the signature that it says.
    pub found: Found,
    pub problems: Diagnostics,
    /// Its prints.
    pub notes: Diagnostics,
    /// Problems of this combination of dtypes alone.
    pub of_row: Vec<OfRow>,
    /// See [`Evaluator::unasked`].
    pub unasked: Vec<Span>,
}

/// Runs a body with what is known of its calls.
pub(super) fn run(parts: Parts<'_>, facts: CallFacts) -> Walked {
    let Parts { files, definition, signature, workspaces, n_declared, pass, unasked, is_made } =
        parts;
    let mut names = names(signature, workspaces, &facts);
    let results = signature.results.iter();
    let extents = results.map(|result| extents(names.get(&result.name[..]))).collect();
    if is_made {
        names.values_mut().for_each(make_constant);
        // Memory has its name from where it is asked for. Elsewhere another value may have it.
        let results = signature.results.iter().map(|result| &result.name);
        let asked = workspaces[n_declared..].iter().map(|workspace| &workspace.name.value);
        results.chain(asked).for_each(|name| drop(names.remove(&name[..])));
    }
    let evaluator = Evaluator {
        pass,
        unasked: unasked.to_vec(),
        ..Evaluator::new(files, definition.module, Names::new(names), facts)
    };
    let (launches, meetings) = (Vec::new(), Vec::new());
    let mut walk = Walk { parts, extents, evaluator, launches, meetings, n_ways: 1 };
    walk.run();
    let Walk { launches, evaluator, .. } = walk;
    let Evaluator { found, problems, notes, of_row, unasked, .. } = evaluator;
    Walked { launches, found, problems, notes, of_row, unasked }
}

/// A dtype that a call passes is constant where the signature was made of the call's arguments.
fn make_constant(value: &mut Evaluated) {
    if let Evaluated::DTypeParam(_, dtype) = value {
        *value = Evaluated::DType(*dtype);
    }
}

pub(super) fn names(
    signature: &Signature,
    workspaces: &[Workspace],
    facts: &CallFacts,
) -> HashMap<Name, Evaluated> {
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
pub(super) struct State {
    /// The sides of `if`s that it takes.
    pub branches: Vec<Branch>,
    /// The results that its launches are passed, and those that have no elements there.
    written: BTreeSet<String>,
    /// Where a result may have been left out that is written on other ways.
    missing: BTreeMap<String, Branch>,
    /// The memory that it has asked for.
    pub asked: BTreeSet<Name>,
}

impl State {
    /// A way on one side.
    pub fn on_side(&self, branch: Option<Branch>) -> State {
        let mut own = self.clone();
        own.branches.extend(branch);
        own
    }

    /// Where ways meet behind branches, if any gets there.
    pub fn met(ways: Vec<State>, branches: &[Branch]) -> Option<State> {
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
        let asked = self.asked.union(&other.asked).cloned().collect();
        State { branches: self.branches, written, missing, asked }
    }
}

/// Statements that are still to be gone through.
#[derive(Clone, Copy)]
pub(super) struct Rest<'b> {
    pub block: &'b [Stmt],
    pub behind: Option<&'b Rest<'b>>,
    /// Whose statements these are, where they come behind a call of another function.
    pub caller: Option<&'b Scope>,
    /// The turns of a loop, in the place of a block.
    pub turns: Option<Turns<'b>>,
    /// The caller's name for what the called function returns, where it wants that.
    pub given: Option<&'b Name>,
}

impl<'b> Rest<'b> {
    /// The caller of the function that these are statements of, and its name for what that returns,
    /// if it wants that; nothing where they are of the packed function itself.
    pub fn caller(&self) -> Option<(&'b Scope, Option<&'b Name>)> {
        match (self.caller, self.behind) {
            (Some(caller), _) => Some((caller, self.given)),
            (None, behind) => behind.and_then(Rest::caller),
        }
    }

    /// A block, and what is behind it.
    pub fn of(block: &'b [Stmt], behind: Option<&'b Rest<'b>>) -> Rest<'b> {
        Rest { block, behind, caller: None, turns: None, given: None }
    }
}

/// Where a way through some statements ends.
pub(super) enum End {
    /// Behind the last of them.
    Behind(State),
    /// At a `return`.
    Returned(State),
    /// At a `break` or a `continue`.
    Left(State, Leave),
    /// At the end of the packed function, which has been seen to, or where no call gets on.
    Function,
}

pub(super) struct Walk<'f> {
    pub parts: Parts<'f>,
    /// How many elements each result has along each dim.
    extents: Vec<Vec<Number>>,
    pub evaluator: Evaluator<'f>,
    launches: Vec<PackedLaunch>,
    /// The sides of `if`s that we are in and that meet others, each with its ways that got there.
    pub meetings: Vec<Vec<State>>,
    /// How many ways there are through the function, as far as we have got.
    pub n_ways: usize,
}

impl Walk<'_> {
    /// Goes through the body: in the final pass twice, with what wide accesses need and without.
    fn run(&mut self) {
        let Parts { definition, signature, pass, is_made, .. } = self.parts;
        let body = &definition.function.body;
        match wide::rule(signature, is_made).filter(|_| pass == Pass::Final) {
            Some(rule) => self.twice(rule, body),
            None => self.block(State::default(), Rest::of(body, None)),
        }
    }

    /// Goes through statements, and those behind them, to the end of the function.
    pub fn block(&mut self, state: State, rest: Rest<'_>) {
        if let Some(caller) = rest.caller {
            self.evaluator.enter(caller.clone());
        }
        let end = match rest.turns {
            Some(turns) => self.turns(state, turns, rest.behind),
            None => self.statements(state, rest),
        };
        self.go_on(end, rest.behind);
    }

    /// Goes on from where a way has ended, to the end of the function.
    pub fn go_on(&mut self, end: End, behind: Option<&Rest<'_>>) {
        match (end, behind) {
            (End::Function, _) => {}
            (End::Returned(state), behind) => self.returned(state, behind),
            (End::Left(state, how), behind) => self.left(state, how, behind),
            (End::Behind(state), Some(behind)) => self.block(state, *behind),
            (End::Behind(state), None) => self.end(state),
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
    pub fn statements(&mut self, mut state: State, rest: Rest<'_>) -> End {
        for (number, stmt) in rest.block.iter().enumerate() {
            let behind = Rest::of(&rest.block[number + 1..], rest.behind);
            match self.statement(state, stmt, &behind) {
                End::Behind(behind) => state = behind,
                end @ (End::Returned(_) | End::Left(..) | End::Function) => return end,
            }
        }
        End::Behind(state)
    }

    fn statement(&mut self, state: State, stmt: &Stmt, behind: &Rest<'_>) -> End {
        let span = stmt.span;
        if let Some((called, left)) = self.evaluator.first_jit_call(stmt) {
            return self.call_first(state, called, left, behind);
        }
        match &stmt.kind {
            StmtKind::If(sides, otherwise) => self.ifs(state, sides, otherwise, behind),
            StmtKind::For(target, iter, body) => self.for_loop(state, (target, iter, body), behind),
            StmtKind::Break => self.leave(state, Leave::Break, span, behind),
            StmtKind::Continue => self.leave(state, Leave::Continue, span, behind),
            StmtKind::Assign(targets, value) => self.assign(state, targets, value, behind),
            StmtKind::Assert(test, text) => self.assert(state, test, text.as_ref()),
            StmtKind::Expr(Expr { kind: ExprKind::Call(call), span }) => {
                self.call(state, call, *span, behind)
            }
            StmtKind::Return(value) => {
                self.give(value.as_ref(), span, behind);
                End::Returned(state)
            }
            kind => {
                self.simple(kind, span);
                End::Behind(state)
            }
        }
    }

    pub fn check_return(&mut self, value: Option<&Expr>) {
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
            Some(Called::Nothing) => return End::Behind(state),
            Some(Called::Value(value)) => *value,
            Some(Called::Function(called)) => {
                return self.run_function(state, called, span, behind);
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

    /// Goes through a function that is called, to where it returns.
    pub fn run_function(
        &mut self,
        state: State,
        (function, scope): InScope,
        span: Span,
        behind: &Rest<'_>,
    ) -> End {
        if !self.evaluator.begin(DEPTH_OF_CALL, span) {
            return End::Function;
        }
        let caller = self.evaluator.enter(scope);
        let behind = Rest { caller: Some(&caller), ..*behind };
        let end = self.statements(state, Rest::of(&function.body, Some(&behind)));
        self.evaluator.end(DEPTH_OF_CALL);
        match end {
            End::Behind(state) | End::Returned(state) => {
                self.evaluator.enter(caller);
                End::Behind(state)
            }
            end @ (End::Left(..) | End::Function) => end,
        }
    }

    /// A statement that no way parts at.
    fn simple(&mut self, kind: &StmtKind, span: Span) {
        match kind {
            StmtKind::Expr(Expr { kind: ExprKind::Text(_), .. }) => {}
            StmtKind::Expr(_) => {
                self.refuse(span, "this does nothing", "remove it, or give it a name");
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
                let value = match call::decorated(function) {
                    Some(problem) => self.evaluator.report(problem).unwrap_or(Evaluated::Poison),
                    None => self.evaluator.function(function),
                };
                self.evaluator.names.insert(function.name.name.clone(), value);
            }
            StmtKind::Pass => {}
            StmtKind::Foreign(foreign) => {
                self.evaluator.report(foreign.diagnostic(span));
            }
            StmtKind::Class(_) => {
                self.evaluator.report(walk::LOCAL_CLASS.diagnostic(span));
            }
            StmtKind::Declare(..) => {
                self.evaluator.report(walk::DECLARATION.diagnostic(span));
            }
            StmtKind::While(..) => {
                let help = "write `for` over constants, or the loop in the kernel";
                self.refuse(span, "a packed function has no `while`", help);
            }
            StmtKind::Import(_) => {
                self.refuse(span, "imports stand at the top of a file", "move it there");
            }
            StmtKind::Assign(..)
            | StmtKind::If(..)
            | StmtKind::For(..)
            | StmtKind::Break
            | StmtKind::Continue
            | StmtKind::Assert(..)
            | StmtKind::Return(_) => {}
        }
    }

    pub fn refuse(&mut self, span: Span, message: &str, help: &str) {
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
            let branch = state.missing.get(name).or(state.branches.last());
            // A condition that was made with the signature stands nowhere.
            let branch = branch.filter(|branch| branch.rule.span != self.parts.signature.span);
            let mut there = "";
            if let Some(Branch { rule, holds }) = branch {
                let text = if *holds { "where this holds" } else { "where this does not hold" };
                problem = problem.label(rule.span, text);
                there = "there ";
            }
            let help = format!("launch a kernel {there}that is passed `{name}`");
            self.evaluator.report(problem.help(help));
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

/// Whether a kernel that is passed this gets at the memory of a name.
fn passes(arg: &Argument, name: &str) -> bool {
    let mut found = false;
    let mut arg = arg.clone();
    super::kernel_call::for_each_tensor(&mut arg, &mut |tensor| {
        found |= tensor.pointer == Number::symbol(name);
    });
    found
}
