// SPDX-License-Identifier: Apache-2.0
//! Launching a kernel, by itself.

use core::ffi::{c_int, c_void};
use core::ptr;
use core::sync::atomic::Ordering;

use super::context::{Call, Current, means_current};
use super::driver::{self, Driver, Status};
use super::explain::{self, Refused};
use super::load::{load, without_capture};
use super::package;
use super::state::{Area, MAX_DEVICES};
use crate::blank::Blank;
use crate::interface::layout::{Batch, KernelLaunch, LaunchConfig};

/// A launch, whose configuration and arguments are as the driver takes them.
pub(super) struct Launch<'l> {
    device: usize,
    /// The number of the kernel.
    kernel: usize,
    config: &'l LaunchConfig,
    args: *mut *mut c_void,
}

/// The outcome of an attempt, where a launch could not be made at once.
enum Tried {
    /// Nothing: there is more to do.
    Nothing,
    /// The current context was asked for, and is not what it has to be.
    Current(Current),
    /// The driver has refused to launch the function.
    Refused(driver::Function, Status),
}

impl<'l> Launch<'l> {
    /// One of a batch.
    #[inline(always)]
    pub(super) fn of(batch: &Batch, launch: &'l KernelLaunch) -> Launch<'l> {
        let &KernelLaunch { ref config, args, kernel, .. } = launch;
        Launch { device: batch.device as usize, kernel: kernel as usize, config, args }
    }

    /// Launches. Where that cannot be done, how many strings of an error there are.
    #[inline(always)]
    pub(super) fn make_it(&self, blank: Blank) -> Result<(), i32> {
        match self.at_once() {
            Ok(()) => Ok(()),
            Err(tried) => self.slowly(tried, blank),
        }
    }

    /// Launches where everything is as it has to be, which is what calls other than the first pay
    /// for.
    #[inline(always)]
    fn at_once(&self) -> Result<(), Tried> {
        let (area, driver) = Area::ready().ok_or(Tried::Nothing)?;
        if self.device >= MAX_DEVICES {
            return Err(Tried::Nothing);
        }
        let device = area.device(self.device);
        let function = area.kernel(self.device, self.kernel).function.load(Ordering::Acquire);
        if function.is_null() {
            return Err(Tried::Nothing);
        }
        if means_current(self.config.stream) {
            let current = Current::ask(driver);
            // It is known since there is a function.
            if !current.is(device.primary.load(Ordering::Relaxed)) {
                return Err(Tried::Current(current));
            }
        } else if device.streams_of_others.load(Ordering::Relaxed) != 0 {
            return Err(Tried::Nothing);
        }
        // SAFETY: the handle is the driver's.
        match unsafe { self.make(driver, function) } {
            0 => Ok(()),
            status => Err(Tried::Refused(function, status)),
        }
    }

    /// Sees to everything, and launches. Where that cannot be done, how many strings of an error
    /// there are.
    #[cold]
    #[inline(never)]
    fn slowly(&self, tried: Tried, blank: Blank) -> Result<(), i32> {
        let stream = self.config.stream;
        let asked = match tried {
            Tried::Refused(function, status) => {
                let call = Call::of_launch(self.device, stream, blank)?;
                return self.refused(&call, function, status, blank);
            }
            Tried::Current(current) => Some(current),
            Tried::Nothing => None,
        };
        let call = Call::on_stream(self.device as i64, stream, asked, blank)?;
        let mut function = self.known(&call);
        if function.is_null() {
            function = self.find(&call, blank)?;
        }
        // SAFETY: the handle is the driver's.
        match unsafe { self.make(call.driver, function) } {
            0 => Ok(()),
            status => self.refused(&call, function, status, blank),
        }
    }

    /// # Safety
    ///
    /// The handle is the driver's.
    #[inline(always)]
    unsafe fn make(&self, driver: &Driver, function: driver::Function) -> Status {
        // SAFETY: as the caller says.
        unsafe { (driver.launch)(self.config, function, self.args, ptr::null_mut()) }
    }

    /// The function to launch, or NULL where it is not known yet. A function of the device's
    /// primary context is a little cheaper to launch than a kernel of any context.
    fn known(&self, call: &Call) -> driver::Function {
        let kept = call.area.kernel(call.device, self.kernel);
        let function = kept.function.load(Ordering::Acquire);
        let wants_function = match means_current(self.config.stream) {
            true if call.in_primary => return function,
            true => false,
            // A stream is likely to be one of the primary context. Where it is not, the driver says
            // so.
            false => call.area.device(call.device).streams_of_others.load(Ordering::Relaxed) == 0,
        };
        let is_sought = || kept.is_sought.load(Ordering::Relaxed) != 0;
        if wants_function && (!function.is_null() || !is_sought()) {
            return function;
        }
        // A handle says nothing while its module is being loaded: that may fail yet.
        let module = package::own().kernel(self.kernel).module as usize;
        let is_loaded = call.area.module(call.device, module).once.is_done();
        if is_loaded { kept.kernel.load(Ordering::Acquire) } else { ptr::null_mut() }
    }

    /// The like for the first launch. Where it cannot be had, how many strings of an error there
    /// are.
    fn find(&self, call: &Call, blank: Blank) -> Result<driver::Function, i32> {
        let handle = loaded(call, self.kernel, blank)?;
        call.area.kernel(call.device, self.kernel).is_sought.store(1, Ordering::Relaxed);
        let is_primary = match means_current(self.config.stream) {
            true => call.in_primary,
            false => call.is_primary_current(),
        };
        Ok(match is_primary {
            true => in_primary(call, self.kernel, handle).unwrap_or(handle),
            false => handle,
        })
    }

    /// After the driver has refused it: makes it as that of a kernel, where it has a function for a
    /// handle that means nothing, or explains. The function is then of another context than the
    /// stream; or of the same before it was reset, and the next launch looks for it anew.
    fn refused(
        &self,
        call: &Call,
        function: driver::Function,
        mut status: Status,
        blank: Blank,
    ) -> Result<(), i32> {
        let kept = call.area.kernel(call.device, self.kernel);
        let (stream, handle) = (self.config.stream, kept.kernel.load(Ordering::Acquire));
        if status == driver::INVALID_HANDLE && function != handle {
            // SAFETY: the handle is the driver's.
            status = unsafe { self.make(call.driver, handle) };
            if status == 0 {
                let device = call.area.device(call.device);
                let primary = device.primary.load(Ordering::Relaxed);
                match means_current(stream) || call.driver.is_of_context(stream, primary) {
                    true => kept.forget_function(),
                    false => device.streams_of_others.store(1, Ordering::Relaxed),
                }
                return Ok(());
            }
        }
        let refused = Refused {
            driver: call.driver,
            number: self.kernel,
            device: call.device as c_int,
            handle,
            config: self.config,
        };
        Err(explain::not_launched(blank.runtime_error(), &refused, status))
    }
}

/// The kernel on the call's device, loaded if it is not. Where it cannot be, how many strings of an
/// error there are.
pub(super) fn loaded(call: &Call, number: usize, blank: Blank) -> Result<driver::Kernel, i32> {
    let &Call { area, driver, device, .. } = call;
    // A handle says nothing while its module is being loaded: that may fail yet.
    let module = package::own().kernel(number).module as usize;
    if !area.module(device, module).once.is_done() {
        load(area, driver, module, device).map_err(|reason| {
            explain::not_loaded(blank.runtime_error(), driver, number, device, reason)
        })?;
    }
    Ok(area.kernel(device, number).kernel.load(Ordering::Acquire))
}

/// The kernel as a function of the device's primary context, which is current. The driver copies it
/// there when it is first asked for.
pub(super) fn in_primary(
    call: &Call,
    number: usize,
    handle: driver::Kernel,
) -> Result<driver::Function, Status> {
    let mut function = ptr::null_mut();
    // SAFETY: the driver writes one handle.
    let ask = || unsafe { (call.driver.get_function)(&raw mut function, handle) };
    match without_capture(call.driver, ask) {
        0 => {
            let kept = call.area.kernel(call.device, number);
            kept.function.store(function, Ordering::Release);
            Ok(function)
        }
        status => Err(status),
    }
}
