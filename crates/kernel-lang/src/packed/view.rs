// SPDX-License-Identifier: Apache-2.0
//! `kp.view(x, layout)`: the same memory with another layout. What the layout reaches lies inside
//! the tensor, by what is known, or by rules. `kp.make_tensor(p, layout)`: the memory behind a
//! pointer, of which nothing is known.

use super::algebra::expr;
use super::expression::Evaluator;
use super::number::Row;
use super::value::Evaluated;
use crate::algebra::Algebra;
use crate::argument::{Dim, TensorArg};
use crate::call::Arg;
use kernpack_layout::{self as layout, Layout};
use kernpack_syntax::{Diagnostic, Span};
use kernpack_validators::expr::{Expr as Number, Op};
use kernpack_validators::{Comparison, Rule, RuleKind};

/// The function.
pub(super) const VIEW: Row = Row {
    name: "view",
    takes: &["tensor", "layout"],
    doc: "A tensor of the same memory with another layout. The tensor is compact, and what the \
          layout reaches lies inside it: a rule of the signature, where that is not known.",
};

/// The function that kernels have too.
pub(super) const MAKE_TENSOR: Row = Row {
    name: "make_tensor",
    takes: &["pointer", "layout"],
    doc: "The memory behind a pointer parameter as a tensor with that layout. Nothing says how \
          much memory there is: whoever calls has to know.",
};

impl Evaluator<'_> {
    /// `kp.make_tensor(pointer, layout)`
    pub(super) fn make_tensor(
        &mut self,
        pointer: &Arg<Evaluated>,
        layout: &Arg<Evaluated>,
    ) -> Option<Evaluated> {
        let Evaluated::Pointer(of) = &pointer.value else {
            return self.expected("a pointer parameter", &pointer.value, pointer.span);
        };
        let (view, swizzle) = self.read_layout(&layout.value, layout.span)?;
        if swizzle.is_some() || !view.is_plain() {
            return self.no_view(layout.span);
        }
        Some(Evaluated::Tensor(Box::new(TensorArg { view, ..(**of).clone() })))
    }

    fn no_view(&mut self, span: Span) -> Option<Evaluated> {
        let message = "memory is viewed by a layout of plain strides, without a swizzle";
        let problem = Diagnostic::new("layout", message).label(span, "another one");
        self.report(problem.help("swizzle it in the kernel"))
    }

    /// `kp.view(tensor, layout)`
    pub(super) fn view(
        &mut self,
        tensor: &Arg<Evaluated>,
        layout: &Arg<Evaluated>,
        span: Span,
    ) -> Option<Evaluated> {
        let Evaluated::Tensor(of) = &tensor.value else {
            return self.expected("a tensor", &tensor.value, tensor.span);
        };
        let Evaluated::Layout(view, swizzle) = &layout.value else {
            return self.expected("a layout", &layout.value, layout.span);
        };
        if swizzle.is_some() || !view.is_plain() {
            return self.no_view(layout.span);
        }
        if !self.is_dense(&of.view) {
            let message = format!("`{}` is not known to be compact", of.name);
            let problem = Diagnostic::new("layout", message);
            let problem = problem.label(tensor.span, format!("its layout is {}", of.view));
            let help = "view a parameter that is compact: leave out `strides=`";
            return self.report(problem.help(help));
        }
        self.demand_inside(view, &of.view, span)?;
        Some(Evaluated::Tensor(Box::new(TensorArg { view: view.clone(), ..(**of).clone() })))
    }

    /// Whether a layout is known to reach each index up to its size once: its strides are those of
    /// a compact tensor, the last mode or the first being the fastest.
    fn is_dense(&self, view: &Layout<Dim>) -> bool {
        let leaves = view.leaves();
        let is_compact = |order: &[usize]| {
            let mut next = Number::Int(1);
            order.iter().all(|at| {
                let mode = leaves[*at];
                let (extent, stride) = (expr(&mode.extent), expr(&mode.stride.scale));
                let is_next = extent.as_int() == Some(1) || self.are_same(&stride, &next);
                next = Number::binary(Op::Mul, next.clone(), extent);
                is_next
            })
        };
        let first_fastest: Vec<_> = (0..leaves.len()).collect();
        let last_fastest: Vec<_> = (0..leaves.len()).rev().collect();
        view.is_plain() && (is_compact(&first_fastest) || is_compact(&last_fastest))
    }

    /// Whether two products are of the same factors.
    fn are_same(&self, a: &Number, b: &Number) -> bool {
        self.factors(a) == self.factors(b)
    }

    /// The constant factor of a product, and the others in one order.
    fn factors(&self, number: &Number) -> (i128, Vec<String>) {
        match self.facts.canonical(number) {
            Number::Int(value) => (value.into(), vec![]),
            Number::Binary(Op::Mul, a, b) => {
                let ((a, mut all), (b, others)) = (self.factors(&a), self.factors(&b));
                all.extend(others);
                all.sort();
                (a.saturating_mul(b), all)
            }
            other => (1, vec![other.to_string()]),
        }
    }

    /// Demands that what a layout reaches lies inside another one, which is dense.
    fn demand_inside(&mut self, view: &Layout<Dim>, of: &Layout<Dim>, span: Span) -> Option<()> {
        for mode in view.leaves() {
            let numbers = [&mode.extent, &mode.stride.scale].map(expr);
            for number in numbers {
                if self.facts.facts(&number).min < 0 {
                    self.demand_compared(number, Comparison::Ge, Number::Int(0), span)?;
                }
            }
        }
        let size = expr(&self.compute(span, |cx| layout::size(cx, of))?);
        let reached = match self.is_dense(view) {
            true => self.compute(span, |cx| layout::size(cx, view))?,
            false => self.compute(span, |cx| layout::cosize(cx, view))?,
        };
        let reached = expr(&reached);
        if self.are_same(&reached, &size) {
            return Some(());
        }
        self.demand_compared(reached, Comparison::Le, size, span)
    }

    fn demand_compared(
        &mut self,
        a: Number,
        comparison: Comparison,
        b: Number,
        span: Span,
    ) -> Option<()> {
        let text = format!("{a} {} {b}", comparison.text());
        match self.decided(Rule { kind: RuleKind::Compare(a, comparison, b), span }) {
            Evaluated::Bool(true) => Some(()),
            Evaluated::Rule(rule) => self.demand_always(rule),
            _ => {
                let message = "a view reaches beyond its tensor";
                let problem = Diagnostic::new("layout", message);
                let problem = problem.label(span, format!("`{text}` does not hold"));
                self.report(problem.help("view no more elements than there are"));
                None
            }
        }
    }
}
