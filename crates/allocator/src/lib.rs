// SPDX-License-Identifier: Apache-2.0
//! Memory for results and workspaces of calls that bring no allocator of their own: those without a
//! tensor of PyTorch among their arguments.
//!
//! On the CPU it comes from `malloc`, aligned for every vector instruction. On a GPU it comes from
//! the device's pool, and goes back to it, in the order of the environment's stream. Whether the
//! environment has an allocator of its own is decided by libtvm_ffi, which asks the one that is set
//! here last.
//!
//! # Where things live
//!
//! The allocator, and memory of the host, are in `lib.rs`; memory of a GPU is in `cuda.rs`, and the
//! driver that it comes from in `driver.rs`.
//!
//! Not here: tensors that own memory (`ffi-abi`'s `managed.rs`), and launches. libtvm_ffi is not
//! linked: its functions are those of the process.

#![expect(unsafe_code, reason = "memory is handed to others, and the driver is a C library")]

mod cuda;
mod driver;

pub use cuda::wait_for_gpu;

use kernpack_ffi_abi::layout::DLTensor;
use kernpack_ffi_abi::libtvm_ffi::{
    SetError, TVMFFIEnvGetDLPackManagedTensorAllocator, TVMFFIEnvSetDLPackManagedTensorAllocator,
};
use kernpack_ffi_abi::{DType, DeviceType, ManagedTensor};
use std::alloc::{Layout, alloc, dealloc};
use std::ffi::{CString, c_int, c_void};
use std::ptr;

/// Where results start: enough for a cache line, and for vectors of 64 bytes.
const ALIGNMENT_BYTES: usize = 64;

/// Has libtvm_ffi use this allocator where a call brings none. Another one that was set for the
/// whole process stays.
///
/// # Errors
/// Where no thread can be started.
pub fn install() -> Result<(), String> {
    // What libtvm_ffi tells here may be the allocator of a call in progress on this thread, which
    // hides the process's. A new thread has none of its own.
    let thread = std::thread::Builder::new().name("kernpack".to_string()).spawn(install_if_none);
    let thread = thread.map_err(|error| format!("cannot start a thread: {error}"))?;
    thread.join().map_err(|_| "kernpack failed; see above".to_string())
}

fn install_if_none() {
    // SAFETY: it reads what is set.
    if unsafe { TVMFFIEnvGetDLPackManagedTensorAllocator() }.is_none() {
        // SAFETY: the allocator lives as long as the process, as this library is never unloaded.
        unsafe { TVMFFIEnvSetDLPackManagedTensorAllocator(Some(allocate), 1, ptr::null_mut()) };
    }
}

unsafe extern "C" fn allocate(
    prototype: *const DLTensor,
    out: *mut *mut ManagedTensor,
    context: *mut c_void,
    set_error: SetError,
) -> c_int {
    // SAFETY: the caller passes a tensor.
    let prototype = unsafe { &*prototype };
    match make(prototype) {
        Ok(tensor) => {
            // SAFETY: the caller has a place for the answer.
            unsafe { out.write(tensor) };
            0
        }
        Err(message) => {
            let message = CString::new(message.replace('\0', "?")).unwrap_or_default();
            // SAFETY: the caller passes the function with its context; both texts end in a NUL.
            unsafe { set_error(context, c"RuntimeError".as_ptr(), message.as_ptr()) };
            -1
        }
    }
}

/// A compact tensor like this one, with memory of its own.
fn make(prototype: &DLTensor) -> Result<*mut ManagedTensor, String> {
    // SAFETY: a prototype has as many extents as it says.
    let shape = unsafe { prototype.extents() };
    let size = DType::from_packed(prototype.dtype).compact_bytes(shape);
    let size = size.and_then(|size| usize::try_from(size).ok());
    let size =
        size.ok_or_else(|| format!("a tensor of shape {shape:?} is larger than memory can be"))?;
    let memory = Memory::new(size, prototype)?;
    let view = DLTensor { data: memory.address(), strides: 0, byte_offset: 0, ..*prototype };
    // SAFETY: as above; there are no strides, so that row-major ones are made.
    Ok(unsafe { ManagedTensor::over(&view, memory) })
}

/// The memory that a tensor of this allocator owns.
enum Memory {
    /// Nothing: the tensor is empty.
    None,
    Host(*mut u8, Layout),
    Device(cuda::Memory),
}

// SAFETY: nobody else has the memory, and any thread may free it.
unsafe impl Send for Memory {}

impl Memory {
    fn new(size: usize, prototype: &DLTensor) -> Result<Memory, String> {
        let device = DeviceType(prototype.device_type);
        match device {
            _ if size == 0 => Ok(Memory::None),
            DeviceType::CPU => Memory::on_host(size),
            DeviceType::CUDA => {
                cuda::Memory::allocate(prototype.device_id, size).map(Memory::Device)
            }
            other => Err(format!("cannot allocate a result on {other}: pass it as an argument")),
        }
    }

    fn on_host(size: usize) -> Result<Memory, String> {
        let layout = Layout::from_size_align(size, ALIGNMENT_BYTES)
            .map_err(|_| format!("a result of {size} bytes is larger than memory can be"))?;
        // SAFETY: the size is not 0.
        let address = unsafe { alloc(layout) };
        match address.is_null() {
            true => Err(format!("no memory for a result of {size} bytes")),
            false => Ok(Memory::Host(address, layout)),
        }
    }

    fn address(&self) -> u64 {
        match self {
            Memory::None => 0,
            Memory::Host(address, _) => *address as u64,
            Memory::Device(memory) => memory.address(),
        }
    }
}

impl Drop for Memory {
    fn drop(&mut self) {
        match self {
            Memory::None => {}
            // SAFETY: it was allocated with this layout, and is freed once.
            Memory::Host(address, layout) => unsafe { dealloc(*address, *layout) },
            Memory::Device(memory) => memory.free(),
        }
    }
}
