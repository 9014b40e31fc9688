// SPDX-License-Identifier: Apache-2.0
//! The functions of libtvm_ffi that the handler calls, and the types of C that stand in them. All
//! are in apache-tvm-ffi 0.1.0. They are found where this library is loaded.
#![expect(unsafe_code, reason = "declares what libtvm_ffi exports")]

use core::ffi::{c_char, c_int, c_void};
use core::slice;
use kernpack_ffi_abi::layout::{Any, ByteArray, DLTensor};

/// How every function of TVM-FFI is called.
pub(crate) type SafeCall = unsafe extern "C" fn(*mut c_void, *const Any, i32, *mut Any) -> c_int;

/// How an allocator says why it failed: its context, the kind of the error, the message.
pub(crate) type SetError = unsafe extern "C" fn(*mut c_void, *const c_char, *const c_char);

/// What allocates tensors for `TVMFFIEnvTensorAlloc`.
pub(crate) type Allocator =
    unsafe extern "C" fn(*const DLTensor, *mut *mut Managed, *mut c_void, SetError) -> c_int;

/// `DLManagedTensorVersioned`: a tensor with what frees it.
#[repr(C)]
#[derive(Debug)]
pub(crate) struct Managed {
    pub(crate) major: u32,
    pub(crate) minor: u32,
    pub(crate) context: *mut c_void,
    pub(crate) deleter: unsafe extern "C" fn(*mut Managed),
    pub(crate) flags: u64,
    pub(crate) tensor: DLTensor,
}

const _: () = assert!(core::mem::offset_of!(Managed, tensor) == 32);
const _: () = assert!(size_of::<Managed>() == 32 + size_of::<DLTensor>());

unsafe extern "C" {
    pub(crate) fn TVMFFIErrorMoveFromRaised(error: *mut *mut c_void);
    pub(crate) fn TVMFFIObjectIncRef(object: *mut c_void) -> c_int;
    pub(crate) fn TVMFFIObjectDecRef(object: *mut c_void) -> c_int;
    pub(crate) fn TVMFFIFunctionGetGlobal(name: *const ByteArray, out: *mut *mut c_void) -> c_int;
    pub(crate) fn TVMFFIFunctionCall(
        function: *mut c_void,
        args: *const Any,
        n_args: i32,
        result: *mut Any,
    ) -> c_int;
    pub(crate) fn TVMFFITensorFromDLPackVersioned(
        from: *mut Managed,
        alignment: i32,
        is_contiguous: i32,
        out: *mut *mut c_void,
    ) -> c_int;
    pub(crate) fn TVMFFIEnvSetStream(
        device_type: i32,
        ordinal: i32,
        stream: *mut c_void,
        previous: *mut *mut c_void,
    ) -> c_int;
    pub(crate) fn TVMFFIEnvGetDLPackManagedTensorAllocator() -> Option<Allocator>;
    pub(crate) fn TVMFFIEnvSetDLPackManagedTensorAllocator(
        allocator: Option<Allocator>,
        is_global: c_int,
        previous: *mut Option<Allocator>,
    ) -> c_int;
}

/// A C array as a slice; of no elements, its address may be anything.
///
/// # Safety
/// There must be that many initialised elements, which stay for `'a`.
pub(crate) unsafe fn slice<'a, T>(data: *const T, size: usize) -> &'a [T] {
    if size == 0 {
        return &[];
    }
    // SAFETY: the caller vouches for it.
    unsafe { slice::from_raw_parts(data, size) }
}
