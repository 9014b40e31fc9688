// SPDX-License-Identifier: Apache-2.0
//! Source `host`: functions of the C ABI, from object files, archives and C files, which see each
//! other.
//!
//! A C file is compiled by the user's own compiler, with the same bytes as the result wherever the
//! package lies.

use super::c_file::CFile;
use kernpack_codegen::link::{self, Input, LinkError};
use kernpack_package::file::{Files, Held, Looked};
use kernpack_package::source::{HostSource, SourceError, SourceErrorKind};
use kernpack_package::target::Target;
use kernpack_process::parallel;
use kernpack_syntax::Placed;
use std::path::PathBuf;

/// The object of a host source.
#[derive(Clone, Debug, Default)]
pub struct HostArtifact {
    /// Each file as an object or an archive.
    pub files: Vec<HostFile>,
    /// The global functions that they define, by name.
    pub functions: Vec<String>,
    /// The files that were read and those that were missed.
    pub looked: Looked,
}

/// The object of a file of a host source.
#[derive(Clone, Debug)]
pub struct HostFile {
    /// Its name in messages: the file's name.
    pub name: String,
    /// An object or an archive.
    pub bytes: Vec<u8>,
    /// Warnings of the C compiler, in its own words.
    pub log: String,
}

/// A file, the functions that it defines, and what was looked at.
struct BuiltFile {
    file: HostFile,
    functions: Vec<String>,
    looked: Looked,
}

impl HostArtifact {
    /// The files as inputs of a link.
    pub fn link_inputs(&self) -> Vec<Input<'_>> {
        self.files.iter().map(|HostFile { name, bytes, .. }| Input { name, bytes }).collect()
    }
}

/// The problem of a link of the files of a source.
pub fn unlinked(source: &HostSource, error: &LinkError) -> SourceError {
    let place = source.place_in(error.words());
    SourceError::new(SourceErrorKind::Object, place, error)
}

/// Reads or compiles the files of a source.
///
/// # Errors
/// Where one cannot be read, is of another kind, or the C compiler refuses it: all that is
/// wrong.
pub fn build(
    source: &HostSource,
    target: &Target,
    held: &Held,
) -> Result<HostArtifact, Vec<SourceError>> {
    let mut artifact = HostArtifact::default();
    let (mut files, mut errors) = (Files::default(), vec![]);
    for built in parallel::map(&source.paths, |path| build_file(source, path, target, held)) {
        match built {
            Ok(BuiltFile { file, functions, looked }) => {
                artifact.files.push(file);
                artifact.functions.extend(functions);
                files.extend(looked);
            }
            Err(error) => errors.push(error),
        }
    }
    if !errors.is_empty() {
        return Err(errors);
    }
    artifact.functions.sort();
    artifact.functions.dedup();
    Ok(HostArtifact { looked: files.into_looked(), ..artifact })
}

fn build_file(
    source: &HostSource,
    path: &Placed<PathBuf>,
    target: &Target,
    held: &Held,
) -> Result<BuiltFile, SourceError> {
    let _span = tracing::debug_span!("source", path = %path.display()).entered();
    let mut files = Files::new(held);
    let (bytes, log) = match path.extension().and_then(|extension| extension.to_str()) {
        Some("o" | "a") => (read(path, &mut files)?, String::new()),
        Some("c") => compile(source, path, target, &mut files)?,
        _ => {
            let what = "is no host source: expected a file ending in .o, .a or .c";
            return Err(no_source(path, what));
        }
    };
    if bytes.is_empty() {
        return Err(no_source(path, "is empty; build or copy it again"));
    }
    let name = path.display().to_string();
    let functions = link::functions(&Input { name: &name, bytes: &bytes })
        .map_err(|error| SourceError::new(SourceErrorKind::Object, path.span, error))?;
    let looked = files.into_looked();
    Ok(BuiltFile { file: HostFile { name, bytes, log }, functions, looked })
}

/// The object of a C file, and what its compiler warned of.
fn compile(
    source: &HostSource,
    path: &Placed<PathBuf>,
    target: &Target,
    files: &mut Files<'_>,
) -> Result<(Vec<u8>, String), SourceError> {
    // That there is a file is told in the words that all sources have, and not in the
    // compiler's.
    let text = read(path, files)?;
    let HostSource { include, define, options, .. } = source;
    CFile { path, text: &text, include, define, options }
        .compile(target, files)
        .map_err(|error| SourceError::new(SourceErrorKind::CCompiler, path.span, error))
}

fn read(path: &Placed<PathBuf>, files: &mut Files<'_>) -> Result<Vec<u8>, SourceError> {
    files.read(path).map_err(|error| SourceError::file(path.span, &error))
}

fn no_source(path: &Placed<PathBuf>, what: &str) -> SourceError {
    SourceError::new(SourceErrorKind::File, path.span, format!("`{}` {what}", path.display()))
}
