// SPDX-License-Identifier: Apache-2.0
//! The host architectures that packages are made for.

/// An architecture that entry points run on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HostArch {
    /// 64-bit x86.
    X86_64,
    /// 64-bit Arm.
    Aarch64,
}

impl HostArch {
    /// Every architecture.
    pub const ALL: [Self; 2] = [Self::X86_64, Self::Aarch64];

    /// The name as in target triples.
    pub const fn name(self) -> &'static str {
        match self {
            Self::X86_64 => "x86_64",
            Self::Aarch64 => "aarch64",
        }
    }
}
