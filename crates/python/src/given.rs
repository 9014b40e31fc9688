// SPDX-License-Identifier: Apache-2.0
//! Bytes that become tensors of TVM-FFI, for Python's receivers. Not here: whose bytes they are.

#![expect(unsafe_code, reason = "a tensor is made of addresses")]

use crate::ffi::{Error, Object};
use kernpack_ffi_abi::layout::DLTensor;
use kernpack_ffi_abi::{DType, DeviceType, ManagedTensor};
use std::sync::Arc;

/// A tensor in bytes that others may share.
pub struct Given<'g> {
    /// The bytes.
    pub bytes: Arc<Vec<u8>>,
    /// Where in them its first element is.
    pub offset: u64,
    /// The type of its elements.
    pub dtype: DType,
    /// Its extents.
    pub shape: &'g [i64],
    /// Its strides; nothing: row-major.
    pub strides: Option<&'g [i64]>,
}

impl Given<'_> {
    /// Hands it to a function, with its number.
    ///
    /// # Errors
    /// Where that raises.
    pub fn give(&self, receiver: &Object, number: i64) -> Result<(), Error> {
        let view = DLTensor {
            data: self.bytes.as_ptr() as u64 + self.offset,
            device_type: DeviceType::CPU.0,
            device_id: 0,
            ndim: self.shape.len() as i32,
            dtype: self.dtype.packed(),
            shape: self.shape.as_ptr() as u64,
            strides: self.strides.map_or(0, |strides| strides.as_ptr() as u64),
            byte_offset: 0,
        };
        // SAFETY: the view has as many extents and strides as it says.
        let tensor = unsafe { ManagedTensor::over(&view, self.bytes.clone()) };
        receiver.give(number, tensor)
    }
}
