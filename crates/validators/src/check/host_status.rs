// SPDX-License-Identifier: Apache-2.0
//! A host function that returns an int returned 0.

use super::Info;
use crate::fault::{Fault, Format, Part};
use crate::plan::Value;
use kernpack_ffi_abi::ErrorKind;

/// The check.
pub const INFO: Info = Info {
    name: "host-status",
    kind: ErrorKind::RuntimeError,
    doc: "A host function declared to return an int returned 0. Any other value is the function's own way to say that it failed.",
    example: "Function `norm_f32` failed when calling: `f(x: Tensor([n], float32))`, expected status 0, got 3",
};

/// The fault of `symbol`, for a function with that short signature. Its one value is the status.
pub fn fault(symbol: &str, signature: &str) -> Fault {
    let subject = format!("Function `{symbol}` failed");
    let complaint = INFO.complaint(subject, "status 0", "");
    let mut fault = complaint.into_fault(signature);
    fault.parts.push(Part::Value(Value(0), Format::Int));
    fault
}
