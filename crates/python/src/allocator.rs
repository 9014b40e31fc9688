// SPDX-License-Identifier: Apache-2.0
//! Memory for results and workspaces of calls that bring no allocator of their own: those without a
//! tensor of PyTorch among their arguments.
//!
//! On the CPU it comes from `malloc`, aligned for every vector instruction. On a GPU it comes from
//! the driver, in the primary context of the device, and goes back with a wait for what still uses
//! it: such calls are rare, and their memory may be used on any stream. Whether the environment has
//! an allocator of its own is decided by libtvm_ffi, which asks the one that is set here last.

#![expect(unsafe_code, reason = "memory is handed to others, and the driver is a C library")]

use crate::cuda;
use kernpack_ffi_abi::layout::DLTensor;
use kernpack_ffi_abi::{DType, DeviceType};
use std::alloc::{Layout, alloc, dealloc};
use std::ffi::{CString, c_char, c_void};
use std::ptr;

/// Where results start: enough for a cache line, and for vectors of 64 bytes.
const ALIGNMENT_BYTES: usize = 64;

/// `DLManagedTensorVersioned` of DLPack 1.0 and later.
#[repr(C)]
struct ManagedTensor {
    version: [u32; 2],
    context: *mut c_void,
    deleter: unsafe extern "C" fn(*mut ManagedTensor),
    flags: u64,
    tensor: DLTensor,
}

/// The version of DLPack in which that struct is described.
const DLPACK_VERSION: [u32; 2] = [1, 1];

/// What a tensor of this allocator owns.
struct Storage {
    tensor: ManagedTensor,
    /// Extents, then strides.
    dims: Box<[i64]>,
    memory: Memory,
}

enum Memory {
    /// Nothing: the tensor is empty.
    None,
    Host(*mut u8, Layout),
    Device(cuda::Memory),
}

type SetError = unsafe extern "C" fn(*mut c_void, *const c_char, *const c_char);
type Allocator =
    unsafe extern "C" fn(*mut DLTensor, *mut *mut c_void, *mut c_void, SetError) -> i32;

unsafe extern "C" {
    fn TVMFFIEnvSetDLPackManagedTensorAllocator(
        allocator: Option<Allocator>,
        write_to_global: i32,
        previous: *mut Option<Allocator>,
    ) -> i32;
}

/// Has libtvm_ffi use this allocator where a call brings none. Another one that was set for the
/// whole process stays.
pub fn install() {
    let mut previous = None;
    // SAFETY: the allocator lives as long as the process, as this library is never unloaded.
    unsafe { TVMFFIEnvSetDLPackManagedTensorAllocator(Some(allocate), 1, &mut previous) };
    if previous.is_some_and(|other| !ptr::fn_addr_eq(other, allocate as Allocator)) {
        // SAFETY: it was set before, and is set again.
        unsafe { TVMFFIEnvSetDLPackManagedTensorAllocator(previous, 1, ptr::null_mut()) };
    }
}

/// DLPack's `DLPackManagedTensorAllocator`.
unsafe extern "C" fn allocate(
    prototype: *mut DLTensor,
    out: *mut *mut c_void,
    context: *mut c_void,
    set_error: SetError,
) -> i32 {
    // SAFETY: the caller passes a tensor, of which it reads neither data nor strides.
    let prototype = unsafe { prototype.read() };
    let rank = usize::try_from(prototype.ndim).unwrap_or(0);
    let shape = match rank {
        0 => &[][..],
        // SAFETY: a shape has as many extents as its tensor has dims.
        _ => unsafe { std::slice::from_raw_parts(prototype.shape as *const i64, rank) },
    };
    match Storage::new(&prototype, shape) {
        Ok(storage) => {
            // SAFETY: the caller has a place for the answer.
            unsafe { out.write(storage.into_raw().cast()) };
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

impl Storage {
    fn new(prototype: &DLTensor, shape: &[i64]) -> Result<Box<Storage>, String> {
        let size = n_bytes(prototype.dtype, shape)
            .ok_or_else(|| format!("a tensor of shape {shape:?} is larger than memory can be"))?;
        let memory = Memory::new(size, prototype)?;
        let dims = [shape, &strides(shape)].concat().into_boxed_slice();
        let tensor = ManagedTensor {
            version: DLPACK_VERSION,
            context: ptr::null_mut(),
            deleter: delete,
            flags: 0,
            tensor: DLTensor {
                data: memory.address(),
                shape: dims.as_ptr() as u64,
                strides: dims[shape.len()..].as_ptr() as u64,
                byte_offset: 0,
                ..*prototype
            },
        };
        Ok(Box::new(Storage { tensor, dims, memory }))
    }

    /// The tensor, which finds its storage by its context.
    fn into_raw(self: Box<Storage>) -> *mut ManagedTensor {
        let storage = Box::into_raw(self);
        // SAFETY: the storage is whole, and nobody else has it.
        let tensor = unsafe { &raw mut (*storage).tensor };
        // SAFETY: as above.
        unsafe { (*tensor).context = storage.cast() };
        tensor
    }
}

unsafe extern "C" fn delete(tensor: *mut ManagedTensor) {
    // SAFETY: whoever has the tensor deletes it, and so it is there.
    let storage = unsafe { (*tensor).context };
    // SAFETY: the context is the storage, and this is done once.
    drop(unsafe { Box::from_raw(storage.cast::<Storage>()) });
}

impl Drop for Storage {
    fn drop(&mut self) {
        debug_assert!(self.dims.len() == 2 * self.tensor.tensor.ndim.max(0) as usize);
        match &self.memory {
            Memory::None => {}
            // SAFETY: it was allocated with this layout, and is freed once.
            Memory::Host(address, layout) => unsafe { dealloc(*address, *layout) },
            Memory::Device(memory) => memory.free(),
        }
    }
}

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

/// The size of a compact tensor; `None` beyond what an address can say.
fn n_bytes(dtype: u32, shape: &[i64]) -> Option<usize> {
    let bits = DType::from_packed(dtype).element_bits() as usize;
    let count = shape
        .iter()
        .try_fold(1usize, |count, dim| count.checked_mul(usize::try_from(*dim).ok()?))?;
    let size = count.checked_mul(bits)?.div_ceil(8);
    (size <= isize::MAX as usize).then_some(size)
}

/// Row-major strides, in elements.
fn strides(shape: &[i64]) -> Vec<i64> {
    let mut strides = vec![1i64; shape.len()];
    for at in (1..shape.len()).rev() {
        strides[at - 1] = strides[at].wrapping_mul(shape[at].max(1));
    }
    strides
}
