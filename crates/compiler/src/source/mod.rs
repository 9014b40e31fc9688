// SPDX-License-Identifier: Apache-2.0
//! Sources: where kernels come from. A source is one file of this folder and one line of the enum below; today there is one.
//!
//! `triton_json` is part of a source to come: no package file names it yet.

pub mod host;

pub mod triton_json;

pub use host::HostSource;

/// Where a kernel comes from.
#[derive(Clone, Debug, PartialEq)]
pub enum Source {
    /// A function of the C ABI, for the CPU.
    Host(HostSource),
}
