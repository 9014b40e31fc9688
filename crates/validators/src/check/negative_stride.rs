// SPDX-License-Identifier: Apache-2.0
//! Strides that the signature names are not negative.

use super::Info;
use crate::fault::{Format, Phrase};
use crate::path::Path;
use crate::plan::{Compare, Value};
use crate::planner::Planner;
use kernpack_ffi_abi::ErrorKind;

/// The check.
pub const INFO: Info = Info {
    name: "negative-stride",
    kind: ErrorKind::ValueError,
    doc: "A stride that is `_`, a symbol or an expression is not negative; `strides=any` takes negative ones.",
    example: "Invalid a.strides[0] on argument #0 when calling: `f(a: Tensor([n], float32))`, expected a non-negative value, got -1",
};

/// Requires a stride of 0 or more, unless its dim is free.
pub fn require(cx: &mut Planner<'_>, path: &Path, stride: Value, free: Value) {
    let zero = cx.b.int(0);
    let positive = cx.b.compare(Compare::Le, zero, stride);
    let cond = cx.b.or(positive, free);
    let subject = path.subject("Invalid");
    let got = Phrase::value(stride, Format::Int);
    cx.require(cond, INFO.complaint(subject, "a non-negative value", got));
}
