// SPDX-License-Identifier: Apache-2.0
//! Cooperative launches, whose blocks all run at once. A grid of more blocks than the device runs
//! is refused before anything of its batch is launched.
//!
//! Not here: what the driver alone refuses, at the launch: blocks of which not one can run, and
//! grids of clusters.

use core::ffi::c_int;

use super::context::Call;
use super::explain;
use super::facts;
use super::launch::loaded;
use crate::blank::Blank;
use crate::interface::layout::{AttributeId, Batch, KernelLaunch, LaunchConfig};

/// Holds that the blocks of each cooperative launch can all run at once. Where they cannot, how
/// many strings of an error there are.
#[inline(always)]
pub(super) fn check(batch: &Batch, blank: Blank) -> Result<(), i32> {
    for launch in batch.launches() {
        if launch.config.n_attributes != 0 {
            check_one(batch, launch, blank)?;
        }
    }
    Ok(())
}

#[cold]
#[inline(never)]
fn check_one(batch: &Batch, launch: &KernelLaunch, blank: Blank) -> Result<(), i32> {
    let config = &launch.config;
    let has = |id| config.attributes().iter().any(|attribute| attribute.id == id);
    if !has(AttributeId::COOPERATIVE) || has(AttributeId::CLUSTER_DIMENSION) {
        return Ok(());
    }
    let call = Call::in_context(batch.device.into(), blank)?;
    let Some(blocks) = product(&config.grid) else { return Ok(()) };
    let Ok(facts) = facts::known(call.area, call.driver, call.device as i32) else {
        return Ok(());
    };
    // Where one block runs at all, each multiprocessor runs one.
    if blocks <= facts.sm_count {
        return Ok(());
    }
    let number = launch.kernel as usize;
    let kernel = loaded(&call, number, blank)?;
    let Some(of_each) = blocks_of_each(&call, kernel, config) else { return Ok(()) };
    let at_once = i64::from(of_each) * facts.sm_count;
    if of_each == 0 || blocks <= at_once {
        return Ok(());
    }
    Err(explain::not_resident(blank.value_error(), number, call.device, [at_once, blocks]))
}

/// How many blocks of a launch each multiprocessor runs at once, where the driver says that.
fn blocks_of_each(
    call: &Call,
    kernel: super::driver::Kernel,
    config: &LaunchConfig,
) -> Option<c_int> {
    let threads = c_int::try_from(product(&config.block)?).ok()?;
    let (mut blocks, shared_bytes) = (0, config.shared_bytes as usize);
    // SAFETY: the driver writes one int, and the handle is its own.
    let status =
        unsafe { (call.driver.blocks_of_each)(&raw mut blocks, kernel, threads, shared_bytes) };
    (status == 0).then_some(blocks)
}

fn product(dims: &[u32; 3]) -> Option<i64> {
    let [x, y, z] = dims.map(i64::from);
    x.checked_mul(y)?.checked_mul(z)
}
