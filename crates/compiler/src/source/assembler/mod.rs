// SPDX-License-Identifier: Apache-2.0
//! Assemblers: PTX to machine code.
//!
//! ```text
//! PTX, sm_90a ──assemble──▶ Assembled: a cubin ── Report: registers, spills, remarks
//!   │                                                                      │
//!   └──────── LineTable: .file, .loc ◀───────── a line of PTX ─────────────┘
//! ```
//!
//! There are two. [`NvJitLink`] is a library and quick to call. It assembles PTX so that it could
//! be linked with more, and so it ignores `setmaxnreg`, and lets products of matrix units wait for
//! one another. [`Ptxas`] is a program, and assembles a text as the whole program that it is.
//! [`AssemblerKind::of`] says which of them a text goes by, and nothing else does.
//!
//! Not here: where PTX comes from.

mod advisory;
mod choice;
mod line_table;
mod report;

pub use advisory::{Advisory, Matter};
pub use choice::AssemblerKind;
pub use line_table::{LineTable, SourcePlace};
pub use report::{FunctionReport, Remark, Report, Severity};

use super::nvjitlink::{NvJitLink, NvJitLinkError};
use super::ptxas::{Ptxas, PtxasError};
use kernpack_machine::{Arch, ArchKind, PtxVersion};
use kernpack_package::image::{Image, ImageError};
use std::fmt::Debug;
use std::path::PathBuf;
use std::sync::LazyLock;
use std::time::Duration;
use thiserror::Error;

/// An assembler of this machine. Any number of threads may assemble at once, and the same text
/// gives the same bytes.
pub trait Assembler: Debug + Send + Sync {
    /// Its kind.
    fn kind(&self) -> AssemblerKind;

    /// Its name and the version of CUDA, such as `ptxas 12.8`.
    fn label(&self) -> String;

    /// Assembles PTX for an architecture. `name` is what messages call it, and gets into no output.
    ///
    /// # Errors
    /// Where the text is refused, or the architecture is not known.
    fn assemble(
        &self,
        ptx: &str,
        name: &str,
        arch: Arch,
        options: &AssembleOptions,
    ) -> Result<Assembled, AssembleError>;
}

/// How PTX is assembled.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct AssembleOptions {
    /// How much the assembler optimises.
    pub optimization: Optimization,
    /// Whether the machine code has a line for every instruction: of the source where the PTX has
    /// `.loc`, as code with `.loc` has anyway, and else of the PTX.
    pub line_info: bool,
    /// The most registers of a thread. Kernels that state how many threads a block has at most, or
    /// how many registers a thread, go by that alone.
    pub max_registers: Option<u32>,
}

/// How much the assembler optimises.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Optimization {
    /// As much as it can.
    #[default]
    Full,
    /// Its first level, which takes a quarter less of its time for large kernels.
    Quick,
}

/// The machine code of a text of PTX.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Assembled {
    /// The machine code, a cubin.
    pub image: Image,
    /// The assembler's report.
    pub report: Report,
}

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
        /// What happened.
        failure: ProgramFailure,
    },
    /// The image that came out is not what it should be.
    #[error(transparent)]
    Image(#[from] ImageError),
}

/// What happened to a program that was run.
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
    pub(super) fn refused(
        assembler: &'static str,
        name: &str,
        arch: Arch,
        text: String,
    ) -> AssembleError {
        let remarks = Report::parse(&text).remarks;
        AssembleError::Refused { assembler, name: name.to_string(), arch, text, remarks }
    }

    /// Whether these words of an assembler are about an architecture that it does not know.
    pub(super) fn says_arch(words: &str) -> bool {
        words.contains("is not defined for option 'gpu-name'")
    }
}

/// Refuses what no assembler takes: architectures of PTX, and texts with a NUL inside. What is read
/// from a file may end in some, as the driver wants it.
pub(super) fn checked<'p>(ptx: &'p str, name: &str, arch: Arch) -> Result<&'p str, AssembleError> {
    if arch.kind == ArchKind::Compute {
        return Err(AssembleError::NotMachineCode { name: name.to_string(), arch });
    }
    let ptx = ptx.trim_end_matches('\0');
    match ptx.contains('\0') || name.contains('\0') {
        true => Err(AssembleError::Nul { name: name.replace('\0', "\\0") }),
        false => Ok(ptx),
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
    /// Whether the driver is to assemble the text instead: of kernels for matrix units nobody thinks
    /// of asking for PTX, as they are for one architecture alone. A program that is there and does
    /// not run is somebody's mistake.
    pub fn leaves_ptx(&self) -> bool {
        matches!(self, MissingAssembler::Ptxas(PtxasError::NotFound { .. }))
    }
}

/// An assembler, or why there is none.
pub type Found = Result<Box<dyn Assembler>, MissingAssembler>;
/// Looks for an assembler.
type Find = Box<dyn FnOnce() -> Found + Send>;

/// The assemblers of a machine, each looked for when it is asked for first.
#[derive(Debug)]
pub struct Assemblers {
    nvjitlink: LazyLock<Found, Find>,
    ptxas: LazyLock<Found, Find>,
}

impl Assemblers {
    /// Those of this machine.
    pub fn here() -> Assemblers {
        Assemblers::found_by(|| Ok(Box::new(NvJitLink::find()?)), || Ok(Box::new(Ptxas::find()?)))
    }

    /// Those that are found so.
    pub(super) fn found_by(
        nvjitlink: impl FnOnce() -> Found + Send + 'static,
        ptxas: impl FnOnce() -> Found + Send + 'static,
    ) -> Assemblers {
        let (nvjitlink, ptxas): (Find, Find) = (Box::new(nvjitlink), Box::new(ptxas));
        Assemblers { nvjitlink: LazyLock::new(nvjitlink), ptxas: LazyLock::new(ptxas) }
    }

    /// The assembler that a text goes by.
    ///
    /// # Errors
    /// Where there is none of its kind.
    pub fn of(&self, ptx: &str) -> Result<&dyn Assembler, &MissingAssembler> {
        let found = match AssemblerKind::of(ptx) {
            AssemblerKind::NvJitLink => &self.nvjitlink,
            AssemblerKind::Ptxas => &self.ptxas,
        };
        found.as_ref().map(|assembler| &**assembler)
    }
}
