// SPDX-License-Identifier: Apache-2.0
//! Names and what they stand for: symbols, dtype variables, parameters and their fields.
//!
//! A name gets its value once; only that of a [shared](super::shared) symbol may change, while its
//! uses are met one after another.

use super::Planner;
use super::shared::Shared;
use super::waiting::Event;
use crate::path::Path;
use crate::plan::{Builder, Value};

/// The kinds of named values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NamedKind {
    /// An integer, or a truth as 0 or 1.
    Int,
    /// The bits of a float64.
    Float,
    /// An address.
    Pointer,
    /// A packed dtype.
    DType,
    /// A text.
    Text,
    /// The environment's stream, which has no value while arguments are checked.
    EnvStream,
}

/// A name with a value.
#[derive(Clone, Debug)]
pub struct Named {
    /// The value.
    pub value: Value,
    /// Its kind.
    pub kind: NamedKind,
    /// As it is written: `n`, `a.shape[0]`.
    pub name: String,
    /// Where it got its value.
    pub path: Path,
    /// The conditions under which it has one.
    pub(super) guards: Vec<Value>,
    /// Where a symbol that several uses may bind has its value from.
    pub(super) shared: Option<Shared>,
    /// Whether the value is what stands at the path, and not solved from it.
    pub exact: bool,
    /// Whether it has a value at all: a product may overflow.
    pub valid: Option<Value>,
    /// Whether the `Optional` is given that holds it, where one does.
    pub(super) given: Option<Value>,
}

impl Named {
    /// A name of a path's own: the value that stands there.
    pub fn new(value: Value, kind: NamedKind, path: &Path) -> Named {
        let (name, path) = (path.text.clone(), path.clone());
        let (guards, shared, valid, given) = (vec![], None, None, None);
        Named { value, kind, name, path, guards, shared, exact: true, valid, given }
    }

    /// The same under another name.
    pub fn called(self, name: &str) -> Named {
        Named { name: name.to_string(), ..self }
    }

    /// The same; `exact` says whether the value is what stands at the path, and not solved from it.
    pub fn solved(self, exact: bool) -> Named {
        Named { exact, ..self }
    }

    /// The value of everything in it where the name is absent: a valid 0.
    pub(super) fn absent(&mut self, b: &mut Builder) -> Vec<Value> {
        let mut absent: Vec<_> =
            self.values().into_iter().map(|value| b.zero_like(*value)).collect();
        if self.valid.is_some() {
            absent[1] = b.bool(true);
        }
        if let Some(shared) = &self.shared {
            // Of a symbol without a use that is given, messages name the argument of the first.
            let place = self.n_own_values() + Shared::ARG_INDEX;
            absent[place] = shared.arg_index();
        }
        absent
    }

    /// How many values it has beside those of a shared symbol.
    fn n_own_values(&self) -> usize {
        1 + usize::from(self.valid.is_some()) + usize::from(self.given.is_some())
    }

    /// Whether there is one in a call; nothing where there always is.
    pub(super) fn given(&self) -> Option<Value> {
        self.shared.as_ref().map_or(self.given, Shared::given)
    }

    /// The number of the argument that has a shared symbol's value, where that is known in a call
    /// only.
    pub fn settled_arg_index(&self) -> Option<Value> {
        self.shared.as_ref().filter(|it| it.is_settled()).map(Shared::arg_index)
    }

    /// Whether the value is what stands at the path in every call.
    pub fn stands_at_path(&self) -> bool {
        self.exact && self.shared.is_none()
    }

    /// Every value in it: its own, then whether it has one, and whether what holds it is given.
    pub(super) fn values(&mut self) -> Vec<&mut Value> {
        let mut values = vec![&mut self.value];
        values.extend(&mut self.valid);
        values.extend(&mut self.given);
        values.extend(self.shared.iter_mut().flat_map(Shared::values));
        values
    }
}

impl Planner<'_> {
    /// Whether there is in a call what goes by that name; nothing where there always is, as what a
    /// call allocates.
    pub fn given(&self, name: &str) -> Option<Value> {
        self.names.get(name).and_then(Named::given)
    }

    /// The name's value, where it has one.
    pub fn named(&self, name: &str) -> Option<&Named> {
        self.names.get(name)
    }

    /// Every name with a value.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.names.keys().map(String::as_str)
    }

    /// Gives a name its value, and makes the checks that waited for it.
    pub fn define(&mut self, named: Named) {
        self.define_all([named]);
    }

    /// Takes the value of a name away, which no open condition has given it.
    pub fn forget(&mut self, name: &str) {
        self.names.remove(name);
    }

    /// Gives several names their values at one place, and makes the checks that waited for one of
    /// them.
    pub fn define_all(&mut self, all: impl IntoIterator<Item = Named>) {
        let (mut names, mut first) = (Vec::new(), None);
        for named in all {
            first.get_or_insert_with(|| named.path.clone());
            names.extend(self.put_here(named));
        }
        let Some(path) = first else { return };
        let (subject, skip) = (path.subject("Invalid"), self.b.bool(false));
        let names: Vec<_> = names.iter().map(String::as_str).collect();
        self.make_checks(&names);
        self.make_rules(Event { names: &names, path: &path, what: &path.text, subject, skip });
    }

    /// Keeps a name that has its value under the open conditions; a path under its other name too.
    /// Returns the names.
    pub(super) fn put_here(&mut self, named: Named) -> Vec<String> {
        let given = (!self.guards.is_empty()).then(|| self.b.bool(true));
        let named = Named { guards: self.guards.clone(), given, ..named };
        let mut names = vec![named.name.clone()];
        let is_own = named.name == named.path.text;
        if let Some(alias) = named.path.alias.clone().filter(|_| is_own) {
            self.put(named.clone().called(&alias));
            names.push(alias);
        }
        self.put(named);
        names
    }

    /// Keeps a name, and what it was where that has to leave a `when`.
    pub(super) fn put(&mut self, named: Named) {
        let name = named.name.clone();
        let before = self.names.insert(name.clone(), named);
        if !self.guards.is_empty() {
            self.defined.push((name, before));
        }
    }
}
