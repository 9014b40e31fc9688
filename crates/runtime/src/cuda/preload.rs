// SPDX-License-Identifier: Apache-2.0
//! Loading everything ahead of the first call.

use super::context::Call;
use super::explain;
use super::launch::{in_primary, loaded};
use super::package;
use crate::blank::Blank;
use crate::interface::layout::ErrorParts;

/// Loads every kernel of the package on a device, and into its primary context unless another of
/// the device is current. 0, or how many strings of an error there are.
///
/// # Safety
///
/// `error` may be written.
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn kernpack_rt_cuda_preload(
    device: i64,
    error: *mut ErrorParts,
) -> i32 {
    // SAFETY: as the caller says.
    let blank = unsafe { Blank::new(error) };
    load_all(device, blank).err().unwrap_or(0)
}

/// Where another context of the device than the primary one is current, kernels are loaded and no
/// more.
fn load_all(device: i64, blank: Blank) -> Result<(), i32> {
    let call = Call::in_context(device, blank)?;
    for number in 0..package::own().n_kernels as usize {
        let handle = loaded(&call, number, blank)?;
        if call.in_primary {
            in_primary(&call, number, handle).map_err(|status| {
                let device = call.device as i32;
                explain::not_in_context(blank.runtime_error(), call.driver, number, device, status)
            })?;
        }
    }
    Ok(())
}
