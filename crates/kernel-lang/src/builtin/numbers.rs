// SPDX-License-Identifier: Apache-2.0
//! Numbers: choices, bits, conversions.

use super::{Builtin, Given};
use crate::elaborate::Elaborator;
use crate::emit::Emission;
use crate::expr::Arg;
use crate::integer::Integer;
use crate::number::{Clash, Condition, Kind};
use crate::plain::{self, Constant, Extreme, Plain, Row};
use crate::python::tree::{BinaryOp, CompareOp};
use crate::value::{Elaborated, Elements};
use kernpack_kernel_ir::op::{Binary, Unary};
use kernpack_kernel_ir::{Const, Scalar, Type};
use kernpack_syntax::Span;
use std::sync::Arc;

const fn pair(name: &'static str, doc: &'static str, data: &'static str) -> Builtin {
    Builtin { name, takes: &["a", "b"], doc, data, run: operator }
}

const fn bits(name: &'static str, doc: &'static str, data: &'static str) -> Builtin {
    Builtin { name, takes: &["x"], doc, data, run: of_bits }
}

pub(super) const ROWS: &[Builtin] = &[
    plain(plain::MIN),
    plain(plain::MAX),
    plain(plain::ABS),
    pair("add", "`a + b`, as a function to pass on.", "+"),
    pair("sub", "`a - b`, as a function to pass on.", "-"),
    pair("mul", "`a * b`, as a function to pass on.", "*"),
    plain(plain::CEIL_DIV),
    Builtin {
        name: "where",
        takes: &["condition", "a", "b"],
        doc: "`a` where the condition holds, else `b`: both are computed.",
        data: "",
        run: select,
    },
    Builtin {
        name: "convert",
        takes: &["x", "dtype", "rounding="],
        doc: "The number as another type, rounded as is said: `\"nearest\"`, `\"zero\"`, `\"down\"` \
              or `\"up\"`. Without `rounding`, a float becomes an integer towards zero, and \
              anything else the nearest. What an integer cannot hold becomes its nearest number, \
              and NaN 0.",
        data: "",
        run: convert,
    },
    Builtin {
        name: "bitcast",
        takes: &["x", "dtype"],
        doc: "The same bits as another type of as many.",
        data: "",
        run: bitcast,
    },
    Builtin {
        name: "isnan",
        takes: &["x"],
        doc: "Whether a float is no number.",
        data: "",
        run: is_nan,
    },
    Builtin {
        name: "mul_hi",
        takes: &["a", "b"],
        doc: "The upper half of the product of two integers of one type.",
        data: "",
        run: mul_high,
    },
    bits("popc", "How many bits of an integer are 1.", "popcount"),
    bits("clz", "How many bits above the highest 1 are 0: all where there is no 1.", "clz"),
    bits("ctz", "How many bits below the lowest 1 are 0: all where there is no 1.", "ctz"),
    bits("brev", "The bits of an integer in the opposite order.", "reverse_bits"),
];

/// A function that packed functions have, too.
pub(super) const fn plain(row: Row) -> Builtin {
    Builtin { name: row.name, takes: row.takes, doc: row.doc, data: "", run: call_plain }
}

fn call_plain(cx: &mut Elaborator<'_>, given: &Given) -> Elaborated {
    if given.is_poisoned() {
        return Elaborated::Poison;
    }
    let row = plain::find(given.row.name);
    let value = row.and_then(|row| plain::run(cx, row, &given.args(), given.span));
    value.unwrap_or(Elaborated::Poison)
}

impl Plain for Elaborator<'_> {
    fn constant<'v>(&self, value: &'v Elaborated) -> Option<Constant<'v, Elaborated>> {
        match value {
            Elaborated::Int(int) => Some(Constant::Int(int)),
            Elaborated::Float(float) => Some(Constant::Float(*float)),
            Elaborated::Text(text) => Some(Constant::Text(text)),
            Elaborated::Tuple(tuple) => Some(Constant::Tuple(tuple.items.clone())),
            _ => None,
        }
    }

    fn of_int(&self, int: Integer) -> Elaborated {
        Elaborated::Int(int)
    }

    fn of_float(&self, float: f64) -> Elaborated {
        Elaborated::Float(float)
    }

    fn alone(&mut self, x: &Arg) -> Option<Elaborated> {
        Some(x.value.clone())
    }

    fn extreme(
        &mut self,
        of: Extreme,
        (a, b): (Elaborated, &Arg),
        span: Span,
    ) -> Option<Elaborated> {
        let op = match of {
            Extreme::Min => Binary::Min,
            Extreme::Max => Binary::Max,
        };
        Some(self.extreme_of(op, &a, &b.value, span))
    }

    fn ceil_div(&mut self, a: &Arg, b: &Arg, span: Span) -> Option<Elaborated> {
        let common = match (self.emit.kind(&a.value), self.emit.kind(&b.value)) {
            (Some(x), Some(y)) => self.emit.common(x, y),
            _ => Ok(Scalar::I64),
        };
        match common {
            Ok(scalar)
                if scalar.is_int() && !(scalar == Scalar::I64 && self.emit.is_extent(&b.value)) =>
            {
                return self.ceil_div_of_type(a, b, scalar, span);
            }
            Err(clash @ Clash::Types(..)) => {
                return Some(self.clash(&clash, "`kp.ceil_div`", span));
            }
            Ok(_) | Err(Clash::Bool) => {}
        }
        let (a, b) = (self.read_index(&a.value, a.span)?, self.read_index(&b.value, b.span)?);
        // The algebra divides by no 0, and by 0 it is 0 here.
        if self.emit.facts_of_value(b).min < 1 {
            return Some(Elaborated::Typed(self.emit.ceil_div_value(a, b)));
        }
        let (a, b) = (self.emit.leaf(a), self.emit.leaf(b));
        let result = kernpack_layout::Arith::ceil_div(&mut self.emit, &a, &b);
        self.algebra(result, span).map(|result| self.emit.index_value(&result))
    }

    fn abs(&mut self, x: &Arg) -> Option<Elaborated> {
        match self.emit.scalar_of_name(&x.value) {
            Some(scalar) if scalar != Scalar::Bool => {
                let each = &mut |cx: &mut Self, one| cx.emit.unary_of(Unary::Abs, &one);
                Some(self.each_lane(&x.value, scalar, each))
            }
            _ => {
                self.expects("a number", "x", x);
                None
            }
        }
    }

    fn expects(&mut self, what: &str, name: &str, found: &Arg) {
        if !found.value.is_poison() {
            let message = format!("expected {what}, found {}", self.emit.describe(&found.value));
            self.mistake("type", found.span, message, format!("pass {what} as `{name}`"));
        }
    }
}

impl Emission {
    /// Whether an integer is known to be a number to divide indices by.
    fn is_extent(&self, value: &Elaborated) -> bool {
        match value {
            Elaborated::Typed(value) => self.facts_of_value(*value).min >= 0,
            value => value.as_int().is_some_and(|value| value > 0),
        }
    }
}

impl Elaborator<'_> {
    /// The quotient rounded down, and one more where a rest is left; 0 where it is by zero.
    fn ceil_div_of_type(
        &mut self,
        a: &Arg,
        b: &Arg,
        scalar: Scalar,
        span: Span,
    ) -> Option<Elaborated> {
        for (name, arg) in [("a", a), ("b", b)] {
            if let Elaborated::Elements(_) = arg.value {
                self.expects("an integer", name, arg);
                return None;
            }
        }
        if !self.fits(&a.value, scalar, a.span) || !self.fits(&b.value, scalar, b.span) {
            return None;
        }
        let (a, b) = (&a.value, &b.value);
        let quotient = self.emit.binary_of_type(Binary::FloorDiv, a, b, scalar);
        let rest = self.emit.binary_of_type(Binary::FloorMod, a, b, scalar);
        let zero = Elaborated::Const(Const::int(scalar, 0));
        let mut is_more = self.compare_numbers(CompareOp::Ne, &rest, &zero, span);
        if b.as_int().is_none_or(|by| by == 0) {
            let is_divided = self.compare_numbers(CompareOp::Ne, b, &zero, span);
            is_more = is_more
                .zip(is_divided)
                .map(|(more, is_divided)| self.binary(BinaryOp::And, &more, &is_divided, span));
        }
        let more = self.cast(&is_more?, scalar, None, span);
        Some(self.binary(BinaryOp::Add, &quotient, &more, span))
    }

    fn extreme_of(&mut self, op: Binary, a: &Elaborated, b: &Elaborated, span: Span) -> Elaborated {
        if a.is_poison() || b.is_poison() {
            return Elaborated::Poison;
        }
        let (Some(x), Some(y)) = (self.emit.kind(a), self.emit.kind(b)) else {
            let message = format!(
                "`kp.{}` of {} and {}",
                op.name(),
                self.emit.describe(a),
                self.emit.describe(b)
            );
            return self.mistake("type", span, message, "pass numbers");
        };
        if let (Kind::Int | Kind::Float, Kind::Int | Kind::Float) = (x, y)
            && let Some(Elaborated::Bool(is_less)) = self.compare_numbers(CompareOp::Le, a, b, span)
        {
            let is_first = is_less == (op == Binary::Min);
            return if is_first { a.clone() } else { b.clone() };
        }
        let scalar = match self.emit.common(x, y) {
            Ok(scalar) => scalar,
            Err(clash) => return self.clash(&clash, &format!("`kp.{}`", op.name()), span),
        };
        if !self.fits(a, scalar, span) || !self.fits(b, scalar, span) {
            return Elaborated::Poison;
        }
        self.lanes(a, b, scalar, span, &mut |cx, a, b| cx.emit.binary_of_type(op, &a, &b, scalar))
    }
}

fn operator(cx: &mut Elaborator<'_>, given: &Given) -> Elaborated {
    let op = match given.row.data {
        "+" => BinaryOp::Add,
        "-" => BinaryOp::Sub,
        _ => BinaryOp::Mul,
    };
    cx.binary(op, given.get("a"), given.get("b"), given.span)
}

fn select(cx: &mut Elaborator<'_>, given: &Given) -> Elaborated {
    if given.is_poisoned() {
        return Elaborated::Poison;
    }
    let (a, b) = (given.get("a").clone(), given.get("b").clone());
    let condition = given.get("condition").clone();
    if let Elaborated::Elements(conditions) = &condition {
        return select_each(cx, given, conditions, &a, &b);
    }
    match cx.read_condition(&condition, given.at("condition")) {
        None => Elaborated::Poison,
        Some(Condition::Constant(true)) => chosen(cx, a, &b, given.span),
        Some(Condition::Constant(false)) => chosen(cx, b, &a, given.span),
        Some(Condition::Typed(condition)) => cx.select(condition, &a, &b, given.span),
    }
}

/// The value that is chosen while compiling, with the type that it would have had in the kernel.
fn chosen(
    cx: &mut Elaborator<'_>,
    value: Elaborated,
    other: &Elaborated,
    span: Span,
) -> Elaborated {
    let (Some(kind), Some(met)) = (cx.emit.kind(&value), cx.emit.kind(other)) else { return value };
    if kind == met {
        return value;
    }
    match cx.emit.common(kind, met) {
        Ok(common) => cx.cast(&value, common, None, span),
        Err(clash) => cx.clash(&clash, "a choice", span),
    }
}

fn select_each(
    cx: &mut Elaborator<'_>,
    given: &Given,
    conditions: &Arc<Elements>,
    a: &Elaborated,
    b: &Elaborated,
) -> Elaborated {
    if conditions.scalar != Scalar::Bool {
        return cx.expected("bools", given, "condition");
    }
    let n_lanes = conditions.items.len();
    for (value, name) in [(a, "a"), (b, "b")] {
        if let Elaborated::Elements(elements) = value
            && elements.items.len() != n_lanes
        {
            let message = format!("{n_lanes} bools for {} elements", elements.items.len());
            let help = "make them of one shape, or pass one number for all";
            return cx.mistake("shape", given.at(name), message, help);
        }
    }
    let lane = |value: &Elaborated, lane: usize| match value {
        Elaborated::Elements(elements) => elements.items[lane].clone(),
        one => one.clone(),
    };
    let mut items = Vec::new();
    for (number, condition) in conditions.items.iter().enumerate() {
        let condition = cx.emit.typed(condition, Scalar::Bool);
        items.push(cx.select(condition, &lane(a, number), &lane(b, number), given.span));
    }
    let scalar = items.first().and_then(|one| cx.emit.scalar_of_name(one)).unwrap_or(Scalar::F32);
    let shape = conditions.shape.clone();
    Elaborated::Elements(Arc::new(Elements { scalar, shape, items }))
}

fn convert(cx: &mut Elaborator<'_>, given: &Given) -> Elaborated {
    cx.cast_as_given(&given.get("x").clone(), given, given.at("x"))
}

impl Elaborator<'_> {
    /// A number as the type, and rounded as, that a call says.
    pub(super) fn cast_as_given(
        &mut self,
        value: &Elaborated,
        given: &Given,
        span: Span,
    ) -> Elaborated {
        let Some(to) = self.dtype_arg(given, "dtype") else { return Elaborated::Poison };
        let rounding = given.opt("rounding").cloned().map(|arg| self.rounding(&arg));
        match rounding {
            // What it says was a mistake.
            Some(None) => Elaborated::Poison,
            rounding => self.cast(value, to, rounding.flatten(), span),
        }
    }
}

fn bitcast(cx: &mut Elaborator<'_>, given: &Given) -> Elaborated {
    let Some(to) = cx.dtype_arg(given, "dtype") else { return Elaborated::Poison };
    let value = given.get("x").clone();
    let Some(kind) = cx.emit.kind(&value) else { return cx.expected("a number", given, "x") };
    let from = kind.alone();
    if from.bits() != to.bits() || (from == Scalar::Bool) != (to == Scalar::Bool) {
        let message = format!("{from} has {} bits, and {to} has {}", from.bits(), to.bits());
        return cx.mistake("type", given.span, message, "choose a dtype of as many bits");
    }
    if !cx.fits(&value, from, given.span) {
        return Elaborated::Poison;
    }
    cx.each_lane(&value, to, &mut |cx, one| {
        let typed = cx.emit.typed(&one, from);
        let result = cx.emit.b.bitcast(typed, Type::Scalar(to));
        cx.emit.b.known(result).map_or(Elaborated::Typed(result), Elaborated::of_const)
    })
}

fn is_nan(cx: &mut Elaborator<'_>, given: &Given) -> Elaborated {
    let value = given.get("x").clone();
    match (&value, cx.emit.scalar_of_name(&value)) {
        (Elaborated::Float(float), _) => Elaborated::Bool(float.is_nan()),
        (_, Some(scalar)) if scalar.is_float() => {
            let holds = cx.compare_numbers(CompareOp::Ne, &value, &value, given.span);
            holds.unwrap_or(Elaborated::Poison)
        }
        _ => cx.expected("a float", given, "x"),
    }
}

fn mul_high(cx: &mut Elaborator<'_>, given: &Given) -> Elaborated {
    let (a, b) = (given.get("a").clone(), given.get("b").clone());
    let (Some(x), Some(y)) = (cx.emit.kind(&a), cx.emit.kind(&b)) else {
        return cx.expected(
            "an integer",
            given,
            if cx.emit.kind(&a).is_none() { "a" } else { "b" },
        );
    };
    match cx.emit.common(x, y) {
        Ok(scalar) if scalar.is_int() => {
            if !cx.fits(&a, scalar, given.span) || !cx.fits(&b, scalar, given.span) {
                return Elaborated::Poison;
            }
            cx.lanes(&a, &b, scalar, given.span, &mut |cx, a, b| {
                cx.emit.binary_of_type(Binary::MulHigh, &a, &b, scalar)
            })
        }
        Ok(_) => cx.expected("an integer", given, "a"),
        Err(clash) => cx.clash(&clash, "`kp.mul_hi`", given.span),
    }
}

fn of_bits(cx: &mut Elaborator<'_>, given: &Given) -> Elaborated {
    let value = given.get("x").clone();
    let scalar = match cx.emit.kind(&value) {
        Some(Kind::Int) => Scalar::I64,
        Some(Kind::Of(scalar)) if scalar.is_int() => scalar,
        _ => return cx.expected("an integer", given, "x"),
    };
    if !cx.fits(&value, scalar, given.span) {
        return Elaborated::Poison;
    }
    cx.each_lane(&value, scalar, &mut |cx, one| {
        let typed = cx.emit.typed(&one, scalar);
        let result = cx.emit.call_row(given.row.data, &[typed]);
        cx.emit.b.known(result).map_or(Elaborated::Typed(result), Elaborated::of_const)
    })
}
