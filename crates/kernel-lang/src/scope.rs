// SPDX-License-Identifier: Apache-2.0
//! The calls that a kernel's elaboration is in, and the names of each.
//!
//! A name stands for a value, which may be a constant; or, where run-time control decides what it
//! is, for slots of the kernel. What is bound in a branch is written down, so that it can be undone
//! and joined with what the other branch binds: that costs what the branch binds, however many
//! names there are.
//!
//! The fields of an object are names, too, of a frame that is the object's own. So a branch that
//! assigns them, wherever it calls what does, is undone and joined as for any other name.

use crate::file::{ClassDefinition, ModuleId};
use crate::inline::Activation;
use crate::names::{Constants, FrameId, Frames, Scope};
use crate::python::tree::{Block, Class, Name};
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
    /// It is a number, and another one on the ways through a function that returns early.
    Return,
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

/// The names of a call, or the fields of an object.
#[derive(Debug)]
pub(crate) struct Frame {
    /// The file of the function.
    pub module: ModuleId,
    /// The names around a function that stands in another.
    pub outer: Option<FrameId>,
    /// Each with the branch in which it was bound.
    names: FxHashMap<Name, (Variable, u64)>,
    /// The branch that began it: with that branch, its names end.
    branch: u64,
    /// The class, where they are the fields of an object.
    class: Option<Arc<Class>>,
}

/// A name of a call, or a field of an object.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Key {
    /// The call, or the object.
    pub frame: FrameId,
    /// The name.
    pub name: Name,
}

impl Scope for Frame {
    type Bound = Variable;

    fn own(&self, name: &str) -> Option<&Variable> {
        self.names.get(name).map(|(variable, _)| variable)
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
    /// The objects, but those of branches that have ended.
    objects: Vec<FrameId>,
    /// The meanings of names before a branch bound them, in order.
    trail: Vec<(Key, Option<(Variable, u64)>)>,
    /// The branches that we are in, a later one having a higher number; 0 is the kernel itself.
    branches: Vec<u64>,
    n_branches: u64,
}

impl Scopes {
    /// Adds the names of a call.
    pub fn open(&mut self, module: ModuleId, outer: Option<FrameId>) -> FrameId {
        self.frames.open(Frame::new(module, outer, self.branch()))
    }

    /// Adds the fields of an object.
    pub fn open_object(&mut self, class: &ClassDefinition) -> FrameId {
        let fields = self.open(class.module, None);
        self.frames.get_mut(fields).class = Some(class.class.clone());
        self.objects.push(fields);
        fields
    }

    /// Whether a key is a field that is declared to be constant.
    pub fn is_constexpr(&self, key: &Key) -> bool {
        let class = self.frames.get(key.frame).class.as_ref();
        class.is_some_and(|class| class.constexpr(&key.name).is_some())
    }

    /// The names of a frame.
    pub fn names(&self, frame: FrameId) -> impl Iterator<Item = &str> {
        self.frames.get(frame).names.keys().map(|name| &**name)
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

    /// The statements of the function that we are in; nothing for a constant.
    pub fn function(&self) -> Option<&Block> {
        self.activations.last()?.body()
    }

    /// The names of the call that we are in.
    pub fn frame_id(&self) -> FrameId {
        self.activations.last().expect("a kernel or a constant is elaborated").frame
    }

    /// A name of the call that we are in.
    pub fn key(&self, name: &Name) -> Key {
        Key { frame: self.frame_id(), name: name.clone() }
    }

    /// The file of the function that we are in.
    pub fn module(&self) -> ModuleId {
        self.frames.get(self.frame_id()).module
    }

    /// The variable of a name here, or around the function that we are in.
    pub fn find(&self, name: &str) -> Option<&Variable> {
        self.frames.find(Some(self.frame_id()), name)
    }

    /// The variable of a name here.
    pub fn own(&self, name: &str) -> Option<&Variable> {
        self.in_frame(self.frame_id(), name)
    }

    /// The variable of a name of a call, or of a field of an object.
    pub fn in_frame(&self, frame: FrameId, name: &str) -> Option<&Variable> {
        self.frames.get(frame).own(name)
    }

    /// The variable of a key.
    pub fn get(&self, key: &Key) -> Option<&Variable> {
        self.in_frame(key.frame, &key.name)
    }

    /// The fields of the objects that there are here, in the order of the objects.
    pub fn fields(&self) -> Vec<Key> {
        let mut fields = Vec::new();
        for &frame in &self.objects {
            let mut names: Vec<_> = self.frames.get(frame).names.keys().cloned().collect();
            names.sort_unstable();
            fields.extend(names.into_iter().map(|name| Key { frame, name }));
        }
        fields
    }

    /// The constants of files that were asked for.
    pub fn constants(&mut self) -> &mut Constants<Elaborated> {
        &mut self.constants
    }
}

/// Where a branch begins.
#[derive(Debug)]
pub(crate) struct Mark {
    n_trail: usize,
    n_objects: usize,
}

/// The names that a branch binds, each once.
pub(crate) type Bound = Vec<(Key, Variable)>;

impl Scopes {
    /// The innermost branch.
    pub fn branch(&self) -> u64 {
        self.branches.last().copied().unwrap_or(0)
    }

    /// The variable of a name, if that branch bound it, or one in it.
    pub fn bound_in(&self, key: &Key, branch: u64) -> Option<&Variable> {
        let (variable, bound_in) = self.frames.get(key.frame).names.get(&key.name)?;
        (*bound_in >= branch).then_some(variable)
    }

    /// The variable of a name before a branch that we are in.
    pub fn before(&self, key: &Key, branch: u64) -> Option<&Variable> {
        let frame = self.frames.get(key.frame);
        let (now, bound_in) = frame.names.get(&key.name)?;
        if *bound_in < branch {
            return Some(now);
        }
        if frame.branch >= branch {
            return None;
        }
        let mut earlier = self.trail.iter().rev().filter(|(one, _)| one == key);
        let is_before = |before: &&Option<(Variable, u64)>| {
            before.as_ref().is_none_or(|(_, bound_in)| *bound_in < branch)
        };
        let before = earlier.find_map(|(_, before)| Some(before).filter(is_before))?;
        before.as_ref().map(|(variable, _)| variable)
    }

    /// Binds a name of the call that we are in.
    pub fn bind_here(&mut self, name: &Name, variable: Variable) {
        self.bind(&self.key(name), variable);
    }

    /// Binds a name.
    pub fn bind(&mut self, key: &Key, variable: Variable) {
        let branch = self.branch();
        let frame = self.frames.get_mut(key.frame);
        let is_undone = frame.branch != branch;
        if let Some((known, bound_in)) = frame.names.get_mut(&key.name)
            && *bound_in == branch
        {
            *known = variable;
            return;
        }
        let before = frame.names.insert(key.name.clone(), (variable, branch));
        if is_undone {
            self.trail.push((key.clone(), before));
        }
    }

    /// Begins a branch.
    pub fn mark(&mut self) -> Mark {
        self.n_branches += 1;
        self.branches.push(self.n_branches);
        Mark { n_trail: self.trail.len(), n_objects: self.objects.len() }
    }

    /// Ends the innermost branch, and undoes what was bound in it; gives that, in the order in
    /// which names were bound first.
    pub fn undo(&mut self, mark: Mark) -> Bound {
        self.branches.pop();
        self.objects.truncate(mark.n_objects);
        let mut bound = Bound::new();
        for (key, before) in self.trail.drain(mark.n_trail..).rev() {
            let names = &mut self.frames.get_mut(key.frame).names;
            let now = match before {
                Some(before) => names.insert(key.name.clone(), before),
                None => names.remove(&key.name),
            };
            bound.extend(now.map(|(now, _)| (key, now)));
        }
        bound.reverse();
        bound
    }
}

impl Frame {
    /// No names.
    fn new(module: ModuleId, outer: Option<FrameId>, branch: u64) -> Frame {
        Frame { module, outer, names: FxHashMap::default(), branch, class: None }
    }
}
