// SPDX-License-Identifier: Apache-2.0
//! Names and what they stand for: symbols, dtype variables, parameters and their fields.
//!
//! A name gets its value once; only a stride symbol's may change, while its uses are met one after
//! another.

use super::Planner;
use crate::path::Path;
use crate::plan::Value;

/// What a name stands for.
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
    /// The environment's stream, which has no value while arguments are checked.
    EnvStream,
}

/// A name with a value.
#[derive(Clone, Debug)]
pub struct Named {
    /// The value.
    pub value: Value,
    /// What it is.
    pub kind: NamedKind,
    /// As it is written: `n`, `a.shape[0]`.
    pub name: String,
    /// Where it got its value.
    pub path: Path,
    /// The conditions under which it has one.
    pub(super) guards: Vec<Value>,
    /// What a stride symbol has its value from.
    pub(super) stride: Option<StrideOrigin>,
    /// Whether the value is what stands at the path, and not solved from it.
    pub exact: bool,
    /// Whether it has a value at all: a product may overflow.
    pub valid: Option<Value>,
}

impl Named {
    /// A name of a path's own: the value that stands there.
    pub fn new(value: Value, kind: NamedKind, path: &Path) -> Named {
        let (name, path) = (path.text.clone(), path.clone());
        Named { value, kind, name, path, guards: vec![], stride: None, exact: true, valid: None }
    }

    /// The same under another name.
    pub fn called(self, name: &str) -> Named {
        Named { name: name.to_string(), ..self }
    }

    /// The same; `exact` says whether the value is what stands at the path, and not solved from it.
    pub fn solved(self, exact: bool) -> Named {
        Named { exact, ..self }
    }
}

/// Where the value of a symbol that only strides bind comes from.
#[derive(Clone, Copy, Debug)]
pub(super) struct StrideOrigin {
    /// Whether it is a stride, and not a compact one for want of it.
    pub(super) bound: Value,
    /// Whether a use of the symbol is given at all.
    pub(super) given: Value,
}

impl Planner<'_> {
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

    /// Gives several names their values at one place, and makes the checks that waited for one of
    /// them.
    pub fn define_all(&mut self, all: impl IntoIterator<Item = Named>) {
        let mut names = Vec::new();
        for named in all {
            let name = named.name.clone();
            self.names.insert(name.clone(), Named { guards: self.guards.clone(), ..named });
            names.push(name);
        }
        if let Some(first) = names.first() {
            let path = self.names[first].path.clone();
            self.flush_on(&names, &path, None);
        }
    }
}
