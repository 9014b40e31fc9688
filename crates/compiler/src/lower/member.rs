// SPDX-License-Identifier: Apache-2.0
//! Conditions that a value is one of some constants, as one comparison without a branch.

use super::function::FunctionBuilder;
use kernpack_codegen::llvm::{Operation, Predicate, Ty, V};
use kernpack_ffi_abi::Width;
use kernpack_validators::plan::{Compare, Expr, Value};

/// That a value is one of some constants.
#[derive(Clone, Copy)]
pub enum Membership {
    /// From the first to the last.
    Range(Value, i64, i64),
    /// Either of two. The value has 32 bits.
    Pair(Value, i64, i64),
}

impl<'c> FunctionBuilder<'_, 'c> {
    /// The membership that a condition asks, where one comparison can decide it.
    pub fn membership(&self, cond: Value) -> Option<Membership> {
        match *self.plan.expr(cond) {
            Expr::And(low, high) => self.between(low, high),
            Expr::Or(..) => {
                let (value, mut constants) = self.one_of(cond)?;
                constants.sort_unstable();
                let (low, high) = (*constants.first()?, *constants.last()?);
                let in_a_row =
                    constants.windows(2).all(|pair| pair[0].checked_add(1) == Some(pair[1]));
                let is_narrow = matches!(self.plan.expr(value), Expr::Load(_, field) if field.width == Width::I32)
                    && i32::try_from(low).is_ok()
                    && i32::try_from(high).is_ok();
                match constants.len() {
                    _ if in_a_row => Some(Membership::Range(value, low, high)),
                    2 if is_narrow => Some(Membership::Pair(value, low, high)),
                    _ => None,
                }
            }
            _ => None,
        }
    }

    /// The code of it.
    pub fn is_member(&mut self, membership: Membership) -> V<'c> {
        let e = self.e;
        let int = |int| e.int(Ty::I64, int);
        match membership {
            Membership::Range(value, low, high) => {
                let above = e.arith(Operation::Sub, self.value(value), int(low));
                e.compare(Predicate::ULE, above, int(high.wrapping_sub(low)))
            }
            Membership::Pair(value, low, high) => {
                // Neither difference has more than 33 bits, so their product is 0 only where one of
                // them is.
                let value = self.value(value);
                let differences =
                    [low, high].map(|constant| e.arith(Operation::Sub, value, int(constant)));
                let product = e.arith(Operation::Mul, differences[0], differences[1]);
                e.compare(Predicate::EQ, product, int(0))
            }
        }
    }

    /// `low <= value` and `value <= high`.
    fn between(&self, low: Value, high: Value) -> Option<Membership> {
        let expr = |value: &Value| self.plan.expr(*value);
        let (Expr::Compare(Compare::Le, low, value), Expr::Compare(Compare::Le, same, high)) =
            (expr(&low), expr(&high))
        else {
            return None;
        };
        match (expr(low), expr(high)) {
            (Expr::Int(low), Expr::Int(high)) if value == same && low <= high => {
                Some(Membership::Range(*value, *low, *high))
            }
            _ => None,
        }
    }

    /// The value and the constants of alternatives that are all of the form `value == constant`.
    pub fn one_of(&self, cond: Value) -> Option<(Value, Vec<i64>)> {
        match *self.plan.expr(cond) {
            Expr::Or(a, b) => {
                // Alternatives hang together on the left, and may be very many of another form.
                let ((same, more), (value, mut constants)) = (self.one_of(b)?, self.one_of(a)?);
                constants.extend(more);
                (value == same).then_some((value, constants))
            }
            Expr::Compare(Compare::Eq, value, constant) => match *self.plan.expr(constant) {
                Expr::Int(constant) => Some((value, vec![constant])),
                _ => None,
            },
            _ => None,
        }
    }
}
