// SPDX-License-Identifier: Apache-2.0
//! Integers as sums of others and a constant.
//!
//! Sums are those of whole numbers. So an operation is looked into only where it does not wrap, and
//! is else a term by itself. Offsets of addresses are `int64`s that may wrap together: two of them
//! are as far apart as their sums are, whatever is lost on the way.

use crate::intrinsic::Meaning;
use crate::kernel::{Kernel, Value};
use crate::op::{Binary, Expr, OpKind, Region};
use crate::ranges::{self, Ranges};
use crate::types::{Scalar, Type};
use kernpack_interval::{Interval, greatest_common_divisor};
use rustc_hash::FxHashMap;

/// The most terms of a sum.
const MOST_TERMS: usize = 8;
/// How deep an operation is looked into.
const DEPTH: u32 = 32;

/// A sum of integers.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Sum {
    /// Values, in order, and how often each is taken: not 0 times.
    pub terms: Vec<(Value, i128)>,
    /// A number that is added to them.
    pub constant: i128,
}

impl Sum {
    pub fn constant(constant: i128) -> Sum {
        Sum { terms: Vec::new(), constant }
    }

    fn of(value: Value) -> Sum {
        Sum { terms: vec![(value, 1)], constant: 0 }
    }

    /// The sum with another one so many times; nothing where that is too much.
    pub fn plus(&self, times: i128, other: &Sum) -> Option<Sum> {
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
    pub fn divisor(&self, ranges: &Ranges) -> u128 {
        let divisors = self.terms.iter().map(|(value, count)| {
            // One that has too many bits is one that others are not multiples of.
            count.unsigned_abs().checked_mul(ranges.value(*value).divisor).unwrap_or(1)
        });
        divisors.fold(0, greatest_common_divisor)
    }
}

/// Whether operations on `int64` may wrap.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Wrapping {
    /// A sum is the number.
    Never,
    /// A sum is the number but for a multiple of 2 to the 64th.
    May,
}

/// The sums of a kernel.
pub(super) struct Sums<'r> {
    ranges: &'r Ranges,
    wrapping: Wrapping,
    types: Vec<Type>,
    /// The operations that are looked into.
    operations: FxHashMap<Value, Expr>,
    /// The first of the values that are one number, for others of them.
    firsts: FxHashMap<Value, Value>,
    known: FxHashMap<Value, Sum>,
}

impl<'r> Sums<'r> {
    pub fn of(kernel: &Kernel, ranges: &'r Ranges, wrapping: Wrapping) -> Sums<'r> {
        let mut operations = FxHashMap::default();
        collect(&kernel.body, &mut operations);
        let types = kernel.values.iter().map(|data| data.ty).collect();
        let firsts = FxHashMap::default();
        Sums { ranges, wrapping, types, operations, firsts, known: FxHashMap::default() }
    }

    /// Takes what is computed alike in several regions for one number. What is known of it is what
    /// is known where it is computed first, so that this is for those who tell, not for those who
    /// change a kernel.
    pub fn across_regions(mut self, kernel: &Kernel) -> Sums<'r> {
        let seen = &mut FxHashMap::default();
        find_alike(kernel, &kernel.body, seen, &mut self.firsts);
        self
    }

    /// The operation on numbers that gives a value.
    pub fn operation(&self, value: Value) -> Option<&Expr> {
        self.operations.get(&value)
    }

    /// An integer as a sum.
    pub fn sum(&mut self, value: Value) -> Sum {
        self.sum_in(value, DEPTH)
    }

    fn sum_in(&mut self, value: Value, depth: u32) -> Sum {
        if let Some(sum) = self.known.get(&value) {
            return sum.clone();
        }
        let first = self.firsts.get(&value).copied().unwrap_or(value);
        let sum = self.summed(value, depth).unwrap_or_else(|| Sum::of(first));
        self.known.insert(value, sum.clone());
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
                fits.then(|| self.sum_in(from, depth))
            }
            Expr::Binary(op, left, right) => {
                let operands = [0, 1].map(|place| self.operand(value, place));
                let may_wrap = self.wrapping == Wrapping::May && scalar == Scalar::I64;
                if !may_wrap && !ranges::is_exact(op, operands[0], operands[1], scalar) {
                    return None;
                }
                let [left, right] = [left, right].map(|side| self.sum_in(side, depth));
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
    pub fn integer(&self, value: Value) -> Option<Scalar> {
        self.types[value.index()].scalar().filter(|scalar| scalar.is_int())
    }
}

/// The computation of a value: an expression, or a row without operands that says where a thread
/// is.
#[derive(PartialEq, Eq, Hash)]
enum Computed {
    Expr(Type, Expr),
    Row(&'static str),
}

/// Finds the values that are computed as others were before, of the same numbers.
fn find_alike(
    kernel: &Kernel,
    region: &Region,
    seen: &mut FxHashMap<Computed, Value>,
    firsts: &mut FxHashMap<Value, Value>,
) {
    for op in &region.0 {
        if let Some(result) = op.result
            && let Some(computed) = computed(&op.kind, kernel.ty(result), firsts)
        {
            let first = *seen.entry(computed).or_insert(result);
            if first != result {
                firsts.insert(result, first);
            }
        }
        op.kind.regions().for_each(|region| find_alike(kernel, region, seen, firsts));
    }
}

/// The computation that gives the same wherever it stands; nothing where it may not.
fn computed(kind: &OpKind, ty: Type, firsts: &FxHashMap<Value, Value>) -> Option<Computed> {
    match kind {
        OpKind::Expr(Expr::Load(_) | Expr::Get(_)) => None,
        OpKind::Expr(expr) => {
            let mut expr = expr.clone();
            expr.uses_mut(&mut |value| *value = firsts.get(value).copied().unwrap_or(*value));
            Some(Computed::Expr(ty, expr))
        }
        OpKind::Call(call) if matches!(call.intrinsic.meaning, Meaning::Geometry(_)) => {
            Some(Computed::Row(call.intrinsic.name))
        }
        _ => None,
    }
}

fn collect(region: &Region, operations: &mut FxHashMap<Value, Expr>) {
    region.for_each(&mut |op| {
        if let (OpKind::Expr(expr), Some(result)) = (&op.kind, op.result)
            && matches!(
                expr,
                Expr::Compare(..) | Expr::Unary(..) | Expr::Binary(..) | Expr::Convert(..)
            )
        {
            operations.insert(result, expr.clone());
        }
    });
}
