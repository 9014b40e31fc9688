// SPDX-License-Identifier: Apache-2.0
//! All that can be wrong, in words: what it is, where, and what to do about it.
//!
//! A problem has as many lines as it takes. Those that begin with `help:` say what to do, those
//! with `note:` how it came to this.

use crate::answer::Refusal;
use crate::cargo;
use crate::diagnostic::Diagnostics;
use std::io;
use std::path::PathBuf;
use thiserror::Error;

/// The version of this crate.
pub const OWN_VERSION: &str = env!("CARGO_PKG_VERSION");

/// Why there is no package. Its text has as many lines as it takes, and [`Error::lines`] is the
/// same in cargo's language.
#[derive(Debug, Error)]
#[error(transparent)]
pub struct Error(#[from] Problem);

impl Error {
    /// The lines that a build script prints: `cargo::error=…`, and `cargo::warning=…` for what
    /// is none.
    pub fn lines(&self) -> Vec<String> {
        match &self.0 {
            Problem::Diagnostics(diagnostics) => diagnostics.lines(),
            problem => cargo::told(cargo::ERROR, &problem.to_string()).collect(),
        }
    }
}

/// A problem.
#[derive(Debug, Error)]
pub enum Problem {
    /// Cargo did not call this.
    #[error(
        "the variable {0} is not set\n\
         help: call this from a build script, `build.rs`, for which cargo sets it"
    )]
    NoVariable(&'static str),
    /// No package runs on what is built for.
    #[error(
        "there are no packages for the target `{triple}`\n\
         help: there are for {known}"
    )]
    Host { triple: String, known: String },
    /// A value that cargo's language has no place for.
    #[error("cargo cannot be told of `{value}`: it {reason}\nhelp: give it another name")]
    Unsayable { value: String, reason: &'static str },
    /// No such package file.
    #[error(
        "there is no file `{}`\n\
         help: paths begin at the folder of Cargo.toml, which is `{}`",
        path.display(), manifest.display()
    )]
    NoFile { path: PathBuf, manifest: PathBuf },
    /// No such file of what was to be made before.
    #[error(
        "there is no file `{}`\n\
         help: make it in the folder `{}` by `kernpack build FILE --target {target} -o {} -o {}`, \
         where FILE is the package file or kernel file",
        lacking.display(), manifest.display(), object.display(), functions.display()
    )]
    NoPrebuilt {
        lacking: PathBuf,
        object: PathBuf,
        functions: PathBuf,
        target: &'static str,
        manifest: PathBuf,
    },
    /// No program.
    #[error(
        "{looked_for}\n\
         help: install it by `pip install kernpack=={OWN_VERSION}`, or name it: by the variable \
         KERNPACK, or by `.program(…)` in the build script\n\
         help: to build without it, take what it has made before: `kernpack_build::prebuilt(…)`"
    )]
    NoProgram { looked_for: String },
    /// The program is of another version.
    #[error(
        "`{}` is kernpack {found}, but the crate kernpack-build is {OWN_VERSION}\n\
         help: have both of one version: by `pip install kernpack=={OWN_VERSION}`, or by \
         \"={found}\" for the crates kernpack and kernpack-build in Cargo.toml",
        program.display()
    )]
    Version { program: PathBuf, found: String },
    /// The system does not run the program.
    #[error("cannot run `{}`: {error}\nhelp: see that it runs in a terminal", program.display())]
    NotRun { program: PathBuf, error: io::Error },
    /// The program ended without saying what is expected of it.
    #[error(
        "`{}` does not answer as kernpack does: it ended with {status}{said}\n\
         note: it was run as `{command}`",
        program.display()
    )]
    NoAnswer { program: PathBuf, status: String, said: String, command: String },
    /// The program did not do what it says.
    #[error(
        "`{}` says that it wrote `{}`, but that is not there",
        program.display(), lacking.display()
    )]
    NotWritten { program: PathBuf, lacking: PathBuf },
    /// The program says what is wrong, and that is in no text.
    #[error("kernpack cannot build `{file}`: {message}{notes}")]
    Refused { code: Option<String>, file: String, message: String, notes: String },
    /// The program says what is wrong with the user's files.
    #[error("{0}")]
    Diagnostics(Diagnostics),
    /// The system refuses something with a file.
    #[error("cannot {action} `{}`: {error}", path.display())]
    File { action: &'static str, path: PathBuf, error: io::Error },
    /// A file that was to be the object of a package.
    #[error(
        "`{file}` {reason}\n\
         help: make it by `kernpack build` of kernpack {OWN_VERSION}, with `--target {target}`"
    )]
    Object { file: String, reason: String, target: &'static str },
    /// The files of one package would take the place of those of another.
    #[error(
        "two packages of this build script have the name `{name}`: `{first}` and `{second}`\n\
         help: give one of them another: a package file says it as `name`, and a kernel file has \
         it as its own"
    )]
    Twice { name: String, first: String, second: String },
}

impl Problem {
    /// Whether nothing in the package is compiled for what `--arch` says.
    pub fn is_no_gpu_code(&self) -> bool {
        matches!(self, Problem::Refused { code: Some(code), .. } if code == Refusal::NO_GPU_CODE)
    }

    /// The system's error with a file, as `map_err` takes it.
    pub fn file(
        action: &'static str,
        path: impl Into<PathBuf>,
    ) -> impl FnOnce(io::Error) -> Problem {
        let path = path.into();
        move |error| Problem::File { action, path, error }
    }
}
