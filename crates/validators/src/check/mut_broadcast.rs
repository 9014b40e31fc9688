// SPDX-License-Identifier: Apache-2.0
//! A tensor that is written has no two elements in one place for want of a stride.

use super::Info;
use crate::path::Path;
use crate::plan::{Compare, Value};
use crate::planner::Planner;
use kernpack_ffi_abi::ErrorKind;

/// The check.
pub const INFO: Info = Info {
    name: "mut-broadcast",
    kind: ErrorKind::ValueError,
    doc: "A `mut` tensor has no stride 0 on a dim above 1: its elements would share memory, as those of an expanded view do.",
    example: "Invalid a.strides[0] on argument #0 when calling: `f(a: Tensor([n], float32))`, expected a non-zero stride for a mutable tensor, got 0",
};

/// Requires a stride other than 0, unless the dim is free.
pub fn require(cx: &mut Planner<'_>, path: &Path, stride: Value, free: Value) {
    let zero = cx.b.int(0);
    let moves = cx.b.compare(Compare::Ne, stride, zero);
    let cond = cx.b.or(moves, free);
    let subject = path.subject("Invalid");
    cx.require(cond, INFO.complaint(subject, "a non-zero stride for a mutable tensor", "0"));
}
