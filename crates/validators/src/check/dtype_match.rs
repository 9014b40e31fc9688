// SPDX-License-Identifier: Apache-2.0
//! A dtype variable at a tensor that does not bind it.

use super::Info;
use crate::fault::{Format, Phrase};
use crate::path::Path;
use crate::plan::Value;
use crate::planner::Planner;
use kernpack_ffi_abi::ErrorKind;

/// The check.
pub const INFO: Info = Info {
    name: "dtype-match",
    kind: ErrorKind::TypeError,
    doc: "Tensors with the same dtype variable have the same dtype.",
    example: "Mismatched b.dtype on argument #1 when calling: `f(a: Tensor([n], T), b: Tensor([n], T))`, expected to match a.dtype (float16), got float32",
};

/// Requires the dtype that `var` is bound to.
pub fn require(cx: &mut Planner<'_>, path: &Path, actual: Value, var: &str) {
    let bound = cx.named(var).expect("the variable is bound").clone();
    let cond = cx.b.eq(actual, bound.value);
    let subject = path.part(".dtype").subject("Mismatched");
    let expected = Phrase::text(format!("to match {} (", bound.path.text))
        .and_value(bound.value, Format::DType)
        .and(")");
    cx.require(cond, INFO.complaint(subject, expected, Phrase::value(actual, Format::DType)));
}
