// SPDX-License-Identifier: Apache-2.0
//! Wording errors part by part.

use core::ffi::{CStr, c_char};

use crate::interface::MAX_PARTS;
use crate::interface::layout::ErrorParts;
use crate::text::Text;

/// A message in the making. What has no room is dropped.
pub(super) struct Message {
    error: *mut ErrorParts,
    n_parts: usize,
}

/// An error that nobody has written yet.
#[derive(Clone, Copy)]
pub(super) struct Blank(*mut ErrorParts);

impl Blank {
    /// Where a caller wants its error.
    ///
    /// # Safety
    ///
    /// There is memory for an error, until this and what is made of it are used no more.
    pub(super) unsafe fn new(error: *mut ErrorParts) -> Blank {
        Blank(error)
    }

    /// A RuntimeError that says nothing yet.
    pub(super) fn runtime_error(self) -> Message {
        self.of_kind(c"RuntimeError")
    }

    /// A TypeError that says nothing yet.
    pub(super) fn type_error(self) -> Message {
        self.of_kind(c"TypeError")
    }

    fn of_kind(self, kind: &'static CStr) -> Message {
        // SAFETY: as whoever made this has said.
        unsafe { (&raw mut (*self.0).kind).write(kind.as_ptr()) };
        Message { error: self.0, n_parts: 0 }
    }
}

impl Message {
    /// Appends text that stays.
    #[inline(never)]
    pub(super) fn text(&mut self, text: &'static CStr) -> &mut Message {
        self.c_str(text.as_ptr())
    }

    /// Appends a C string that stays, or nothing for NULL.
    #[inline(never)]
    pub(super) fn c_str(&mut self, text: *const c_char) -> &mut Message {
        self.part([text, core::ptr::null()])
    }

    /// Appends which call it is, as generated code has left it.
    pub(super) fn call(&mut self) -> &mut Message {
        // SAFETY: whoever has memory for an error has said so there, before the driver is used.
        let call = unsafe { (&raw const (*self.error).call).read() };
        self.c_str(call)
    }

    /// Appends a number.
    #[inline(never)]
    pub(super) fn int(&mut self, value: i64) -> &mut Message {
        let mut digits = Text::EMPTY;
        digits.push_int(value);
        self.copy(&digits)
    }

    /// Appends a short text, which the error keeps.
    #[inline(never)]
    pub(super) fn copy(&mut self, text: &Text) -> &mut Message {
        if self.n_parts < MAX_PARTS {
            // SAFETY: an error has that many parts.
            let written = unsafe {
                let written = (&raw mut (*self.error).digits).cast::<Text>().add(self.n_parts);
                written.write(*text);
                written
            };
            self.part([Text::as_c_str(written), core::ptr::null()]);
        }
        self
    }

    /// How many strings there are.
    pub(super) fn n_strings(&self) -> i32 {
        2 * self.n_parts as i32
    }

    #[inline(never)]
    fn part(&mut self, strings: [*const c_char; 2]) -> &mut Message {
        if self.n_parts < MAX_PARTS {
            // SAFETY: an error has that many parts.
            unsafe {
                let parts = (&raw mut (*self.error).parts).cast::<[*const c_char; 2]>();
                parts.add(self.n_parts).write(strings);
            }
            self.n_parts += 1;
        }
        self
    }
}
