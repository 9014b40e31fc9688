// SPDX-License-Identifier: Apache-2.0
//! Which device a call is for, and its context.

use core::ffi::{c_int, c_void};
use core::ptr;
use core::sync::atomic::Ordering;

use super::driver::{self, Context, Driver, Status, Stream};
use super::explain;
use super::message::Blank;
use super::state::{Area, MAX_DEVICES};
use crate::words::Words;

/// What a call that launches keeps between entering and leaving.
#[repr(C)]
pub(super) struct Call {
    /// The device that kernels run on.
    pub(super) device: u32,
    /// [`SWITCHED`] and [`IN_PRIMARY`].
    pub(super) flags: u32,
    callers: Context,
    area: Area,
    driver: *const Driver,
}

impl Call {
    /// Where the package keeps what it knows.
    pub(super) fn area(&self) -> Area {
        self.area
    }

    /// The driver, which was found to enter.
    pub(super) fn driver(&self) -> &'static Driver {
        // SAFETY: only `enter` makes a call, of one that stays.
        unsafe { &*self.driver }
    }
}

/// The caller's context, which may be none, has to be put back.
const SWITCHED: u32 = 1;
/// The device's primary context is current.
pub(super) const IN_PRIMARY: u32 = 2;

/// The streams that mean the current context's: NULL, legacy, per thread.
const CURRENT_STREAMS: usize = 2;

/// Prepares launches to a stream of a device. 0, or how many strings of an error there are.
///
/// # Safety
///
/// `call` and `words` may be written.
#[unsafe(no_mangle)]
unsafe extern "C" fn kernpack_rt_cuda_enter(
    device: i32,
    stream: Stream,
    call: *mut Call,
    words: *mut Words,
) -> i32 {
    // SAFETY: as the caller says.
    let words = unsafe { Blank::new(words) };
    let (area, driver) = match area_and_driver(words) {
        Ok(found) => found,
        Err(n_strings) => return n_strings,
    };
    match enter(area, driver, device, stream) {
        Ok(entered) => {
            // SAFETY: as the caller says.
            unsafe { call.write(entered) };
            0
        }
        Err(status) => explain::no_device(words.error(), driver, Some(device.into()), status),
    }
}

/// Finds out which device's context is current, where `device` points to -1. 0, or how many strings of an error there are.
///
/// # Safety
///
/// `device` may be read and written, `words` written.
#[unsafe(no_mangle)]
pub(super) unsafe extern "C" fn kernpack_rt_cuda_current(
    device: *mut i32,
    words: *mut Words,
) -> i32 {
    // SAFETY: as the caller says.
    if unsafe { *device } >= 0 {
        return 0;
    }
    // SAFETY: as the caller says.
    let words = unsafe { Blank::new(words) };
    let driver = match area_and_driver(words) {
        Ok((_, driver)) => driver,
        Err(n_strings) => return n_strings,
    };
    // SAFETY: the driver writes one int.
    match unsafe { (driver.current_device)(device) } {
        0 => 0,
        status => explain::no_device(words.error(), driver, None, status),
    }
}

/// What every call needs, or how many strings of an error there are.
#[inline(always)]
pub(super) fn area_and_driver(words: Blank) -> Result<(Area, &'static Driver), i32> {
    match Area::ready() {
        Some(found) => Ok(found),
        None => find(words),
    }
}

/// The like for the first call.
#[cold]
#[inline(never)]
fn find(words: Blank) -> Result<(Area, &'static Driver), i32> {
    let area = Area::get().ok_or_else(|| explain::no_memory(words.error()))?;
    let driver = area.driver().map_err(|reason| explain::no_driver(words.error(), reason))?;
    Ok((area, driver))
}

/// Sees to it that a context of the device is current where the stream means that; what a call keeps.
#[inline(always)]
pub(super) fn enter(
    area: Area,
    driver: &'static Driver,
    device: c_int,
    stream: Stream,
) -> Result<Call, Status> {
    if device as usize >= MAX_DEVICES {
        return Err(driver::INVALID_DEVICE);
    }
    let (callers, flags) = (ptr::null_mut(), 0);
    let mut call = Call { device: device as u32, flags, callers, area, driver };
    if !means_current(stream) {
        return Ok(call);
    }
    // SAFETY: the driver writes one handle.
    let status = unsafe { (driver.current_context)(&raw mut call.callers) };
    let primary = area.device(device as usize).primary.load(Ordering::Acquire);
    if status == 0 && !primary.is_null() && call.callers == primary {
        call.flags = IN_PRIMARY;
        return Ok(call);
    }
    see_to_context(&mut call, status).map(|()| call)
}

/// Makes the primary context current, unless one of the device is. The status is that of asking for the caller's.
#[cold]
#[inline(never)]
fn see_to_context(call: &mut Call, status: Status) -> Result<(), Status> {
    let (area, driver, device) = (call.area(), call.driver(), call.device as c_int);
    if is_current(driver, device) {
        let is_primary = status == 0 && is_primary(area, driver, device, call.callers);
        call.flags = if is_primary { IN_PRIMARY } else { 0 };
        return Ok(());
    }
    // What cannot be put back is not taken away.
    if status != 0 {
        return Err(status);
    }
    let primary = primary_context(area, driver, device)?;
    // SAFETY: the handle is the driver's.
    match unsafe { (driver.set_context)(primary) } {
        0 => {
            call.flags = SWITCHED | IN_PRIMARY;
            Ok(())
        }
        status => Err(status),
    }
}

/// Whether the current context is one of the device.
fn is_current(driver: &Driver, device: c_int) -> bool {
    let mut of = -1;
    // SAFETY: the driver writes one int, or fails where no context is current.
    unsafe { (driver.current_device)(&raw mut of) == 0 && of == device }
}

/// Whether a context is the primary one of a device, which is not made for this.
fn is_primary(area: Area, driver: &Driver, device: c_int, context: Context) -> bool {
    driver.has_primary(device) && primary_context(area, driver, device) == Ok(context)
}

/// Whether the current context is the primary one of the call's device.
pub(super) fn is_primary_current(call: &Call) -> bool {
    let (driver, device) = (call.driver(), call.device as c_int);
    let mut current = ptr::null_mut();
    // SAFETY: the driver writes one handle.
    let status = unsafe { (driver.current_context)(&raw mut current) };
    status == 0 && is_current(driver, device) && is_primary(call.area(), driver, device, current)
}

/// Whether the stream is one that means the current context's.
pub(super) fn means_current(stream: Stream) -> bool {
    stream.addr() <= CURRENT_STREAMS
}

/// The primary context of a device, retained by the first who needs it until the package goes.
fn primary_context(area: Area, driver: &Driver, device: c_int) -> Result<Context, Status> {
    let kept = &area.device(device as usize).primary;
    let known = kept.load(Ordering::Acquire);
    if !known.is_null() {
        return Ok(known);
    }
    let mut retained = ptr::null_mut();
    // SAFETY: the driver writes one handle.
    match unsafe { (driver.primary_retain)(&raw mut retained, device) } {
        0 => {}
        status => return Err(status),
    }
    let none: *mut c_void = ptr::null_mut();
    if kept.compare_exchange(none, retained, Ordering::AcqRel, Ordering::Acquire).is_err() {
        // SAFETY: another thread has retained it, too: once is enough.
        unsafe { (driver.primary_release)(device) };
    }
    Ok(retained)
}

/// Puts the caller's context back. Nothing can be done where the driver refuses, and nothing is said: the call has an outcome already.
///
/// # Safety
///
/// `call` is what [`kernpack_rt_cuda_enter`] has written, or has no flags.
#[unsafe(no_mangle)]
pub(super) unsafe extern "C" fn kernpack_rt_cuda_leave(call: *const Call) {
    // SAFETY: as the caller says; where nothing was entered, the rest has no value.
    unsafe {
        if (*call).flags & SWITCHED != 0 {
            ((*(*call).driver).set_context)((*call).callers);
        }
    }
}

/// Unloads when the package goes.
extern "C" fn unload() {
    Area::unload();
}

#[used]
#[unsafe(link_section = ".fini_array")]
static UNLOAD: extern "C" fn() = unload;
