// SPDX-License-Identifier: Apache-2.0
//! The memory of an error, in which generated code wants one written.
#![expect(unsafe_code, reason = "generated code has the memory, and passes its address")]

use core::ffi::c_char;

use crate::interface::layout::ErrorParts;
use crate::text::Text;

#[cfg(kernpack_cuda)]
unsafe extern "C" {
    /// The function of the other object.
    fn kernpack_rt_raise(error: *const ErrorParts, n_strings: i32) -> i32;
}

/// An error that is yet to be written.
#[derive(Clone, Copy)]
pub(crate) struct Blank(*mut ErrorParts);

impl Blank {
    /// Where a caller wants its error.
    ///
    /// # Safety
    ///
    /// There is memory for an error, until this and what is made of it are used no more.
    pub(crate) unsafe fn new(error: *mut ErrorParts) -> Blank {
        Blank(error)
    }

    /// Which call it is, as generated code has left it.
    ///
    /// # Safety
    ///
    /// Generated code has left it.
    #[cfg(kernpack_cuda)]
    pub(crate) unsafe fn call(self) -> *const c_char {
        // SAFETY: as the caller says.
        unsafe { (*self.0).call }
    }

    /// Writes the backtrace of the error, a C string that stays.
    #[cfg(kernpack_cuda)]
    pub(crate) fn set_backtrace(self, backtrace: *const c_char) {
        // SAFETY: as whoever made this has said.
        unsafe { (*self.0).backtrace = backtrace };
    }

    /// Raises what has been written, the backtrace and so many strings among it. Returns -1.
    #[cfg(kernpack_cuda)]
    pub(crate) fn raise(self, n_strings: i32) -> i32 {
        // SAFETY: as whoever made this has said.
        unsafe { kernpack_rt_raise(self.0, n_strings) }
    }

    /// Writes the error's type, a C string that stays.
    pub(crate) fn set_kind(self, kind: *const c_char) {
        // SAFETY: as whoever made this has said.
        unsafe { (*self.0).kind = kind };
    }

    /// Writes a part, whose number is below `MAX_PARTS`: C strings that stay, or NULL.
    pub(crate) fn set_part(self, number: usize, strings: [*const c_char; 2]) {
        // SAFETY: as whoever made this has said.
        let parts = unsafe { &raw mut (*self.0).parts }.cast::<[*const c_char; 2]>();
        // SAFETY: there are as many parts.
        unsafe { parts.wrapping_add(number).write(strings) };
    }

    /// Keeps the digits of a part, whose number is below `MAX_PARTS`; where they are.
    pub(crate) fn set_digits(self, number: usize, digits: Text) -> *const c_char {
        // SAFETY: as whoever made this has said.
        let kept = unsafe { &raw mut (*self.0).digits }.cast::<Text>().wrapping_add(number);
        // SAFETY: there are as many.
        unsafe { kept.write(digits) };
        Text::as_c_str(kept)
    }
}
