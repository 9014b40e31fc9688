// SPDX-License-Identifier: Apache-2.0
//! A tensor's data pointer.

use super::Info;
use crate::path::Path;
use crate::plan::{Compare, Value};
use crate::planner::Planner;
use kernpack_ffi_abi::ErrorKind;

/// The check.
pub const INFO: Info = Info {
    name: "null-data",
    kind: ErrorKind::ValueError,
    doc: "A tensor with elements has a data pointer. Empty tensors may have none.",
    example: "Invalid Tensor data on argument #0 when calling: `f(a: Tensor([n], float32))`, expected a non-NULL data pointer, got NULL",
};

/// Requires data, unless the tensor is empty.
pub fn require(cx: &mut Planner<'_>, path: &Path, data: Value, empty: Value) {
    let null = cx.b.int(0);
    let present = cx.b.compare(Compare::Ne, data, null);
    let cond = cx.b.or(present, empty);
    let subject = path.location("Invalid Tensor data");
    cx.require(cond, INFO.complaint(subject, "a non-NULL data pointer", "NULL"));
}
