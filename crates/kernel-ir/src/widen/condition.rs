// SPDX-License-Identifier: Apache-2.0
//! Conditions in a form in which those that hold alike are equal.
//!
//! A comparison of integers is one of a sum with 0: `4*i + 3 < n` is `4*i - n + 3 < 0`. Where all
//! but the constant is a multiple of some number, the constant counts only as the multiple of that
//! number which is not above it: where `n` is a multiple of 4, that is `4*i - n < 0`.
//!
//! Sums are those of whole numbers. So an operation is looked into only where it does not wrap, and
//! is else a term by itself.

use crate::kernel::{Kernel, Value};
use crate::op::{Binary, Compare, Expr, OpKind, Region, Unary};
use crate::ranges::{self, Ranges};
use crate::types::{Scalar, Type};
use kernpack_interval::{Interval, greatest_common_divisor};
use rustc_hash::FxHashMap;

/// The most terms of a sum.
const MOST_TERMS: usize = 8;
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

/// A sum of integers.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Sum {
    /// Values, in order, and how often each is taken: not 0 times.
    terms: Vec<(Value, i128)>,
    constant: i128,
}

impl Sum {
    fn constant(constant: i128) -> Sum {
        Sum { terms: Vec::new(), constant }
    }

    fn of(value: Value) -> Sum {
        Sum { terms: vec![(value, 1)], constant: 0 }
    }

    /// The sum with another one so many times; nothing where that is too much.
    fn plus(&self, times: i128, other: &Sum) -> Option<Sum> {
        let mut sum = self.clone();
        sum.constant = sum.constant.checked_add(other.constant.checked_mul(times)?)?;
        for (value, count) in &other.terms {
            let count = count.checked_mul(times)?;
            match sum.terms.binary_search_by_key(value, |(value, _)| *value) {
                Ok(at) => sum.terms[at].1 = sum.terms[at].1.checked_add(count)?,
                Err(at) => sum.terms.insert(at, (*value, count)),
            }
        }
        sum.terms.retain(|(_, count)| *count != 0);
        (sum.terms.len() <= MOST_TERMS).then_some(sum)
    }

    /// A divisor of all but the constant; 0 where that is 0.
    fn divisor(&self, ranges: &Ranges) -> u128 {
        let divisors = self.terms.iter().map(|(value, count)| {
            // One that has too many bits is one that others are not multiples of.
            count.unsigned_abs().checked_mul(ranges.value(*value).divisor).unwrap_or(1)
        });
        divisors.fold(0, greatest_common_divisor)
    }
}

/// The conditions of a kernel.
pub(super) struct Conditions<'r> {
    ranges: &'r Ranges,
    types: Vec<Type>,
    /// The operations that are looked into.
    operations: FxHashMap<Value, Expr>,
    sums: FxHashMap<Value, Sum>,
}

impl<'r> Conditions<'r> {
    pub fn of(kernel: &Kernel, ranges: &'r Ranges) -> Conditions<'r> {
        let mut operations = FxHashMap::default();
        collect(&kernel.body, &mut operations);
        let types = kernel.values.iter().map(|data| data.ty).collect();
        Conditions { ranges, types, operations, sums: FxHashMap::default() }
    }

    /// The condition that a truth value is.
    pub fn condition(&mut self, value: Value) -> Condition {
        self.condition_in(value, DEPTH)
    }

    fn condition_in(&mut self, value: Value, depth: u32) -> Condition {
        let operation = self.operations.get(&value).cloned().filter(|_| depth > 0);
        let condition = match operation {
            Some(Expr::Compare(op, left, right)) => self.compared(op, left, right, depth - 1),
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
    fn compared(
        &mut self,
        op: Compare,
        left: Value,
        right: Value,
        depth: u32,
    ) -> Option<Condition> {
        self.integer(left)?;
        let [left, right] = [left, right].map(|side| self.sum(side, depth));
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

    /// An integer as a sum.
    fn sum(&mut self, value: Value, depth: u32) -> Sum {
        if let Some(sum) = self.sums.get(&value) {
            return sum.clone();
        }
        let sum = self.summed(value, depth).unwrap_or_else(|| Sum::of(value));
        self.sums.insert(value, sum.clone());
        sum
    }

    /// The sum that an operation gives; nothing where it is not looked into.
    fn summed(&mut self, value: Value, depth: u32) -> Option<Sum> {
        if let Some(known) = self.ranges.value(value).known() {
            return Some(Sum::constant(known));
        }
        let depth = depth.checked_sub(1)?;
        let scalar = self.integer(value)?;
        match self.operations.get(&value)?.clone() {
            Expr::Convert(from, _) => {
                self.integer(from)?;
                let fits = scalar.holds(self.operand(value, 0));
                fits.then(|| self.sum(from, depth))
            }
            Expr::Binary(op, left, right) => {
                let operands = [0, 1].map(|place| self.operand(value, place));
                if !ranges::is_exact(op, operands[0], operands[1], scalar) {
                    return None;
                }
                let [left, right] = [left, right].map(|side| self.sum(side, depth));
                match op {
                    Binary::Add => left.plus(1, &right),
                    Binary::Sub => left.plus(-1, &right),
                    Binary::Mul => match (&left.terms[..], &right.terms[..]) {
                        ([], _) => Sum::default().plus(left.constant, &right),
                        (_, []) => Sum::default().plus(right.constant, &left),
                        _ => None,
                    },
                    _ => None,
                }
            }
            _ => None,
        }
    }

    /// The range of an operand, from a multiple of its divisor to another.
    fn operand(&self, value: Value, place: usize) -> Interval {
        let range = self.ranges.operand(value, place);
        range.meet(range).unwrap_or(range)
    }

    /// The type of an integer.
    fn integer(&self, value: Value) -> Option<Scalar> {
        self.types[value.index()].scalar().filter(|scalar| scalar.is_int())
    }
}

/// Both conditions: each of several once.
fn all(both: [Condition; 2]) -> Condition {
    let parts = both.into_iter().flat_map(|condition| match condition {
        Condition::All(parts) => parts,
        Condition::Is(_) | Condition::Not(_) | Condition::Negative(_) => vec![condition],
    });
    let mut parts: Vec<_> = parts.collect();
    parts.sort();
    parts.dedup();
    match <[Condition; 1]>::try_from(parts) {
        Ok([one]) => one,
        Err(parts) => Condition::All(parts),
    }
}

fn collect(region: &Region, operations: &mut FxHashMap<Value, Expr>) {
    for op in &region.0 {
        if let (OpKind::Expr(expr), Some(result)) = (&op.kind, op.result)
            && matches!(
                expr,
                Expr::Compare(..) | Expr::Unary(..) | Expr::Binary(..) | Expr::Convert(..)
            )
        {
            operations.insert(result, expr.clone());
        }
        op.kind.regions().for_each(|region| collect(region, operations));
    }
}
