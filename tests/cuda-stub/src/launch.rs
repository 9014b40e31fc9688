// SPDX-License-Identifier: Apache-2.0
//! Launches: which device one goes to, what the driver would refuse, and the record of it.

#![expect(unsafe_code, reason = "only the kernel says how many arguments lie behind a pointer")]

use crate::api::kernel::attribute;
use crate::argument::{In, Pointers, Value};
use crate::c_types::{
    CUcontext, CUdeviceptr, CUfunction, CUkernel, CUlaunchAttribute, CUlaunchConfig,
};
use crate::call::Call;
use crate::image::{Effect, KernelImage, Param};
use crate::json;
use crate::occupancy;
use crate::status::Status;

/// What `extra` says next: the end, where the packed arguments lie, where their size lies.
const EXTRA: [usize; 3] = [0, 1, 2];

/// A launch, whichever function it was asked of.
pub struct Launch {
    /// All but kernel and arguments.
    pub config: CUlaunchConfig,
    /// The kernel, or a function.
    pub function: CUfunction,
    /// The addresses of the arguments.
    pub params: Pointers,
    /// The packed arguments instead.
    pub extra: Pointers,
}

/// What a launch is about, once that is known: the kernel, where it runs, and a copy of its
/// arguments.
#[derive(Clone, Debug)]
pub struct Task {
    /// The kernel.
    pub kernel: CUkernel,
    /// The context it runs in.
    pub context: CUcontext,
    image: KernelImage,
    device: usize,
    arguments: Vec<Vec<u8>>,
}

impl Task {
    /// A kernel in a context, with the arguments that lie at addresses or are packed.
    pub fn new(
        call: &Call,
        kernel: CUkernel,
        context: CUcontext,
        (params, extra): (Pointers, Pointers),
    ) -> Result<Task, Status> {
        let (device, _) = call.driver.device_of(context)?;
        let found = call.driver.kernel(kernel)?;
        call.driver.runs_on(found.library, device)?;
        let image = found.image.clone();
        let arguments = arguments(&image.params, params, extra)?;
        Ok(Task { kernel, context, image, device, arguments })
    }
}

/// Launches, or says why not.
pub fn launch(call: &mut Call, launch: &Launch) -> Result<(), Status> {
    let task = resolve(call, launch)?;
    call.note("launch", task.record(call, &launch.config));
    if let Err(status) = task.check(call, &launch.config) {
        call.spoil(launch.config.stream);
        return Err(status);
    }
    let is_captured = call.enqueue(launch.config.stream)?;
    call.note("captured", is_captured.to_string());
    if is_captured {
        call.driver.n_launches += 1;
        return Ok(());
    }
    task.run(call)
}

fn resolve(call: &Call, launch: &Launch) -> Result<Task, Status> {
    let (kernel, own) = call.driver.kernel_of(launch.function)?;
    let context = call.driver.context_of(launch.config.stream, call.thread)?;
    if own.is_some_and(|own| own != context) {
        return Err(Status::INVALID_HANDLE);
    }
    Task::new(call, kernel, context, (launch.params, launch.extra))
}

/// The bytes of every argument.
fn arguments(
    params: &[Param],
    addresses: Pointers,
    extra: Pointers,
) -> Result<Vec<Vec<u8>>, Status> {
    if params.is_empty() {
        return Ok(Vec::new());
    }
    let packed = packed(extra)?;
    let argument = |(index, param): (usize, &Param)| {
        let start = match packed {
            Some((start, size)) if param.offset + param.size <= size => start + param.offset,
            Some(_) => return Err(Status::INVALID_VALUE),
            None => In(addresses.0.cast::<usize>().wrapping_add(index)).get()?,
        };
        if start == 0 {
            return Err(Status::INVALID_VALUE);
        }
        // SAFETY: The caller passes arguments as long as the kernel's parameters.
        Ok(unsafe { std::slice::from_raw_parts(start as *const u8, param.size) }.to_vec())
    };
    if packed.is_none() && addresses.0.is_null() {
        return Err(Status::INVALID_VALUE);
    }
    params.iter().enumerate().map(argument).collect()
}

/// Where the packed arguments begin, and how many bytes they have, if there are any.
fn packed(extra: Pointers) -> Result<Option<(usize, usize)>, Status> {
    if extra.0.is_null() {
        return Ok(None);
    }
    let word = |index| In(extra.0.cast::<usize>().wrapping_add(index)).get();
    let (mut start, mut size, mut index) = (None, None, 0);
    loop {
        match word(index)? {
            key if key == EXTRA[0] => break,
            key if key == EXTRA[1] => start = Some(word(index + 1)?),
            key if key == EXTRA[2] => size = Some(In(word(index + 1)? as *const usize).get()?),
            _ => return Err(Status::INVALID_VALUE),
        }
        index += 2;
    }
    start.zip(size).map(Some).ok_or(Status::INVALID_VALUE)
}

impl Task {
    /// The launch as the log has it.
    pub fn record(&self, call: &Call, config: &CUlaunchConfig) -> String {
        let memory = &call.driver.memory;
        let argument = |(param, bytes): (&Param, &Vec<u8>)| {
            let mut fields =
                vec![("offset", param.offset.to_string()), ("bytes", json::bytes(bytes))];
            let address = <[u8; 8]>::try_from(&bytes[..]).map(u64::from_le_bytes);
            if let Some(address) = address.ok().filter(|address| memory.find(*address).is_some()) {
                fields.push(("address", CUdeviceptr(address).json(memory)));
            }
            json::object(fields)
        };
        let arguments = self.image.params.iter().zip(&self.arguments).map(argument);
        json::object([
            ("kernel", json::string(&self.image.name.to_string_lossy())),
            ("device", self.device.to_string()),
            ("context", self.context.json(memory)),
            ("config", config.json(memory)),
            ("arguments", json::list(arguments)),
        ])
    }

    /// What the driver refuses, with the codes of the driver of CUDA 13.0.
    pub fn check(&self, call: &Call, config: &CUlaunchConfig) -> Result<(), Status> {
        let (kernel, device) = (self.kernel, self.device);
        let limits = call.driver.config.devices.get(device).ok_or(Status::INVALID_DEVICE)?;
        for axis in 0..3 {
            let (block, grid) = (limits.limit(2 + axis), limits.limit(5 + axis));
            let axis = axis as usize;
            let is_block = (1..=block).contains(&config.block[axis]);
            if !is_block || !(1..=grid).contains(&config.grid[axis]) {
                return Err(Status::INVALID_VALUE);
            }
        }
        let threads: u64 = config.block.iter().map(|n| u64::from(*n)).product();
        let most_shared = call.kernel_attribute(kernel, device, attribute::MAX_DYNAMIC_SHARED)?;
        if threads > u64::from(self.image.max_threads.min(limits.limit(1)))
            || i64::from(config.shared_mem_bytes) > i64::from(most_shared)
        {
            return Err(Status::INVALID_VALUE);
        }
        let attributes = config.attributes();
        if attributes.iter().any(|attribute| !CUlaunchAttribute::ALL.contains(&attribute.id)) {
            return Err(Status::INVALID_VALUE);
        }
        let of = |id| attributes.iter().rfind(move |attribute| attribute.id == id);
        if let Some(cluster) = of(CUlaunchAttribute::CLUSTER_DIMENSION) {
            self.check_cluster(call, config, cluster.numbers())?;
        }
        if of(CUlaunchAttribute::COOPERATIVE).is_some_and(|attribute| attribute.numbers()[0] != 0) {
            let grid: u64 = config.grid.iter().map(|n| u64::from(*n)).product();
            let room =
                occupancy::blocks(call, kernel, device, config.block, config.shared_mem_bytes)?;
            if grid > u64::from(room) {
                return Err(Status::COOPERATIVE_LAUNCH_TOO_LARGE);
            }
        }
        Ok(())
    }

    fn check_cluster(
        &self,
        call: &Call,
        config: &CUlaunchConfig,
        cluster: [u32; 3],
    ) -> Result<(), Status> {
        if cluster == [0; 3] {
            // As if the attribute were not there.
            return Ok(());
        }
        let size: u64 = cluster.iter().map(|n| u64::from(*n)).product();
        let largest = occupancy::largest_cluster(call, self.kernel, self.device)?;
        let divides = |(grid, cluster): (&u32, &u32)| *cluster > 0 && grid % cluster == 0;
        let is_possible =
            config.grid.iter().zip(&cluster).all(divides) && size <= u64::from(largest);
        if is_possible { Ok(()) } else { Err(Status::INVALID_CLUSTER_SIZE) }
    }

    /// Launches: counts, and does what the image says that the kernel does. Only memory of the
    /// stub's own is touched.
    pub fn run(&self, call: &mut Call) -> Result<(), Status> {
        call.driver.n_launches += 1;
        let unit = match self.image.effect {
            Effect::Nothing => return Ok(()),
            Effect::AddOne => 4,
            Effect::Copy => 1,
        };
        let [from, to, n] = &self.arguments[..] else { return Err(Status::LAUNCH_FAILED) };
        let size = usize::try_from(number(n)).ok().and_then(|n| n.checked_mul(unit));
        let illegal = |_: Status| Status::ILLEGAL_ADDRESS;
        let memory = &call.driver.memory;
        let size = size.ok_or(Status::ILLEGAL_ADDRESS)?;
        let mut bytes = memory.read(number(from), size).map_err(illegal)?;
        if self.image.effect == Effect::AddOne {
            for element in bytes.as_chunks_mut::<4>().0 {
                *element = (f32::from_le_bytes(*element) + 1.0).to_le_bytes();
            }
        }
        memory.write(number(to), &bytes).map_err(illegal)
    }
}

/// A little-endian number of 4 or 8 bytes.
fn number(bytes: &[u8]) -> u64 {
    bytes.iter().rev().fold(0, |number, byte| number << 8 | u64::from(*byte))
}
