// SPDX-License-Identifier: Apache-2.0
//! Sources: where kernels come from. A source is one file of this folder and one line of the enum below; today there is one.
//!
//! `cuda`, with `nvrtc` and `include`, and `triton_json` are parts of sources to come: no package file names them yet.

pub mod cuda;
pub mod host;
mod include;
pub mod nvrtc;
pub mod triton_json;

pub use host::HostSource;

/// Where a kernel comes from.
#[derive(Clone, Debug, PartialEq)]
pub enum Source {
    /// A function of the C ABI, for the CPU.
    Host(HostSource),
}
