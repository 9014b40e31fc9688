// SPDX-License-Identifier: Apache-2.0
//! Register tensors that products of warpgroups are made of, which are variables, an element each.

use super::{Lowering, Target};
use crate::llvm::V;
use kernpack_kernel_ir::group_product::Elements;
use kernpack_kernel_ir::kernel::{Kernel, Local};
use kernpack_kernel_ir::types::Type;
use kernpack_kernel_ir::verify::Handed;

/// What fences and waits hand on, call by call in the order of the text.
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
    /// All elements of a register tensor.
    pub(in crate::kernel) fn all_elements(&self, local: Local) -> Elements {
        Elements { local, first: 0, count: self.kernel.locals[local.index()].count }
    }

    /// The variables of elements.
    fn variables(&self, elements: Elements) -> &[V<'c>] {
        let range = elements.numbers();
        &self.locals[elements.local.index()][range.start as usize..range.end as usize]
    }

    /// What elements are now.
    pub(in crate::kernel) fn read_elements(&self, elements: Elements) -> Vec<V<'c>> {
        let of = self.kernel.locals[elements.local.index()].element;
        let of = Self::ty(Type::Scalar(of));
        self.variables(elements).iter().map(|at| self.emitter.load(of, *at)).collect()
    }

    /// Makes elements something.
    pub(in crate::kernel) fn write_elements(
        &self,
        elements: Elements,
        values: impl IntoIterator<Item = V<'c>>,
    ) {
        let variables = self.variables(elements).iter();
        variables.zip(values).for_each(|(at, value)| self.emitter.store(*at, value));
    }
}
