// SPDX-License-Identifier: Apache-2.0
//! Slots, register tensors, arrays of the block, and accesses.

use super::{Lowering, Target};
use crate::llvm::{CacheHint, Manner, Operation, Predicate, Ty, V};
use kernpack_kernel_ir::kernel::{Kernel, LOCAL_ALIGN, Local, Size, Slot, Value};
use kernpack_kernel_ir::op::{Load, Qualifier, Store};
use kernpack_kernel_ir::shared::{DynamicLayout, Extent, SharedLayout};
use kernpack_kernel_ir::types::{Scalar, Type};

/// The name of a register tensor in the module.
fn local_name(local: Local) -> String {
    local.to_string()
}

/// The register tensors of those names.
pub(in crate::kernel) fn locals_named(kernel: &Kernel, names: &[String]) -> Vec<Local> {
    let all = (0..kernel.locals.len()).map(|place| Local(place as u32));
    all.filter(|local| names.contains(&local_name(*local))).collect()
}

impl<'c, T: Target> Lowering<'c, '_, T> {
    /// Makes slots and register tensors.
    pub(super) fn make_memory(&mut self) {
        let slots = self.kernel.slots.iter().enumerate().map(|(place, slot)| {
            let range = self.ranges.slot(Slot(place as u32));
            self.emitter.thread_variable(self.kept_ty(slot.ty, range), "slot")
        });
        let slots = slots.collect();
        let locals = (0..self.kernel.locals.len()).map(|place| self.local(Local(place as u32)));
        let locals = locals.collect();
        (self.slots, self.locals) = (slots, locals);
        self.clear_products();
    }

    /// The addresses of a register tensor.
    fn local(&self, local: Local) -> Vec<V<'c>> {
        let (array, name) = (&self.kernel.locals[local.index()], local_name(local));
        let of = |width| Self::in_memory(Type::of_lanes(array.element, width));
        match self.registers.width(local) {
            Some(width) => {
                let of = of(u8::try_from(width).unwrap_or(1));
                let variable = |_| self.emitter.thread_variable(of, &name);
                (0..array.count / width).map(variable).collect()
            }
            None => vec![self.emitter.thread_array(of(1), array.count, LOCAL_ALIGN, &name)],
        }
    }

    /// The addresses of the elements that a vector at an address is, where each is a variable.
    fn lanes_at(&self, address: Value, of: Type) -> Option<&[V<'c>]> {
        let (local, first) = self.registers.variable(address)?;
        let is_apart = of.lanes() > 1 && self.registers.width(local) == Some(1);
        is_apart.then(|| &self.locals[local.index()][first..first + usize::from(of.lanes())])
    }

    /// Makes the arrays of the block, or finds them in the one that the launch brings. Modules are
    /// joined, so that their names have the kernel's in them, in which there is no `$`.
    pub(super) fn make_shared(&mut self) {
        self.shared = match SharedLayout::of(self.kernel) {
            SharedLayout::Static => {
                let arrays = self.kernel.shared.iter().enumerate().map(|(place, array)| {
                    let Size::Bytes(bytes) = array.size else {
                        unreachable!("a kernel's own array has a known size")
                    };
                    let name = format!("{}$shared{place}", self.kernel.name);
                    T::block_array(self, &name, bytes.max(1), array.align.max(1))
                });
                arrays.collect()
            }
            SharedLayout::Dynamic(DynamicLayout { offsets, align, .. }) => {
                let name = format!("{}$shared", self.kernel.name);
                let base = T::launched_array(self, &name, align);
                offsets.iter().map(|offset| self.behind(base, offset)).collect()
            }
        };
    }

    /// The address so many bytes behind another.
    fn behind(&self, base: V<'c>, Extent { bytes, params, rounding }: &Extent) -> V<'c> {
        let emitter = self.emitter;
        let int = |number: i64| emitter.int(Ty::I64, number);
        let known = emitter.offset(base, int(i64::try_from(*bytes).unwrap_or(i64::MAX)));
        params.iter().fold(known, |address, param| {
            let bytes = self.full(*param);
            let is_some = emitter.compare(Predicate::SGT, bytes, int(0));
            let bytes = emitter.select(is_some, bytes, int(0));
            let more = emitter.arith(Operation::Add, bytes, int(i64::from(*rounding) - 1));
            let rounded = emitter.arith(Operation::And, more, int(-i64::from(*rounding)));
            emitter.offset(address, rounded)
        })
    }

    pub(super) fn lower_get(&mut self, result: Value, slot: Slot) {
        let (of, range) = (self.kernel.slots[slot.index()].ty, self.ranges.slot(slot));
        let value = self.emitter.load(self.kept_ty(of, range), self.slots[slot.index()]);
        match of {
            Type::Scalar(scalar) => self.set_number(result, value, signed_if_narrow(scalar)),
            Type::Vector(..) | Type::Pointer(_) => self.set_value(result, value),
        }
    }

    pub(super) fn lower_set(&mut self, slot: Slot, value: Value) {
        let (of, range) = (self.kernel.slots[slot.index()].ty, self.ranges.slot(slot));
        let value = match super::number::is_narrow(of, range) {
            true => self.cut(value, Scalar::I32),
            false => self.full(value),
        };
        self.emitter.store(self.slots[slot.index()], value);
    }

    /// Puts what assembly gave into a slot, of which no less is known than its type says.
    pub(in crate::kernel) fn put(&self, slot: Slot, value: V<'c>) {
        self.emitter.store(self.slots[slot.index()], value);
    }

    pub(super) fn lower_load(&mut self, result: Value, load: &Load) {
        let of = self.kernel.ty(result);
        if let Some(elements) = self.packed_at(load.pointer, of) {
            let lanes = match self.is_words(elements, of) {
                true => self.read_words(elements, of),
                false => self.read_elements(elements),
            };
            return match of {
                Type::Scalar(scalar) => self.set_number(result, lanes[0], scalar),
                Type::Vector(..) | Type::Pointer(_) => self.set_lanes(result, &lanes),
            };
        }
        if let (Type::Vector(scalar, _), Some(lanes)) = (of, self.lanes_at(load.pointer, of)) {
            let element = Self::in_memory(Type::Scalar(scalar));
            let lanes = lanes.iter().map(|lane| self.emitter.load(element, *lane));
            let lanes: Vec<_> = lanes.collect();
            return self.set_lanes(result, &lanes);
        }
        let value = match load.guard {
            None => self.read(result, load),
            Some(guard) => {
                let (condition, otherwise) =
                    (self.kept(guard.condition), self.full(guard.otherwise));
                let (read, behind) = (self.block("read"), self.block("behind"));
                let before = self.emitter.here();
                self.emitter.branch(condition, read, behind, None);
                self.emitter.at(read);
                let value = self.read(result, load);
                self.emitter.jump(behind);
                self.emitter.at(behind);
                let ty = Self::ty(self.kernel.ty(result));
                self.emitter.phi(ty, &[(otherwise, before), (value, read)])
            }
        };
        match self.kernel.ty(result) {
            Type::Scalar(scalar) => self.set_number(result, value, scalar),
            Type::Vector(..) | Type::Pointer(_) => self.set_value(result, value),
        }
    }

    fn read(&self, result: Value, load: &Load) -> V<'c> {
        let of = self.kernel.ty(result);
        let (of_memory, address) = (Self::in_memory(of), self.kept(load.pointer));
        let how = manner(load.qualifier);
        let value = self.emitter.load_aligned(of_memory, address, load.align, how);
        match of {
            Type::Scalar(Scalar::Bool) => self.emitter.resize(value, Ty::I1, false),
            Type::Scalar(_) | Type::Vector(..) | Type::Pointer(_) => value,
        }
    }

    /// The type of values in memory: of a truth value, a byte.
    fn in_memory(of: Type) -> Ty {
        match of {
            Type::Scalar(Scalar::Bool) => Ty::I8,
            Type::Scalar(_) | Type::Vector(..) | Type::Pointer(_) => Self::ty(of),
        }
    }

    pub(super) fn lower_store(&mut self, store: &Store) {
        let of = self.kernel.ty(store.value);
        if let Some(elements) = self.packed_at(store.pointer, of) {
            let values = match of {
                Type::Vector(..) => self.lanes(store.value),
                Type::Scalar(_) | Type::Pointer(_) => vec![self.full(store.value)],
            };
            return match self.is_words(elements, of) {
                true => self.write_registers(elements, values),
                false => self.write_elements(elements, values),
            };
        }
        if let Some(lanes) = self.lanes_at(store.pointer, of) {
            let values = self.lanes(store.value).into_iter();
            return values.zip(lanes).for_each(|(value, lane)| self.emitter.store(*lane, value));
        }
        let value = match self.kernel.ty(store.value) {
            Type::Scalar(Scalar::Bool) => {
                self.emitter.resize(self.kept(store.value), Ty::I8, false)
            }
            Type::Scalar(_) | Type::Vector(..) | Type::Pointer(_) => self.full(store.value),
        };
        let address = self.kept(store.pointer);
        let how = manner(store.qualifier);
        let write = || self.emitter.store_aligned(address, value, store.align, how);
        let Some(condition) = store.condition else { return write() };
        let (inside, behind) = (self.block("write"), self.block("behind"));
        self.emitter.branch(self.kept(condition), inside, behind, None);
        self.emitter.at(inside);
        write();
        self.emitter.jump(behind);
        self.emitter.at(behind);
    }
}

/// How LLVM is told of an access.
const fn manner(qualifier: Option<Qualifier>) -> Manner {
    match qualifier {
        None => Manner::Plain,
        Some(Qualifier::Volatile) => Manner::Volatile,
        Some(Qualifier::Stream) => Manner::Hinted(CacheHint::Stream),
        Some(Qualifier::Keep) => Manner::Hinted(CacheHint::Keep),
        Some(Qualifier::LastUse) => Manner::Hinted(CacheHint::LastUse),
    }
}

/// How the bits of a number are extended that may be kept in 32 of them: what is narrow has a sign.
fn signed_if_narrow(scalar: Scalar) -> Scalar {
    if scalar == Scalar::U64 { Scalar::I64 } else { scalar }
}
