// SPDX-License-Identifier: Apache-2.0
//! `a if test else b`, and what a condition says about arguments that may be None.

use crate::elaborate::Elaborator;
use crate::emit::Emission;
use crate::finish::is_pure;
use crate::guard::Guard;
use crate::number::Condition;
use crate::python::tree::{CompareOp, Expr, ExprKind, LogicOp, UnaryOp};
use crate::scope::{Binding, Horizon};
use crate::value::{Elaborated, Items};
use kernpack_kernel_ir::kernel;
use kernpack_kernel_ir::op::Region;
use kernpack_syntax::Span;
use std::sync::Arc;

/// The guards where a condition holds, and where it does not.
pub(crate) type Guards = (Vec<Guard>, Vec<Guard>);

impl Emission {
    /// One of two values of one type.
    pub fn select_typed(
        &mut self,
        condition: kernel::Value,
        then: kernel::Value,
        otherwise: kernel::Value,
    ) -> kernel::Value {
        let result = self.b.select(condition, then, otherwise);
        let (of_then, of_otherwise) = (self.facts_of_value(then), self.facts_of_value(otherwise));
        self.know(result, of_then.either(of_otherwise));
        result
    }
}

impl Elaborator<'_> {
    /// `then if test else otherwise`
    pub fn conditional(
        &mut self,
        test: &Expr,
        then: &Expr,
        otherwise: &Expr,
        span: Span,
    ) -> Elaborated {
        let value = self.expr(test);
        let guards = self.guards_of(test, &value);
        match self.read_condition(&value, test.span) {
            Some(Condition::Constant(true)) => self.expr(then),
            Some(Condition::Constant(false)) => self.expr(otherwise),
            Some(Condition::Typed(condition)) => {
                let from = self.horizon();
                let (a, first) = self.in_part(&guards.0, then.span, |cx| cx.expr(then));
                let (b, second) = self.in_part(&guards.1, otherwise.span, |cx| cx.expr(otherwise));
                self.choose(condition, (a, first), (b, second), from, span)
            }
            None => {
                self.in_part(&guards.0, then.span, |cx| cx.expr(then));
                self.in_part(&guards.1, otherwise.span, |cx| cx.expr(otherwise));
                Elaborated::Poison
            }
        }
    }

    /// Builds operations in a region of their own.
    pub fn in_region<T>(
        &mut self,
        guards: &[Guard],
        build: impl FnOnce(&mut Self) -> T,
    ) -> (T, Region) {
        self.emit.b.open();
        let built = self.with_guards(guards, build);
        (built, self.emit.b.close())
    }

    /// Builds operations of a part of an expression, which may not run. It may assign only what
    /// slots hold: anything else that it binds is a mistake.
    pub fn in_part<T>(
        &mut self,
        guards: &[Guard],
        span: Span,
        build: impl FnOnce(&mut Self) -> T,
    ) -> (T, Region) {
        let mark = self.scopes.mark();
        let built = self.in_region(guards, build);
        for (key, _) in self.scopes.undo(mark) {
            let message = format!("`{}` is assigned in an expression that may not run", key.name);
            self.mistake("assignment", span, message, "write the expression behind an `if`");
        }
        built
    }

    fn choose(
        &mut self,
        condition: kernel::Value,
        (a, first): (Elaborated, Region),
        (b, second): (Elaborated, Region),
        from: Horizon,
        span: Span,
    ) -> Elaborated {
        if a.is_poison() || b.is_poison() {
            return Elaborated::Poison;
        }
        if is_pure(&first) && is_pure(&second) {
            self.emit.b.append(first);
            self.emit.b.append(second);
            return self.select(condition, &a, &b, span);
        }
        let Some(join) = self.emit.join_values("chosen", &a, &b, from) else {
            return self.no_choice(&a, &b, span);
        };
        if !self.fits_in(&join, &a, span) || !self.fits_in(&join, &b, span) {
            return Elaborated::Poison;
        }
        self.emit.b.reopen(first);
        self.emit.store_into(&join, &a);
        let first = self.emit.b.close();
        self.emit.b.reopen(second);
        self.emit.store_into(&join, &b);
        let second = self.emit.b.close();
        self.emit.b.if_else(condition, first, second);
        self.emit.stored(&join)
    }

    /// One of two values.
    pub fn select(
        &mut self,
        condition: kernel::Value,
        a: &Elaborated,
        b: &Elaborated,
        span: Span,
    ) -> Elaborated {
        if self.emit.is_same(a, b) {
            return a.clone();
        }
        if let (Elaborated::Tuple(x), Elaborated::Tuple(y)) = (a, b)
            && x.items.len() == y.items.len()
        {
            let pairs = x.items.iter().zip(&y.items);
            let items = pairs.map(|(x, y)| self.select(condition, x, y, span)).collect();
            let names = x.common_names(y);
            return Elaborated::Tuple(Arc::new(Items { items, names }));
        }
        let (Some(x), Some(y)) = (self.emit.kind(a), self.emit.kind(b)) else {
            return self.no_choice(a, b, span);
        };
        let truth = crate::number::Kind::Of(kernpack_kernel_ir::Scalar::Bool);
        let scalar = match (x == truth && y == truth, self.emit.common(x, y)) {
            (true, _) => kernpack_kernel_ir::Scalar::Bool,
            (false, Ok(common)) => common,
            (false, Err(clash)) => return self.clash(&clash, "a choice", span),
        };
        if !self.fits(a, scalar, span) || !self.fits(b, scalar, span) {
            return Elaborated::Poison;
        }
        self.lanes(a, b, scalar, span, &mut |cx, a, b| {
            let (then, otherwise) = (cx.emit.typed(&a, scalar), cx.emit.typed(&b, scalar));
            let result = cx.emit.select_typed(condition, then, otherwise);
            cx.emit.know_literals(result, condition, [&a, &b]);
            Elaborated::Typed(result)
        })
    }

    fn no_choice(&mut self, a: &Elaborated, b: &Elaborated, span: Span) -> Elaborated {
        let message =
            format!("a choice between {} and {}", self.emit.describe(a), self.emit.describe(b));
        let help = "choose between numbers of one type, or while compiling";
        self.mistake("type", span, message, help)
    }

    /// A condition, and what is known of its value: a side that no thread takes may stand
    /// there for other launches.
    pub fn guards_of(&mut self, test: &Expr, value: &Elaborated) -> Guards {
        let mut guards = self.guards(test);
        if let Elaborated::Typed(condition) = value {
            match self.emit.known_truth(*condition) {
                Some(true) => guards.1.push(Guard::Unreached),
                Some(false) => guards.0.push(Guard::Unreached),
                None => {}
            }
        }
        guards
    }

    /// The guards that a condition makes of arguments that may be None.
    fn guards(&mut self, test: &Expr) -> Guards {
        match &test.kind {
            ExprKind::Compare(left, rest) => {
                let [(op @ (CompareOp::Is | CompareOp::IsNot), right)] = &rest[..] else {
                    return Guards::default();
                };
                let named = match (&left.kind, &right.kind) {
                    (_, ExprKind::None) => left,
                    (ExprKind::None, _) => right,
                    _ => return Guards::default(),
                };
                let Some(number) = self.optional_of(named) else { return Guards::default() };
                match op {
                    CompareOp::IsNot => (vec![Guard::Given(number)], vec![]),
                    _ => (vec![], vec![Guard::Given(number)]),
                }
            }
            ExprKind::Unary(UnaryOp::Not, of) => {
                let (holds, fails) = self.guards(of);
                (fails, holds)
            }
            ExprKind::Logic(op, parts) => {
                let (all, none) = self.guards_of_all(parts);
                match op {
                    LogicOp::And => (all, vec![]),
                    LogicOp::Or => (vec![], none),
                }
            }
            _ => Guards::default(),
        }
    }

    /// The guards where all of some conditions hold, and where none of them does.
    pub fn guards_of_all(&mut self, parts: &[Expr]) -> Guards {
        let mut all = Guards::default();
        for part in parts {
            let (holds, fails) = self.guards(part);
            all.0.extend(holds);
            all.1.extend(fails);
        }
        all
    }

    /// The argument that an expression names, where that may be None. Nothing is built.
    fn optional_of(&mut self, expr: &Expr) -> Option<usize> {
        let value = match &expr.kind {
            ExprKind::Name(name) => self.scopes.find(name)?.binding.clone(),
            ExprKind::Attribute(of, member) => {
                let ExprKind::Name(name) = &of.kind else { return None };
                match &self.scopes.own(name)?.binding {
                    Binding::Value(Elaborated::Tuple(tuple)) => {
                        Binding::Value(tuple.named(&member.name)?.clone())
                    }
                    Binding::Value(Elaborated::Object(object)) => {
                        self.scopes.in_frame(object.fields, &member.name)?.binding.clone()
                    }
                    _ => return None,
                }
            }
            _ => return None,
        };
        match value {
            Binding::Value(Elaborated::Optional(number)) => Some(number),
            _ => None,
        }
    }

    /// Builds operations behind conditions.
    pub fn with_guards<T>(&mut self, guards: &[Guard], build: impl FnOnce(&mut Self) -> T) -> T {
        self.guards.enter(guards);
        let built = build(self);
        self.guards.leave(guards);
        built
    }

    /// The value of an argument that may be None, where it is given for certain.
    pub fn given(&mut self, value: Elaborated, span: Span) -> Elaborated {
        let Elaborated::Optional(number) = value else { return value };
        let name = match self.guards.given(number) {
            Ok(inner) => return inner.clone(),
            Err(name) => name.clone(),
        };
        self.mistake(
            "unguarded",
            span,
            format!("`{name}` may be None here"),
            format!("ask first: `if {name} is not None:`"),
        )
    }
}
