// SPDX-License-Identifier: Apache-2.0
//! Register tensors whose variables are registers: those that products of warpgroups are made of,
//! and those of which several elements are one.

use super::{Lowering, Target};
use crate::llvm::{Ty, V};
use kernpack_kernel_ir::group_product::Elements;
use kernpack_kernel_ir::kernel::{Kernel, Local, Value};
use kernpack_kernel_ir::types::Type;
use kernpack_kernel_ir::verify::Handed;

/// The register tensors that fences and waits hand on, call by call in the order of the text.
pub(in crate::kernel) struct Products {
    handed: Handed,
    n_fences: usize,
    n_waits: usize,
}

impl Products {
    pub(super) fn of(kernel: &Kernel) -> Products {
        Products { handed: Handed::of(kernel), n_fences: 0, n_waits: 0 }
    }

    /// The register tensors that the next fence hands on.
    pub(in crate::kernel) fn next_fence(&mut self) -> Vec<Local> {
        let handed = self.handed.by_fences.get(self.n_fences);
        self.n_fences += 1;
        handed.into_iter().flatten().copied().collect()
    }

    /// Those that the next wait hands on.
    pub(in crate::kernel) fn next_wait(&mut self) -> Vec<Local> {
        let handed = self.handed.by_waits.get(self.n_waits);
        self.n_waits += 1;
        handed.into_iter().flatten().copied().collect()
    }
}

impl<'c, T: Target> Lowering<'c, '_, T> {
    /// Has the registers of products hold zeros until they are set: ptxas would set one that is
    /// set on no way to a product while others are in flight, and have these wait.
    pub(super) fn clear_products(&self) {
        for local in &self.products.handed.all {
            let (_, of) = self.variable_ty(*local);
            for at in self.variables(self.all_elements(*local)) {
                self.emitter.store(*at, self.emitter.zero(of));
            }
        }
    }

    /// All elements of a register tensor.
    pub(in crate::kernel) fn all_elements(&self, local: Local) -> Elements {
        Elements { local, first: 0, count: self.kernel.locals[local.index()].count }
    }

    /// The elements at an address that a value of a type is, where several are a register.
    pub(super) fn packed_at(&self, address: Value, of: Type) -> Option<Elements> {
        let (local, first) = self.registers.packed(address)?;
        let element = self.kernel.locals[local.index()].element;
        Some(Elements { local, first, count: of.bytes() / element.bytes() })
    }

    /// Whether a value of a type is bits of these elements, and not elements.
    pub(super) fn is_words(&self, elements: Elements, of: Type) -> bool {
        of.scalar() != Some(self.kernel.locals[elements.local.index()].element)
    }

    /// How many elements a variable is, and its type.
    fn variable_ty(&self, local: Local) -> (u32, Ty) {
        let width = self.registers.width(local);
        let width = width.unwrap_or_else(|| unreachable!("{local} is in registers"));
        let lanes = u8::try_from(width).unwrap_or(1);
        (width, Self::ty(Type::of_lanes(self.kernel.locals[local.index()].element, lanes)))
    }

    /// The variables of elements, which are whole ones.
    fn variables(&self, Elements { local, first, count }: Elements) -> &[V<'c>] {
        let (width, _) = self.variable_ty(local);
        let range = first / width..(first + count) / width;
        &self.locals[local.index()][range.start as usize..range.end as usize]
    }

    /// The present elements, as registers have them.
    pub(in crate::kernel) fn read_registers(&self, elements: Elements) -> Vec<V<'c>> {
        let (_, of) = self.variable_ty(elements.local);
        self.variables(elements).iter().map(|at| self.emitter.load(of, *at)).collect()
    }

    /// The bits of the present elements, as numbers of the type of each register's.
    pub(super) fn read_words(&self, elements: Elements, of: Type) -> Vec<V<'c>> {
        let word = Self::ty(of.scalar().map_or(of, Type::Scalar));
        let words = self.read_registers(elements).into_iter();
        words.map(|value| self.emitter.bitcast(value, word)).collect()
    }

    /// Makes elements what registers have.
    pub(in crate::kernel) fn write_registers(
        &self,
        elements: Elements,
        values: impl IntoIterator<Item = V<'c>>,
    ) {
        let (_, of) = self.variable_ty(elements.local);
        for (at, value) in self.variables(elements).iter().zip(values) {
            self.emitter.store(*at, self.emitter.bitcast(value, of));
        }
    }

    /// The present elements, of which several are a register, one by one.
    pub(super) fn read_elements(&self, elements: Elements) -> Vec<V<'c>> {
        let (width, of) = self.variable_ty(elements.local);
        let of_number = |number: u32| {
            let at = self.locals[elements.local.index()][(number / width) as usize];
            self.emitter.lane(self.emitter.load(of, at), number % width)
        };
        elements.numbers().map(of_number).collect()
    }

    /// Makes them something.
    pub(super) fn write_elements(&self, elements: Elements, values: Vec<V<'c>>) {
        let (width, of) = self.variable_ty(elements.local);
        for (number, value) in elements.numbers().zip(values) {
            let at = self.locals[elements.local.index()][(number / width) as usize];
            let word = self.emitter.load(of, at);
            self.emitter.store(at, self.emitter.insert_lane(word, number % width, value));
        }
    }
}
