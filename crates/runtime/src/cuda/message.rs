// SPDX-License-Identifier: Apache-2.0
//! Wording errors part by part.

use core::ffi::{CStr, c_char};

use crate::fault_table::MAX_PARTS;
use crate::text::Text;
use crate::words::Words;

/// A message in the making. What has no room is dropped.
pub(super) struct Message {
    words: *mut Words,
    n_parts: usize,
}

impl Message {
    /// An error of that kind.
    ///
    /// # Safety
    ///
    /// There is memory for words, until the message is used no more.
    pub(super) unsafe fn new(words: *mut Words, kind: &CStr) -> Message {
        // SAFETY: as the caller says.
        unsafe { (&raw mut (*words).kind).write(kind.as_ptr()) };
        Message { words, n_parts: 0 }
    }

    /// Appends words that stay.
    pub(super) fn text(&mut self, text: &'static CStr) -> &mut Message {
        self.c_str(text.as_ptr())
    }

    /// Appends a C string that stays, or nothing for NULL.
    pub(super) fn c_str(&mut self, text: *const c_char) -> &mut Message {
        self.part([text, core::ptr::null()])
    }

    /// Appends a number.
    pub(super) fn int(&mut self, value: i64) -> &mut Message {
        if self.n_parts < MAX_PARTS {
            let mut digits = Text::EMPTY;
            digits.push_int(value);
            // SAFETY: the words have that many parts.
            let written = unsafe {
                let written = (&raw mut (*self.words).digits).cast::<Text>().add(self.n_parts);
                written.write(digits);
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

    fn part(&mut self, strings: [*const c_char; 2]) -> &mut Message {
        if self.n_parts < MAX_PARTS {
            // SAFETY: the words have that many parts.
            unsafe {
                let parts = (&raw mut (*self.words).parts).cast::<[*const c_char; 2]>();
                parts.add(self.n_parts).write(strings);
            }
            self.n_parts += 1;
        }
        self
    }
}
