// SPDX-License-Identifier: Apache-2.0
//! One device index for all CUDA tensors of a call.

use super::Info;
use crate::path::Path;
use crate::plan::Value;
use crate::planner::Planner;
use kernpack_ffi_abi::layout::dl_tensor;
use kernpack_ffi_abi::{DeviceType, ErrorKind};

/// The check.
pub const INFO: Info = Info {
    name: "device-index",
    kind: ErrorKind::ValueError,
    doc: "All `cuda` and `cuda_managed` tensors of a call live on one device, except those marked `peer`.",
    example: "Mismatched device index on argument #1 when calling: `f(a: Tensor([n], float32), b: Tensor([n], float32))`, expected to match a.device.index, got 1 (a.device.index is 0)",
};

/// Requires the index of the `DLTensor` at `view` to match those of the tensors before it, and
/// later ones to match it.
pub fn require(cx: &mut Planner<'_>, path: &Path, view: Value, devices: &[DeviceType], peer: bool) {
    let device = cx.b.load(view, dl_tensor::DEVICE_TYPE);
    let index = cx.b.load(view, dl_tensor::DEVICE_ID);
    if peer {
        let on_one = cx.b.eq_int(device, DeviceType::CUDA.0);
        return cx.add_peer(index, on_one);
    }
    let indexed: Vec<_> = devices.iter().filter(|device| device.has_index()).collect();
    if indexed.is_empty() {
        return;
    }
    let counts = if indexed.len() == devices.len() {
        cx.b.bool(true)
    } else {
        cx.b.eq_any(device, indexed.iter().map(|device| device.0.into()))
    };
    cx.bind_device_index(path, index, counts);
}
