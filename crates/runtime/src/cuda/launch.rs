// SPDX-License-Identifier: Apache-2.0
//! Launching a kernel.

use core::ffi::{c_int, c_void};
use core::ptr;
use core::sync::atomic::Ordering;

use super::context::{Call, IN_PRIMARY, means_current};
use super::driver::{self, Driver, LaunchConfig, Status, Stream};
use super::explain::{self, Refused};
use super::load::{NotLoaded, load, without_capture};
use super::message::Blank;
use super::package::Package;
use super::state::Area;
use crate::words::Words;

/// Launches a kernel of the package. 0, or how many strings of an error there are.
///
/// # Safety
///
/// `call` has been entered, `kernel` is one of the package's, `config`, whose grid has blocks, and `args` are as `cuLaunchKernelEx` takes
/// them, `words` may be written.
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
    let number = kernel as usize;
    // SAFETY: as the caller says.
    let words = unsafe { Blank::new(words) };
    let mut function = known(call, number, config.stream);
    if function.is_null() {
        function = match find(call, number, config.stream, words) {
            Ok(found) => found,
            Err(n_strings) => return n_strings,
        };
    }
    // SAFETY: as the caller says; the handle is the driver's.
    match unsafe { (call.driver().launch)(config, function, args, core::ptr::null_mut()) } {
        0 => 0,
        status => {
            let handle = call.area().kernel(call.device as usize, number);
            let handle = handle.kernel.load(Ordering::Acquire);
            let (driver, device) = (call.driver(), call.device as c_int);
            let launch = Refused { driver, number, device, handle, config };
            explain::not_launched(words.error(), &launch, status)
        }
    }
}

/// What to launch, where that is known: NULL where it is not.
#[inline(always)]
fn known(call: &Call, number: usize, stream: Stream) -> driver::Function {
    let (area, device) = (call.area(), call.device as usize);
    let kept = area.kernel(device, number);
    if is_in_primary(call, stream) {
        return kept.function.load(Ordering::Acquire);
    }
    // A handle says nothing while its module is being loaded: that may fail yet.
    let module = area.module(device, Package::own().kernel(number).module as usize);
    if module.once.is_done() { kept.kernel.load(Ordering::Acquire) } else { ptr::null_mut() }
}

/// Whether the kernel runs in the device's primary context, which is current: a function of that is a little cheaper to launch than a kernel
/// of any context.
fn is_in_primary(call: &Call, stream: Stream) -> bool {
    call.flags & IN_PRIMARY != 0 && means_current(stream)
}

/// The like for the first launch. Where it cannot be had, how many strings of an error there are.
#[cold]
#[inline(never)]
fn find(call: &Call, number: usize, stream: Stream, words: Blank) -> Result<driver::Function, i32> {
    let (area, driver, device) = (call.area(), call.driver(), call.device as usize);
    let handle = loaded(area, driver, number, device)
        .map_err(|reason| explain::not_loaded(words.error(), driver, number, device, reason))?;
    Ok(match is_in_primary(call, stream) {
        true => in_primary(area, driver, number, device, handle).unwrap_or(handle),
        false => handle,
    })
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
    let mut function = ptr::null_mut();
    // SAFETY: the driver writes one handle.
    let ask = || unsafe { (driver.get_function)(&raw mut function, handle) };
    match without_capture(driver, ask) {
        0 => area.kernel(device, kernel).function.store(function, Ordering::Release),
        status => return Err(status),
    }
    Ok(function)
}
