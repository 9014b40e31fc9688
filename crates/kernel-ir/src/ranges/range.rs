// SPDX-License-Identifier: Apache-2.0
//! A range of integers.

use super::arithmetic::{common, power_of_two_in};
use crate::constant::Const;
use crate::kernel::Facts;
use crate::types::Scalar;

/// The integers from `min` to `max`, both included, that are multiples of `divisor`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Range {
    /// The least.
    pub min: i128,
    /// The largest.
    pub max: i128,
    /// What it is a multiple of; 0 where it can be nothing but 0.
    pub divisor: u128,
}

impl Range {
    /// Every integer of any type.
    pub const ANY: Range = Range { min: i64::MIN as i128, max: u64::MAX as i128, divisor: 1 };

    /// From one to another. Without one between, it is the first.
    pub const fn new(min: i128, max: i128) -> Range {
        if min >= max { Range::exactly(min) } else { Range { min, max, divisor: 1 } }
    }

    /// That integer.
    pub const fn exactly(value: i128) -> Range {
        Range { min: value, max: value, divisor: value.unsigned_abs() }
    }

    /// Every integer of a type.
    pub const fn of(scalar: Scalar) -> Range {
        let mask = scalar.mask() as i128;
        match scalar.is_signed() {
            true => Range { min: -(mask >> 1) - 1, max: mask >> 1, divisor: 1 },
            false => Range { min: 0, max: mask, divisor: 1 },
        }
    }

    pub(super) fn of_const(constant: Const) -> Range {
        let scalar = constant.scalar();
        match scalar.is_signed() {
            true => Range::exactly(constant.signed().into()),
            false => Range::exactly(constant.bits().into()),
        }
    }

    /// What facts say. What they say wrongly is left out.
    pub(super) fn of_facts(facts: Facts, scalar: Scalar) -> Range {
        let all = Range::of(scalar);
        // That an integer without a sign is at most the largest `int64` says nothing of it.
        let max = if facts.max == i64::MAX { all.max } else { facts.max.into() };
        let divisor = u128::from(facts.divisor.max(1).unsigned_abs());
        all.and(Range { divisor, ..Range::new(facts.min.into(), max) }).unwrap_or(all)
    }

    /// Whether each of them is also in another range.
    pub const fn is_within(self, other: Range) -> bool {
        self.min >= other.min && self.max <= other.max
    }

    /// Whether each of them is a value of a type.
    pub const fn fits(self, scalar: Scalar) -> bool {
        self.is_within(Range::of(scalar))
    }

    /// Whether each is a multiple of that.
    pub const fn is_multiple_of(self, number: u128) -> bool {
        number != 0 && self.divisor.is_multiple_of(number)
    }

    /// What is in either.
    #[must_use]
    pub fn or(self, other: Range) -> Range {
        Range {
            min: self.min.min(other.min),
            max: self.max.max(other.max),
            divisor: common(self.divisor, other.divisor),
        }
    }

    /// What is in both; nothing where there is nothing.
    #[must_use]
    pub fn and(self, other: Range) -> Option<Range> {
        let (min, max) = (self.min.max(other.min), self.max.min(other.max));
        let larger = match self.divisor.is_multiple_of(other.divisor.max(1)) {
            true => self.divisor,
            false => other.divisor,
        };
        let divisor = if min == max { min.unsigned_abs() } else { larger };
        (min <= max).then_some(Range { min, max, divisor })
    }

    /// What is in either, and where that is more than before, much more.
    pub(super) fn widen(self, other: Range, scalar: Scalar) -> Range {
        let (all, both) = (Range::of(scalar), self.or(other));
        let lower = [0, i128::from(i32::MIN)].into_iter().find(|bound| *bound <= both.min);
        let upper = [i128::from(i32::MAX)].into_iter().find(|bound| *bound >= both.max);
        Range {
            min: if both.min < self.min { lower.unwrap_or(all.min).max(all.min) } else { self.min },
            max: if both.max > self.max { upper.unwrap_or(all.max).min(all.max) } else { self.max },
            divisor: both.divisor,
        }
    }

    /// What is left of these numbers in a type: all of that where one does not fit.
    #[must_use]
    pub fn wrapped(self, scalar: Scalar) -> Range {
        if self.fits(scalar) {
            return self;
        }
        Range { divisor: power_of_two_in(self.divisor), ..Range::of(scalar) }
    }
}
