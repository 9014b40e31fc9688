// SPDX-License-Identifier: Apache-2.0
//! Errors of assembling: a text that gave no machine code, a program that did not do its work, and
//! an assembler that is nowhere. Not here: what becomes of them.

use super::{Remark, Report};
use crate::source::nvjitlink::NvJitLinkError;
use crate::source::ptxas::PtxasError;
use kernpack_machine::{Arch, PtxVersion};
use kernpack_package::image::ImageError;
use std::path::PathBuf;
use std::time::Duration;
use thiserror::Error;

/// Why PTX gave no machine code.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum AssembleError {
    /// The architecture asked for is that of PTX, and no machine code.
    #[error(
        "`{name}` is not assembled for {arch}, which is PTX; name machine code, such as `sm_80`"
    )]
    NotMachineCode {
        /// The name of the text.
        name: String,
        /// The architecture.
        arch: Arch,
    },
    /// The text or its name has a NUL inside.
    #[error("the PTX of `{name}` has a NUL byte in it; remove it")]
    Nul {
        /// The name of the text.
        name: String,
    },
    /// This assembler makes no code for the architecture.
    #[error(
        "cannot assemble `{name}` for {arch}: {assembler} (`{}`) does not know it; choose another architecture or version of CUDA, or PTX, such as `{}`",
        path.display(), arch.compute()
    )]
    Arch {
        /// The name of the text.
        name: String,
        /// The architecture.
        arch: Arch,
        /// The assembler and its version.
        assembler: String,
        /// Its own file.
        path: PathBuf,
    },
    /// This assembler is older than the text's version of PTX.
    #[error(
        "cannot assemble `{name}` for {arch}: it is PTX {needed}, and {assembler} (`{}`) reads no later one than PTX {newest}; install a newer one, such as the Python package nvidia-cuda-nvcc, and set KERNPACK_PTXAS to its path",
        path.display()
    )]
    TooOld {
        /// The name of the text.
        name: String,
        /// The architecture.
        arch: Arch,
        /// The version of PTX that the text is.
        needed: PtxVersion,
        /// The newest version that the assembler reads.
        newest: PtxVersion,
        /// The assembler and its version.
        assembler: String,
        /// Its own file.
        path: PathBuf,
    },
    /// The assembler refused the text.
    #[error("{assembler} refused `{name}` for {arch}:\n{text}")]
    Refused {
        /// The assembler's name.
        assembler: &'static str,
        /// The name of the text.
        name: String,
        /// The architecture.
        arch: Arch,
        /// Its messages, in its words.
        text: String,
        /// The same as data: what is wrong, and in which line of the PTX.
        remarks: Vec<Remark>,
    },
    /// The assembler is a program, and did not do its work.
    #[error("`{}`, which assembles `{name}` for {arch}, {failure}", path.display())]
    Program {
        /// The name of the text.
        name: String,
        /// The architecture.
        arch: Arch,
        /// The program.
        path: PathBuf,
        /// The failure.
        failure: ProgramFailure,
    },
    /// The image that came out is not what it should be.
    #[error(transparent)]
    Image(#[from] ImageError),
}

/// The failure of a program that was run.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum ProgramFailure {
    /// It cannot be run.
    #[error("cannot be run: {0}")]
    Unrun(String),
    /// There is no place for its files.
    #[error("gets no file: {0}; set TMPDIR to a folder that can be written to")]
    NoFile(String),
    /// It took too long, and was ended.
    #[error("had not ended after {} seconds, and was ended", .0.as_secs_f32())]
    Late(Duration),
    /// A signal ended it.
    #[error("was ended by signal {0}")]
    Killed(i32),
    /// It says that it failed, and nothing else.
    #[error("failed with code {0}, and said nothing")]
    Silent(i32),
    /// It says that all is well, and there is no output.
    #[error("wrote no {0}")]
    NoOutput(&'static str),
}

impl AssembleError {
    /// The refusal of a text, in the assembler's words.
    pub(in super::super) fn refused(
        assembler: &'static str,
        name: &str,
        arch: Arch,
        text: String,
    ) -> AssembleError {
        let remarks = Report::parse(&text).remarks;
        AssembleError::Refused { assembler, name: name.to_string(), arch, text, remarks }
    }

    /// Whether these words of an assembler are about an architecture that it does not know.
    pub(in super::super) fn says_arch(words: &str) -> bool {
        words.contains("is not defined for option 'gpu-name'")
    }
}

/// There is no assembler of a kind.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum MissingAssembler {
    /// No nvJitLink.
    #[error(transparent)]
    NvJitLink(#[from] NvJitLinkError),
    /// No ptxas.
    #[error(transparent)]
    Ptxas(#[from] PtxasError),
}

impl MissingAssembler {
    /// Whether the driver is to assemble the text instead: of kernels for matrix units nobody
    /// thinks of asking for PTX, as they are for one architecture alone. A program that is there
    /// and does not run is somebody's mistake.
    pub fn leaves_ptx(&self) -> bool {
        matches!(self, MissingAssembler::Ptxas(PtxasError::NotFound { .. }))
    }
}
