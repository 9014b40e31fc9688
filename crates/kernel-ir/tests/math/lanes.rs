// SPDX-License-Identifier: Apache-2.0
//! Runs a function for many arguments side by side, operation by operation. [`machine`] says what
//! an operation gives.

use crate::machine;
use kernpack_kernel_ir::kernel::{Kernel, Value};
use kernpack_kernel_ir::op::{Expr, Op, OpKind, Region};
use kernpack_kernel_ir::{Const, Function, Scalar, Type};

/// The values of one type that a value has, one for each argument.
#[derive(Clone, Debug, PartialEq)]
pub enum Lanes {
    Bool(Vec<bool>),
    Word(Vec<u32>),
    Long(Vec<u64>),
}

impl Lanes {
    pub fn splat(constant: Const, count: usize) -> Lanes {
        match constant.scalar().bits() {
            _ if constant.scalar() == Scalar::Bool => {
                Lanes::Bool(vec![constant.bits() == 1; count])
            }
            64 => Lanes::Long(vec![constant.bits(); count]),
            _ => Lanes::Word(vec![constant.bits() as u32; count]),
        }
    }

    pub fn bools(&self) -> &[bool] {
        let Lanes::Bool(lanes) = self else { panic!("no truth values: {self:?}") };
        lanes
    }

    pub fn words(&self) -> &[u32] {
        let Lanes::Word(lanes) = self else { panic!("not of 32 bits: {self:?}") };
        lanes
    }

    pub fn longs(&self) -> &[u64] {
        let Lanes::Long(lanes) = self else { panic!("not of 64 bits: {self:?}") };
        lanes
    }

    fn set(&mut self, from: &Lanes, active: &[bool]) {
        fn each<T: Copy>(to: &mut [T], from: &[T], active: &[bool]) {
            for ((to, from), active) in to.iter_mut().zip(from).zip(active) {
                *to = if *active { *from } else { *to };
            }
        }
        match self {
            Lanes::Bool(to) => each(to, from.bools(), active),
            Lanes::Word(to) => each(to, from.words(), active),
            Lanes::Long(to) => each(to, from.longs(), active),
        }
    }
}

/// The results of a function for these arguments.
pub fn run(function: &Function, arguments: Vec<Lanes>) -> Lanes {
    let kernel = &function.kernel;
    let count = arguments[0].words().len();
    let mut values: Vec<_> = arguments.into_iter().map(Some).collect();
    values.resize(kernel.values.len(), None);
    let slots = vec![None; kernel.slots.len()];
    let mut run = Run { kernel, values, slots };
    run.region(&kernel.body, &vec![true; count]);
    run.values.swap_remove(function.gives.index()).expect("the body defines it")
}

struct Run<'r> {
    kernel: &'r Kernel,
    values: Vec<Option<Lanes>>,
    slots: Vec<Option<Lanes>>,
}

impl Run<'_> {
    fn region(&mut self, region: &Region, active: &[bool]) {
        for op in &region.0 {
            if let Some(lanes) = self.op(op, active) {
                let result = op.result.expect("what gives lanes has a result");
                self.values[result.index()] = Some(lanes);
            }
        }
    }

    fn op(&mut self, op: &Op, active: &[bool]) -> Option<Lanes> {
        match &op.kind {
            OpKind::Expr(Expr::Const(constant)) => Some(Lanes::splat(*constant, active.len())),
            OpKind::Expr(Expr::Get(slot)) => self.slots[slot.index()].clone(),
            OpKind::Set(slot, value) => {
                let lanes = self.values[value.index()].clone().expect("it is defined");
                match &mut self.slots[slot.index()] {
                    Some(slot) => slot.set(&lanes, active),
                    slot => *slot = Some(lanes),
                }
                None
            }
            OpKind::If { condition, then, otherwise } => {
                let holds = self.lanes(*condition).bools().to_vec();
                self.branch(then, active, |lane| holds[lane]);
                self.branch(otherwise, active, |lane| !holds[lane]);
                None
            }
            kind => Some(self.compute(kind, op.result?)),
        }
    }

    /// Runs a region for the lanes that take it, if there are any.
    fn branch(&mut self, region: &Region, active: &[bool], takes: impl Fn(usize) -> bool) {
        let taken: Vec<_> = (0..active.len()).map(|lane| active[lane] && takes(lane)).collect();
        if taken.contains(&true) {
            self.region(region, &taken);
        }
    }

    fn compute(&self, kind: &OpKind, result: Value) -> Lanes {
        let mut used = Vec::new();
        kind.uses(&mut |value| used.push(*value));
        let from: Vec<_> = used.iter().map(|value| self.scalar(*value)).collect();
        let operands: Vec<_> = used.iter().map(|value| self.lanes(*value)).collect();
        machine::apply(kind, self.scalar(result), &from, &operands)
    }

    fn lanes(&self, value: Value) -> &Lanes {
        self.values[value.index()].as_ref().expect("it is defined")
    }

    fn scalar(&self, value: Value) -> Scalar {
        let Type::Scalar(scalar) = self.kernel.ty(value) else { panic!("`{value}` is no number") };
        scalar
    }
}
