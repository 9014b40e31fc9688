// SPDX-License-Identifier: Apache-2.0
//! Extents count something.

use super::Info;
use crate::fault::{Format, Phrase};
use crate::path::Path;
use crate::plan::{Compare, Value};
use crate::planner::Planner;
use kernpack_ffi_abi::ErrorKind;

/// The check.
pub const INFO: Info = Info {
    name: "negative-dim",
    kind: ErrorKind::ValueError,
    doc: "Extents of tensors and elements of Shapes are not negative.",
    example: "Invalid a.shape[0] on argument #0 when calling: `f(a: Tensor([n], float32))`, expected a non-negative value, got -1",
};

/// Requires a value of 0 or more.
pub fn require(cx: &mut Planner<'_>, path: &Path, value: Value) {
    let zero = cx.b.int(0);
    let cond = cx.b.compare(Compare::Le, zero, value);
    let subject = path.subject("Invalid");
    let got = Phrase::value(value, Format::Int);
    cx.require(cond, INFO.complaint(subject, "a non-negative value", got));
}
