// SPDX-License-Identifier: Apache-2.0
//! The rank of a tensor.

use super::Info;
use crate::fault::{Format, Phrase};
use crate::path::Path;
use crate::plan::Value;
use crate::planner::Planner;
use kernpack_ffi_abi::ErrorKind;
use kernpack_ffi_abi::layout::dl_tensor;

/// The check.
pub const INFO: Info = Info {
    name: "tensor-rank",
    kind: ErrorKind::ValueError,
    doc: "The tensor has as many dims as the signature gives it.",
    example: "Mismatched Tensor on argument #0 when calling: `f(a: Tensor([m, n], float32))`, expected ndim=2, got 3",
};

/// Requires `rank` dims of the `DLTensor` at `view`.
pub fn require(cx: &mut Planner<'_>, path: &Path, view: Value, rank: usize) {
    let actual = cx.b.load(view, dl_tensor::NDIM);
    let cond = cx.b.eq_int(actual, rank as i64);
    let subject = format!("Mismatched Tensor {}", path.location());
    let got = Phrase::value(actual, Format::Int);
    cx.require(cond, INFO.complaint(subject, format!("ndim={rank}"), got));
}
