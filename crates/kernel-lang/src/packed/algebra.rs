// SPDX-License-Identifier: Apache-2.0
//! Values of packed functions for the layout algebra, and views of tensors.

use super::condition::constant_rule;
use super::dims::{Dims, Refused};
use super::expression::Evaluator;
use super::limits::too_large;
use super::value::Evaluated;
use crate::algebra::{Algebra, Form, Remake};
use crate::argument::{Dim, TensorArg};
use kernpack_layout::{self as layout, Arith, Coord, Int, Layout, Part, Swizzle, Tiler, Tuple};
use kernpack_syntax::{Diagnostic, Span};
use kernpack_validators::expr::Expr as Number;
use kernpack_validators::{Comparison, Rule, RuleKind};

impl Algebra for Evaluator<'_> {
    type Value = Evaluated;
    type Leaf = Dim;
    type Tensor = Box<TensorArg>;
    type Numbers = Dims;

    fn form(&mut self, value: &Evaluated, span: Span) -> Option<Form<Self>> {
        Some(match value {
            Evaluated::Poison | Evaluated::Optional(..) | Evaluated::NoTensor(..) => {
                self.expected("a tensor", value, span);
                return None;
            }
            Evaluated::None => Form::None,
            Evaluated::Int(_) | Evaluated::Dim(_) => {
                let number = self.number(&(value.clone(), span))?;
                Form::Number(self.facts.int(&number))
            }
            Evaluated::Tuple(items) => {
                Form::Tuple(items.iter().map(|(_, item)| item.clone()).collect())
            }
            Evaluated::Layout(layout, swizzle) => Form::Layout(layout.clone(), *swizzle),
            Evaluated::Tensor(tensor) => Form::Tensor(tensor.clone(), tensor.view.clone()),
            Evaluated::Swizzle(swizzle) => Form::Swizzle(*swizzle),
            _ => Form::Other,
        })
    }

    fn called(&self, value: &Evaluated) -> String {
        value.what().to_string()
    }

    fn refuse(&mut self, problem: Diagnostic) {
        self.report(problem);
    }

    fn compute<T>(
        &mut self,
        span: Span,
        operation: impl FnOnce(&mut Dims) -> layout::Result<T>,
    ) -> Option<T> {
        let mut cx = Dims::new(&self.facts);
        match (operation(&mut cx), cx.refused) {
            (Ok(result), None) => Some(result),
            // What comes behind a number that is too large says nothing.
            (_, Some(Refused::TooLarge)) => {
                self.report(too_large(span));
                None
            }
            (Err(error), _) => {
                self.report(Diagnostic::new("layout", error.to_string()).label(span, "here"));
                None
            }
            (Ok(_), Some(Refused::Unknown(op))) => {
                let message = format!("`{}` of numbers that each call has its own of", op.name());
                let problem = Diagnostic::new("layout", message).label(span, "here");
                self.report(problem.help("make this layout in the kernel"));
                None
            }
        }
    }

    fn of_number(&self, number: &Int<Dim>) -> Evaluated {
        match number {
            Int::Known(value) => Evaluated::Int((*value).into()),
            Int::Dynamic(dim) => Evaluated::number(dim.expr.clone()),
        }
    }

    fn of_tuple(&self, items: Vec<Evaluated>) -> Evaluated {
        Evaluated::tuple(items)
    }

    fn of_layout(&self, layout: Layout<Dim>, swizzle: Option<Swizzle>) -> Evaluated {
        Evaluated::Layout(layout, swizzle)
    }

    fn of_swizzle(&self, swizzle: Swizzle) -> Evaluated {
        Evaluated::Swizzle(swizzle)
    }

    fn of_view(
        &mut self,
        tensor: Box<TensorArg>,
        view: Layout<Dim>,
        _: &Remake<'_, Self, Layout<Dim>>,
    ) -> Evaluated {
        Evaluated::Tensor(Box::new(TensorArg { view, ..*tensor }))
    }

    fn of_part(
        &mut self,
        tensor: Box<TensorArg>,
        part: Part<Dim>,
        _: &Remake<'_, Self, Part<Dim>>,
        span: Span,
    ) -> Option<Evaluated> {
        self.part_of(tensor, part, span)
    }

    fn cut(&mut self, tensor: Box<TensorArg>, _: &Tiler<Dim>) -> Box<TensorArg> {
        tensor
    }

    fn within(&mut self, part: Evaluated, _: &Int<Dim>, _: &Layout<Dim>, _: Span) -> Evaluated {
        part
    }

    fn of_tile(
        &mut self,
        tensor: Box<TensorArg>,
        tiles: Layout<Dim>,
        at: &Coord<Dim>,
        _: &Remake<'_, Self, Layout<Dim>>,
        span: Span,
    ) -> Option<Evaluated> {
        let (layout, offset) = self.compute(span, |cx| layout::slice_and_offset(cx, at, &tiles))?;
        self.part_of(tensor, Part { layout, offset }, span)
    }

    fn all_less(&mut self, pairs: &[(Int<Dim>, Int<Dim>)], span: Span) -> Option<Evaluated> {
        let mut rules = Vec::new();
        for (a, b) in pairs {
            let kind = RuleKind::Compare(expr(a), Comparison::Lt, expr(b));
            match self.decided(Rule { kind, span }) {
                Evaluated::Bool(true) => {}
                Evaluated::Rule(rule) => rules.push(rule),
                known if rules.is_empty() => return Some(known),
                _ => rules.push(constant_rule(false, span)),
            }
        }
        Some(self.all_hold(rules, span))
    }
}

impl Evaluator<'_> {
    /// The view of a tensor that a coordinate leaves free, in which `None` is all of a mode.
    pub fn slice(
        &mut self,
        tensor: Box<TensorArg>,
        at: &Evaluated,
        span: Span,
    ) -> Option<Evaluated> {
        let coord = self.read_coord(at, span)?;
        if !coord.has_free() {
            let problem = Diagnostic::new("packed-value", "elements are read in kernels");
            return self.report(problem.label(span, "an element of a tensor"));
        }
        let view = &tensor.view;
        let (layout, offset) =
            self.compute(span, |cx| layout::slice_and_offset(cx, &coord, view))?;
        self.part_of(tensor, Part { layout, offset }, span)
    }

    fn part_of(
        &mut self,
        tensor: Box<TensorArg>,
        part: Part<Dim>,
        span: Span,
    ) -> Option<Evaluated> {
        let Tuple::Leaf(offset) = part.offset else {
            let problem = Diagnostic::new("layout", "the index of this part is no number");
            return self.report(problem.label(span, "its strides go along modes"));
        };
        let offset = self.compute(span, |cx| cx.add(&tensor.offset, &offset))?;
        Some(Evaluated::Tensor(Box::new(TensorArg { view: part.layout, offset, ..*tensor })))
    }
}

/// A number of layouts as an expression.
pub(super) fn expr(int: &Int<Dim>) -> Number {
    match int {
        Int::Known(value) => Number::Int(*value),
        Int::Dynamic(dim) => dim.expr.clone(),
    }
}
