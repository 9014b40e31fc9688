// SPDX-License-Identifier: Apache-2.0
//! Launching a kernel, and loading ahead.

use core::ffi::c_void;
use core::sync::atomic::Ordering;

use super::context::Call;
use super::driver::{self, Driver, LaunchConfig};
use super::load::{NotLoaded, load};
use super::message::Message;
use super::package::Package;
use super::state::Area;
use super::{driver::INVALID_DEVICE, explain, state::MAX_DEVICES};
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
    let message = || unsafe { Message::new(words, c"RuntimeError") };
    let (device, number) = (call.device as usize, kernel as usize);
    let Some(area) = Area::get() else { return explain::no_memory(message()) };
    let driver = match area.driver() {
        Ok(driver) => driver,
        Err(reason) => return explain::no_driver(message(), reason),
    };
    let handle = match loaded(area, driver, number, device) {
        Ok(handle) => handle,
        Err(reason) => return explain::not_loaded(message(), driver, number, device, reason),
    };
    // SAFETY: as the caller says; the handle is the driver's.
    match unsafe { (driver.launch)(config, handle, args, core::ptr::null_mut()) } {
        0 => 0,
        status => explain::not_launched(message(), driver, number, device, handle, config, status),
    }
}

/// The kernel on that device, loaded if it is not.
fn loaded(
    area: Area,
    driver: &Driver,
    kernel: usize,
    device: usize,
) -> Result<driver::Kernel, NotLoaded> {
    let kept = area.kernel(device, kernel);
    let known = kept.load(Ordering::Acquire);
    if !known.is_null() {
        return Ok(known);
    }
    load(area, driver, Package::own().kernel(kernel).module as usize, device)?;
    Ok(kept.load(Ordering::Acquire))
}

/// Loads every kernel of the package on a device. 0, or how many strings of an error there are.
///
/// # Safety
///
/// `words` may be written.
#[unsafe(no_mangle)]
unsafe extern "C" fn kernpack_rt_cuda_preload(device: i64, words: *mut Words) -> i32 {
    // SAFETY: as the caller says.
    let message = || unsafe { Message::new(words, c"RuntimeError") };
    let Some(area) = Area::get() else { return explain::no_memory(message()) };
    let driver = match area.driver() {
        Ok(driver) => driver,
        Err(reason) => return explain::no_driver(message(), reason),
    };
    let mut count = 0;
    // SAFETY: the driver writes one int.
    let status = unsafe { (driver.device_count)(&raw mut count) };
    if status != 0 {
        return explain::no_device(message(), driver, device as i32, status);
    }
    if device < 0 || device >= i64::from(count) || device as usize >= MAX_DEVICES {
        return explain::no_device(message(), driver, device as i32, INVALID_DEVICE);
    }
    let device = device as usize;
    for number in 0..Package::own().n_kernels as usize {
        if let Err(reason) = loaded(area, driver, number, device) {
            return explain::not_loaded(message(), driver, number, device, reason);
        }
    }
    0
}
