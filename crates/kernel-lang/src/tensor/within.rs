// SPDX-License-Identifier: Apache-2.0
//! Accesses of checked builds: they are made where their indices are in bounds, and skipped
//! elsewhere. What else is stated of an index, and relied on, is told there by the running kernel.
//!
//! Only facts that hold for every call leave a check out: those that the call's own checks
//! establish, and what they give. Not here: which indices an access has, and their extents.

use super::Predicate;
use crate::emit::Emission;
use crate::python::tree::Name;
use kernpack_kernel_ir::kernel::Value;
use kernpack_kernel_ir::op::{Binary, Check, Compare, Region, Unary};
use kernpack_kernel_ir::{Const, Type};

/// Where an access is made. In a build that is not checked that is everywhere.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Within(Option<Value>);

impl Within {
    /// Wherever threads come by.
    pub const EVERYWHERE: Within = Within(None);

    /// The condition of the access, where it has one.
    pub fn condition(self) -> Option<Value> {
        self.0
    }
}

impl Emission {
    /// The check of an index of something, in a build that is checked.
    pub fn check(&self, of: &Name) -> Option<Check> {
        self.is_checked.then(|| Check { of: of.to_string() })
    }

    /// Where an index is in bounds, which is stated.
    pub fn within(&mut self, index: Value, extent: Value) -> Within {
        if !self.is_checked {
            return Within::EVERYWHERE;
        }
        let is_below = Within(Some(self.compute_compare(Compare::Lt, index, extent)));
        if self.facts_of_value(index).min >= 0 {
            return is_below;
        }
        let zero = self.b.index(0);
        let is_natural = self.compute_compare(Compare::Ge, index, zero);
        self.both(Within(Some(is_natural)), is_below)
    }

    /// Where both accesses are made.
    pub fn both(&mut self, a: Within, b: Within) -> Within {
        match (a.0, b.0) {
            (Some(a), Some(b)) => Within(Some(self.compute_binary(Binary::And, a, b))),
            (a, b) => Within(a.or(b)),
        }
    }

    /// The same of accesses of which each may be one that cannot be made: then both are.
    pub fn both_if_any(&mut self, a: Option<Within>, b: Option<Within>) -> Option<Within> {
        Some(self.both(a?, b?))
    }

    /// Where an access is made that the lanes of a warp make together: where each of them can.
    pub fn in_all_lanes(&mut self, within: Within) -> Within {
        Within(within.0.map(|condition| self.call_row("vote.all", &[condition])))
    }

    /// Where an access is skipped, if that may be anywhere.
    pub fn skipped(&mut self, within: Within) -> Option<Within> {
        within.0.map(|condition| Within(Some(self.b.unary(Unary::Not, condition))))
    }

    /// A truth, or that an access is skipped.
    pub fn or_skipped(&mut self, truth: Value, within: Within) -> Value {
        match self.skipped(within) {
            Some(Within(Some(skipped))) => self.b.binary(Binary::Or, truth, skipped),
            Some(Within(None)) | None => truth,
        }
    }

    /// The elements that a predicate lets be touched, where an access is made.
    pub fn narrowed(&mut self, pred: &Predicate, within: Within) -> Predicate {
        let Some(within) = within.0 else { return pred.clone() };
        let mut also = |condition: &Value| self.compute_binary(Binary::And, *condition, within);
        match pred {
            Predicate::Always => Predicate::When(within),
            Predicate::When(condition) => Predicate::When(also(condition)),
            Predicate::Each(conditions) => Predicate::Each(conditions.iter().map(also).collect()),
        }
    }

    /// Makes an access, and gives what it gives: 0 where it is skipped.
    pub fn access(
        &mut self,
        within: Within,
        make: impl FnOnce(&mut Emission) -> Option<Value>,
    ) -> Option<Value> {
        let Some(condition) = within.0 else { return make(self) };
        self.b.open();
        let given = make(self);
        let slot = given.map(|value| {
            let slot = self.b.slot("given", self.b.ty(value));
            self.b.set(slot, value);
            slot
        });
        let made = self.b.close();
        let skipped = match (slot, given.map(|value| self.b.ty(value))) {
            (Some(slot), Some(ty @ (Type::Scalar(scalar) | Type::Vector(scalar, _)))) => {
                self.b.open();
                let zero = self.b.constant(Const::from_bits(scalar, 0));
                let zeros = self.b.splat(zero, ty.lanes());
                self.b.set(slot, zeros);
                self.b.close()
            }
            _ => Region::default(),
        };
        self.b.if_else(condition, made, skipped);
        slot.map(|slot| self.b.get(slot))
    }
}
