// SPDX-License-Identifier: Apache-2.0
//! Whether a target has the rows that a kernel calls, and what else is done. Which it has, and of
//! what it needs them, is the target's to say; each that it refuses is told at its place.

use super::report::Report;
use crate::kernel::Kernel;
use crate::op::{Call, Op, OpKind};
use kernpack_syntax::{Diagnostic, Diagnostics};
use std::cmp::Reverse;

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

/// The same, with one error for all calls that are refused: of the first that lacks most, by the
/// order of what `lacks` says. The others are named.
///
/// # Errors
/// That one.
pub fn check_calls_together<L: Ord + Copy>(
    kernel: &Kernel,
    lacks: impl Fn(&Call) -> Option<L>,
    problem: impl Fn(&Call, L) -> Diagnostic,
) -> Result<(), Diagnostics> {
    let (mut report, mut refused) = (Report::new(kernel), Vec::new());
    report.each_op(|_, op| {
        if let OpKind::Call(call) = &op.kind
            && let Some(lack) = lacks(call)
        {
            refused.push((op, call, lack));
        }
    });
    refused.sort_by_key(|(.., lack)| Reverse(*lack));
    if let Some((op, call, lack)) = refused.first() {
        let ops: Vec<&Op> = refused.iter().map(|(op, ..)| *op).collect();
        let mut problem = problem(call, *lack);
        if let Some(others) = report.others(&ops) {
            problem = problem.detail(format!("nor is there {others}"));
        }
        report.push(op, problem, "");
    }
    report.unless_wrong().map(|_| ())
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
