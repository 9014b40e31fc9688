// SPDX-License-Identifier: Apache-2.0
//! Whether a target has the rows that a kernel calls. Which ones it has, and of what it needs them,
//! is the target's to say; each call that it refuses is told at its place.

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
    let mut report = Report::new(kernel);
    report.each_op(|report, op| {
        let OpKind::Call(call) = &op.kind else { return };
        if let Some(problem) = refused(call) {
            report.push(op, problem, "");
        }
    });
    report.unless_wrong().map(|_| ())
}
