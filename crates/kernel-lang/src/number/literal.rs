// SPDX-License-Identifier: Apache-2.0
//! Choices between literals, `1 if condition else 0`: each thread finds out which it is, and the
//! type is still that of what it meets, as a literal's is. What is computed of one has a type.

use super::Kind;
use crate::elaborate::Elaborator;
use crate::emit::Emission;
use crate::value::Elaborated;
use kernpack_kernel_ir::{Scalar, kernel};
use kernpack_syntax::Span;

/// One of two literals, or of choices between such.
#[derive(Clone, Debug)]
pub(crate) struct LiteralChoice {
    condition: kernel::Value,
    sides: [Elaborated; 2],
    /// Of integers, or of floats where one side is a float.
    kind: Kind,
}

impl Emission {
    /// Remembers that a number is a choice between two literals: it has the type of such numbers
    /// that meet nothing.
    pub fn know_literals(
        &mut self,
        chosen: kernel::Value,
        condition: kernel::Value,
        sides: [&Elaborated; 2],
    ) {
        let kind = match sides.map(|side| self.kind(side)) {
            [Some(Kind::Int), Some(Kind::Int)] => Kind::Int,
            [Some(Kind::Int | Kind::Float), Some(Kind::Int | Kind::Float)] => Kind::Float,
            _ => return,
        };
        let choice = LiteralChoice { condition, sides: sides.map(Elaborated::clone), kind };
        self.remember_choice(chosen, choice);
    }

    /// A choice between literals in another type; nothing of any other number.
    pub(super) fn typed_literals(
        &mut self,
        value: kernel::Value,
        scalar: Scalar,
    ) -> Option<kernel::Value> {
        let LiteralChoice { condition, sides, kind: _ } = self.literal_choice(value)?.clone();
        let [then, otherwise] = sides.map(|side| self.typed(&side, scalar));
        Some(self.select_typed(condition, then, otherwise))
    }

    /// The kind of literals that a number is a choice between, if it is one.
    pub(super) fn literal_kind(&self, value: kernel::Value) -> Option<Kind> {
        self.literal_choice(value).map(|choice| choice.kind)
    }
}

impl Elaborator<'_> {
    /// A choice between literals in another type, to which each side is brought; nothing of any
    /// other number.
    pub(super) fn cast_literals(
        &mut self,
        value: kernel::Value,
        scalar: Scalar,
        cast: &mut dyn FnMut(&mut Self, &Elaborated) -> Elaborated,
    ) -> Option<kernel::Value> {
        let LiteralChoice { condition, sides, kind: _ } = self.emit.literal_choice(value)?.clone();
        let [then, otherwise] = sides.map(|side| {
            let made = cast(self, &side);
            self.emit.typed(&made, scalar)
        });
        Some(self.emit.select_typed(condition, then, otherwise))
    }

    /// Whether every literal that a choice is between fits a type; reports where one does not.
    pub(super) fn literals_fit(
        &mut self,
        value: kernel::Value,
        scalar: Scalar,
        span: Span,
    ) -> bool {
        let Some(choice) = self.emit.literal_choice(value).cloned() else { return true };
        choice.sides.iter().all(|side| self.fits(side, scalar, span))
    }
}
