// SPDX-License-Identifier: Apache-2.0
//! Why bytes are no image, or not the image that is needed.

use super::Arch;
use std::fmt;
use thiserror::Error;

/// What is wrong with an image.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("`{image}` {problem}")]
pub struct ImageError {
    /// The image's name: its file.
    pub image: String,
    /// What is wrong.
    pub problem: ImageProblem,
}

/// What can be wrong with an image.
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
        /// What reaches beyond the end.
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
        /// What is wrong.
        reason: String,
    },
    /// The image has no code at all.
    #[error("has no code for any architecture; build it with nvcc's --gpu-code")]
    Empty,
    /// The kernel is not in there.
    #[error("has no kernel `{kernel}` for {arch}; it has {}", Names(.has))]
    NoKernel {
        /// The kernel.
        kernel: String,
        /// The architecture whose code lacks it.
        arch: Arch,
        /// The kernels that this code has.
        has: Vec<String>,
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

/// Names between backticks.
struct Names<'a>(&'a [String]);

impl fmt::Display for Names<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0.is_empty() {
            return f.write_str("none");
        }
        let names: Vec<_> = self.0.iter().map(|name| format!("`{name}`")).collect();
        f.write_str(&names.join(", "))
    }
}
