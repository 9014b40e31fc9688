// SPDX-License-Identifier: Apache-2.0
//! Which interval an operation of arithmetic on intervals gives.

use crate::{Interval, greatest_common_divisor};
use std::ops::{Add, Mul, Neg, Sub};

impl Add for Interval {
    type Output = Interval;

    fn add(self, other: Interval) -> Interval {
        let bounds = (self.min.saturating_add(other.min), self.max.saturating_add(other.max));
        Interval::new(bounds.0, bounds.1).with_divisor(self.common(other))
    }
}

impl Sub for Interval {
    type Output = Interval;

    fn sub(self, other: Interval) -> Interval {
        self + -other
    }
}

impl Neg for Interval {
    type Output = Interval;

    fn neg(self) -> Interval {
        Interval::new(self.max.saturating_neg(), self.min.saturating_neg())
            .with_divisor(self.divisor)
    }
}

impl Mul for Interval {
    type Output = Interval;

    fn mul(self, other: Interval) -> Interval {
        // Where it has too many bits, what divides one factor divides the product.
        let divisor = self.divisor.checked_mul(other.divisor).unwrap_or(self.divisor);
        self.corners(other, i128::saturating_mul).with_divisor(divisor)
    }
}

impl Interval {
    /// The numbers without their signs.
    #[must_use]
    pub fn abs(self) -> Interval {
        let opposite = -self;
        let min = self.min.max(opposite.min).max(0);
        Interval::new(min, self.max.max(opposite.max)).with_divisor(self.divisor)
    }

    /// The smaller of two numbers.
    #[must_use]
    pub fn smaller(self, other: Interval) -> Interval {
        Interval::new(self.min.min(other.min), self.max.min(other.max))
            .with_divisor(self.common(other))
    }

    /// The larger of two numbers.
    #[must_use]
    pub fn larger(self, other: Interval) -> Interval {
        Interval::new(self.min.max(other.min), self.max.max(other.max))
            .with_divisor(self.common(other))
    }

    /// The quotients, rounded down, by what is not 0; nothing where all is 0.
    #[must_use]
    pub fn floor_div(self, by: Interval) -> Option<Interval> {
        self.divided(by, Interval::quotient)
    }

    /// The quotients, rounded up, by what is not 0; nothing where all is 0.
    #[must_use]
    pub fn ceil_div(self, by: Interval) -> Option<Interval> {
        (-self).floor_div(by).map(Interval::neg)
    }

    /// What [`Interval::floor_div`] leaves, which has the sign of the divisor.
    #[must_use]
    pub fn floor_mod(self, by: Interval) -> Option<Interval> {
        let positive = by.positive().map(|by| self.rest(by));
        let negative = (-by).positive().map(|by| -(-self).rest(by));
        either(positive, negative)
    }

    /// Those of the numbers that are above 0.
    #[must_use]
    pub fn positive(self) -> Option<Interval> {
        self.between(1, i128::MAX)
    }

    /// An operation whose result is the same where both numbers change their signs.
    fn divided(self, by: Interval, of: fn(Interval, Interval) -> Interval) -> Option<Interval> {
        let positive = by.positive().map(|by| of(self, by));
        let negative = (-by).positive().map(|by| of(-self, by));
        either(positive, negative)
    }

    /// Of a division by what is above 0.
    fn quotient(self, by: Interval) -> Interval {
        let quotients = self.corners(by, i128::div_euclid);
        match by.known() {
            Some(by) if self.is_multiple_of(by.unsigned_abs()) => {
                quotients.with_divisor(self.divisor / by.unsigned_abs())
            }
            Some(_) | None => quotients,
        }
    }

    /// What a division by what is above 0 leaves.
    fn rest(self, by: Interval) -> Interval {
        if by.known().is_some_and(|by| self.is_multiple_of(by.unsigned_abs())) {
            return Interval::exactly(0);
        }
        if self.min >= 0 && self.max < by.min {
            return self;
        }
        let most = by.max - 1;
        let most = if self.min >= 0 { most.min(self.max) } else { most };
        Interval::new(0, most).with_divisor(self.common(by))
    }

    /// The bounds of an operation that grows, or shrinks, in each number all along.
    fn corners(self, other: Interval, of: fn(i128, i128) -> i128) -> Interval {
        let corners = [
            of(self.min, other.min),
            of(self.min, other.max),
            of(self.max, other.min),
            of(self.max, other.max),
        ];
        let min = corners.into_iter().fold(i128::MAX, i128::min);
        let max = corners.into_iter().fold(i128::MIN, i128::max);
        Interval::new(min, max)
    }

    fn common(self, other: Interval) -> u128 {
        greatest_common_divisor(self.divisor, other.divisor)
    }
}

/// What is in one of them, as far as they are.
fn either(a: Option<Interval>, b: Option<Interval>) -> Option<Interval> {
    match (a, b) {
        (Some(a), Some(b)) => Some(a.hull(b)),
        (one, other) => one.or(other),
    }
}
