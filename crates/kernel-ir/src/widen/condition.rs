// SPDX-License-Identifier: Apache-2.0
//! Conditions in a form in which those that hold alike are equal.
//!
//! A comparison of integers is one of a sum with 0: `4*i + 3 < n` is `4*i - n + 3 < 0`. Where all
//! but the constant is a multiple of some number, the constant counts only as the multiple of that
//! number which is not above it: where `n` is a multiple of 4, that is `4*i - n < 0`.
//!
//! Not here: which operations are sums (`sum.rs`).

use super::sum::{Sum, Sums, Wrapping};
use crate::kernel::{Kernel, Value};
use crate::op::{Binary, Compare, Expr, Unary};
use crate::ranges::Ranges;

/// How deep an operation is looked into.
const DEPTH: u32 = 32;

/// A condition.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Condition {
    /// Whatever that value says.
    Is(Value),
    /// It does not hold.
    Not(Box<Condition>),
    /// The sum is negative.
    Negative(Sum),
    /// All of them hold: at least two, in order.
    All(Vec<Condition>),
}

impl Condition {
    /// All that have to hold for it to hold, itself where it is none of several.
    pub fn into_parts(self) -> Vec<Condition> {
        match self {
            Condition::All(parts) => parts,
            Condition::Is(_) | Condition::Not(_) | Condition::Negative(_) => vec![self],
        }
    }
}

/// The conditions of a kernel.
pub(super) struct Conditions<'r> {
    ranges: &'r Ranges,
    sums: Sums<'r>,
}

impl<'r> Conditions<'r> {
    pub fn of(kernel: &Kernel, ranges: &'r Ranges) -> Conditions<'r> {
        Conditions { ranges, sums: Sums::of(kernel, ranges, Wrapping::Never) }
    }

    /// The condition that a truth value is.
    pub fn condition(&mut self, value: Value) -> Condition {
        self.condition_in(value, DEPTH)
    }

    fn condition_in(&mut self, value: Value, depth: u32) -> Condition {
        let operation = self.sums.operation(value).cloned().filter(|_| depth > 0);
        let condition = match operation {
            Some(Expr::Compare(op, left, right)) => self.compared(op, left, right),
            Some(Expr::Unary(Unary::Not, of)) => {
                let of = self.condition_in(of, depth - 1);
                self.negated(of)
            }
            Some(Expr::Binary(Binary::And, left, right)) => {
                let both = [left, right].map(|side| self.condition_in(side, depth - 1));
                Some(all(both))
            }
            _ => None,
        };
        condition.unwrap_or(Condition::Is(value))
    }

    /// A comparison of integers.
    fn compared(&mut self, op: Compare, left: Value, right: Value) -> Option<Condition> {
        self.sums.integer(left)?;
        let [left, right] = [left, right].map(|side| self.sums.sum(side));
        // `a <= b` is `a - b - 1 < 0`.
        let (less, more, constant) = match op {
            Compare::Lt => (left, right, 0),
            Compare::Le => (left, right, -1),
            Compare::Gt => (right, left, 0),
            Compare::Ge => (right, left, -1),
            Compare::Eq | Compare::Ne => return None,
        };
        self.negative(less.plus(-1, &more)?.plus(1, &Sum::constant(constant))?)
    }

    /// The condition that a sum is negative.
    fn negative(&self, mut sum: Sum) -> Option<Condition> {
        let divisor = i128::try_from(sum.divisor(self.ranges)).ok().filter(|divisor| *divisor > 0);
        sum.constant = sum.constant.checked_sub(sum.constant.rem_euclid(divisor?))?;
        Some(Condition::Negative(sum))
    }

    /// The condition that another one does not hold.
    fn negated(&self, condition: Condition) -> Option<Condition> {
        match condition {
            Condition::Not(inner) => Some(*inner),
            // Where it is not negative, the next below its opposite is.
            Condition::Negative(sum) => self.negative(Sum::constant(-1).plus(-1, &sum)?),
            Condition::Is(_) | Condition::All(_) => Some(Condition::Not(Box::new(condition))),
        }
    }
}

/// Both conditions: each of several once.
fn all(both: [Condition; 2]) -> Condition {
    let mut parts: Vec<_> = both.into_iter().flat_map(Condition::into_parts).collect();
    parts.sort();
    parts.dedup();
    match <[Condition; 1]>::try_from(parts) {
        Ok([one]) => one,
        Err(parts) => Condition::All(parts),
    }
}
