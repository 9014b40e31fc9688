// SPDX-License-Identifier: Apache-2.0
//! Whether a GPU has what a kernel's rows need. LLVM aborts the process where it is asked for what
//! an architecture has not, so that nothing is lowered before this is known.

use super::report::Report;
use crate::kernel::Kernel;
use crate::op::OpKind;
use kernpack_machine::PtxVersion;
use kernpack_syntax::{Diagnostic, Diagnostics};

/// Checks that each row that a kernel calls can be had: `sm` is a compute capability, 90 for
/// `sm_90`, and `ptx` a version of PTX, 80 for PTX 8.0.
///
/// # Errors
/// Each call of a row that needs more.
pub fn check_needs(kernel: &Kernel, sm: u32, ptx: u32) -> Result<(), Diagnostics> {
    let mut report = Report::new(kernel);
    report.each_op(|report, op| {
        let OpKind::Call(call) = &op.kind else { return };
        let (name, needs) = (call.intrinsic.name, call.needs());
        if needs.sm > sm {
            let message = format!("`{name}` needs sm_{}, and code is made for sm_{sm}", needs.sm);
            let help = format!("build for sm_{} or newer alone, or do without it", needs.sm);
            report.push(op, Diagnostic::new("kernel-arch", message).help(help), "");
        } else if needs.ptx > ptx {
            let (least, has) = (PtxVersion::of_number(needs.ptx), PtxVersion::of_number(ptx));
            let message = format!("`{name}` needs PTX {least}, and code is made for PTX {has}");
            report.push(op, Diagnostic::new("kernel-arch", message), "");
        }
    });
    report.unless_wrong().map(|_| ())
}
