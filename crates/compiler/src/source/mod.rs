// SPDX-License-Identifier: Apache-2.0
//! Sources: where kernels come from. A source of host functions is a [`HostSource`], one of kernels
//! for GPUs a [`GpuSource`]: which it is follows from the launch. What Triton compiled is a file of
//! GPU code like others; how it is launched is said elsewhere (`triton_launch.rs`). Whatever a
//! source has to report is a [`SourceError`].

pub mod c_compiler;
mod c_file;
pub mod cuda;
#[macro_use]
pub mod cuda_library;
mod error;
pub mod gpu;
pub mod host;
pub mod identity;
mod include;
pub mod kernel;
pub mod nvjitlink;
pub mod nvrtc;
mod search;

pub use cuda::CudaSource;
pub use error::{SourceError, SourceErrorKind};
pub use gpu::{GpuFile, GpuSource};
pub use host::HostSource;
pub use identity::Identity;
pub use kernel::KernelSource;
