// SPDX-License-Identifier: Apache-2.0
//! Exact arithmetic, and the float that stands for an exact number by definition: of the two floats
//! around it the one that the rounding says, found by bisection. Slow, and plain.

use crate::op::Rounding;
use crate::types::Scalar;
use std::cmp::Ordering;

/// A whole number from 0, in digits of 32 bits, the lowest first, without zeros above.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Whole(Vec<u32>);

impl Whole {
    pub fn of(mut number: u128) -> Whole {
        let mut digits = Vec::new();
        while number > 0 {
            digits.push(number as u32);
            number >>= 32;
        }
        Whole(digits)
    }

    fn trimmed(mut digits: Vec<u32>) -> Whole {
        while digits.last() == Some(&0) {
            digits.pop();
        }
        Whole(digits)
    }

    fn digit(&self, place: usize) -> i64 {
        self.0.get(place).copied().unwrap_or(0).into()
    }

    pub fn is_zero(&self) -> bool {
        self.0.is_empty()
    }

    fn add(&self, other: &Whole) -> Whole {
        let mut carry = 0;
        let mut digits = Vec::new();
        for place in 0..=self.0.len().max(other.0.len()) {
            let sum = self.digit(place) + other.digit(place) + carry;
            digits.push(sum as u32);
            carry = sum >> 32;
        }
        Whole::trimmed(digits)
    }

    /// The difference, where this one is not the smaller.
    fn sub(&self, other: &Whole) -> Whole {
        let mut carry = 0;
        let mut digits = Vec::new();
        for place in 0..self.0.len() {
            let difference = self.digit(place) - other.digit(place) + carry;
            digits.push(difference as u32);
            carry = difference >> 32;
        }
        Whole::trimmed(digits)
    }

    pub fn mul(&self, other: &Whole) -> Whole {
        let mut digits = vec![0; self.0.len() + other.0.len() + 1];
        for (i, a) in self.0.iter().enumerate() {
            let mut carry = 0;
            for (j, b) in other.0.iter().chain(&[0]).enumerate() {
                let sum = u64::from(*a) * u64::from(*b) + u64::from(digits[i + j]) + carry;
                digits[i + j] = sum as u32;
                carry = sum >> 32;
            }
        }
        Whole::trimmed(digits)
    }

    pub fn shl(&self, count: u32) -> Whole {
        let mut digits = vec![0; count as usize / 32];
        digits.push(1 << (count % 32));
        self.mul(&Whole(digits))
    }

    fn cmp(&self, other: &Whole) -> Ordering {
        let by_length = self.0.len().cmp(&other.0.len());
        by_length.then_with(|| self.0.iter().rev().cmp(other.0.iter().rev()))
    }
}

/// A number: a sign, and the quotient of two whole ones.
#[derive(Clone, Debug)]
pub struct Exact {
    pub is_negative: bool,
    pub above: Whole,
    pub below: Whole,
}

impl Exact {
    pub fn int(number: i128) -> Exact {
        let (above, below) = (Whole::of(number.unsigned_abs()), Whole::of(1));
        Exact { is_negative: number < 0, above, below }
    }

    /// The float with these bits: finite.
    pub fn float(scalar: Scalar, bits: u64) -> Exact {
        let (_, mantissa_bits) = widths(scalar);
        let magnitude = bits & !sign(scalar);
        let mantissa = magnitude & ((1 << mantissa_bits) - 1);
        let (mantissa, exponent) = match magnitude >> mantissa_bits {
            0 => (mantissa, 1),
            exponent => (mantissa | 1 << mantissa_bits, exponent as u32),
        };
        // The least subnormal is two to the power of minus this.
        let scale = (1 << (widths(scalar).0 - 1)) - 2 + mantissa_bits;
        Exact {
            is_negative: bits & sign(scalar) != 0,
            above: Whole::of(mantissa.into()).shl(exponent - 1),
            below: Whole::of(1).shl(scale),
        }
    }

    pub fn neg(&self) -> Exact {
        Exact { is_negative: !self.is_negative, ..self.clone() }
    }

    pub fn add(&self, other: &Exact) -> Exact {
        let (a, b) = (self.above.mul(&other.below), other.above.mul(&self.below));
        let below = self.below.mul(&other.below);
        if self.is_negative == other.is_negative {
            return Exact { is_negative: self.is_negative, above: a.add(&b), below };
        }
        match a.cmp(&b) {
            Ordering::Less => Exact { is_negative: other.is_negative, above: b.sub(&a), below },
            _ => Exact { is_negative: self.is_negative, above: a.sub(&b), below },
        }
    }

    pub fn mul(&self, other: &Exact) -> Exact {
        Exact {
            is_negative: self.is_negative != other.is_negative,
            above: self.above.mul(&other.above),
            below: self.below.mul(&other.below),
        }
    }

    pub fn div(&self, other: &Exact) -> Exact {
        let (above, below) = (other.below.clone(), other.above.clone());
        self.mul(&Exact { is_negative: other.is_negative, above, below })
    }

    /// How the magnitude compares with that of another.
    fn compare_magnitude(&self, other: &Exact) -> Ordering {
        self.above.mul(&other.below).cmp(&other.above.mul(&self.below))
    }

    /// The bits of the float that stands for it; `is_negative` is the sign of a 0. The search
    /// begins at a guess, whatever that is.
    pub fn round(&self, scalar: Scalar, rounding: Rounding, guess: u64) -> u64 {
        self.round_by(scalar, rounding, guess, |float| float.compare_magnitude(self))
    }

    /// The bits of the float that stands for its square root.
    pub fn round_root(&self, scalar: Scalar, guess: u64) -> u64 {
        let nearest = Rounding::NearestEven;
        self.round_by(scalar, nearest, guess, |float| float.mul(float).compare_magnitude(self))
    }

    /// The bits of the float that stands for a number of which `compare` knows on which side of it
    /// a magnitude lies.
    fn round_by(
        &self,
        scalar: Scalar,
        rounding: Rounding,
        guess: u64,
        compare: impl Fn(&Exact) -> Ordering,
    ) -> u64 {
        let (exponent_bits, mantissa_bits) = widths(scalar);
        let infinity = ((1 << exponent_bits) - 1) << mantissa_bits;
        // The largest float that is not above, by bisection.
        let (mut low, mut high) = (0, infinity);
        let guess = guess & !sign(scalar);
        let mut guesses = vec![guess + 1, guess.wrapping_sub(1), guess];
        while high - low > 1 {
            let guess = guesses.pop().filter(|guess| (low + 1..high).contains(guess));
            let middle = guess.unwrap_or((low + high) / 2);
            match compare(&Exact::float(scalar, middle)) {
                Ordering::Greater => high = middle,
                Ordering::Less | Ordering::Equal => low = middle,
            }
        }
        let is_exact = compare(&Exact::float(scalar, low)).is_eq();
        let sum = Exact::float(scalar, low).add(&Exact::float(scalar, low + 1));
        let middle = Exact { below: sum.below.shl(1), ..sum };
        let is_up = match rounding {
            _ if is_exact => false,
            Rounding::NearestEven => match compare(&Exact { is_negative: false, ..middle }) {
                Ordering::Less => true,
                Ordering::Equal => low % 2 == 1,
                Ordering::Greater => false,
            },
            Rounding::Zero => false,
            Rounding::Down => self.is_negative,
            Rounding::Up => !self.is_negative,
        };
        let bits = low + u64::from(is_up);
        bits | if self.is_negative { sign(scalar) } else { 0 }
    }
}

/// The bits of the exponent and of the mantissa.
pub fn widths(scalar: Scalar) -> (u32, u32) {
    match scalar {
        Scalar::F16 => (5, 10),
        Scalar::BF16 => (8, 7),
        Scalar::F32 => (8, 23),
        Scalar::F64 => (11, 52),
        _ => panic!("{scalar} is no float"),
    }
}

pub fn sign(scalar: Scalar) -> u64 {
    1 << (scalar.bits() - 1)
}
