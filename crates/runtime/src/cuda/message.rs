// SPDX-License-Identifier: Apache-2.0
//! Wording errors part by part.

use core::ffi::{CStr, c_char};

use crate::blank::Blank;
use crate::interface::MAX_PARTS;
use crate::text::Text;

/// A message in the making. What has no room is dropped.
pub(super) struct Message {
    blank: Blank,
    n_parts: usize,
}

impl Blank {
    /// A RuntimeError that says nothing yet.
    pub(super) fn runtime_error(self) -> Message {
        self.of_kind(c"RuntimeError")
    }

    /// A ValueError that says nothing yet.
    pub(super) fn value_error(self) -> Message {
        self.of_kind(c"ValueError")
    }

    /// A TypeError that says nothing yet.
    pub(super) fn type_error(self) -> Message {
        self.of_kind(c"TypeError")
    }

    fn of_kind(self, kind: &'static CStr) -> Message {
        self.set_kind(kind.as_ptr());
        Message { blank: self, n_parts: 0 }
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
        // SAFETY: generated code has said so, before the driver is used.
        self.c_str(unsafe { self.blank.call() })
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
            let kept = self.blank.set_digits(self.n_parts, *text);
            self.part([kept, core::ptr::null()]);
        }
        self
    }

    /// How many strings there are.
    pub(super) fn n_strings(&self) -> i32 {
        2 * self.n_parts as i32
    }

    /// Raises it, where there is a backtrace for it. Returns -1.
    pub(super) fn raise(&self) -> i32 {
        self.blank.raise(self.n_strings())
    }

    #[inline(never)]
    fn part(&mut self, strings: [*const c_char; 2]) -> &mut Message {
        if self.n_parts < MAX_PARTS {
            self.blank.set_part(self.n_parts, strings);
            self.n_parts += 1;
        }
        self
    }
}
