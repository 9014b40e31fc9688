// SPDX-License-Identifier: Apache-2.0
//! Tensors of others that become our own: which of them may. Not here: who gives them.
//!
//! A [`Tensor`](crate::Tensor) is compact and row-major, and its elements lie as Rust asks for:
//! that is checked once, and relied on afterwards.

#![expect(unsafe_code, reason = "extents and strides are read by address")]

use super::lend::check_dtype;
use crate::{Element, Error, Result};
use kernpack_ffi_abi::layout::DLTensor;
use kernpack_ffi_abi::{DType, DeviceType, slice};

/// Refuses a tensor that cannot be a `Tensor<T>`.
///
/// # Errors
/// Where it has another dtype or an unknown device, is not compact and row-major, or lies nowhere
/// or unaligned.
///
/// # Safety
/// It has as many extents as it says, and as many strides if any.
pub(super) unsafe fn check<T: Element>(tensor: &DLTensor) -> Result<()> {
    check_dtype::<T>(tensor)?;
    check_device(DeviceType(tensor.device_type))?;
    // SAFETY: the caller vouches for the extents.
    let shape = unsafe { tensor.extents() };
    check_shape(T::DTYPE, shape)?;
    if shape.contains(&0) {
        return Ok(());
    }
    if tensor.strides != 0 {
        // SAFETY: and for the strides.
        check_strides(shape, unsafe { slice(tensor.strides as *const i64, shape.len()) })?;
    }
    check_address::<T>(tensor)
}

/// Refuses a device that TVM-FFI has no name for: who takes the tensor over may not know it.
fn check_device(device: DeviceType) -> Result<()> {
    match DeviceType::TABLE.iter().any(|(known, _, _)| *known == device) {
        true => Ok(()),
        false => Err(Error::Value(format!("expected a tensor on a known device, got {device}"))),
    }
}

/// Refuses extents that are negative, or count more than memory can hold.
fn check_shape(dtype: DType, shape: &[i64]) -> Result<()> {
    match dtype.compact_bytes(shape) {
        Some(_) => Ok(()),
        None => Err(Error::Value(format!("no tensor of {dtype} can have the shape {shape:?}"))),
    }
}

/// Refuses strides that are not row-major. That of one element is of no account.
fn check_strides(shape: &[i64], strides: &[i64]) -> Result<()> {
    let mut expected = 1;
    for (extent, stride) in shape.iter().zip(strides).rev() {
        if *extent != 1 && *stride != expected {
            return Err(Error::Value(format!(
                "expected a compact row-major tensor, got the strides {strides:?} for the shape \
                 {shape:?}"
            )));
        }
        expected *= extent;
    }
    Ok(())
}

/// Refuses elements that lie nowhere, or on the host as no `T` may.
fn check_address<T>(tensor: &DLTensor) -> Result<()> {
    let address = tensor.data.wrapping_add(tensor.byte_offset);
    if tensor.data == 0 {
        return Err(Error::Value("the tensor has elements, but its data is NULL".to_string()));
    }
    let alignment = align_of::<T>();
    match DeviceType(tensor.device_type).is_host() && !address.is_multiple_of(alignment as u64) {
        false => Ok(()),
        true => Err(Error::Value(format!(
            "expected elements aligned to {alignment} bytes, got the address {address:#x}"
        ))),
    }
}
