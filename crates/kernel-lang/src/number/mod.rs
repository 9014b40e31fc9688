// SPDX-License-Identifier: Apache-2.0
//! Numbers: which type an operation has, and what it gives. Constants without a type are computed
//! as Python does, and those with one as the kernel would.

mod constant;
mod convert;
mod literal;
mod operator;

pub(crate) use literal::LiteralChoice;

use crate::elaborate::Elaborator;
use crate::emit::Emission;
use crate::scope::Stored;
use crate::value::Elaborated;
use kernpack_interval::Interval;
use kernpack_kernel_ir::op::Rounding;
use kernpack_kernel_ir::types::Class;
use kernpack_kernel_ir::{Const, Scalar, Type, kernel};
use kernpack_syntax::Span;

/// The kind of a number.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Kind {
    /// An integer that takes the type of what it meets.
    Int,
    /// A float that takes the type of what it meets.
    Float,
    /// One with a type, or a truth value.
    Of(Scalar),
}

impl Kind {
    /// The type that it has where it meets nothing.
    pub fn alone(self) -> Scalar {
        match self {
            Kind::Int => Scalar::I64,
            Kind::Float => Scalar::F32,
            Kind::Of(scalar) => scalar,
        }
    }
}

/// Why two numbers cannot meet.
pub(crate) enum Clash {
    /// A truth value is no number.
    Bool,
    /// They have no type that holds both: the conversion to write.
    Types(Scalar, Scalar),
}

impl Emission {
    /// The kind of number that a value is, if it is one.
    pub fn kind(&self, value: &Elaborated) -> Option<Kind> {
        match value {
            Elaborated::Int(_) => Some(Kind::Int),
            Elaborated::Float(_) => Some(Kind::Float),
            Elaborated::Bool(_) => Some(Kind::Of(Scalar::Bool)),
            Elaborated::Const(constant) => Some(Kind::Of(constant.scalar())),
            Elaborated::Typed(value) => match self.b.ty(*value) {
                Type::Scalar(scalar) => Some(self.literal_kind(*value).unwrap_or(Kind::Of(scalar))),
                Type::Vector(..) | Type::Pointer(_) => None,
            },
            Elaborated::Elements(elements) => Some(Kind::Of(elements.scalar)),
            _ => None,
        }
    }

    /// The words for a value in messages: its type where it has one.
    pub fn describe(&self, value: &Elaborated) -> String {
        match (self.kind(value), value) {
            (Some(Kind::Of(scalar)), Elaborated::Elements(_)) => {
                format!("elements of type {scalar}")
            }
            (Some(Kind::Of(scalar)), _) => scalar.to_string(),
            (Some(Kind::Int), _) => "an integer".to_string(),
            (Some(Kind::Float), _) => "a float".to_string(),
            (None, Elaborated::Object(object)) => {
                format!("an object of `{}`", object.class.class.name.name)
            }
            (None, value) => value.what().to_string(),
        }
    }

    /// A number of the kernel's, of that type. What has another type is converted to the nearest:
    /// whoever calls has made sure that it may.
    pub fn typed(&mut self, value: &Elaborated, scalar: Scalar) -> kernel::Value {
        match self.as_const(value, scalar) {
            Some(constant) => self.b.constant(constant),
            None => match value {
                Elaborated::Typed(number) if self.b.ty(*number) != Type::Scalar(scalar) => {
                    match self.typed_literals(*number, scalar) {
                        Some(chosen) => chosen,
                        None => self.convert(*number, scalar, Rounding::NearestEven),
                    }
                }
                Elaborated::Typed(value) => *value,
                _ => self.b.constant(Const::from_bits(scalar, 0)),
            },
        }
    }

    /// A constant as one of that type.
    pub fn as_const(&self, value: &Elaborated, scalar: Scalar) -> Option<Const> {
        match value {
            Elaborated::Bool(truth) => Some(convert_const(Const::bool(*truth), scalar)),
            Elaborated::Int(int) if scalar.is_float() => Some(int.to_float(scalar)),
            Elaborated::Int(int) if scalar == Scalar::Bool => Some(Const::bool(!int.is_zero())),
            Elaborated::Int(int) => Some(Const::from_bits(scalar, int.low_bits())),
            Elaborated::Float(float) => Some(match scalar.is_float() {
                true => Const::float(scalar, *float),
                false => convert_const(Const::float(Scalar::F64, *float), scalar),
            }),
            Elaborated::Const(constant) => Some(convert_const(*constant, scalar)),
            _ => None,
        }
    }

    /// The type in which two numbers meet.
    pub fn common(&self, left: Kind, right: Kind) -> Result<Scalar, Clash> {
        match (left, right) {
            (Kind::Of(Scalar::Bool), _) | (_, Kind::Of(Scalar::Bool)) => Err(Clash::Bool),
            (Kind::Of(a), Kind::Of(b)) => meet(a, b).ok_or(Clash::Types(a, b)),
            (Kind::Int, Kind::Of(scalar)) | (Kind::Of(scalar), Kind::Int) => Ok(scalar),
            (Kind::Float, Kind::Of(scalar)) | (Kind::Of(scalar), Kind::Float) => {
                Ok(if scalar.is_float() { scalar } else { Scalar::F32 })
            }
            (Kind::Int, Kind::Int) => Ok(Scalar::I64),
            (Kind::Float | Kind::Int, Kind::Float | Kind::Int) => Ok(Scalar::F32),
        }
    }
}

impl Elaborator<'_> {
    /// An `int64` of the kernel, of any integer; a diagnostic of anything else.
    pub fn read_index(&mut self, value: &Elaborated, span: Span) -> Option<kernel::Value> {
        match self.emit.kind(value) {
            _ if value.is_poison() => None,
            Some(Kind::Int) if !self.fits(value, Scalar::I64, span) => None,
            Some(Kind::Int) => Some(self.emit.typed(value, Scalar::I64)),
            Some(Kind::Of(scalar))
                if scalar.is_int() && !matches!(value, Elaborated::Elements(_)) =>
            {
                Some(self.emit.typed(value, Scalar::I64))
            }
            Some(Kind::Of(_) | Kind::Float) | None => {
                let found = self.emit.describe(value);
                let message = format!("expected an integer, found {found}");
                self.mistake("type", span, message, "convert it, as in `kp.int64(x)`");
                None
            }
        }
    }

    /// A truth value of the kernel, or a constant one.
    pub fn read_condition(&mut self, value: &Elaborated, span: Span) -> Option<Condition> {
        match value {
            Elaborated::Poison => None,
            Elaborated::Bool(truth) => Some(Condition::Constant(*truth)),
            Elaborated::Typed(typed) if self.emit.b.ty(*typed) == Type::Scalar(Scalar::Bool) => {
                Some(match self.emit.b.known(*typed).and_then(Const::as_bool) {
                    Some(truth) => Condition::Constant(truth),
                    None => Condition::Typed(*typed),
                })
            }
            _ => {
                let found = self.emit.describe(value);
                let message = format!("a condition is a bool, found {found}");
                let help = match self.emit.kind(value) {
                    Some(_) => "compare it, as in `n != 0`",
                    None => "compare it with something",
                };
                self.mistake("condition", span, message, help);
                None
            }
        }
    }

    /// Whether an integer without a type fits one; reports where it does not.
    pub fn fits(&mut self, value: &Elaborated, scalar: Scalar, span: Span) -> bool {
        let int = match value {
            Elaborated::Int(int) => int,
            Elaborated::Typed(value) => return self.literals_fit(*value, scalar, span),
            _ => return true,
        };
        let all = scalar.integers();
        if scalar.is_float() || int.small().is_some_and(|int| all.contains(int)) {
            return true;
        }
        let Interval { min, max, .. } = all;
        let message = format!("{int} is no {scalar}, which goes from {min} to {max}");
        self.mistake(
            "literal",
            span,
            message,
            "write one of these, or convert what it meets to a wider type",
        );
        false
    }

    /// Whether slots hold what is to go into them; reports literals that are too large.
    pub fn fits_in(&mut self, stored: &Stored, value: &Elaborated, span: Span) -> bool {
        match (stored, value) {
            (Stored::One(slot), value) => self.fits(value, self.emit.slot_scalar(*slot), span),
            (Stored::Items(parts, _), Elaborated::Tuple(tuple)) => {
                let mut pairs = parts.iter().zip(&tuple.items);
                pairs.all(|(part, item)| self.fits_in(part, item, span))
            }
            _ => true,
        }
    }

    /// A number as one of the type that it has by itself: a diagnostic where it is too large.
    /// Nothing, and no diagnostic, of what is no number, or several.
    pub fn typed_alone(
        &mut self,
        value: &Elaborated,
        span: Span,
    ) -> Option<Result<(kernel::Value, Scalar), Elaborated>> {
        if matches!(value, Elaborated::Elements(_)) {
            return None;
        }
        let scalar = self.emit.kind(value)?.alone();
        Some(match self.fits(value, scalar, span) {
            true => Ok((self.emit.typed(value, scalar), scalar)),
            false => Err(Elaborated::Poison),
        })
    }

    /// Reports that two values cannot meet.
    pub fn clash(&mut self, clash: &Clash, what: &str, span: Span) -> Elaborated {
        match clash {
            Clash::Bool => self.mistake(
                "type",
                span,
                format!("{what} of a bool, which is no number"),
                "convert it, as in `kp.int32(b)`",
            ),
            Clash::Types(a, b) => {
                let help = format!("convert one of them, as in `{}`", conversion(*a, *b));
                self.mistake("type", span, format!("{what} of {a} and {b}"), help)
            }
        }
    }
}

/// A condition, as far as it is known.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Condition {
    /// It chooses a branch while compiling.
    Constant(bool),
    /// Each thread finds out.
    Typed(kernel::Value),
}

/// The conversion that brings two types together.
fn conversion(a: Scalar, b: Scalar) -> String {
    let wider = match (a.is_float(), b.is_float()) {
        (true, true) => Scalar::F32,
        _ => Scalar::I64,
    };
    format!("kp.{wider}(x)")
}

/// The type that holds the numbers of both, as the language has it.
fn meet(a: Scalar, b: Scalar) -> Option<Scalar> {
    let wider = if a.bits() >= b.bits() { a } else { b };
    match (a.class(), b.class()) {
        _ if a == b => Some(a),
        (Class::Float, Class::Float) => (a.bits() != b.bits()).then_some(wider),
        (Class::Float, _) => Some(a),
        (_, Class::Float) => Some(b),
        (left, right) if left == right => Some(wider),
        (Class::Signed, _) => (a.bits() > b.bits()).then_some(a),
        (_, Class::Signed) => (b.bits() > a.bits()).then_some(b),
        (Class::Unsigned | Class::Bool, Class::Unsigned | Class::Bool) => None,
    }
}

/// A constant of another type: towards zero where an integer is made of a float.
pub(crate) fn convert_const(constant: Const, scalar: Scalar) -> Const {
    use kernpack_kernel_ir::op::Rounding;
    let to_int = constant.scalar().is_float() && scalar.is_int();
    let rounding = if to_int { Rounding::Zero } else { Rounding::NearestEven };
    match constant.scalar() == scalar {
        true => constant,
        false => kernpack_kernel_ir::eval::convert(constant, scalar, rounding),
    }
}
