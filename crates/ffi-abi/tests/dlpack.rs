// SPDX-License-Identifier: Apache-2.0
//! The tables against the `dlpack-rs` crate's own binding of DLPack.

use core::mem::{offset_of, size_of};
use dlpack_rs::ffi;
use kernpack_ffi_abi::layout::{DLTensor, dl_tensor};

#[test]
fn the_view_of_a_tensor_is_the_same() {
    assert_eq!(size_of::<DLTensor>(), size_of::<ffi::DLTensor>());
    let device = offset_of!(ffi::DLTensor, device);
    let rows = [
        (dl_tensor::DATA, offset_of!(ffi::DLTensor, data)),
        (dl_tensor::DEVICE_TYPE, device + offset_of!(ffi::DLDevice, device_type)),
        (dl_tensor::DEVICE_ID, device + offset_of!(ffi::DLDevice, device_id)),
        (dl_tensor::NDIM, offset_of!(ffi::DLTensor, ndim)),
        (dl_tensor::DTYPE, offset_of!(ffi::DLTensor, dtype)),
        (dl_tensor::SHAPE, offset_of!(ffi::DLTensor, shape)),
        (dl_tensor::STRIDES, offset_of!(ffi::DLTensor, strides)),
        (dl_tensor::BYTE_OFFSET, offset_of!(ffi::DLTensor, byte_offset)),
    ];
    for (field, offset) in rows {
        assert_eq!(field.offset as usize, offset, "{}", field.name);
    }
}
