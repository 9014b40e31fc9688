// SPDX-License-Identifier: Apache-2.0
//! Launching a kernel.

use core::ffi::{c_int, c_void};
use core::sync::atomic::Ordering;

use super::context::{Call, IN_PRIMARY, area_and_driver, means_current};
use super::driver::{self, Driver, LaunchConfig, Status};
use super::explain::{self, Refused};
use super::load::{NotLoaded, load, without_capture};
use super::message::Blank;
use super::package::Package;
use super::state::Area;
use crate::words::Words;

/// Launches a kernel of the package. A grid without blocks is no launch. 0, or how many strings of an error there are.
///
/// # Safety
///
/// `call` has been entered, `kernel` is one of the package's, `config` and `args` are as `cuLaunchKernelEx` takes them, `words` may be
/// written.
#[unsafe(no_mangle)]
unsafe extern "C" fn kernpack_rt_cuda_launch(
    call: *const Call,
    kernel: u32,
    config: *const LaunchConfig,
    args: *mut *mut c_void,
    words: *mut Words,
) -> i32 {
    // SAFETY: as the caller says.
    let (call, config) = unsafe { (&*call, &*config) };
    if config.grid.contains(&0) {
        return 0;
    }
    // SAFETY: as the caller says.
    let words = unsafe { Blank::new(words) };
    let (area, driver) = match area_and_driver(words) {
        Ok(found) => found,
        Err(n_strings) => return n_strings,
    };
    let (device, number) = (call.device as usize, kernel as usize);
    let handle = match loaded(area, driver, number, device) {
        Ok(handle) => handle,
        Err(reason) => return explain::not_loaded(words.error(), driver, number, device, reason),
    };
    // A function of the context that is current is a little cheaper to launch than a kernel of any.
    let known = match call.flags & IN_PRIMARY != 0 && means_current(config.stream) {
        true => in_primary(area, driver, number, device, handle).unwrap_or(handle),
        false => handle,
    };
    // SAFETY: as the caller says; the handle is the driver's.
    match unsafe { (driver.launch)(config, known, args, core::ptr::null_mut()) } {
        0 => 0,
        status => {
            let launch = Refused { driver, number, device: device as c_int, handle, config };
            explain::not_launched(words.error(), &launch, status)
        }
    }
}

/// The kernel on that device, loaded if it is not.
pub(super) fn loaded(
    area: Area,
    driver: &Driver,
    kernel: usize,
    device: usize,
) -> Result<driver::Kernel, NotLoaded> {
    // A handle says nothing while its module is being loaded: that may fail yet.
    let module = Package::own().kernel(kernel).module as usize;
    if !area.module(device, module).once.is_done() {
        load(area, driver, module, device)?;
    }
    Ok(area.kernel(device, kernel).kernel.load(Ordering::Acquire))
}

/// The kernel as a function of the device's primary context, which is current. The driver copies it there when it is first asked for.
pub(super) fn in_primary(
    area: Area,
    driver: &Driver,
    kernel: usize,
    device: usize,
    handle: driver::Kernel,
) -> Result<driver::Function, Status> {
    let kept = &area.kernel(device, kernel).function;
    let mut function = kept.load(Ordering::Acquire);
    if function.is_null() {
        // SAFETY: the driver writes one handle.
        let ask = || unsafe { (driver.get_function)(&raw mut function, handle) };
        match without_capture(driver, ask) {
            0 => kept.store(function, Ordering::Release),
            status => return Err(status),
        }
    }
    Ok(function)
}
