// SPDX-License-Identifier: Apache-2.0
//! Offsets in memory with a swizzle. What is a multiple of the swizzle's period is added behind it,
//! so that a loop over stages, or over rows far apart, computes one swizzle for all turns. Nothing
//! here changes which element is meant.

use crate::emit::Emission;
use crate::value::Leaf;
use kernpack_layout::{Arith, Int, Result, Swizzle};

/// The most terms into which an offset is taken apart.
const MOST_TERMS: usize = 16;

/// A number, and how often it counts.
type Term = (Int<Leaf>, i64);

impl Emission {
    /// The offset in bytes that takes the place of so many times `at`.
    pub(super) fn swizzled(
        &mut self,
        swizzle: Swizzle,
        at: &Int<Leaf>,
        bytes: i64,
    ) -> Result<Int<Leaf>> {
        let mut terms = Vec::new();
        let is_whole = self.take_apart((*at, bytes), &mut terms);
        let (mut apart, within): (Vec<_>, Vec<_>) =
            terms.into_iter().partition(|term| self.is_period(swizzle, term));
        if !is_whole || apart.is_empty() {
            let offset = Arith::mul(self, at, &Int::Known(bytes))?;
            return swizzle.apply(self, &offset);
        }
        // Numbers that are known come last, and so into the instruction.
        apart.sort_by_key(|(number, _)| number.known().is_some());
        let within = self.sum_of(Int::Known(0), &within)?;
        let swizzled = swizzle.apply(self, &within)?;
        self.sum_of(swizzled, &apart)
    }

    /// Takes a term apart into those that it is a sum of; whether there are few enough.
    fn take_apart(&self, (number, times): Term, terms: &mut Vec<Term>) -> bool {
        let parts = match &number {
            Int::Known(_) => None,
            Int::Dynamic(leaf) => self.terms_of(leaf.value, times),
        };
        match parts {
            Some(parts) => parts.into_iter().all(|part| self.take_apart(part, terms)),
            None => {
                terms.push((number, times));
                terms.len() <= MOST_TERMS
            }
        }
    }

    /// Whether the swizzle leaves out what is a multiple of it.
    fn is_period(&self, swizzle: Swizzle, term: &Term) -> bool {
        let (number, times) = term;
        let divisor = self.facts_of(number).divisor.checked_mul(*times).unwrap_or(1);
        divisor % swizzle.period() == 0
    }

    fn sum_of(&mut self, first: Int<Leaf>, terms: &[Term]) -> Result<Int<Leaf>> {
        terms.iter().try_fold(first, |sum, (number, times)| {
            let term = Arith::mul(self, number, &Int::Known(*times))?;
            Arith::add(self, &sum, &term)
        })
    }
}
