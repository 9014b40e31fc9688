// SPDX-License-Identifier: Apache-2.0
//! The device type of a tensor.

use super::Info;
use super::dtype::alternatives;
use crate::fault::{Format, Phrase};
use crate::path::Path;
use crate::plan::Value;
use crate::planner::Planner;
use kernpack_ffi_abi::layout::dl_tensor;
use kernpack_ffi_abi::{DeviceType, ErrorKind};

/// The check.
pub const INFO: Info = Info {
    name: "device-type",
    kind: ErrorKind::ValueError,
    doc: "The tensor lives on a device of the type that the signature names.",
    example: "Mismatched Tensor on argument #0 when calling: `f(a: Tensor([n], float32))`, expected device_type=cuda, got cpu",
};

/// Requires one of some device types of the `DLTensor` at `view`.
pub fn require(cx: &mut Planner<'_>, path: &Path, view: Value, devices: &[DeviceType]) {
    let actual = cx.b.load(view, dl_tensor::DEVICE_TYPE);
    let cond = cx.b.eq_any(actual, devices.iter().map(|device| device.0.into()));
    let subject = path.location("Mismatched Tensor");
    let expected = format!("device_type={}", alternatives(devices));
    cx.require(cond, INFO.complaint(subject, expected, Phrase::value(actual, Format::DeviceType)));
}
