// SPDX-License-Identifier: Apache-2.0
//! Where the memory of results and workspaces comes from. The allocator itself is that of
//! `kernpack-allocator`.

#![expect(unsafe_code, reason = "an allocator is a function of C")]

use crate::call::check;
use crate::{Error, Result};
use core::ptr;
use kernpack_ffi_abi::libtvm_ffi::TVMFFIEnvSetDLPackManagedTensorAllocator;
use std::sync::OnceLock;

pub use kernpack_ffi_abi::ManagedTensor;
pub use kernpack_ffi_abi::libtvm_ffi::{Allocator, SetError};

/// Has results and workspaces come from that allocator, in the whole process. Without one, the
/// first call that needs memory installs kernpack's own: on the CPU `malloc`, on a GPU the driver.
///
/// # Errors
/// Where libtvm_ffi refuses.
///
/// # Safety
/// The function is there as long as the process, and does what DLPack says of a
/// `DLPackManagedTensorAllocator`.
pub unsafe fn use_allocator(allocator: Allocator) -> Result<()> {
    // SAFETY: the caller vouches for the allocator; nobody asks for the one before.
    check(unsafe { TVMFFIEnvSetDLPackManagedTensorAllocator(Some(allocator), 1, ptr::null_mut()) })
}

/// Installs the allocator, where the process has none: before a call that needs memory.
///
/// # Errors
/// Where that cannot be done.
#[inline]
pub fn need_memory() -> Result<()> {
    static INSTALLED: OnceLock<Result<(), String>> = OnceLock::new();
    INSTALLED.get_or_init(kernpack_allocator::install).clone().map_err(Error::Runtime)
}
