// SPDX-License-Identifier: Apache-2.0
//! Names of a function while it is elaborated.
//!
//! A name stands for a value, which may be a constant; or, where run-time control decides what it
//! is, for slots of the kernel. What is bound in a branch is written down, so that it can be undone
//! and joined with what the other branch binds: that costs what the branch binds, however many
//! names there are.

use crate::file::ModuleId;
use crate::python::tree::Name;
use crate::value::{Elements, Items, Value};
use kernpack_kernel_ir::Scalar;
use kernpack_kernel_ir::kernel::Slot;
use kernpack_syntax::Span;
use std::collections::HashMap;
use std::sync::Arc;

/// The names of one call of a function.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct FrameId(pub usize);

/// What a name stands for.
#[derive(Clone, Debug)]
pub(crate) enum Binding {
    /// That.
    Value(Value),
    /// What slots hold.
    Stored(Stored),
    /// Nothing here, though it is assigned somewhere.
    Lost(Lost),
}

/// A value in slots.
#[derive(Clone, Debug)]
pub(crate) enum Stored {
    /// A number or truth value.
    One(Slot),
    /// A tuple.
    Items(Vec<Stored>, Arc<Items>),
    /// The elements of a register tensor.
    Elements(Vec<Slot>, Arc<Elements>),
    /// What is the same whatever happens.
    Same(Value),
}

/// Why a name stands for nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Lost {
    /// Not every way here assigns it.
    Branch,
    /// A loop assigns it, which may not run.
    Loop,
    /// It is the index of a loop.
    Index,
    /// It is something that no slot holds, and is another in each turn or branch.
    Changes,
    /// A mistake was reported.
    Poison,
}

/// A name.
#[derive(Clone, Debug)]
pub(crate) struct Variable {
    /// What it stands for.
    pub binding: Binding,
    /// The type that it keeps, where it is a number or a truth value.
    pub scalar: Option<Scalar>,
    /// Where it was assigned first.
    pub span: Span,
}

/// The names of a call.
#[derive(Debug)]
pub(crate) struct Frame {
    /// The file of the function.
    pub module: ModuleId,
    /// The names around a function that stands in another.
    pub outer: Option<FrameId>,
    names: HashMap<Name, Variable>,
    /// What names stood for before they were bound, in order.
    trail: Vec<(Name, Option<Variable>)>,
}

/// What a branch binds, each name once.
pub(crate) type Bound = Vec<(Name, Variable)>;

impl Frame {
    /// No names.
    pub fn new(module: ModuleId, outer: Option<FrameId>) -> Frame {
        Frame { module, outer, names: HashMap::new(), trail: Vec::new() }
    }

    /// What a name is.
    pub fn get(&self, name: &str) -> Option<&Variable> {
        self.names.get(name)
    }

    /// Binds a name.
    pub fn bind(&mut self, name: &Name, variable: Variable) {
        let before = self.names.insert(name.clone(), variable);
        self.trail.push((name.clone(), before));
    }

    /// Where a branch begins.
    pub fn mark(&self) -> usize {
        self.trail.len()
    }

    /// Undoes what was bound since then; gives it, in the order in which names were bound first.
    pub fn undo(&mut self, mark: usize) -> Bound {
        let mut bound = Bound::new();
        for (name, before) in self.trail.drain(mark..).rev() {
            let now = match before {
                Some(before) => self.names.insert(name.clone(), before),
                None => self.names.remove(&name),
            };
            bound.extend(now.map(|now| (name, now)));
        }
        // What was undone first is what a name stood for last.
        let mut seen = std::collections::HashSet::new();
        bound.retain(|(name, _)| seen.insert(name.clone()));
        bound.reverse();
        bound
    }
}
