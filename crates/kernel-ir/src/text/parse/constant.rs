// SPDX-License-Identifier: Apache-2.0
//! Reads constants, of which the type is known: `-3`, `true`, `1.5`, `inf`, `nan`,
//! `nan:0x7fc00001`.

use super::{Parsed, Parser};
use crate::constant::Const;
use crate::types::{Class, Scalar};
use kernpack_syntax::Diagnostic;

impl Parser<'_> {
    pub(super) fn constant(&mut self, scalar: Scalar) -> Parsed<Const> {
        let problem = self.cursor.unexpected(&format!("a constant of {scalar}"));
        let constant = match scalar.class() {
            Class::Bool => self.truth(),
            Class::Signed | Class::Unsigned => self.int(scalar),
            Class::Float => self.float(scalar),
        };
        constant.ok_or(problem)
    }

    fn truth(&mut self) -> Option<Const> {
        let value = self.cursor.eat_word("true");
        (value || self.cursor.eat_word("false")).then(|| Const::bool(value))
    }

    fn int(&mut self, scalar: Scalar) -> Option<Const> {
        let is_negative = self.cursor.eat("-");
        let magnitude = i128::from(self.cursor.number::<u64>("").ok()?);
        let value = if is_negative { -magnitude } else { magnitude };
        let constant = Const::from_bits(scalar, value as u64);
        (constant.to_string() == value.to_string()).then_some(constant)
    }

    fn float(&mut self, scalar: Scalar) -> Option<Const> {
        let is_negative = self.cursor.eat("-");
        if !is_negative && self.cursor.eat_word("nan") {
            return self.nan(scalar);
        }
        let value: Const = match self.cursor.eat_word("inf") {
            true => Const::float(scalar, f64::INFINITY),
            // A float32 is rounded once, from its digits.
            false if scalar == Scalar::F32 => {
                Const::float(scalar, f64::from(self.digits::<f32>()?))
            }
            false => Const::float(scalar, self.digits::<f64>()?),
        };
        let sign = if is_negative { 1 << (scalar.bits() - 1) } else { 0 };
        Some(Const::from_bits(scalar, value.bits() | sign))
    }

    fn digits<T: std::str::FromStr>(&mut self) -> Option<T> {
        let digits = self.cursor.peek().text;
        if !digits.starts_with(|c: char| c.is_ascii_digit()) {
            return None;
        }
        self.cursor.bump();
        digits.parse().ok()
    }

    /// The usual NaN, or the one whose bits follow.
    fn nan(&mut self, scalar: Scalar) -> Option<Const> {
        if !self.cursor.eat(":") {
            return Some(Const::float(scalar, f64::NAN));
        }
        let token = self.cursor.bump();
        let bits = u64::from_str_radix(token.text.strip_prefix("0x")?, 16).ok()?;
        let constant = Const::from_bits(scalar, bits);
        let is_nan = constant.as_float().is_some_and(f64::is_nan);
        (is_nan && constant.bits() == bits).then_some(constant)
    }

    /// Of what is no scalar.
    pub(super) fn no_constant(&self, ty: crate::types::Type) -> Diagnostic {
        self.cursor.unexpected(&format!("an operation that gives {ty}"))
    }
}
