// SPDX-License-Identifier: Apache-2.0
//! The machines of ELF files, under the names that linkers and readers of objects have for them.

use object::{Architecture, elf};
use std::fmt;

/// The machine a package runs on, as far as the linker must know it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ElfTarget {
    /// `x86_64-linux-gnu`.
    X86_64,
    /// `aarch64-linux-gnu`.
    Aarch64,
}

impl ElfTarget {
    /// The linker's name for the machine.
    pub fn emulation(self) -> &'static str {
        match self {
            ElfTarget::X86_64 => "elf_x86_64",
            ElfTarget::Aarch64 => "aarch64linux",
        }
    }

    /// The architecture, for libraries that read and write objects.
    pub fn architecture(self) -> Architecture {
        match self {
            ElfTarget::X86_64 => Architecture::X86_64,
            ElfTarget::Aarch64 => Architecture::Aarch64,
        }
    }

    /// Its number in the header of an object.
    pub fn machine(self) -> elf::Machine {
        match self {
            ElfTarget::X86_64 => elf::EM_X86_64,
            ElfTarget::Aarch64 => elf::EM_AARCH64,
        }
    }
}

impl fmt::Display for ElfTarget {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            ElfTarget::X86_64 => "x86_64",
            ElfTarget::Aarch64 => "aarch64",
        })
    }
}

/// Whether loaders take a name as that of a shared library which they look for.
pub fn is_library_name(name: &str) -> bool {
    !name.is_empty() && !name.contains(['/', '\0'])
}
