// SPDX-License-Identifier: Apache-2.0
//! Who has called, as a profiler finds out: by walking the stack with the tables that files have
//! for that.

#![expect(unsafe_code, reason = "the C library walks")]

use crate::json;
use std::ffi::{CStr, c_char, c_int, c_void};
use std::ptr;

unsafe extern "C" {
    fn backtrace(frames: *mut *mut c_void, size: c_int) -> c_int;
    fn dladdr(address: *const c_void, info: *mut Info) -> c_int;
}

/// `Dl_info`
#[repr(C)]
struct Info {
    file: *const c_char,
    base: *mut c_void,
    symbol: *const c_char,
    address: *mut c_void,
}

/// The files that the callers are in, the innermost first, each once in a row.
pub fn files() -> String {
    let mut frames = [ptr::null_mut(); 64];
    // SAFETY: there is room for as many.
    let n = unsafe { backtrace(frames.as_mut_ptr(), 64) };
    let mut files: Vec<_> = frames.iter().take(n as usize).map(|frame| file_of(*frame)).collect();
    files.dedup();
    json::list(files.iter().map(|file| json::string(file)))
}

fn file_of(address: *const c_void) -> String {
    let none = ptr::null_mut();
    let mut info = Info { file: ptr::null(), base: none, symbol: ptr::null(), address: none };
    // SAFETY: it is written where the address is a file's.
    if unsafe { dladdr(address, &raw mut info) } == 0 {
        return String::new();
    }
    // SAFETY: the file has a name that stays while it is loaded.
    unsafe { CStr::from_ptr(info.file) }.to_string_lossy().into_owned()
}
