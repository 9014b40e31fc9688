// SPDX-License-Identifier: Apache-2.0
//! Why there is no package.

use kernpack_compiler::CompileError;
use kernpack_syntax::Told;
use thiserror::Error;

/// Why there is no package.
#[derive(Debug, Error)]
pub enum Failure {
    /// Something is wrong with the package file or what it names: all of it.
    #[error("{}", .0.diagnostics)]
    Told(Told),
    /// Something is wrong that is in no text of the user's.
    #[error(transparent)]
    Compile(CompileError),
    /// Architectures are asked for, and there is nothing to be compiled for them.
    #[error(
        "no source of `{name}` is CUDA C++ or a kernel file, which alone are compiled for the architectures that are asked for"
    )]
    NoCuda {
        /// The name of the text in messages.
        name: String,
    },
    /// It would have to be compiled, which is forbidden.
    #[error("{0}")]
    Forbidden(Forbidden),
    /// There is no memory for its files.
    #[error("cannot keep the package in memory: {0}")]
    Memory(std::io::Error),
    /// Whoever waited for it gave up.
    #[error("cancelled")]
    Cancelled,
}

/// A package that would have to be compiled where nothing may be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Forbidden {
    /// The package.
    pub package: String,
    /// Its functions.
    pub functions: Vec<String>,
    /// Why no entry serves, a reason for each that was looked at.
    pub reasons: Vec<String>,
    /// The folders that were looked into.
    pub folders: Vec<String>,
}

impl std::fmt::Display for Forbidden {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Forbidden { package, functions, reasons, folders } = self;
        let functions: Vec<_> = functions.iter().map(|name| format!("`{name}`")).collect();
        write!(f, "package `{package}`")?;
        if !functions.is_empty() {
            write!(f, " ({})", functions.join(", "))?;
        }
        write!(f, " is not in the cache, and KERNPACK_JIT=forbid forbids to compile it")?;
        for reason in reasons {
            write!(f, "\n  {reason}")?;
        }
        match &folders[..] {
            [] => write!(f, "\n  no cache is in use: set KERNPACK_CACHE_DIR to a folder")?,
            folders => write!(f, "\n  looked into {}", folders.join(" and "))?,
        }
        write!(
            f,
            "\ncompile it beforehand, with the same kernpack and the same text: in Python by `kernpack.precompile([...], arch=[...])`, or by `kernpack build`, with KERNPACK_CACHE_DIR set to that folder"
        )
    }
}
