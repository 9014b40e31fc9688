// SPDX-License-Identifier: Apache-2.0
//! Encoding tensor maps, each time a launch passes one.
//!
//! Nothing else of this object needs the driver's function for that, so it is looked up here, when
//! a map is first wanted: packages without maps load under drivers without it, and the linker
//! leaves all of this out of them.

use core::ffi::{CStr, c_int, c_uint, c_void};
use core::sync::atomic::{AtomicPtr, Ordering};

use super::context::Call;
use super::driver::{self, Driver, Status};
use super::explain::{driver_words, status_words};
use super::message::Message;
use super::system;
use crate::blank::Blank;
use crate::interface::layout::{ErrorParts, INTERLEAVE_32, TensorMapConstants, TensorMapValues};
use crate::tensor_map::{FIRST_MAJOR, UNIT_BYTES};

/// `cuTensorMapEncodeTiled`
type Encode = unsafe extern "C" fn(
    *mut c_void,
    c_uint,
    c_uint,
    *mut c_void,
    *const u64,
    *const u64,
    *const u32,
    *const u32,
    c_uint,
    c_uint,
    c_uint,
    c_uint,
) -> Status;

const NAME: &CStr = c"cuTensorMapEncodeTiled";

/// The driver's function, once it was wanted. It is no state of the driver's: in a forked child it
/// lies where it did.
static ENCODE: AtomicPtr<c_void> = AtomicPtr::new(core::ptr::null_mut());

/// Encodes a tensor map for a kernel on a device, a context of which has to be current for that. 0,
/// or how many strings of an error there are.
///
/// # Safety
///
/// `map` has room for a `CUtensorMap`, `values` is what the compiler writes, `error` may be
/// written.
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn kernpack_rt_cuda_encode(
    device: i32,
    map: *mut c_void,
    values: *const TensorMapValues,
    error: *mut ErrorParts,
) -> i32 {
    // SAFETY: as the caller says.
    let blank = unsafe { Blank::new(error) };
    // SAFETY: as the caller says.
    let values = unsafe { &*values };
    let call = match Call::in_context(device.into(), blank) {
        Ok(call) => call,
        Err(n_strings) => return n_strings,
    };
    let Some(encode) = encode_function() else {
        let mut message = blank.runtime_error();
        message.text(c"the CUDA driver has no `").text(NAME);
        return message.text(c"`: it is older than tensor maps").n_strings();
    };
    // SAFETY: the compiler writes it, and it stays.
    let constants = unsafe { &*values.constants };
    let data_type = values.data_type as c_uint;
    // SAFETY: as the caller says; there are as many of each as the rank says, and one stride fewer.
    let status = unsafe {
        encode(
            map,
            data_type,
            constants.rank,
            values.address,
            values.dims.as_ptr(),
            values.strides.as_ptr(),
            constants.box_dims.as_ptr(),
            constants.steps.as_ptr(),
            constants.interleave,
            constants.swizzle,
            constants.promotion,
            constants.fill,
        )
    };
    match status {
        0 => 0,
        status => {
            let (driver, device) = (call.driver, call.device as c_int);
            refused(blank.runtime_error(), &Refused { driver, device, values, constants }, status)
        }
    }
}

/// The driver's function, found by whoever wants it first.
fn encode_function() -> Option<Encode> {
    let mut known = ENCODE.load(Ordering::Acquire);
    if known.is_null() {
        // It is loaded already, so this only asks where.
        let library = system::open_driver().ok()?;
        // SAFETY: the library is open.
        known = unsafe { system::symbol(library, NAME.as_ptr()) };
        if known.is_null() {
            return None;
        }
        ENCODE.store(known, Ordering::Release);
    }
    // SAFETY: CUDA's header gives the function this type.
    Some(unsafe { core::mem::transmute::<*mut c_void, Encode>(known) })
}

/// A map that the driver does not encode.
struct Refused<'r> {
    driver: &'r Driver,
    device: c_int,
    values: &'r TensorMapValues,
    constants: &'r TensorMapConstants,
}

/// ``CUDA Error: NAME (NUMBER, DRIVER'S NAME) encoding the tensor map of `a`: why``
fn refused(mut message: Message, map: &Refused<'_>, status: Status) -> i32 {
    status_words(&mut message, map.driver, status);
    message.text(c" encoding the tensor map of `").c_str(map.constants.name.as_ptr()).text(c"`");
    if !map.explain(&mut message, status) {
        driver_words(&mut message, map.driver, status);
    }
    message.n_strings()
}

impl Refused<'_> {
    /// Says which demand is not met, as far as that can be found out.
    fn explain(&self, message: &mut Message, status: Status) -> bool {
        let capability = self.driver.capability(self.device);
        if capability.is_ok_and(|(major, _)| major < FIRST_MAJOR) {
            message.text(c": device ").int(self.device.into());
            message.text(c" has none; tensor maps need compute capability ");
            message.int(FIRST_MAJOR.into()).text(c".0 or later");
            return true;
        }
        if status != driver::INVALID_VALUE {
            return false;
        }
        let unit =
            if self.constants.interleave == INTERLEAVE_32 { 32 } else { UNIT_BYTES as usize };
        let rest = self.values.address.addr() % unit;
        if rest != 0 {
            message.text(c": its data is at an address % ").int(unit as i64).text(c" == ");
            message.int(rest as i64).text(c", expected 0");
            return true;
        }
        let rank = self.constants.rank as usize;
        message.text(c": dims [");
        numbers(message, self.values.dims.iter().take(rank).copied());
        message.text(c"], strides in bytes [");
        numbers(message, self.values.strides.iter().take(rank.saturating_sub(1)).copied());
        message.text(c"], box [");
        numbers(message, self.constants.box_dims.iter().take(rank).map(|count| u64::from(*count)));
        message.text(c"], the innermost first: the driver takes no such map");
        true
    }
}

fn numbers(message: &mut Message, all: impl Iterator<Item = u64>) {
    for (i, number) in all.enumerate() {
        message.text(if i > 0 { c", " } else { c"" }).int(number as i64);
    }
}
