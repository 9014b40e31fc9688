// SPDX-License-Identifier: Apache-2.0
//! Memory of a GPU, in the primary context of the device. The functions of the driver are in
//! `driver.rs`.
//!
//! Where the environment has a stream, memory comes from the pool of its device, and goes back to
//! it in the order of that stream: nobody waits. What is freed while the environment has another
//! stream, or none, is kept until memory is asked for on its own, whose order alone is known, or
//! until there is no memory left. While the stream is captured, memory is a part of the graph, and
//! stays the graph's.
//!
//! Where the environment has no stream, which stream the memory is for is not known. It comes from
//! the driver then, and goes back with a wait for whatever uses it.

#![expect(unsafe_code, reason = "streams and memory are handles of C")]

use crate::driver::{Context, Driver, NOT_SUPPORTED, OUT_OF_MEMORY, Stream};
use kernpack_ffi_abi::DeviceType;
use kernpack_ffi_abi::libtvm_ffi::TVMFFIEnvGetStream;
use std::ffi::c_int;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Memory on a device.
pub struct Memory {
    device: i32,
    context: Context,
    address: u64,
    order: Order,
}

/// How memory comes and goes.
#[derive(Clone, Copy, PartialEq)]
enum Order {
    /// With a wait for all that uses it.
    Waits,
    /// In the order of the stream of this number.
    Stream(u64),
    /// In the graph that is captured of this stream.
    Graph(Stream),
}

/// The stream that the environment has, and its order.
struct Current {
    stream: Stream,
    order: Order,
}

impl Current {
    /// Nothing where there is no such stream: NULL is also what nobody has set.
    fn of(driver: &Driver, device: i32) -> Option<Current> {
        // SAFETY: it is only asked.
        let stream = unsafe { TVMFFIEnvGetStream(DeviceType::CUDA.0, device) };
        if stream.is_null() {
            return None;
        }
        // SAFETY: whoever set the stream vouches for it.
        let order = match unsafe { driver.is_capturing(stream) }? {
            true => Order::Graph(stream),
            // SAFETY: as above.
            false => Order::Stream(unsafe { driver.stream_id(stream) }?),
        };
        Some(Current { stream, order })
    }
}

/// Memory that is freed when its stream is the environment's again.
struct Kept {
    context: Context,
    address: u64,
    order: Order,
}

// SAFETY: contexts are used by any thread.
unsafe impl Send for Kept {}

static KEPT: Mutex<Vec<Kept>> = Mutex::new(Vec::new());

fn kept() -> MutexGuard<'static, Vec<Kept>> {
    KEPT.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Frees what is kept for a stream, whose context is current.
fn free_behind(driver: &Driver, current: &Current) {
    let of_stream: Vec<_> = kept().extract_if(.., |each| each.order == current.order).collect();
    for Kept { address, .. } in of_stream {
        // SAFETY: whoever had the memory gave it up, and the stream is the environment's.
        unsafe { driver.free_async(address, current.stream) };
    }
}

/// Frees all that is kept of a context, behind all that runs there. Says whether there was any.
fn free_kept(driver: &Driver, context: Context) -> bool {
    let of_context: Vec<_> = kept().extract_if(.., |each| each.context == context).collect();
    let is_freed = !of_context.is_empty();
    driver.within(context, || {
        if is_freed && driver.synchronize() != 0 {
            // Somebody captures, or the device is lost.
            kept().extend(of_context);
            return 0;
        }
        for Kept { address, .. } in of_context {
            // SAFETY: whoever had the memory gave it up, and nothing runs that uses it.
            unsafe { driver.free(address) };
        }
        0
    });
    is_freed
}

/// Waits for all that runs on a GPU: before memory is freed that several streams have used. What
/// goes wrong, whoever uses the device next is told.
pub fn wait_for_gpu(device: i32) {
    let Ok(driver) = Driver::get() else { return };
    if let Ok(context) = driver.primary(device) {
        driver.within(context, || driver.synchronize());
    }
}

impl Memory {
    /// So many bytes, more than none.
    ///
    /// # Errors
    /// Where the driver has none.
    pub fn allocate(device: i32, size: usize) -> Result<Memory, String> {
        let driver = Driver::get()?;
        let failed = |(function, status): (&str, c_int)| {
            format!("cannot allocate {size} bytes on cuda:{device}: {function} answers {status}")
        };
        let context = driver.primary(device).map_err(failed)?;
        let mut memory = Memory { device, context, address: 0, order: Order::Waits };
        let mut got = memory.get(driver, size);
        if got == Err(OUT_OF_MEMORY) && free_kept(driver, context) {
            got = memory.get(driver, size);
        }
        got.map_err(|status| failed((memory.function(), status)))?;
        Ok(memory)
    }

    /// Asks the driver for memory; gives its answer, unless all is well.
    fn get(&mut self, driver: &Driver, size: usize) -> Result<(), c_int> {
        let status = driver.within(self.context, || {
            if let Some(current) = Current::of(driver, self.device) {
                free_behind(driver, &current);
                self.order = current.order;
                // SAFETY: the stream is the environment's.
                let status =
                    unsafe { driver.allocate_async(&mut self.address, size, current.stream) };
                if status != NOT_SUPPORTED {
                    return status;
                }
            }
            self.order = Order::Waits;
            driver.allocate(&mut self.address, size)
        });
        if status == 0 { Ok(()) } else { Err(status) }
    }

    /// The function that memory of this order comes from.
    fn function(&self) -> &'static str {
        if self.order == Order::Waits { "cuMemAlloc" } else { "cuMemAllocAsync" }
    }

    /// The first byte.
    pub fn address(&self) -> u64 {
        self.address
    }

    /// Gives the memory back. A driver that is shutting down has taken it already.
    pub fn free(&self) {
        let Ok(driver) = Driver::get() else { return };
        let Memory { device, context, address, order } = *self;
        driver.within(context, || {
            match (order, Current::of(driver, device)) {
                // SAFETY: nobody uses it any more, and the driver waits for what runs.
                (Order::Waits, _) => return unsafe { driver.free(address) },
                (_, Some(current)) if current.order == order => {
                    // SAFETY: nobody uses it any more behind what is on the stream, which is the
                    // environment's.
                    return unsafe { driver.free_async(address, current.stream) };
                }
                // The graph's memory is freed by the graph.
                (Order::Graph(_), _) => {}
                (Order::Stream(_), _) => {
                    kept().push(Kept { context, address, order });
                }
            }
            0
        });
    }
}
