// SPDX-License-Identifier: Apache-2.0
//! Assignments: to names and fields, which keep their first type, and to elements of tensors.

use crate::elaborate::Elaborator;
use crate::emit::Emission;
use crate::names::{self, Target};
use crate::number::Kind;
use crate::python::tree::{BinaryOp, Expr, ExprKind, Ident, Name};
use crate::scope::{Binding, Key, Lost, Variable};
use crate::value::Elaborated;
use crate::walker::Walker;
use kernpack_kernel_ir::Scalar;
use kernpack_syntax::{Diagnostic, Span};

impl Target for Elaborator<'_> {
    const POISON: Elaborated = Elaborated::Poison;

    fn bind(&mut self, name: &Name, value: Elaborated, place: Span, span: Span) {
        self.assign_name(name, value, place, span);
    }

    fn set_field(
        &mut self,
        (of, field): (&Expr, &Ident),
        value: &Elaborated,
        place: Span,
        span: Span,
    ) -> bool {
        let of = self.expr(of);
        self.set_field_of(&of, field, value.clone(), (place, span));
        true
    }

    fn store(&mut self, of: (&Expr, &Expr), value: &Elaborated, place: Span, span: Span) -> bool {
        let (of, index) = (self.expr(of.0), self.expr(of.1));
        self.store_element(&of, &index, value, place, span);
        true
    }
}

impl Emission {
    /// The type that a name keeps from now on.
    pub fn scalar_of_name(&self, value: &Elaborated) -> Option<Scalar> {
        self.kind(value).map(Kind::alone)
    }
}

impl Elaborator<'_> {
    /// `a = b = value`
    pub(super) fn assign(&mut self, targets: &[Expr], value: &Expr) {
        let given = match targets {
            [target, ..] => self.value_for(target, value),
            [] => self.expr(value),
        };
        for target in targets {
            self.assign_to(target, given.clone(), value.span);
        }
    }

    /// A value that a target gets. What is made by it, or by a part of it that a name gets, has
    /// that name.
    fn value_for(&mut self, target: &Expr, value: &Expr) -> Elaborated {
        if let (Some(targets), Some(parts)) = (items(target), items(value))
            && targets.len() == parts.len()
            && !parts.iter().any(|part| matches!(part.kind, ExprKind::Starred(_)))
        {
            let both = targets.iter().zip(parts);
            let items = both.map(|(target, part)| self.value_for(target, part)).collect();
            return self.bounded(Elaborated::tuple(items), value.span);
        }
        self.naming = match &target.kind {
            ExprKind::Name(name) => Some(name.clone()),
            ExprKind::Attribute(_, field) => Some(field.name.clone()),
            _ => None,
        };
        let given = self.expr(value);
        self.naming = None;
        given
    }

    /// Gives a target a value, which stands at `span`.
    pub fn assign_to(&mut self, target: &Expr, value: Elaborated, span: Span) {
        names::assign(self, target, value, span);
    }

    /// Gives a name a value. `span` is where the value stands.
    pub fn assign_name(&mut self, name: &Name, value: Elaborated, place: Span, span: Span) {
        if &**name != "_" {
            self.assign_key(&self.scopes.key(name), value, place, span);
        }
    }

    /// Gives a name or a field a value.
    pub fn assign_key(&mut self, key: &Key, value: Elaborated, place: Span, span: Span) {
        let name = &key.name;
        let before = self.scopes.get(key).cloned();
        let value = match &before {
            Some(variable) => self.kept_type(name, variable, value, span),
            None => value,
        };
        if let Some(Variable { binding: Binding::Stored(stored), .. }) = &before {
            if !value.is_poison() && !self.emit.store_checked(&stored.clone(), &value) {
                let message = format!("`{name}` becomes something that is no number");
                self.mistake("type", span, message, "use another name for it");
            }
            return;
        }
        let scalar = self.emit.scalar_of_name(&value);
        let (first, kept) = match before {
            Some(variable) => (variable.span, variable.scalar),
            None => (place, None),
        };
        let binding = match value.is_poison() {
            true => Binding::Lost(Lost::Poison),
            false => Binding::Value(value),
        };
        self.scopes.bind(key, Variable { binding, scalar: kept.or(scalar), span: first });
    }

    /// A value as a name may have it: a literal takes the name's type, and any other type is a
    /// mistake.
    fn kept_type(
        &mut self,
        name: &Name,
        variable: &Variable,
        value: Elaborated,
        span: Span,
    ) -> Elaborated {
        let (Some(kept), Some(kind)) = (variable.scalar, self.emit.kind(&value)) else {
            return value;
        };
        match kind {
            Kind::Of(scalar) if scalar == kept => value,
            Kind::Int if kept == Scalar::I64 => value,
            Kind::Float if kept == Scalar::F32 => value,
            Kind::Int if kept.is_int() || kept.is_float() => match self.fits(&value, kept, span) {
                true => self.literal_of_type(&value, kept),
                false => Elaborated::Poison,
            },
            Kind::Float if kept.is_float() => self.literal_of_type(&value, kept),
            Kind::Int | Kind::Float | Kind::Of(_) => {
                let found = kind.alone();
                let message = format!("`{name}` is {kept}, and this is {found}");
                let problem = Diagnostic::new("first-type", message);
                let problem = problem.label(span, format!("{found}"));
                let problem = match variable.span == span {
                    true => problem,
                    false => problem.label(variable.span, format!("{kept} from here on")),
                };
                let help = match kept {
                    Scalar::Bool => "use another name".to_string(),
                    _ if kept == Scalar::I64 && found.is_float() => {
                        format!("begin with `{name} = kp.{found}(…)`")
                    }
                    _ => format!("write `kp.{kept}(…)` around it"),
                };
                self.report(problem.help(help))
            }
        }
    }

    fn literal_of_type(&mut self, value: &Elaborated, scalar: Scalar) -> Elaborated {
        match self.emit.as_const(value, scalar) {
            Some(constant) => Elaborated::of_const(constant),
            None => Elaborated::Typed(self.emit.typed(value, scalar)),
        }
    }

    /// `target op= value`
    pub(super) fn augment(&mut self, target: &Expr, op: BinaryOp, value: &Expr, span: Span) {
        match &target.kind {
            ExprKind::Name(name) => {
                let left = self.name(name, target.span);
                let right = self.expr(value);
                let result = self.binary(op, &left, &right, span);
                self.assign_name(name, result, target.span, span);
            }
            ExprKind::Attribute(of, field) => {
                let of = self.expr(of);
                let left = self.attribute(of.clone(), field);
                let right = self.expr(value);
                let result = self.binary(op, &left, &right, span);
                self.set_field_of(&of, field, result, (target.span, span));
            }
            ExprKind::Subscript(of, index) => {
                let of = self.expr(of);
                let index = self.expr(index);
                let left = self.load_element(&of, &index, target.span);
                let right = self.expr(value);
                let result = self.binary(op, &left, &right, span);
                self.store_element(&of, &index, &result, target.span, span);
            }
            _ => {
                let (code, message, help) = Self::WORDS.target;
                self.mistake(code, target.span, message, help);
            }
        }
    }
}

/// The items of a tuple that is written down.
fn items(expr: &Expr) -> Option<&[Expr]> {
    match &expr.kind {
        ExprKind::Tuple(items) | ExprKind::List(items) => Some(items),
        _ => None,
    }
}
