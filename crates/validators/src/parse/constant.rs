// SPDX-License-Identifier: Apache-2.0
//! Constants among the arguments of kernels: a number, a colon and a C type. A whole number without
//! a type is an expression, which is not read here.

use super::Parser;
use crate::launch::{Constant, Number};
use kernpack_syntax::{Diagnostic, TokenKind};

impl Parser<'_> {
    /// Reads a constant; takes nothing where something else is next.
    pub(super) fn constant(&mut self) -> Result<Option<Constant>, Diagnostic> {
        let (start, first) = (self.cursor.position(), self.peek().span);
        let number = self.number();
        let place = first.to(self.previous());
        match number {
            Some(number) if self.eat(":") => {
                let constant = Constant::new(number, self.c_scalar()?);
                constant.map(Some).map_err(|problem| problem.label(place, "does not fit"))
            }
            Some(Number::Float(value)) if value.is_finite() && self.at_end(&[",", ")"]) => {
                let number = Number::Float(value);
                let message = format!("the constant `{number}` has no C type");
                let help = format!("write `{number}: float32`, or another type");
                Err(Diagnostic::new("constant", message)
                    .label(place, "expected a colon and a type behind it")
                    .help(help))
            }
            _ => {
                self.cursor.rewind(start);
                Ok(None)
            }
        }
    }

    /// A number or its word, behind a minus or not.
    fn number(&mut self) -> Option<Number> {
        let is_negative = self.eat("-");
        let token = self.peek();
        let number = match token.kind {
            TokenKind::Int(value) => Number::Int(value.into()),
            TokenKind::Float(value) => Number::Float(value),
            TokenKind::Name => Number::of_word(token.text)?,
            TokenKind::Text | TokenKind::Mark(_) | TokenKind::Bad | TokenKind::End => return None,
        };
        self.bump();
        if is_negative { number.negated() } else { Some(number) }
    }
}
