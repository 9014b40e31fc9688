// SPDX-License-Identifier: Apache-2.0
//! References to objects of TVM-FFI, and the three kinds of objects that a call may need: arrays,
//! shapes, and tensors that own themselves.
//!
//! Objects are made by libtvm_ffi alone: what precedes one in memory is its own affair.
#![expect(unsafe_code, reason = "calls libtvm_ffi")]

use crate::failure::Failure;
use core::ffi::c_void;
use core::ptr::{self, NonNull};
use kernpack_ffi_abi::layout::{Any, ByteArray, DLTensor};
use kernpack_ffi_abi::libtvm_ffi::{
    TVMFFIFunctionCall, TVMFFIFunctionGetGlobal, TVMFFIObjectDecRef,
    TVMFFITensorFromDLPackVersioned,
};
use kernpack_ffi_abi::{ManagedTensor, TypeIndex};
use std::sync::OnceLock;

/// A reference to an object, given back when it goes.
#[derive(Debug)]
pub(crate) struct Object(NonNull<c_void>);

// SAFETY: the count of references is atomic, and nothing else of an object is touched.
unsafe impl Send for Object {}
// SAFETY: as above.
unsafe impl Sync for Object {}

impl Object {
    /// Takes over a reference.
    ///
    /// # Safety
    /// NULL, or a reference that the caller owns.
    pub(crate) unsafe fn from_owned(handle: *mut c_void) -> Option<Object> {
        NonNull::new(handle).map(Object)
    }

    /// Where the object is.
    pub(crate) fn address(&self) -> *mut c_void {
        self.0.as_ptr()
    }
}

impl Drop for Object {
    fn drop(&mut self) {
        // SAFETY: the reference is ours, and is not used again.
        unsafe { TVMFFIObjectDecRef(self.address()) };
    }
}

/// A global function of libtvm_ffi that makes an object of its arguments.
pub(crate) struct Maker {
    name: &'static str,
    found: OnceLock<Object>,
}

/// Makes an `ffi.Array`.
pub(crate) static ARRAY: Maker = Maker { name: "ffi.Array", found: OnceLock::new() };

/// Makes an `ffi.Shape`.
pub(crate) static SHAPE: Maker = Maker { name: "ffi.Shape", found: OnceLock::new() };

impl Maker {
    /// Makes the object, and the value that refers to it.
    pub(crate) fn make(&self, args: &[Any]) -> Result<(Object, Any), Failure> {
        let function = self.function()?;
        let mut result = Any::default();
        // SAFETY: the function is held for ever, and the arguments are initialised.
        let status = unsafe {
            TVMFFIFunctionCall(function, args.as_ptr(), args.len() as i32, &raw mut result)
        };
        if status != 0 {
            return Err(Failure::raised());
        }
        // SAFETY: the result is ours, and is an object.
        let object = unsafe { Object::from_owned(result.payload as *mut c_void) };
        object.map(|object| (object, result)).ok_or_else(|| Failure::plan("no object was made"))
    }

    fn function(&self) -> Result<*mut c_void, Failure> {
        if let Some(found) = self.found.get() {
            return Ok(found.address());
        }
        let name = ByteArray { data: self.name.as_ptr() as u64, size: self.name.len() as u64 };
        let mut function = ptr::null_mut();
        // SAFETY: it reads a byte array and writes a pointer.
        let status = unsafe { TVMFFIFunctionGetGlobal(&raw const name, &raw mut function) };
        // SAFETY: what it wrote is NULL, or a reference that is ours now.
        let function = unsafe { Object::from_owned(function) };
        match function {
            Some(function) if status == 0 => Ok(self.found.get_or_init(|| function).address()),
            _ => Err(Failure::raised()),
        }
    }
}

/// A tensor object over memory that stays XLA's.
pub(crate) fn tensor(view: &DLTensor) -> Result<(Object, Any), Failure> {
    // SAFETY: a view has as many extents as it says, and as many strides.
    let managed = unsafe { ManagedTensor::over(view, ()) };
    let mut handle = ptr::null_mut();
    // SAFETY: it takes over what was made for it, and writes a pointer.
    let status = unsafe { TVMFFITensorFromDLPackVersioned(managed, 0, 0, &raw mut handle) };
    if status != 0 {
        return Err(Failure::raised());
    }
    // SAFETY: what it wrote is a reference that is ours now.
    let object = unsafe { Object::from_owned(handle) };
    let any = Any { type_index: TypeIndex::TENSOR.0, padding: 0, payload: handle as i64 };
    object.map(|object| (object, any)).ok_or_else(|| Failure::plan("no tensor was made"))
}
