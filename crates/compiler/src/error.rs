// SPDX-License-Identifier: Apache-2.0
//! Why a package could not be built. What a user can mend is a diagnostic, and all of them are
//! told, with what there is to be said of sources that could be built.

use kernpack_codegen::link::LinkError;
use kernpack_codegen::llvm::CodegenError;
use kernpack_syntax::{Diagnostic, Diagnostics};
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
