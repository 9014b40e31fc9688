// SPDX-License-Identifier: Apache-2.0
//! nvJitLink, NVIDIA's assembler for GPU code as a library.
//!
//! It is looked for as every [library of the toolkit](super::cuda_tool) is: the variable is
//! `KERNPACK_NVJITLINK`, and the wheel nvidia-nvjitlink. No GPU and no driver is needed. Any number
//! of threads may assemble at once, and the same text gives the same bytes.
//!
//! It assembles PTX so that it could be linked with more, and so it ignores `setmaxnreg` (C7504).
//! Not here: which texts it assembles.

mod library;

pub use super::cuda_tool::Tried;

use super::assembler::{
    AssembleError, AssembleOptions, Assembled, Assembler, AssemblerKind, Optimization, Report,
    Severity, checked,
};
use super::cuda_tool::{CudaTool, Form, Lines};
use super::identity::Identity;
use kernpack_machine::Arch;
use kernpack_package::image::Image;
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

/// Its name in messages.
const NAME: &str = "nvJitLink";
/// Where it is looked for.
const LIBRARY: CudaTool = CudaTool {
    form: Form::Library,
    variable: "KERNPACK_NVJITLINK",
    files: &["libnvJitLink.so.13", "libnvJitLink.so.12", "libnvJitLink.so"],
    wheels: &["nvidia/cu13/lib", "nvidia/nvjitlink/lib"],
};

/// From this version on nvJitLink keeps what it assembles in the driver's cache, unless it is told
/// not to. For that it calls `cuInit`, and a process that has done so cannot fork and use CUDA.
const WITH_CACHE: (u32, u32) = (12, 5);
/// Before this version it prints a part of what `-verbose` asks for.
const WITH_QUIET: (u32, u32) = (12, 9);

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

    fn unknown(&self, name: &str, arch: Arch) -> AssembleError {
        let (assembler, path) = (self.label(), self.path.clone());
        AssembleError::Arch { name: name.to_string(), arch, assembler, path }
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

impl Assembler for NvJitLink {
    fn kind(&self) -> AssemblerKind {
        AssemblerKind::NvJitLink
    }

    fn label(&self) -> String {
        let (major, minor) = self.version;
        format!("{NAME} {major}.{minor}")
    }

    fn assemble(
        &self,
        ptx: &str,
        name: &str,
        arch: Arch,
        options: &AssembleOptions,
    ) -> Result<Assembled, AssembleError> {
        let _span = tracing::debug_span!("assemble", name, %arch).entered();
        let c_string = |text: &str| CString::new(text).unwrap_or_default();
        // Without a NUL inside, each of them is what it was.
        let (text, c_name) = (c_string(checked(ptx, name, arch)?), c_string(name));
        let options: Vec<_> =
            self.options(arch, options).iter().map(|option| c_string(option)).collect();
        let permit = Permit::wait();
        let output =
            self.functions.assemble(&Job { text: &text, name: &c_name, options: &options });
        drop(permit);
        let output = output.map_err(|failure| match failure.is_of_arch() {
            true => self.unknown(name, arch),
            false => AssembleError::refused(NAME, name, arch, failure.errors),
        })?;
        finish(name, arch, output)
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

/// The machine code and the report. A call of a function that is nowhere is an error, though
/// nvJitLink counts it as none.
fn finish(name: &str, arch: Arch, output: Output) -> Result<Assembled, AssembleError> {
    let wrong = Report::parse(&output.errors);
    if wrong.remarks.iter().any(|remark| remark.severity >= Severity::Error) {
        return Err(AssembleError::refused(NAME, name, arch, output.errors));
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
