// SPDX-License-Identifier: Apache-2.0
//! Loading everything ahead of the first call.

use core::ptr;

use super::context::{IN_PRIMARY, area_and_driver, enter, kernpack_rt_cuda_leave};
use super::driver::{self, Driver};
use super::explain;
use super::launch::{in_primary, loaded};
use super::message::Blank;
use super::package::Package;
use super::state::Area;
use crate::words::Words;

/// Loads every kernel of the package on a device, into its primary context. 0, or how many strings of an error there are.
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
    // For another context of the device, kernels are loaded and no more.
    let is_primary = call.flags & IN_PRIMARY != 0;
    let n_strings = load_all(area, driver, call.device, is_primary, words);
    // SAFETY: it has been entered.
    unsafe { kernpack_rt_cuda_leave(&raw const call) };
    n_strings
}

fn load_all(area: Area, driver: &Driver, device: u32, is_primary: bool, words: Blank) -> i32 {
    for number in 0..Package::own().n_kernels as usize {
        let handle = match loaded(area, driver, number, device as usize) {
            Ok(handle) => handle,
            Err(reason) => {
                return explain::not_loaded(words.error(), driver, number, device as usize, reason);
            }
        };
        if is_primary && let Err(status) = in_primary(area, driver, number, device as usize, handle)
        {
            return explain::not_in_context(words.error(), driver, number, device as i32, status);
        }
    }
    0
}
