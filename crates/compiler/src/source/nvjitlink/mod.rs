// SPDX-License-Identifier: Apache-2.0
//! nvJitLink, NVIDIA's assembler for GPU code as a library: PTX to machine code.
//!
//! ```text
//! PTX, sm_90a ──assemble──▶ Assembled: a cubin ── Report: registers, spills, remarks
//!   │                                                                      │
//!   └──────── LineTable: .file, .loc ◀───────── a line of PTX ─────────────┘
//! ```
//!
//! It is looked for as every [library of the toolkit](super::cuda_library) is: the variable is
//! `KERNPACK_NVJITLINK`, and the wheel nvidia-nvjitlink. No GPU and no driver is needed. Any number
//! of threads may assemble at once, and the same text gives the same bytes.
//!
//! It assembles PTX so that it could be linked with more, and so it ignores `setmaxnreg` (C7504).
//! Not here: where PTX comes from.

mod library;
mod line_table;
mod report;

pub use super::cuda_library::Tried;
pub use line_table::{LineTable, SourcePlace};
pub use report::{FunctionReport, Remark, Report, Severity};

use super::cuda_library::{CudaLibrary, Lines};
use super::identity::Identity;
use kernpack_machine::{Arch, ArchKind};
use kernpack_package::image::{Image, ImageError};
use kernpack_process::parallel::Permit;
use library::{Functions, Job, Output};
use std::ffi::{CString, OsStr};
use std::path::{Path, PathBuf};
use thiserror::Error;

/// nvJitLink, loaded.
#[derive(Clone, Debug)]
pub struct NvJitLink {
    /// The file, or the bare name under which the loader found it.
    pub path: PathBuf,
    /// The version of CUDA, major and minor.
    pub version: (u32, u32),
    functions: Functions,
}

/// There is no nvJitLink.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error(
    "found no nvJitLink, the assembler for GPU code; install the Python package nvidia-nvjitlink, or set KERNPACK_NVJITLINK to the path of libnvJitLink.so, or ask for PTX, such as `compute_80`, which needs none of it and is assembled where it is loaded; these places were looked at:{}",
    Lines(.tried)
)]
pub struct NvJitLinkError {
    /// Every place that was looked at.
    pub tried: Vec<Tried>,
}

/// Where it is looked for.
const LIBRARY: CudaLibrary = CudaLibrary {
    variable: "KERNPACK_NVJITLINK",
    files: &["libnvJitLink.so.13", "libnvJitLink.so.12", "libnvJitLink.so"],
    wheels: &["nvidia/cu13/lib", "nvidia/nvjitlink/lib"],
};

/// From this version on nvJitLink keeps what it assembles in the driver's cache, unless it is told
/// not to. For that it calls `cuInit`, and a process that has done so cannot fork and use CUDA.
const WITH_CACHE: (u32, u32) = (12, 5);
/// Before this version it prints a part of what `-verbose` asks for.
const WITH_QUIET: (u32, u32) = (12, 9);

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
    /// This nvJitLink makes no code for the architecture.
    #[error(
        "cannot assemble `{name}` for {arch}: nvJitLink {}.{} (`{}`) does not know it; choose another architecture or version of CUDA, or PTX, such as `{}`",
        version.0, version.1, path.display(), arch.compute()
    )]
    Arch {
        /// The name of the text.
        name: String,
        /// The architecture.
        arch: Arch,
        /// nvJitLink's own file.
        path: PathBuf,
        /// Its version.
        version: (u32, u32),
    },
    /// nvJitLink refused the text.
    #[error("nvJitLink refused `{name}` for {arch}:\n{text}")]
    Refused {
        /// The name of the text.
        name: String,
        /// The architecture.
        arch: Arch,
        /// Its messages, in its words.
        text: String,
        /// The same as data: what is wrong, and in which line of the PTX.
        remarks: Vec<Remark>,
    },
    /// The image that came out is not what it should be.
    #[error(transparent)]
    Image(#[from] ImageError),
}

impl NvJitLink {
    /// Looks for nvJitLink and loads it.
    ///
    /// # Errors
    /// Where there is none that works. The error lists every place.
    pub fn find() -> Result<NvJitLink, NvJitLinkError> {
        LIBRARY.find(&load).map_err(|tried| NvJitLinkError { tried })
    }

    /// Loads this file.
    ///
    /// # Errors
    /// Where it cannot be loaded or is no nvJitLink.
    pub fn open(path: &Path) -> Result<NvJitLink, NvJitLinkError> {
        LIBRARY.open(path, &load).map_err(|tried| NvJitLinkError { tried })
    }

    /// Assembles PTX for an architecture. `name` is what messages call it, and gets into no output.
    ///
    /// # Errors
    /// Where the text is refused, or the architecture is not known.
    pub fn assemble(
        &self,
        ptx: &str,
        name: &str,
        arch: Arch,
        options: &AssembleOptions,
    ) -> Result<Assembled, AssembleError> {
        let _span = tracing::debug_span!("assemble", name, %arch).entered();
        if arch.kind == ArchKind::Compute {
            return Err(AssembleError::NotMachineCode { name: name.to_string(), arch });
        }
        let c_string = |text: &str| {
            CString::new(text).map_err(|_| AssembleError::Nul { name: name.replace('\0', "\\0") })
        };
        // What is read from a file may end as the driver wants it.
        let (text, c_name) = (c_string(ptx.trim_end_matches('\0'))?, c_string(name)?);
        let options: Vec<_> =
            self.options(arch, options).iter().filter_map(|option| c_string(option).ok()).collect();
        let permit = Permit::wait();
        let output =
            self.functions.assemble(&Job { text: &text, name: &c_name, options: &options });
        drop(permit);
        let output = output.map_err(|failure| match failure.is_of_arch() {
            true => self.unknown(name, arch),
            false => refused(name, arch, failure.errors),
        })?;
        finish(name, arch, output)
    }

    fn unknown(&self, name: &str, arch: Arch) -> AssembleError {
        let (path, version) = (self.path.clone(), self.version);
        AssembleError::Arch { name: name.to_string(), arch, path, version }
    }

    fn options(&self, arch: Arch, options: &AssembleOptions) -> Vec<String> {
        let verbose = if self.version < WITH_QUIET { "-Xptxas=-v" } else { "-verbose" };
        let mut all = vec![format!("-arch={arch}"), "-O3".to_string(), verbose.to_string()];
        if self.version >= WITH_CACHE {
            all.push("-no-cache".to_string());
        }
        if options.optimization == Optimization::Quick {
            all.push("-Xptxas=-O1".to_string());
        }
        if options.line_info {
            all.push("-lineinfo".to_string());
        }
        all.extend(options.max_registers.map(|count| format!("-maxrregcount={count}")));
        all
    }
}

/// The identity of the nvJitLink that PTX would be assembled with, which is not loaded for it;
/// nothing where there is none.
pub fn identity() -> Option<Identity> {
    Identity::of(&LIBRARY.file()?)
}

/// Loads a file, or says why it is no nvJitLink.
fn load(file: &OsStr) -> Result<NvJitLink, String> {
    let functions = Functions::open(file)?;
    Ok(NvJitLink { path: PathBuf::from(file), version: functions.version(), functions })
}

fn refused(name: &str, arch: Arch, text: String) -> AssembleError {
    let remarks = Report::parse(&text).remarks;
    AssembleError::Refused { name: name.to_string(), arch, text, remarks }
}

/// The machine code and the report. A call of a function that is nowhere is an error, though
/// nvJitLink counts it as none.
fn finish(name: &str, arch: Arch, output: Output) -> Result<Assembled, AssembleError> {
    let wrong = Report::parse(&output.errors);
    if wrong.remarks.iter().any(|remark| remark.severity >= Severity::Error) {
        return Err(refused(name, arch, output.errors));
    }
    let image = Image::read(&format!("{name} for {arch}"), output.cubin)?;
    let mut report = Report::parse(&output.infos);
    report.remarks.extend(wrong.remarks);
    report.unknown.extend(wrong.unknown);
    Ok(Assembled { image, report })
}

#[cfg(test)]
mod tests;
#[cfg(test)]
pub(crate) use tests::nvjitlink;
