// SPDX-License-Identifier: Apache-2.0
//! What makes a plan well formed. A failure is a bug of kernpack's, never the user's. The rules:
//!
//! 1. An operand has a smaller number than the expression it stands in: expressions are acyclic.
//! 2. Operands have the types their operation wants: conditions are bools, everything else is an integer; a `select`'s branches agree;
//!    what rounds a float rounds it to `float16`, `bfloat16` or `float32`.
//! 3. A value that a `when` yields is used only behind that step, in its block or inside it.
//! 4. A value is yielded once, by an expression made for it, and has the types of both its sources.
//! 5. A fault has at most [`MAX_VALUES`] values and [`MAX_PARTS`] parts.
//! 6. What is known of the device is used behind the step that asks, which stands in no `when` and no `repeat`.
//! 7. What a `repeat` gives its steps is given by that step alone, by expressions made for it, and used only inside it. What it hands on has one
//!    type throughout. No step inside it asks about the device.
//! 8. Launches, allocations and the device use only values that hold at the end of the plan. The status of a host function is a value made for it,
//!    which only its own fault may use.

use super::{Alloc, Device, Expr, Plan, Repeat, Status, Step, Type, Value, When};
use crate::fault::Fault;
use kernpack_ffi_abi::DType;
use std::collections::HashSet;
use std::fmt;

/// The most values that a fault may print.
pub const MAX_VALUES: usize = 32;
/// The most pieces that a fault may have.
pub const MAX_PARTS: usize = 64;

/// A rule that a plan breaks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VerifyError {
    /// The value in question.
    pub value: Value,
    /// What is wrong with it.
    pub message: String,
}

impl fmt::Display for VerifyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "malformed plan: {:?}: {}", self.value, self.message)
    }
}

impl std::error::Error for VerifyError {}

impl Plan {
    /// Checks the rules that this module opens with.
    pub fn verify(&self) -> Result<(), VerifyError> {
        for number in 0..self.exprs.len() {
            self.verify_expr(Value(number as u32))?;
        }
        let (defined, turns) = (HashSet::new(), HashSet::new());
        let mut scope = Scope { plan: self, defined, turns, depth: 0 };
        scope.block(&self.steps)?;
        scope.end()
    }

    fn verify_expr(&self, value: Value) -> Result<(), VerifyError> {
        let expr = self.expr(value);
        if expr.operands().iter().any(|operand| operand >= &value) {
            return Err(error(value, "uses itself"));
        }
        if let Expr::Rounded(_, dtype) = expr
            && ![DType::FLOAT16, DType::BFLOAT16, DType::FLOAT32].contains(dtype)
        {
            return Err(error(value, "rounds to no narrower float"));
        }
        let wanted = match expr {
            Expr::And(..) | Expr::Or(..) | Expr::Not(_) => vec![Type::Bool; 2],
            Expr::Select(_, a, _) => vec![Type::Bool, self.type_of(*a), self.type_of(*a)],
            _ => vec![Type::Int; 2],
        };
        let fits = expr.operands().iter().zip(wanted).all(|(v, ty)| self.type_of(*v) == ty);
        if fits { Ok(()) } else { Err(error(value, "has an operand of another type")) }
    }
}

fn error(value: Value, message: impl Into<String>) -> VerifyError {
    VerifyError { value, message: message.into() }
}

fn size_of_fault(fault: &Fault, of: Value) -> Result<(), VerifyError> {
    match fault.values().count() > MAX_VALUES || fault.parts.len() > MAX_PARTS {
        true => Err(error(of, "has a fault with too many parts")),
        false => Ok(()),
    }
}

struct Scope<'p> {
    plan: &'p Plan,
    /// What has been yielded or given so far, and the device once it has been asked about.
    defined: HashSet<Value>,
    /// What any `repeat` has given so far.
    turns: HashSet<Value>,
    /// How many `when`s and `repeat`s are around.
    depth: usize,
}

impl Scope<'_> {
    fn block(&mut self, steps: &[Step]) -> Result<(), VerifyError> {
        for step in steps {
            match step {
                Step::Let(_, value) => self.uses(*value)?,
                Step::Require(cond, fault) => {
                    self.uses_as(*cond, Type::Bool)?;
                    self.fault(fault, *cond)?;
                }
                Step::When(when) => self.when(when)?,
                Step::Repeat(repeat) => self.repeat(repeat)?,
                Step::AskDevice => {
                    self.device()?;
                    if self.depth > 0 {
                        let index = self.plan.device.index;
                        return Err(error(index, "is asked about under a condition"));
                    }
                    let is_device = |expr: &Expr| *expr == Expr::Device;
                    let device = self.plan.exprs.iter().position(is_device);
                    self.defined.extend(device.map(|number| Value(number as u32)));
                }
            }
        }
        Ok(())
    }

    fn when(&mut self, when: &When) -> Result<(), VerifyError> {
        self.uses_as(when.cond, Type::Bool)?;
        let outside = self.defined.clone();
        self.depth += 1;
        self.block(&when.steps)?;
        self.depth -= 1;
        when.yields.iter().try_for_each(|yielded| self.uses(yielded.inner))?;
        self.defined = outside;
        for yielded in &when.yields {
            let Expr::Yield(ty, _) = *self.plan.expr(yielded.outer) else {
                return Err(error(yielded.outer, "is no expression for a yielded value"));
            };
            self.uses_as(yielded.otherwise, ty)?;
            if self.plan.type_of(yielded.inner) != ty || !self.defined.insert(yielded.outer) {
                return Err(error(yielded.outer, "is yielded twice, or with two types"));
            }
        }
        Ok(())
    }

    fn repeat(&mut self, repeat: &Repeat) -> Result<(), VerifyError> {
        self.uses_as(repeat.count, Type::Int)?;
        repeat.carried.iter().try_for_each(|carried| self.uses(carried.first))?;
        let outside = self.defined.clone();
        self.give(repeat.turn, Type::Int)?;
        for carried in &repeat.carried {
            self.give(carried.inner, self.plan.type_of(carried.first))?;
        }
        self.depth += 1;
        self.block(&repeat.steps)?;
        self.depth -= 1;
        for carried in &repeat.carried {
            self.uses_as(carried.next, self.plan.type_of(carried.first))?;
        }
        self.defined = outside;
        for carried in &repeat.carried {
            let ty = self.plan.type_of(carried.first);
            let is_made_for_it =
                matches!(self.plan.expr(carried.outer), Expr::Yield(of, _) if *of == ty);
            if !is_made_for_it || !self.defined.insert(carried.outer) {
                return Err(error(carried.outer, "is handed on twice, or with two types"));
            }
        }
        Ok(())
    }

    /// A value that a `repeat` gives its steps.
    fn give(&mut self, value: Value, ty: Type) -> Result<(), VerifyError> {
        let is_made_for_it = matches!(self.plan.expr(value), Expr::Turn(of, _) if *of == ty);
        if !is_made_for_it || !self.turns.insert(value) {
            return Err(error(value, "is given by two steps, or with two types"));
        }
        self.defined.insert(value);
        Ok(())
    }

    fn end(&self) -> Result<(), VerifyError> {
        let plan = self.plan;
        self.device()?;
        plan.results.iter().chain(&plan.workspaces).try_for_each(|alloc| self.alloc(alloc))?;
        let mut statuses = HashSet::new();
        for launch in &plan.launches {
            launch.cond.map_or(Ok(()), |cond| self.uses_as(cond, Type::Bool))?;
            let mut values = Vec::new();
            launch.for_each_value(&mut |value| values.push(value));
            values.into_iter().try_for_each(|value| self.uses_as(value, Type::Int))?;
            launch.status().map_or(Ok(()), |status| self.status(status, &mut statuses))?;
        }
        plan.combinations.index.map_or(Ok(()), |index| self.uses_as(index, Type::Int))
    }

    /// `seen` are the statuses of the launches before.
    fn status(&self, status: &Status, seen: &mut HashSet<Value>) -> Result<(), VerifyError> {
        let Status { value, fault } = status;
        let is_made_for_it = matches!(self.plan.expr(*value), Expr::Yield(Type::Int, _));
        if !is_made_for_it || self.defined.contains(value) || !seen.insert(*value) {
            return Err(error(*value, "is no value made for this status"));
        }
        size_of_fault(fault, *value)
    }

    fn fault(&self, fault: &Fault, of: Value) -> Result<(), VerifyError> {
        fault.values().try_for_each(|value| self.uses_as(value, Type::Int))?;
        size_of_fault(fault, of)
    }

    fn device(&self) -> Result<(), VerifyError> {
        let Device { kind, index, is_told } = self.plan.device;
        self.uses_as(kind, Type::Int)?;
        self.uses_as(index, Type::Int)?;
        self.uses_as(is_told, Type::Bool)
    }

    fn alloc(&self, alloc: &Alloc) -> Result<(), VerifyError> {
        self.uses_as(alloc.dtype, Type::Int)?;
        self.uses_as(alloc.bytes, Type::Int)?;
        alloc.dims.iter().try_for_each(|dim| self.uses_as(*dim, Type::Int))
    }

    fn uses_as(&self, value: Value, ty: Type) -> Result<(), VerifyError> {
        if self.plan.type_of(value) != ty {
            return Err(error(value, format!("is used as {ty:?}")));
        }
        self.uses(value)
    }

    /// Checks every value of a step's that `value` is made of.
    fn uses(&self, value: Value) -> Result<(), VerifyError> {
        let mut seen = HashSet::from([value]);
        let mut open = vec![value];
        while let Some(value) = open.pop() {
            let expr = self.plan.expr(value);
            let is_defined_by_a_step =
                matches!(expr, Expr::Yield(..) | Expr::Turn(..) | Expr::Device);
            if is_defined_by_a_step && !self.defined.contains(&value) {
                return Err(error(value, "is used where no step has defined it"));
            }
            open.extend(expr.operands().into_iter().filter(|operand| seen.insert(*operand)));
        }
        Ok(())
    }
}
