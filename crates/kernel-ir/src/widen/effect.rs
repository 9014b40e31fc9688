// SPDX-License-Identifier: Apache-2.0
//! Effects of operations beside the value that they give, and whether two may change places.

use crate::kernel::{Kernel, Local, ParamKind, Shared, Slot, Value};
use crate::op::{Expr, Load, Op, OpKind, Qualifier, Region, Store};
use crate::types::{Space, Type};
use rustc_hash::FxHashMap;

/// Where an address points to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Root {
    /// Behind a parameter.
    Param(Value),
    /// An array of the block.
    Shared(Shared),
    /// A register tensor.
    Local(Local),
    /// Somewhere.
    Any(Space),
}

/// The effects of operations.
#[derive(Clone, Debug, Default)]
pub(super) struct Effects {
    gets: Vec<Slot>,
    sets: Vec<Slot>,
    reads: Vec<Root>,
    writes: Vec<Root>,
    /// Whether they may have to do with other threads, leave, or not end: nothing passes them.
    pub are_fixed: bool,
}

impl Effects {
    /// Those of both.
    pub fn add(&mut self, other: Effects) {
        extend_new(&mut self.gets, &other.gets);
        extend_new(&mut self.sets, &other.sets);
        extend_new(&mut self.reads, &other.reads);
        extend_new(&mut self.writes, &other.writes);
        self.are_fixed |= other.are_fixed;
    }
}

fn extend_new<T: Copy + PartialEq>(all: &mut Vec<T>, more: &[T]) {
    for one in more {
        if !all.contains(one) {
            all.push(*one);
        }
    }
}

/// The memory of a kernel.
pub(super) struct Memory {
    roots: FxHashMap<Value, Root>,
    /// The parameters whose memory no other one has to do with.
    alone: Vec<Value>,
}

impl Memory {
    pub fn of(kernel: &Kernel) -> Memory {
        let mut memory = Memory { roots: FxHashMap::default(), alone: Vec::new() };
        for (number, param) in (0..).zip(&kernel.params) {
            if let ParamKind::Pointer(pointer) = param.kind {
                memory.roots.insert(Value(number), Root::Param(Value(number)));
                memory.alone.extend(pointer.is_alone.then_some(Value(number)));
            }
        }
        memory.collect(kernel, &kernel.body);
        memory
    }

    fn collect(&mut self, kernel: &Kernel, region: &Region) {
        for op in &region.0 {
            if let Some(result) = op.result
                && let Type::Pointer(space) = kernel.ty(result)
            {
                let root = match &op.kind {
                    OpKind::Expr(Expr::Shared(shared)) => Root::Shared(*shared),
                    OpKind::Expr(Expr::Local(local)) => Root::Local(*local),
                    OpKind::Expr(Expr::Offset(base, _)) => self.root(*base, space),
                    _ => Root::Any(space),
                };
                self.roots.insert(result, root);
            }
            op.kind.regions().for_each(|region| self.collect(kernel, region));
        }
    }

    fn root(&self, pointer: Value, space: Space) -> Root {
        self.roots.get(&pointer).copied().unwrap_or(Root::Any(space))
    }

    /// Where an address points to.
    pub fn root_of(&self, pointer: Value) -> Option<Root> {
        self.roots.get(&pointer).copied()
    }

    /// The effects of an operation, and of those in its regions.
    pub fn effects(&self, op: &Op) -> Effects {
        let mut effects = Effects::default();
        self.add(op, &mut effects);
        effects
    }

    fn add(&self, op: &Op, effects: &mut Effects) {
        match &op.kind {
            OpKind::Expr(Expr::Get(slot)) => extend_new(&mut effects.gets, &[*slot]),
            OpKind::Set(slot, _) => extend_new(&mut effects.sets, &[*slot]),
            OpKind::Expr(Expr::Load(Load { qualifier: Some(Qualifier::Volatile), .. }))
            | OpKind::Store(Store { qualifier: Some(Qualifier::Volatile), .. }) => {
                effects.are_fixed = true;
            }
            OpKind::Expr(Expr::Load(load)) => match self.root_of(load.pointer) {
                Some(root) => extend_new(&mut effects.reads, &[root]),
                None => effects.are_fixed = true,
            },
            OpKind::Store(store) => match self.root_of(store.pointer) {
                Some(root) => extend_new(&mut effects.writes, &[root]),
                None => effects.are_fixed = true,
            },
            OpKind::Call(call) => effects.are_fixed |= !call.intrinsic.only_gives(),
            OpKind::While { .. } | OpKind::Jump(_) | OpKind::Print(..) | OpKind::Asm(_) => {
                effects.are_fixed = true;
            }
            OpKind::Expr(_) | OpKind::InBounds { .. } | OpKind::Assert(_) => {}
            OpKind::If { .. } | OpKind::For { .. } => {}
        }
        let ops = op.kind.regions().flat_map(|region| &region.0);
        ops.for_each(|op| self.add(op, effects));
    }

    /// Whether operations may change places, as far as it is a matter of what they do: neither
    /// changes what the other reads or changes.
    pub fn may_swap(&self, a: &Effects, b: &Effects) -> bool {
        let is_touched = |slots: &[Slot], by: &Effects| {
            slots.iter().any(|slot| by.gets.contains(slot) || by.sets.contains(slot))
        };
        let is_reached = |roots: &[Root], by: &Effects| {
            let mut others = by.reads.iter().chain(&by.writes);
            others.any(|other| roots.iter().any(|root| self.may_meet(*root, *other)))
        };
        let are_apart =
            |a: &Effects, b: &Effects| !is_touched(&a.sets, b) && !is_reached(&a.writes, b);
        !a.are_fixed && !b.are_fixed && are_apart(a, b) && are_apart(b, a)
    }

    /// Whether two addresses may be of the same memory, behind one of which something is written.
    fn may_meet(&self, a: Root, b: Root) -> bool {
        let space = |root| match root {
            Root::Param(_) => Space::Global,
            Root::Shared(_) => Space::Shared,
            Root::Local(_) => Space::Local,
            Root::Any(space) => space,
        };
        match (a, b) {
            (Root::Any(_), _) | (_, Root::Any(_)) => space(a).may_meet(space(b)),
            (Root::Param(a), Root::Param(b)) => {
                a == b || !(self.alone.contains(&a) || self.alone.contains(&b))
            }
            (a, b) => a == b,
        }
    }
}
