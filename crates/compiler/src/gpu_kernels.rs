// SPDX-License-Identifier: Apache-2.0
//! The kernels of a package's GPU code, numbered: all that code of launches has to know of it. Of
//! kernels that are written here it is known before they are compiled.

use crate::wanted::wanted;
use kernpack_package::package::{Function, Launch};
use kernpack_package::source::GpuSource;
use kernpack_package::source::gpu::KernelSymbol;
use kernpack_validators::Plan;

/// The kernels of a package's GPU code.
#[derive(Debug, Default)]
pub struct GpuKernels {
    /// Each source, with the kernels that launches name, and the symbols that they have.
    modules: Vec<(GpuSource, Vec<(String, KernelSymbol)>)>,
    /// Each kernel, with the number of its module.
    numbered: Vec<(usize, String)>,
}

impl GpuKernels {
    /// The kernels that functions launch, where all of them are written here, none is missing, and
    /// there is any.
    pub fn written(functions: &[(&Function, Option<&Plan>)]) -> Option<GpuKernels> {
        let mut kernels = GpuKernels::default();
        for wanted in wanted(functions, Launch::gpu_source) {
            let GpuSource::Kernel(source, _) = wanted.source else { return None };
            let symbols = source.symbols(&wanted.kernels());
            if symbols.iter().any(|(_, symbol)| symbol.is_err()) {
                return None;
            }
            kernels.add(wanted.source.clone(), symbols);
        }
        (!kernels.is_empty()).then_some(kernels)
    }

    /// Numbers the kernels of another source.
    pub fn add(&mut self, source: GpuSource, symbols: Vec<(String, KernelSymbol)>) {
        let number = self.modules.len();
        for symbol in symbols.iter().filter_map(|(_, symbol)| symbol.as_ref().ok()) {
            let kernel = (number, symbol.clone());
            if !self.numbered.contains(&kernel) {
                self.numbered.push(kernel);
            }
        }
        self.modules.push((source, symbols));
    }

    /// Whether nothing runs on a GPU.
    pub fn is_empty(&self) -> bool {
        self.numbered.is_empty()
    }

    /// The kernels in the order of their numbers, each with its module's number and its symbol.
    pub fn numbered(&self) -> &[(usize, String)] {
        &self.numbered
    }

    /// The number of a kernel of a source, by the name that a launch has for it.
    pub fn number(&self, source: &GpuSource, name: &str) -> Option<usize> {
        let (module, symbol) = self.symbol(source, name)?;
        let symbol = symbol.as_ref().ok()?;
        self.numbered.iter().position(|(of, known)| *of == module && known == symbol)
    }

    /// The number of a source's module, and the symbol of a kernel in it.
    pub fn symbol(&self, source: &GpuSource, name: &str) -> Option<(usize, &KernelSymbol)> {
        let module = self.modules.iter().position(|(known, _)| known == source)?;
        let (_, symbols) = &self.modules[module];
        let (_, symbol) = symbols.iter().find(|(written, _)| written == name)?;
        Some((module, symbol))
    }
}
