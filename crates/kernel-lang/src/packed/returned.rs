// SPDX-License-Identifier: Apache-2.0
//! Functions that are called for their value: statements that compute it, with what is known while
//! the package is built. No way parts here.

use super::call::Scope;
use super::expression::Evaluator;
use super::loops::Leave;
use super::value::Evaluated;
use crate::budget::DEPTH_OF_CALL;
use crate::names;
use crate::python::tree::{Block, Expr, ExprKind, Function, Stmt, StmtKind};
use crate::unroll::Unroll;
use kernpack_syntax::{Diagnostic, Span};

/// Where statements lead.
enum Flow {
    /// To the next one.
    Next,
    /// Out of a turn of a loop.
    Left(Leave),
    /// To the caller, with a value.
    Returned(Box<Evaluated>),
}

impl Evaluator<'_> {
    /// The value of a function that is called for it.
    pub(super) fn value_of(
        &mut self,
        function: &Function,
        scope: Scope,
        span: Span,
    ) -> Option<Evaluated> {
        self.begin(DEPTH_OF_CALL, span).then_some(())?;
        let caller = self.enter(scope);
        let flow = self.compute_block(&function.body);
        self.enter(caller);
        self.end(DEPTH_OF_CALL);
        match flow? {
            Flow::Returned(value) => Some(*value),
            Flow::Next | Flow::Left(_) => {
                let message = format!("`{}` returns nothing", function.name.name);
                self.report(Diagnostic::new("packed-value", message).label(span, "used as a value"))
            }
        }
    }

    /// Statements in order, up to one that leads elsewhere; nothing where a mistake was reported.
    fn compute_block(&mut self, block: &Block) -> Option<Flow> {
        for stmt in block {
            match self.compute_stmt(stmt)? {
                Flow::Next => {}
                elsewhere => return Some(elsewhere),
            }
        }
        Some(Flow::Next)
    }

    fn compute_stmt(&mut self, stmt: &Stmt) -> Option<Flow> {
        match &stmt.kind {
            StmtKind::Assign(targets, value) => {
                let span = value.span;
                let value = self.expr(value)?;
                self.assign_all(targets, &value, span);
            }
            StmtKind::Augment(target, op, value) => {
                let value = self.augmented(target, *op, value, stmt.span)?;
                names::assign(self, target, value, stmt.span);
            }
            StmtKind::Return(Some(value)) => {
                return self.expr(value).map(|value| Flow::Returned(Box::new(value)));
            }
            StmtKind::Return(None) => return Some(Flow::Returned(Box::new(Evaluated::None))),
            StmtKind::If(sides, otherwise) => return self.compute_if(sides, otherwise),
            StmtKind::For(target, iter, body) => return self.compute_loop(target, iter, body),
            StmtKind::Break => return Some(Flow::Left(Leave::Break)),
            StmtKind::Continue => return Some(Flow::Left(Leave::Continue)),
            StmtKind::Pass => {}
            StmtKind::Expr(Expr { kind: ExprKind::Call(call), span }) if self.prints(call) => {
                self.call(call, *span)?;
            }
            StmtKind::Expr(Expr { kind: ExprKind::Text(_), .. }) => {}
            _ => {
                let message = "a function that is called for its value only computes it";
                let problem = Diagnostic::new("packed-statement", message);
                let help = "call a function of `@kp.jit`, by itself or as in `y = f(x)`";
                self.report(problem.label(stmt.span, "does something else").help(help));
                return None;
            }
        }
        Some(Flow::Next)
    }

    fn compute_if(&mut self, sides: &[(Expr, Block)], otherwise: &Block) -> Option<Flow> {
        for (test, block) in sides {
            if self.known_truth(test, WHICH_VALUE)? {
                return self.compute_block(block);
            }
        }
        self.compute_block(otherwise)
    }

    fn compute_loop(&mut self, target: &Expr, iter: &Expr, body: &Block) -> Option<Flow> {
        let value = self.expr(iter)?;
        for item in self.turns_of(&value, iter.span)? {
            self.begin_turn(iter.span).then_some(())?;
            self.assign_turn(target, item);
            match self.compute_block(body)? {
                Flow::Next | Flow::Left(Leave::Continue) => {}
                Flow::Left(Leave::Break) => break,
                returned @ Flow::Returned(_) => return Some(returned),
            }
        }
        Some(Flow::Next)
    }

    /// A condition that has to be known while the package is built; `why` it is asked is told where
    /// it is not.
    pub(super) fn known_truth(&mut self, test: &Expr, (why, help): Why) -> Option<bool> {
        match self.truth(test)? {
            Evaluated::Bool(truth) => Some(truth),
            _ => {
                let problem = Diagnostic::new("packed-value", why);
                let problem = problem.label(test.span, "not known while the package is built");
                self.report(problem.help(help));
                None
            }
        }
    }
}

/// Why a condition has to be known, and what to do where it is not.
pub(super) type Why = (&'static str, &'static str);

/// Of a function that is called for its value.
const WHICH_VALUE: Why =
    ("which value it is depends on the call", "write an `if` with a launch on each side");
