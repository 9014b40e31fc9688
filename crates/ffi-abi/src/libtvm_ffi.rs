// SPDX-License-Identifier: Apache-2.0
//! The functions of libtvm_ffi that kernpack's libraries for Python call, and the types of C that
//! stand in them. No other file declares them for these libraries. All are in apache-tvm-ffi 0.1.0.
//!
//! Nothing is linked: the libraries leave them undefined, and whoever loads one has loaded
//! libtvm_ffi before. What packages call stands elsewhere: in [`imports`](crate::imports) for
//! generated code, and in the runtime, which knows no other crate.
#![expect(unsafe_code, reason = "declares what libtvm_ffi exports")]

use crate::layout::{Any, ByteArray, DLTensor};
use crate::managed::ManagedTensor;
use core::ffi::{c_char, c_int, c_void};

/// The C type of entry points, and so how every function of TVM-FFI is called: its own pointer, the
/// arguments, the place of the result.
pub type SafeCall = unsafe extern "C" fn(*mut c_void, *const Any, i32, *mut Any) -> c_int;

/// How an allocator says why it failed: its context, the kind of the error, the message. Both texts
/// are copied.
pub type SetError = unsafe extern "C" fn(*mut c_void, *const c_char, *const c_char);

/// `DLPackManagedTensorAllocator`: makes a tensor like a prototype, of which it reads neither data
/// nor strides.
pub type Allocator =
    unsafe extern "C" fn(*const DLTensor, *mut *mut ManagedTensor, *mut c_void, SetError) -> c_int;

/// Declares functions, and lists them as [`DECLARED`].
macro_rules! functions {
    ($( $(#[$doc:meta])* fn $name:ident($($arg:ident: $ty:ty),* $(,)?) $(-> $out:ty)?; )*) => {
        unsafe extern "C" { $( $(#[$doc])* pub fn $name($($arg: $ty),*) $(-> $out)?; )* }

        /// Every function that is declared here.
        pub const DECLARED: &[&str] = &[$( stringify!($name) ),*];
    };
}

functions! {
    /// Raises an error of that kind with that message.
    fn TVMFFIErrorSetRaisedFromCStr(kind: *const c_char, message: *const c_char);
    /// Raises an error object.
    fn TVMFFIErrorSetRaised(error: *mut c_void);
    /// Takes the error that is raised, or NULL.
    fn TVMFFIErrorMoveFromRaised(error: *mut *mut c_void);
    /// Takes a strong reference.
    fn TVMFFIObjectIncRef(object: *mut c_void) -> c_int;
    /// Drops a strong reference.
    fn TVMFFIObjectDecRef(object: *mut c_void) -> c_int;
    /// Makes a string that is a copy.
    fn TVMFFIStringFromByteArray(text: *const ByteArray, made: *mut Any) -> c_int;
    /// Makes bytes that are a copy.
    fn TVMFFIBytesFromByteArray(bytes: *const ByteArray, made: *mut Any) -> c_int;
    /// Makes a function object of a state, an entry point and what deletes the state.
    fn TVMFFIFunctionCreate(
        state: *mut c_void,
        call: SafeCall,
        delete: unsafe extern "C" fn(*mut c_void),
        function: *mut *mut c_void,
    ) -> c_int;
    /// Looks a global function up by name.
    fn TVMFFIFunctionGetGlobal(name: *const ByteArray, function: *mut *mut c_void) -> c_int;
    /// Calls a function object.
    fn TVMFFIFunctionCall(
        function: *mut c_void,
        args: *const Any,
        n_args: i32,
        result: *mut Any,
    ) -> c_int;
    /// Makes a tensor object, which takes over the managed tensor.
    fn TVMFFITensorFromDLPackVersioned(
        from: *mut ManagedTensor,
        alignment_bytes: i32,
        is_contiguous: i32,
        tensor: *mut *mut c_void,
    ) -> c_int;
    /// Whether a signal wants attention: not 0, and Python has an exception set.
    fn TVMFFIEnvCheckSignals() -> c_int;
    /// Sets the thread's stream for a device. `previous` gets the one before, unless it is NULL.
    fn TVMFFIEnvSetStream(
        device_type: i32,
        device_id: i32,
        stream: *mut c_void,
        previous: *mut *mut c_void,
    ) -> c_int;
    /// The thread's stream for a device; NULL where nobody has set one.
    fn TVMFFIEnvGetStream(device_type: i32, device_id: i32) -> *mut c_void;
    /// The thread's allocator, or the process's where the thread has none; the header of C has it
    /// the other way round.
    fn TVMFFIEnvGetDLPackManagedTensorAllocator() -> Option<Allocator>;
    /// Sets the thread's allocator, and the process's too if `is_global`. `previous` gets the
    /// thread's before, unless it is NULL; early versions write the new one there.
    fn TVMFFIEnvSetDLPackManagedTensorAllocator(
        allocator: Option<Allocator>,
        is_global: c_int,
        previous: *mut Option<Allocator>,
    ) -> c_int;
}
