// SPDX-License-Identifier: Apache-2.0
//! The places where functions run: the CPU, or a stream of a GPU.

#![expect(unsafe_code, reason = "a stream is a handle of C")]

use crate::Result;
use crate::call::check;
use core::ffi::c_void;
use core::ptr;
use kernpack_ffi_abi::DeviceType;
use kernpack_ffi_abi::libtvm_ffi::TVMFFIEnvSetStream;
use std::sync::Arc;

/// The CPU: where functions run that take no stream.
#[derive(Clone, Copy, Debug)]
pub struct Cpu;

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
pub struct Current {
    device_id: i32,
    before: *mut c_void,
}

/// Makes a stream that of the environment.
///
/// # Errors
/// Where the device refuses.
#[inline]
pub fn set_current(stream: &impl Stream) -> Result<Current> {
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
