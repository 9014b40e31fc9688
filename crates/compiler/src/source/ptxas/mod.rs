// SPDX-License-Identifier: Apache-2.0
//! ptxas, NVIDIA's assembler for GPU code as a program.
//!
//! It is looked for as every [program of the toolkit](super::cuda_tool) is: the variable is
//! `KERNPACK_PTXAS`, the wheel nvidia-cuda-nvcc, and PyTorch and Triton have copies. The first one
//! that says its version is taken. It is asked for that once in the life of a process, and again
//! only where the file has become another.
//!
//! It assembles a text as the whole program that it is. No GPU and no driver is needed. Not here:
//! which texts it assembles.

use super::assembler::{
    AssembleError, AssembleOptions, Assembled, Assembler, AssemblerKind, Optimization,
    ProgramFailure, Report, checked,
};
use super::cuda_tool::{CudaTool, Form, Lines, Tried};
use super::identity::Identity;
use kernpack_machine::{Arch, PtxVersion};
use kernpack_package::file::read_unrecorded;
use kernpack_package::image::Image;
use kernpack_process::leftover::{self, Temporary};
use kernpack_process::parallel::Permit;
use std::cell::Cell;
use std::collections::HashMap;
use std::ffi::OsStr;
use std::io;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::Mutex;
use std::time::Duration;
use thiserror::Error;

/// ptxas, which said its version.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ptxas {
    /// The program.
    pub path: PathBuf,
    /// The version of CUDA, major and minor.
    pub version: (u32, u32),
    /// How long it may take for a text.
    limit: Duration,
}

/// There is no ptxas.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum PtxasError {
    /// It is nowhere.
    #[error(
        "found no ptxas, the assembler for kernels that use matrix units; install the Python package nvidia-cuda-nvcc, or set KERNPACK_PTXAS to the path of ptxas; these places were looked at:{}",
        Lines(.tried)
    )]
    NotFound {
        /// Every place that was looked at.
        tried: Vec<Tried>,
    },
    /// Those that there are do not run.
    #[error(
        "found no ptxas that runs, the assembler for kernels that use matrix units; install the Python package nvidia-cuda-nvcc, or set KERNPACK_PTXAS to the path of ptxas; these places were looked at:{}",
        Lines(.tried)
    )]
    Unusable {
        /// Every place that was looked at.
        tried: Vec<Tried>,
    },
}

/// Its name in messages.
const NAME: &str = "ptxas";
/// Where it is looked for.
const TOOL: CudaTool = CudaTool {
    form: Form::Program { copies: &["torch/bin", "triton/backends/nvidia/bin"] },
    variable: "KERNPACK_PTXAS",
    files: &["ptxas"],
    wheels: &["nvidia/cu13/bin", "nvidia/cuda_nvcc/bin"],
};

/// How long a text may take: the largest kernels that people have take a few minutes.
const LIMIT: Duration = Duration::from_secs(600);
/// How long it may take to say a version.
const VERSION_LIMIT: Duration = Duration::from_secs(30);

/// The files in a folder of their own, from which it is run: its messages and its output have
/// these names alone.
const INPUT: &str = "kernels.ptx";
const OUTPUT: &str = "kernels.cubin";

impl Ptxas {
    /// Looks for ptxas and asks for its version.
    ///
    /// # Errors
    /// Where there is none that says its version. The error lists every place.
    pub fn find() -> Result<Ptxas, PtxasError> {
        by(|load| TOOL.find(load))
    }

    /// Takes this file.
    ///
    /// # Errors
    /// Where it is not there, or says no version.
    pub fn open(path: &Path) -> Result<Ptxas, PtxasError> {
        by(|load| TOOL.open(path, load))
    }

    fn command(&self, folder: &Path, arch: Arch, options: &AssembleOptions) -> Command {
        let AssembleOptions { optimization, line_info, max_registers } = *options;
        let mut command = Command::new(&self.path);
        command.current_dir(folder).arg(format!("-arch={arch}")).arg("-v");
        command.arg(match optimization {
            Optimization::Full => "-O3",
            Optimization::Quick => "-O1",
        });
        command.args(line_info.then_some("-lineinfo"));
        command.args(max_registers.map(|count| format!("-maxrregcount={count}")));
        command.args([INPUT, "-o", OUTPUT]);
        command
    }

    /// The machine code and the words of ptxas, or all of its words where it refuses the text.
    fn run(
        &self,
        ptx: &str,
        arch: Arch,
        options: &AssembleOptions,
    ) -> Result<Result<(Vec<u8>, String), String>, ProgramFailure> {
        let no_file = |error: io::Error| ProgramFailure::NoFile(error.to_string());
        let folder = Temporary::new(tempfile::tempdir).map_err(no_file)?;
        std::fs::write(folder.path().join(INPUT), ptx).map_err(no_file)?;
        let mut command = self.command(folder.path(), arch, options);
        let permit = Permit::wait();
        let output = ran(&mut command, self.limit);
        drop(permit);
        let output = output?;
        let words = String::from_utf8_lossy(&[output.stderr, output.stdout].concat()).into_owned();
        match output.status.code() {
            Some(0) => {}
            Some(code) if words.trim().is_empty() => return Err(ProgramFailure::Silent(code)),
            _ => return Ok(Err(words.trim_end().to_string())),
        }
        let cubin = read_unrecorded(&folder.path().join(OUTPUT)).unwrap_or_default();
        match cubin.is_empty() {
            true => Err(ProgramFailure::NoOutput("machine code")),
            false => Ok(Ok((cubin, words))),
        }
    }

    /// The refusal of a text, told from a ptxas that is too old for it.
    fn refusal(&self, name: &str, arch: Arch, words: String) -> AssembleError {
        let (text, assembler, path) = (name.to_string(), self.label(), self.path.clone());
        if AssembleError::says_arch(&words) {
            return AssembleError::Arch { name: text, arch, assembler, path };
        }
        match versions(&words) {
            Some([needed, newest]) => {
                AssembleError::TooOld { name: text, arch, needed, newest, assembler, path }
            }
            None => AssembleError::refused(NAME, name, arch, words),
        }
    }
}

impl Assembler for Ptxas {
    fn kind(&self) -> AssemblerKind {
        AssemblerKind::Ptxas
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
        let ptx = checked(ptx, name, arch)?;
        let failed = |failure| {
            let (name, path) = (name.to_string(), self.path.clone());
            AssembleError::Program { name, arch, path, failure }
        };
        let (cubin, words) = self
            .run(ptx, arch, options)
            .map_err(failed)?
            .map_err(|words| self.refusal(name, arch, words))?;
        let image = Image::read(&format!("{name} for {arch}"), cubin)?;
        Ok(Assembled { image, report: Report::parse(&words) })
    }
}

/// The identity of the ptxas that would be tried first, which is not run for it; nothing where
/// there is none.
pub fn identity() -> Option<Identity> {
    Identity::of(&TOOL.file()?)
}

/// Has a file taken that says its version.
fn by(
    find: impl FnOnce(&dyn Fn(&OsStr) -> Result<Ptxas, String>) -> Result<Ptxas, Vec<Tried>>,
) -> Result<Ptxas, PtxasError> {
    let is_there = Cell::new(false);
    let load = |file: &OsStr| {
        is_there.set(true);
        // It is run from a folder of its own.
        let path = std::path::absolute(file).map_err(|error| error.to_string())?;
        let version = remembered(&path)?;
        Ok(Ptxas { path, version, limit: LIMIT })
    };
    find(&load).map_err(|tried| match is_there.get() {
        true => PtxasError::Unusable { tried },
        false => PtxasError::NotFound { tried },
    })
}

/// The version of a program, or why it has none; asked for once of each.
fn remembered(path: &Path) -> Result<(u32, u32), String> {
    type Versions = HashMap<String, Result<(u32, u32), String>>;
    static VERSIONS: Mutex<Option<Versions>> = Mutex::new(None);
    let Some(identity) = Identity::of(path) else { return Err("cannot be read".to_string()) };
    let identity = identity.to_string();
    // A forked child may find the lock held by a thread that it has not.
    let known = || VERSIONS.try_lock().ok();
    if let Some(version) = known().as_ref().and_then(|known| known.as_ref()?.get(&identity)) {
        return version.clone();
    }
    let version = version(path, VERSION_LIMIT);
    if let Some(mut known) = known() {
        known.get_or_insert_default().insert(identity, version.clone());
    }
    version
}

/// The version that a program says, or why that is none of a ptxas.
fn version(path: &Path, limit: Duration) -> Result<(u32, u32), String> {
    let permit = Permit::wait();
    let output = ran(Command::new(path).arg("--version"), limit);
    drop(permit);
    let output = output.map_err(|failure| failure.to_string())?;
    let words = String::from_utf8_lossy(&output.stdout).into_owned();
    release(&words).ok_or_else(|| match words.trim().lines().next() {
        None => "says no version".to_string(),
        Some(line) => format!("says no version of ptxas, but `{line}`"),
    })
}

/// `Cuda compilation tools, release 12.8, V12.8.93`
fn release(words: &str) -> Option<(u32, u32)> {
    let words = words.strip_prefix("ptxas:")?;
    let (_, rest) = words.split_once("release ")?;
    let (major, minor) = rest.split(',').next()?.trim().split_once('.')?;
    Some((major.parse().ok()?, minor.parse().ok()?))
}

/// The version of PTX that a text is and the newest that ptxas reads, where that is what it says:
/// `Unsupported .version 9.0; current version is '8.7'`.
fn versions(words: &str) -> Option<[PtxVersion; 2]> {
    let (_, rest) = words.split_once("Unsupported .version ")?;
    let (needed, rest) = rest.split_once(';')?;
    let version = |text: &str| {
        let (major, minor) = text.split_once('.')?;
        Some(PtxVersion::new(major.parse().ok()?, minor.parse().ok()?))
    };
    Some([version(needed)?, version(rest.split('\'').nth(1)?)?])
}

/// Runs a program to its end, which has to be its own.
fn ran(command: &mut Command, limit: Duration) -> Result<Output, ProgramFailure> {
    let output = leftover::run_within(limit, command).map_err(|error| match error.kind() {
        io::ErrorKind::TimedOut => ProgramFailure::Late(limit),
        _ => ProgramFailure::Unrun(error.to_string()),
    })?;
    output.status.signal().map_or(Ok(output), |signal| Err(ProgramFailure::Killed(signal)))
}

#[cfg(test)]
mod tests;
#[cfg(test)]
pub(crate) use tests::ptxas;
