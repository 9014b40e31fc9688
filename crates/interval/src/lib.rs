// SPDX-License-Identifier: Apache-2.0
//! Integers of which bounds and a divisor are known, and what operations on such integers give.
//!
//! An [`Interval`] may have more integers than there are, and never fewer. Whatever asks what a
//! number can be computes with these: layouts that are not all constant, extents of a signature,
//! integers of a kernel. `tests/laws.rs` holds every operation against all small integers, and
//! against random large ones.
//!
//! Operations are those of whole numbers: nothing wraps around, and nothing is divided by 0. What
//! becomes of a result that does not fit its type is for the caller to say: it wraps
//! ([`Interval::wrapped`]), or there is none ([`Interval::clamped`]). Operands are numbers of at
//! most 64 bits; bounds are of 128, and no result of an operation on 64 bits is beyond these but
//! products of unsigned numbers, whose bounds saturate.
//!
//! ```
//! use kernpack_interval::Interval;
//!
//! let (rows, columns) = (Interval::new(1, 64), Interval::new(128, 256).with_divisor(8));
//! let elements = rows * columns;
//! assert_eq!((elements.min, elements.max, elements.divisor), (128, 16_384, 8));
//! ```
//!
//! Not here: floats, vectors, expressions, and where facts come from.

#![forbid(unsafe_code)]

mod bits;
mod divisor;
mod operation;

pub use divisor::{greatest_common_divisor, power_of_two_in};

/// The integers from `min` to `max`, both included, that are multiples of `divisor`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Interval {
    /// The least.
    pub min: i128,
    /// The largest.
    pub max: i128,
    /// The divisor of each; 0 where it can be nothing but 0.
    pub divisor: u128,
}

impl Interval {
    /// Every integer of at most 64 bits, with a sign or without.
    pub const ANY: Interval = Interval { min: i64::MIN as i128, max: u64::MAX as i128, divisor: 1 };
    /// Every integer of 64 bits with a sign.
    pub const I64: Interval = Interval::of_bits(64, true);

    /// From one to another. Without one between, it is the first.
    pub const fn new(min: i128, max: i128) -> Interval {
        if min >= max { Interval::exactly(min) } else { Interval { min, max, divisor: 1 } }
    }

    /// That integer.
    pub const fn exactly(value: i128) -> Interval {
        Interval { min: value, max: value, divisor: value.unsigned_abs() }
    }

    /// Every integer of a type of so many bits, 64 at most, in two's complement or without a sign.
    pub const fn of_bits(bits: u32, is_signed: bool) -> Interval {
        match is_signed {
            true => Interval::new(-(1 << (bits - 1)), (1 << (bits - 1)) - 1),
            false => Interval::new(0, (1 << bits) - 1),
        }
    }

    /// The interval of an integer of this type with bounds and a divisor of 64 bits with a sign.
    /// That it is at most the largest of these says nothing of what has no sign; neither does what
    /// cannot be.
    #[must_use]
    pub fn said(self, min: i64, max: i64, divisor: i64) -> Interval {
        let max = if max == i64::MAX { self.max } else { max.into() };
        let said = Interval::new(min.into(), max).with_divisor(divisor.unsigned_abs().into());
        self.meet(said).unwrap_or(self)
    }

    /// The same bounds, of which each integer is a multiple of that.
    #[must_use]
    pub const fn with_divisor(self, divisor: u128) -> Interval {
        match self.min == self.max {
            true => Interval::exactly(self.min),
            false => Interval { divisor: if divisor == 0 { 1 } else { divisor }, ..self },
        }
    }

    /// The integer, where there is only one.
    pub const fn known(self) -> Option<i128> {
        if self.min == self.max { Some(self.min) } else { None }
    }

    /// Whether an integer is one of them.
    pub const fn contains(self, value: i128) -> bool {
        let is_multiple = match self.divisor {
            0 => value == 0,
            divisor => value.unsigned_abs().is_multiple_of(divisor),
        };
        self.min <= value && value <= self.max && is_multiple
    }

    /// Whether each of them lies between the bounds of another interval.
    pub const fn is_within(self, other: Interval) -> bool {
        self.min >= other.min && self.max <= other.max
    }

    /// Whether each is a multiple of that.
    pub const fn is_multiple_of(self, number: u128) -> bool {
        number != 0 && self.divisor.is_multiple_of(number)
    }

    /// The numbers in either.
    #[must_use]
    pub fn hull(self, other: Interval) -> Interval {
        let divisor = greatest_common_divisor(self.divisor, other.divisor);
        Interval::new(self.min.min(other.min), self.max.max(other.max)).with_divisor(divisor)
    }

    /// The numbers in both; nothing where there is none.
    #[must_use]
    pub fn meet(self, other: Interval) -> Option<Interval> {
        let (min, max) = (self.min.max(other.min), self.max.min(other.max));
        let divisor = divisor::least_common_multiple(self.divisor, other.divisor);
        // The bounds are multiples, too.
        let (min, max) = match i128::try_from(divisor) {
            Ok(0) => (min.max(0), max.min(0)),
            Ok(divisor) => (divisor::up_to(min, divisor), divisor::down_to(max, divisor)),
            Err(_) => (min, max),
        };
        (min <= max).then(|| Interval::new(min, max).with_divisor(divisor))
    }

    /// Those between two bounds; nothing where there is nothing. The bounds stay as they are.
    fn between(self, min: i128, max: i128) -> Option<Interval> {
        let (min, max) = (self.min.max(min), self.max.min(max));
        (min <= max).then(|| Interval::new(min, max).with_divisor(self.divisor))
    }

    /// The numbers in either, and where that is more than before, much more: up to the next of 0,
    /// the bounds of 32 bits with a sign, and those of the type. So what grows again and again
    /// stops.
    #[must_use]
    pub fn widened(self, other: Interval, of_type: Interval) -> Interval {
        let both = self.hull(other);
        let lower = [0, i128::from(i32::MIN)].into_iter().find(|bound| *bound <= both.min);
        let upper = [i128::from(i32::MAX)].into_iter().find(|bound| *bound >= both.max);
        let (least, most) = (of_type.min, of_type.max);
        let min = if both.min < self.min { lower.unwrap_or(least).max(least) } else { self.min };
        let max = if both.max > self.max { upper.unwrap_or(most).min(most) } else { self.max };
        Interval::new(min, max).with_divisor(both.divisor)
    }

    /// These numbers, wrapped into a type of two to some power: all of it where one does not
    /// fit.
    #[must_use]
    pub const fn wrapped(self, of_type: Interval) -> Interval {
        match self.is_within(of_type) {
            true => self,
            false => of_type.with_divisor(power_of_two_in(self.divisor)),
        }
    }

    /// Of these numbers those that a type has, as what does not fit is no result. Without one, it
    /// is the bound of the type that is next.
    #[must_use]
    pub fn clamped(self, of_type: Interval) -> Interval {
        let clamp = |bound: i128| bound.clamp(of_type.min, of_type.max);
        Interval::new(clamp(self.min), clamp(self.max)).with_divisor(self.divisor)
    }
}
