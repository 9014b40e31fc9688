// SPDX-License-Identifier: Apache-2.0
//! Errors of a source that cannot be had, or lacks what launches name: plain data, whatever
//! the kind of source. Who asked for the source knows the launches, and makes a diagnostic of it.

use crate::file::ReadError;
use crate::image::{ImageError, ImageProblem};
use crate::problem::of_function;
use kernpack_syntax::{Diagnostic, Diagnostics, Span};
use std::fmt::{self, Display};

/// The error of a source.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SourceError {
    /// The kind of problem.
    pub kind: SourceErrorKind,
    /// Where it is written what it is about: a file's path, or what is asked of the file.
    pub place: Span,
    /// The kernels that it is about, as launches name them: none where it is about a file.
    pub kernels: Vec<String>,
    /// The problem and the cure, with the file's name, in one line.
    pub message: String,
    /// The words of the compiler or linker that refused the file.
    pub detail: Option<String>,
    /// The diagnostic instead of all that, where the source's own text is wrong.
    pub diagnostic: Option<Box<Diagnostic>>,
}

/// A kind of problem that sources have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SourceErrorKind {
    /// A file cannot be read, is empty, or is of another kind than it is said to be.
    File,
    /// There is no C compiler, or it refuses the file.
    CCompiler,
    /// There is no compiler for CUDA C++, or it refuses the file.
    CudaCompiler,
    /// There is no assembler for kernels written here, or it refuses one.
    Assembler,
    /// A kernel written here is wrong.
    Kernel,
    /// An object or an archive is damaged or for another machine.
    Object,
    /// An object or an archive needs what it cannot have.
    Symbol,
    /// An image of GPU code is damaged.
    Image,
    /// A launch names a kernel that is not there.
    MissingKernel,
    /// The name that a launch has for a kernel does not say which it is.
    KernelName,
    /// A kernel takes other arguments than a launch passes.
    KernelParams,
    /// Triton's description of a kernel does not fit the launch.
    Triton,
}

impl SourceErrorKind {
    /// A stable kebab-case name to search for.
    pub fn code(self) -> &'static str {
        match self {
            SourceErrorKind::File => "source-file",
            SourceErrorKind::CCompiler => "c-compiler",
            SourceErrorKind::CudaCompiler => "cuda-compiler",
            SourceErrorKind::Assembler => "gpu-assembler",
            SourceErrorKind::Kernel => "kernel",
            SourceErrorKind::Object => "host-object",
            SourceErrorKind::Symbol => "undefined-symbol",
            SourceErrorKind::Image => "gpu-image",
            SourceErrorKind::MissingKernel => "missing-kernel",
            SourceErrorKind::KernelName => "kernel-name",
            SourceErrorKind::KernelParams => "kernel-params",
            SourceErrorKind::Triton => "triton",
        }
    }
}

impl SourceError {
    /// An error of what is written there. Of its words, the first line is ours, and what follows is
    /// another program's.
    pub fn new(kind: SourceErrorKind, place: Span, words: impl Display) -> SourceError {
        let words = words.to_string();
        let (message, detail) = match words.split_once('\n') {
            Some((message, detail)) => (message.trim_end_matches(':'), Some(detail.to_string())),
            None => (&words[..], None),
        };
        let (kernels, message) = (vec![], message.to_string());
        SourceError { kind, place, kernels, message, detail, diagnostic: None }
    }

    /// The error of a kernel's text, which is written here.
    pub fn kernel(place: Span, diagnostic: Diagnostic) -> SourceError {
        let error = SourceError::new(SourceErrorKind::Kernel, place, &diagnostic.message);
        SourceError { diagnostic: Some(Box::new(diagnostic)), ..error }
    }

    /// A file that is named there cannot be read.
    pub fn file(place: Span, error: &ReadError) -> SourceError {
        SourceError::new(SourceErrorKind::File, place, error)
    }

    /// The error of an image that lies in a file which is named there, or was made of it.
    pub fn image(place: Span, error: &ImageError) -> SourceError {
        let (kind, kernel) = match &error.problem {
            ImageProblem::NoKernel { kernel, .. } => (SourceErrorKind::MissingKernel, Some(kernel)),
            ImageProblem::Ambiguous { kernel, .. }
            | ImageProblem::OtherSymbol { kernel, .. }
            | ImageProblem::Compressed { kernel } => (SourceErrorKind::KernelName, Some(kernel)),
            _ => (SourceErrorKind::Image, None),
        };
        SourceError::new(kind, place, error).of_kernels(kernel.cloned())
    }

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

    /// The diagnostics of errors that are about no function.
    pub fn diagnostics(errors: Vec<SourceError>) -> Diagnostics {
        Diagnostics(errors.into_iter().map(|error| error.diagnostic("", [])).collect())
    }

    /// The same, about kernels.
    pub fn of_kernels(self, kernels: impl IntoIterator<Item = String>) -> SourceError {
        SourceError { kernels: kernels.into_iter().collect(), ..self }
    }
}

impl Display for SourceError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)?;
        match &self.detail {
            Some(detail) => write!(f, "\n{detail}"),
            None => Ok(()),
        }
    }
}

impl std::error::Error for SourceError {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_line_is_the_message_and_the_others_are_another_programs() {
        let new = |words: &str| SourceError::new(SourceErrorKind::File, Span::default(), words);
        let error = new("`cc` refused `a.c`:\na.c:1:1: error: x\n  int");
        assert_eq!(error.message, "`cc` refused `a.c`");
        assert_eq!(error.detail.as_deref(), Some("a.c:1:1: error: x\n  int"));
        assert_eq!(error.to_string(), "`cc` refused `a.c`\na.c:1:1: error: x\n  int");
        assert_eq!((new("one").message, new("one").detail), ("one".to_string(), None));
    }
}
