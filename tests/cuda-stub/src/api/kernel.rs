// SPDX-License-Identifier: Apache-2.0
//! Kernels: their functions in contexts, parameters and attributes; and how many blocks of one fit
//! on a device.

use crate::argument::{In, Out, Text};
use crate::c_types::{CUdevice, CUfunction, CUfunction_attribute, CUkernel, CUlaunchConfig};
use crate::call::Call;
use crate::occupancy;
use crate::status::Status;

/// Attributes of a kernel.
pub mod attribute {
    /// The most threads of a block.
    pub const MAX_THREADS: u32 = 0;
    /// Shared memory that it always takes.
    pub const STATIC_SHARED: u32 = 1;
    /// Registers of a thread.
    pub const REGISTERS: u32 = 4;
    /// The version of PTX, times 10.
    pub const PTX_VERSION: u32 = 5;
    /// The version of the machine code, times 10.
    pub const BINARY_VERSION: u32 = 6;
    /// The most dynamic shared memory, in bytes.
    pub const MAX_DYNAMIC_SHARED: u32 = 8;
    /// How much of the cache to leave for shared memory, in percent; -1 for no wish.
    pub const CARVEOUT: u32 = 9;
    /// Whether clusters above 8 blocks may be asked for.
    pub const NON_PORTABLE_CLUSTER: u32 = 14;
    /// The last attribute that there is.
    pub const LAST: u32 = 15;
    /// Which values an attribute can be set to, if it can be, apart from `MAX_DYNAMIC_SHARED`.
    pub fn can_be(number: u32, value: i32) -> bool {
        match number {
            CARVEOUT => (-1..=100).contains(&value),
            // What the clusters of every launch have along x, y and z.
            11..=13 => value >= 0,
            NON_PORTABLE_CLUSTER => true,
            // The order in which clusters are scheduled.
            LAST => (0..=2).contains(&value),
            _ => false,
        }
    }
}

impl Call<'_> {
    /// The value of an attribute of a kernel on a device.
    pub fn kernel_attribute(
        &self,
        kernel: CUkernel,
        device: usize,
        number: u32,
    ) -> Result<i32, Status> {
        let found = self.driver.kernel(kernel)?;
        if let Some(value) = found.attributes.get(&(device, number)) {
            return Ok(*value);
        }
        let limits = self.driver.config.devices.get(device).ok_or(Status::INVALID_DEVICE)?;
        let (major, minor) = limits.compute();
        let value = match number {
            attribute::MAX_THREADS => found.image.max_threads,
            attribute::STATIC_SHARED => found.image.static_shared,
            attribute::REGISTERS => found.image.registers,
            attribute::PTX_VERSION | attribute::BINARY_VERSION => 10 * major + minor,
            attribute::MAX_DYNAMIC_SHARED => {
                limits.limit(8).saturating_sub(found.image.static_shared)
            }
            attribute::CARVEOUT => return Ok(-1),
            number if number <= attribute::LAST => 0,
            _ => return Err(Status::INVALID_VALUE),
        };
        i32::try_from(value).map_err(|_| Status::INVALID_VALUE)
    }

    fn set_kernel_attribute(
        &mut self,
        kernel: CUkernel,
        device: usize,
        number: u32,
        value: i32,
    ) -> Result<(), Status> {
        let optin = self.driver.config.devices.get(device).ok_or(Status::INVALID_DEVICE)?.limit(97);
        let found = self.driver.kernels.get_mut(kernel.0).ok_or(Status::INVALID_HANDLE)?;
        let room = optin.saturating_sub(found.image.static_shared);
        let is_allowed = match number {
            attribute::MAX_DYNAMIC_SHARED => u32::try_from(value).is_ok_and(|value| value <= room),
            number => attribute::can_be(number, value),
        };
        if !is_allowed {
            return Err(Status::INVALID_VALUE);
        }
        found.attributes.insert((device, number), value);
        Ok(())
    }

    /// A function's kernel, and the device: the function's own, or that of the current context.
    pub fn kernel_and_device(&self, function: CUfunction) -> Result<(CUkernel, usize), Status> {
        let (kernel, context) = self.driver.kernel_of(function)?;
        let context = context.map_or_else(|| self.driver.current(self.thread), Ok)?;
        Ok((kernel, self.driver.device_of(context)?.0))
    }
}

api! {
    /// A kernel as a function of the current context.
    fn cuKernelGetFunction(call, function: Out<CUfunction>, kernel: CUkernel) {
        let driver = &mut *call.driver;
        let library = driver.kernel(kernel)?.library;
        let context = driver.current(call.thread)?;
        driver.runs_on(library, driver.device_of(context)?.0)?;
        let found = driver.kernels.get_mut(kernel.0).ok_or(Status::INVALID_HANDLE)?;
        let functions = &mut driver.functions;
        let new = || CUfunction(functions.add((kernel, context)));
        function.put(*found.functions.entry(context).or_insert_with(new))
    }

    /// A kernel's name.
    fn cuKernelGetName(call, name: Out<Text>, kernel: CUkernel) {
        name.put(Text(call.driver.kernel(kernel)?.image.name.as_ptr()))
    }

    /// Where a kernel's parameter lies, and its size.
    fn cuKernelGetParamInfo(
        call,
        kernel: CUkernel,
        index: usize,
        offset: Out<usize>,
        size: Out<usize>,
    ) {
        let found = call.driver.kernel(kernel)?;
        let param = found.image.params.get(index).ok_or(Status::INVALID_VALUE)?;
        offset.put(param.offset)?;
        size.offer(param.size);
        Ok(())
    }

    /// A property of a kernel on a device.
    fn cuKernelGetAttribute(
        call,
        value: Out<i32>,
        attribute: CUfunction_attribute,
        kernel: CUkernel,
        device: CUdevice,
    ) {
        call.driver.kernel(kernel)?;
        let device = call.driver.device_index(device)?;
        value.put(call.kernel_attribute(kernel, device, attribute.0)?)
    }

    /// Sets a property of a kernel on a device.
    fn cuKernelSetAttribute(
        call,
        attribute: CUfunction_attribute,
        value: i32,
        kernel: CUkernel,
        device: CUdevice,
    ) {
        call.driver.kernel(kernel)?;
        let device = call.driver.device_index(device)?;
        call.set_kernel_attribute(kernel, device, attribute.0, value)
    }

    /// A property of a function.
    fn cuFuncGetAttribute(
        call,
        value: Out<i32>,
        attribute: CUfunction_attribute,
        function: CUfunction,
    ) {
        let (kernel, device) = call.kernel_and_device(function)?;
        value.put(call.kernel_attribute(kernel, device, attribute.0)?)
    }

    /// Sets a property of a function.
    fn cuFuncSetAttribute(call, function: CUfunction, attribute: CUfunction_attribute, value: i32) {
        let (kernel, device) = call.kernel_and_device(function)?;
        call.set_kernel_attribute(kernel, device, attribute.0, value)
    }

    /// How many blocks of this many threads run on one multiprocessor at a time.
    fn cuOccupancyMaxActiveBlocksPerMultiprocessor(
        call,
        n_blocks: Out<i32>,
        function: CUfunction,
        block_size: i32,
        dynamic_shared: usize,
    ) {
        let threads = u32::try_from(block_size).ok().filter(|threads| *threads > 0);
        let threads = threads.ok_or(Status::INVALID_VALUE)?;
        let (kernel, device) = call.kernel_and_device(function)?;
        let blocks = occupancy::blocks_per_sm(call, kernel, device, threads, dynamic_shared)?;
        n_blocks.put(blocks.cast_signed())
    }

    /// How many clusters of a launch run at a time.
    fn cuOccupancyMaxActiveClusters(
        call,
        n_clusters: Out<i32>,
        function: CUfunction,
        config: In<CUlaunchConfig>,
    ) {
        let config = config.get()?;
        let (kernel, device) = call.kernel_and_device(function)?;
        n_clusters.put(occupancy::clusters(call, kernel, device, &config)?.cast_signed())
    }

    /// The largest cluster that a launch can have.
    fn cuOccupancyMaxPotentialClusterSize(
        call,
        cluster_size: Out<i32>,
        function: CUfunction,
        config: In<CUlaunchConfig>,
    ) {
        config.get()?;
        let (kernel, device) = call.kernel_and_device(function)?;
        cluster_size.put(occupancy::largest_cluster(call, kernel, device)?.cast_signed())
    }
}
