// SPDX-License-Identifier: Apache-2.0
//! Memory of the CUDA driver, which is found at run time. Not here: launches, which packages make
//! themselves.

#![expect(unsafe_code, reason = "the driver is a C library")]

use libloading::Library;
use std::ffi::{c_int, c_void};
use std::sync::OnceLock;

type Context = *mut c_void;

/// The functions that are used. None of them is ever unloaded.
struct Driver {
    device_get: unsafe extern "C" fn(*mut c_int, c_int) -> c_int,
    retain: unsafe extern "C" fn(*mut Context, c_int) -> c_int,
    push: unsafe extern "C" fn(Context) -> c_int,
    pop: unsafe extern "C" fn(*mut Context) -> c_int,
    allocate: unsafe extern "C" fn(*mut u64, usize) -> c_int,
    free: unsafe extern "C" fn(u64) -> c_int,
}

/// Memory on a device.
pub struct Memory {
    context: Context,
    address: u64,
}

impl Driver {
    fn get() -> Result<&'static Driver, String> {
        static DRIVER: OnceLock<Result<Driver, String>> = OnceLock::new();
        DRIVER.get_or_init(Driver::load).as_ref().map_err(Clone::clone)
    }

    fn load() -> Result<Driver, String> {
        // SAFETY: the driver's initialisers are made for being run so.
        let library = unsafe { Library::new("libcuda.so.1") };
        let library = library.map_err(|error| format!("cannot load the CUDA driver: {error}"))?;
        let driver = Driver {
            device_get: get(&library, "cuDeviceGet")?,
            retain: get(&library, "cuDevicePrimaryCtxRetain")?,
            push: get(&library, "cuCtxPushCurrent_v2")?,
            pop: get(&library, "cuCtxPopCurrent_v2")?,
            allocate: get(&library, "cuMemAlloc_v2")?,
            free: get(&library, "cuMemFree_v2")?,
        };
        std::mem::forget(library);
        Ok(driver)
    }

    /// Does something in a context, and leaves the thread as it was.
    fn within(&self, context: Context, action: impl FnOnce() -> c_int) -> c_int {
        // SAFETY: the context is retained for the rest of the process.
        let status = unsafe { (self.push)(context) };
        if status != 0 {
            return status;
        }
        let status = action();
        let mut popped = std::ptr::null_mut();
        // SAFETY: what was pushed is popped.
        unsafe { (self.pop)(&mut popped) };
        status
    }
}

/// The type of the function is that of `cuda.h`.
fn get<T: Copy>(library: &Library, name: &str) -> Result<T, String> {
    // SAFETY: as above.
    let found = unsafe { library.get::<T>(name.as_bytes()) };
    found.map(|symbol| *symbol).map_err(|_| format!("the CUDA driver has no {name}"))
}

impl Memory {
    /// So many bytes, more than none, in the device's primary context.
    ///
    /// # Errors
    /// Where the driver has none.
    pub fn allocate(device: i32, size: usize) -> Result<Memory, String> {
        let driver = Driver::get()?;
        let failed = |what: &str, status: c_int| {
            format!("cannot allocate {size} bytes on cuda:{device}: {what} answers {status}")
        };
        let (mut ordinal, mut context, mut address) = (0, std::ptr::null_mut(), 0);
        // SAFETY: the place is a variable.
        let status = unsafe { (driver.device_get)(&mut ordinal, device) };
        if status != 0 {
            return Err(failed("cuDeviceGet", status));
        }
        // SAFETY: as above. The context is never released: memory may outlive whoever asked.
        let status = unsafe { (driver.retain)(&mut context, ordinal) };
        if status != 0 {
            return Err(failed("cuDevicePrimaryCtxRetain", status));
        }
        // SAFETY: the place is a variable.
        let status = driver.within(context, || unsafe { (driver.allocate)(&mut address, size) });
        if status == 0 {
            Ok(Memory { context, address })
        } else {
            Err(failed("cuMemAlloc", status))
        }
    }

    /// The first byte.
    pub fn address(&self) -> u64 {
        self.address
    }

    /// Gives the memory back, once what runs on the device has ended. A driver that is shutting
    /// down has taken it already.
    pub fn free(&self) {
        if let Ok(driver) = Driver::get() {
            // SAFETY: it was allocated in this context, and is freed once.
            driver.within(self.context, || unsafe { (driver.free)(self.address) });
        }
    }
}
