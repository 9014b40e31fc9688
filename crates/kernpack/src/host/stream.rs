// SPDX-License-Identifier: Apache-2.0
//! The places where functions run: the CPU, or a stream of a GPU. That kernels may run on the
//! interpreter as well is `interpreter.rs`.

#![expect(unsafe_code, reason = "a stream is a handle of C")]

use crate::Result;
use crate::call::{Any, Entry, Returned, check};
use core::ffi::c_void;
use core::ptr;
use kernpack_ffi_abi::DeviceType;
use kernpack_ffi_abi::libtvm_ffi::TVMFFIEnvSetStream;
use std::sync::Arc;

/// The CPU: where functions run that take no stream.
#[derive(Clone, Copy, Debug)]
pub struct Cpu;

/// The place where the kernels of a function run: a [`Stream`] of a GPU, or an interpreter.
///
/// # Safety
/// A call does with its arguments what the signature says.
#[diagnostic::on_unimplemented(
    message = "no kernel runs on `{Self}`",
    label = "expected a stream of a GPU",
    note = "streams are those of `cudarc` where kernpack has the feature `cuda`, and `RawStream`; \
            where it has the feature `check`, an `Interpreter` takes the place of one"
)]
pub unsafe trait Place {
    /// Makes a call.
    ///
    /// # Errors
    /// Why it was refused, or failed.
    ///
    /// # Safety
    /// The arguments are what the signature asks for.
    #[doc(hidden)]
    unsafe fn call(&self, entry: Entry<'_>, args: &[Any]) -> Result<Returned>;

    /// The stream, as functions that have a parameter for it are passed it.
    #[doc(hidden)]
    fn passed(&self) -> *mut c_void;
}

/// Makes a call at a place.
///
/// # Errors
/// Why it was refused, or failed.
///
/// # Safety
/// The arguments are what the signature asks for.
#[inline]
pub unsafe fn on<P: Place + ?Sized>(place: &P, entry: Entry<'_>, args: &[Any]) -> Result<Returned> {
    // SAFETY: the caller says so.
    unsafe { place.call(entry, args) }
}

// SAFETY: the package does what its signature says.
unsafe impl<S: Stream + ?Sized> Place for S {
    #[inline]
    unsafe fn call(&self, entry: Entry<'_>, args: &[Any]) -> Result<Returned> {
        let _current = set_current(self)?;
        // SAFETY: the caller says so.
        let returned = unsafe { entry.call(args) }?;
        Ok(returned.on_stream(self.handle()))
    }

    #[inline]
    fn passed(&self) -> *mut c_void {
        self.handle()
    }
}

mod sealed {
    pub trait Sealed {}
    impl Sealed for super::Cpu {}
    #[cfg(feature = "check")]
    impl Sealed for crate::Interpreter {}
}

/// A place whose functions take tensors in the memory of the host.
#[diagnostic::on_unimplemented(
    message = "functions on `{Self}` take no tensor in the memory of the host",
    label = "expected tensors on a GPU"
)]
pub trait OnHost: sealed::Sealed {}

impl OnHost for Cpu {}
#[cfg(feature = "check")]
impl OnHost for crate::Interpreter {}

/// A stream of a GPU.
///
/// # Safety
/// The handle is that of a stream of that device as long as the value is borrowed.
pub unsafe trait Stream {
    /// The number of the device.
    fn device_id(&self) -> i32;

    /// The `CUstream`.
    fn handle(&self) -> *mut c_void;

    /// Does what calls need that the thread does for the stream.
    ///
    /// # Errors
    /// Where the device refuses.
    fn prepare(&self) -> Result<()> {
        Ok(())
    }
}

// SAFETY: it is the stream that is inside.
unsafe impl<S: Stream + ?Sized> Stream for Arc<S> {
    fn device_id(&self) -> i32 {
        (**self).device_id()
    }

    fn handle(&self) -> *mut c_void {
        (**self).handle()
    }

    fn prepare(&self) -> Result<()> {
        (**self).prepare()
    }
}

/// A stream by its handle.
#[derive(Clone, Copy, Debug)]
pub struct RawStream {
    device_id: i32,
    handle: *mut c_void,
}

impl RawStream {
    /// The stream of that handle, a `CUstream`, of that device.
    ///
    /// # Safety
    /// The stream is there as long as this value is used.
    pub unsafe fn new(device_id: i32, handle: *mut c_void) -> RawStream {
        RawStream { device_id, handle }
    }

    /// The NULL stream of a device.
    pub fn null(device_id: i32) -> RawStream {
        RawStream { device_id, handle: ptr::null_mut() }
    }
}

// SAFETY: whoever made it vouched for it; the NULL stream is always there.
unsafe impl Stream for RawStream {
    fn device_id(&self) -> i32 {
        self.device_id
    }

    fn handle(&self) -> *mut c_void {
        self.handle
    }
}

/// A stream as that of the environment on this thread, until it is dropped.
#[derive(Debug)]
pub(super) struct Current {
    device_id: i32,
    before: *mut c_void,
}

/// Makes a stream that of the environment.
///
/// # Errors
/// Where the device refuses.
#[inline]
pub(super) fn set_current<S: Stream + ?Sized>(stream: &S) -> Result<Current> {
    stream.prepare()?;
    let (device_id, handle) = (stream.device_id(), stream.handle());
    let before = set(device_id, handle)?;
    Ok(Current { device_id, before })
}

impl Drop for Current {
    fn drop(&mut self) {
        // It was set once, so that there is a place for it.
        let _ = set(self.device_id, self.before);
    }
}

/// Sets the environment's stream of a GPU on this thread; gives the one before.
fn set(device_id: i32, handle: *mut c_void) -> Result<*mut c_void> {
    let mut before = ptr::null_mut();
    let device = DeviceType::CUDA.0;
    // SAFETY: there is a place for the stream before; a handle is only kept.
    check(unsafe { TVMFFIEnvSetStream(device, device_id, handle, &mut before) })?;
    Ok(before)
}
