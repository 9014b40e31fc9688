// SPDX-License-Identifier: Apache-2.0
//! Symbols that several uses may bind: those that only strides have. The first use that counts in a
//! call gives such a symbol its value, which is final behind the last.
//!
//! What names the symbol is checked behind its last use. Rules are checked behind the first use
//! already where that one counts.

use super::Planner;
use super::first_of::{FirstOf, NextPlace};
use super::name::{Named, NamedKind};
use super::waiting::Event;
use crate::check;
use crate::check::stride::StrideUse;
use crate::fault::{Format, Phrase};
use crate::plan::Value;

/// Where a shared symbol has its value from.
#[derive(Clone, Debug)]
pub(super) struct Shared {
    /// The uses so far.
    uses: FirstOf,
    /// What the symbol is where no use counts.
    otherwise: Value,
    /// Whether that is known: whether a use is given at all.
    given: Value,
    /// Whether the value is final.
    pub(super) settled: bool,
}

impl Shared {
    /// Whether rules may use the symbol's value so far.
    pub(super) fn known(&self) -> Value {
        if self.settled { self.uses.bound } else { self.uses.counts }
    }

    /// Every value in it.
    pub(super) fn values(&mut self) -> Vec<&mut Value> {
        let mut values = self.uses.values();
        values.extend([&mut self.otherwise, &mut self.given]);
        values
    }
}

impl Planner<'_> {
    /// Whether several uses may bind the symbol.
    pub fn is_shared(&self, symbol: &str) -> bool {
        self.bindings.symbols.get(symbol).is_some_and(|binding| binding.is_shared())
    }

    /// Takes a stride of a symbol that only strides bind: compares it with those before it, or
    /// makes the rules that wait for the first.
    pub fn bind_shared(&mut self, symbol: &str, at: &StrideUse<'_>) {
        let counts = self.b.not(at.free);
        let given = self.b.bool(true);
        match self.names.get(symbol).cloned() {
            None => {
                let uses = FirstOf::new(&mut self.b, at.path, at.actual, counts);
                let shared = Shared { uses, otherwise: at.compact, given, settled: false };
                let named = Named::new(at.actual, NamedKind::Int, at.path).called(symbol);
                self.put(Named { shared: Some(shared), ..named });
                let skip = self.b.bool(false);
                let subject = at.path.subject("Invalid");
                self.make_ready(Event { names: &[symbol], path: at.path, subject, skip });
            }
            Some(named) => {
                let mut shared = named.shared.clone().expect("the symbol is a shared one");
                let next = NextPlace {
                    subject: at.path.subject("Mismatched"),
                    actual: at.actual,
                    excuse: at.free,
                    first: shared.uses.path.text.clone(),
                    name: symbol,
                };
                self.require_same(&check::stride::INFO, next, &shared.uses);
                shared.uses.and(&mut self.b, symbol, at.path, at.actual, counts);
                shared.otherwise = self.b.select(shared.given, shared.otherwise, at.compact);
                shared.given = given;
                self.put(Named { shared: Some(shared), ..named });
            }
        }
        self.settle(&at.path.text);
    }

    /// Makes final what symbols are whose last use stands at that path, or in the `Optional` there,
    /// and makes the checks that waited for it.
    pub fn settle(&mut self, path: &str) {
        for symbol in self.bindings.settled_at(path) {
            let mut named = self.names[symbol].clone();
            let shared = named.shared.as_mut().expect("the symbol is a shared one");
            shared.settled = true;
            let uses = &shared.uses;
            named.value = self.b.select(uses.bound, uses.value, shared.otherwise);
            // Where the first use counts, rules have been checked there.
            let (skip, path) = (uses.counts, named.path.clone());
            let subject = Phrase::text(format!("Invalid {symbol} on argument #"))
                .and_value(uses.arg_index, Format::Int);
            self.put(named);
            self.make_ready(Event { names: &[symbol.as_str()], path: &path, subject, skip });
        }
    }
}
