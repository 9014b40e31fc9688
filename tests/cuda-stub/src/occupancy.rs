// SPDX-License-Identifier: Apache-2.0
//! How many blocks fit on a device at a time, from its attributes. Clusters are reckoned as if
//! blocks were free to run anywhere; a real device has parts that a cluster does not cross, so it
//! may fit fewer.

use crate::api::kernel::attribute;
use crate::c_types::{CUkernel, CUlaunchAttribute, CUlaunchConfig};
use crate::call::Call;
use crate::status::Status;

/// Portable clusters have at most this many blocks, others twice as many.
const PORTABLE: u32 = 8;

/// Blocks of a kernel on one multiprocessor; 0 if one does not fit.
pub fn blocks_per_sm(
    call: &Call,
    kernel: CUkernel,
    device: usize,
    threads: u32,
    dynamic_shared: usize,
) -> Result<u32, Status> {
    let found = call.driver.kernel(kernel)?;
    let limits = call.driver.config.devices.get(device).ok_or(Status::INVALID_DEVICE)?;
    let most_shared = call.kernel_attribute(kernel, device, attribute::MAX_DYNAMIC_SHARED)?;
    // What the kernel itself allows is not asked here, nor by the driver.
    if threads > limits.limit(1) || dynamic_shared > most_shared.unsigned_abs() as usize {
        return Ok(0);
    }
    let warps = threads.div_ceil(32);
    let shared = dynamic_shared as u32 + found.image.static_shared + limits.limit(111);
    // Registers are handed out to warps, 256 at a time.
    let registers = warps * (found.image.registers * 32).next_multiple_of(256);
    let by_threads = limits.limit(39) / (warps * 32);
    let by_shared = limits.limit(81).checked_div(shared).unwrap_or(u32::MAX);
    let by_registers = limits.limit(82).checked_div(registers).unwrap_or(u32::MAX);
    Ok(by_threads.min(by_shared).min(by_registers).min(limits.limit(106)))
}

/// Blocks of a launch on the whole device.
pub fn blocks(
    call: &Call,
    kernel: CUkernel,
    device: usize,
    block: [u32; 3],
    shared: u32,
) -> Result<u32, Status> {
    let threads = block.iter().product();
    let limits = call.driver.config.devices.get(device).ok_or(Status::INVALID_DEVICE)?;
    Ok(limits.limit(16) * blocks_per_sm(call, kernel, device, threads, shared as usize)?)
}

/// The largest cluster that the kernel may have.
pub fn largest_cluster(call: &Call, kernel: CUkernel, device: usize) -> Result<u32, Status> {
    let has_clusters = call.driver.config.devices.get(device).is_some_and(|d| d.limit(120) != 0);
    let is_any = call.kernel_attribute(kernel, device, attribute::NON_PORTABLE_CLUSTER)? != 0;
    Ok(if !has_clusters {
        1
    } else if is_any {
        2 * PORTABLE
    } else {
        PORTABLE
    })
}

/// Clusters of a launch on the whole device.
pub fn clusters(
    call: &Call,
    kernel: CUkernel,
    device: usize,
    config: &CUlaunchConfig,
) -> Result<u32, Status> {
    let attributes = config.attributes();
    let cluster = attributes.iter().find(|a| a.id == CUlaunchAttribute::CLUSTER_DIMENSION);
    let size: u32 = cluster.map_or(1, |cluster| cluster.numbers().iter().product());
    if size == 0 || size > largest_cluster(call, kernel, device)? {
        return Err(Status::INVALID_CLUSTER_SIZE);
    }
    Ok(blocks(call, kernel, device, config.block, config.shared_mem_bytes)? / size)
}
