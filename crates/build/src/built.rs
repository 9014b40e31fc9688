// SPDX-License-Identifier: Apache-2.0
//! A package that is there, and what cargo has to know of it: what to link, and when to run the
//! build script again.

use crate::cargo::{self, line};
use crate::diagnostic::Diagnostics;
use crate::object_file::{ObjectFile, Record};
use crate::output::{Outputs, Scratch, library};
use crate::problem::Problem;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// A package that was built.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Built {
    /// The package's name.
    pub name: String,
    /// The file with the functions, which `kernpack::include!` includes.
    pub functions: PathBuf,
    /// The static archive.
    pub archive: PathBuf,
    /// The lines that a build script prints: `cargo::…`.
    pub lines: Vec<String>,
}

/// The origin of a package.
#[derive(Debug)]
pub struct Origin {
    /// The file that the build script names.
    pub file: PathBuf,
    /// All files.
    pub files: Vec<PathBuf>,
    /// The variables.
    pub variables: Vec<&'static str>,
    /// Diagnostics of it.
    pub warnings: Diagnostics,
}

impl Built {
    /// Puts the files of a package where they belong.
    ///
    /// # Errors
    /// Where cargo cannot be told of it, and where another package has its name.
    pub(crate) fn new(
        scratch: &Scratch<'_>,
        object: &ObjectFile,
        origin: &Origin,
    ) -> Result<Built, Problem> {
        let record = &object.record;
        let lines = link_lines(scratch.out, record).chain(rerun_lines(origin));
        let mut lines = lines.collect::<Result<Vec<_>, _>>()?;
        lines.extend(origin.warnings.lines());
        let Outputs { functions, archive } = scratch.publish(object, &origin.file)?;
        Ok(Built { name: record.package.clone(), functions, archive, lines })
    }
}

/// The archive first, as linkers look for what it needs in what follows it.
fn link_lines(out: &Path, record: &Record) -> impl Iterator<Item = Result<String, Problem>> {
    let mut folder = OsString::from("native=");
    folder.push(out);
    let search = line(cargo::LINK_SEARCH, folder);
    let archive = line(cargo::LINK_LIB, format!("static={}", library(&record.package)));
    let libraries = record.libraries.iter().map(|soname| line(cargo::LINK_LIB, linked(soname)));
    [search, archive].into_iter().chain(libraries)
}

fn rerun_lines(origin: &Origin) -> impl Iterator<Item = Result<String, Problem>> {
    let files = origin.files.iter().map(|file| line(cargo::RERUN_IF_CHANGED, file));
    let variables = origin.variables.iter();
    files.chain(variables.map(|variable| line(cargo::RERUN_IF_ENV_CHANGED, variable)))
}

/// A library as rustc takes it. Those of the C library are there under their short names wherever
/// programs are linked; of others there may be no more than the file that programs load.
fn linked(soname: &str) -> String {
    match soname {
        "libdl.so.2" => "dylib=dl".to_string(),
        "libm.so.6" => "dylib=m".to_string(),
        soname => format!("dylib:+verbatim={soname}"),
    }
}
