// SPDX-License-Identifier: Apache-2.0
//! Texts of a call.
//!
//! Generated code and programs hold a text in 64 bits: as the address of the `TVMFFIAny` that has
//! it, or, where the package has it, as one more than the address of a C string. Neither address is
//! odd.
#![expect(unsafe_code, reason = "texts come from callers and generated code as pointers")]

use core::ptr;
use core::slice;

use crate::interface::layout::{Any, StringObject, any, type_index};

/// The most bytes of a small string.
const MOST_SMALL: u32 = 7;

/// Whether a text has the bytes of a C string, and no others: 1 or 0.
///
/// # Safety
///
/// `text` is a text of the call, and `expected` a C string.
#[cfg(kernpack_checks)]
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn kernpack_rt_text_is(text: i64, expected: *const u8) -> i32 {
    let mut expected = expected;
    for &byte in bytes_of(text) {
        // SAFETY: what stands before it is no NUL.
        let wanted = unsafe { *expected };
        if wanted == 0 || wanted != byte {
            return 0;
        }
        expected = expected.wrapping_add(1);
    }
    // SAFETY: what stands before it is no NUL.
    let behind = unsafe { *expected };
    (behind == 0).into()
}

/// The bytes of a text of the call. Only such texts exist while a call runs, which whoever hands
/// over its arguments vouches for.
pub(crate) fn bytes_of<'c>(text: i64) -> &'c [u8] {
    let address = text as usize;
    if address % 2 == 1 {
        return c_string((address - 1) as *const u8);
    }
    let at = address as *const Any;
    // SAFETY: a `TVMFFIAny` is there.
    let Any { type_index, padding, payload } = unsafe { at.read() };
    match type_index {
        type_index::SMALL_STR => {
            let bytes = at.cast::<u8>().wrapping_add(any::PAYLOAD as usize);
            // SAFETY: so many bytes are in the payload.
            unsafe { slice::from_raw_parts(bytes, padding.min(MOST_SMALL) as usize) }
        }
        type_index::STR => {
            // SAFETY: the payload of a string points to its object.
            let StringObject { data, size, .. } = unsafe { payload.cast::<StringObject>().read() };
            // SAFETY: the string has so many bytes there.
            unsafe { slice::from_raw_parts(if size == 0 { ptr::dangling() } else { data }, size) }
        }
        type_index::RAW_STR if !payload.is_null() => c_string(payload.cast()),
        _ => &[],
    }
}

/// The bytes of a C string, which whoever has its address vouches for.
pub(crate) fn c_string<'c>(start: *const u8) -> &'c [u8] {
    let mut len = 0;
    // SAFETY: what stands before it is no NUL. (Other reads would become a call of `strlen`.)
    while unsafe { start.wrapping_add(len).read_volatile() } != 0 {
        len += 1;
    }
    // SAFETY: so many bytes have been read.
    unsafe { slice::from_raw_parts(start, len) }
}
