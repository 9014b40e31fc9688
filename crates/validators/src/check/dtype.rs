// SPDX-License-Identifier: Apache-2.0
//! The dtype of a tensor: code, bits and lanes in one comparison.

use super::{Info, dtype_match};
use crate::fault::{Format, Phrase};
use crate::param::TensorDType;
use crate::path::Path;
use crate::plan::Value;
use crate::planner::{Named, NamedKind, Planner};
use kernpack_ffi_abi::layout::dl_tensor;
use kernpack_ffi_abi::{DType, ErrorKind};

pub use dtype_match::require as require_match;

/// The check.
pub const INFO: Info = Info {
    name: "tensor-dtype",
    kind: ErrorKind::TypeError,
    doc: "The tensor has the dtype of the signature, or one of those that its dtype variable may have.",
    example: "Mismatched Tensor on argument #0 when calling: `f(a: Tensor([n], float32))`, expected dtype=float32, got float64",
};

/// Requires the dtype of the `DLTensor` at `view`, or binds or checks its variable; returns the
/// packed dtype.
pub fn require(cx: &mut Planner<'_>, path: &Path, view: Value, dtype: &TensorDType) -> Value {
    let actual = cx.b.load(view, dl_tensor::DTYPE);
    match dtype {
        TensorDType::Fixed(dtype) => require_any(cx, path, actual, &[*dtype]),
        TensorDType::Var(var, _) => {
            let binding = &cx.bindings().dtypes[var];
            if binding.path == path.text {
                require_any(cx, path, actual, &binding.allowed);
                let named = Named::new(actual, NamedKind::DType, &path.part(".dtype"));
                cx.define(named.called(var));
            } else {
                if cx.named(var).is_none() {
                    require_any(cx, path, actual, &binding.allowed);
                }
                cx.check_dtype(path, actual, var);
            }
        }
    }
    actual
}

fn require_any(cx: &mut Planner<'_>, path: &Path, actual: Value, allowed: &[DType]) {
    let cond = cx.b.eq_any(actual, allowed.iter().map(|dtype| dtype.packed().into()));
    let subject = path.location("Mismatched Tensor");
    let expected = format!("dtype={}", alternatives(allowed));
    cx.require(cond, INFO.complaint(subject, expected, Phrase::value(actual, Format::DType)));
}

/// `a`, `a or b`, `a, b or c`
pub(crate) fn alternatives(all: &[impl std::fmt::Display]) -> String {
    match all {
        [] => String::new(),
        [only] => only.to_string(),
        [first @ .., last] => format!("{} or {last}", crate::rule::join(first)),
    }
}
