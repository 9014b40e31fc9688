// SPDX-License-Identifier: Apache-2.0
//! Functions of numbers and of tensors' addresses that packed functions call, Python's among them.

use super::expression::Evaluator;
use super::value::Value;
use crate::algebra::Algebra;
use kernpack_layout::Arith;
use kernpack_syntax::{Diagnostic, Span};
use kernpack_validators::expr::{Expr as Number, Op};
use kernpack_validators::{Rule, RuleKind};

/// A function.
pub(super) struct Row {
    /// Its name, behind `kp.`; Python's own have it without that, too.
    pub name: &'static str,
    /// Its parameters: `*xs` is any number.
    pub takes: &'static [&'static str],
    /// What it does.
    pub doc: &'static str,
    /// Whether Python has it.
    pub is_python: bool,
    /// What it gives.
    pub run: fn(&mut Evaluator<'_>, Args<'_>, Span) -> Option<Value>,
}

/// What is passed.
type Args<'a> = &'a [(Value, Span)];

/// Every function, in the order of the reference.
pub(super) const ROWS: &[Row] = &[
    Row {
        name: "ceil_div",
        takes: &["a", "b"],
        doc: "The quotient of integers, rounded up; of tuples, of each pair.",
        is_python: false,
        run: |cx, args, span| cx.ceil_div(args.first()?, args.get(1)?, span),
    },
    Row {
        name: "min",
        takes: &["*xs"],
        doc: "The smallest integer.",
        is_python: true,
        run: |cx, args, span| cx.extreme(Op::Min, args, span),
    },
    Row {
        name: "max",
        takes: &["*xs"],
        doc: "The largest integer.",
        is_python: true,
        run: |cx, args, span| cx.extreme(Op::Max, args, span),
    },
    Row {
        name: "abs",
        takes: &["x"],
        doc: "A constant without its sign.",
        is_python: true,
        run: |cx, args, _| cx.abs(args.first()?),
    },
    Row {
        name: "len",
        takes: &["x"],
        doc: "How many items a tuple has.",
        is_python: true,
        run: |cx, args, _| cx.len(args.first()?),
    },
    Row {
        name: "aligned",
        takes: &["tensor", "bytes"],
        doc: "Whether a tensor of the signature begins at a multiple of so many bytes: a \
              condition, which each call answers where the signature does not.",
        is_python: false,
        run: |cx, args, span| cx.aligned(args.first()?, args.get(1)?, span),
    },
];

/// The function of that name.
pub(super) fn find(name: &str) -> Option<&'static Row> {
    ROWS.iter().find(|row| row.name == name)
}

impl Evaluator<'_> {
    /// A number of layouts and expressions.
    pub fn number(&mut self, (value, span): &(Value, Span)) -> Option<Number> {
        if let Value::Int(value) = value
            && value.as_i64().is_none()
        {
            let problem = Diagnostic::new("packed-value", format!("{value} has more than 64 bits"));
            self.report(problem.label(*span, "no `int64`").help("pass it to the kernel as it is"));
            return None;
        }
        match value.expr() {
            Some(expr) if !matches!(value, Value::Bool(_)) => Some(self.facts.canonical(&expr)),
            _ => {
                self.expected("an integer", value, *span);
                None
            }
        }
    }

    fn extreme(&mut self, op: Op, args: Args<'_>, span: Span) -> Option<Value> {
        let args = match args {
            [(Value::Tuple(items), at)] => {
                items.iter().map(|(_, item)| (item.clone(), *at)).collect()
            }
            args => args.to_vec(),
        };
        let Some((first, rest)) = args.split_first() else {
            let problem = Diagnostic::new("packed-argument", "this is the extreme of nothing");
            return self.report(problem.label(span, "here").help("pass integers"));
        };
        let mut extreme = self.number(first)?;
        for next in rest {
            let next = self.number(next)?;
            extreme = self.combined(op, extreme, next, span)?;
        }
        Some(Value::number(extreme))
    }

    fn abs(&mut self, arg: &(Value, Span)) -> Option<Value> {
        match &self.folded(arg.0.clone()) {
            Value::Float(value) => Some(Value::Float(value.abs())),
            Value::Int(value) => Some(Value::Int(value.abs())),
            value => self.expected("a constant number", value, arg.1),
        }
    }

    fn len(&mut self, arg: &(Value, Span)) -> Option<Value> {
        match &arg.0 {
            Value::Tuple(items) => Some(Value::Int((items.len() as i128).into())),
            value => self.expected("a tuple", value, arg.1),
        }
    }

    fn ceil_div(&mut self, a: &(Value, Span), b: &(Value, Span), span: Span) -> Option<Value> {
        let (left, right) = (self.read_shape(&a.0, a.1), self.read_shape(&b.0, b.1));
        let (left, right) = (left?, right?);
        let Some(pairs) = left.zip(&right, &mut |a, b| (a.clone(), b.clone())) else {
            let problem = Diagnostic::new("packed-value", "the tuples are not nested alike");
            return self.report(problem.label(span, format!("`{left}` and `{right}`")));
        };
        if right.leaves().iter().any(|divisor| divisor.is(0)) {
            let problem = Diagnostic::new("packed-value", "a division by 0 has no value");
            return self.report(problem.label(b.1, "this is 0"));
        }
        let divided =
            self.compute(span, |numbers| pairs.try_map(&mut |(a, b)| numbers.ceil_div(a, b)))?;
        Some(match &divided {
            kernpack_layout::Tuple::Leaf(number) => self.of_number(number),
            nested => crate::algebra::shape_value(self, nested),
        })
    }

    fn aligned(
        &mut self,
        tensor: &(Value, Span),
        bytes: &(Value, Span),
        span: Span,
    ) -> Option<Value> {
        let of = match &tensor.0 {
            Value::Tensor(of) if of.offset.is(0) => of,
            value => return self.expected("a tensor parameter", value, tensor.1),
        };
        let bytes = self.read_constant(&bytes.0, bytes.1, (1, i64::from(u32::MAX)))?;
        let Some(power) = u32::try_from(bytes).ok().filter(|bytes| bytes.is_power_of_two()) else {
            let problem = Diagnostic::new("packed-value", "an alignment is a power of two");
            return self.report(problem.label(span, format!("{bytes} is none")));
        };
        if of.align.is_multiple_of(power) {
            return Some(Value::Bool(true));
        }
        let kind = RuleKind::Aligned(of.name.to_string(), power);
        Some(self.decided(Rule { kind, span }))
    }
}
