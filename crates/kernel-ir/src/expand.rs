// SPDX-License-Identifier: Apache-2.0
//! Puts functions in the place of calls that stand for them. What results of constants is computed
//! on the way.
//!
//! The kernel need not be verified: a call that its function does not fit is left, and the verifier
//! says what is wrong with it.

use crate::constant::Const;
use crate::eval;
use crate::function::Function;
use crate::intrinsic::Meaning;
use crate::kernel::{Kernel, Place, Slot, SlotData, Value, ValueData};
use crate::math;
use crate::op::{Call, Expr, Op, OpKind, Operand, Region};
use crate::types::{Scalar, Type};

/// Replaces each call of a row that is computed with other operations by these operations. Their
/// place is the call's.
pub fn expand(kernel: &mut Kernel) {
    let mut body = std::mem::take(&mut kernel.body);
    expand_region(kernel, &mut body);
    kernel.body = body;
}

fn expand_region(kernel: &mut Kernel, region: &mut Region) {
    for op in &mut region.0 {
        op.kind.regions_mut().for_each(|region| expand_region(kernel, region));
    }
    let calls = |op: &Op| matches!(&op.kind, OpKind::Call(call) if function_of(call).is_some());
    if !region.0.iter().any(calls) {
        return;
    }
    let mut ops = Vec::with_capacity(region.0.len());
    for op in region.0.drain(..) {
        match inlined(kernel, &op) {
            Some(body) => ops.extend(body.0),
            None => ops.push(op),
        }
    }
    region.0 = ops;
}

fn function_of(call: &Call) -> Option<&'static Function> {
    let Meaning::Expand(name) = call.intrinsic.meaning else { return None };
    math::find(name)
}

/// The operations that stand for an operation, if it is a call of a function.
fn inlined(kernel: &mut Kernel, op: &Op) -> Option<Region> {
    let (OpKind::Call(call), Some(result)) = (&op.kind, op.result) else { return None };
    let function = function_of(call)?;
    let operands = operands(kernel, call, function)?;
    let data = kernel.values.get(result.index())?;
    if data.ty != function.ty {
        return None;
    }
    let mut body = function.kernel.body.clone();
    Inliner::new(kernel, function, operands, result, op.place).rename(&mut body);
    Some(body)
}

/// The operands of a function, if it has the types for them.
fn operands(kernel: &Kernel, call: &Call, function: &Function) -> Option<Vec<Value>> {
    let params = &function.kernel.params;
    let values = call.operands.iter().map(|operand| match operand {
        Operand::Value(value) => Some(*value),
        Operand::Constant(_) | Operand::Word(_) | Operand::Local(_) => None,
    });
    let values: Vec<_> = values.collect::<Option<_>>()?;
    let fits = |(value, param): (&Value, &crate::kernel::Param)| {
        kernel.values.get(value.index()).is_some_and(|data| data.ty == param.kind.ty())
    };
    let all_fit = values.len() == params.len() && values.iter().zip(params).all(fits);
    all_fit.then_some(values)
}

/// Makes a copy of a function's body one of a kernel's.
struct Inliner<'k> {
    kernel: &'k mut Kernel,
    /// The kernel's values for the function's.
    values: Vec<Value>,
    /// The number of the first of its slots.
    first_slot: u32,
    place: Place,
}

impl<'k> Inliner<'k> {
    fn new(
        kernel: &'k mut Kernel,
        function: &Function,
        operands: Vec<Value>,
        result: Value,
        place: Place,
    ) -> Inliner<'k> {
        let inner = &function.kernel;
        let first_slot = kernel.slots.len() as u32;
        kernel.slots.extend(
            inner.slots.iter().map(|slot| SlotData {
                name: format!("{}.{}", inner.name, slot.name),
                ty: slot.ty,
            }),
        );
        let mut values = operands;
        for number in values.len()..inner.values.len() {
            let value = Value(number as u32);
            if value == function.gives {
                values.push(result);
                continue;
            }
            values.push(Value(kernel.values.len() as u32));
            kernel.values.push(ValueData { ty: inner.ty(value), constant: None });
        }
        Inliner { kernel, values, first_slot, place }
    }

    fn rename(&mut self, region: &mut Region) {
        for op in &mut region.0 {
            op.place = self.place;
            op.kind.uses_mut(&mut |value| *value = self.values[value.index()]);
            if let OpKind::For { index, .. } = &mut op.kind {
                *index = self.values[index.index()];
            }
            if let OpKind::Expr(Expr::Get(slot)) | OpKind::Set(slot, _) = &mut op.kind {
                *slot = Slot(slot.0 + self.first_slot);
            }
            op.kind.regions_mut().for_each(|region| self.rename(region));
            op.result = op.result.map(|result| self.values[result.index()]);
            self.fold(op);
        }
    }

    /// Makes a constant of an operation that gives the same at each run.
    fn fold(&mut self, op: &mut Op) {
        let Some(result) = op.result else { return };
        let known = Known(self.kernel);
        let constant = match &op.kind {
            OpKind::Expr(expr) => known.expr(expr, self.kernel.ty(result)),
            OpKind::Call(call) => known.call(call),
            OpKind::Store(_) | OpKind::InBounds { .. } | OpKind::Set(..) => None,
            OpKind::If { .. } | OpKind::For { .. } | OpKind::While { .. } => None,
            OpKind::Jump(_) | OpKind::Print(..) | OpKind::Assert(_) | OpKind::Asm(_) => None,
        };
        self.kernel.values[result.index()].constant = constant;
        if let Some(constant) = constant {
            op.kind = OpKind::Expr(Expr::Const(constant));
        }
    }
}

/// The constants among the results of a function's operations.
struct Known<'k>(&'k Kernel);

impl Known<'_> {
    /// The kernel's own operations need not be right, but those of functions are: whatever has the
    /// type that it says can be computed with.
    fn value(&self, value: Value) -> Option<Const> {
        let of_type = |known: &Const| self.0.ty(value) == Type::Scalar(known.scalar());
        self.0.constant(value).filter(of_type)
    }

    fn expr(&self, expr: &Expr, ty: Type) -> Option<Const> {
        match expr {
            Expr::Const(constant) => Some(*constant),
            Expr::Unary(op, value) => Some(eval::unary(*op, self.value(*value)?)),
            Expr::Binary(op, a, b) => Some(eval::binary(*op, self.value(*a)?, self.value(*b)?)),
            Expr::Compare(op, a, b) => {
                Some(Const::bool(eval::compare(*op, self.value(*a)?, self.value(*b)?)))
            }
            Expr::Select(condition, a, b) => {
                self.value(if self.value(*condition)?.as_bool()? { *a } else { *b })
            }
            Expr::Convert(value, rounding) => {
                Some(eval::convert(self.value(*value)?, only_scalar(ty)?, *rounding))
            }
            Expr::Bitcast(value) => {
                Some(Const::from_bits(only_scalar(ty)?, self.value(*value)?.bits()))
            }
            Expr::Vector(_) | Expr::Splat(_) | Expr::Extract(..) | Expr::Insert(..) => None,
            Expr::Shared(_) | Expr::Local(_) | Expr::Offset(..) => None,
            Expr::Load(_) | Expr::Get(_) => None,
        }
    }

    fn call(&self, call: &Call) -> Option<Const> {
        let Meaning::Pure(meaning) = call.intrinsic.meaning else { return None };
        let operands = call.operands.iter().map(|operand| match operand {
            Operand::Value(value) => self.value(*value),
            Operand::Constant(_) | Operand::Word(_) | Operand::Local(_) => None,
        });
        Some(meaning(&operands.collect::<Option<Vec<_>>>()?))
    }
}

const fn only_scalar(ty: Type) -> Option<Scalar> {
    match ty {
        Type::Scalar(scalar) => Some(scalar),
        Type::Vector(..) | Type::Pointer(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::{Item, parse};
    use expect_test::{Expect, expect};

    fn expect_expanded(text: &str, expected: Expect) {
        let items = parse(&text.into()).unwrap_or_else(|problems| panic!("{problems}"));
        let [Item::Kernel(kernel)] = &items[..] else { panic!("one kernel") };
        let mut kernel = kernel.clone();
        expand(&mut kernel);
        expected.assert_eq(&ends(&kernel.to_string()));
        let again = kernel.to_string();
        expand(&mut kernel);
        assert_eq!(kernel.to_string(), again, "nothing is left to expand");
    }

    /// The first and the last lines of a text.
    fn ends(text: &str) -> String {
        let lines: Vec<_> = text.split_inclusive('\n').collect();
        match &lines[..] {
            [first @ .., _, _, _, _, _] if first.len() > 6 => {
                let last = &lines[lines.len() - 5..];
                format!("{}...\n{}", lines[..6].concat(), last.concat())
            }
            _ => text.to_string(),
        }
    }

    #[test]
    fn calls_become_operations_at_their_place() {
        let text = "kernel k(v0 x: float32, v1 b: bool) {
            if v1 {
              v2: float32 = call rsqrt(v0)  @4:9
              v3: float32 = add v2, v2
            }
          }";
        expect_expanded(
            text,
            expect![[r#"
                kernel k(v0 x: float32, v1 b: bool) files "kernel.py" {
                  if v1 {
                    v4: float32 = const 1.1754944e-38  @4:9
                    v5: bool = lt v0, v4  @4:9
                    v6: float32 = const 16777216.0  @4:9
                    v7: float32 = mul v0, v6  @4:9
                ...
                    v47: float32 = const nan  @4:9
                    v2: float32 = select v46, v47, v45  @4:9
                    v3: float32 = add v2, v2
                  }
                }
            "#]],
        );
    }

    #[test]
    fn what_results_of_constants_is_computed() {
        let text = "kernel k() {
            v0: float32 = const 4.0
            v1: float32 = call rsqrt(v0)
          }";
        expect_expanded(
            text,
            expect![[r#"
                kernel k() {
                  v0: float32 = const 4.0
                  v2: float32 = const 1.1754944e-38
                  v3: bool = const false
                  v4: float32 = const 16777216.0
                  v5: float32 = const 67108864.0
                ...
                  v43: float32 = const 0.5
                  v44: bool = const false
                  v45: float32 = const nan
                  v1: float32 = const 0.5
                }
            "#]],
        );
    }

    #[test]
    fn a_call_that_its_function_does_not_fit_is_left() {
        let text = "kernel k(v0 x: float64) {
            v1: float64 = call rsqrt(v0)
            v2: float32 = call rsqrt(v0, v0)
            v3: float32 = call rsqrt(v9)
            call rsqrt(v0)
          }";
        expect_expanded(
            text,
            expect![[r#"
            kernel k(v0 x: float64) {
              v1: float64 = call rsqrt(v0)
              v2: float32 = call rsqrt(v0, v0)
              v3: float32 = call rsqrt(v9)
              call rsqrt(v0)
            }
        "#]],
        );
    }
}
