// SPDX-License-Identifier: Apache-2.0
//! What launches may ask of a device.

use core::sync::atomic::Ordering;

use super::context::area_and_driver;
use super::driver::{self, Driver, Status, device};
use super::explain;
use super::message::Blank;
use super::state::{Area, MAX_DEVICES};
use crate::error_parts::ErrorParts;

/// Writes down the number of multiprocessors of a device, the most shared memory of a block in bytes, and the compute capability: 90 for 9.0. 0,
/// or how many strings of an error there are.
///
/// # Safety
///
/// `facts` and `error` may be written.
#[unsafe(no_mangle)]
unsafe extern "C" fn kernpack_rt_cuda_device(
    device: i64,
    facts: *mut [i64; 3],
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
fn known(area: Area, driver: &Driver, number: i32) -> Result<[i64; 3], Status> {
    if number as usize >= MAX_DEVICES {
        return Err(driver::INVALID_DEVICE);
    }
    let kept = &area.device(number as usize).facts;
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
    Ok(kept.values.each_ref().map(|value| value.load(Ordering::Relaxed)))
}
