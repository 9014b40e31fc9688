// SPDX-License-Identifier: Apache-2.0
//! The objects in `objects/`, which `make objects` makes of this crate's source.

use crate::HostArch;

/// The runtime as a relocatable ELF object for Linux, to be merged into packages.
///
/// Its bytes depend only on the source, rustc and LLVM, not on where they were made: a test makes
/// them again.
pub fn object(arch: HostArch) -> &'static [u8] {
    match arch {
        HostArch::X86_64 => include_bytes!("../objects/runtime-x86_64.o"),
        HostArch::Aarch64 => include_bytes!("../objects/runtime-aarch64.o"),
    }
}

/// The object that a package with GPU kernels needs beside that: finding the driver, loading and
/// launching. It refers to `kernpack_cuda_package`, which describes the package's GPU code.
pub fn cuda_object(arch: HostArch) -> &'static [u8] {
    match arch {
        HostArch::X86_64 => include_bytes!("../objects/cuda-x86_64.o"),
        HostArch::Aarch64 => include_bytes!("../objects/cuda-aarch64.o"),
    }
}
