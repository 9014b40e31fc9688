// SPDX-License-Identifier: Apache-2.0
//! Tensors on the stack of a host, and the allocator for what functions return.

use std::ffi::{c_char, c_void};
use tvm_ffi::tvm_ffi_sys::c_env_api::TVMFFIEnvSetDLPackManagedTensorAllocator;
use tvm_ffi::tvm_ffi_sys::dlpack::DLTensor;
use tvm_ffi::tvm_ffi_sys::{TVMFFIObjectHandle, TVMFFITensorToDLPackVersioned};
use tvm_ffi::{
    CPUNDAlloc, DLDataType, DLDataTypeCode, DLDevice, DLDeviceType, ObjectArc, ObjectRefCore,
    Tensor,
};

/// A tensor with its memory.
pub struct Buffer {
    words: Vec<Line>,
    shape: Vec<i64>,
    dtype: DLDataType,
    byte_offset: usize,
    is_null: bool,
    /// Whether a call writes it.
    pub is_out: bool,
}

/// Memory in aligned pieces.
#[derive(Clone, Copy)]
#[repr(C, align(64))]
struct Line([u8; 64]);

impl Buffer {
    /// From `out:float32[2,4]+4`; `None` where that is no tensor.
    pub fn parse(word: &str) -> Option<Buffer> {
        let (head, rest) = word.split_once('[')?;
        let (prefix, name) = head.split_once(':').unwrap_or(("", head));
        let (code, bits) = match name {
            "float32" => (DLDataTypeCode::kDLFloat, 32),
            "float64" => (DLDataTypeCode::kDLFloat, 64),
            "int64" => (DLDataTypeCode::kDLInt, 64),
            _ => return None,
        };
        let (extents, offset) = rest.split_once(']')?;
        let shape = parse_extents(extents);
        let byte_offset = offset.strip_prefix('+').map_or(0, |bytes| bytes.parse().unwrap());
        let count: i64 = shape.iter().product();
        let mut buffer = Buffer {
            words: vec![Line([0; 64]); count as usize / 8 + 2],
            shape,
            dtype: DLDataType::new(code, bits, 1),
            byte_offset,
            is_null: prefix == "null",
            is_out: prefix == "out",
        };
        if prefix.is_empty() {
            for i in 0..count as usize {
                buffer.set(i, (i + 1) as f64);
            }
        }
        Some(buffer)
    }

    /// The view that functions take. It borrows from the buffer, which the caller keeps.
    pub fn view(&mut self) -> DLTensor {
        let data = match self.is_null {
            true => std::ptr::null_mut(),
            false => self.words.as_mut_ptr().cast(),
        };
        DLTensor {
            data,
            device: DLDevice::new(DLDeviceType::kDLCPU, 0),
            ndim: self.shape.len() as i32,
            dtype: self.dtype,
            shape: self.shape.as_mut_ptr(),
            strides: std::ptr::null_mut(),
            byte_offset: self.byte_offset as u64,
        }
    }

    fn set(&mut self, i: usize, value: f64) {
        let size = usize::from(self.dtype.bits / 8);
        let at = self.byte_offset + size * i;
        let bytes = match (self.dtype.code == DLDataTypeCode::kDLInt as u8, size) {
            (true, _) => (value as i64).to_le_bytes().to_vec(),
            (false, 4) => (value as f32).to_le_bytes().to_vec(),
            _ => value.to_le_bytes().to_vec(),
        };
        for (k, byte) in bytes.into_iter().enumerate() {
            self.words[(at + k) / 64].0[(at + k) % 64] = byte;
        }
    }
}

/// `2,4`
pub fn parse_extents(text: &str) -> Vec<i64> {
    text.split(',').map(|extent| extent.parse().expect("an integer")).collect()
}

/// What a tensor holds.
///
/// # Safety
/// What the tensor points to is there, on the CPU, and compact.
pub unsafe fn tensor_text(tensor: &DLTensor) -> String {
    // SAFETY: the caller says so.
    let shape = unsafe { std::slice::from_raw_parts(tensor.shape, tensor.ndim as usize) };
    let count = shape.iter().product::<i64>() as usize;
    let data = tensor.data.wrapping_byte_add(tensor.byte_offset as usize);
    let is_int = tensor.dtype.code == DLDataTypeCode::kDLInt as u8;
    let values = (0..count).map(|i| {
        // SAFETY: `i` is within the shape.
        unsafe {
            match (is_int, tensor.dtype.bits) {
                (true, _) => data.cast::<i64>().add(i).read() as f64,
                (false, 32) => f64::from(data.cast::<f32>().add(i).read()),
                _ => data.cast::<f64>().add(i).read(),
            }
        }
    });
    values_text(values)
}

/// `[1 2 3]`
pub fn values_text(values: impl Iterator<Item = f64>) -> String {
    let values: Vec<_> = values.map(|value| value.to_string()).collect();
    format!("[{}]", values.join(" "))
}

/// Results are made by the host's allocator; this sets one that hands out tensors of the crate.
pub fn set_allocator() {
    // SAFETY: the function is there as long as the program.
    let code = unsafe {
        TVMFFIEnvSetDLPackManagedTensorAllocator(Some(allocate), 1, std::ptr::null_mut())
    };
    assert_eq!(code, 0);
}

unsafe extern "C" fn allocate(
    prototype: *mut DLTensor,
    out: *mut *mut c_void,
    _error_context: *mut c_void,
    _set_error: unsafe extern "C" fn(*mut c_void, *const c_char, *const c_char),
) -> i32 {
    // SAFETY: the caller passes a tensor, of which only these fields count.
    let (shape, dtype, device) = unsafe {
        let prototype = &*prototype;
        let shape = std::slice::from_raw_parts(prototype.shape, prototype.ndim as usize);
        (shape, prototype.dtype, prototype.device)
    };
    let tensor = Tensor::from_nd_alloc(CPUNDAlloc {}, shape, dtype, device);
    // SAFETY: what goes out holds a reference of its own to the tensor; `out` is there to be
    // written.
    unsafe {
        let handle = ObjectArc::as_raw(Tensor::data(&tensor)) as TVMFFIObjectHandle;
        TVMFFITensorToDLPackVersioned(handle, out)
    }
}
