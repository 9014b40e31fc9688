// SPDX-License-Identifier: Apache-2.0
//! `assert`: a rule of the signature, which stands in the body.
//!
//! One that is known to hold says nothing. One that is known not to hold refuses the calls on the
//! sides of `if`s around it; where there are none it would refuse all, and is a mistake.

use super::body::{End, State, Walk};
use super::value::Evaluated;
use crate::python::tree::Expr;
use kernpack_syntax::{Diagnostic, Span};

impl Walk<'_> {
    /// `assert test, text`
    pub(super) fn assert(&mut self, state: State, test: &Expr, text: Option<&Expr>) -> End {
        let text = text.and_then(|text| self.text_of(text));
        match self.evaluator.truth(test) {
            Some(Evaluated::Rule(rule)) => _ = self.evaluator.demand(rule),
            Some(Evaluated::Bool(false)) => {
                let text = text.unwrap_or_else(|| "an assertion does not hold".to_string());
                return self.never(state, test.span, text);
            }
            // It is known to hold, or a mistake was reported.
            _ => {}
        }
        End::Behind(state)
    }

    /// The text, which is for readers: what is no text is a mistake.
    fn text_of(&mut self, text: &Expr) -> Option<String> {
        match self.evaluator.expr(text)? {
            Evaluated::Text(text) => Some(text.to_string()),
            value => {
                self.evaluator.expected("a text", &value, text.span);
                None
            }
        }
    }

    /// No call gets behind this, unless it is not asked: `text` says why.
    pub(super) fn never(&mut self, state: State, span: Span, text: String) -> End {
        if !self.evaluator.facts.sides().is_empty() {
            return match self.evaluator.demand_nothing(span) {
                true => End::Function,
                false => End::Behind(state),
            };
        }
        let problem = Diagnostic::new("assert", text);
        let help = "demand what some calls keep, or let the signature take no other dtypes";
        self.evaluator.report_of_row(problem.help(help), span, "every call is refused here");
        // What is behind it may have other mistakes.
        End::Behind(state)
    }
}
