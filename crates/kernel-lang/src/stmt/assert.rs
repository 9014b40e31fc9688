// SPDX-License-Identifier: Apache-2.0
//! `assert`: what is known while compiling is asserted then, and the rest by the running kernel,
//! whose threads go on where it does not hold.
//!
//! A message is a text, or an f-string of numbers. What it shows is computed where the assertion
//! fails, unless that reads nothing.

use crate::elaborate::Elaborator;
use crate::finish::is_pure;
use crate::number::Condition;
use crate::python::tree::{Expr, ExprKind, Formatted};
use kernpack_kernel_ir::kernel::Value;
use kernpack_kernel_ir::op::{Assert, OpKind, Region};
use kernpack_syntax::Span;

/// The message of an assertion that has none.
const NO_MESSAGE: &str = "an assertion does not hold";

/// A message: `{}` stands for the next value.
struct Message {
    text: String,
    values: Vec<Value>,
}

impl Elaborator<'_> {
    /// `assert test, message`
    pub(super) fn assert(&mut self, test: &Expr, message: Option<&Expr>, span: Span) {
        let value = self.expr(test);
        let guards = self.guards_of(test, &value);
        let condition = self.read_condition(&value, test.span);
        let (message, region) = self.in_part(&guards.1, span, |cx| cx.message(message));
        match (condition, message) {
            (None | Some(Condition::Constant(true)), _) | (Some(Condition::Typed(_)), None) => {}
            (Some(Condition::Constant(false)), message) => {
                let text = message.map_or(NO_MESSAGE.to_string(), |message| self.known(&message));
                self.mistake("assert", span, text, "see the arguments that the kernel is given");
            }
            (Some(Condition::Typed(condition)), Some(Message { text, values })) => {
                let assert = OpKind::Assert(Assert { condition, text, values });
                if is_pure(&region) {
                    self.emit.b.append(region);
                    return self.emit.b.effect(assert);
                }
                self.emit.b.reopen(region);
                self.emit.b.effect(assert);
                let fails = self.emit.b.close();
                self.emit.b.if_else(condition, Region::default(), fails);
            }
        }
    }

    /// A message; nothing where there is a mistake in it.
    fn message(&mut self, message: Option<&Expr>) -> Option<Message> {
        let Some(expr) = message else {
            return Some(Message { text: NO_MESSAGE.to_string(), values: vec![] });
        };
        let (pieces, fields) = match &expr.kind {
            ExprKind::Text(text) => (vec![text.value.to_string()], &[][..]),
            ExprKind::Formatted(Formatted { pieces, fields }) => (pieces.clone(), &fields[..]),
            _ => {
                let value = self.expr(expr);
                let found = self.emit.describe(&value);
                let message = format!("a message is a text, found {found}");
                let help = "write a text, or an f-string as in `f\"{i} of {n}\"`";
                if !value.is_poison() {
                    self.mistake("assert", expr.span, message, help);
                }
                return None;
            }
        };
        let values: Vec<_> = fields.iter().map(|field| self.shown_number(field)).collect();
        let text = pieces.join("{}");
        self.is_message(&pieces, &values, expr.span).then_some(())?;
        Some(Message { text, values: values.into_iter().collect::<Option<_>>()? })
    }

    /// The number that a field of an f-string is.
    fn shown_number(&mut self, field: &Expr) -> Option<Value> {
        let value = self.expr(field);
        match self.typed_alone(&value, field.span) {
            Some(typed) => typed.ok().map(|(number, _)| number),
            None => {
                let message = format!("{} cannot be shown", self.emit.describe(&value));
                if !value.is_poison() {
                    self.mistake("assert", field.span, message, "show numbers");
                }
                None
            }
        }
    }

    /// Whether there is room for a message, and no place in it that is none; reports where not.
    fn is_message(&mut self, pieces: &[String], values: &[Option<Value>], span: Span) -> bool {
        let (n_bytes, n_values) = (pieces.join("{}").len(), values.len());
        let (most_bytes, most_values) = (Assert::MOST_BYTES, Assert::MOST_VALUES);
        let (message, help) = if n_values > most_values {
            let message = format!("a message of {n_values} values: the most are {most_values}");
            (message, "show fewer, or assert twice")
        } else if n_bytes > most_bytes {
            let message = format!("a message of {n_bytes} bytes: the most are {most_bytes}");
            (message, "say less")
        } else if pieces.iter().any(|piece| piece.contains("{}") || piece.contains('\0')) {
            let message = "a message with `{}` or NUL in it".to_string();
            (message, "show a value as in `f\"{i} of {n}\"`")
        } else {
            return true;
        };
        self.mistake("assert", span, message, help);
        false
    }

    /// A message with the values that are known while compiling, and the types of the others.
    fn known(&self, message: &Message) -> String {
        let mut pieces = message.text.split("{}");
        let mut text = pieces.next().unwrap_or_default().to_string();
        for (piece, value) in pieces.zip(&message.values) {
            text += &match self.emit.b.known(*value) {
                Some(constant) => constant.to_string(),
                None => self.emit.b.ty(*value).to_string(),
            };
            text += piece;
        }
        text
    }
}
