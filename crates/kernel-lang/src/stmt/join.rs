// SPDX-License-Identifier: Apache-2.0
//! Values of names where ways meet: what is the same stays as it is, and numbers go into slots,
//! also those in tuples. What is neither is lost.

use crate::emit::Emission;
use crate::number::Kind;
use crate::scope::{Binding, Horizon, Stored};
use crate::tensor::Limit;
use crate::value::{Base, Elaborated, Elements, Items, Leaf, Tensor};
use kernpack_kernel_ir::kernel::Slot;
use kernpack_kernel_ir::{Const, Scalar};
use kernpack_layout::{Int, Layout, Shape};
use std::sync::Arc;

impl Emission {
    /// Whether two values are one.
    pub fn is_same(&self, a: &Elaborated, b: &Elaborated) -> bool {
        match (a, b) {
            (Elaborated::None, Elaborated::None)
            | (Elaborated::AsyncGroup, Elaborated::AsyncGroup)
            | (Elaborated::BulkGroup, Elaborated::BulkGroup)
            | (Elaborated::Kernpack, Elaborated::Kernpack) => true,
            (Elaborated::Bool(a), Elaborated::Bool(b)) => a == b,
            (Elaborated::Int(a), Elaborated::Int(b)) => a == b,
            (Elaborated::Float(a), Elaborated::Float(b)) => a.to_bits() == b.to_bits(),
            (Elaborated::Text(a), Elaborated::Text(b)) => a == b,
            (Elaborated::DType(a), Elaborated::DType(b)) => a == b,
            (Elaborated::Const(a), Elaborated::Const(b)) => a == b,
            (Elaborated::Typed(a), Elaborated::Typed(b)) => a == b,
            (Elaborated::Elements(a), Elaborated::Elements(b)) => Arc::ptr_eq(a, b),
            (Elaborated::Layout(a), Elaborated::Layout(b)) => a == b,
            (Elaborated::Swizzle(a), Elaborated::Swizzle(b)) => a == b,
            (Elaborated::Tensor(a), Elaborated::Tensor(b))
            | (Elaborated::Pointer(a), Elaborated::Pointer(b)) => a == b,
            (Elaborated::Mbarrier(a), Elaborated::Mbarrier(b)) => a == b,
            (Elaborated::Closure(a), Elaborated::Closure(b)) => Arc::ptr_eq(a, b),
            (Elaborated::Class(a), Elaborated::Class(b)) => Arc::ptr_eq(a, b),
            (Elaborated::Object(a), Elaborated::Object(b)) => a.fields == b.fields,
            (Elaborated::Builtin(a), Elaborated::Builtin(b)) => std::ptr::eq(*a, *b),
            (Elaborated::Module(a), Elaborated::Module(b)) => a == b,
            (Elaborated::Optional(a), Elaborated::Optional(b)) => a == b,
            (Elaborated::Tuple(a), Elaborated::Tuple(b)) => {
                a.items.len() == b.items.len()
                    && a.names == b.names
                    && a.items.iter().zip(&b.items).all(|(a, b)| self.is_same(a, b))
            }
            _ => false,
        }
    }

    /// Whether two meanings of a name are one.
    pub fn is_same_binding(&self, a: &Binding, b: &Binding) -> bool {
        match (a, b) {
            (Binding::Value(a), Binding::Value(b)) => self.is_same(a, b),
            (Binding::Stored(a), Binding::Stored(b)) => self.is_same_stored(a, b),
            (Binding::Lost(a), Binding::Lost(b)) => a == b,
            _ => false,
        }
    }

    fn is_same_stored(&self, a: &Stored, b: &Stored) -> bool {
        match (a, b) {
            (Stored::One(a), Stored::One(b)) => a == b,
            (Stored::Items(a, _), Stored::Items(b, _)) => {
                a.len() == b.len() && a.iter().zip(b).all(|(a, b)| self.is_same_stored(a, b))
            }
            (Stored::Elements(a, _), Stored::Elements(b, _)) => a == b,
            (Stored::Same(a), Stored::Same(b)) => self.is_same(a, b),
            _ => false,
        }
    }

    /// Whether everything in a value was there at a point: whether it is known outside a region
    /// that was opened then.
    pub fn is_visible(&self, value: &Elaborated, from: Horizon) -> bool {
        let leaf = |int: &Int<Leaf>| match int {
            Int::Known(_) => true,
            Int::Dynamic(leaf) => leaf.value.index() < from.n_values,
        };
        match value {
            Elaborated::Typed(value) => value.index() < from.n_values,
            Elaborated::Elements(elements) => {
                elements.items.iter().all(|one| self.is_visible(one, from))
            }
            Elaborated::Tuple(tuple) => tuple.items.iter().all(|one| self.is_visible(one, from)),
            Elaborated::Layout(layout) => layout_leaves(&layout.layout).iter().all(leaf),
            Elaborated::Tensor(tensor) | Elaborated::Pointer(tensor) => {
                let is_there = match &tensor.base {
                    Base::Memory(memory) => memory.pointer.index() < from.n_values,
                    Base::Coordinates => true,
                    Base::Map(mapped) => mapped.pointer.index() < from.n_values,
                };
                is_there && tensor_leaves(tensor).iter().all(leaf)
            }
            Elaborated::Mbarrier(barrier) => {
                [barrier.pointer, barrier.stage].iter().all(|one| one.index() < from.n_values)
            }
            Elaborated::Method(of, _) => self.is_visible(of, from),
            Elaborated::Range(range) => {
                [&range.first, &range.end, &range.step].iter().all(|one| self.is_visible(one, from))
            }
            Elaborated::Poison
            | Elaborated::None
            | Elaborated::Bool(_)
            | Elaborated::Int(_)
            | Elaborated::Float(_)
            | Elaborated::Text(_)
            | Elaborated::DType(_)
            | Elaborated::Const(_)
            | Elaborated::Swizzle(_)
            | Elaborated::Builtin(_)
            | Elaborated::AsyncGroup
            | Elaborated::BulkGroup
            | Elaborated::Kernpack
            | Elaborated::Class(_)
            | Elaborated::Module(_)
            | Elaborated::Optional(_) => true,
            Elaborated::Object(object) => object.fields < from.next_frame,
            Elaborated::Closure(closure) => {
                let object = closure.object.as_ref().map(|object| object.fields);
                [closure.frame, object].into_iter().flatten().all(|one| one < from.next_frame)
            }
        }
    }

    /// The value that holds one of two, which are of different ways; nothing where nothing can.
    pub fn join_values(
        &mut self,
        name: &str,
        a: &Elaborated,
        b: &Elaborated,
        from: Horizon,
    ) -> Option<Stored> {
        if self.is_same(a, b) && self.is_visible(a, from) {
            return Some(Stored::Same(a.clone()));
        }
        match (a, b) {
            (Elaborated::Tuple(x), Elaborated::Tuple(y)) if x.items.len() == y.items.len() => {
                let pairs = x.items.iter().zip(&y.items);
                let parts = pairs.map(|(x, y)| self.join_values(name, x, y, from));
                let parts = parts.collect::<Option<_>>()?;
                let names = x.common_names(y);
                Some(Stored::Items(parts, Arc::new(Items { items: x.items.clone(), names })))
            }
            (Elaborated::Elements(x), Elaborated::Elements(y))
                if x.scalar == y.scalar && x.items.len() == y.items.len() =>
            {
                Some(self.slots_of(name, x))
            }
            (Elaborated::Elements(_), _) | (_, Elaborated::Elements(_)) => None,
            _ => {
                let (x, y) = (self.kind(a)?, self.kind(b)?);
                let truth = Kind::Of(Scalar::Bool);
                let scalar = match x == truth && y == truth {
                    true => Scalar::Bool,
                    false => self.common(x, y).ok()?,
                };
                Some(Stored::One(self.b.slot(name, scalar.into())))
            }
        }
    }

    /// Slots for a value that will change; nothing where it cannot be in slots.
    pub fn promote(&mut self, name: &str, value: &Elaborated) -> Option<Stored> {
        match value {
            Elaborated::Elements(elements) => Some(self.slots_of(name, elements)),
            Elaborated::Tuple(tuple) => {
                let parts = tuple.items.iter().map(|item| self.promote(name, item));
                Some(Stored::Items(parts.collect::<Option<_>>()?, tuple.clone()))
            }
            _ => {
                let scalar = self.scalar_of_name(value)?;
                Some(Stored::One(self.b.slot(name, scalar.into())))
            }
        }
    }

    fn slots_of(&mut self, name: &str, elements: &Arc<Elements>) -> Stored {
        let ty = elements.scalar.into();
        let slots = elements.items.iter().map(|_| self.b.slot(name, ty)).collect();
        Stored::Elements(slots, elements.clone())
    }

    pub(crate) fn slot_scalar(&self, slot: Slot) -> Scalar {
        self.b.kernel().slots[slot.index()].ty.scalar().unwrap_or(Scalar::I64)
    }

    /// Puts a value into slots that are made for such ones.
    pub fn store_into(&mut self, stored: &Stored, value: &Elaborated) {
        match (stored, value) {
            (Stored::One(slot), value) => {
                let typed = self.typed(value, self.slot_scalar(*slot));
                self.b.set(*slot, typed);
            }
            (Stored::Items(parts, _), Elaborated::Tuple(tuple)) => {
                for (part, item) in parts.iter().zip(&tuple.items) {
                    self.store_into(part, item);
                }
            }
            (Stored::Elements(slots, like), Elaborated::Elements(elements)) => {
                for (slot, item) in slots.iter().zip(&elements.items) {
                    let typed = self.typed(item, like.scalar);
                    self.b.set(*slot, typed);
                }
            }
            (Stored::Same(_) | Stored::Items(..) | Stored::Elements(..), _) => {}
        }
    }

    /// Puts a value into slots, where it is such a one. Gives whether it is.
    pub fn store_checked(&mut self, stored: &Stored, value: &Elaborated) -> bool {
        let fits = self.is_storable(stored, value);
        if fits {
            self.store_into(stored, value);
        }
        fits
    }

    fn is_storable(&self, stored: &Stored, value: &Elaborated) -> bool {
        match (stored, value) {
            (Stored::Same(known), value) => self.is_same(known, value),
            (Stored::One(slot), value) => {
                let held = self.slot_scalar(*slot);
                match self.kind(value) {
                    Some(Kind::Of(scalar)) => {
                        scalar == held && !matches!(value, Elaborated::Elements(_))
                    }
                    Some(Kind::Int) => held != Scalar::Bool,
                    Some(Kind::Float) => held.is_float(),
                    None => false,
                }
            }
            (Stored::Items(parts, _), Elaborated::Tuple(tuple)) => {
                parts.len() == tuple.items.len()
                    && parts.iter().zip(&tuple.items).all(|(one, item)| self.is_storable(one, item))
            }
            (Stored::Elements(slots, like), Elaborated::Elements(elements)) => {
                slots.len() == elements.items.len() && like.scalar == elements.scalar
            }
            (Stored::Items(..) | Stored::Elements(..), _) => false,
        }
    }

    /// Puts zeros into slots, so that they are never without a value.
    pub fn store_zero(&mut self, stored: &Stored) {
        match stored {
            Stored::One(slot) => {
                let zero = Const::from_bits(self.slot_scalar(*slot), 0);
                let zero = self.b.constant(zero);
                self.b.set(*slot, zero);
            }
            Stored::Items(parts, _) => parts.iter().for_each(|part| self.store_zero(part)),
            Stored::Elements(slots, like) => {
                let zero = self.b.constant(Const::from_bits(like.scalar, 0));
                slots.iter().for_each(|slot| self.b.set(*slot, zero));
            }
            Stored::Same(_) => {}
        }
    }
}

fn layout_leaves(layout: &Layout<Leaf>) -> Vec<Int<Leaf>> {
    let modes = layout.leaves();
    modes.into_iter().flat_map(|mode| [mode.extent, mode.stride.scale]).collect()
}

fn shape_leaves(shape: &Shape<Leaf>) -> Vec<Int<Leaf>> {
    shape.leaves().into_iter().cloned().collect()
}

fn tensor_leaves(tensor: &Tensor) -> Vec<Int<Leaf>> {
    let limits = tensor.limits.iter().flat_map(Limit::leaves).collect();
    [layout_leaves(&tensor.layout), shape_leaves(&tensor.offset), limits].concat()
}
