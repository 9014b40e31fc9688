// SPDX-License-Identifier: Apache-2.0
//! Raising errors.
//!
//! libtvm_ffi walks the stack for an error that comes without a backtrace, and looks up every frame
//! of it, which takes longer than all else that a refused call does. So errors are made with a
//! backtrace of our own: the one line that names the entry point.
//!
//! A message is joined on the stack, or where it is long, in memory of its own. Where there is no
//! memory for it, or for the error, an error that says so is raised in its place.
#![expect(unsafe_code, reason = "errors come from generated code as pointers, and libtvm_ffi is C")]

use core::ffi::{c_char, c_int, c_void};
use core::mem::MaybeUninit;
use core::{ptr, slice};

use crate::interface::MAX_PARTS;
use crate::interface::layout::{ByteArray, ErrorObject, ErrorParts};
use crate::string::c_string;

unsafe extern "C" {
    fn malloc(bytes: usize) -> *mut c_void;
    fn free(memory: *mut c_void);
    fn TVMFFIErrorCreate(
        kind: *const ByteArray,
        message: *const ByteArray,
        backtrace: *const ByteArray,
        error: *mut *mut c_void,
    ) -> c_int;
    fn TVMFFIErrorSetRaised(error: *mut c_void);
    fn TVMFFIErrorSetRaisedFromCStrParts(
        kind: *const c_char,
        parts: *const *const c_char,
        n_parts: i32,
    );
    fn TVMFFIObjectDecRef(object: *mut c_void) -> c_int;
}

/// The most bytes of a message that is joined on the stack. Few have more.
const ROOM: usize = 1024;

/// Raises an error that has been worded in that many strings. Returns -1.
///
/// # Safety
///
/// The kind, the backtrace and so many strings of the error have been written.
#[cold]
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn kernpack_rt_raise(error: *const ErrorParts, n_strings: i32) -> i32 {
    // SAFETY: as the caller says.
    let kind = unsafe { (*error).kind };
    // SAFETY: as the caller says.
    let backtrace = unsafe { (*error).backtrace };
    // SAFETY: as the caller says.
    let strings = unsafe { &raw const (*error).parts }.cast::<*const c_char>();
    // SAFETY: as the caller says.
    let strings = unsafe { slice::from_raw_parts(strings, n_strings as usize) };
    let mut texts: [&[u8]; 2 * MAX_PARTS] = [&[]; 2 * MAX_PARTS];
    for (text, string) in texts.iter_mut().zip(strings).filter(|(_, string)| !string.is_null()) {
        *text = c_string(string.cast());
    }
    if !raise(c_string(kind.cast()), &texts, backtrace) {
        raise_without_memory();
    }
    -1
}

/// Raises an error once more, behind a C string, and drops it. Returns -1.
///
/// # Safety
///
/// `raised` is an error that is the caller's, and the backtrace of the new one has been written.
#[cold]
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn kernpack_rt_raise_behind(
    error: *const ErrorParts,
    what: *const c_char,
    raised: *mut ErrorObject,
) -> i32 {
    // SAFETY: as the caller says.
    let ErrorObject { kind, message, .. } = unsafe { raised.read() };
    // SAFETY: an error's texts live as long as it.
    let [kind, message] = [kind, message].map(|text| unsafe { bytes_of(text) });
    // SAFETY: as the caller says.
    let backtrace = unsafe { (*error).backtrace };
    if !raise(kind, &[c_string(what.cast()), message], backtrace) {
        raise_without_memory();
    }
    // SAFETY: as the caller says.
    unsafe { TVMFFIObjectDecRef(raised.cast()) };
    -1
}

/// Raises an error whose message is joined from these texts, or where there is no memory for it,
/// one that says so. Whether there was memory for either.
fn raise(kind: &[u8], texts: &[&[u8]], backtrace: *const c_char) -> bool {
    let backtrace = c_string(backtrace.cast());
    raise_joined(kind, texts, backtrace)
        || raise_text(b"RuntimeError", b"out of memory while an error was raised", backtrace)
}

fn raise_joined(kind: &[u8], texts: &[&[u8]], backtrace: &[u8]) -> bool {
    let n_bytes = texts.iter().map(|text| text.len()).sum();
    let mut room = MaybeUninit::<[u8; ROOM]>::uninit();
    let is_long = n_bytes > ROOM;
    // SAFETY: malloc takes any size.
    let memory = if is_long { unsafe { malloc(n_bytes) } } else { room.as_mut_ptr().cast() };
    if memory.is_null() {
        return false;
    }
    let mut end: *mut u8 = memory.cast();
    for text in texts {
        // SAFETY: there is room for all of them.
        unsafe { end.copy_from_nonoverlapping(text.as_ptr(), text.len()) };
        end = end.wrapping_add(text.len());
    }
    // SAFETY: so many bytes have been written.
    let message = unsafe { slice::from_raw_parts(memory.cast(), n_bytes) };
    let is_raised = raise_text(kind, message, backtrace);
    if is_long {
        // SAFETY: malloc gave it, and the error has a copy.
        unsafe { free(memory) };
    }
    is_raised
}

#[inline(never)]
fn raise_text(kind: &[u8], message: &[u8], backtrace: &[u8]) -> bool {
    let array = |text: &[u8]| ByteArray { data: text.as_ptr(), size: text.len() };
    let [kind, message, backtrace] = [kind, message, backtrace].map(array);
    let mut error = ptr::null_mut();
    // SAFETY: libtvm_ffi copies the texts, and writes one object.
    let status = unsafe { TVMFFIErrorCreate(&kind, &message, &backtrace, &raw mut error) };
    if status != 0 {
        return false;
    }
    // SAFETY: it was just made. A reference of its own is taken.
    unsafe { TVMFFIErrorSetRaised(error) };
    // SAFETY: the reference was handed over.
    unsafe { TVMFFIObjectDecRef(error) };
    true
}

/// The last resort where libtvm_ffi has no memory for an error. It walks the stack here, and should
/// it have no memory for this either, it throws what C++ throws then. `make objects` leaves
/// the tables for both to functions that are called from outside, so this becomes part of those.
#[inline(always)]
fn raise_without_memory() {
    let text = c"out of memory".as_ptr();
    // SAFETY: there is one part.
    unsafe { TVMFFIErrorSetRaisedFromCStrParts(c"RuntimeError".as_ptr(), &raw const text, 1) };
}

/// # Safety
///
/// The bytes are there as long as what is returned is used.
unsafe fn bytes_of<'b>(text: ByteArray) -> &'b [u8] {
    let data = if text.size == 0 { ptr::dangling() } else { text.data };
    // SAFETY: as the caller says.
    unsafe { slice::from_raw_parts(data, text.size) }
}
