// SPDX-License-Identifier: Apache-2.0
//! What a source reports where it cannot be had, or does not fit the launches that name it: plain data, whatever the kind of source. Who asked
//! for the source says for which launch that was ([`Problem`](crate::Problem)).

use crate::file::ReadError;
use crate::image::{ImageError, ImageProblem};
use std::fmt::Display;
use std::path::{Path, PathBuf};
use thiserror::Error;

/// What is wrong with a source.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{message}")]
pub struct SourceError {
    /// What kind of problem it is.
    pub kind: SourceErrorKind,
    /// The file that it is about.
    pub path: PathBuf,
    /// What is wrong and what to do, with the file's name and the words of the compiler that refused it.
    pub message: String,
    /// Where in a text that was compiled or read, if that is known.
    pub position: Option<Position>,
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
    /// What Triton says of a kernel does not fit the launch.
    Triton,
}

/// A place in a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Position {
    /// The file: the source, or one that it includes.
    pub path: PathBuf,
    /// The line, from 1.
    pub line: u32,
    /// The column, from 1, where it is known.
    pub column: Option<u32>,
}

impl SourceErrorKind {
    /// A stable kebab-case name to search for.
    pub fn code(self) -> &'static str {
        match self {
            SourceErrorKind::File => "source-file",
            SourceErrorKind::CCompiler => "c-compiler",
            SourceErrorKind::CudaCompiler => "cuda-compiler",
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
    /// A problem without a position.
    pub fn new(kind: SourceErrorKind, path: &Path, message: impl Display) -> SourceError {
        let (path, message) = (path.to_path_buf(), message.to_string());
        SourceError { kind, path, message, position: None }
    }

    /// The problem of an image that lies in this file, or was made of it.
    pub fn image(path: &Path, error: &ImageError) -> SourceError {
        let (kind, line) = match &error.problem {
            ImageProblem::NoKernel { .. } => (SourceErrorKind::MissingKernel, None),
            ImageProblem::Ambiguous { .. }
            | ImageProblem::OtherSymbol { .. }
            | ImageProblem::Compressed { .. } => (SourceErrorKind::KernelName, None),
            ImageProblem::Ptx { line, .. } => (SourceErrorKind::Image, u32::try_from(*line).ok()),
            _ => (SourceErrorKind::Image, None),
        };
        let position = line.map(|line| Position { path: path.to_path_buf(), line, column: None });
        SourceError { position, ..SourceError::new(kind, path, error) }
    }

    /// The same, at the first place that a compiler's messages name.
    pub fn at_first_place(self, messages: &str) -> SourceError {
        SourceError { position: messages.lines().find_map(place_of_error), ..self }
    }
}

impl From<ReadError> for SourceError {
    fn from(error: ReadError) -> SourceError {
        SourceError::new(SourceErrorKind::File, &error.path, &error)
    }
}

/// The place in `norm.c:3:5: error: …`, as C compilers write it, and in `norm.cu(3): error: …`, as NVRTC does.
fn place_of_error(line: &str) -> Option<Position> {
    let words = [": error", ": fatal error", ": catastrophic error"];
    let place = words.iter().find_map(|word| line.split_once(word))?.0;
    if let Some((path, line)) = place.strip_suffix(')').and_then(|place| place.rsplit_once('(')) {
        return Some(Position { path: path.into(), line: line.parse().ok()?, column: None });
    }
    let mut parts = place.rsplitn(3, ':');
    let (last, before, rest) = (parts.next()?, parts.next()?, parts.next());
    let (path, line, column) = match rest {
        Some(path) => (path, before, Some(last.parse().ok()?)),
        None => (before, last, None),
    };
    Some(Position { path: path.into(), line: line.parse().ok()?, column })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn expect_place(messages: &str, expected: Option<(&str, u32, Option<u32>)>) {
        let error = SourceError::new(SourceErrorKind::CCompiler, Path::new("a.c"), "refused");
        let expected =
            expected.map(|(path, line, column)| Position { path: path.into(), line, column });
        assert_eq!(error.at_first_place(messages).position, expected, "{messages}");
    }

    #[test]
    fn the_first_error_has_the_place() {
        expect_place(
            "a.c: In function 'f':\na.c:2:1: warning: x\na.c:3:5: error: 'y' undeclared\na.c:9:1: error: z",
            Some(("a.c", 3, Some(5))),
        );
        expect_place(
            "/a b/c.h:12:10: fatal error: d.h: No such file",
            Some(("/a b/c.h", 12, Some(10))),
        );
        expect_place("k.cu(7): error: identifier \"x\" is undefined", Some(("k.cu", 7, None)));
        expect_place("k(1).cu(7): catastrophic error: cannot open", Some(("k(1).cu", 7, None)));
    }

    #[test]
    fn other_words_have_none() {
        for words in ["", "it says nothing", "cc1: error: unrecognized option", "error: none"] {
            expect_place(words, None);
        }
    }
}
