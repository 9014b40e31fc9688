// SPDX-License-Identifier: Apache-2.0
//! Functions of numbers and of tensors' addresses that packed functions call, Python's among them.

use super::allocation;
use super::choice::STATIC;
use super::expression::Evaluator;
use super::max_blocks::MAX_BLOCKS;
use super::shown::PRINT_TYPE;
use super::value::Evaluated;
use super::view::{MAKE_TENSOR, VIEW};
use crate::algebra::Algebra;
use crate::call::Arg;
use crate::integer::Integer;
use crate::plain::{self, Constant, Extreme, Plain};
use crate::unroll;
use kernpack_layout::Arith;
use kernpack_syntax::{Diagnostic, Span};
use kernpack_validators::expr::{Expr as Number, Op};
use kernpack_validators::{Rule, RuleKind};

/// The function that only packed functions have.
pub(super) const ALIGNED: Row = Row {
    name: "aligned",
    takes: &["tensor", "bytes"],
    doc: "Whether a tensor of the signature begins at a multiple of so many bytes: a condition, \
          which each call answers where the signature does not.",
};

/// A function.
pub(super) struct Row {
    /// Its name, behind `kp.`.
    pub name: &'static str,
    /// Its parameters.
    pub takes: &'static [&'static str],
    /// Its meaning.
    pub doc: &'static str,
}

/// Every function beside the layout algebra, in the order of the reference.
pub(super) fn rows() -> impl Iterator<Item = Row> {
    let plain = plain::ROWS.into_iter();
    let plain =
        plain.map(|plain::Row { name, takes, packed_doc: doc, .. }| Row { name, takes, doc });
    let loops = unroll::ROWS.into_iter();
    let loops =
        loops.map(|unroll::Row { name, takes, packed_doc: doc, .. }| Row { name, takes, doc });
    let all = plain.chain(loops).chain([STATIC]).chain(allocation::ROWS);
    all.chain([VIEW, MAKE_TENSOR, ALIGNED, MAX_BLOCKS, PRINT_TYPE])
}

/// The parameters of the function of that name, if there is one.
pub(super) fn takes(name: &str) -> Option<&'static [&'static str]> {
    rows().find(|row| row.name == name).map(|row| row.takes)
}

impl Plain for Evaluator<'_> {
    fn constant<'v>(&self, value: &'v Evaluated) -> Option<Constant<'v, Evaluated>> {
        match value {
            Evaluated::Int(int) => Some(Constant::Int(int)),
            Evaluated::Float(float) => Some(Constant::Float(*float)),
            Evaluated::Text(text) => Some(Constant::Text(text)),
            Evaluated::Tuple(items) => {
                Some(Constant::Tuple(items.iter().map(|(_, item)| item.clone()).collect()))
            }
            _ => None,
        }
    }

    fn of_int(&self, int: Integer) -> Evaluated {
        Evaluated::Int(int)
    }

    fn of_float(&self, float: f64) -> Evaluated {
        Evaluated::Float(float)
    }

    fn alone(&mut self, x: &Arg<Evaluated>) -> Option<Evaluated> {
        self.number(&(x.value.clone(), x.span)).map(Evaluated::number)
    }

    fn extreme(
        &mut self,
        of: Extreme,
        pair: (Evaluated, &Arg<Evaluated>),
        span: Span,
    ) -> Option<Evaluated> {
        let op = match of {
            Extreme::Min => Op::Min,
            Extreme::Max => Op::Max,
        };
        let (a, b) = (pair.0.expr()?, self.number(&(pair.1.value.clone(), pair.1.span))?);
        self.combined(op, a, b, span).map(Evaluated::number)
    }

    fn ceil_div(
        &mut self,
        a: &Arg<Evaluated>,
        b: &Arg<Evaluated>,
        span: Span,
    ) -> Option<Evaluated> {
        let (left, right) = (self.read_shape(&a.value, a.span), self.read_shape(&b.value, b.span));
        let (left, right) = (left?, right?);
        let Some(pairs) = left.zip(&right, &mut |a, b| (a.clone(), b.clone())) else {
            let problem = Diagnostic::new("packed-value", "the tuples are not nested alike");
            return self.report(problem.label(span, format!("`{left}` and `{right}`")));
        };
        if right.leaves().iter().any(|divisor| divisor.is(0)) {
            return self.report(plain::by_zero::<Self>(b.span));
        }
        let divided =
            self.compute(span, |numbers| pairs.try_map(&mut |(a, b)| numbers.ceil_div(a, b)))?;
        Some(match &divided {
            kernpack_layout::Tuple::Leaf(number) => self.of_number(number),
            nested => crate::algebra::shape_value(self, nested),
        })
    }

    fn abs(&mut self, x: &Arg<Evaluated>) -> Option<Evaluated> {
        match self.folded(x.value.clone()) {
            Evaluated::Int(int) => Some(Evaluated::Int(int.abs())),
            value => self.expected("a constant number", &value, x.span),
        }
    }

    fn expects(&mut self, what: &str, _: &str, found: &Arg<Evaluated>) {
        self.expected(what, &found.value, found.span);
    }
}

impl Evaluator<'_> {
    /// A number of layouts and expressions.
    pub fn number(&mut self, (value, span): &(Evaluated, Span)) -> Option<Number> {
        if let Evaluated::Int(value) = value
            && value.as_i64().is_none()
        {
            let problem = Diagnostic::new("packed-value", format!("{value} has more than 64 bits"));
            self.report(problem.label(*span, "no `int64`").help("pass it to the kernel as it is"));
            return None;
        }
        match value.expr() {
            Some(expr) if !matches!(value, Evaluated::Bool(_)) => Some(self.facts.canonical(&expr)),
            _ => {
                self.expected("an integer", value, *span);
                None
            }
        }
    }

    /// `kp.aligned(tensor, bytes)`
    pub fn aligned(
        &mut self,
        tensor: &Arg<Evaluated>,
        bytes: &Arg<Evaluated>,
        span: Span,
    ) -> Option<Evaluated> {
        let of = match &tensor.value {
            Evaluated::Tensor(of) if of.offset.is(0) => of,
            value => return self.expected("a tensor parameter", value, tensor.span),
        };
        let bytes = self.read_constant(&bytes.value, bytes.span, (1, i64::from(u32::MAX)))?;
        let Some(power) = u32::try_from(bytes).ok().filter(|bytes| bytes.is_power_of_two()) else {
            let problem = Diagnostic::new("packed-value", "an alignment is a power of two");
            return self.report(problem.label(span, format!("{bytes} is none")));
        };
        if of.align.is_multiple_of(power) {
            return Some(Evaluated::Bool(true));
        }
        let kind = RuleKind::Aligned(of.name.to_string(), power);
        Some(self.decided(Rule { kind, span }))
    }
}
