// SPDX-License-Identifier: Apache-2.0
//! Who goes through statements: the elaboration of kernels, and the evaluation of packed functions.
//!
//! They compute with values of their own, and Python means the same to both. So what it means
//! stands once, in `names/` and `call/`, in terms of a [`Walker`]. In what they say they differ by
//! their [`Words`]: mistakes have codes of their own, as the documents list them, and those of
//! kernels have no labels beside the place.
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
    has_labels: bool,
}

/// Those of kernels.
pub(crate) const KERNEL: Words = Words {
    arguments: "arguments",
    constant: "constexpr",
    unpack: "unpack",
    python: "python-name",
    python_ends: ("and no part of kernels", Some("pass what is needed of it as an argument")),
    define: Some("assign it, pass it, or define it in the file"),
    target: (
        "assignment",
        "only names and elements of tensors are assigned to",
        "assign to a name",
    ),
    by_zero: ("division", "a division by zero"),
    recursion: "write a loop: functions stand in the place of their calls",
    has_labels: false,
};

/// Those of packed functions.
pub(crate) const PACKED: Words = Words {
    arguments: "packed-argument",
    constant: "packed-value",
    unpack: "packed-value",
    python: "unknown-name",
    python_ends: ("which is not there in a package", None),
    define: None,
    target: ("packed-statement", "a packed function assigns names only", "name it"),
    by_zero: ("packed-value", "a division by 0 has no value"),
    recursion: "write what it does: functions stand in the place of their calls",
    has_labels: true,
};

impl Words {
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
