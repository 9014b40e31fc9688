// SPDX-License-Identifier: Apache-2.0
//! Statements.

mod assert;
mod assign;
mod branch;
mod join;
mod run;

use crate::call;
use crate::elaborate::Elaborator;
use crate::guard::Guard;
use crate::inline::Control;
use crate::python::tree::{Block, Expr, ExprKind, Stmt, StmtKind};
use crate::python::walk;
use crate::scope::{Binding, Variable};
use crate::value::{Closure, Elaborated};
use kernpack_kernel_ir::op::{Jump, OpKind};
use kernpack_syntax::Span;
use std::sync::Arc;

/// The flow behind a statement.
#[derive(Clone, Debug)]
pub(crate) enum Flow {
    /// The next one.
    Next,
    /// Nothing: the kernel has jumped away.
    Ended,
    /// The end of a loop that is unrolled.
    Break,
    /// The next turn of a loop that is unrolled.
    Continue,
    /// The caller, with a value.
    Return(Elaborated),
}

impl Elaborator<'_> {
    /// Statements in order, up to one that jumps away.
    pub fn block(&mut self, block: &Block) -> Flow {
        let mut held = Vec::new();
        let mut flow = Flow::Next;
        for stmt in block {
            flow = self.stmt(stmt, &mut held);
            if !matches!(flow, Flow::Next) {
                break;
            }
        }
        self.guards.leave(&held);
        flow
    }

    /// A statement. What is known from here on, as it has left where it is not so, is added to what
    /// is held.
    fn stmt(&mut self, stmt: &Stmt, held: &mut Vec<Guard>) -> Flow {
        let before = self.at(stmt.span);
        let flow = match self.is_too_large(stmt.span) || self.is_too_deep(stmt.span) {
            true => Flow::Ended,
            false => {
                self.budget.enter(1);
                let flow = self.stmt_kind(stmt, held);
                self.budget.leave(1);
                flow
            }
        };
        self.emit.b.go_to(before);
        flow
    }

    fn stmt_kind(&mut self, stmt: &Stmt, held: &mut Vec<Guard>) -> Flow {
        let span = stmt.span;
        match &stmt.kind {
            StmtKind::Expr(Expr { kind: ExprKind::Text(_), .. }) | StmtKind::Pass => {}
            StmtKind::Expr(value) => _ = self.expr(value),
            StmtKind::Assign(targets, value) => self.assign(targets, value),
            StmtKind::Augment(target, op, value) => self.augment(target, *op, value, span),
            StmtKind::If(branches, otherwise) => return self.branches(branches, otherwise, held),
            StmtKind::For(target, iter, body) => return self.for_loop(target, iter, body, span),
            StmtKind::While(test, body) => return self.while_loop(test, body),
            StmtKind::Break => return self.leave_turn(Flow::Break, Jump::Break, span),
            StmtKind::Continue => return self.leave_turn(Flow::Continue, Jump::Continue, span),
            StmtKind::Return(value) => return self.leave_function(value.as_ref(), span),
            StmtKind::Assert(test, message) => self.assert(test, message.as_ref(), span),
            StmtKind::Function(function) => {
                let frame = Some(self.scopes.frame_id());
                let (module, function) = (self.scopes.module(), function.clone());
                let name = function.name.clone();
                let value = match call::decorated(&function) {
                    Some(problem) => self.report(problem),
                    None => Elaborated::Closure(Arc::new(Closure {
                        function,
                        module,
                        frame,
                        uncallable: None,
                        object: None,
                    })),
                };
                let variable =
                    Variable { binding: Binding::Value(value), scalar: None, span: name.span };
                self.scopes.bind_here(&name.name, variable);
            }
            StmtKind::Class(_) => _ = self.report(walk::LOCAL_CLASS.diagnostic(span)),
            StmtKind::Declare(..) => _ = self.report(walk::DECLARATION.diagnostic(span)),
            StmtKind::Import(_) => _ = self.report(walk::IMPORT.diagnostic(span)),
            StmtKind::Foreign(foreign) => _ = self.report(foreign.diagnostic(span)),
        }
        Flow::Next
    }

    /// `break` and `continue`
    fn leave_turn(&mut self, unrolled: Flow, jump: Jump, span: Span) -> Flow {
        let word = jump.name();
        let controls = &self.scopes.activation().controls;
        let innermost = controls.iter().rposition(|control| !matches!(control, Control::Branch));
        let Some(at) = innermost else {
            let message = format!("`{word}` stands in no loop");
            self.mistake("loop", span, message, "remove it");
            return Flow::Ended;
        };
        let is_conditional = at + 1 < controls.len();
        match (&controls[at], is_conditional) {
            (Control::Unrolled(_), true) => {
                let message =
                    format!("`{word}` out of a loop that unrolls, on a condition of the kernel's");
                let help =
                    "write `range` instead of `range_constexpr`, or put the rest behind `if`";
                self.mistake("unrolled", span, message, help);
                Flow::Ended
            }
            (Control::Unrolled(_), false) => unrolled,
            (Control::Loop | Control::Branch, _) => {
                self.leaves_early();
                self.emit.b.effect(OpKind::Jump(jump));
                Flow::Ended
            }
        }
    }
}
