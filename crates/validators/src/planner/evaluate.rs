// SPDX-License-Identifier: Apache-2.0
//! Integer expressions as values of a plan, each with the condition under which it has a value.

use super::Planner;
use crate::expr::{Expr, Op};
use crate::plan::{Arith, Compare, Value};

/// An integer with the condition under which it has a value at all.
#[derive(Clone, Copy, Debug)]
pub struct Checked {
    /// The value, meaningless where it is not valid.
    pub value: Value,
    /// Whether nothing overflowed and every divisor was positive.
    pub valid: Value,
    /// Which of the two may not be so.
    pub dangers: Dangers,
}

/// Why an integer may have no value.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Dangers {
    /// It may need more than 64 bits.
    pub overflow: bool,
    /// It may be divided by what is not positive.
    pub divisor: bool,
}

impl Dangers {
    /// Those of either.
    pub fn and(self, other: Dangers) -> Dangers {
        let (overflow, divisor) = (self.overflow || other.overflow, self.divisor || other.divisor);
        Dangers { overflow, divisor }
    }

    /// The words for what was received where there is no value. Which danger it was is not told
    /// apart.
    pub fn text(self) -> &'static str {
        match (self.overflow, self.divisor) {
            (true, true) => "an overflow or a divisor that is not positive",
            (false, true) => "a divisor that is not positive",
            (_, false) => "an overflow",
        }
    }
}

impl Planner<'_> {
    /// The integer of that name.
    fn int_named(&mut self, name: &str) -> Checked {
        let (value, valid) = (self.names[name].value, self.names[name].valid);
        let dangers = Dangers { overflow: valid.is_some(), divisor: false };
        Checked { value, valid: valid.unwrap_or_else(|| self.b.bool(true)), dangers }
    }

    /// The value of an expression whose names all have one.
    pub fn expr(&mut self, expr: &Expr) -> Checked {
        match expr {
            Expr::Int(value) => {
                let (value, valid) = (self.b.int(*value), self.b.bool(true));
                Checked { value, valid, dangers: Dangers::default() }
            }
            Expr::Symbol(name, _) => self.int_named(name),
            Expr::Field(param, field, _) => self.int_named(&format!("{param}{field}")),
            Expr::Binary(op, a, b) => {
                let (a, b) = (self.expr(a), self.expr(b));
                let result = self.apply(*op, a.value, b.value);
                let operands = self.b.and(a.valid, b.valid);
                let valid = self.b.and(operands, result.valid);
                let dangers = result.dangers.and(a.dangers).and(b.dangers);
                Checked { valid, dangers, ..result }
            }
        }
    }

    fn apply(&mut self, op: Op, a: Value, b: Value) -> Checked {
        let always = self.b.bool(true);
        let by_divisor =
            Dangers { overflow: false, divisor: self.b.as_int(b).is_none_or(|b| b <= 0) };
        let arith = match op {
            Op::Add => Arith::Add,
            Op::Sub => Arith::Sub,
            Op::Mul => Arith::Mul,
            Op::FloorDiv => Arith::FloorDiv,
            Op::Mod => Arith::Mod,
            Op::Min | Op::Max => {
                let less = self.b.compare(Compare::Lt, a, b);
                let (yes, no) = if op == Op::Min { (a, b) } else { (b, a) };
                let (value, dangers) = (self.b.select(less, yes, no), Dangers::default());
                return Checked { value, valid: always, dangers };
            }
            Op::CeilDiv => {
                let quotient = self.b.arith(Arith::FloorDiv, a, b);
                let rest = self.b.arith(Arith::Mod, a, b);
                let (zero, one) = (self.b.int(0), self.b.int(1));
                let exact = self.b.eq(rest, zero);
                let up = self.b.select(exact, zero, one);
                let valid = self.b.compare(Compare::Lt, zero, b);
                let value = self.b.add_ints(quotient, up);
                return Checked { value, valid, dangers: by_divisor };
            }
        };
        let (valid, dangers) = match op {
            Op::FloorDiv | Op::Mod => {
                let zero = self.b.int(0);
                (self.b.compare(Compare::Lt, zero, b), by_divisor)
            }
            _ => {
                let overflows = self.b.overflows(arith, a, b);
                (self.b.not(overflows), Dangers { overflow: true, divisor: false })
            }
        };
        Checked { value: self.b.arith(arith, a, b), valid, dangers }
    }
}
