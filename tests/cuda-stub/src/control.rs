// SPDX-License-Identifier: Apache-2.0
//! What tests tell and ask the stub, as C functions that the driver does not have.

#![expect(unsafe_code, reason = "tests reach these by C names, and pass buffers")]

use crate::argument::Text;
use crate::call;
use crate::config::{self, Config, Failure};
use crate::driver::Driver;
use crate::json;
use std::ffi::{c_char, c_int};

/// Begins a new life of the driver, which knows nothing of the old one's objects, and is told this
/// (nothing if NULL). 0, or -1 for a text that cannot be read, which changes nothing.
#[unsafe(no_mangle)]
pub extern "C" fn kernpack_cuda_stub_reset(config: Text) -> c_int {
    let text = config.get().unwrap_or_default();
    match Config::parse(&text) {
        Ok(config) => {
            call::restart(config);
            0
        }
        Err(_) => -1,
    }
}

/// Lets the nth next call of a function fail with a code, or all with 0 for nth. 0, or -1 if there
/// is no such function.
#[unsafe(no_mangle)]
pub extern "C" fn kernpack_cuda_stub_fail(function: Text, nth: u64, code: u32) -> c_int {
    let Some(function) = function.get().ok().and_then(|name| config::known(&name)) else {
        return -1;
    };
    let nth = (nth > 0).then_some(nth);
    let failure = Failure { function, nth, device: None, code, n_seen: 0 };
    call::lock().config.failures.push(failure);
    0
}

/// What lives, as JSON, and how many launches there have been. Writes it with a NUL if the buffer
/// holds it, and returns its length.
#[unsafe(no_mangle)]
pub extern "C" fn kernpack_cuda_stub_counts(buffer: *mut c_char, size: usize) -> usize {
    let text = counts(&call::lock());
    copy(&text, buffer, size);
    text.len()
}

/// The log since it was last taken. Writes it with a NUL if the buffer holds it, and only then
/// forgets it; returns its length.
#[unsafe(no_mangle)]
pub extern "C" fn kernpack_cuda_stub_take_log(buffer: *mut c_char, size: usize) -> usize {
    let mut driver = call::lock();
    let length = driver.log.lines().len();
    if copy(driver.log.lines(), buffer, size) {
        driver.log.clear();
    }
    length
}

fn counts(driver: &Driver) -> String {
    let contexts = || driver.contexts.iter().map(|(_, context)| context);
    let retained = contexts().filter(|context| context.is_primary).map(|context| context.n_held);
    let own = contexts().filter(|context| !context.is_primary).map(|context| context.n_held);
    let counts = [
        ("libraries", driver.libraries.iter().count()),
        ("retained", retained.sum()),
        ("contexts", own.sum()),
        ("streams", driver.streams.iter().count()),
        ("captures", driver.captures.len()),
        ("graphs", driver.graphs.iter().count()),
        ("executables", driver.executables.iter().count()),
        ("allocations", driver.memory.count()),
        ("launches", driver.n_launches),
    ];
    json::object(counts.map(|(name, count)| (name, count.to_string())))
}

/// Whether the text and a NUL went into the buffer.
fn copy(text: &str, buffer: *mut c_char, size: usize) -> bool {
    if buffer.is_null() || size <= text.len() {
        return false;
    }
    // SAFETY: The caller's buffer has `size` bytes, more than the text.
    unsafe { std::ptr::copy_nonoverlapping(text.as_ptr(), buffer.cast::<u8>(), text.len()) };
    // SAFETY: One more byte is in the buffer.
    unsafe { buffer.wrapping_add(text.len()).write(0) };
    true
}
