// SPDX-License-Identifier: Apache-2.0
//! Source `kernel`: kernels of a file in the kernel language. LLVM writes them as PTX for
//! each architecture, and an [assembler](super::assembler) makes machine code of that; of PTX that
//! is asked for, nothing more is made.
//!
//! Mistakes of a kernel are told at its lines, and so is what makes it slow: a register
//! tensor that stays in memory, registers that do not suffice, instructions that wait for one
//! another. The same kernels give the same bytes, wherever the file lies, unless lines are asked
//! for.
//!
//! Not here: the language, and which kernels a launch needs.

mod accesses;
mod build;
mod code;
mod resources;
mod sass;
mod warning;

pub use accesses::{LineAccesses, accesses, narrowest};
pub use code::{cubin, image, llvm_text, ptx_text};
pub use resources::{Resources, resources};
pub use sass::{SassError, sass};

use super::Identity;
use super::assembler::Assemblers;
use super::gpu::{Build, GpuArtifact, GpuCompiler};
use super::nvjitlink::{self, NvJitLink};
use kernpack_kernel_ir::interp::Widths;
use kernpack_machine::Arch;
use kernpack_package::file::Held;
use kernpack_package::interpret::{AccessWidths, KernelImages};
use kernpack_package::kernel_file::needs_assembler;
use kernpack_package::source::{KernelSource, SourceError};
use kernpack_syntax::Placed;

impl Build for KernelSource {
    fn compiler(&self) -> Option<GpuCompiler> {
        Some(GpuCompiler::Assembler)
    }

    fn build(
        &self,
        archs: &[Placed<Arch>],
        kernels: &[String],
        _: &Held,
    ) -> Result<GpuArtifact, Vec<SourceError>> {
        let _span = tracing::debug_span!("source", path = %self.path.display()).entered();
        build::build(self, archs, kernels, &Assemblers::here())
    }
}

/// The code of kernels for whoever runs them on the interpreter: images, to compare with, and how
/// wide accesses become.
#[derive(Clone, Copy, Debug)]
pub struct CodeGenerator;

impl AccessWidths for CodeGenerator {
    fn widths(
        &self,
        source: &KernelSource,
        archs: &[Placed<Arch>],
    ) -> Result<Widths, Vec<SourceError>> {
        accesses::widths(source, archs)
    }
}

impl KernelImages for CodeGenerator {
    fn has_assembler(&self) -> bool {
        NvJitLink::find().is_ok()
    }

    fn image(&self, source: &KernelSource, arch: Arch) -> Result<Vec<u8>, Vec<SourceError>> {
        image(source, arch)
    }
}

/// The identity of the assembler that kernels for these architectures are made with: nothing where
/// there is none, or where none is needed.
pub fn identity(archs: &[Placed<Arch>]) -> Option<Identity> {
    needs_assembler(archs).then(nvjitlink::identity).flatten()
}

#[cfg(test)]
mod tests;
