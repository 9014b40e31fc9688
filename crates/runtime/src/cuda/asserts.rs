// SPDX-License-Identifier: Apache-2.0
//! Assertions of kernels: where a failure on a device is written down, and telling of it once.
//!
//! Each device that kernels with assertions are launched on has one record, in memory of the host
//! that kernels see, too. It is there until the package goes. What is told is empty again, for the
//! next failure.

use core::ffi::c_void;
use core::ptr;
use core::sync::atomic::{AtomicU32, Ordering};

use super::context::Call;
use super::driver::{Driver, NOT_REGISTERED, Status};
use super::explain;
use super::load::without_capture;
use super::message::Message;
use super::state::{Area, MAX_DEVICES};
use super::system;
use crate::assert_record::AssertRecord;
use crate::blank::Blank;
use crate::interface::functions::PushFloat;
use crate::interface::layout::ErrorParts;
use crate::text::Text;

/// `CU_MEMHOSTREGISTER_PORTABLE` and `CU_MEMHOSTREGISTER_DEVICEMAP`: for all contexts.
const SEEN_BY_ALL: u32 = 1 + 2;

/// A record, in memory of its own, which a forked child finds empty: it is no kernel's there. It
/// outlives a reset of the context that it was registered in, so that it may be looked at behind
/// that, too.
#[repr(C)]
pub(super) struct Seen {
    pub(super) record: AssertRecord,
    /// Its address on the device.
    address: *mut c_void,
    /// The number of the last failure that a thread tells of, or has told.
    telling: AtomicU32,
}

/// Writes down where kernels on a device tell of failed assertions. 0, or -1 where an error is
/// raised: of a failure that nobody was told of, or of the driver.
///
/// # Safety
///
/// `record` and `error` may be written, and the error has its call and its backtrace.
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn kernpack_rt_cuda_asserts(
    device: i64,
    record: *mut *mut c_void,
    push_float: Option<PushFloat>,
    error: *mut ErrorParts,
) -> i32 {
    // SAFETY: as the caller says.
    let blank = unsafe { Blank::new(error) };
    let seen = match known(device as usize) {
        Some(known) if known.take() => {
            return tell(&known.record, push_float, true, blank);
        }
        Some(known) => known,
        None => match make(device, blank) {
            Ok(made) => made,
            Err(n_strings) => return blank.raise(n_strings),
        },
    };
    // SAFETY: as the caller says.
    unsafe { record.write(seen.address) };
    0
}

/// Waits for all that was launched on devices that have a record. 0, or -1 where an error is
/// raised, as by a call.
///
/// # Safety
///
/// The error may be written, and has its call and its backtrace.
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn kernpack_rt_cuda_synchronize(
    push_float: Option<PushFloat>,
    error: *mut ErrorParts,
) -> i32 {
    // SAFETY: as the caller says.
    let blank = unsafe { Blank::new(error) };
    for device in 0..MAX_DEVICES {
        let Some(seen) = known(device) else { continue };
        if let Err(n_strings) = wait(device as i64, blank) {
            return blank.raise(n_strings);
        }
        if seen.take() {
            return tell(&seen.record, push_float, false, blank);
        }
    }
    0
}

/// The record of a device, where it has one.
#[inline(always)]
fn known(device: usize) -> Option<&'static Seen> {
    let (area, _) = Area::ready()?;
    if device < MAX_DEVICES { area.asserts(device) } else { None }
}

impl Seen {
    /// Whether an assertion has failed that nobody was told of.
    #[inline(always)]
    pub(super) fn has_failed(&self) -> bool {
        let AssertRecord { written, told, .. } = &self.record;
        written.load(Ordering::Acquire) != told.0.load(Ordering::Relaxed)
    }

    /// Takes the duty to tell of a failure, where there is one. Of several threads one has it.
    #[inline(always)]
    fn take(&self) -> bool {
        let AssertRecord { written, told, .. } = &self.record;
        let before = told.0.load(Ordering::Acquire);
        let next = written.load(Ordering::Acquire);
        let (success, failure) = (Ordering::AcqRel, Ordering::Acquire);
        before != next && self.telling.compare_exchange(before, next, success, failure).is_ok()
    }
}

/// Waits for all that was launched on a device.
fn wait(device: i64, blank: Blank) -> Result<(), i32> {
    let call = Call::in_context(device, blank)?;
    // SAFETY: it takes nothing.
    match unsafe { (call.driver.synchronize)() } {
        0 => Ok(()),
        status => Err(explain::of_device(
            blank.runtime_error(),
            call.driver,
            c" waiting for device ",
            device,
            status,
        )),
    }
}

/// Makes the record of a device. Where that cannot be, how many strings of an error there are.
#[cold]
#[inline(never)]
fn make(device: i64, blank: Blank) -> Result<&'static Seen, i32> {
    let call = Call::in_context(device, blank)?;
    let memory = system::map_wiped_on_fork(size_of::<Seen>());
    if memory.is_null() {
        return Err(explain::no_memory(blank.runtime_error()));
    }
    let seen: *mut Seen = memory.cast();
    if let Err(status) = without_capture(call.driver, || register(call.driver, seen)) {
        free(call.driver, seen);
        let what = c" making memory for failed assertions seen by device ";
        return Err(explain::of_device(blank.runtime_error(), call.driver, what, device, status));
    }
    let kept = &call.area.device(call.device).asserts;
    let made =
        match kept.compare_exchange(ptr::null_mut(), seen, Ordering::AcqRel, Ordering::Acquire) {
            Ok(_) => seen,
            Err(theirs) => {
                free(call.driver, seen);
                theirs
            }
        };
    // SAFETY: it stays until the package goes. Nobody here writes to it, but to atomic numbers.
    Ok(unsafe { &*made })
}

/// Has kernels see a record.
fn register(driver: &Driver, seen: *mut Seen) -> Result<(), Status> {
    // SAFETY: it is memory of that size.
    let status = unsafe { (driver.host_register)(seen.cast(), size_of::<Seen>(), SEEN_BY_ALL) };
    if status != 0 {
        return Err(status);
    }
    let mut address = ptr::null_mut();
    // SAFETY: the driver writes one address.
    match unsafe { (driver.host_pointer)(&raw mut address, seen.cast(), 0) } {
        0 => {
            // SAFETY: nobody else knows it.
            unsafe { (*seen).address = address };
            Ok(())
        }
        status => Err(status),
    }
}

/// Gives back a record that nobody uses. It stays where the driver still knows it.
pub(super) fn free(driver: &Driver, seen: *mut Seen) {
    // SAFETY: the driver looks it up.
    let status = unsafe { (driver.host_unregister)(seen.cast()) };
    if matches!(status, 0 | NOT_REGISTERED) {
        // SAFETY: it was mapped with that size.
        unsafe { system::unmap(seen.cast(), size_of::<Seen>()) };
    }
}

/// Raises a failure, which this thread has taken. Then the next may be written.
#[cold]
#[inline(never)]
fn tell(record: &AssertRecord, push_float: Option<PushFloat>, is_call: bool, blank: Blank) -> i32 {
    let mut message = blank.runtime_error();
    let mut texts = Texts(&record.text);
    let [kernel, place, classes] = [texts.next(), texts.next(), texts.next()];
    message.text(c"assertion failed in kernel `").c_str(kernel.as_ptr().cast()).text(c"`");
    if !place.is_empty() {
        message.text(c", ").c_str(place.as_ptr().cast());
    }
    push_index(message.text(c", block "), record.block);
    push_index(message.text(c", thread "), record.thread);
    message.text(c": ").c_str(texts.next().as_ptr().cast());
    for (class, bits) in classes.iter().zip(record.values) {
        push_value(&mut message, *class, bits, push_float);
        message.c_str(texts.next().as_ptr().cast());
    }
    if is_call {
        message.text(c"; an earlier call launched the kernel, and this one launches nothing");
    }
    let raised = message.raise();
    record.told.0.store(record.written.load(Ordering::Acquire), Ordering::Release);
    raised
}

fn push_index(message: &mut Message, [x, y, z]: [u32; 3]) {
    message.text(c"(").int(x.into()).text(c", ").int(y.into());
    message.text(c", ").int(z.into()).text(c")");
}

fn push_value(message: &mut Message, class: u8, bits: u64, push_float: Option<PushFloat>) {
    let mut digits = Text::EMPTY;
    match class {
        b'b' => digits.push_str(if bits == 0 { "false" } else { "true" }),
        b's' => digits.push_int(bits as i64),
        b'u' => digits.push_uint(bits),
        _ => {
            if let Some(push_float) = push_float {
                // SAFETY: it takes a text.
                unsafe { push_float(ptr::from_mut(&mut digits).cast(), bits) };
            }
        }
    }
    message.copy(&digits);
}

/// Texts that end with NUL, one behind the other.
struct Texts<'r>(&'r [u8]);

impl<'r> Texts<'r> {
    /// The next one, behind which there is a NUL; an empty one where there is none.
    fn next(&mut self) -> &'r [u8] {
        let Texts(rest) = *self;
        let found = rest.iter().position(|byte| *byte == 0).and_then(|end| {
            *self = Texts(rest.get(end + 1..)?);
            rest.get(..end)
        });
        found.unwrap_or_else(|| c"".to_bytes())
    }
}
