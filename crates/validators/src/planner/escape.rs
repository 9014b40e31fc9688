// SPDX-License-Identifier: Apache-2.0
//! Values that leave a `when`: those that its steps define or change, with what they are elsewhere.

use super::Planner;
use super::first_of::FirstOf;
use super::name::Named;
use crate::check::alias::Extent;
use crate::plan::{Builder, Guarded, Value};
use std::collections::BTreeMap;

/// The state before a `when`.
struct Mark {
    n_defined: usize,
    n_waiting: usize,
    n_peers: usize,
    device_index: Option<FirstOf>,
}

/// A name that a `when` defines or changes.
struct Leaving {
    named: Named,
    before: Option<Named>,
    /// The memory that a tensor of that path spans.
    extent: Option<Extent>,
}

impl<'s> Planner<'s> {
    /// Plans `body` under a condition. What it defines is 0, NULL or false elsewhere.
    pub fn when(&mut self, cond: Value, body: impl FnOnce(&mut Planner<'s>)) {
        let mark = Mark {
            n_defined: self.defined.len(),
            n_waiting: self.waiting.mark(),
            n_peers: self.peers.len(),
            device_index: self.device_index.clone(),
        };
        self.b.open();
        self.guards.push(cond);
        body(self);
        self.guards.pop();
        let mut leaving = self.take_leaving(&mark);
        self.close(cond, &mark, &mut leaving);
        for Leaving { named, extent, .. } in leaving {
            let name = named.name.clone();
            extent.map(|extent| self.extents.insert(name.clone(), extent));
            self.names.insert(name, named);
        }
        if self.guards.is_empty() {
            self.defined.clear();
        }
    }

    /// Takes the names that were defined or changed since `mark` from where they are kept. Nothing
    /// behind a `when` asks for the dims of a star that it has bound.
    fn take_leaving(&mut self, mark: &Mark) -> Vec<Leaving> {
        let mut before = BTreeMap::new();
        for (name, was) in &self.defined[mark.n_defined..] {
            before.entry(name.clone()).or_insert_with(|| was.clone());
        }
        let leaving = before.into_iter().map(|(name, before)| {
            self.stars.remove(&name);
            let named = self.names.remove(&name).expect("a name that was defined");
            Leaving { named, before, extent: self.extents.remove(&name) }
        });
        leaving.collect()
    }

    /// Closes the `when`, and makes what leaves it what it is behind.
    fn close(&mut self, cond: Value, mark: &Mark, leaving: &mut [Leaving]) {
        let mut places: Vec<(&mut Value, Value)> = Vec::new();
        for leaving in leaving {
            leaving.places(&mut self.b, &mut places);
        }
        let waiting = self.waiting.values_since(mark.n_waiting);
        places.extend(waiting.into_iter().map(|value| elsewhere_zero(&mut self.b, value)));
        let mut device_index = mark.device_index.clone();
        let before = device_index.iter_mut().flat_map(FirstOf::values).map(|value| *value);
        let before: Vec<_> = before.collect();
        let values = self.device_index.iter_mut().flat_map(FirstOf::values);
        for (i, value) in values.enumerate() {
            places.push(match before.get(i) {
                Some(before) => (value, *before),
                None => elsewhere_zero(&mut self.b, value),
            });
        }
        for peer in &mut self.peers[mark.n_peers..] {
            places.push((peer, self.b.int(-1)));
        }
        places.retain(|(value, elsewhere)| **value != *elsewhere);
        let guarded = |(value, elsewhere): &(&mut Value, Value)| Guarded {
            inner: **value,
            otherwise: *elsewhere,
        };
        let guarded: Vec<_> = places.iter().map(guarded).collect();
        for ((value, _), outer) in places.into_iter().zip(self.b.close(cond, &guarded)) {
            *value = outer;
        }
    }
}

impl Leaving {
    /// The values, each with what it is elsewhere.
    fn places<'v>(&'v mut self, b: &mut Builder, into: &mut Vec<(&'v mut Value, Value)>) {
        let before: Vec<_> = match &mut self.before {
            Some(before) => before.values().into_iter().map(|value| *value).collect(),
            None => self.named.absent(b),
        };
        into.extend(self.named.values().into_iter().zip(before));
        if let Some(Extent { low, high, valid, empty }) = &mut self.extent {
            into.extend([low, high, valid, empty].map(|value| elsewhere_zero(b, value)));
        }
    }
}

/// A value that is 0 or false elsewhere.
fn elsewhere_zero<'v>(b: &mut Builder, value: &'v mut Value) -> (&'v mut Value, Value) {
    let zero = b.zero_like(*value);
    (value, zero)
}
