// SPDX-License-Identifier: Apache-2.0
//! Launching a kernel.

use core::ffi::{c_int, c_void};
use core::ptr;
use core::sync::atomic::Ordering;

use super::context::{Call, IN_PRIMARY, is_primary_current, means_current};
use super::driver::{self, LaunchConfig, Status, Stream};
use super::explain::{self, Refused};
use super::load::{load, without_capture};
use super::message::Blank;
use super::package::Package;
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
    match unsafe { (call.driver().launch)(config, function, args, ptr::null_mut()) } {
        0 => 0,
        // SAFETY: as the caller says.
        status => unsafe { refused(call, number, config, args, function, status, words) },
    }
}

/// What to launch, where that is known: NULL where it is not. A function of the device's primary context is a little cheaper to launch than a
/// kernel of any context.
#[inline(always)]
fn known(call: &Call, number: usize, stream: Stream) -> driver::Function {
    let (area, device) = (call.area(), call.device as usize);
    let kept = area.kernel(device, number);
    let function = kept.function.load(Ordering::Acquire);
    let wants_function = match means_current(stream) {
        true if call.flags & IN_PRIMARY != 0 => return function,
        true => false,
        // A stream is likely to be one of the primary context. Where it is not, the driver says so.
        false => area.device(device).streams_of_others.load(Ordering::Relaxed) == 0,
    };
    let is_sought = || kept.is_sought.load(Ordering::Relaxed) != 0;
    if wants_function && (!function.is_null() || !is_sought()) {
        return function;
    }
    // A handle says nothing while its module is being loaded: that may fail yet.
    let module = area.module(device, Package::own().kernel(number).module as usize);
    if module.once.is_done() { kept.kernel.load(Ordering::Acquire) } else { ptr::null_mut() }
}

/// The like for the first launch. Where it cannot be had, how many strings of an error there are.
#[cold]
#[inline(never)]
fn find(call: &Call, number: usize, stream: Stream, words: Blank) -> Result<driver::Function, i32> {
    let handle = loaded(call, number, words)?;
    call.area().kernel(call.device as usize, number).is_sought.store(1, Ordering::Relaxed);
    let is_primary = match means_current(stream) {
        true => call.flags & IN_PRIMARY != 0,
        false => is_primary_current(call),
    };
    Ok(match is_primary {
        true => in_primary(call, number, handle).unwrap_or(handle),
        false => handle,
    })
}

/// A launch that the driver has refused: made as that of a kernel, where a function was of another context than the stream, or explained. 0, or
/// how many strings of an error there are.
///
/// # Safety
///
/// As of [`kernpack_rt_cuda_launch`].
#[cold]
#[inline(never)]
unsafe fn refused(
    call: &Call,
    number: usize,
    config: &LaunchConfig,
    args: *mut *mut c_void,
    function: driver::Function,
    mut status: Status,
    words: Blank,
) -> i32 {
    let (area, driver, device) = (call.area(), call.driver(), call.device as usize);
    let handle = area.kernel(device, number).kernel.load(Ordering::Acquire);
    let is_of_another = status == driver::INVALID_HANDLE && function != handle;
    if is_of_another && !means_current(config.stream) {
        // SAFETY: as the caller says.
        status = unsafe { (driver.launch)(config, handle, args, ptr::null_mut()) };
        if status == 0 {
            area.device(device).streams_of_others.store(1, Ordering::Relaxed);
            return 0;
        }
    }
    let launch = Refused { driver, number, device: device as c_int, handle, config };
    explain::not_launched(words.error(), &launch, status)
}

/// The kernel on the call's device, loaded if it is not. Where it cannot be, how many strings of an error there are.
pub(super) fn loaded(call: &Call, number: usize, words: Blank) -> Result<driver::Kernel, i32> {
    let (area, driver, device) = (call.area(), call.driver(), call.device as usize);
    // A handle says nothing while its module is being loaded: that may fail yet.
    let module = Package::own().kernel(number).module as usize;
    if !area.module(device, module).once.is_done() {
        load(area, driver, module, device)
            .map_err(|reason| explain::not_loaded(words.error(), driver, number, device, reason))?;
    }
    Ok(area.kernel(device, number).kernel.load(Ordering::Acquire))
}

/// The kernel as a function of the device's primary context, which is current. The driver copies it there when it is first asked for.
pub(super) fn in_primary(
    call: &Call,
    number: usize,
    handle: driver::Kernel,
) -> Result<driver::Function, Status> {
    let mut function = ptr::null_mut();
    // SAFETY: the driver writes one handle.
    let ask = || unsafe { (call.driver().get_function)(&raw mut function, handle) };
    match without_capture(call.driver(), ask) {
        0 => {
            let kept = call.area().kernel(call.device as usize, number);
            kept.function.store(function, Ordering::Release);
            Ok(function)
        }
        status => Err(status),
    }
}
