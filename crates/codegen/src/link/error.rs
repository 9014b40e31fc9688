// SPDX-License-Identifier: Apache-2.0
//! Errors of linking, in words that name the input and the symbol.

use std::io;

use super::native::Failure;
use super::undefined::UndefinedSymbol;
use kernpack_package::target::ElfTarget;

/// Why there is no linked file.
#[derive(Debug, thiserror::Error)]
pub enum LinkError {
    /// An input is damaged, or is something else than a relocatable ELF object or an archive of
    /// them.
    #[error("cannot link `{input}`: {reason}")]
    Unreadable {
        /// The input, `archive(member)` for a member.
        input: String,
        /// The reason.
        reason: String,
    },
    /// An input is for another machine.
    #[error("cannot link `{input}`: it is for {found}, expected {expected}")]
    WrongTarget {
        /// The input, `archive(member)` for a member.
        input: String,
        /// The machine it is for.
        found: String,
        /// The machine that was asked for.
        expected: ElfTarget,
    },
    /// The inputs do not go together; a symbol defined twice is the common case.
    #[error("cannot link {}: {message}", quoted(inputs))]
    Refused {
        /// The inputs of the link.
        inputs: Vec<String>,
        /// The linker's own text.
        message: String,
    },
    /// Symbols are undefined that a package must not need.
    #[error("{}", lines(symbols))]
    Undefined {
        /// The refused symbols.
        symbols: Vec<UndefinedSymbol>,
    },
    /// A library's name is empty or has a character that no file name can have.
    #[error("`{0}` cannot be the name of a shared library")]
    LibraryName(String),
    /// The linker crashed, now or earlier. What it left behind cannot be trusted, so this process
    /// links no more.
    #[error("the linker crashed; it cannot be used again in this process")]
    Crashed,
    /// The linker opens its files, which are in memory, by their paths in `/proc`, and there are
    /// none.
    #[error("the linker needs /proc, which is not mounted here")]
    NoProc,
    /// The system has no memory, descriptor or thread left for the linker's files.
    #[error("cannot make the linker's files in memory")]
    Io(#[from] io::Error),
    /// An object that the link layer itself makes could not be written: a defect of kernpack.
    #[error("cannot write an object for the linker")]
    Write(#[from] object::write::Error),
}

impl LinkError {
    pub(super) fn new<'a>(failure: Failure, inputs: impl IntoIterator<Item = &'a str>) -> Self {
        match failure {
            Failure::Crashed => LinkError::Crashed,
            Failure::Refused(message) => LinkError::Refused {
                inputs: inputs.into_iter().map(str::to_owned).collect(),
                message,
            },
        }
    }

    /// The words that name the input that it is about, where it is about one.
    pub fn words(&self) -> &str {
        match self {
            LinkError::Unreadable { input, .. } | LinkError::WrongTarget { input, .. } => input,
            LinkError::Refused { message, .. } => message,
            LinkError::Undefined { .. }
            | LinkError::LibraryName(_)
            | LinkError::Crashed
            | LinkError::NoProc
            | LinkError::Io(_)
            | LinkError::Write(_) => "",
        }
    }

    pub(super) fn unreadable(input: &str, reason: impl ToString) -> Self {
        LinkError::Unreadable { input: input.to_owned(), reason: reason.to_string() }
    }
}

fn quoted(names: &[String]) -> String {
    names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
}

fn lines(symbols: &[UndefinedSymbol]) -> String {
    let line = |symbol: &UndefinedSymbol| match symbol.wanted_by.as_slice() {
        [] => format!("undefined symbol `{}`", symbol.name),
        owners => format!("undefined symbol `{}`, wanted by {}", symbol.name, quoted(owners)),
    };
    symbols.iter().map(line).collect::<Vec<_>>().join("\n")
}

impl From<rustix::io::Errno> for LinkError {
    fn from(error: rustix::io::Errno) -> LinkError {
        LinkError::Io(error.into())
    }
}
