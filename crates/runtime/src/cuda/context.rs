// SPDX-License-Identifier: Apache-2.0
//! Which device a call is for, and its context.

use core::ffi::{c_int, c_void};
use core::ptr;
use core::sync::atomic::Ordering;

use super::driver::{Context, Driver, INVALID_DEVICE, Status, Stream};
use super::explain;
use super::state::{Area, MAX_DEVICES};
use crate::blank::Blank;
use crate::interface::layout::ErrorParts;

/// Something that is being done on a device. When it is dropped, the caller has its context again:
/// nothing can be done where the driver refuses, and nothing is said, since what was done has an
/// outcome already.
pub(super) struct Call {
    /// Where the package keeps what it knows.
    pub(super) area: Area,
    pub(super) driver: &'static Driver,
    pub(super) device: usize,
    /// Whether the device's primary context is known to be current.
    pub(super) in_primary: bool,
    /// The caller's context, which may be none, where it has to be put back.
    callers: Option<Context>,
}

/// The streams that mean the current context's: NULL, legacy, per thread.
const CURRENT_STREAMS: usize = 2;

/// The driver's answer to which context is current; that may be none.
#[derive(Clone, Copy)]
pub(super) struct Current {
    context: Context,
    status: Status,
}

impl Current {
    #[inline(always)]
    pub(super) fn ask(driver: &Driver) -> Current {
        let mut context = ptr::null_mut();
        // SAFETY: the driver writes one handle.
        let status = unsafe { (driver.current_context)(&raw mut context) };
        Current { context, status }
    }

    #[inline(always)]
    pub(super) fn is(self, context: Context) -> bool {
        self.status == 0 && self.context == context
    }
}

/// Makes a context current: 0, or why not.
fn enter(driver: &Driver, context: Context) -> Status {
    // SAFETY: the handle is the driver's.
    unsafe { (driver.set_context)(context) }
}

/// Runs `body` where a context is current, which it is told, or else could not be made so. The
/// caller has its own again behind it.
pub(super) fn within(driver: &Driver, context: Context, body: impl FnOnce(bool)) {
    let callers = Current::ask(driver);
    if callers.is(context) {
        return body(true);
    }
    // A context that cannot be put back is not taken away.
    let is_entered = callers.status == 0 && enter(driver, context) == 0;
    body(is_entered);
    if is_entered {
        enter(driver, callers.context);
    }
}

impl Call {
    /// Finds the driver, and sees to it that a context of the device is current where the stream
    /// means that; the current one may have been asked for. Where it fails, how many strings of an
    /// error there are.
    #[inline(never)]
    pub(super) fn on_stream(
        device: i64,
        stream: Stream,
        asked: Option<Current>,
        blank: Blank,
    ) -> Result<Call, i32> {
        let (area, driver) = area_and_driver(blank)?;
        let no_device =
            |status| explain::no_device(blank.runtime_error(), driver, Some(device), status);
        let number = device as usize;
        if number >= MAX_DEVICES {
            return Err(no_device(INVALID_DEVICE));
        }
        let mut call = Call { area, driver, device: number, in_primary: false, callers: None };
        if means_current(stream) {
            let current = asked.unwrap_or_else(|| Current::ask(driver));
            call.see_to_context(current).map_err(no_device)?;
        }
        Ok(call)
    }

    /// The like with a context of the device in any case.
    pub(super) fn in_context(device: i64, blank: Blank) -> Result<Call, i32> {
        Call::on_stream(device, ptr::null_mut(), None, blank)
    }

    /// The call of a launch on a stream that needs no other context than is current.
    pub(super) fn of_launch(device: usize, stream: Stream, blank: Blank) -> Result<Call, i32> {
        let (area, driver) = area_and_driver(blank)?;
        Ok(Call { area, driver, device, in_primary: means_current(stream), callers: None })
    }

    /// Makes the primary context current, unless one of the device is.
    fn see_to_context(&mut self, current: Current) -> Result<(), Status> {
        let primary = self.area.device(self.device).primary.load(Ordering::Acquire);
        self.in_primary = !primary.is_null() && current.is(primary);
        if self.in_primary {
            return Ok(());
        }
        if self.is_current() {
            self.in_primary = self.is_primary(current);
            return Ok(());
        }
        // A context that cannot be put back is not taken away.
        if current.status != 0 {
            return Err(current.status);
        }
        let primary = self.primary_context()?;
        match enter(self.driver, primary) {
            0 => {
                self.in_primary = true;
                self.callers = Some(current.context);
                Ok(())
            }
            status => Err(status),
        }
    }

    /// Whether the current context is one of the device.
    fn is_current(&self) -> bool {
        let mut of = -1;
        // SAFETY: the driver writes one int, or fails where no context is current.
        unsafe { (self.driver.current_device)(&raw mut of) == 0 && of == self.device as c_int }
    }

    /// Whether the current context is the primary one of the device, which is not made for this.
    fn is_primary(&self, current: Current) -> bool {
        current.status == 0
            && self.driver.has_primary(self.device as c_int)
            && self.primary_context() == Ok(current.context)
    }

    /// The like, where nothing is known of the current context.
    pub(super) fn is_primary_current(&self) -> bool {
        let current = Current::ask(self.driver);
        self.is_current() && self.is_primary(current)
    }

    /// The primary context of the device, retained by the first who needs it until the package
    /// goes.
    pub(super) fn primary_context(&self) -> Result<Context, Status> {
        let kept = &self.area.device(self.device).primary;
        let known = kept.load(Ordering::Acquire);
        if !known.is_null() {
            return Ok(known);
        }
        let device = self.device as c_int;
        let mut retained = ptr::null_mut();
        // SAFETY: the driver writes one handle.
        match unsafe { (self.driver.primary_retain)(&raw mut retained, device) } {
            0 => {}
            status => return Err(status),
        }
        let none: *mut c_void = ptr::null_mut();
        if kept.compare_exchange(none, retained, Ordering::AcqRel, Ordering::Acquire).is_err() {
            // SAFETY: another thread has retained it, too: once is enough.
            unsafe { (self.driver.primary_release)(device) };
        }
        Ok(retained)
    }
}

impl Drop for Call {
    fn drop(&mut self) {
        if let Some(callers) = self.callers {
            enter(self.driver, callers);
        }
    }
}

/// Whether the stream is one that means the current context's.
pub(super) fn means_current(stream: Stream) -> bool {
    stream.addr() <= CURRENT_STREAMS
}

/// Finds out which device's context is current. 0, or how many strings of an error there are.
///
/// # Safety
///
/// `device` and `error` may be written.
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn kernpack_rt_cuda_current(
    device: *mut i32,
    error: *mut ErrorParts,
) -> i32 {
    // SAFETY: as the caller says.
    let blank = unsafe { Blank::new(error) };
    let driver = match area_and_driver(blank) {
        Ok((_, driver)) => driver,
        Err(n_strings) => return n_strings,
    };
    // SAFETY: the driver writes one int.
    match unsafe { (driver.current_device)(device) } {
        0 => 0,
        status => explain::no_device(blank.runtime_error(), driver, None, status),
    }
}

/// The area and the driver, which every call needs, or how many strings of an error there are.
#[inline(never)]
pub(super) fn area_and_driver(blank: Blank) -> Result<(Area, &'static Driver), i32> {
    let area = Area::get().ok_or_else(|| explain::no_memory(blank.runtime_error()))?;
    let driver =
        area.driver().map_err(|reason| explain::no_driver(blank.runtime_error(), reason))?;
    Ok((area, driver))
}

/// Unloads when the package goes.
extern "C" fn unload() {
    Area::unload();
}

#[used]
#[unsafe(link_section = ".fini_array")]
static UNLOAD: extern "C" fn() = unload;
