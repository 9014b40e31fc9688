// SPDX-License-Identifier: Apache-2.0
//! Sources: where kernels come from. A source is one file of this folder and one line of the enum below.

pub mod gpu;
pub mod host;

pub use gpu::{GpuFile, GpuSource};
pub use host::HostSource;

/// Where a kernel comes from.
#[derive(Clone, Debug, PartialEq)]
pub enum Source {
    /// A function of the C ABI, for the CPU.
    Host(HostSource),
    /// Kernels for GPUs that were compiled before.
    Gpu(GpuSource),
}

impl Source {
    /// Whether its kernels run on a GPU.
    pub fn is_gpu(&self) -> bool {
        matches!(self, Source::Gpu(_))
    }
}
