// SPDX-License-Identifier: Apache-2.0
//! Which interval an operation on bits gives. Negative numbers are in two's complement, with as
//! many ones before them as are asked for; so the width of a type does not count.

use crate::Interval;
use std::ops::{BitAnd, BitOr, BitXor};

impl BitAnd for Interval {
    type Output = Interval;

    fn bitand(self, other: Interval) -> Interval {
        let bounds = match (self.min >= 0, other.min >= 0) {
            (true, true) => (0, self.max.min(other.max)),
            (true, false) => (0, self.max),
            (false, true) => (0, other.max),
            (false, false) => (self.signed(other).min, self.max.max(other.max)),
        };
        let zeros = self.zeros().max(other.zeros());
        Interval::new(bounds.0, bounds.1).with_divisor(1 << zeros)
    }
}

impl BitOr for Interval {
    type Output = Interval;

    fn bitor(self, other: Interval) -> Interval {
        let bounds = match self.min >= 0 && other.min >= 0 {
            true => (self.min.max(other.min), ones(self.max.max(other.max))),
            false => (self.signed(other).min, self.signed(other).max),
        };
        Interval::new(bounds.0, bounds.1).with_divisor(1 << self.zeros().min(other.zeros()))
    }
}

impl BitXor for Interval {
    type Output = Interval;

    fn bitxor(self, other: Interval) -> Interval {
        let bounds = match self.min >= 0 && other.min >= 0 {
            true => Interval::new(0, ones(self.max.max(other.max))),
            false => self.signed(other),
        };
        bounds.with_divisor(1 << self.zeros().min(other.zeros()))
    }
}

/// The most places that a number here is moved by.
const MOST_PLACES: u32 = 126;

impl Interval {
    /// The numbers times two to a power.
    #[must_use]
    pub fn shifted_left(self, count: u32) -> Interval {
        self * Interval::exactly(1 << count.min(MOST_PLACES))
    }

    /// The numbers divided by two to a power, rounded down.
    #[must_use]
    pub fn shifted_right(self, count: u32) -> Interval {
        let by = Interval::exactly(1 << count.min(MOST_PLACES));
        self.floor_div(by).unwrap_or(self)
    }

    /// The numbers divided by two to some power that is not known, rounded down.
    #[must_use]
    pub fn shifted_right_by_any(self) -> Interval {
        Interval::new(self.min.min(0), self.max.max(-1))
    }

    /// What as few bits with a sign hold as both fit in.
    fn signed(self, other: Interval) -> Interval {
        let magnitude = |bound: i128| if bound < 0 { !bound } else { bound };
        let bounds = [self.min, self.max, other.min, other.max];
        let most = ones(bounds.map(magnitude).into_iter().fold(0, i128::max));
        Interval::new(!most, most)
    }

    /// How many of the lowest bits are 0 in each.
    fn zeros(self) -> u32 {
        self.divisor.trailing_zeros().min(MOST_PLACES)
    }
}

/// The least number of ones in a row that is not less than a number, which is not negative.
fn ones(value: i128) -> i128 {
    match value.leading_zeros() {
        128 => 0,
        zeros => i128::MAX >> (zeros - 1),
    }
}
