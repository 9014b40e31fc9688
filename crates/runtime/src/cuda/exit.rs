// SPDX-License-Identifier: Apache-2.0
//! Telling the end of the process from that of the package.
//!
//! A package's destructors run in both. Where it is unloaded, nobody may be in a call, and
//! everything has to be given back. Where the process exits, other threads may be in the middle of
//! calls, until the kernel stops them: then everything stays as it is. Destructors are not told
//! which it is; but what the C library calls at exit comes before them all, and there is no call of
//! it where a package is unloaded.
//!
//! The two functions that this takes are looked up: packages need few functions of the C library,
//! which are listed. Where there are none, a package gives back everything at either end.

use core::ffi::{c_int, c_void};
use core::mem;
use core::ptr;
use core::sync::atomic::{AtomicU32, Ordering};

use super::system;

/// Whether the process exits: 1 then. Its address is the name under which the C library knows what
/// to call.
static EXITS: AtomicU32 = AtomicU32::new(0);

/// `__cxa_atexit`
type CallAtExit =
    unsafe extern "C" fn(extern "C" fn(*mut c_void), *mut c_void, *const AtomicU32) -> c_int;
/// `__cxa_finalize`
type Forget = unsafe extern "C" fn(*const AtomicU32);

/// Whether the process exits.
pub(super) fn is_near() -> bool {
    EXITS.load(Ordering::Acquire) != 0
}

extern "C" fn note(_: *mut c_void) {
    EXITS.store(1, Ordering::Release);
}

/// Has the end of the process noted: when the package is loaded, as a first call may come when the
/// end has begun.
extern "C" fn watch() {
    // SAFETY: NULL stands for what the process has loaded, and the name ends with NUL.
    let found = unsafe { system::symbol(ptr::null_mut(), c"__cxa_atexit".as_ptr()) };
    if !found.is_null() {
        // SAFETY: the C++ ABI gives it this type.
        let call_at_exit: CallAtExit = unsafe { mem::transmute(found) };
        // SAFETY: the package forgets before it goes.
        unsafe { call_at_exit(note, ptr::null_mut(), &raw const EXITS) };
    }
}

#[used]
#[unsafe(link_section = ".init_array")]
static WATCH: extern "C" fn() = watch;

/// Undoes [`watch`]: the package goes, and nothing of it may be called any more. The C library
/// makes the call now.
pub(super) fn forget() {
    // SAFETY: as above.
    let found = unsafe { system::symbol(ptr::null_mut(), c"__cxa_finalize".as_ptr()) };
    if !found.is_null() {
        // SAFETY: the C++ ABI gives it this type.
        let forget: Forget = unsafe { mem::transmute(found) };
        // SAFETY: this drops what was watched under this name.
        unsafe { forget(&raw const EXITS) };
    }
}
