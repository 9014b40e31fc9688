// SPDX-License-Identifier: Apache-2.0
//! Why a call failed, in XLA's words: a code and a message.
//!
//! An error of the callee keeps its kind, as `ValueError: …` in front of its message and as a code.

use crate::layout::{
    FAILED_PRECONDITION, INTERNAL, INVALID_ARGUMENT, NOT_FOUND, OUT_OF_RANGE, RESOURCE_EXHAUSTED,
    UNIMPLEMENTED,
};
use crate::object::Object;
use core::ffi::c_void;
use core::fmt;
use core::ptr;
use kernpack_ffi_abi::layout::{ByteArray, ERROR_KIND_OFFSET, ERROR_MESSAGE_OFFSET};
use kernpack_ffi_abi::libtvm_ffi::TVMFFIErrorMoveFromRaised;
use kernpack_ffi_abi::slice;

/// The error that XLA is told.
#[derive(Debug)]
pub(crate) enum Failure {
    /// An error to be made.
    New {
        /// One of XLA's error codes.
        code: i32,
        /// The message for people.
        message: String,
    },
    /// An error that XLA made itself.
    Xla(*mut c_void),
}

impl Failure {
    pub(crate) fn new(code: i32, message: impl fmt::Display) -> Failure {
        Failure::New { code, message: message.to_string() }
    }

    /// A plan that does not fit its call: Python and this library are of two versions, or somebody
    /// changed the program.
    #[cold]
    pub(crate) fn plan(message: impl fmt::Display) -> Failure {
        Failure::new(INVALID_ARGUMENT, format_args!("kernpack's plan of the call: {message}"))
    }

    /// The error that a function of TVM-FFI raised.
    #[cold]
    pub(crate) fn raised() -> Failure {
        let Some(error) = take_raised() else {
            return Failure::new(INTERNAL, "the function failed, and raised no error");
        };
        let kind = text(&error, ERROR_KIND_OFFSET);
        let message = text(&error, ERROR_MESSAGE_OFFSET);
        Failure::new(code_of(&kind), format_args!("{kind}: {message}"))
    }
}

#[expect(unsafe_code, reason = "calls libtvm_ffi")]
fn take_raised() -> Option<Object> {
    let mut error = ptr::null_mut();
    // SAFETY: it writes a pointer.
    unsafe { TVMFFIErrorMoveFromRaised(&raw mut error) };
    // SAFETY: what it wrote is NULL, or a reference that is ours now.
    unsafe { Object::from_owned(error) }
}

/// A text in an error object.
#[expect(unsafe_code, reason = "reads an object of libtvm_ffi")]
fn text(error: &Object, offset: u32) -> String {
    let field = error.address().wrapping_byte_add(offset as usize).cast::<ByteArray>();
    // SAFETY: an error object has a byte array there.
    let bytes = unsafe { field.read() };
    // SAFETY: the object owns these bytes, and is held by the caller.
    let bytes = unsafe { slice(bytes.data as *const u8, bytes.size as usize) };
    String::from_utf8_lossy(bytes).into_owned()
}

/// XLA's code for a kind of error.
fn code_of(kind: &str) -> i32 {
    match kind {
        "ValueError" | "TypeError" => INVALID_ARGUMENT,
        "IndexError" => OUT_OF_RANGE,
        "KeyError" | "FileNotFoundError" => NOT_FOUND,
        "MemoryError" => RESOURCE_EXHAUSTED,
        "NotImplementedError" => UNIMPLEMENTED,
        "AssertionError" => FAILED_PRECONDITION,
        _ => INTERNAL,
    }
}
