// SPDX-License-Identifier: Apache-2.0
//! Errors of calls, and of packages.

use core::fmt;

/// The outcome of a call.
pub type Result<T, E = Error> = core::result::Result<T, E>;

/// Why a call was refused, or failed. The message is complete: what was expected, and what arrived.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Error {
    /// The number, the type or the dtype of arguments.
    Type(String),
    /// Anything else about an argument.
    Value(String),
    /// The device, the allocator, a host function, a library that cannot be loaded.
    Runtime(String),
    /// A package in which something is wrong: all of it, each with file, line and mark.
    Compile(String),
    /// Kernels in which the interpreter has found something wrong: all of it, likewise.
    Check(String),
    /// An error of another kind, which a user's function raised.
    Other {
        /// Its kind.
        kind: String,
        /// Its message.
        message: String,
    },
}

impl Error {
    /// An error of a kind, as TVM-FFI has them.
    #[cfg(feature = "host")]
    pub(crate) fn new(kind: &str, message: String) -> Error {
        match kind {
            "TypeError" => Error::Type(message),
            "ValueError" => Error::Value(message),
            "RuntimeError" => Error::Runtime(message),
            "CompileError" => Error::Compile(message),
            "CheckError" => Error::Check(message),
            kind => Error::Other { kind: kind.to_string(), message },
        }
    }

    /// The kind, as Python names it: `TypeError`, `ValueError`, `RuntimeError`.
    pub fn kind(&self) -> &str {
        match self {
            Error::Type(_) => "TypeError",
            Error::Value(_) => "ValueError",
            Error::Runtime(_) => "RuntimeError",
            Error::Compile(_) => "CompileError",
            Error::Check(_) => "CheckError",
            Error::Other { kind, .. } => kind,
        }
    }

    /// The message.
    pub fn message(&self) -> &str {
        match self {
            Error::Type(message)
            | Error::Value(message)
            | Error::Runtime(message)
            | Error::Compile(message)
            | Error::Check(message)
            | Error::Other { message, .. } => message,
        }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.kind(), self.message())
    }
}

impl core::error::Error for Error {}
