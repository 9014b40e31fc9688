// SPDX-License-Identifier: Apache-2.0
//! How many blocks of a kernel a device holds at once. Grids are computed from it, and a
//! cooperative one of more blocks is refused before anything of its batch is launched.
//!
//! The driver is asked once for each kernel on a device, as long as blocks have as many threads and
//! bytes as before.
//!
//! Not here: what the driver alone refuses, at the launch: blocks of which not one can run, and
//! grids of clusters.

use core::ffi::c_int;
use core::sync::atomic::Ordering;

use super::context::Call;
use super::driver::Kernel;
use super::explain;
use super::facts;
use super::launch::loaded;
use super::state::{Area, MAX_DEVICES};
use crate::blank::Blank;
use crate::interface::layout::{AttributeId, Batch, ErrorParts, KernelLaunch};

/// The blocks of a launch: their threads, and their bytes of dynamic shared memory.
#[derive(Clone, Copy)]
struct Blocks {
    threads: c_int,
    shared_bytes: c_int,
}

/// Writes down how many blocks of a kernel a device holds at once: at least one for each
/// multiprocessor, as the driver says at a launch why not one block can run. 0, or how many strings
/// of an error there are.
///
/// # Safety
///
/// `blocks` and `error` may be written.
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn kernpack_rt_cuda_blocks(
    device: i64,
    kernel: u32,
    threads: i64,
    shared_bytes: i64,
    blocks: *mut i64,
    error: *mut ErrorParts,
) -> i32 {
    // SAFETY: as the caller says.
    let blank = unsafe { Blank::new(error) };
    let number = kernel as usize;
    let known = match Blocks::of(threads, shared_bytes) {
        Some(of) => at_once(device, number, of, blank),
        // No launch has such blocks, as a check behind this says.
        None => Ok(1),
    };
    match known {
        Ok(at_once) => {
            // SAFETY: as the caller says.
            unsafe { blocks.write(at_once) };
            0
        }
        Err(n_strings) => n_strings,
    }
}

fn at_once(device: i64, number: usize, blocks: Blocks, blank: Blank) -> Result<i64, i32> {
    if let Some((area, driver)) = Area::ready()
        && (device as usize) < MAX_DEVICES
        && let Some(of_each) = blocks.kept(area, device as usize, number)
        && let Ok(facts) = facts::known(area, driver, device as i32)
    {
        return Ok(of_each.max(1) * facts.sm_count);
    }
    let call = Call::in_context(device, blank)?;
    let facts = facts::known(call.area, call.driver, device as i32).map_err(|status| {
        explain::no_device(blank.runtime_error(), call.driver, Some(device), status)
    })?;
    let kernel = loaded(&call, number, blank)?;
    let of_each = blocks.of_each(&call, number, kernel).unwrap_or(0);
    Ok(of_each.max(1) * facts.sm_count)
}

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
    let threads = product(&config.block);
    let of = threads.and_then(|threads| Blocks::of(threads, config.shared_bytes.into()));
    let Some(of_each) = of.and_then(|of| of.of_each(&call, number, kernel)) else { return Ok(()) };
    let at_once = of_each * facts.sm_count;
    if of_each == 0 || blocks <= at_once {
        return Ok(());
    }
    Err(explain::not_resident(blank.value_error(), number, call.device, [at_once, blocks]))
}

impl Blocks {
    /// Those of so many threads and bytes, unless the driver could not be given these.
    fn of(threads: i64, shared_bytes: i64) -> Option<Blocks> {
        let threads = c_int::try_from(threads).ok().filter(|threads| *threads > 0)?;
        let shared_bytes = c_int::try_from(shared_bytes).ok().filter(|bytes| *bytes >= 0)?;
        Some(Blocks { threads, shared_bytes })
    }

    /// How many of them each multiprocessor runs at once, where the driver says that.
    fn of_each(self, call: &Call, number: usize, kernel: Kernel) -> Option<i64> {
        if let Some(kept) = self.kept(call.area, call.device, number) {
            return Some(kept);
        }
        let (mut blocks, shared_bytes) = (0, self.shared_bytes as usize);
        let ask = call.driver.blocks_of_each;
        // SAFETY: the driver writes one int, and the handle is its own.
        let status = unsafe { ask(&raw mut blocks, kernel, self.threads, shared_bytes) };
        if status != 0 {
            return None;
        }
        if let (Some(question), Ok(answer)) = (self.packed(), u8::try_from(blocks)) {
            let kept = question | u64::from(answer);
            call.area.kernel(call.device, number).resident.store(kept, Ordering::Relaxed);
        }
        Some(blocks.into())
    }

    /// The answer, where this was asked last.
    fn kept(self, area: Area, device: usize, number: usize) -> Option<i64> {
        let kept = area.kernel(device, number).resident.load(Ordering::Relaxed);
        (self.packed()? == kept & !ANSWER).then_some((kept & ANSWER) as i64)
    }

    /// The question as it is kept, with room for the answer, and never 0: blocks have threads.
    /// Nothing for those that no device runs.
    fn packed(self) -> Option<u64> {
        let threads = u16::try_from(self.threads).ok()?;
        Some(u64::from(threads) << 40 | (self.shared_bytes as u64) << 8)
    }
}

/// The bits of the answer.
const ANSWER: u64 = u8::MAX as u64;

fn product(dims: &[u32; 3]) -> Option<i64> {
    let [x, y, z] = dims.map(i64::from);
    x.checked_mul(y)?.checked_mul(z)
}
