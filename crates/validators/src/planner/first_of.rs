// SPDX-License-Identifier: Apache-2.0
//! Several places that must have one value, of which some may not count in a call: the first that
//! counts has the value, and every later one is compared with it.
//!
//! Each place costs the same, however many there are: what those before it say is merged.

use super::Planner;
use crate::check::Info;
use crate::fault::{Format, Phrase};
use crate::path::Path;
use crate::plan::{Builder, Value};

/// The first of several places that counts.
#[derive(Clone, Debug)]
pub struct FirstOf {
    /// Where the first place as written stands.
    pub path: Path,
    /// The value there.
    pub actual: Value,
    /// Whether it counts.
    pub counts: Value,
    /// The value at the first place that counts; meaningless where none does.
    pub value: Value,
    /// Whether one of the places counts.
    pub bound: Value,
    /// The number of the argument that holds the first place that counts.
    pub arg_index: Value,
    /// How many places there are.
    pub n_places: usize,
}

impl FirstOf {
    /// The first place as written.
    pub fn new(b: &mut Builder, path: &Path, actual: Value, counts: Value) -> FirstOf {
        let arg_index = b.int(path.arg_index as i64);
        FirstOf {
            path: path.clone(),
            actual,
            counts,
            value: actual,
            bound: counts,
            arg_index,
            n_places: 1,
        }
    }

    /// Adds the next place as written.
    pub fn and(&mut self, b: &mut Builder, path: &Path, actual: Value, counts: Value) {
        let arg_index = b.int(path.arg_index as i64);
        self.value = b.select(self.bound, self.value, actual);
        self.arg_index = b.select(self.bound, self.arg_index, arg_index);
        self.bound = b.or(self.bound, counts);
        self.n_places += 1;
    }

    /// Names what the places so far say, in front of others: so it is evaluated once, and not by
    /// each of those. `name` is what the places share.
    pub fn name(&self, b: &mut Builder, name: &str) {
        let name = format!("{name}[..{}]", self.n_places);
        b.let_named(format!("{name}.bound"), self.bound);
        b.let_named(format!("{name}.argument"), self.arg_index);
        b.let_named(name, self.value);
    }

    /// Every value in it.
    pub(super) fn values(&mut self) -> Vec<&mut Value> {
        let FirstOf { actual, counts, value, bound, arg_index, .. } = self;
        vec![actual, counts, value, bound, arg_index]
    }
}

/// A place that is compared with those before it.
#[derive(Clone, Debug)]
pub struct NextPlace<'p> {
    /// The subject, as a message begins.
    pub subject: Phrase,
    /// The value there.
    pub actual: Value,
    /// Whether it does not count.
    pub excuse: Value,
    /// The name of the first place.
    pub first: String,
    /// The name that every place binds.
    pub name: &'p str,
}

impl Planner<'_> {
    /// Requires a place to have the value of those before it. A message names the first place where
    /// that counts, and otherwise the argument that holds the one that does.
    pub fn require_same(&mut self, info: &Info, next: NextPlace<'_>, before: &FirstOf) {
        let NextPlace { subject, actual, excuse, first, name } = next;
        let equal = self.b.eq(actual, before.actual);
        let uncounted = self.b.not(before.counts);
        let cond = self.b.or(equal, uncounted);
        let cond = self.b.or(cond, excuse);
        let got = received(actual, &first, before.actual);
        self.require(cond, info.complaint(&subject, format!("to match {first}"), got));
        if before.n_places > 1 {
            let equal = self.b.eq(actual, before.value);
            let unbound = self.b.not(before.bound);
            let cond = self.b.or(equal, before.counts);
            let cond = self.b.or(cond, unbound);
            let cond = self.b.or(cond, excuse);
            let expected = Phrase::text(format!("to match {name} on argument #"))
                .and_value(before.arg_index, Format::Int);
            let got = received(actual, name, before.value);
            self.require(cond, info.complaint(subject, expected, got));
        }
    }
}

/// `5 (s is 4)`
fn received(actual: Value, name: &str, value: Value) -> Phrase {
    let got = Phrase::value(actual, Format::Int).and(format!(" ({name} is "));
    got.and_value(value, Format::Int).and(")")
}
