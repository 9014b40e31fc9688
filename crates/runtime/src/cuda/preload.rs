// SPDX-License-Identifier: Apache-2.0
//! Loading everything ahead of the first call.

use super::context::Call;
use super::explain;
use super::launch::{in_primary, loaded};
use super::message::Blank;
use super::package::Package;
use crate::words::Words;

/// Loads every kernel of the package on a device, and into its primary context unless another of the device is current. 0, or how many
/// strings of an error there are.
///
/// # Safety
///
/// `words` may be written.
#[unsafe(no_mangle)]
unsafe extern "C" fn kernpack_rt_cuda_preload(device: i64, words: *mut Words) -> i32 {
    // SAFETY: as the caller says.
    let words = unsafe { Blank::new(words) };
    load_all(device, words).err().unwrap_or(0)
}

/// Where another context of the device than the primary one is current, kernels are loaded and no more.
fn load_all(device: i64, words: Blank) -> Result<(), i32> {
    let call = Call::in_context(device, words)?;
    for number in 0..Package::own().n_kernels as usize {
        let handle = loaded(&call, number, words)?;
        if call.in_primary {
            in_primary(&call, number, handle).map_err(|status| {
                let device = call.device as i32;
                explain::not_in_context(words.error(), call.driver, number, device, status)
            })?;
        }
    }
    Ok(())
}
