// SPDX-License-Identifier: Apache-2.0
//! GPU code for one architecture or for several: files that somebody else compiled (`cubin`,
//! `fatbin` and `ptx`), CUDA C++, or kernels written here. What each kind says of itself is in its
//! own file.

use super::cuda::CudaSource;
use super::error::SourceError;
use super::gpu_file::GpuFile;
use super::kernel::KernelSource;
use kernpack_ffi_abi::DType;
use kernpack_machine::Arch;
use kernpack_syntax::{Placed, Span};

/// Kernels for GPUs.
#[derive(Clone, Debug, PartialEq)]
pub enum GpuSource {
    /// Files that have the same kernels, each for other devices, in the order in which a user wrote
    /// them.
    Files(Vec<GpuFile>),
    /// A CUDA C++ file, and what it is compiled for.
    Cuda(CudaSource, Vec<Placed<Arch>>),
    /// Kernels of a file in the kernel language, and what they are compiled for.
    Kernel(KernelSource, Vec<Placed<Arch>>),
}

/// The symbol of a kernel in every image, or why it has none.
pub type KernelSymbol = Result<String, SourceError>;

/// The description that every kind of source of GPU code has of itself.
pub(super) trait Described {
    /// The word for its kind in records of packages.
    fn word(&self) -> &'static str;
    /// Its name in messages, where it is written.
    fn name(&self) -> Placed<String>;
    /// The text for a dtype in the name of a kernel, behind this part of it.
    fn dtype_name(&self, dtype: DType, before: &str) -> Option<String>;
}

impl GpuSource {
    /// Whether Triton's JSON says how its kernel is launched.
    pub fn is_triton(&self) -> bool {
        matches!(self, GpuSource::Files(files) if files.iter().any(|file| file.triton.is_some()))
    }

    /// The architectures that it is compiled for, unless it is compiled already.
    pub fn archs(&self) -> Option<&[Placed<Arch>]> {
        match self {
            GpuSource::Files(_) => None,
            GpuSource::Cuda(_, archs) | GpuSource::Kernel(_, archs) => Some(archs),
        }
    }

    /// Has it compiled for these. Gives whether it is compiled at all.
    pub fn set_archs(&mut self, archs: &[Arch]) -> bool {
        match self {
            GpuSource::Files(_) => false,
            GpuSource::Cuda(_, own) | GpuSource::Kernel(_, own) => {
                *own = archs.iter().copied().map(Placed::from).collect();
                true
            }
        }
    }

    /// Of what is compiled, whether somebody wrote what it is to be compiled for: what nobody wrote
    /// has no place.
    pub fn is_arch_written(&self) -> Option<bool> {
        Some(self.archs()?.iter().any(|arch| arch.span != Span::default()))
    }

    /// The text for a dtype in the name of a kernel, behind this part of it: the type of CUDA
    /// C++, if there is one, or the dtype's own name. The type is what templates take; in CUDA C++
    /// it stands everywhere.
    pub fn dtype_name(&self, dtype: DType, before: &str) -> Option<String> {
        self.described().dtype_name(dtype, before)
    }

    /// Its name in messages, where it is written.
    pub fn name(&self) -> Placed<String> {
        self.described().name()
    }

    /// The word for its kind in records of packages.
    pub fn word(&self) -> &'static str {
        self.described().word()
    }

    /// The registry: a row a kind.
    fn described(&self) -> &dyn Described {
        match self {
            GpuSource::Files(files) => files,
            GpuSource::Cuda(source, _) => source,
            GpuSource::Kernel(source, _) => source,
        }
    }
}
