// SPDX-License-Identifier: Apache-2.0
//! Rules of names and structure: what is used exists, and is known where it is used; jumps stand
//! where they can.

use super::report::Report;
use crate::kernel::{Kernel, Local, Value};
use crate::op::{Expr, Jump, Op, OpKind, Operand, Region};
use crate::text::MAX_DEPTH;

/// The state of a value at some point.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// Nothing has defined it yet.
    Unseen,
    /// It can be used.
    Known,
    /// It was defined in a region that is closed.
    Gone,
}

/// Which jumps can stand somewhere.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Jumps {
    /// `return`.
    Outside,
    /// All.
    Loop,
    /// None: where the condition of a `while` is computed.
    Condition,
}

struct Scope<'r, 'k> {
    report: &'r mut Report<'k>,
    values: Vec<State>,
    depth: usize,
}

pub(super) fn verify(report: &mut Report<'_>) {
    let kernel = report.kernel;
    let mut values = vec![State::Unseen; kernel.values.len()];
    let n_params = kernel.params.len().min(values.len());
    values[..n_params].fill(State::Known);
    let mut scope = Scope { report, values, depth: 0 };
    let defined = scope.region(&kernel.body, Jumps::Outside);
    scope.close(defined);
}

impl Scope<'_, '_> {
    /// Gives the values that the region defines, which are known until they are closed.
    fn region(&mut self, region: &Region, jumps: Jumps) -> Vec<Value> {
        let mut defined = Vec::new();
        if self.depth >= MAX_DEPTH {
            if let Some(op) = region.0.first() {
                let message = format!("regions nest more than {MAX_DEPTH} deep");
                self.report.malformed_op(op, message);
            }
            return defined;
        }
        self.depth += 1;
        for (place, op) in region.0.iter().enumerate() {
            if op.is_jump() && place + 1 < region.0.len() {
                self.report.malformed_op(op, "something stands behind a jump");
            }
            self.op(op, jumps);
            if let Some(result) = op.result {
                self.define(op, result, &mut defined);
            }
        }
        self.depth -= 1;
        defined
    }

    fn op(&mut self, op: &Op, jumps: Jumps) {
        if op.place.index() >= self.report.kernel.places.len() {
            self.report.malformed_op(op, "the operation has no place");
        }
        if let Some(name) = missing(self.report.kernel, &op.kind) {
            self.report.malformed_op(op, format!("`{name}` does not exist"));
        }
        let mut defined = Vec::new();
        if let OpKind::While { before, condition, body } = &op.kind {
            defined.extend(self.region(before, Jumps::Condition));
            self.value(op, *condition);
            defined.extend(self.region(body, Jumps::Loop));
            return self.close(defined);
        }
        op.kind.uses(&mut |value| self.value(op, *value));
        self.jump(op, jumps);
        let mut inner = jumps;
        if let OpKind::For { index, .. } = &op.kind {
            self.define(op, *index, &mut defined);
            inner = Jumps::Loop;
        }
        for region in op.kind.regions() {
            let known = self.region(region, inner);
            self.close(known);
        }
        self.close(defined);
    }

    fn value(&mut self, op: &Op, value: Value) {
        let problem = match self.values.get(value.index()) {
            Some(State::Known) => return,
            Some(State::Unseen) => "used before it is defined",
            Some(State::Gone) => "used outside its region",
            None => "used and does not exist",
        };
        self.report.malformed_op(op, format!("`{value}` is {problem}"));
    }

    fn define(&mut self, op: &Op, value: Value, defined: &mut Vec<Value>) {
        match self.values.get_mut(value.index()) {
            Some(state @ State::Unseen) => {
                *state = State::Known;
                defined.push(value);
            }
            Some(State::Known | State::Gone) => {
                self.report.malformed_op(op, format!("`{value}` is defined twice"));
            }
            None => self.report.malformed_op(op, format!("`{value}` does not exist")),
        }
    }

    fn close(&mut self, defined: Vec<Value>) {
        for value in defined {
            self.values[value.index()] = State::Gone;
        }
    }

    fn jump(&mut self, op: &Op, jumps: Jumps) {
        let OpKind::Jump(jump) = op.kind else { return };
        let message = match (jumps, jump) {
            (Jumps::Outside, Jump::Break | Jump::Continue) => "a jump out of a loop stands in none",
            (Jumps::Condition, _) => "a jump stands in the condition of a loop",
            (Jumps::Outside, Jump::Return) | (Jumps::Loop, _) => return,
        };
        self.report.malformed_op(op, message);
    }
}

/// The slot or array that an operation names and that does not exist.
fn missing(kernel: &Kernel, kind: &OpKind) -> Option<String> {
    let is_local = |local: &Local| local.index() < kernel.locals.len();
    if let OpKind::Expr(Expr::Get(slot)) | OpKind::Set(slot, _) = kind {
        return (slot.index() >= kernel.slots.len()).then(|| slot.to_string());
    }
    if let OpKind::Expr(Expr::Shared(shared)) = kind {
        return (shared.index() >= kernel.shared.len()).then(|| shared.to_string());
    }
    if let OpKind::Expr(Expr::Local(local)) = kind {
        return (!is_local(local)).then(|| local.to_string());
    }
    if let OpKind::Asm(asm) = kind {
        let mut results = asm.results.iter();
        return results.find(|slot| slot.index() >= kernel.slots.len()).map(ToString::to_string);
    }
    let OpKind::Call(call) = kind else { return None };
    call.operands.iter().find_map(|operand| match operand {
        Operand::Local(local) => (!is_local(local)).then(|| local.to_string()),
        Operand::Value(_) | Operand::Constant(_) | Operand::Word(_) => None,
    })
}
