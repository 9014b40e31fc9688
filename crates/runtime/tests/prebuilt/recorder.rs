// SPDX-License-Identifier: Apache-2.0
//! Stands in for libtvm_ffi: keeps the error that was raised in this thread.

use std::{
    cell::RefCell,
    ffi::{CStr, c_char, c_int},
    slice,
    string::{String, ToString},
    thread_local,
};

thread_local! {
    static RAISED: RefCell<Option<(String, String)>> = const { RefCell::new(None) };
}

/// The kind and the message of the error that `call` raises, which must return -1.
#[track_caller]
pub(crate) fn raised_by(call: impl FnOnce() -> i32) -> (String, String) {
    assert_eq!(call(), -1);
    RAISED.take().expect("a call that returns -1 raises an error")
}

#[unsafe(no_mangle)]
unsafe extern "C" fn TVMFFIErrorSetRaisedFromCStrParts(
    kind: *const c_char,
    parts: *mut *const c_char,
    n_parts: c_int,
) {
    // SAFETY: the caller passes as many parts as it says.
    let parts = unsafe { slice::from_raw_parts(parts, n_parts as usize) };
    let message = parts.iter().filter(|part| !part.is_null()).map(|&part| text_at(part)).collect();
    RAISED.set(Some((text_at(kind), message)));
}

fn text_at(string: *const c_char) -> String {
    // SAFETY: kinds and parts end with NUL.
    unsafe { CStr::from_ptr(string) }.to_str().unwrap().to_string()
}
