// SPDX-License-Identifier: Apache-2.0
//! Targets: what code is made for. A row has everything that differs: triple, processor, object
//! format, the C ABI's way with structs, the C compiler to ask.

mod elf;
pub mod struct_abi;

pub use elf::{ElfTarget, is_library_name};

use kernpack_machine::Arch;
use kernpack_runtime::HostArch;

/// A host that packages are made for.
#[derive(Debug)]
pub struct Target {
    /// As the command line and metadata name it.
    pub name: &'static str,
    /// As LLVM names it.
    pub triple: &'static str,
    /// The oldest processor that runs the code.
    pub cpu: &'static str,
    /// Its features beyond that, in LLVM's notation.
    pub features: &'static str,
    /// The object format and machine.
    pub elf: ElfTarget,
    /// The prebuilt runtime's.
    pub runtime: HostArch,
    /// How structs are passed by value.
    pub struct_abi: struct_abi::StructAbi,
    /// The C compilers to try, in order, where the environment names none.
    pub c_compilers: &'static [&'static str],
}

/// The registry: a row a target.
pub static TARGETS: &[Target] = &[
    Target {
        name: "x86_64-linux-gnu",
        triple: "x86_64-unknown-linux-gnu",
        cpu: "x86-64",
        features: "",
        elf: ElfTarget::X86_64,
        runtime: HostArch::X86_64,
        struct_abi: struct_abi::StructAbi::SystemV,
        c_compilers: &["x86_64-linux-gnu-gcc", "cc", "gcc", "clang"],
    },
    Target {
        name: "aarch64-linux-gnu",
        triple: "aarch64-unknown-linux-gnu",
        cpu: "generic",
        features: "-outline-atomics",
        elf: ElfTarget::Aarch64,
        runtime: HostArch::Aarch64,
        struct_abi: struct_abi::StructAbi::Aapcs64,
        c_compilers: &["aarch64-linux-gnu-gcc"],
    },
];

/// Formats that are known but not made yet, with what is said of them.
const LATER: &[(&str, &str)] = &[
    ("x86_64-apple-darwin", "Mach-O objects"),
    ("aarch64-apple-darwin", "Mach-O objects"),
    ("x86_64-pc-windows-msvc", "COFF objects"),
];

impl Target {
    /// The target of that name.
    ///
    /// # Errors
    /// The targets that there are, where there is none of that name.
    pub fn find(name: &str) -> Result<&'static Target, UnknownTarget> {
        let found = TARGETS.iter().find(|target| target.name == name || target.triple == name);
        found.ok_or_else(|| UnknownTarget(name.to_string()))
    }

    /// The machine this program runs on.
    pub fn host() -> &'static Target {
        let arch = std::env::consts::ARCH;
        let found = TARGETS.iter().find(|target| target.name.starts_with(arch));
        found.unwrap_or(&TARGETS[0])
    }
}

/// A name that is no target's.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnknownTarget(String);

impl std::fmt::Display for UnknownTarget {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let names: Vec<_> = TARGETS.iter().map(|target| target.name).collect();
        write!(f, "unknown target `{}`; the targets are {}", self.0, names.join(", "))?;
        match LATER.iter().find(|(name, _)| *name == self.0) {
            Some((_, what)) => write!(f, " ({what} are not made yet)"),
            None if self.0.parse::<Arch>().is_ok() => {
                write!(
                    f,
                    " (`{}` is an architecture of GPUs, which `arch` names in a source)",
                    self.0
                )
            }
            None => Ok(()),
        }
    }
}

impl std::error::Error for UnknownTarget {}
