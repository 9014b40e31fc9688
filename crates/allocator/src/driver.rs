// SPDX-License-Identifier: Apache-2.0
//! The functions of the CUDA driver that memory needs. The driver is found at run time. Not here:
//! launches, which packages make themselves.

#![expect(unsafe_code, reason = "the driver is a C library")]

use libloading::Library;
use std::ffi::{c_int, c_void};
use std::ptr;
use std::sync::OnceLock;

/// The driver's answer where a device has no memory left.
pub const OUT_OF_MEMORY: c_int = 2;
/// The driver's answer where a device cannot do something.
pub const NOT_SUPPORTED: c_int = 801;

pub type Context = *mut c_void;
pub type Stream = *mut c_void;

/// Makes the struct of the driver's functions, and its loader. None of them is ever unloaded.
macro_rules! driver {
    ($($name:ident: $symbol:literal ($($argument:ty),*);)*) => {
        pub struct Driver {
            $($name: unsafe extern "C" fn($($argument),*) -> c_int,)*
        }

        impl Driver {
            fn of(library: &Library) -> Result<Driver, String> {
                Ok(Driver { $($name: get(library, $symbol)?,)* })
            }
        }
    };
}

driver! {
    device_get: "cuDeviceGet" (*mut c_int, c_int);
    retain: "cuDevicePrimaryCtxRetain" (*mut Context, c_int);
    push: "cuCtxPushCurrent_v2" (Context);
    pop: "cuCtxPopCurrent_v2" (*mut Context);
    synchronize: "cuCtxSynchronize" ();
    allocate: "cuMemAlloc_v2" (*mut u64, usize);
    free: "cuMemFree_v2" (u64);
    allocate_async: "cuMemAllocAsync" (*mut u64, usize, Stream);
    free_async: "cuMemFreeAsync" (u64, Stream);
    stream_id: "cuStreamGetId" (Stream, *mut u64);
    is_capturing: "cuStreamIsCapturing" (Stream, *mut c_int);
}

/// The type of the function is that of `cuda.h`.
fn get<T: Copy>(library: &Library, name: &str) -> Result<T, String> {
    // SAFETY: every function that is looked for has the type that it is given.
    let found = unsafe { library.get::<T>(name.as_bytes()) };
    found.map(|symbol| *symbol).map_err(|_| format!("the CUDA driver has no {name}"))
}

impl Driver {
    pub fn get() -> Result<&'static Driver, String> {
        static DRIVER: OnceLock<Result<Driver, String>> = OnceLock::new();
        DRIVER.get_or_init(Driver::load).as_ref().map_err(Clone::clone)
    }

    fn load() -> Result<Driver, String> {
        // SAFETY: the driver's initialisers are made for being run so.
        let library = unsafe { Library::new("libcuda.so.1") };
        let library = library.map_err(|error| format!("cannot load the CUDA driver: {error}"))?;
        let driver = Driver::of(&library)?;
        std::mem::forget(library);
        Ok(driver)
    }

    /// The primary context of a device. It is never released: memory may outlive whoever asked.
    ///
    /// # Errors
    /// The function that failed, and its answer.
    pub fn primary(&self, device: i32) -> Result<Context, (&'static str, c_int)> {
        let (mut ordinal, mut context) = (0, ptr::null_mut());
        // SAFETY: the place is a variable.
        answer("cuDeviceGet", unsafe { (self.device_get)(&mut ordinal, device) })?;
        // SAFETY: as above.
        answer("cuDevicePrimaryCtxRetain", unsafe { (self.retain)(&mut context, ordinal) })?;
        Ok(context)
    }

    /// Does something in a context, and leaves the thread as it was.
    pub fn within(&self, context: Context, action: impl FnOnce() -> c_int) -> c_int {
        // SAFETY: the context is retained for the rest of the process.
        let status = unsafe { (self.push)(context) };
        if status != 0 {
            return status;
        }
        let status = action();
        let mut popped = ptr::null_mut();
        // SAFETY: what was pushed is popped.
        unsafe { (self.pop)(&mut popped) };
        status
    }

    // ---- in the current context

    /// Waits for all that runs there.
    pub fn synchronize(&self) -> c_int {
        // SAFETY: it takes nothing.
        unsafe { (self.synchronize)() }
    }

    pub fn allocate(&self, address: &mut u64, size: usize) -> c_int {
        // SAFETY: there is a place for the address.
        unsafe { (self.allocate)(address, size) }
    }

    /// # Safety
    /// The memory is the caller's, who uses it no more.
    pub unsafe fn free(&self, address: u64) -> c_int {
        // SAFETY: the caller says so.
        unsafe { (self.free)(address) }
    }

    /// Memory that is there for what runs behind this on the stream.
    ///
    /// # Safety
    /// The stream is there.
    pub unsafe fn allocate_async(&self, address: &mut u64, size: usize, stream: Stream) -> c_int {
        // SAFETY: the caller says so, and there is a place for the address.
        unsafe { (self.allocate_async)(address, size, stream) }
    }

    /// # Safety
    /// The stream is there, and the memory is the caller's, who uses it no more behind this.
    pub unsafe fn free_async(&self, address: u64, stream: Stream) -> c_int {
        // SAFETY: the caller says so.
        unsafe { (self.free_async)(address, stream) }
    }

    /// A number that no other stream of the process has, or has had. To ask would spoil a capture.
    ///
    /// # Safety
    /// The stream is there, and is not captured.
    pub unsafe fn stream_id(&self, stream: Stream) -> Option<u64> {
        let mut id = 0;
        // SAFETY: the caller says so, and there is a place for the number.
        (unsafe { (self.stream_id)(stream, &mut id) } == 0).then_some(id)
    }

    /// # Safety
    /// The stream is there.
    pub unsafe fn is_capturing(&self, stream: Stream) -> Option<bool> {
        let mut status = 0;
        // SAFETY: the caller says so, and there is a place for the answer.
        let answer = unsafe { (self.is_capturing)(stream, &mut status) };
        (answer == 0).then_some(status != 0)
    }
}

fn answer(function: &'static str, status: c_int) -> Result<(), (&'static str, c_int)> {
    match status {
        0 => Ok(()),
        status => Err((function, status)),
    }
}
