// SPDX-License-Identifier: Apache-2.0
//! The kinds of error that generated code raises. Each is a Python exception class of the same
//! name; libtvm_ffi maps any other kind to RuntimeError and drops its text, so there are no others.

use core::fmt;

/// The kind of a TVM-FFI error.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ErrorKind {
    /// Arity, type or dtype.
    TypeError,
    /// Everything else about an argument.
    ValueError,
    /// The device, the allocator, a host function.
    RuntimeError,
}

impl ErrorKind {
    /// Every kind.
    pub const ALL: &[ErrorKind] =
        &[ErrorKind::TypeError, ErrorKind::ValueError, ErrorKind::RuntimeError];

    /// The name, as libtvm_ffi takes it.
    pub const fn name(self) -> &'static str {
        match self {
            ErrorKind::TypeError => "TypeError",
            ErrorKind::ValueError => "ValueError",
            ErrorKind::RuntimeError => "RuntimeError",
        }
    }
}

impl fmt::Display for ErrorKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
