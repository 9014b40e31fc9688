// SPDX-License-Identifier: Apache-2.0
//! Why bytes are no image, or not the image that is needed.

use super::KernelName;

use kernpack_machine::Arch;
use std::fmt;
use thiserror::Error;

/// The error of an image.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("`{image}` {problem}")]
pub struct ImageError {
    /// The image's name: its file.
    pub image: String,
    /// The problem.
    pub problem: ImageProblem,
}

/// The problems that an image can have.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum ImageProblem {
    /// There are no bytes.
    #[error("is empty; build or copy it again")]
    NoBytes,
    /// The bytes are of no form that is known here.
    #[error("is no GPU image: it begins with \"{start}\"; give a cubin, a fatbin or PTX text")]
    NotAnImage {
        /// The first bytes, made readable.
        start: String,
    },
    /// The file ends too early.
    #[error(
        "is cut short: its {what} ends at byte {end}, but the file has {has}; copy or build it again"
    )]
    Truncated {
        /// The part that reaches beyond the end.
        what: &'static str,
        /// Where that would end.
        end: u64,
        /// The bytes there are.
        has: u64,
    },
    /// An ELF file for something else.
    #[error("is for {}, not for a GPU of NVIDIA's; give the output of nvcc's --cubin or --fatbin", Machine(*.machine))]
    WrongMachine {
        /// The machine's number in ELF.
        machine: u16,
    },
    /// A cubin of separate compilation.
    #[error(
        "still has to be linked (it was made by nvcc's -dc or -rdc=true); link it with nvlink, or build it without that option"
    )]
    NotLinked,
    /// An ELF ABI of which nothing is known.
    #[error(
        "has version {0} of the ELF ABI for GPUs; this kernpack reads 7 and 8, so use a newer one, or an older CUDA"
    )]
    AbiVersion(u8),
    /// Some part contradicts the rest.
    #[error("is damaged: {part}; copy or build it again")]
    Damaged {
        /// The part and what is wrong with it.
        part: String,
    },
    /// A line of PTX cannot be understood.
    #[error("is no PTX that kernpack can read: line {line}: {reason}")]
    Ptx {
        /// The line, from 1.
        line: usize,
        /// The reason.
        reason: String,
    },
    /// The image has no code at all.
    #[error("has no code for any architecture; build it with nvcc's --gpu-code")]
    Empty,
    /// The kernel is not in there.
    #[error("has no kernel `{kernel}` for {arch}; it has {}", Names(.has))]
    NoKernel {
        /// The kernel, as the launch names it.
        kernel: String,
        /// The architecture whose code lacks it.
        arch: Arch,
        /// The kernels that this code has, the closest first.
        has: Vec<KernelName>,
    },
    /// Several kernels go by the name.
    #[error("has several kernels `{kernel}` for {arch}: {}; name one by its symbol", Names(.among))]
    Ambiguous {
        /// The kernel, as the launch names it.
        kernel: String,
        /// The architecture of the code.
        arch: Arch,
        /// The kernels, with what they take.
        among: Vec<KernelName>,
    },
    /// A kernel is another symbol where it is compiled for another architecture.
    #[error(
        "has the kernel `{kernel}` as `{symbol}` for {arch}, but for {} it is `{}`; declare it alike for all, outside of namespaces without a name",
        other.0, other.1
    )]
    OtherSymbol {
        /// The kernel, as the launch names it.
        kernel: String,
        /// The architecture of the code.
        arch: Arch,
        /// The symbol in this code.
        symbol: String,
        /// The architecture of the code before it, and the symbol there.
        other: (Arch, String),
    },
    /// A name in C++, where no names can be read.
    #[error(
        "is compressed, so that the kernel `{kernel}` cannot be looked for in it; give its symbol"
    )]
    Compressed {
        /// The kernel, as the launch names it.
        kernel: String,
    },
}

/// A machine of ELF in words.
struct Machine(u16);

impl fmt::Display for Machine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            62 => f.write_str("x86-64"),
            183 => f.write_str("aarch64"),
            224 => f.write_str("a GPU of AMD's"),
            other => write!(f, "the ELF machine {other}"),
        }
    }
}

/// The first of some names.
struct Names<'a>(&'a [KernelName]);

impl fmt::Display for Names<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const MOST: usize = 10;
        if self.0.is_empty() {
            return f.write_str("none");
        }
        let names: Vec<_> = self.0.iter().take(MOST).map(ToString::to_string).collect();
        f.write_str(&names.join(", "))?;
        match self.0.len().saturating_sub(MOST) {
            0 => Ok(()),
            n_more => write!(f, " and {n_more} more"),
        }
    }
}
