// SPDX-License-Identifier: Apache-2.0
//! Wording a fault: from a table, an offset and the values of a failed check to the kind and the
//! parts of an error.
//!
//! Strings stay where they lie in the table. Numbers are written into the error. Nothing is
//! allocated here.
#![expect(unsafe_code, reason = "the table and the values come from generated code as pointers")]

use core::{
    ffi::{c_char, c_void},
    ptr,
};

use crate::{
    blank::Blank,
    fault_table::{
        message::word_part,
        reader::{Bytes, Table},
    },
    interface::{MAX_PARTS, functions::PushFloat, layout::ErrorParts},
    text::Text,
};

/// Words the fault at `fault_offset`; returns how many C strings its message has.
///
/// # Safety
///
/// `table` points to all bytes of a table that `TableWriter` finished, `fault_offset` is one that
/// it returned, `values` points to every value that the fault's parts name, and `error` to memory
/// for an error. `push_float` is `kernpack_rt_push_float` where the fault prints floats.
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn kernpack_rt_fault(
    table: *const u8,
    fault_offset: u32,
    values: *const i64,
    push_float: Option<PushFloat>,
    error: *mut ErrorParts,
) -> i32 {
    let bytes = TableBytes(table);
    let table = Table(bytes);
    let value = |index: u8| {
        let value = values.wrapping_add(index.into());
        // SAFETY: the caller vouches for each value that a part names.
        unsafe { *value }
    };
    let push_float = |digits: &mut Text, bits| {
        if let Some(push_float) = push_float {
            // SAFETY: it takes a text.
            unsafe { push_float(ptr::from_mut(digits).cast(), bits) };
        }
    };
    // SAFETY: as the caller says.
    let blank = unsafe { Blank::new(error) };
    let mut n_strings = 0;
    for (i, part) in (0..MAX_PARTS).zip(table.fault_parts(fault_offset)) {
        let mut digits = Text::EMPTY;
        let string = word_part(table, part, value, push_float, &mut digits);
        let string = string.map_or(ptr::null(), |string| bytes.c_str(string));
        blank.set_part(i, [string, blank.set_digits(i, digits)]);
        n_strings += 2;
    }
    blank.set_kind(bytes.c_str(table.fault_kind(fault_offset)));
    n_strings
}

/// Appends what Python's `repr` says of the float64 whose bits are `bits`.
///
/// # Safety
///
/// `text` points to a [`Text`].
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn kernpack_rt_push_float(text: *mut c_void, bits: u64) -> i32 {
    // SAFETY: as the caller says.
    unsafe { &mut *text.cast::<Text>() }.push_float(bits);
    0
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
    fn array<const N: usize>(self, offset: u32) -> [u8; N] {
        let bytes = self.0.wrapping_add(offset as usize).cast::<[u8; N]>();
        // SAFETY: offsets that come from a table point into it, and all its bytes may be read.
        unsafe { bytes.read() }
    }
}

#[cfg(test)]
use crate::interface::layout::error_parts;
#[cfg(test)]
#[path = "../tests/prebuilt/raised.rs"]
mod raised;

#[cfg(test)]
mod tests {
    use super::{kernpack_rt_fault, kernpack_rt_push_float, raised::raised};
    use crate::interface::functions::PushFloat;
    use crate::interface::{MAX_PARTS, MAX_VALUES};
    use crate::{Format, Part, Raised, TableWriter, render};
    use std::{vec, vec::Vec};

    #[track_caller]
    fn expect_raised_as_rendered(kind: &str, parts: &[Part<&str>], values: &[i64]) -> Raised {
        let mut table = TableWriter::default();
        let fault = table.fault(kind, parts).unwrap();
        let table = table.finish();
        let raised = raised(|error| {
            let push_float = Some(kernpack_rt_push_float as PushFloat);
            // SAFETY: the table is finished, the fault is in it, and `render` below checks the
            // values.
            unsafe {
                kernpack_rt_fault(table.as_ptr(), fault, values.as_ptr(), push_float, error.cast())
            }
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
    fn what_is_not_given_is_none() {
        let part = Part::Optional { given: 0, index: 1, format: Format::Int };
        assert_eq!(expect_raised_as_rendered("ValueError", &[part], &[1, 5]).message, "5");
        assert_eq!(expect_raised_as_rendered("ValueError", &[part], &[0, 5]).message, "None");
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
