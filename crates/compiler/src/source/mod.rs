// SPDX-License-Identifier: Apache-2.0
//! Sources: where kernels come from. A source is one file of this folder and one line of an enum: [`Source`], or [`GpuSource`]. What Triton
//! compiled is a file of GPU code like others; how it is launched is said elsewhere (`triton_launch.rs`). Whatever a source
//! has to report is a [`SourceError`].

pub mod c_compiler;
pub mod cuda;
mod error;
pub mod gpu;
pub mod host;
mod include;
pub mod nvrtc;

pub use cuda::CudaSource;
pub use error::{Position, SourceError, SourceErrorKind};
pub use gpu::{GpuFile, GpuSource};
pub use host::HostSource;

use kernpack_ffi_abi::DType;

/// Where a kernel comes from.
#[derive(Clone, Debug, PartialEq)]
pub enum Source {
    /// A function of the C ABI, for the CPU.
    Host(HostSource),
    /// Kernels for GPUs.
    Gpu(GpuSource),
}

impl Source {
    /// Whether its kernels run on a GPU.
    pub fn is_gpu(&self) -> bool {
        matches!(self, Source::Gpu(_))
    }

    /// What stands for a dtype in the name of a kernel, behind this part of it: the type of CUDA
    /// C++, if there is one, or the dtype's own name. The type is what templates take; in CUDA C++
    /// it stands everywhere.
    pub fn dtype_name(&self, dtype: DType, before: &str) -> Option<String> {
        let is_argument = before.matches('<').count() > before.matches('>').count();
        let is_type = match self {
            Source::Host(_) => false,
            Source::Gpu(GpuSource::Files(_)) => is_argument,
            Source::Gpu(GpuSource::Cuda(..)) => true,
        };
        match is_type {
            true => cuda::type_name(dtype).map(str::to_string),
            false => Some(dtype.to_string()),
        }
    }
}
