// SPDX-License-Identifier: Apache-2.0
//! Why a package could not be built, and what there is to be said of one that could. What a user can mend is a [`Problem`], and all of them are told.

use crate::link::LinkError;
use crate::llvm::CodegenError;
use crate::source::SourceError;
use kernpack_syntax::Diagnostics;
use std::fmt;
use thiserror::Error;

/// Why a package could not be built.
#[derive(Debug, Error)]
pub enum CompileError {
    /// Functions, launches and sources do not fit together, or a source cannot be had.
    #[error(transparent)]
    Problems(#[from] Problems),
    /// Objects do not link.
    #[error(transparent)]
    Link(#[from] LinkError),
    /// The generated code was refused: a bug of kernpack's.
    #[error(transparent)]
    Codegen(#[from] CodegenError),
}

/// Something that is wrong with a function.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// The function's name.
    pub function: String,
    /// The launch's place among those of the function, if it is about one: the first of several that have the source.
    pub launch: Option<usize>,
    /// What is wrong.
    pub reason: Reason,
}

/// What can be wrong with a function.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reason {
    /// What the function says does not fit together.
    Function(Diagnostics),
    /// The source of a launch cannot be had, or does not fit the launch.
    Source(SourceError),
}

/// Every problem of a package, in the order in which they were found. Never empty when it is an error.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Problems(pub Vec<Problem>);

impl Problem {
    /// A problem of this launch's source.
    pub fn of_launch(function: &str, launch: usize, error: SourceError) -> Problem {
        let (function, reason) = (function.to_string(), Reason::Source(error));
        Problem { function, launch: Some(launch), reason }
    }

    /// A problem of a whole function.
    pub fn of_function(function: &str, diagnostics: Diagnostics) -> Problem {
        let reason = Reason::Function(diagnostics);
        Problem { function: function.to_string(), launch: None, reason }
    }
}

impl Problems {
    /// Adds one.
    pub fn push(&mut self, problem: Problem) {
        self.0.push(problem);
    }

    /// Whether a function has any.
    pub fn concern(&self, function: &str) -> bool {
        self.0.iter().any(|problem| problem.function == function)
    }

    /// `Ok` where there are none.
    ///
    /// # Errors
    /// Where there are some: all of them.
    pub fn into_result(self) -> Result<(), Problems> {
        if self.0.is_empty() { Ok(()) } else { Err(self) }
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "in function `{}`:", self.function)?;
        match &self.reason {
            Reason::Function(diagnostics) => write!(f, "\n{diagnostics}"),
            Reason::Source(error) => write!(f, " {error}"),
        }
    }
}

impl fmt::Display for Problems {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, problem) in self.0.iter().enumerate() {
            write!(f, "{}{problem}", if i > 0 { "\n" } else { "" })?;
        }
        Ok(())
    }
}

impl std::error::Error for Problems {}

/// What there is to be said of a source: a compiler's words, or ours.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Warning {
    /// The source.
    pub source: String,
    /// The words.
    pub text: String,
}
