// SPDX-License-Identifier: Apache-2.0
//! The calls that a kernel's elaboration is in, and the names of each.
//!
//! A name stands for a value, which may be a constant; or, where run-time control decides what it
//! is, for slots of the kernel. What is bound in a branch is written down, so that it can be undone
//! and joined with what the other branch binds: that costs what the branch binds, however many
//! names there are.

use crate::file::ModuleId;
use crate::inline::Activation;
use crate::names::{Constants, FrameId, Frames, Scope};
use crate::python::tree::Name;
use crate::value::{Elaborated, Elements, Items};
use kernpack_kernel_ir::Scalar;
use kernpack_kernel_ir::kernel::Slot;
use kernpack_syntax::Span;
use rustc_hash::FxHashMap;
use std::sync::Arc;

/// The meaning of a name.
#[derive(Clone, Debug)]
pub(crate) enum Binding {
    /// A value.
    Value(Elaborated),
    /// The value that slots hold.
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
    /// A value that is the same whatever happens.
    Same(Elaborated),
}

/// A point of the elaboration: what was there then is known wherever it is gone on from there.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Horizon {
    /// How many values the kernel had.
    pub n_values: usize,
    /// The first call that had not begun, as a function in a later one sees later values.
    pub next_frame: FrameId,
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
    /// Its meaning.
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
    /// Each with the branch in which it was bound.
    names: FxHashMap<Name, (Variable, u64)>,
    /// The meanings of names before a branch bound them, in order.
    trail: Vec<(Name, Option<(Variable, u64)>)>,
    /// The branches that we are in; 0 stands for the function itself.
    branches: Vec<u64>,
    n_branches: u64,
}

impl Scope for Frame {
    type Bound = Variable;

    fn own(&self, name: &str) -> Option<&Variable> {
        self.get(name)
    }

    fn outer(&self) -> Option<FrameId> {
        self.outer
    }
}

/// The calls that we are in, and the names of these and of those that have ended.
#[derive(Default)]
pub(crate) struct Scopes {
    frames: Frames<Frame>,
    /// The kernel first.
    activations: Vec<Activation>,
    constants: Constants<Elaborated>,
}

impl Scopes {
    /// Adds the names of a call.
    pub fn open(&mut self, module: ModuleId, outer: Option<FrameId>) -> FrameId {
        self.frames.open(Frame::new(module, outer))
    }

    /// The number of the names that are added next.
    pub fn next_frame(&self) -> FrameId {
        self.frames.next()
    }

    /// Begins a call.
    pub fn push(&mut self, activation: Activation) {
        self.activations.push(activation);
    }

    /// Ends the innermost call.
    pub fn pop(&mut self) -> Option<Activation> {
        self.activations.pop()
    }

    /// The calls that we are in, the innermost first.
    pub fn calls(&self) -> impl Iterator<Item = &Activation> {
        self.activations.iter().rev()
    }

    /// The call that we are in.
    pub fn activation(&mut self) -> &mut Activation {
        self.activations.last_mut().expect("a kernel or a constant is elaborated")
    }

    /// The names of the call that we are in.
    pub fn frame_id(&self) -> FrameId {
        self.activations.last().expect("a kernel or a constant is elaborated").frame
    }

    /// The names of the call that we are in, to be changed.
    pub fn frame(&mut self) -> &mut Frame {
        let id = self.frame_id();
        self.get_mut(id)
    }

    /// The names of a call, to be changed.
    pub fn get_mut(&mut self, id: FrameId) -> &mut Frame {
        self.frames.get_mut(id)
    }

    /// The file of the function that we are in.
    pub fn module(&self) -> ModuleId {
        self.frames.get(self.frame_id()).module
    }

    /// The variable of a name here, or around the function that we are in.
    pub fn find(&self, name: &str) -> Option<&Variable> {
        self.frames.find(Some(self.frame_id()), name)
    }

    /// The constants of files that were asked for.
    pub fn constants(&mut self) -> &mut Constants<Elaborated> {
        &mut self.constants
    }
}

/// Where a branch begins.
#[derive(Debug)]
pub(crate) struct Mark(usize);

/// The names that a branch binds, each once.
pub(crate) type Bound = Vec<(Name, Variable)>;

impl Frame {
    /// No names.
    pub fn new(module: ModuleId, outer: Option<FrameId>) -> Frame {
        let (names, trail) = (FxHashMap::default(), Vec::new());
        Frame { module, outer, names, trail, branches: Vec::new(), n_branches: 0 }
    }

    /// The variable of a name.
    pub fn get(&self, name: &str) -> Option<&Variable> {
        self.names.get(name).map(|(variable, _)| variable)
    }

    /// The innermost branch: a later one has a higher number.
    pub fn branch(&self) -> u64 {
        self.branches.last().copied().unwrap_or(0)
    }

    /// The variable of a name, if a branch bound it, or one in that branch.
    pub fn bound_in(&self, name: &str, branch: u64) -> Option<&Variable> {
        self.names
            .get(name)
            .filter(|(_, bound_in)| *bound_in >= branch)
            .map(|(variable, _)| variable)
    }

    /// Binds a name.
    pub fn bind(&mut self, name: &Name, variable: Variable) {
        let branch = self.branch();
        if let Some((known, bound_in)) = self.names.get_mut(name)
            && *bound_in == branch
        {
            *known = variable;
            return;
        }
        let before = self.names.insert(name.clone(), (variable, branch));
        if !self.branches.is_empty() {
            self.trail.push((name.clone(), before));
        }
    }

    /// Begins a branch.
    pub fn mark(&mut self) -> Mark {
        self.n_branches += 1;
        self.branches.push(self.n_branches);
        Mark(self.trail.len())
    }

    /// Ends the innermost branch, and undoes what was bound in it; gives that, in the order in
    /// which names were bound first.
    pub fn undo(&mut self, mark: Mark) -> Bound {
        self.branches.pop();
        let mut bound = Bound::new();
        for (name, before) in self.trail.drain(mark.0..).rev() {
            let now = match before {
                Some(before) => self.names.insert(name.clone(), before),
                None => self.names.remove(&name),
            };
            bound.extend(now.map(|(now, _)| (name, now)));
        }
        bound.reverse();
        bound
    }
}
