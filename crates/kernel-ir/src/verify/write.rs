// SPDX-License-Identifier: Apache-2.0
//! Stores go where they may: addresses are followed from parameters through offsets,
//! selections and slots to where something is stored.

use super::report::Report;
use crate::intrinsic::{AtomicOp, BulkOp, Meaning};
use crate::kernel::{ParamKind, Value};
use crate::op::{Call, Expr, OpKind, Operand, Region};
use kernpack_syntax::Diagnostic;

/// A parameter that is not written, if an address may have come from one.
type Origin = Option<u32>;

struct Origins {
    values: Vec<Origin>,
    slots: Vec<Origin>,
    has_changed: bool,
}

pub(super) fn verify(report: &mut Report<'_>) {
    let kernel = report.kernel;
    let mut values = vec![None; kernel.values.len()];
    for (number, param) in kernel.params.iter().enumerate() {
        values[number] = match &param.kind {
            ParamKind::Pointer(pointer) if !pointer.is_written => Some(number as u32),
            ParamKind::Map(map) if !map.is_written => Some(number as u32),
            ParamKind::Pointer(_) | ParamKind::Map(_) | ParamKind::Scalar(..) => None,
        };
    }
    let slots = vec![None; kernel.slots.len()];
    let mut origins = Origins { values, slots, has_changed: true };
    // A slot that a loop sets holds it at the loop's beginning too.
    while std::mem::take(&mut origins.has_changed) {
        origins.region(&kernel.body);
    }
    report.each_op(|report, op| {
        let origin = written(&op.kind).and_then(|pointer| origins.values[pointer.index()]);
        let Some(param) = origin.and_then(|number| kernel.params.get(number as usize)) else {
            return;
        };
        let name = &param.name;
        let problem =
            Diagnostic::new("read-only", format!("`{name}` is written, and is not `mut`"))
                .help(format!("write `mut` behind the dtype of `{name}` in the signature"));
        report.push(op, problem, "written here");
    });
}

/// The address that an operation writes to.
fn written(kind: &OpKind) -> Option<Value> {
    if let OpKind::Store(store) = kind {
        return Some(store.pointer);
    }
    let OpKind::Call(Call { intrinsic, operands }) = kind else { return None };
    match (intrinsic.meaning, operands.first()) {
        (Meaning::Atomic(AtomicOp::Load), _) => None,
        (
            Meaning::Atomic(_)
            | Meaning::Bulk(BulkOp::Store | BulkOp::StoreBox | BulkOp::ReduceBox),
            Some(Operand::Value(pointer)),
        ) => Some(*pointer),
        _ => None,
    }
}

impl Origins {
    fn region(&mut self, region: &Region) {
        for op in &region.0 {
            op.kind.regions().for_each(|region| self.region(region));
            if let OpKind::Set(slot, value) = &op.kind {
                let origin = self.values[value.index()];
                let slot = &mut self.slots[slot.index()];
                self.has_changed |= slot.is_none() && origin.is_some();
                *slot = slot.or(origin);
            }
            if let (Some(result), OpKind::Expr(expr)) = (op.result, &op.kind) {
                self.values[result.index()] = self.origin(expr);
            }
        }
    }

    fn origin(&self, expr: &Expr) -> Origin {
        let of = |value: &Value| self.values[value.index()];
        if let Expr::Offset(pointer, _) = expr {
            return of(pointer);
        }
        if let Expr::Select(_, a, b) = expr {
            return of(a).or(of(b));
        }
        if let Expr::Get(slot) = expr {
            return self.slots[slot.index()];
        }
        None
    }
}
