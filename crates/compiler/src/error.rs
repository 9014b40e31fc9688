// SPDX-License-Identifier: Apache-2.0
//! Why a package could not be built. What a user can mend is a diagnostic, and all of them are
//! told, with what there is to be said of sources that could be built.

use crate::link::LinkError;
use crate::llvm::CodegenError;
use crate::source::SourceError;
use kernpack_syntax::{Diagnostic, Diagnostics, Span};
use thiserror::Error;

/// Why a package could not be built.
#[derive(Debug, Error)]
pub enum CompileError {
    /// Functions, launches and sources do not fit together, or a source cannot be had.
    #[error(transparent)]
    Problems(#[from] Diagnostics),
    /// Objects do not link.
    #[error(transparent)]
    Link(#[from] LinkError),
    /// The generated code was refused: a bug of kernpack's.
    #[error(transparent)]
    Codegen(#[from] CodegenError),
}

impl CompileError {
    /// The same, and what there is to be said besides where the user can mend it.
    pub(crate) fn and(self, warnings: Vec<Diagnostic>) -> CompileError {
        match self {
            CompileError::Problems(mut problems) => {
                problems.extend(warnings);
                problems.into()
            }
            error => error,
        }
    }
}

/// A diagnostic of a function. Where no place shows which function that is, as in a package that
/// nobody wrote as text, words do.
pub fn of_function(function: &str, diagnostic: Diagnostic) -> Diagnostic {
    if diagnostic.has_place() {
        return diagnostic;
    }
    let message = format!("in function `{function}`: {}", diagnostic.message);
    Diagnostic { message, ..diagnostic }
}

/// What a source reports, to the function that has it.
impl SourceError {
    /// The diagnostic: at these places, where launches name the kernels that it is about, or else
    /// at its own.
    pub fn diagnostic(self, function: &str, kernels: impl IntoIterator<Item = Span>) -> Diagnostic {
        let SourceError { kind, place, message, detail, diagnostic, .. } = self;
        if let Some(diagnostic) = diagnostic {
            return of_function(function, diagnostic.at(place));
        }
        let diagnostic = Diagnostic { detail, ..Diagnostic::new(kind.code(), message) };
        let marked = kernels.into_iter().fold(diagnostic, |marked, span| marked.mark(span, ""));
        of_function(function, marked.at(place))
    }
}
