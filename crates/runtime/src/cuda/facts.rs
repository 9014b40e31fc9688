// SPDX-License-Identifier: Apache-2.0
//! The attributes of a device that launches may ask for.

use core::sync::atomic::Ordering;

use super::context::area_and_driver;
use super::driver::{self, Driver, Status, device};
use super::explain;
use super::state::{Area, MAX_DEVICES};
use crate::blank::Blank;
use crate::interface::layout::{DeviceFacts, ErrorParts};

/// Writes down what launches may ask of a device. 0, or how many strings of an error there are.
///
/// # Safety
///
/// `facts` and `error` may be written.
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn kernpack_rt_cuda_device(
    device: i64,
    facts: *mut DeviceFacts,
    error: *mut ErrorParts,
) -> i32 {
    // SAFETY: as the caller says.
    let blank = unsafe { Blank::new(error) };
    let (area, driver) = match area_and_driver(blank) {
        Ok(found) => found,
        Err(n_strings) => return n_strings,
    };
    match known(area, driver, device as i32) {
        Ok(known) => {
            // SAFETY: as the caller says.
            unsafe { facts.write(known) };
            0
        }
        Err(status) => explain::no_device(blank.runtime_error(), driver, Some(device), status),
    }
}

/// The facts, asked for once a device.
pub(super) fn known(area: Area, driver: &Driver, number: i32) -> Result<DeviceFacts, Status> {
    if number as usize >= MAX_DEVICES {
        return Err(driver::INVALID_DEVICE);
    }
    let kept = &area.learned(number as usize).attributes;
    if !kept.once.is_done() {
        kept.once.make(|| {
            let (major, minor) = driver.capability(number)?;
            let facts = [
                driver.device_attribute(device::MULTIPROCESSORS, number)?.into(),
                driver.device_attribute(device::MAX_SHARED_BYTES_OPTIN, number)?.into(),
                i64::from(10 * major + minor),
            ];
            for (place, fact) in kept.values.iter().zip(facts) {
                place.store(fact, Ordering::Relaxed);
            }
            Ok(())
        })?;
    }
    let [sm_count, smem_optin, cc] = kept.values.each_ref().map(|v| v.load(Ordering::Relaxed));
    Ok(DeviceFacts { sm_count, smem_optin, cc })
}
