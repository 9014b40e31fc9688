// SPDX-License-Identifier: Apache-2.0
//! Statements that an index is in bounds, which are made before it is known whether anything
//! relies on them: those of a view, which may be touched under a condition only, or nowhere. A
//! claim is a statement once something relies on it that comes about wherever the claim does. The
//! others are gone when the kernel is finished.
//!
//! A statement at the place that relies on it is no claim: [`Builder::in_bounds`] does that.

use crate::builder::Builder;
use crate::kernel::Value;
use crate::op::{Check, OpKind, Region};
use rustc_hash::FxHashMap;

/// A claim. Until the kernel is finished, this value stands for its index.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Claim(Value);

/// The claims of a kernel in the making.
#[derive(Debug, Default)]
pub(crate) struct Claims {
    made: FxHashMap<Claim, Made>,
    /// How many jumps were built: behind one it is not known that all come by who made a claim.
    pub n_jumps: usize,
}

#[derive(Clone, Copy, Debug)]
struct Made {
    index: Value,
    region: usize,
    n_jumps: usize,
    is_statement: bool,
}

impl Claims {
    /// Makes statements of the claims that something relies on, and removes the others.
    pub fn settle(&self, body: &mut Region) {
        if !self.made.is_empty() {
            self.settle_in(body);
        }
    }

    fn settle_in(&self, region: &mut Region) {
        region.0.retain_mut(|op| match &mut op.kind {
            OpKind::InBounds { index, .. } => match self.made.get(&Claim(*index)) {
                Some(made) => {
                    *index = made.index;
                    made.is_statement
                }
                None => true,
            },
            _ => true,
        });
        for op in &mut region.0 {
            op.kind.regions_mut().for_each(|region| self.settle_in(region));
        }
    }
}

impl Builder {
    /// Claims that an index is in bounds.
    pub fn claim_in_bounds(&mut self, index: Value, extent: Value, check: Option<Check>) -> Claim {
        let claim = Claim(self.new_value(self.ty(index), None));
        self.push(None, OpKind::InBounds { index: claim.0, extent, check });
        let (region, n_jumps) = (self.numbering.innermost(), self.claims.n_jumps);
        let made = Made { index, region, n_jumps, is_statement: false };
        self.claims.made.insert(claim, made);
        claim
    }

    /// Relies on a claim where things are built now, if whoever made it comes here too, or it is a
    /// statement anyway. Gives whether that is so.
    pub fn rely_on(&mut self, claim: Claim) -> bool {
        let Some(made) = self.claims.made.get_mut(&claim) else { return false };
        if made.is_statement {
            return self.numbering.is_known(made.region);
        }
        made.is_statement =
            self.numbering.is_innermost(made.region) && made.n_jumps == self.claims.n_jumps;
        made.is_statement
    }
}
