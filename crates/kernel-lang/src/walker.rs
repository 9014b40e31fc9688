// SPDX-License-Identifier: Apache-2.0
//! Who goes through statements: the elaboration of kernels, and the evaluation of packed functions.
//!
//! They compute with values of their own, and Python means the same to both. So what it means
//! stands once, in `names/` and `call/`, in terms of a [`Walker`]. In what they say they differ by
//! their [`Words`], which stand beside each of them: mistakes have codes of their own, as the
//! documents list them, and those of kernels have no labels beside the place.
//!
//! Not here: what is done to a value, which `algebra/`, `plain.rs` and `untyped.rs` have for both,
//! and each walker for itself.

use crate::python::tree::Expr;
use kernpack_syntax::{Diagnostic, Span};

/// Who goes through statements.
pub(crate) trait Walker {
    /// The values that expressions give.
    type Value: Clone;
    /// Its words.
    const WORDS: &'static Words;

    /// The value of an expression; nothing where a mistake was reported and no more can be told.
    fn evaluate(&mut self, expr: &Expr) -> Option<Self::Value>;

    /// The items of a tuple; reports where it is none.
    fn items(&mut self, value: &Self::Value, span: Span) -> Option<Vec<Self::Value>>;

    /// Reports a mistake.
    fn tell(&mut self, problem: Diagnostic);
}

/// The words in which the messages of two walkers differ.
#[derive(Debug)]
pub(crate) struct Words {
    /// The code of arguments that do not fit parameters.
    pub arguments: &'static str,
    /// The code of constants that have no value.
    pub constant: &'static str,
    /// The code of tuples that do not fit their names.
    pub unpack: &'static str,
    /// The code of names that are Python's.
    pub python: &'static str,
    /// The end of `… is Python's, `, and what to do.
    pub python_ends: (&'static str, Option<&'static str>),
    /// The help where a name is not defined.
    pub define: Option<&'static str>,
    /// The code of what nothing is assigned to, what is, and what to do.
    pub target: (&'static str, &'static str, &'static str),
    /// The code of a division by 0, and what is said of it.
    pub by_zero: (&'static str, &'static str),
    /// The help where a function calls itself.
    pub recursion: &'static str,
    /// Whether places have labels.
    pub has_labels: bool,
}

impl Words {
    /// A code of diagnostics: tests look for those that the program has.
    pub const fn code(code: &'static str) -> &'static str {
        code
    }

    /// A mistake at a place.
    pub fn problem(
        &self,
        code: &'static str,
        message: impl Into<String>,
        span: Span,
        label: &str,
    ) -> Diagnostic {
        let label = if self.has_labels { label } else { "" };
        Diagnostic::new(code, message).label(span, label)
    }
}
