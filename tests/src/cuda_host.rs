// SPDX-License-Identifier: Apache-2.0
//! What a program that uses the CUDA driver does for itself, around its calls of packages:
//! contexts, streams, captures. It finds the driver as packages do, so that
//! [`cuda_stub`](crate::cuda_stub) has to be loaded.
#![expect(unsafe_code, reason = "the driver is C")]

use libloading::{Library, Symbol};
use std::ptr;

/// A context, by handle; 0 is none.
pub type Context = usize;
/// A stream, by handle.
pub type Stream = usize;
/// The stream that every thread has for itself in every context.
pub const PER_THREAD: Stream = 2;

/// Capture mode: potentially unsafe calls of every thread are refused.
pub const GLOBAL: i32 = 0;
/// Capture mode: those of the thread are.
pub const THREAD_LOCAL: i32 = 1;
/// Capture mode: none are.
pub const RELAXED: i32 = 2;

/// The driver, started.
pub struct Host(Library);

impl Host {
    /// Finds the driver and starts it.
    pub fn new() -> Host {
        // SAFETY: the stub was loaded before; loading it again runs nothing.
        let library = unsafe { Library::new("libcuda.so.1") }.expect("the stub is loaded");
        let host = Host(library);
        accepted(host.function::<extern "C" fn(u32) -> u32>("cuInit")(0));
        host
    }

    fn function<F>(&self, name: &str) -> Symbol<'_, F> {
        // SAFETY: whoever names a function gives its type; the stub's test `headers` holds it to
        // `cuda.h`.
        unsafe { self.0.get(name.as_bytes()) }.unwrap_or_else(|error| panic!("{error}"))
    }

    /// The primary context of a device, retained once more.
    pub fn primary(&self, device: i32) -> Context {
        let mut context = 0;
        let retain =
            self.function::<extern "C" fn(*mut Context, i32) -> u32>("cuDevicePrimaryCtxRetain");
        accepted(retain(&mut context, device));
        context
    }

    /// Ends everything of the primary context of a device, which has to be retained again before it
    /// can be used, under the same handle.
    pub fn reset(&self, device: i32) {
        accepted(self.function::<extern "C" fn(i32) -> u32>("cuDevicePrimaryCtxReset_v2")(device));
    }

    /// A new context of the program's own, which is current for now.
    pub fn create(&self, device: i32) -> Context {
        let mut context = 0;
        let create = self
            .function::<extern "C" fn(*mut Context, *const u8, u32, i32) -> u32>("cuCtxCreate_v4");
        accepted(create(&mut context, ptr::null(), 0, device));
        context
    }

    /// Makes a context current; none, if it is 0.
    pub fn set_current(&self, context: Context) {
        accepted(self.function::<extern "C" fn(Context) -> u32>("cuCtxSetCurrent")(context));
    }

    /// The current context, or 0.
    pub fn current(&self) -> Context {
        let mut context = 0;
        let current = self.function::<extern "C" fn(*mut Context) -> u32>("cuCtxGetCurrent");
        accepted(current(&mut context));
        context
    }

    /// An attribute of a device, if there is such a device and it tells.
    pub fn attribute(&self, attribute: i32, device: i32) -> Option<i32> {
        let mut value = 0;
        let ask = self.function::<extern "C" fn(*mut i32, i32, i32) -> u32>("cuDeviceGetAttribute");
        (ask(&mut value, attribute, device) == 0).then_some(value)
    }

    /// The device of the current context, if there is one.
    pub fn current_device(&self) -> Option<i32> {
        let mut device = -1;
        let ask = self.function::<extern "C" fn(*mut i32) -> u32>("cuCtxGetDevice");
        (ask(&mut device) == 0).then_some(device)
    }

    /// A new stream of the current context. It does not wait for the NULL stream.
    pub fn stream(&self) -> Stream {
        self.create_stream(1)
    }

    /// A new stream of the current context. It waits for the NULL stream, and that for it.
    pub fn blocking_stream(&self) -> Stream {
        self.create_stream(0)
    }

    fn create_stream(&self, flags: u32) -> Stream {
        let mut stream = 0;
        let create = self.function::<extern "C" fn(*mut Stream, u32) -> u32>("cuStreamCreate");
        accepted(create(&mut stream, flags));
        stream
    }

    /// Ends a stream.
    pub fn destroy_stream(&self, stream: Stream) {
        accepted(self.function::<extern "C" fn(Stream) -> u32>("cuStreamDestroy_v2")(stream));
    }

    /// Has a stream's kernels keep so many bytes from an address in the second-level cache: the
    /// stream's access policy window. None for 0.
    pub fn set_window(&self, stream: Stream, address: usize, bytes: usize) {
        // All of the accesses that hit are to persist, and others stream.
        let ratio_and_hits = u64::from(1f32.to_bits()) | 2 << 32;
        let window = [address as u64, bytes as u64, ratio_and_hits, 1, 0, 0, 0, 0];
        let set = self
            .function::<extern "C" fn(Stream, i32, *const [u64; 8]) -> u32>("cuStreamSetAttribute");
        accepted(set(stream, 1, &window));
    }

    /// Captures what follows on a stream.
    pub fn begin_capture(&self, stream: Stream, mode: i32) {
        let begin = self.function::<extern "C" fn(Stream, i32) -> u32>("cuStreamBeginCapture_v2");
        accepted(begin(stream, mode));
    }

    /// How a stream's capture stands: 0 there is none, 1 it goes on, 2 it is spoilt.
    pub fn capturing(&self, stream: Stream) -> i32 {
        let mut status = -1;
        let ask = self.function::<extern "C" fn(Stream, *mut i32) -> u32>("cuStreamIsCapturing");
        accepted(ask(stream, &mut status));
        status
    }

    /// Ends a capture, and says how: 0, or what spoilt it.
    pub fn end_capture(&self, stream: Stream) -> u32 {
        let mut graph = 0usize;
        let end = self.function::<extern "C" fn(Stream, *mut usize) -> u32>("cuStreamEndCapture");
        let ended = end(stream, &mut graph);
        if graph != 0 {
            accepted(self.function::<extern "C" fn(usize) -> u32>("cuGraphDestroy")(graph));
        }
        ended
    }

    /// Sets which captures this thread's calls respect, and returns what was set.
    pub fn exchange_capture_mode(&self, mut mode: i32) -> i32 {
        let exchange =
            self.function::<extern "C" fn(*mut i32) -> u32>("cuThreadExchangeStreamCaptureMode");
        accepted(exchange(&mut mode));
        mode
    }
}

impl Default for Host {
    fn default() -> Host {
        Host::new()
    }
}

fn accepted(status: u32) {
    assert_eq!(status, 0, "the driver refuses a call of the test's own");
}
