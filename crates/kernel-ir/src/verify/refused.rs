// SPDX-License-Identifier: Apache-2.0
//! Whether a target has the rows that a kernel calls, and what else is done. Which it has, and of
//! what it needs them, is the target's to say; each that it refuses is told at its place.

use super::report::Report;
use crate::kernel::Kernel;
use crate::op::{Call, OpKind};
use kernpack_syntax::{Diagnostic, Diagnostics};

/// Checks that each row that a kernel calls can be had: `refused` says why a target cannot do a
/// call.
///
/// # Errors
/// Each call that is refused.
pub fn check_calls(
    kernel: &Kernel,
    refused: impl Fn(&Call) -> Option<Diagnostic>,
) -> Result<(), Diagnostics> {
    check_ops(kernel, |kind| match kind {
        OpKind::Call(call) => refused(call),
        _ => None,
    })
}

/// Checks that everything that a kernel does can be had: `refused` says why a target cannot do it.
///
/// # Errors
/// Each operation that is refused.
pub fn check_ops(
    kernel: &Kernel,
    refused: impl Fn(&OpKind) -> Option<Diagnostic>,
) -> Result<(), Diagnostics> {
    let mut report = Report::new(kernel);
    report.each_op(|report, op| {
        if let Some(problem) = refused(&op.kind) {
            report.push(op, problem, "");
        }
    });
    report.unless_wrong().map(|_| ())
}
