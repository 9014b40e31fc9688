// SPDX-License-Identifier: Apache-2.0
//! Loading everything ahead of the first call.

use core::ptr;

use super::context::{Call, IN_PRIMARY, area_and_driver, enter, kernpack_rt_cuda_leave};
use super::driver;
use super::explain;
use super::launch::{in_primary, loaded};
use super::message::Blank;
use super::package::Package;
use crate::words::Words;

/// Loads every kernel of the package on a device, and into its primary context unless another of the device is current. 0, or how many strings of an error there are.
///
/// # Safety
///
/// `words` may be written.
#[unsafe(no_mangle)]
unsafe extern "C" fn kernpack_rt_cuda_preload(device: i64, words: *mut Words) -> i32 {
    // SAFETY: as the caller says.
    let words = unsafe { Blank::new(words) };
    let (area, driver) = match area_and_driver(words) {
        Ok(found) => found,
        Err(n_strings) => return n_strings,
    };
    let entered = match i32::try_from(device) {
        Ok(device) => enter(area, driver, device, ptr::null_mut()),
        Err(_) => Err(driver::INVALID_DEVICE),
    };
    let call = match entered {
        Ok(call) => call,
        Err(status) => return explain::no_device(words.error(), driver, Some(device), status),
    };
    let n_strings = load_all(&call, words).err().unwrap_or(0);
    // SAFETY: it has been entered.
    unsafe { kernpack_rt_cuda_leave(&raw const call) };
    n_strings
}

/// Where another context of the device than the primary one is current, kernels are loaded and no more.
fn load_all(call: &Call, words: Blank) -> Result<(), i32> {
    for number in 0..Package::own().n_kernels as usize {
        let handle = loaded(call, number, words)?;
        if call.flags & IN_PRIMARY != 0 {
            let (driver, device) = (call.driver(), call.device as i32);
            in_primary(call, number, handle).map_err(|status| {
                explain::not_in_context(words.error(), driver, number, device, status)
            })?;
        }
    }
    Ok(())
}
