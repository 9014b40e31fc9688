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
mod error;
mod line_table;
mod report;

pub use advisory::{Advisory, Matter};
pub use choice::AssemblerKind;
pub use error::{AssembleError, MissingAssembler, ProgramFailure};
pub use line_table::{LineTable, SourcePlace};
pub use report::{FunctionReport, Remark, Report, Severity};

use super::nvjitlink::NvJitLink;
use super::ptxas::Ptxas;
use kernpack_machine::{Arch, ArchKind};
use kernpack_package::image::Image;
use std::fmt::Debug;
use std::sync::LazyLock;

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
