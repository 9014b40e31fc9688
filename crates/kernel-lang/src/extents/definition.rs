// SPDX-License-Identifier: Apache-2.0
//! Definitions of the values of a kernel, and the values that slots are made, wherever that stands.

use super::Given;
use super::relations::names_of;
use kernpack_kernel_ir::Kernel;
use kernpack_kernel_ir::intrinsic::{Geometry, Meaning};
use kernpack_kernel_ir::kernel::{Place, Slot, Value};
use kernpack_kernel_ir::op::{Expr, OpKind, Region};
use kernpack_validators::Expr as CallExpr;
use std::collections::BTreeSet;

/// The definition of a value.
#[derive(Clone, Copy, Debug)]
pub(super) enum Definition<'k> {
    /// A number that the kernel is passed, by its place among them.
    Given(usize),
    /// An expression.
    Expr(&'k Expr),
    /// Where a thread is.
    Geometry(Geometry),
    /// The index of a loop.
    Index,
    /// Anything else: what a row or assembly gives, an address.
    Other,
}

/// A value that a slot is made somewhere.
#[derive(Debug)]
pub(super) struct Put {
    /// The value.
    pub value: Value,
    /// The number of the innermost condition or loop around; 0 is none.
    pub control: usize,
}

/// A condition, or what a loop runs to, with what is around it.
#[derive(Debug)]
pub(super) struct Control {
    /// The values that decide.
    pub values: Vec<Value>,
    /// The number of the next one around.
    pub around: usize,
}

/// The definitions of a kernel.
#[derive(Debug)]
pub(super) struct Definitions<'k> {
    values: Vec<Definition<'k>>,
    places: Vec<Place>,
    /// Whether each value is a number of the call: the same for all threads of all its blocks.
    is_of_call: Vec<bool>,
    given: Vec<(CallExpr, BTreeSet<String>)>,
    puts: Vec<Vec<Put>>,
    controls: Vec<Control>,
}

impl<'k> Definitions<'k> {
    /// Finds them.
    pub fn of(kernel: &'k Kernel, given: &[Given<'_>]) -> Definitions<'k> {
        let n_values = kernel.values.len();
        let mut definitions = Definitions {
            values: vec![Definition::Other; n_values],
            places: vec![Place::NOWHERE; n_values],
            is_of_call: vec![false; n_values],
            given: given.iter().map(|one| (one.expr.clone(), names_of(one.expr))).collect(),
            puts: kernel.slots.iter().map(|_| Vec::new()).collect(),
            controls: vec![Control { values: vec![], around: 0 }],
        };
        for (number, one) in given.iter().enumerate() {
            definitions.values[one.value.index()] = Definition::Given(number);
            definitions.is_of_call[one.value.index()] = true;
        }
        definitions.region(&kernel.body, 0);
        definitions
    }

    fn region(&mut self, region: &'k Region, control: usize) {
        for op in &region.0 {
            if let Some(result) = op.result {
                self.places[result.index()] = op.place;
                self.define(result, &op.kind);
            }
            match &op.kind {
                OpKind::Set(slot, value) => {
                    self.puts[slot.index()].push(Put { value: *value, control });
                }
                OpKind::For { index, first, end, step, body } => {
                    self.values[index.index()] = Definition::Index;
                    let inner = self.control(vec![*first, *end, *step], control);
                    self.region(body, inner);
                }
                OpKind::While { before, condition, body } => {
                    self.region(before, control);
                    let inner = self.control(vec![*condition], control);
                    self.region(body, inner);
                }
                OpKind::If { condition, then, otherwise } => {
                    let inner = self.control(vec![*condition], control);
                    self.region(then, inner);
                    self.region(otherwise, inner);
                }
                OpKind::Expr(_) | OpKind::Store(_) | OpKind::InBounds { .. } => {}
                OpKind::Jump(_) | OpKind::Call(_) => {}
                OpKind::Print(..) | OpKind::Assert(_) | OpKind::Asm(_) => {}
            }
        }
    }

    fn control(&mut self, values: Vec<Value>, around: usize) -> usize {
        self.controls.push(Control { values, around });
        self.controls.len() - 1
    }

    fn define(&mut self, result: Value, kind: &'k OpKind) {
        self.values[result.index()] = match kind {
            OpKind::Expr(expr) => {
                self.is_of_call[result.index()] = self.computes_of_call(expr);
                Definition::Expr(expr)
            }
            OpKind::Call(call) => match call.intrinsic.meaning {
                Meaning::Geometry(geometry) => Definition::Geometry(geometry),
                _ => Definition::Other,
            },
            _ => Definition::Other,
        };
    }

    fn computes_of_call(&self, expr: &Expr) -> bool {
        let mut are_of_call = true;
        expr.uses(&mut |value| are_of_call &= self.is_of_call(*value));
        match expr {
            Expr::Const(_) => true,
            Expr::Unary(..) | Expr::Binary(..) | Expr::Compare(..) => are_of_call,
            Expr::Select(..) | Expr::Convert(..) => are_of_call,
            Expr::Bitcast(_) | Expr::Vector(_) | Expr::Splat(_) => false,
            Expr::Extract(..) | Expr::Insert(..) | Expr::Shared(_) | Expr::Local(_) => false,
            Expr::Offset(..) | Expr::Load(_) | Expr::Get(_) => false,
        }
    }

    /// The definition of a value.
    pub fn get(&self, value: Value) -> Definition<'k> {
        self.values[value.index()]
    }

    /// The expression that defines a value, if one does.
    pub fn expr(&self, value: Value) -> Option<&'k Expr> {
        match self.get(value) {
            Definition::Expr(expr) => Some(expr),
            Definition::Given(_)
            | Definition::Geometry(_)
            | Definition::Index
            | Definition::Other => None,
        }
    }

    /// Where a value is computed.
    pub fn place(&self, value: Value) -> Place {
        self.places[value.index()]
    }

    /// Whether a value is a number of the call.
    pub fn is_of_call(&self, value: Value) -> bool {
        self.is_of_call[value.index()]
    }

    /// A number that the kernel is passed, and its names.
    pub fn given(&self, number: usize) -> &(CallExpr, BTreeSet<String>) {
        &self.given[number]
    }

    /// The values that a slot is made, anywhere.
    pub fn puts(&self, slot: Slot) -> &[Put] {
        &self.puts[slot.index()]
    }

    /// A condition or loop.
    pub fn control_at(&self, number: usize) -> &Control {
        &self.controls[number]
    }
}
