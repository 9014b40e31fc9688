// SPDX-License-Identifier: Apache-2.0
//! What an error is raised from, as generated code and the runtime share it.

use core::ffi::c_char;

use crate::{fault_table::MAX_PARTS, text::Text};

/// What generated code hands to `TVMFFIErrorSetRaisedFromCStrParts`: the kind, then the parts of the message.
///
/// libtvm_ffi looks up each frame of the stack when an error is raised, which is most of what an error costs. So the entry point raises it,
/// from memory on its own stack, and the runtime, which wrote it, has returned by then.
#[repr(C)]
pub(crate) struct ErrorParts {
    pub(crate) kind: *const c_char,
    /// A string and the digits behind it, each NULL where a part has none.
    pub(crate) parts: [[*const c_char; 2]; MAX_PARTS],
    pub(crate) digits: [Text; MAX_PARTS],
}

/// How many bytes, aligned to 8, a function of the runtime needs for an error.
pub const ERROR_BYTES: usize = size_of::<ErrorParts>();

/// Where the parts lie in an error, behind the kind.
pub const ERROR_PARTS_OFFSET: usize = core::mem::offset_of!(ErrorParts, parts);
