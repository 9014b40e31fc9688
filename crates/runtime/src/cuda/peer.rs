// SPDX-License-Identifier: Apache-2.0
//! Memory of other devices: kernels in the primary context of one device reach what lies in that of
//! another one, once that was asked for. It is asked once, and may be enabled already. It is asked
//! for both ways: kernels that wait for one another may run on the one device when the other one's
//! are launched, and memory is not to be mapped then.
//!
//! Not here: contexts of a caller's own, whose peers are the caller's, and managed memory, which
//! every device reaches.

use core::ptr;
use core::sync::atomic::Ordering;

use super::context::{Call, within};
use super::driver::{self, INVALID_DEVICE, Status};
use super::explain;
use super::load::without_capture;
use super::state::{Area, MAX_DEVICES};
use crate::blank::Blank;
use crate::interface::layout::ErrorParts;

/// Sees to it that kernels on a device reach the memory of another one. 0, or how many strings of
/// an error there are.
///
/// # Safety
///
/// `error` may be written.
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn kernpack_rt_cuda_peer(
    device: i64,
    peer: i64,
    error: *mut ErrorParts,
) -> i32 {
    // SAFETY: as the caller says.
    let blank = unsafe { Blank::new(error) };
    reach(device, peer, blank).err().unwrap_or(0)
}

fn reach(device: i64, peer: i64, blank: Blank) -> Result<(), i32> {
    let [number, other] = [device, peer].map(|number| number as usize);
    let is_kept = |area: Area| area.device(number).peers.load(Ordering::Acquire) >> other & 1 == 1;
    let are_known = number < MAX_DEVICES && other < MAX_DEVICES;
    if are_known && Area::ready().is_some_and(|(area, _)| is_kept(area)) {
        return Ok(());
    }
    let [own, theirs] = [number, other].map(|at| Call::of_launch(at, ptr::null_mut(), blank));
    let (own, theirs) = (own?, theirs?);
    let enabled = if are_known { enable(&own, &theirs) } else { Err(INVALID_DEVICE) };
    enabled.map_err(|status| {
        explain::no_peer(blank.runtime_error(), own.driver, [device, peer], status)
    })?;
    own.area.device(number).peers.fetch_or(1 << other, Ordering::Release);
    if enable(&theirs, &own).is_ok() {
        own.area.device(other).peers.fetch_or(1 << number, Ordering::Release);
    }
    Ok(())
}

/// Enables it between the primary contexts.
fn enable(own: &Call, theirs: &Call) -> Result<(), Status> {
    let (context, peer) = (own.primary_context()?, theirs.primary_context()?);
    let mut status = driver::INVALID_CONTEXT;
    within(own.driver, context, |is_entered| {
        if is_entered {
            // SAFETY: the handle is the driver's.
            let ask = || unsafe { (own.driver.enable_peer)(peer, 0) };
            status = without_capture(own.driver, ask);
        }
    });
    match status {
        0 | driver::PEER_ACCESS_ALREADY_ENABLED => Ok(()),
        status => Err(status),
    }
}
