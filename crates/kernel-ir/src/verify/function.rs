// SPDX-License-Identifier: Apache-2.0
//! Rules of functions, beyond those of kernels: they take numbers and give one, and do nothing
//! else.

use super::report::Report;
use super::verify;
use crate::function::Function;
use crate::kernel::ParamKind;
use crate::op::{Expr, Jump, OpKind};
use kernpack_syntax::Diagnostics;

/// Checks the rules of kernels, and these: a function has numbers for parameters and no memory. It
/// does not return, touches nothing, and asks for nothing that threads differ in. What it gives is
/// the result of an operation of its body that stands in no region, and has its type.
///
/// # Errors
/// All that is wrong.
pub fn verify_function(function: &Function) -> Result<(), Diagnostics> {
    let kernel = &function.kernel;
    verify(kernel)?;
    let mut report = Report::new(kernel);
    let takes_address =
        |kind: &ParamKind| matches!(kind, ParamKind::Pointer(_) | ParamKind::Map(_));
    if kernel.params.iter().any(|param| takes_address(&param.kind)) {
        report.malformed("a function takes numbers");
    }
    if !kernel.shared.is_empty() || !kernel.locals.is_empty() {
        report.malformed("a function has no memory");
    }
    let mut gives = kernel.body.0.iter().filter(|op| op.result == Some(function.gives));
    if gives.next().is_none() || kernel.ty(function.gives) != function.ty {
        report.malformed(format!("`{}` is no {} of its body", function.gives, function.ty));
    }
    report.each_op(|report, op| {
        if !computes(&op.kind) {
            report.malformed_op(op, "a function only computes");
        }
    });
    report.unless_wrong().map(|_| ())
}

fn computes(kind: &OpKind) -> bool {
    match kind {
        OpKind::Call(call) => call.intrinsic.computes(),
        OpKind::Expr(expr) => !is_of_memory(expr),
        OpKind::Set(..)
        | OpKind::If { .. }
        | OpKind::For { .. }
        | OpKind::While { .. }
        | OpKind::Jump(Jump::Break | Jump::Continue) => true,
        OpKind::Store(_)
        | OpKind::InBounds { .. }
        | OpKind::Jump(Jump::Return)
        | OpKind::Print(..)
        | OpKind::Assert(_)
        | OpKind::Asm(_) => false,
    }
}

const fn is_of_memory(expr: &Expr) -> bool {
    matches!(expr, Expr::Shared(_) | Expr::Local(_) | Expr::Offset(..) | Expr::Load(_))
}
