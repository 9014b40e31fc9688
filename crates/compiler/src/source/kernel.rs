// SPDX-License-Identifier: Apache-2.0
//! Source `kernel`: kernels of a file in the kernel language, as data. LLVM writes them as PTX for
//! each architecture, and [`NvJitLink`] assembles that to machine code; of PTX that is asked for,
//! nothing more is made.
//!
//! What is wrong with a kernel is told at its lines, and so is what makes it slow: a register
//! tensor that stays in memory, registers that do not suffice, instructions that wait for one
//! another. The same kernels give the same bytes, wherever the file lies, unless lines are asked
//! for.
//!
//! Not here: the language, and which kernels a launch needs.

mod build;
mod code;
mod sass;
mod warning;

pub use code::{cubin, image, llvm_text, ptx_text};
pub use sass::{SassError, sass};

use super::Identity;
use super::error::SourceError;
use super::gpu::{GpuArtifact, KernelSymbol};
use super::nvjitlink::{self, NvJitLink};
use kernpack_kernel_ir::Kernel;
use kernpack_machine::{Arch, ArchKind};
use kernpack_syntax::Placed;
use std::path::PathBuf;
use std::sync::Arc;

/// Kernels of a file.
#[derive(Clone, Debug)]
pub struct KernelSource {
    /// The file.
    pub path: Placed<PathBuf>,
    /// The kernels. Launches know each by its name, which is its symbol.
    pub instances: Vec<Arc<Kernel>>,
    /// Whether the image tells debuggers and profilers which line each instruction comes from.
    pub line_info: bool,
}

/// By content: the same file gives the same kernels only for the same launches.
impl PartialEq for KernelSource {
    fn eq(&self, other: &KernelSource) -> bool {
        let is_same =
            |(one, other): (&Arc<Kernel>, &Arc<Kernel>)| Arc::ptr_eq(one, other) || one == other;
        self.path == other.path
            && self.line_info == other.line_info
            && self.instances.len() == other.instances.len()
            && self.instances.iter().zip(&other.instances).all(is_same)
    }
}

impl KernelSource {
    /// Compiles the kernels for each architecture. `kernels` are those that launches name.
    ///
    /// # Errors
    /// Where a kernel is wrong, or needs what an architecture has not; where machine code is asked
    /// for and there is no nvJitLink. All that is wrong.
    pub fn build(
        &self,
        archs: &[Placed<Arch>],
        kernels: &[String],
    ) -> Result<GpuArtifact, Vec<SourceError>> {
        let _span = tracing::debug_span!("source", path = %self.path.display()).entered();
        build::build(self, archs, kernels, &NvJitLink::find)
    }

    /// The symbols of the kernels that launches name.
    pub fn symbols(&self, kernels: &[String]) -> Vec<(String, KernelSymbol)> {
        kernels.iter().map(|name| (name.clone(), build::symbol(self, name))).collect()
    }
}

/// The identity of the assembler that kernels for these architectures are made with: nothing where
/// there is none, or where none is needed.
pub fn identity(archs: &[Placed<Arch>]) -> Option<Identity> {
    needs_assembler(archs).then(nvjitlink::identity).flatten()
}

/// Whether machine code is asked for.
pub fn needs_assembler(archs: &[Placed<Arch>]) -> bool {
    archs.iter().any(|arch| arch.kind == ArchKind::Sm)
}

#[cfg(test)]
mod tests;
