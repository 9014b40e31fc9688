// SPDX-License-Identifier: Apache-2.0
//! Calls of the operating system and of the C library.

use core::ffi::{CStr, c_char, c_int, c_long, c_void};
use core::sync::atomic::{AtomicU32, Ordering};

#[cfg(kernpack_arch = "x86_64")]
mod number {
    pub(super) const MMAP: super::c_long = 9;
    pub(super) const MUNMAP: super::c_long = 11;
    pub(super) const MADVISE: super::c_long = 28;
    pub(super) const FUTEX: super::c_long = 202;
}

#[cfg(kernpack_arch = "aarch64")]
mod number {
    pub(super) const MMAP: super::c_long = 222;
    pub(super) const MUNMAP: super::c_long = 215;
    pub(super) const MADVISE: super::c_long = 233;
    pub(super) const FUTEX: super::c_long = 98;
}

const PROT_READ_WRITE: c_long = 1 | 2;
const MAP_PRIVATE_ANONYMOUS: c_long = 0x02 | 0x20;
const MADV_WIPEONFORK: c_long = 18;
const FUTEX_WAIT_PRIVATE: c_long = 128;
const FUTEX_WAKE_PRIVATE: c_long = 129;
const RTLD_NOW: c_int = 2;

unsafe extern "C" {
    fn syscall(number: c_long, ...) -> c_long;
    fn dlopen(file: *const c_char, flags: c_int) -> *mut c_void;
    fn dlsym(library: *mut c_void, symbol: *const c_char) -> *mut c_void;
    fn dlerror() -> *const c_char;
    fn getenv(name: *const c_char) -> *const c_char;
    /// The processor's counter: `make objects` puts LLVM's intrinsic in its place.
    fn kernpack_ticks() -> u64;
    /// Has the processor fetch what lies at an address, if it can be read: `make objects` puts
    /// LLVM's intrinsic here, too, whose numbers say that it is read, often, and is data.
    fn kernpack_prefetch(address: *const u8, writes: i32, locality: i32, is_data: i32);
}

/// Says that the memory from an address on is about to be read. It need not be there.
#[inline(always)]
pub(super) fn prefetch(address: *const u8) {
    // SAFETY: it is a hint, which changes nothing.
    unsafe { kernpack_prefetch(address, 0, 3, 1) };
}

/// The processor's counter. How long a tick is depends on the processor.
#[inline(always)]
pub(super) fn ticks() -> u64 {
    // SAFETY: it is one instruction.
    unsafe { kernpack_ticks() }
}

/// A variable of the environment, as it is now: a C string, or NULL where it is not set.
pub(super) fn variable(name: &'static CStr) -> *const c_char {
    // SAFETY: the name ends with NUL.
    unsafe { getenv(name.as_ptr()) }
}

/// Memory that is all zeros, and is so again in a child that is forked. NULL where there is none.
pub(super) fn map_wiped_on_fork(bytes: usize) -> *mut u8 {
    let (anywhere, flags) = (core::ptr::null_mut::<u8>(), MAP_PRIVATE_ANONYMOUS);
    let (no_file, start) = (-1 as c_long, 0 as c_long);
    // SAFETY: a new mapping disturbs nothing.
    let mapped =
        unsafe { syscall(number::MMAP, anywhere, bytes, PROT_READ_WRITE, flags, no_file, start) };
    if mapped == -1 {
        return core::ptr::null_mut();
    }
    // Kernels before 4.14 do not know this, and fork without it.
    // SAFETY: it is the mapping just made.
    unsafe { syscall(number::MADVISE, mapped, bytes, MADV_WIPEONFORK) };
    mapped as *mut u8
}

/// Gives memory back that [`map_wiped_on_fork`] gave.
///
/// # Safety
///
/// It is what that function gave, of that size, and nobody uses it.
pub(super) unsafe fn unmap(memory: *mut u8, bytes: usize) {
    // SAFETY: as the caller says.
    unsafe { syscall(number::MUNMAP, memory, bytes) };
}

/// Sleeps while the state has that value, or until it is woken.
pub(super) fn sleep_while(state: &AtomicU32, value: u32) {
    // SAFETY: the kernel only reads it.
    unsafe {
        syscall(number::FUTEX, state.as_ptr(), FUTEX_WAIT_PRIVATE, value as c_long, 0 as c_long);
    }
}

/// Sets the state and wakes all who sleep on it.
pub(super) fn set_and_wake(state: &AtomicU32, value: u32) {
    state.store(value, Ordering::Release);
    // SAFETY: the kernel only wakes threads.
    unsafe { syscall(number::FUTEX, state.as_ptr(), FUTEX_WAKE_PRIVATE, i32::MAX as c_long) };
}

/// Opens the CUDA driver, or says why it cannot be.
pub(super) fn open_driver() -> Result<*mut c_void, *const c_char> {
    // SAFETY: the name ends with NUL; opening the driver runs only its own code.
    let library = unsafe { dlopen(c"libcuda.so.1".as_ptr(), RTLD_NOW) };
    if library.is_null() {
        // SAFETY: it may be asked at any time.
        return Err(unsafe { dlerror() });
    }
    Ok(library)
}

/// The address of a symbol, NULL where there is none.
///
/// # Safety
///
/// The library is open, or NULL for all that the process has loaded, and the name ends with NUL.
pub(super) unsafe fn symbol(library: *mut c_void, name: *const c_char) -> *mut c_void {
    // SAFETY: as the caller says.
    unsafe { dlsym(library, name) }
}
