// SPDX-License-Identifier: Apache-2.0
//! Tensors on the GPU, in memory of `cudarc`'s, and copies that are late.

use cudarc::driver::sys::CUdeviceptr;
use cudarc::driver::{CudaStream, DriverError, result};
use std::ffi::c_void;
use std::time::Duration;
use tvm_ffi::collections::tensor::DLTensorExt;
use tvm_ffi::tvm_ffi_sys::dlpack::DLTensor;
use tvm_ffi::{DLDataType, DLDevice, DLDeviceType, NDAllocator, Tensor};

/// The device that everything here is on.
pub const GPU: DLDevice = DLDevice { device_type: DLDeviceType::kDLCUDA, device_id: 0 };

/// Memory of the current context. A tensor owns it, so that a prepared call can hold it.
struct Allocator;

// SAFETY: the memory is as large as the tensor, and aligned to more than is promised.
unsafe impl NDAllocator for Allocator {
    const MIN_ALIGN: usize = 256;

    unsafe fn alloc_data(&mut self, prototype: &DLTensor) -> *mut c_void {
        let size_bytes = prototype.numel() * prototype.item_size();
        // SAFETY: a context is current as long as `main` runs.
        let address = unsafe { result::malloc_sync(size_bytes) };
        address.expect("the GPU has memory") as *mut c_void
    }

    unsafe fn free_data(&mut self, tensor: &DLTensor) {
        // SAFETY: the tensor has the memory from `alloc_data`, and goes away.
        let freed = unsafe { result::free_sync(tensor.data as CUdeviceptr) };
        freed.expect("the memory is there");
    }
}

/// A tensor that holds these bits.
pub fn tensor(bits: &[u16], shape: &[i64], dtype: DLDataType) -> Result<Tensor, DriverError> {
    let tensor = Tensor::from_nd_alloc(Allocator, shape, dtype, GPU);
    assert_eq!(tensor.numel(), bits.len());
    // SAFETY: the tensor's elements have 16 bits, and there are as many.
    unsafe { result::memcpy_htod_sync(address(&tensor), bits) }?;
    Ok(tensor)
}

/// The bits of what a tensor holds, once the NULL stream has come to it.
pub fn bits(tensor: &Tensor) -> Result<Vec<u16>, DriverError> {
    let mut bits = vec![0; tensor.numel()];
    // SAFETY: the tensor's elements have 16 bits, and there are as many.
    unsafe { result::memcpy_dtoh_sync(&mut bits, address(tensor)) }?;
    Ok(bits)
}

/// Copies on a stream that is held up, so that what does not wait for it is found out.
pub fn copy_late(stream: &CudaStream, to: &Tensor, from: &Tensor) -> Result<(), DriverError> {
    let nothing = std::ptr::null_mut();
    // SAFETY: the function takes no argument.
    unsafe { result::stream::launch_host_function(stream.cu_stream(), wait, nothing) }?;
    let size_bytes = 2 * to.numel();
    // SAFETY: the caller keeps both tensors until the stream has come to the copy.
    unsafe { result::memcpy_dtod_async(address(to), address(from), size_bytes, stream.cu_stream()) }
}

extern "C" fn wait(_: *mut c_void) {
    std::thread::sleep(Duration::from_millis(50));
}

fn address(tensor: &Tensor) -> CUdeviceptr {
    tensor.data_ptr() as CUdeviceptr
}
