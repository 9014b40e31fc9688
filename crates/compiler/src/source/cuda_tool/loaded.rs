// SPDX-License-Identifier: Apache-2.0
//! Libraries that the process has loaded, and loading.

#![expect(unsafe_code, reason = "the loader is C, and libraries run code as they are loaded")]

use libloading::os::unix;
use std::ffi::{CStr, OsStr, OsString, c_char, c_int, c_void};
use std::os::unix::ffi::OsStringExt;
use std::path::PathBuf;
use std::ptr;

/// Loads a library of NVIDIA's. It is not made for being unloaded: whoever calls its functions
/// forgets what is returned.
pub(in super::super) fn keep_loaded(file: &OsStr) -> Result<libloading::Library, String> {
    // SAFETY: NVIDIA's libraries run nothing but their own initialisation when they are loaded.
    let library = unsafe { libloading::Library::new(file) };
    library.map_err(|error| error.to_string())
}

/// The beginning of what the loader knows of a library, as `link.h` has it.
#[repr(C)]
struct LinkMap {
    base: usize,
    name: *const c_char,
}

unsafe extern "C" {
    fn dlinfo(library: *mut c_void, request: c_int, info: *mut c_void) -> c_int;
}

/// `dlopen`: nothing is loaded, as `dlfcn.h` has it.
const RTLD_NOLOAD: c_int = 4;
/// `dlinfo`: asks for a [`LinkMap`].
const RTLD_DI_LINKMAP: c_int = 2;

/// The file of a library that is loaded already.
pub(super) fn loaded(name: &str) -> Option<PathBuf> {
    // SAFETY: nothing is loaded, and so nothing runs.
    let library = unsafe { unix::Library::open(Some(name), unix::RTLD_LAZY | RTLD_NOLOAD) };
    let handle = library.ok()?.into_raw();
    let mut map: *const LinkMap = ptr::null();
    // SAFETY: the library is loaded, and the pointer is to a pointer that lives here.
    let status = unsafe { dlinfo(handle, RTLD_DI_LINKMAP, (&raw mut map).cast()) };
    // SAFETY: what was asked for was written, and lives as long as the library is held.
    let map = unsafe { map.as_ref() }.filter(|_| status == 0);
    // SAFETY: the name ends in a NUL, and lives as long.
    let file = map.map(|map| unsafe { CStr::from_ptr(map.name) }.to_bytes().to_vec());
    // SAFETY: the handle is of the library that was opened above, and is given up once.
    drop(unsafe { unix::Library::from_raw(handle) });
    file.map(|file| PathBuf::from(OsString::from_vec(file))).filter(|file| file.is_absolute())
}
