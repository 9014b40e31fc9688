// SPDX-License-Identifier: Apache-2.0
//! Memory of the device, which is memory of the host: callers may look at it directly.

use crate::argument::{Destination, In, Out, Source};
use crate::c_types::{CUcontext, CUdeviceptr, CUpointer_attribute};
use crate::call::Call;
use crate::json;
use crate::status::Status;
use std::ffi::c_void;

/// The largest flags of memory that is registered: all of them.
const HOST_REGISTER_FLAGS: u32 = 15;

/// As many bytes of a copy as the log shows.
const SHOWN: usize = 256;

fn shown(bytes: &[u8]) -> String {
    json::bytes(&bytes[..bytes.len().min(SHOWN)])
}

/// Writes a value of any size where the caller asked for one of the attribute's type.
fn answer<T: Copy>(place: *mut c_void, value: T) -> Result<(), Status> {
    Out(place.cast::<T>()).put(value)
}

impl Call<'_> {
    /// Copies to the device.
    pub fn copy_in(&mut self, to: CUdeviceptr, from: Source, size: usize) -> Result<(), Status> {
        let bytes = In(from.0.cast::<u8>()).list(size)?;
        self.note("data", shown(&bytes));
        self.driver.memory.write(to.0, &bytes)
    }

    /// Copies from the device.
    pub fn copy_out(
        &mut self,
        to: Destination,
        from: CUdeviceptr,
        size: usize,
    ) -> Result<(), Status> {
        let bytes = self.driver.memory.read(from.0, size)?;
        self.note("data", shown(&bytes));
        if to.0.is_null() && size > 0 {
            return Err(Status::INVALID_VALUE);
        }
        let places = bytes.iter().enumerate();
        places
            .map(|(index, byte)| (to.0.cast::<u8>().wrapping_add(index), byte))
            .try_for_each(|(place, byte)| Out(place).put(*byte))
    }
}

api! {
    /// Memory in the current context.
    fn cuMemAlloc_v2(call, address: Out<CUdeviceptr>, size: usize) {
        let context = call.driver.current(call.thread)?;
        call.potentially_unsafe()?;
        address.put(CUdeviceptr(call.driver.memory.allocate(size, context)?))
    }

    /// Gives memory back; nothing for NULL.
    fn cuMemFree_v2(call, address: CUdeviceptr) {
        call.potentially_unsafe()?;
        if address.0 == 0 { Ok(()) } else { call.driver.memory.free(address.0) }
    }

    /// Has kernels see memory of the host.
    fn cuMemHostRegister_v2(call, address: Destination, size: usize, flags: u32) {
        let context = call.driver.current(call.thread)?;
        call.potentially_unsafe()?;
        if address.0.is_null() || size == 0 || flags > HOST_REGISTER_FLAGS {
            return Err(Status::INVALID_VALUE);
        }
        call.driver.memory.register(address.0 as u64, context)
    }

    /// Ends that.
    fn cuMemHostUnregister(call, address: Destination) {
        call.potentially_unsafe()?;
        call.driver.memory.unregister(address.0 as u64)
    }

    /// The address of such memory on the device: the same.
    fn cuMemHostGetDevicePointer_v2(
        call, device: Out<CUdeviceptr>, address: Destination, flags: u32
    ) {
        call.driver.current(call.thread)?;
        if flags != 0 || !call.driver.memory.is_registered(address.0 as u64) {
            return Err(Status::INVALID_VALUE);
        }
        device.put(CUdeviceptr(address.0 as u64))
    }

    /// Copies to the device.
    fn cuMemcpyHtoD_v2(call, to: CUdeviceptr, from: Source, size: usize) {
        call.driver.current(call.thread)?;
        call.copy_in(to, from, size)
    }

    /// Copies from the device.
    fn cuMemcpyDtoH_v2(call, to: Destination, from: CUdeviceptr, size: usize) {
        call.driver.current(call.thread)?;
        call.copy_out(to, from, size)
    }

    /// Copies on the device.
    fn cuMemcpyDtoD_v2(call, to: CUdeviceptr, from: CUdeviceptr, size: usize) {
        call.driver.current(call.thread)?;
        let bytes = call.driver.memory.read(from.0, size)?;
        call.driver.memory.write(to.0, &bytes)
    }

    /// What is known of an address: 1 its context, 2 that it is on a device, 3 the address there, 8
    /// whether it is managed, 9 the device, 11 and 12 where its allocation begins and its size, 13
    /// whether it is mapped.
    fn cuPointerGetAttribute(
        call,
        value: Destination,
        attribute: CUpointer_attribute,
        address: CUdeviceptr,
    ) {
        let found = call.driver.memory.find(address.0);
        let (start, found) = found.ok_or(Status::INVALID_VALUE)?;
        let (device, _) = call.driver.device_of(found.context)?;
        match attribute.0 {
            1 => answer::<CUcontext>(value.0, found.context),
            2 => answer(value.0, 2u32),
            3 => answer(value.0, address.0),
            8 => answer(value.0, 0u8),
            9 => answer(value.0, device as i32),
            11 => answer(value.0, start),
            12 => answer(value.0, found.size),
            13 => answer(value.0, 1u8),
            _ => Err(Status::INVALID_VALUE),
        }
    }
}
