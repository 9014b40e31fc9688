// SPDX-License-Identifier: Apache-2.0
//! Jit functions that another one calls for what they return: `y = f(x)`, `return f(x)`, or in an
//! argument. They are gone through as if they stood there, launches and memory included.
//!
//! Such a call is made before the statement that it is in, which then has in its place a name that
//! nobody can write. So each way through the function brings a value of its own. Not here:
//! functions that only compute a value (`returned.rs`).

use super::body::{End, Rest, State, Walk};
use super::closure::Closure;
use super::expression::Evaluator;
use super::value::Evaluated;
use crate::python::tree::{Call, Expr, ExprKind, Name, Stmt, StmtKind};
use kernpack_syntax::Span;

/// A call of a jit function, and the name of what it returns.
pub(super) struct JitCall {
    call: Box<Call>,
    closure: Closure,
    span: Span,
    name: Name,
}

impl Evaluator<'_> {
    /// The call of a jit function that a statement makes first, and what is then left of it.
    pub(super) fn first_jit_call(&mut self, stmt: &Stmt) -> Option<(JitCall, Stmt)> {
        let (called, kind) = match &stmt.kind {
            StmtKind::Assign(targets, value) => {
                let (called, value) = self.first_in(value)?;
                (called, StmtKind::Assign(targets.clone(), value))
            }
            StmtKind::Return(Some(value)) => {
                let (called, value) = self.first_in(value)?;
                (called, StmtKind::Return(Some(value)))
            }
            StmtKind::Expr(value) => match self.first_in(value)? {
                (called, Expr { kind: ExprKind::Name(_), .. }) => (called, StmtKind::Pass),
                (called, value) => (called, StmtKind::Expr(value)),
            },
            _ => return None,
        };
        Some((called, Stmt { kind, span: stmt.span }))
    }

    /// The first call in an expression, and the expression with a name in its place.
    fn first_in(&mut self, expr: &Expr) -> Option<(JitCall, Expr)> {
        let span = expr.span;
        match &expr.kind {
            ExprKind::Tuple(items) => {
                let (called, items) = self.first_of(items)?;
                Some((called, Expr { kind: ExprKind::Tuple(items), span }))
            }
            ExprKind::Call(call) => {
                let inside = self.first_in_call(call);
                let inside = inside.map(|(called, call)| (called, ExprKind::Call(Box::new(call))));
                let (called, kind) = inside.or_else(|| {
                    let called = JitCall {
                        closure: self.jit_function(call)?,
                        call: call.clone(),
                        span,
                        name: format!("what was returned at {}", span.start).into(),
                    };
                    let name = ExprKind::Name(called.name.clone());
                    Some((called, name))
                })?;
                Some((called, Expr { kind, span }))
            }
            _ => None,
        }
    }

    /// The first call in what a call is made with: `k(f(x)).launch(…)` and `g(f(x), y=h(x))`.
    fn first_in_call(&mut self, call: &Call) -> Option<(JitCall, Call)> {
        let Call { function, args, keywords } = call;
        if let ExprKind::Attribute(of, member) = &function.kind
            && let Some((called, of)) = self.first_in(of)
        {
            let kind = ExprKind::Attribute(Box::new(of), member.clone());
            let function = Expr { kind, span: function.span };
            return Some((called, Call { function, ..call.clone() }));
        }
        if let Some((called, args)) = self.first_of(args) {
            return Some((called, Call { args, ..call.clone() }));
        }
        let values: Vec<_> = keywords.iter().map(|(_, value)| value.clone()).collect();
        let (called, values) = self.first_of(&values)?;
        let keywords = keywords.iter().map(|(name, _)| name.clone()).zip(values).collect();
        Some((called, Call { keywords, ..call.clone() }))
    }

    /// The first call in several expressions, and these with a name in its place.
    fn first_of(&mut self, exprs: &[Expr]) -> Option<(JitCall, Vec<Expr>)> {
        exprs.iter().enumerate().find_map(|(number, expr)| {
            let (called, left) = self.first_in(expr)?;
            let mut exprs = exprs.to_vec();
            exprs[number] = left;
            Some((called, exprs))
        })
    }
}

impl Walk<'_> {
    /// Makes a call, and goes through what is then left of its statement.
    pub(super) fn call_first(
        &mut self,
        state: State,
        JitCall { call, closure, span, name }: JitCall,
        left: Stmt,
        behind: &Rest<'_>,
    ) -> End {
        let called = self.evaluator.called(&call, &closure, span);
        let before = if called.is_some() { Evaluated::None } else { Evaluated::Poison };
        self.evaluator.names.insert(name.clone(), before);
        let left = [left];
        let rest = Rest::of(&left, Some(behind));
        let end = match called {
            Some(called) => {
                let rest = Rest { given: Some(&name), ..rest };
                self.run_function(state, called, span, &rest)
            }
            None => End::Behind(state),
        };
        match end {
            End::Behind(state) => self.statements(state, rest),
            end @ (End::Returned(_) | End::Left(..) | End::Function) => end,
        }
    }

    /// `return value`
    pub(super) fn give(&mut self, value: Option<&Expr>, span: Span, behind: &Rest<'_>) {
        match behind.caller() {
            Some((caller, Some(name))) => {
                let value = match value {
                    Some(value) => self.evaluator.expr(value).unwrap_or(Evaluated::Poison),
                    None => Evaluated::None,
                };
                self.evaluator.names.insert_in(caller.frame(), name.clone(), value);
            }
            None if self.parts.is_made => self.give_back(value, span),
            Some((_, None)) | None => self.check_return(value),
        }
    }
}
