// SPDX-License-Identifier: Apache-2.0
//! Sources: where kernels come from, as a user describes them. A source of host functions is a
//! [`HostSource`], one of kernels for GPUs a [`GpuSource`]: which it is follows from the launch.
//! Triton's code is a file of GPU code like others; how it is launched is said elsewhere
//! (`triton_launch.rs`). Whatever is wrong with a source is a [`SourceError`].
//!
//! Not here: what a source becomes, and the compilers of that.

pub mod cuda;
mod error;
pub mod gpu;
mod gpu_file;
mod host;
mod kernel;

pub use cuda::CudaSource;
pub use error::{SourceError, SourceErrorKind};
pub use gpu::GpuSource;
pub use gpu_file::GpuFile;
pub use host::HostSource;
pub use kernel::KernelSource;
