// SPDX-License-Identifier: Apache-2.0
//! Sources: where kernels come from. A source is one file of this folder and one line of the enum below; today there is one.

pub mod host;

pub use host::HostSource;

/// Where a kernel comes from.
#[derive(Clone, Debug, PartialEq)]
pub enum Source {
    /// A function of the C ABI, for the CPU.
    Host(HostSource),
}
