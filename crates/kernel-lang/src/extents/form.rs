// SPDX-License-Identifier: Apache-2.0
//! Integers as sums: so many times this and that, and a constant. What is no sum is one of its
//! parts. That a sum may wrap around does not count: it bounds an index no less in meaning.

use kernpack_kernel_ir::intrinsic::Geometry;
use kernpack_kernel_ir::kernel::{Slot, Value};
use std::collections::BTreeMap;

/// The most parts of a sum: a larger one is a part itself.
const MOST_PARTS: usize = 16;

/// A part of a sum.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Part {
    /// A value that is no sum.
    Value(Value),
    /// Where a thread is.
    Place(Geometry),
    /// The value of a slot between two changes.
    Slot(Slot, u32),
}

/// A sum.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Form {
    /// Its parts, and how many times each; none 0 times.
    pub parts: BTreeMap<Part, i128>,
    /// The constant.
    pub constant: i128,
}

impl Form {
    /// A constant.
    pub fn constant(constant: i128) -> Form {
        Form { parts: BTreeMap::new(), constant }
    }

    /// A part, once.
    pub fn part(part: Part) -> Form {
        Form { parts: BTreeMap::from([(part, 1)]), constant: 0 }
    }

    /// The number, where it is one.
    pub fn known(&self) -> Option<i128> {
        self.parts.is_empty().then_some(self.constant)
    }

    /// `self + by * other`; nothing where that is too large.
    pub fn plus(&self, by: i128, other: &Form) -> Option<Form> {
        let mut parts = self.parts.clone();
        for (part, times) in &other.parts {
            let sum = parts.entry(*part).or_insert(0);
            *sum = sum.checked_add(times.checked_mul(by)?)?;
        }
        parts.retain(|_, times| *times != 0);
        let constant = self.constant.checked_add(other.constant.checked_mul(by)?)?;
        let is_small = |number: &i128| number.unsigned_abs() <= 1 << 96;
        let are_small = parts.values().all(is_small) && is_small(&constant);
        (are_small && parts.len() <= MOST_PARTS).then_some(Form { parts, constant })
    }

    /// So many times the sum.
    pub fn times(&self, by: i128) -> Option<Form> {
        Form::default().plus(by, self)
    }

    /// The sum divided by a number, where that leaves no rest in any part of it.
    pub fn over(&self, by: i128) -> Option<Form> {
        let is_multiple = |times: &i128| times.checked_rem(by) == Some(0);
        let all = self.parts.values().all(is_multiple) && is_multiple(&self.constant);
        all.then(|| Form {
            parts: self.parts.iter().map(|(part, times)| (*part, times / by)).collect(),
            constant: self.constant / by,
        })
    }

    /// The parts for which something holds, and the others with the constant.
    pub fn split(&self, first: impl Fn(&Part) -> bool) -> (Form, Form) {
        let (these, others) = self.parts.iter().partition(|(part, _)| first(part));
        (Form { parts: these, constant: 0 }, Form { parts: others, constant: self.constant })
    }

    /// How many times another sum this one is, as a fraction, where it is that and neither has a
    /// constant: `p / q`, both positive.
    pub fn multiple_of(&self, other: &Form) -> Option<(i128, i128)> {
        let (part, by) = self.parts.first_key_value()?;
        let of = *other.parts.get(part)?;
        let divisor = gcd(by.unsigned_abs(), of.unsigned_abs());
        let (p, q) = (by / divisor, of / divisor);
        let (p, q) = if q < 0 { (-p, -q) } else { (p, q) };
        (p > 0 && self.times(q)? == other.times(p)?).then_some((p, q))
    }
}

fn gcd(a: u128, b: u128) -> i128 {
    let (mut a, mut b) = (a, b);
    while b != 0 {
        (a, b) = (b, a % b);
    }
    i128::try_from(a).unwrap_or(1).max(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(parts: &[(u32, i128)], constant: i128) -> Form {
        let parts = parts.iter().map(|(value, times)| (Part::Value(Value(*value)), *times));
        Form { parts: parts.collect(), constant }
    }

    #[test]
    fn what_cancels_is_gone() {
        let sum = of(&[(1, 2), (2, 1)], 3).plus(-2, &of(&[(1, 1)], 1));
        assert_eq!(sum, Some(of(&[(2, 1)], 1)));
        assert_eq!(of(&[(1, 1)], 0).times(0), Some(Form::constant(0)));
        assert_eq!(of(&[(1, 1)], 0).times(i128::MAX), None);
        assert_eq!(of(&[(1, 4)], 8).over(4), Some(of(&[(1, 1)], 2)));
        assert_eq!(of(&[(1, 4)], 6).over(4), None);
    }

    #[test]
    fn multiples_are_positive() {
        let one = of(&[(1, 2), (2, -4)], 0);
        assert_eq!(one.multiple_of(&of(&[(1, 1), (2, -2)], 0)), Some((2, 1)));
        assert_eq!(one.multiple_of(&of(&[(1, 3), (2, -6)], 0)), Some((2, 3)));
        assert_eq!(one.multiple_of(&of(&[(1, -1), (2, 2)], 0)), None);
        assert_eq!(one.multiple_of(&of(&[(1, 1)], 0)), None);
        assert_eq!(Form::constant(0).multiple_of(&one), None);
    }
}
