// SPDX-License-Identifier: Apache-2.0
//! Work other than kernels that goes to a stream. It is done at once, as all work is here, unless
//! it goes into a capture.

use crate::argument::{Address, CType, Destination, Out, Source, Value};
use crate::c_types::{CUdeviceptr, CUstream};
use crate::json;
use crate::memory::Memory;
use crate::status::Status;
use std::ffi::c_void;

/// A function of the host's.
#[derive(Clone, Copy)]
#[repr(transparent)]
pub struct CUhostFn(pub Option<extern "C" fn(*mut c_void)>);

impl CType for CUhostFn {
    fn c() -> String {
        "CUhostFn".to_string()
    }
}

impl Value for CUhostFn {
    fn json(self, _memory: &Memory) -> String {
        self.0.map_or("null".to_string(), |_| json::string("given"))
    }
}

api! {
    /// Memory that is there for what comes behind this on the stream; NULL for no bytes. In a
    /// capture it is the graph's, which is what frees it.
    fn cuMemAllocAsync(call, address: Out<CUdeviceptr>, size: usize, stream: CUstream) {
        let context = call.driver.context_of(stream, call.thread)?;
        call.enqueue(stream)?;
        let memory = if size == 0 { 0 } else { call.driver.memory.allocate(size, context)? };
        address.put(CUdeviceptr(memory))
    }

    /// Gives memory back behind what is on the stream; nothing for NULL.
    fn cuMemFreeAsync(call, address: CUdeviceptr, stream: CUstream) {
        if call.enqueue(stream)? || address.0 == 0 { Ok(()) } else { call.driver.memory.free(address.0) }
    }

    /// Copies to the device, in the stream's turn.
    fn cuMemcpyHtoDAsync_v2(call, to: CUdeviceptr, from: Source, size: usize, stream: CUstream) {
        if call.enqueue(stream)? { Ok(()) } else { call.copy_in(to, from, size) }
    }

    /// Copies from the device, in the stream's turn.
    fn cuMemcpyDtoHAsync_v2(
        call,
        to: Destination,
        from: CUdeviceptr,
        size: usize,
        stream: CUstream,
    ) {
        if call.enqueue(stream)? { Ok(()) } else { call.copy_out(to, from, size) }
    }

    /// Copies on the device, in the stream's turn.
    fn cuMemcpyDtoDAsync_v2(call, to: CUdeviceptr, from: CUdeviceptr, size: usize, stream: CUstream) {
        if call.enqueue(stream)? {
            return Ok(());
        }
        let bytes = call.driver.memory.read(from.0, size)?;
        call.driver.memory.write(to.0, &bytes)
    }

    /// Makes all of the bytes this one, in the stream's turn.
    fn cuMemsetD8Async(call, to: CUdeviceptr, byte: u8, size: usize, stream: CUstream) {
        if call.enqueue(stream)? { Ok(()) } else { call.driver.memory.write(to.0, &vec![byte; size]) }
    }

    /// Calls a function of the host's, in the stream's turn. It must not call the driver.
    fn cuLaunchHostFunc(call, stream: CUstream, function: CUhostFn, data: Address) {
        let Some(function) = function.0 else { return Err(Status::INVALID_VALUE) };
        if !call.enqueue(stream)? {
            function(data.0);
        }
        Ok(())
    }
}
