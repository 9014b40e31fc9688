// SPDX-License-Identifier: Apache-2.0
//! Loading a module on a device.

use core::ffi::c_int;
use core::ptr;
use core::sync::atomic::Ordering;

use super::driver::{self, Driver, Library, Status, device, kernel};
use super::package;
use super::state::Area;

/// Why a module is not loaded.
#[derive(Clone, Copy)]
pub(super) enum NotLoaded {
    /// The driver refuses the image, or would refuse each there is.
    Refused(Status),
    /// The image lacks the kernel of that number.
    NoKernel(usize, Status),
}

/// Loads a module of the package, unless it is loaded.
pub(super) fn load(
    area: Area,
    driver: &Driver,
    module: usize,
    device: usize,
) -> Result<(), NotLoaded> {
    let mut reason = None;
    let loaded = area.module(device, module).once.make(|| {
        let made = without_capture(driver, || make(area, driver, module, device));
        made.map_err(|why| {
            reason = Some(why);
            match why {
                NotLoaded::Refused(status) | NotLoaded::NoKernel(_, status) => status,
            }
        })
    });
    loaded.map_err(|status| reason.unwrap_or(NotLoaded::Refused(status)))
}

fn make(area: Area, driver: &Driver, module: usize, device: usize) -> Result<(), NotLoaded> {
    let capability = driver.capability(device as c_int).map_err(NotLoaded::Refused)?;
    let image = package::own().module(module).best_image(capability);
    let image = image.ok_or(NotLoaded::Refused(driver::NO_BINARY_FOR_GPU))?;
    let mut library = ptr::null_mut();
    let (none_int, none) = (ptr::null_mut(), ptr::null_mut());
    // SAFETY: the image is whole, and there are no options.
    let status = unsafe {
        (driver.load)(&raw mut library, image.data, none_int, none, 0, none_int, none, 0)
    };
    if status != 0 {
        return Err(NotLoaded::Refused(status));
    }
    if let Err(reason) = find_kernels(area, driver, library, module, device) {
        // SAFETY: nobody else has the library.
        unsafe { (driver.unload)(library) };
        return Err(reason);
    }
    area.module(device, module).library.store(library, Ordering::Release);
    Ok(())
}

fn find_kernels(
    area: Area,
    driver: &Driver,
    library: Library,
    module: usize,
    device: usize,
) -> Result<(), NotLoaded> {
    for number in 0..package::own().n_kernels as usize {
        let described = package::own().kernel(number);
        if described.module != module as u64 {
            continue;
        }
        let mut found = ptr::null_mut();
        // SAFETY: the library is loaded, and the name ends with NUL.
        let status = unsafe { (driver.get_kernel)(&raw mut found, library, described.name) };
        if status != 0 {
            return Err(NotLoaded::NoKernel(number, status));
        }
        allow_all_shared_memory(driver, found, device as c_int);
        allow_large_clusters(driver, found, device as c_int);
        area.kernel(device, number).kernel.store(found, Ordering::Release);
    }
    Ok(())
}

/// Lets launches of the kernel ask for as much dynamic shared memory as there is: by default it is
/// 48 KiB. Where the driver refuses, a launch that wants more will say so.
fn allow_all_shared_memory(driver: &Driver, handle: driver::Kernel, device: c_int) {
    let all = driver.device_attribute(device::MAX_SHARED_BYTES_OPTIN, device).ok();
    let own = driver.kernel_attribute(kernel::SHARED_BYTES, handle, device);
    if let (Some(all), Some(own)) = (all, own) {
        // SAFETY: the handle is the driver's.
        unsafe {
            let attribute = kernel::MAX_DYNAMIC_SHARED_BYTES;
            (driver.set_kernel_attribute)(attribute, all.saturating_sub(own), handle, device);
        }
    }
}

/// Lets launches of the kernel ask for clusters of more blocks than run on every device that has
/// clusters, which is 8. Where the driver refuses, as for devices without, a launch that wants more
/// will say so.
fn allow_large_clusters(driver: &Driver, handle: driver::Kernel, device: c_int) {
    // SAFETY: the handle is the driver's.
    unsafe { (driver.set_kernel_attribute)(kernel::ANY_CLUSTER_ALLOWED, 1, handle, device) };
}

/// Runs `body` so that a stream of this thread that is being captured does not mind.
pub(super) fn without_capture<T>(driver: &Driver, body: impl FnOnce() -> T) -> T {
    let mut mode = driver::CAPTURE_MODE_RELAXED;
    // SAFETY: the driver reads and writes one int.
    let exchanged = unsafe { (driver.exchange_capture_mode)(&raw mut mode) } == 0;
    let result = body();
    if exchanged {
        // SAFETY: as above.
        unsafe { (driver.exchange_capture_mode)(&raw mut mode) };
    }
    result
}
