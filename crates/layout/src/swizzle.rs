// SPDX-License-Identifier: Apache-2.0
//! Swizzles: bits of an index, changed by others of its bits.
//!
//! `S<B,M,S>` keeps the lowest `M` bits. The `B` bits above them are changed: each by the bit that
//! is `S` places above it. Rows of a tile in shared memory are put in another order each, so that a
//! column lies in different banks. With a negative `S` the upper bits are changed by the lower
//! ones.

use crate::arith::{Arith, Op};
use crate::error::{Error, Result, text};
use crate::int::Int;
use crate::layout::IntOf;
use std::fmt::{self, Display, Formatter};

/// A function from indices to indices, which is its own inverse.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Swizzle {
    bits: u32,
    base: u32,
    shift: i32,
}

impl Swizzle {
    /// That of so many bits, above as many that stay, by bits so far above them.
    pub fn new(bits: u32, base: u32, shift: i32) -> Result<Swizzle> {
        let width = bits.checked_add(base).and_then(|n| n.checked_add(shift.unsigned_abs()));
        match width {
            Some(width) if width < 63 && shift.unsigned_abs() >= bits => {
                Ok(Swizzle { bits, base, shift })
            }
            Some(_) | None => Err(Error::Swizzle { bits, base, shift }),
        }
    }

    /// How many bits are changed.
    pub fn bits(self) -> u32 {
        self.bits
    }

    /// How many of the lowest bits stay.
    pub fn base(self) -> u32 {
        self.base
    }

    /// How far above the bits are those that they are changed by.
    pub fn shift(self) -> i32 {
        self.shift
    }

    /// How many indices there are in a block, such as begins at 0: none leaves its own. Memory of
    /// whole blocks has a place for every index.
    pub fn block(self) -> i64 {
        let above = if self.shift < 0 { self.shift.unsigned_abs() } else { 0 };
        1 << (self.bits + self.base + above)
    }

    /// The number whose multiples can be added before or behind: no bit of theirs changes one, or
    /// is changed.
    pub fn period(self) -> i64 {
        1 << (self.bits + self.base + self.shift.unsigned_abs())
    }

    /// The bits by which others are changed.
    fn mask(self) -> i64 {
        ((1 << self.bits) - 1) << (self.base + self.shift.max(0).unsigned_abs())
    }

    /// The index that takes the place of a number.
    pub fn of_number(self, index: i64) -> i64 {
        let by = index & self.mask();
        let moved = if self.shift < 0 { by << -self.shift } else { by >> self.shift };
        index ^ moved
    }

    /// The index that takes the place of another.
    pub fn apply<C: Arith>(self, cx: &mut C, index: &IntOf<C>) -> Result<IntOf<C>> {
        if let Int::Known(number) = index {
            return Ok(Int::Known(self.of_number(*number)));
        }
        // Of an index that ends in zeros up to there, no bit is changed.
        if self.bits == 0 || cx.facts_of(index).is_multiple_of(2 * self.highest()) {
            return Ok(index.clone());
        }
        let by = cx.compute(Op::And, index, &Int::Known(self.mask()))?;
        let places = Int::Known(self.shift.unsigned_abs().into());
        let op = if self.shift < 0 { Op::Shl } else { Op::Shr };
        let moved = cx.compute(op, &by, &places)?;
        match moved.is(0) {
            true => Ok(index.clone()),
            false => cx.compute(Op::Xor, index, &moved),
        }
    }

    /// The highest bit by which one is changed, as a number.
    fn highest(self) -> i64 {
        1 << (self.bits + self.base + self.shift.max(0).unsigned_abs() - 1)
    }

    /// The swizzle of elements that are so many times as large: the indices are as many times
    /// smaller. The number must be a power of two.
    pub(crate) fn upcast(self, n: i64) -> Option<Swizzle> {
        let places = power_of_two(n)?;
        let (bits, base) = match self.base.checked_sub(places) {
            Some(base) => (self.bits, base),
            // The rest of the bits, if any, begins below.
            None => (self.bits.saturating_sub(places - self.base), 0),
        };
        Some(Swizzle { bits, base, shift: self.shift })
    }

    /// The swizzle of elements that are so many times smaller.
    pub(crate) fn downcast(self, n: i64) -> Option<Swizzle> {
        let base = self.base.checked_add(power_of_two(n)?)?;
        Swizzle::new(self.bits, base, self.shift).ok()
    }

    /// The swizzle where elements of one width become elements of another, as their layout does.
    pub fn recast(self, new_bits: i64, old_bits: i64) -> Result<Swizzle> {
        let (up, down) = crate::recast::ratio(new_bits, old_bits, &self)?;
        let recast = self.upcast(up).and_then(|swizzle| swizzle.downcast(down));
        recast.ok_or_else(|| Error::Recast {
            layout: text(&self),
            new_bits,
            old_bits,
            why: "their ratio is no power of two, or the bits move beyond those of an index".into(),
        })
    }
}

fn power_of_two(n: i64) -> Option<u32> {
    (n > 0 && n.count_ones() == 1).then(|| n.trailing_zeros())
}

impl Display for Swizzle {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "S<{},{},{}>", self.bits, self.base, self.shift)
    }
}
