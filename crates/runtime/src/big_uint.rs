// SPDX-License-Identifier: Apache-2.0
//! Exact products, for the tests of what is computed with fewer bits.

use core::cmp::Ordering;

/// 32 bits each, least significant first.
#[derive(Clone, Copy)]
pub(crate) struct BigUint([u32; 40]);

impl BigUint {
    pub(crate) fn from_u128(value: u128) -> Self {
        let mut limbs = [0; 40];
        for (place, limb) in limbs.iter_mut().take(4).enumerate() {
            *limb = (value >> (32 * place)) as u32;
        }
        Self(limbs)
    }

    pub(crate) fn mul_assign(&mut self, factor: u32) {
        let mut carry = 0;
        for limb in &mut self.0 {
            (*limb, carry) = limb.carrying_mul(factor, carry);
        }
        assert_eq!(carry, 0, "the product has room");
    }

    pub(crate) fn cmp(&self, other: &Self) -> Ordering {
        self.0.iter().rev().cmp(other.0.iter().rev())
    }
}
