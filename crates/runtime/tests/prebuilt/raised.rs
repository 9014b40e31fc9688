// SPDX-License-Identifier: Apache-2.0
//! Reading an error as libtvm_ffi does.

use std::{
    ffi::{CStr, c_char},
    slice,
    string::{String, ToString},
    vec,
};

use super::error_parts;

/// The kind and the message of the error that `word` writes to the memory it gets; it returns how
/// many strings it has.
pub(crate) fn raised(word: impl FnOnce(*mut u8) -> i32) -> (String, String) {
    let mut error = vec![0_u64; error_parts::BYTES.div_ceil(8) as usize];
    let memory: *mut u8 = error.as_mut_ptr().cast();
    let n_strings = word(memory);
    let kind = memory.wrapping_add(error_parts::KIND as usize).cast::<*const c_char>();
    // SAFETY: the kind has been written.
    let kind = unsafe { *kind };
    let strings = memory.wrapping_add(error_parts::PARTS as usize).cast::<*const c_char>();
    // SAFETY: as many strings have been written as were counted.
    let strings = unsafe { slice::from_raw_parts(strings, n_strings as usize) };
    let message = strings.iter().filter(|string| !string.is_null()).map(|&it| text_at(it));
    (text_at(kind), message.collect())
}

fn text_at(string: *const c_char) -> String {
    // SAFETY: the kind and every string end with NUL.
    unsafe { CStr::from_ptr(string) }.to_str().unwrap().to_string()
}
