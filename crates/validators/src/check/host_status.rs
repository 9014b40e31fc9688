// SPDX-License-Identifier: Apache-2.0
//! A host function that returns an int returned 0.

use super::Info;
use crate::fault::{Format, Phrase};
use crate::kernel_name::{KernelName, NamePiece};
use crate::plan::Status;
use crate::planner::Planner;
use kernpack_ffi_abi::ErrorKind;

/// The check.
pub const INFO: Info = Info {
    name: "host-status",
    kind: ErrorKind::RuntimeError,
    doc: "A host function declared to return an int returned 0. Any other value is the function's own way to say that it failed.",
    example: "Function `norm_f32` failed when calling: `f(x: Tensor([n], float32))`, expected status 0, got 3",
};

/// The status of the function of that name, whose variables all have a dtype.
pub fn status(cx: &mut Planner<'_>, name: &KernelName) -> Status {
    let value = cx.b.status();
    let mut subject = Phrase::text("Function `");
    for piece in name.pieces() {
        subject = match piece {
            NamePiece::Text(text) => subject.and(text),
            NamePiece::DType(var, _) => {
                let named = cx.named(var).expect("a dtype variable has a value");
                subject.and_value(named.value, Format::DType)
            }
        };
    }
    let subject = subject.and("` failed");
    let got = Phrase::value(value, Format::Int);
    Status { value, fault: INFO.complaint(subject, "status 0", got).into_fault() }
}
