// SPDX-License-Identifier: Apache-2.0
//! Symbols that several uses share: those that only strides have, and those that only `Optional`s
//! hold. The first use that counts in a call gives such a symbol its value; the others are compared
//! with it.
//!
//! Behind its last use the symbol is *settled*: it has its value, or that of a symbol without one.
//! The uses of a symbol in strides are checked there, and those in an `Optional` as soon
//! as a use has been met that is given wherever it is. Rules are checked behind the first use where
//! that counts, and elsewhere where the symbol is settled. Where no use is given at all, the symbol
//! is absent.

use super::Planner;
use super::first_of::{FirstOf, NextPlace};
use super::name::{Named, NamedKind};
use super::waiting::Event;
use crate::check::Info;
use crate::declare::Sharers;
use crate::fault::{Format, Phrase};
use crate::path::Path;
use crate::plan::Value;

/// Where a shared symbol has its value from.
#[derive(Clone, Debug)]
pub(super) struct Shared {
    /// The uses so far.
    uses: FirstOf,
    /// The symbol's value where no use counts.
    otherwise: Value,
    /// Whether that is known: whether a use is given at all.
    given: Value,
    /// Whether a use stands in an `Optional`.
    may_be_absent: bool,
    is_settled: bool,
}

/// A use that may bind a shared symbol.
#[derive(Clone, Copy, Debug)]
pub struct SharedUse<'u> {
    /// The check that compares it with those before it.
    pub info: &'static Info,
    /// Where it stands.
    pub path: &'u Path,
    /// The value there.
    pub actual: Value,
    /// Whether it does not count.
    pub excuse: Value,
    /// The symbol's value where no use counts, and this is the first that is given.
    pub otherwise: Value,
}

impl Shared {
    /// The place of `arg_index` among the values.
    pub(super) const ARG_INDEX: usize = 4;

    /// Whether rules may use the symbol's value so far.
    pub(super) fn known(&self) -> Value {
        if self.is_settled { self.uses.bound } else { self.uses.counts }
    }

    /// Whether a use is given; nothing where one always is.
    pub(super) fn given(&self) -> Option<Value> {
        self.may_be_absent.then_some(self.given)
    }

    /// The number of the argument with the use that has the value.
    pub(super) fn arg_index(&self) -> Value {
        self.uses.arg_index
    }

    pub(super) fn is_settled(&self) -> bool {
        self.is_settled
    }

    /// Every value in it.
    pub(super) fn values(&mut self) -> Vec<&mut Value> {
        let mut values = self.uses.values();
        values.extend([&mut self.otherwise, &mut self.given]);
        values
    }
}

impl Planner<'_> {
    /// Whether several uses share the symbol, and which.
    pub fn sharers(&self, symbol: &str) -> Option<Sharers> {
        self.bindings.symbols.get(symbol)?.sharers()
    }

    /// Takes a use of a shared symbol: compares it with those before it, or makes the rules that
    /// wait for the first. `own` is what stands there under a name of its own.
    pub fn bind_shared(&mut self, symbol: &str, at: &SharedUse<'_>, own: Option<Named>) {
        if self.sharers(symbol) == Some(Sharers::Optionals) {
            self.shared_under.entry(symbol.to_string()).or_default().insert(self.guards.clone());
        }
        let is_first = !self.names.contains_key(symbol);
        match self.names.get(symbol).cloned() {
            None => self.bind_first(symbol, at),
            Some(named) => self.bind_next(named, at),
        }
        let own = own.map_or(vec![], |own| self.put_here(own));
        let names: Vec<_> = [symbol].into_iter().chain(own.iter().map(String::as_str)).collect();
        let (subject, skip) = (at.path.subject("Invalid"), self.b.bool(false));
        self.make_checks(&names);
        // Rules over the symbol are made at its first use, and where it is settled.
        let names = if is_first { &names[..] } else { &names[1..] };
        self.make_rules(Event { names, path: at.path, what: &at.path.text, subject, skip });
        // One that only `Optional`s hold is settled behind the last of them, whether that is given
        // or not: an integer has the path of its `Optional`.
        if self.sharers(symbol) != Some(Sharers::Optionals) {
            self.settle(&at.path.text);
        }
    }

    fn bind_first(&mut self, symbol: &str, at: &SharedUse<'_>) {
        let (counts, given) = (self.b.not(at.excuse), self.b.bool(true));
        let uses = FirstOf::new(&mut self.b, at.path, at.actual, counts);
        let may_be_absent = !self.guards.is_empty();
        let shared =
            Shared { uses, otherwise: at.otherwise, given, may_be_absent, is_settled: false };
        let named = Named::new(at.actual, NamedKind::Int, at.path).called(symbol);
        self.put(Named { shared: Some(shared), ..named });
    }

    fn bind_next(&mut self, mut named: Named, at: &SharedUse<'_>) {
        let mut shared = named.shared.take().expect("the symbol is a shared one");
        let next = NextPlace {
            subject: at.path.subject("Mismatched"),
            actual: at.actual,
            excuse: at.excuse,
            first: shared.uses.path.text.clone(),
            name: &named.name,
        };
        self.require_same(at.info, next, &shared.uses);
        let counts = self.b.not(at.excuse);
        shared.uses.and(&mut self.b, at.path, at.actual, counts);
        let n_uses = self.bindings.symbols[&named.name].n_sharers();
        shared.may_be_absent |= !self.guards.is_empty();
        if shared.may_be_absent || shared.uses.n_places < n_uses {
            shared.uses.name(&mut self.b, &named.name);
        }
        shared.otherwise = self.b.select(shared.given, shared.otherwise, at.otherwise);
        shared.given = self.b.bool(true);
        self.put(Named { value: shared.uses.value, shared: Some(shared), ..named });
    }

    /// Where a rule that is left out in part cannot be asked about a shared symbol: it is not known
    /// yet, or is a stride that is free.
    pub(super) fn is_unknown(&mut self, symbol: &str, shared: &Shared) -> Value {
        let unknown = self.b.not(shared.known());
        match (shared.is_settled, self.sharers(symbol)) {
            (true, Some(Sharers::Strides)) => self.b.and(shared.given, unknown),
            (true, Some(Sharers::Optionals) | None) => self.b.bool(false),
            (false, _) => unknown,
        }
    }

    /// Whether the value of a name is final wherever these conditions hold.
    pub(super) fn is_final_under(&self, named: &Named, guards: &[Value]) -> bool {
        let mut around = (0..=guards.len()).map(|n_guards| &guards[..n_guards]);
        let under = self.shared_under.get(&named.name);
        named.shared.as_ref().is_none_or(Shared::is_settled)
            || under.is_some_and(|under| around.any(|guards| under.contains(guards)))
    }

    /// Settles the symbols whose last use stands at that path, or in the `Optional` there.
    pub fn settle(&mut self, path: &str) {
        for symbol in self.bindings.settled_at(path) {
            let mut named = self.names[symbol].clone();
            let shared = named.shared.as_mut().expect("the symbol is a shared one");
            shared.is_settled = true;
            let uses = &shared.uses;
            named.value = self.b.select(uses.bound, uses.value, shared.otherwise);
            // Where the first use counts, rules have been checked there.
            let (skip, path) = (uses.counts, named.path.clone());
            let subject = Phrase::text(format!("Invalid {symbol} on argument #"))
                .and_value(uses.arg_index, Format::Int);
            self.put(named);
            self.make_checks(&[symbol]);
            self.make_rules(Event { names: &[symbol], path: &path, what: symbol, subject, skip });
        }
    }
}
