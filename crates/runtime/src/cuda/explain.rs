// SPDX-License-Identifier: Apache-2.0
//! Messages of the driver's errors, with the cause as far as that can be found out.
//!
//! ``CUDA Error: cudaErrorInvalidValue (1, CUDA_ERROR_INVALID_VALUE) launching `k` on device 0:
//! block 4096 exceeds the device's 1024 threads``

use core::ffi::{CStr, c_int};

use super::driver::{self, Driver, NoDriver, Status, device, kernel};
use super::errors;
use super::load::NotLoaded;
use super::message::Message;
use super::package;
use crate::interface::layout::{AttributeId, LaunchConfig};

/// There is no memory for what a package keeps.
pub(super) fn no_memory(mut message: Message) -> i32 {
    message.text(c"out of memory while a CUDA kernel was looked for").call().n_strings()
}

/// There is no driver, or it does not start.
pub(super) fn no_driver(mut message: Message, reason: NoDriver) -> i32 {
    match reason {
        NoDriver::Library(problem) => {
            message.text(c"cannot load the CUDA driver").call().text(c": ").c_str(problem);
            message.text(c"; this function needs a GPU and its driver");
        }
        NoDriver::Function(name) => {
            message.text(c"the CUDA driver has no `").c_str(name).text(c"`").call();
            message.text(c": it is older than CUDA 12.0, which is the oldest that works");
        }
        NoDriver::Setting(value) => {
            message.text(c"KERNPACK_LAUNCH is `").c_str(value).text(c"`").call();
            message.text(c": expected `auto`, `plain` or `graph`");
        }
        NoDriver::Init(driver, status) => {
            status_words(&mut message, driver, status);
            message.text(c" starting the CUDA driver").call();
            match status {
                driver::NO_DEVICE => {
                    message.text(c": there is no GPU, or none is visible to this process");
                }
                driver::NOT_INITIALIZED => {
                    message.text(c": a process that was forked from one that used CUDA cannot use it; start it afresh (spawn)");
                }
                _ => driver_words(&mut message, driver, status),
            }
        }
    }
    message.n_strings()
}

/// A device, or its context, cannot be had. There is no number where it is the current context's.
pub(super) fn no_device(
    mut message: Message,
    driver: &Driver,
    device: Option<i64>,
    status: Status,
) -> i32 {
    status_words(&mut message, driver, status);
    match device {
        Some(device) => message.text(c" using device ").int(device),
        None => message.text(c" asking for the current device"),
    };
    message.call();
    if device.is_none() && status == driver::INVALID_CONTEXT {
        message.text(c": no tensor tells the device, and no CUDA context is current");
    } else if status == driver::INVALID_DEVICE {
        let mut count = 0;
        // SAFETY: the driver writes one int.
        if unsafe { (driver.device_count)(&raw mut count) } == 0 {
            message.text(c": there are ").int(count.into()).text(c" devices, numbered from 0");
        }
    } else {
        driver_words(&mut message, driver, status);
    }
    message.n_strings()
}

/// The driver refuses something on a device: what that is, up to the device's number.
pub(super) fn of_device(
    mut message: Message,
    driver: &Driver,
    what: &'static CStr,
    device: i64,
    status: Status,
) -> i32 {
    status_words(&mut message, driver, status);
    message.text(what).int(device).call();
    driver_words(&mut message, driver, status);
    message.n_strings()
}

/// Kernels on a device cannot reach the memory of another one.
pub(super) fn no_peer(
    mut message: Message,
    driver: &Driver,
    [device, peer]: [i64; 2],
    status: Status,
) -> i32 {
    status_words(&mut message, driver, status);
    message.text(c" reaching the memory of device ").int(peer).text(c" from device ").int(device);
    message.call();
    driver_words(&mut message, driver, status);
    message.n_strings()
}

/// A kernel's module is not loaded.
pub(super) fn not_loaded(
    mut message: Message,
    driver: &Driver,
    number: usize,
    device: usize,
    reason: NotLoaded,
) -> i32 {
    let package = package::own();
    let (NotLoaded::Refused(status) | NotLoaded::NoKernel(_, status)) = reason;
    status_words(&mut message, driver, status);
    message.text(c" loading `").c_str(package.kernel(number).name).text(c"` of package `");
    message.c_str(package.name).text(c"` on device ").int(device as i64);
    match (reason, status) {
        (NotLoaded::NoKernel(missing, driver::NOT_FOUND), _) => {
            let name = package.kernel(missing).name;
            message.text(c": the image has no kernel `").c_str(name).text(c"`");
        }
        (_, driver::NO_BINARY_FOR_GPU) => {
            wrong_architecture(&mut message, driver, number, device as c_int);
        }
        _ => driver_words(&mut message, driver, status),
    }
    message.n_strings()
}

/// A kernel is loaded, and is refused in the context of the device.
pub(super) fn not_in_context(
    mut message: Message,
    driver: &Driver,
    number: usize,
    device: c_int,
    status: Status,
) -> i32 {
    status_words(&mut message, driver, status);
    let name = package::own().kernel(number).name;
    message.text(c" loading `").c_str(name).text(c"` on device ").int(device.into());
    driver_words(&mut message, driver, status);
    message.n_strings()
}

/// The blocks of a cooperative launch cannot all run at once: how many can, and how many there are.
pub(super) fn not_resident(
    mut message: Message,
    number: usize,
    device: usize,
    [at_once, blocks]: [i64; 2],
) -> i32 {
    message.text(c"Too many blocks for the cooperative launch of `");
    message.c_str(package::own().kernel(number).name).text(c"` on device ").int(device as i64);
    message.call().text(c", expected at most ").int(at_once).text(c" at once, got ").int(blocks);
    message.n_strings()
}

/// The driver refuses a launch.
pub(super) fn not_launched(mut message: Message, launch: &Refused<'_>, status: Status) -> i32 {
    status_words(&mut message, launch.driver, status);
    let name = package::own().kernel(launch.number).name;
    message.text(c" launching `").c_str(name).text(c"` on device ").int(launch.device.into());
    let is_about_size = matches!(
        status,
        driver::INVALID_VALUE
            | driver::LAUNCH_OUT_OF_RESOURCES
            | driver::COOPERATIVE_LAUNCH_TOO_LARGE
            | driver::INVALID_CLUSTER_SIZE
    );
    if status == driver::NO_BINARY_FOR_GPU {
        wrong_architecture(&mut message, launch.driver, launch.number, launch.device);
    } else if !is_about_size || !launch.explain(&mut message, status) {
        driver_words(&mut message, launch.driver, status);
    }
    message.n_strings()
}

/// The device's architecture, and those that the code of a kernel is for.
fn wrong_architecture(message: &mut Message, driver: &Driver, number: usize, device: c_int) {
    if let Ok((major, minor)) = driver.capability(device) {
        message.text(c": the device is sm_").int(i64::from(10 * major + minor)).text(c", and");
    } else {
        message.text(c":");
    }
    let module = package::own().kernel(number).module as usize;
    message.text(c" the code is for ").c_str(package::own().module(module).archs);
}

/// `CUDA Error: NAME (NUMBER, DRIVER'S NAME)`
pub(super) fn status_words(message: &mut Message, driver: &Driver, status: Status) {
    let drivers = driver.name_of(status);
    message.text(c"CUDA Error: cudaError").copy(&errors::name_of(status, drivers));
    message.text(c" (").int(status.into()).text(c", ");
    message.c_str(if drivers.is_null() { c"an error without a name".as_ptr() } else { drivers });
    message.text(c")");
}

/// The driver's words, and what else may help.
pub(super) fn driver_words(message: &mut Message, driver: &Driver, status: Status) {
    message.text(c": ").c_str(driver.text_of(status));
    message.text(match status {
        driver::OUT_OF_MEMORY => c"; free memory on the device",
        driver::INVALID_CONTEXT => {
            c"; the stream, or the current context, is not one of the device"
        }
        // Mistakes of a running kernel, found out later.
        226 | 700 | 702 | 710 | 714..=719 | 721 => {
            c"; an earlier kernel failed, and nothing runs on the device until the process ends"
        }
        _ => c"",
    });
}

/// The most blocks of a cluster where no more are allowed for the kernel, and where they are. Some
/// devices run fewer than that.
const CLUSTERS: (i64, i64) = (8, 16);

/// A launch that the driver refused.
pub(super) struct Refused<'l> {
    pub(super) driver: &'l Driver,
    /// The number of the kernel.
    pub(super) number: usize,
    pub(super) device: c_int,
    pub(super) handle: driver::Kernel,
    pub(super) config: &'l LaunchConfig,
}

impl Refused<'_> {
    /// Says which limit the launch exceeds; false where it exceeds none that is known.
    fn explain(&self, message: &mut Message, status: Status) -> bool {
        self.block_threads(message)
            || self.dims(message, c": block.", &self.config.block, device::MAX_BLOCK_DIM)
            || self.dims(message, c": grid.", &self.config.grid, device::MAX_GRID_DIM)
            || self.shared_memory(message)
            || self.cluster(message)
            || self.cooperative(message, status)
    }

    fn block_threads(&self, message: &mut Message) -> bool {
        let [x, y, z] = self.config.block.map(i64::from);
        // Of a product beyond 64 bits, some dim is beyond its limit, which says more.
        let Some(threads) = x.checked_mul(y).and_then(|area| area.checked_mul(z)) else {
            return false;
        };
        if threads == 0 {
            message.text(c": the block has no threads");
            return true;
        }
        let of_device =
            self.driver.device_attribute(device::MAX_THREADS_PER_BLOCK, self.device).ok();
        if let Some(limit) = exceeded(threads, of_device) {
            message.text(c": block ").int(threads).text(c" exceeds the device's ");
            message.int(limit).text(c" threads");
            return true;
        }
        let of_kernel = self.kernel_attribute(kernel::MAX_THREADS_PER_BLOCK);
        if let Some(limit) = exceeded(threads, of_kernel) {
            message.text(c": block ").int(threads).text(c" exceeds the kernel's ");
            message.int(limit).text(c" threads (it uses ");
            let registers = self.kernel_attribute(kernel::REGISTERS).unwrap_or(0);
            message.int(registers.into()).text(c" registers a thread)");
            return true;
        }
        false
    }

    fn dims(
        &self,
        message: &mut Message,
        what: &'static CStr,
        dims: &[u32; 3],
        first: c_int,
    ) -> bool {
        for ((dim, name), attribute) in dims.iter().zip([c"x", c"y", c"z"]).zip(first..) {
            let limit = self.driver.device_attribute(attribute, self.device).ok();
            if let Some(limit) = exceeded((*dim).into(), limit) {
                message.text(what).text(name).text(c" ").int((*dim).into());
                message.text(c" exceeds the device's ").int(limit);
                return true;
            }
        }
        false
    }

    fn shared_memory(&self, message: &mut Message) -> bool {
        let limit = self.driver.device_attribute(device::MAX_SHARED_BYTES_OPTIN, self.device).ok();
        let own = self.kernel_attribute(kernel::SHARED_BYTES).unwrap_or(0);
        let asked = i64::from(self.config.shared_bytes);
        let Some(limit) = exceeded(asked + i64::from(own), limit) else { return false };
        message.text(c": ").int(asked).text(c" bytes of dynamic and ").int(own.into());
        message.text(c" bytes of static shared memory exceed the device's ");
        message.int(limit).text(c" bytes");
        true
    }

    fn cluster(&self, message: &mut Message) -> bool {
        let Some(dims) = self.attribute(AttributeId::CLUSTER_DIMENSION) else { return false };
        let [x, y, z] = [dims[0] as u32, (dims[0] >> 32) as u32, dims[1] as u32];
        for ((grid, cluster), name) in
            self.config.grid.iter().zip([x, y, z]).zip([c"x", c"y", c"z"])
        {
            if cluster == 0 || grid.checked_rem(cluster) != Some(0) {
                message.text(c": grid.").text(name).text(c" ").int((*grid).into());
                message.text(c" is no multiple of the cluster's ").int(cluster.into());
                return true;
            }
        }
        let blocks = i64::from(x) * i64::from(y) * i64::from(z);
        let is_any = self.kernel_attribute(kernel::ANY_CLUSTER_ALLOWED).is_some_and(|is| is != 0);
        let most = if is_any { CLUSTERS.1 } else { CLUSTERS.0 };
        if blocks > most {
            message.text(c": a cluster of ").int(blocks).text(c" blocks exceeds ").int(most);
            return true;
        }
        false
    }

    fn cooperative(&self, message: &mut Message, status: Status) -> bool {
        let is_cooperative = self.attribute(AttributeId::COOPERATIVE).is_some();
        if is_cooperative && status == driver::COOPERATIVE_LAUNCH_TOO_LARGE {
            let blocks = self.config.grid.iter().map(|dim| i64::from(*dim)).product::<i64>();
            message.text(c": a cooperative grid of ").int(blocks);
            message.text(c" blocks does not fit on the device at once");
            return true;
        }
        false
    }

    fn attribute(&self, id: AttributeId) -> Option<[u64; 8]> {
        let attributes = self.config.attributes();
        attributes.iter().find(|attribute| attribute.id == id).map(|attribute| attribute.value)
    }

    fn kernel_attribute(&self, attribute: c_int) -> Option<i32> {
        self.driver.kernel_attribute(attribute, self.handle, self.device)
    }
}

/// The limit that a value exceeds, if it is known.
fn exceeded(value: i64, limit: Option<i32>) -> Option<i64> {
    limit.map(i64::from).filter(|limit| value > *limit)
}
