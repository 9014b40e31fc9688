// SPDX-License-Identifier: Apache-2.0
//! The environment of a callee: the device, the stream of the call, and memory to allocate from.
//!
//! All of it is the thread's, set for the call and as before when it ends, whatever its end: where
//! there was no stream there is none again.
#![expect(unsafe_code, reason = "calls libtvm_ffi")]

use crate::failure::Failure;
use crate::frame::Frame;
use core::cell::Cell;
use core::ffi::{c_int, c_void};
use core::ptr;
use core::sync::atomic::{AtomicU64, Ordering};
use kernpack_ffi_abi::layout::DLTensor;
use kernpack_ffi_abi::libtvm_ffi::{
    Allocator, SetError, TVMFFIEnvGetDLPackManagedTensorAllocator,
    TVMFFIEnvSetDLPackManagedTensorAllocator, TVMFFIEnvSetStream,
};
use kernpack_ffi_abi::{DType, DeviceType, ManagedTensor};
use std::ffi::CString;

/// A device, as DLPack has it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Device {
    pub(crate) kind: i32,
    pub(crate) ordinal: i32,
}

impl Device {
    /// The processor.
    pub(crate) const CPU: Device = Device { kind: DeviceType::CPU.0, ordinal: 0 };

    /// A GPU.
    pub(crate) fn cuda(ordinal: i32) -> Device {
        Device { kind: DeviceType::CUDA.0, ordinal }
    }
}

/// The environment's stream, for as long as this lives.
pub(crate) struct EnvStream {
    device: Device,
    /// The stream of the call.
    pub(crate) stream: *mut c_void,
    previous: *mut c_void,
}

impl EnvStream {
    /// Makes the stream of a call the environment's.
    pub(crate) fn of_call(frame: Frame<'_>) -> Result<EnvStream, Failure> {
        let device = Device::cuda(frame.ordinal()?);
        let stream = frame.stream()?;
        let mut previous = ptr::null_mut();
        // SAFETY: it writes a pointer.
        let status =
            unsafe { TVMFFIEnvSetStream(device.kind, device.ordinal, stream, &raw mut previous) };
        if status == 0 {
            Ok(EnvStream { device, stream, previous })
        } else {
            Err(Failure::raised())
        }
    }

    pub(crate) fn device(&self) -> Device {
        self.device
    }
}

impl Drop for EnvStream {
    fn drop(&mut self) {
        let Device { kind, ordinal } = self.device;
        // SAFETY: nobody is told the stream that it replaces.
        unsafe { TVMFFIEnvSetStream(kind, ordinal, self.previous, ptr::null_mut()) };
    }
}

/// Memory of the program that allocations of the callee come from.
#[derive(Clone, Copy, Debug)]
struct Arena {
    device: Device,
    start: u64,
    next: u64,
    end: u64,
}

const NO_ARENA: Arena = Arena { device: Device::CPU, start: 0, next: 0, end: 0 };

thread_local! {
    /// The arena of the call on this thread.
    static ARENA: Cell<Arena> = const { Cell::new(NO_ARENA) };
}

/// The bytes that the last call with a workspace allocated, or asked for in vain.
static PEAK: AtomicU64 = AtomicU64::new(0);

/// The bytes that the last call with a workspace needed.
pub(crate) fn peak() -> u64 {
    PEAK.load(Ordering::Relaxed)
}

/// Every allocation is aligned to that many bytes, which is what CUDA's own are.
const ALIGNMENT: u64 = 256;

/// The environment's allocator, for as long as this lives.
pub(crate) struct EnvAllocator {
    previous: Option<Allocator>,
    arena: Arena,
}

impl EnvAllocator {
    /// Has the callee allocate from these bytes.
    pub(crate) fn over(view: &DLTensor, bytes: u64) -> Result<EnvAllocator, Failure> {
        let device = Device { kind: view.device_type, ordinal: view.device_id };
        let start = view.data;
        let arena = Arena { device, start, next: start, end: start.saturating_add(bytes) };
        let previous = set_allocator()?;
        PEAK.store(0, Ordering::Relaxed);
        Ok(EnvAllocator { previous, arena: ARENA.replace(arena) })
    }
}

impl Drop for EnvAllocator {
    fn drop(&mut self) {
        ARENA.set(self.arena);
        // SAFETY: nobody is told the allocator that it replaces.
        unsafe { TVMFFIEnvSetDLPackManagedTensorAllocator(self.previous, 0, ptr::null_mut()) };
    }
}

/// Makes [`allocate`] the thread's allocator, and answers the one before.
fn set_allocator() -> Result<Option<Allocator>, Failure> {
    // SAFETY: it reads what is set.
    let current = unsafe { TVMFFIEnvGetDLPackManagedTensorAllocator() };
    let mut previous = None;
    // SAFETY: it writes a pointer.
    let status =
        unsafe { TVMFFIEnvSetDLPackManagedTensorAllocator(Some(allocate), 0, &raw mut previous) };
    if status != 0 {
        return Err(Failure::raised());
    }
    // Early versions answer the new one. What was current may have been the process's, not the
    // thread's, which is the same to whoever allocates.
    let is_new = previous.is_some_and(|previous| ptr::fn_addr_eq(previous, allocate as Allocator));
    Ok(if is_new { current } else { previous })
}

/// The allocator of calls with a workspace.
unsafe extern "C" fn allocate(
    prototype: *const DLTensor,
    out: *mut *mut ManagedTensor,
    context: *mut c_void,
    set_error: SetError,
) -> c_int {
    // SAFETY: an allocator is called with a prototype.
    let prototype = unsafe { &*prototype };
    match reserve(prototype) {
        Ok(data) => {
            let view = DLTensor { data, strides: 0, byte_offset: 0, ..*prototype };
            // SAFETY: a prototype has as many extents as it says.
            let tensor = unsafe { ManagedTensor::over(&view, ()) };
            // SAFETY: there is room for the answer.
            unsafe { *out = tensor };
            0
        }
        Err(message) => {
            let message = CString::new(message).unwrap_or_default();
            // SAFETY: it copies both texts.
            unsafe { set_error(context, c"MemoryError".as_ptr(), message.as_ptr()) };
            -1
        }
    }
}

/// The address of a new tensor.
fn reserve(prototype: &DLTensor) -> Result<u64, String> {
    let arena = ARENA.get();
    let device = Device { kind: prototype.device_type, ordinal: prototype.device_id };
    if device != arena.device {
        let kind = DeviceType(device.kind);
        return Err(format!("the workspace of the program has no memory on {kind}"));
    }
    // SAFETY: a prototype has as many extents as it says.
    let shape = unsafe { prototype.extents() };
    let bytes = DType::from_packed(prototype.dtype).compact_bytes(shape);
    let bytes = bytes.ok_or("a tensor of more than 64 bits of bytes")?;
    let data = arena.next.next_multiple_of(ALIGNMENT);
    let next = data.saturating_add(bytes);
    if next > arena.end {
        PEAK.store(next - arena.start, Ordering::Relaxed);
        let left = arena.end.saturating_sub(data);
        return Err(format!("the workspace has {left} bytes left, and {bytes} are needed"));
    }
    ARENA.set(Arena { next, ..arena });
    PEAK.store(next - arena.start, Ordering::Relaxed);
    Ok(data)
}
