// SPDX-License-Identifier: Apache-2.0
//! Expressions.

mod attribute;
mod call;
mod choice;
mod name;
mod unroll;

pub(crate) use attribute::{dtype_names, dtype_part, largest, least, memory_of};
pub(crate) use call::{Arg, Args};
pub(crate) use choice::Guards;
pub(crate) use name::is_known;

use crate::elaborate::Elaborator;
use crate::names::{self, Names};
use crate::python::tree::{CompareOp, Expr, ExprKind, LogicOp, UnaryOp};
use crate::python::walk;
use crate::unroll::comprehension;
use crate::value::{Closure, Elaborated};
use kernpack_kernel_ir::op::Binary;
use kernpack_kernel_ir::{Scalar, kernel};
use kernpack_syntax::Span;
use std::sync::Arc;

/// The most items of a tuple, those in its items among them.
const MOST_ITEMS: usize = 1 << 16;

impl Elaborator<'_> {
    /// The value of an expression.
    pub fn expr(&mut self, expr: &Expr) -> Elaborated {
        self.budget.count(1);
        if self.is_too_deep(expr.span) || self.is_too_large(expr.span) {
            return Elaborated::Poison;
        }
        self.budget.enter(1);
        let before = self.at(expr.span);
        let value = self.expr_kind(expr);
        self.emit.b.go_to(before);
        self.budget.leave(1);
        match (&expr.kind, value) {
            (ExprKind::Name(_), value) => value,
            (_, value) => self.bounded(value, expr.span),
        }
    }

    /// A value that was made, unless it is a tuple that has too many items in all its levels.
    pub fn bounded(&mut self, value: Elaborated, span: Span) -> Elaborated {
        let Elaborated::Tuple(tuple) = &value else { return value };
        if tuple.has_at_most(MOST_ITEMS) {
            return value;
        }
        let message =
            format!("a tuple of more than {MOST_ITEMS} items, those in its items among them");
        self.mistake("kernel-size", span, message, "use a tensor")
    }

    fn expr_kind(&mut self, expr: &Expr) -> Elaborated {
        let span = expr.span;
        match &expr.kind {
            ExprKind::Name(name) => self.name(name, span),
            ExprKind::Int(int) => Elaborated::Int(int.clone()),
            ExprKind::Float(float) => Elaborated::Float(*float),
            ExprKind::Bool(truth) => Elaborated::Bool(*truth),
            ExprKind::None => Elaborated::None,
            ExprKind::Text(text) => Elaborated::Text(text.value.clone()),
            ExprKind::Tuple(parts) | ExprKind::List(parts) => self.tuple(parts),
            ExprKind::Attribute(of, member) => {
                if let Some(problem) = names::foreign_path(self, expr) {
                    return self.report(problem);
                }
                if let Some(part) = names::captured_part(self, expr) {
                    return self.captured(part, span).unwrap_or(Elaborated::Poison);
                }
                let of = self.expr(of);
                self.attribute(of, member)
            }
            ExprKind::Subscript(of, index) => self.subscript(of, index, span),
            ExprKind::Call(call) => self.call(call, span),
            ExprKind::Unary(op, operand) => {
                let value = self.expr(operand);
                match op {
                    UnaryOp::Not => self.unary(*op, &value, operand.span),
                    UnaryOp::Neg | UnaryOp::Pos | UnaryOp::Invert => self.unary(*op, &value, span),
                }
            }
            ExprKind::Binary(op, operands) => {
                let (left, right) = (self.expr(&operands.0), self.expr(&operands.1));
                self.binary(*op, &left, &right, span)
            }
            ExprKind::Logic(op, parts) => self.logic(*op, parts),
            ExprKind::Compare(first, rest) => self.comparison(first, rest, span),
            ExprKind::Conditional(parts) => {
                let (test, then, otherwise) = &**parts;
                self.conditional(test, then, otherwise, span)
            }
            ExprKind::Lambda(function) => {
                let frame = Some(self.scopes.frame_id());
                let (function, module) = (function.clone(), self.scopes.module());
                let (uncallable, object) = (None, None);
                let closure = Closure { function, module, frame, uncallable, object };
                Elaborated::Closure(Arc::new(closure))
            }
            ExprKind::Comprehension(made) => {
                comprehension(self, made).unwrap_or(Elaborated::Poison)
            }
            ExprKind::Starred(of) => {
                let message = "`*` unpacks a tuple in a call or a tuple";
                self.mistake("foreign-python", of.span, message, "write the parts")
            }
            ExprKind::Dict(_) => {
                self.mistake("foreign-python", span, "kernels have no dictionary", "write a tuple")
            }
            ExprKind::Formatted(_) => self.report(walk::FORMATTED.diagnostic(span)),
            ExprKind::Foreign(foreign) => self.report(foreign.diagnostic(span)),
        }
    }

    fn tuple(&mut self, parts: &[Expr]) -> Elaborated {
        let mut items = Vec::with_capacity(parts.len());
        for part in parts {
            match &part.kind {
                ExprKind::Starred(of) => match self.expr(of) {
                    Elaborated::Tuple(tuple) => items.extend(tuple.items.iter().cloned()),
                    other => items.push(self.not_a_tuple(&other, of.span)),
                },
                _ => items.push(self.expr(part)),
            }
        }
        Elaborated::tuple(items)
    }

    /// Reports that something is no tuple.
    pub fn not_a_tuple(&mut self, found: &Elaborated, span: Span) -> Elaborated {
        if found.is_poison() {
            return Elaborated::Poison;
        }
        let message = format!("expected a tuple, found {}", self.emit.describe(found));
        self.mistake("type", span, message, "write a tuple, as in `(a, b)`")
    }

    /// `first op second op third`, each evaluated once.
    fn comparison(&mut self, first: &Expr, rest: &[(CompareOp, Expr)], span: Span) -> Elaborated {
        let left = self.expr(first);
        match rest {
            [(op, right)] => {
                let right = self.expr(right);
                self.compare(*op, &left, &right, span)
            }
            _ => self.chain(&left, first, rest, span),
        }
    }

    /// `left op second op third`: what is right is not looked at where a comparison before fails.
    fn chain(
        &mut self,
        left: &Elaborated,
        left_expr: &Expr,
        rest: &[(CompareOp, Expr)],
        span: Span,
    ) -> Elaborated {
        let Some(((op, right_expr), rest)) = rest.split_first() else {
            return Elaborated::Bool(true);
        };
        let right = self.expr(right_expr);
        let holds = self.compare(*op, left, &right, left_expr.span.to(right_expr.span));
        if rest.is_empty() {
            return holds;
        }
        let others = |this: &mut Self| this.chain(&right, right_expr, rest, span);
        match holds {
            Elaborated::Poison | Elaborated::Bool(false) => holds,
            Elaborated::Bool(true) => others(self),
            Elaborated::Typed(holds) => self.logic_typed(LogicOp::And, holds, span, others),
            lanes => {
                let others = others(self);
                self.both(&lanes, &others, span)
            }
        }
    }

    /// Whether both of two truth values hold.
    pub fn both(&mut self, a: &Elaborated, b: &Elaborated, span: Span) -> Elaborated {
        match (a, b) {
            (Elaborated::Poison, _) | (_, Elaborated::Poison) => Elaborated::Poison,
            (Elaborated::Bool(false), _) | (_, Elaborated::Bool(false)) => Elaborated::Bool(false),
            (Elaborated::Bool(true), other) | (other, Elaborated::Bool(true)) => other.clone(),
            (a, b) => self.binary(crate::python::tree::BinaryOp::And, a, b, span),
        }
    }

    fn compare(
        &mut self,
        op: CompareOp,
        left: &Elaborated,
        right: &Elaborated,
        span: Span,
    ) -> Elaborated {
        if left.is_poison() || right.is_poison() {
            return Elaborated::Poison;
        }
        match op {
            CompareOp::Is => self.is_none(left, right, span),
            CompareOp::IsNot => {
                let is = self.is_none(left, right, span);
                self.unary(UnaryOp::Not, &is, span)
            }
            CompareOp::In | CompareOp::NotIn => {
                let found = self.is_in(left, right, span);
                match op {
                    CompareOp::In => found,
                    _ => self.unary(UnaryOp::Not, &found, span),
                }
            }
            CompareOp::Eq | CompareOp::Ne => match self.equal(left, right, span) {
                Some(equal) if op == CompareOp::Ne => self.unary(UnaryOp::Not, &equal, span),
                Some(equal) => equal,
                None => self.compare_ordered(op, left, right, span),
            },
            CompareOp::Lt | CompareOp::Le | CompareOp::Gt | CompareOp::Ge => {
                self.compare_ordered(op, left, right, span)
            }
        }
    }

    fn compare_ordered(
        &mut self,
        op: CompareOp,
        left: &Elaborated,
        right: &Elaborated,
        span: Span,
    ) -> Elaborated {
        if let Some(result) = self.compare_numbers(op, left, right, span) {
            return result;
        }
        let (a, b) = (self.emit.describe(left), self.emit.describe(right));
        let message = format!("there is no `{}` of {a} and {b}", op.text());
        self.mistake("operator", span, message, "compare numbers of one type")
    }

    /// Whether two values are equal that are no numbers; nothing where they are.
    fn equal(&mut self, left: &Elaborated, right: &Elaborated, span: Span) -> Option<Elaborated> {
        Some(match (left, right) {
            (Elaborated::Text(a), Elaborated::Text(b)) => Elaborated::Bool(a == b),
            (Elaborated::DType(a), Elaborated::DType(b)) => Elaborated::Bool(a == b),
            (Elaborated::None, Elaborated::None) => Elaborated::Bool(true),
            (Elaborated::Layout(a), Elaborated::Layout(b)) => Elaborated::Bool(a == b),
            (Elaborated::Tuple(a), Elaborated::Tuple(b)) if a.items.len() != b.items.len() => {
                Elaborated::Bool(false)
            }
            (Elaborated::Tuple(a), Elaborated::Tuple(b)) => {
                let mut all = Elaborated::Bool(true);
                for (a, b) in a.items.iter().zip(&b.items) {
                    let one = self.compare(CompareOp::Eq, a, b, span);
                    all = self.both(&all, &one, span);
                }
                all
            }
            _ if self.emit.kind(left).is_some() && self.emit.kind(right).is_some() => return None,
            (Elaborated::Optional(_), _) | (_, Elaborated::Optional(_)) => return None,
            // Whatever has another kind is another thing, as in Python.
            (
                Elaborated::Text(_)
                | Elaborated::DType(_)
                | Elaborated::None
                | Elaborated::Tuple(_),
                _,
            )
            | (
                _,
                Elaborated::Text(_)
                | Elaborated::DType(_)
                | Elaborated::None
                | Elaborated::Tuple(_),
            ) => Elaborated::Bool(false),
            _ => return None,
        })
    }

    fn is_none(&mut self, left: &Elaborated, right: &Elaborated, span: Span) -> Elaborated {
        match (left, right) {
            (Elaborated::Optional(number), Elaborated::None)
            | (Elaborated::None, Elaborated::Optional(number)) => {
                let given = self.guards.is_given(*number);
                let not = kernpack_kernel_ir::op::Unary::Not;
                Elaborated::Typed(self.emit.b.unary(not, given))
            }
            (Elaborated::None, Elaborated::None) => Elaborated::Bool(true),
            (_, Elaborated::None) | (Elaborated::None, _) => Elaborated::Bool(false),
            (Elaborated::DType(a), Elaborated::DType(b)) => Elaborated::Bool(a == b),
            (Elaborated::Bool(a), Elaborated::Bool(b)) => Elaborated::Bool(a == b),
            _ => self.mistake(
                "operator",
                span,
                "`is` asks whether an argument is None",
                "write `==` to compare",
            ),
        }
    }

    fn is_in(&mut self, left: &Elaborated, right: &Elaborated, span: Span) -> Elaborated {
        let Elaborated::Tuple(tuple) = right else { return self.not_a_tuple(right, span) };
        let mut any = Elaborated::Bool(false);
        for item in tuple.items.clone() {
            let one = self.compare(CompareOp::Eq, left, &item, span);
            any = match (&any, &one) {
                (Elaborated::Poison, _) | (_, Elaborated::Poison) => Elaborated::Poison,
                (Elaborated::Bool(true), _) | (_, Elaborated::Bool(true)) => Elaborated::Bool(true),
                (Elaborated::Bool(false), _) => one,
                (_, Elaborated::Bool(false)) => any,
                (a, b) => self.emit.binary_of_type(Binary::Or, a, b, Scalar::Bool),
            };
        }
        any
    }

    /// `a and b and c`, `a or b or c`: what is right is not looked at where the left decides.
    fn logic(&mut self, op: LogicOp, parts: &[Expr]) -> Elaborated {
        let Some((first, rest)) = parts.split_first() else { return Elaborated::Poison };
        let decides = op == LogicOp::Or;
        let mut value = self.truth(first);
        let (mut before, mut decided_by) = (first, value.clone());
        // What is given where the left does not decide.
        let mut held = Vec::new();
        for part in rest {
            let (holds, fails) = self.guards_of(before, &decided_by);
            let guards = if decides { fails } else { holds };
            self.guards.enter(&guards);
            held.extend(guards);
            value = match value {
                decided @ Elaborated::Bool(truth) if truth == decides => {
                    value = decided;
                    break;
                }
                Elaborated::Bool(_) => self.truth(part),
                Elaborated::Typed(left) => {
                    self.logic_typed(op, left, part.span, |this| this.truth(part))
                }
                _ => {
                    self.truth(part);
                    Elaborated::Poison
                }
            };
            (before, decided_by) = (part, value.clone());
        }
        self.guards.leave(&held);
        value
    }

    /// A truth value: a diagnostic of anything else.
    fn truth(&mut self, expr: &Expr) -> Elaborated {
        use crate::number::Condition;
        let value = self.expr(expr);
        match self.read_condition(&value, expr.span) {
            Some(Condition::Constant(truth)) => Elaborated::Bool(truth),
            Some(Condition::Typed(value)) => Elaborated::Typed(value),
            None => Elaborated::Poison,
        }
    }

    fn logic_typed(
        &mut self,
        op: LogicOp,
        left: kernel::Value,
        span: Span,
        right: impl FnOnce(&mut Self) -> Elaborated,
    ) -> Elaborated {
        let (value, region) = self.in_part(&[], span, right);
        let ir = match op {
            LogicOp::And => Binary::And,
            LogicOp::Or => Binary::Or,
        };
        let (Elaborated::Bool(_) | Elaborated::Typed(_)) = value else { return Elaborated::Poison };
        if crate::finish::is_pure(&region) {
            self.emit.b.append(region);
            return match (op, value) {
                (LogicOp::And, Elaborated::Bool(true)) | (LogicOp::Or, Elaborated::Bool(false)) => {
                    Elaborated::Typed(left)
                }
                (_, Elaborated::Bool(truth)) => Elaborated::Bool(truth),
                (_, value) => {
                    self.emit.binary_of_type(ir, &Elaborated::Typed(left), &value, Scalar::Bool)
                }
            };
        }
        // What is right has loads or more: it runs only where the left does not decide.
        let slot = self.emit.b.slot(op.text(), Scalar::Bool.into());
        self.emit.b.set(slot, left);
        self.emit.b.reopen(region);
        let value = self.emit.typed(&value, Scalar::Bool);
        self.emit.b.set(slot, value);
        let runs = self.emit.b.close();
        let nothing = kernpack_kernel_ir::op::Region::default();
        match op {
            LogicOp::And => self.emit.b.if_else(left, runs, nothing),
            LogicOp::Or => self.emit.b.if_else(left, nothing, runs),
        }
        let result = self.emit.b.get(slot);
        let decides = op == LogicOp::Or;
        if self.emit.known_truth(left) == Some(decides) {
            self.emit.know_truth(result, decides);
        }
        Elaborated::Typed(result)
    }
}
