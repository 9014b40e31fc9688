// SPDX-License-Identifier: Apache-2.0
//! Raising a fault: from a table, an offset and the values of a failed check to an error in the caller's thread.
//!
//! Strings go to libtvm_ffi as they lie in the table. Numbers are written on the stack. Nothing is allocated here.
#![expect(unsafe_code, reason = "the table and the values come from generated code as pointers")]

use core::{
    ffi::{c_char, c_int},
    ptr,
};

use crate::{
    fault_table::{
        MAX_PARTS,
        message::word_part,
        reader::{Bytes, Table},
    },
    text::Text,
};

unsafe extern "C" {
    /// Sets the error of the current thread; the message is all parts joined. NULL parts are skipped.
    pub(crate) fn TVMFFIErrorSetRaisedFromCStrParts(
        kind: *const c_char,
        parts: *mut *const c_char,
        n_parts: c_int,
    );
}

/// Raises the fault at `fault_offset` and returns -1, for the entry point to return in turn.
///
/// # Safety
///
/// `table` points to all bytes of a table that `TableWriter` finished, `fault_offset` is one that it returned, and
/// `values` points to every value that the fault's parts name.
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn kernpack_rt_fault(
    table: *const u8,
    fault_offset: u32,
    values: *const i64,
) -> i32 {
    let bytes = TableBytes(table);
    let table = Table(bytes);
    let value = |index: u8| {
        // SAFETY: the caller vouches for each value that a part names.
        unsafe { *values.add(index.into()) }
    };
    // Each part is at most a string and the digits after it.
    let mut digits = [Text::EMPTY; MAX_PARTS];
    let mut parts = [[ptr::null(); 2]; MAX_PARTS];
    let mut n_parts = 0;
    let slots = parts.iter_mut().zip(&mut digits);
    for (part, (slot, digits)) in table.fault_parts(fault_offset).zip(slots) {
        let string = word_part(table, part, value, digits);
        *slot = [string.map_or(ptr::null(), |string| bytes.c_str(string)), digits.as_c_str()];
        n_parts += 2;
    }
    let kind = bytes.c_str(table.fault_kind(fault_offset));
    // SAFETY: the kind and every part that is not NULL end with NUL, and `parts` holds `n_parts` pointers.
    unsafe { TVMFFIErrorSetRaisedFromCStrParts(kind, parts.as_mut_ptr().cast(), n_parts) };
    -1
}

/// A table behind a pointer; exists only while a function whose caller vouches for it runs.
#[derive(Clone, Copy)]
pub(crate) struct TableBytes(pub(crate) *const u8);

impl TableBytes {
    fn c_str(self, offset: u32) -> *const c_char {
        // SAFETY: offsets that come from a table point into it.
        unsafe { self.0.add(offset as usize) }.cast()
    }
}

impl Bytes for TableBytes {
    fn byte(self, offset: u32) -> u8 {
        // SAFETY: offsets that come from a table point into it, and all its bytes may be read.
        unsafe { *self.0.add(offset as usize) }
    }
}

#[cfg(test)]
#[path = "../tests/prebuilt/recorder.rs"]
mod recorder;

#[cfg(test)]
mod tests {
    use super::{kernpack_rt_fault, recorder};
    use crate::{Format, MAX_PARTS, MAX_VALUES, Part, Raised, TableWriter, render};
    use std::{vec, vec::Vec};

    #[track_caller]
    fn expect_raised_as_rendered(kind: &str, parts: &[Part<&str>], values: &[i64]) -> Raised {
        let mut table = TableWriter::default();
        let fault = table.fault(kind, parts).unwrap();
        let table = table.finish();
        let raised = recorder::raised_by(|| {
            // SAFETY: the table is finished, the fault is in it, and `render` below checks the values.
            unsafe { kernpack_rt_fault(table.as_ptr(), fault, values.as_ptr()) }
        });
        let rendered = render(&table, fault, values);
        assert_eq!(raised, (rendered.kind.clone(), rendered.message.clone()));
        rendered
    }

    #[test]
    fn the_runtime_says_what_render_says() {
        let got = Part::Value { index: 1, format: Format::Int };
        let parts = [Part::Text("expected 128, got "), got, Part::Text(" elements")];
        let raised = expect_raised_as_rendered("ValueError", &parts, &[0, -126]);
        assert_eq!(raised.kind, "ValueError");
        assert_eq!(raised.message, "expected 128, got -126 elements");
    }

    #[test]
    fn a_fault_may_have_no_parts() {
        assert_eq!(expect_raised_as_rendered("RuntimeError", &[], &[]).message, "");
    }

    #[test]
    fn the_largest_fault_fits() {
        let part = |i| Part::Value { index: (i % MAX_VALUES) as u8, format: Format::Hex };
        let parts: Vec<_> = (0..MAX_PARTS).map(part).collect();
        let raised = expect_raised_as_rendered("ValueError", &parts, &vec![-1; MAX_VALUES]);
        assert_eq!(raised.message.len(), MAX_PARTS * "0xffffffffffffffff".len());
    }
}
