// SPDX-License-Identifier: Apache-2.0
//! Layouts over the numbers of a call: what the algebra makes of them are expressions.

use super::algebra::expr;
use super::facts::{CallFacts, layout_facts};
use super::limits::is_small;
use crate::argument::Dim;
use kernpack_layout::{Arith, Facts, Int, Op};
use kernpack_validators::expr::{Expr, Op as ExprOp};

/// Makes expressions.
pub(super) struct Dims {
    facts: CallFacts,
    /// Why there is no result.
    pub refused: Option<Refused>,
}

/// Why an operation on numbers of a call has no result.
#[derive(Clone, Copy, Debug)]
pub(super) enum Refused {
    /// Expressions have it not.
    Unknown(Op),
    /// Its result is too large.
    TooLarge,
}

impl Dims {
    /// Makes them of what is known.
    pub fn new(facts: &CallFacts) -> Dims {
        Dims { facts: facts.clone(), refused: None }
    }
}

impl Arith for Dims {
    type Value = Dim;

    fn emit(&mut self, op: Op, a: &Int<Dim>, b: &Int<Dim>) -> Int<Dim> {
        let (a, b) = (expr(a), expr(b));
        let (op, b) = match (op, b.as_int()) {
            (Op::Add, _) => (ExprOp::Add, b),
            (Op::Sub, _) => (ExprOp::Sub, b),
            (Op::Mul, _) => (ExprOp::Mul, b),
            (Op::Div, _) => (ExprOp::FloorDiv, b),
            (Op::CeilDiv, _) => (ExprOp::CeilDiv, b),
            (Op::Rem, _) => (ExprOp::Mod, b),
            (Op::Min, _) => (ExprOp::Min, b),
            (Op::Max, _) => (ExprOp::Max, b),
            (Op::Shl, Some(by @ 0..62)) => (ExprOp::Mul, Expr::Int(1 << by)),
            (Op::Shr, Some(by @ 0..62)) => (ExprOp::FloorDiv, Expr::Int(1 << by)),
            (Op::And | Op::Xor | Op::Shl | Op::Shr, _) => {
                self.refused = Some(Refused::Unknown(op));
                return Int::Known(0);
            }
        };
        match self.facts.int(&Expr::binary(op, a, b)) {
            Int::Dynamic(dim) if !is_small(&dim.expr) => {
                self.refused = Some(Refused::TooLarge);
                Int::Known(0)
            }
            number => number,
        }
    }

    /// The facts here, which may be more than where the number was made.
    fn facts(&self, value: &Dim) -> Facts {
        layout_facts(self.facts.kernel_facts(&value.expr))
    }
}
