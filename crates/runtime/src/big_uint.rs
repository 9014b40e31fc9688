// SPDX-License-Identifier: Apache-2.0
//! Unsigned integers as wide as the shortest digits of an `f64` need.

use core::cmp::Ordering;

/// 32 bits each, least significant first.
///
/// The widest number is ten times what [`crate::float`] counts as one for the smallest `f64`: 10 * 2^1076, which has
/// 1080 bits.
const N_LIMBS: usize = 34;

/// A number below 2^1088. It has one length, so there is none to keep track of; overflow wraps.
///
/// Its loops are not inlined: copies of them would be most of what printing a float costs in bytes.
#[derive(Clone, Copy)]
pub(crate) struct BigUint([u32; N_LIMBS]);

impl BigUint {
    pub(crate) fn from_u64(value: u64) -> Self {
        let mut limbs = [0; N_LIMBS];
        limbs[0] = value as u32;
        limbs[1] = (value >> 32) as u32;
        Self(limbs)
    }

    pub(crate) fn shl_assign(&mut self, n_bits: u32) {
        for _ in 0..n_bits / 31 {
            self.mul_assign(1 << 31);
        }
        self.mul_assign(1 << (n_bits % 31));
    }

    #[inline(never)]
    pub(crate) fn mul_assign(&mut self, factor: u32) {
        let mut carry = 0;
        for limb in &mut self.0 {
            (*limb, carry) = limb.carrying_mul(factor, carry);
        }
    }

    #[inline(never)]
    pub(crate) fn plus(mut self, other: &Self) -> Self {
        let mut carry = false;
        for (limb, other) in self.0.iter_mut().zip(&other.0) {
            (*limb, carry) = limb.carrying_add(*other, carry);
        }
        self
    }

    #[inline(never)]
    pub(crate) fn sub_assign(&mut self, other: &Self) {
        let mut borrow = false;
        for (limb, other) in self.0.iter_mut().zip(&other.0) {
            (*limb, borrow) = limb.borrowing_sub(*other, borrow);
        }
    }

    #[inline(never)]
    pub(crate) fn cmp(&self, other: &Self) -> Ordering {
        self.0.iter().rev().cmp(other.0.iter().rev())
    }
}
