// SPDX-License-Identifier: Apache-2.0
//! Code of GPU sources, whatever their kind: each kind has a file here with its
//! `Build`, and a row of the registry.

use super::assembler::AssemblerKind;
use kernpack_machine::Arch;
use kernpack_package::file::{Held, Looked};
use kernpack_package::image::Image;
use kernpack_package::source::gpu::KernelSymbol;
use kernpack_package::source::{GpuSource, SourceError};
use kernpack_syntax::{Diagnostic, Placed};

/// The code of a source of GPU code.
#[derive(Clone, Debug, Default)]
pub struct GpuArtifact {
    /// The images, which are ready for the driver.
    pub images: Vec<Image>,
    /// Each kernel as launches name it, with its symbol.
    pub symbols: Vec<(String, KernelSymbol)>,
    /// Warnings of NVRTC, with the names of files as the user knows them.
    pub log: String,
    /// Warnings about the kernels themselves.
    pub warnings: Vec<Diagnostic>,
    /// The files that were read and those that were missed.
    pub looked: Looked,
    /// The assemblers that made machine code of PTX here, each once.
    pub assemblers: Vec<AssemblerKind>,
    /// Whether PTX takes the place of machine code, for want of an assembler.
    pub is_unassembled: bool,
}

/// The compiler of GPU code, on the machine on which that is done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GpuCompiler {
    /// NVRTC, CUDA C++.
    Nvrtc,
    /// An assembler, machine code of kernels written here. Their PTX needs nobody.
    Assembler,
}

/// How a kind of source is built.
pub(super) trait Build {
    /// Its compiler, unless it is compiled already.
    fn compiler(&self) -> Option<GpuCompiler>;

    /// Reads the files, or compiles the text for these architectures. `kernels` are those that
    /// launches name.
    ///
    /// # Errors
    /// All that is wrong.
    fn build(
        &self,
        archs: &[Placed<Arch>],
        kernels: &[String],
        held: &Held,
    ) -> Result<GpuArtifact, Vec<SourceError>>;
}

/// The registry: a row a kind.
fn builder(source: &GpuSource) -> &dyn Build {
    match source {
        GpuSource::Files(files) => files,
        GpuSource::Cuda(source, _) => source,
        GpuSource::Kernel(source, _) => source,
    }
}

/// The compiler of a source, unless it is compiled already.
pub fn compiler(source: &GpuSource) -> Option<GpuCompiler> {
    builder(source).compiler()
}

/// Reads the files of a source, or compiles its text. `kernels` are those that launches name.
///
/// # Errors
/// Where a file cannot be read, is damaged, or is not what it is said to be; where there is no
/// compiler, or it refuses the text. All that is wrong.
pub fn build(
    source: &GpuSource,
    kernels: &[String],
    held: &Held,
) -> Result<GpuArtifact, Vec<SourceError>> {
    builder(source).build(source.archs().unwrap_or(&[]), kernels, held)
}

impl GpuArtifact {
    /// The architectures that there is code for, in the order of the images.
    pub fn archs(&self) -> Vec<Arch> {
        self.images.iter().flat_map(Image::archs).collect()
    }
}
