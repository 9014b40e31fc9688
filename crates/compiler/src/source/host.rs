// SPDX-License-Identifier: Apache-2.0
//! Source `host`: functions of the C ABI, from object files, archives and C files, which see each
//! other.
//!
//! A C file is compiled by the user's own compiler, with the same bytes as the result wherever the
//! package lies.

use super::c_file::CFile;
use super::error::{SourceError, SourceErrorKind};
use crate::file::{Files, Held, Looked};
use crate::link::{self, Input, LinkError};
use crate::parallel;
use crate::target::Target;
use kernpack_syntax::{Placed, Span};
use std::path::PathBuf;

/// Objects, archives and C files.
#[derive(Clone, Debug, PartialEq)]
pub struct HostSource {
    /// The files, at least one: `.o`, `.a` or `.c`.
    pub paths: Vec<Placed<PathBuf>>,
    /// For C files: folders to look for headers in.
    pub include: Vec<PathBuf>,
    /// For C files: macros, `NAME` and value.
    pub define: Vec<(String, String)>,
    /// For C files: further options of the compiler.
    pub options: Vec<String>,
}

/// What a host source became.
#[derive(Clone, Debug, Default)]
pub struct HostArtifact {
    /// Each file as an object or an archive.
    pub files: Vec<HostFile>,
    /// The global functions that they define, by name.
    pub functions: Vec<String>,
    /// What was read and what was missed.
    pub looked: Looked,
}

/// What a file of a host source became.
#[derive(Clone, Debug)]
pub struct HostFile {
    /// What messages call it: the file's name.
    pub name: String,
    /// An object or an archive.
    pub bytes: Vec<u8>,
    /// What the C compiler warned of, in its own words.
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

impl HostSource {
    /// That file, without options.
    pub fn new(path: impl Into<PathBuf>) -> HostSource {
        let paths = vec![path.into().into()];
        HostSource { paths, include: vec![], define: vec![], options: vec![] }
    }

    /// What messages call it.
    pub fn name(&self) -> String {
        let names: Vec<_> = self.paths.iter().map(|path| path.display().to_string()).collect();
        names.join(", ")
    }

    /// Where the file is written that a message is about, or the archive that has it: the first of
    /// those that it names, or else of all.
    pub fn place_in(&self, message: &str) -> Span {
        let found = |path: &&Placed<PathBuf>| message.find(&*path.to_string_lossy());
        let named = self.paths.iter().filter(|path| found(path).is_some());
        named.min_by_key(found).or(self.paths.first()).map(|path| path.span).unwrap_or_default()
    }

    /// The problem of a link of the files.
    pub fn unlinked(&self, error: &LinkError) -> SourceError {
        let place = self.place_in(error.words());
        SourceError::new(SourceErrorKind::Object, place, error)
    }

    /// Reads or compiles the files.
    ///
    /// # Errors
    /// Where one cannot be read, is of another kind, or the C compiler refuses it: all that is
    /// wrong.
    pub fn build(&self, target: &Target, held: &Held) -> Result<HostArtifact, Vec<SourceError>> {
        let mut source = HostArtifact::default();
        let (mut files, mut errors) = (Files::default(), vec![]);
        for built in parallel::map(&self.paths, |path| self.build_file(path, target, held)) {
            match built {
                Ok(BuiltFile { file, functions, looked }) => {
                    source.files.push(file);
                    source.functions.extend(functions);
                    files.extend(looked);
                }
                Err(error) => errors.push(error),
            }
        }
        if !errors.is_empty() {
            return Err(errors);
        }
        source.functions.sort();
        source.functions.dedup();
        Ok(HostArtifact { looked: files.into_looked(), ..source })
    }

    fn build_file(
        &self,
        path: &Placed<PathBuf>,
        target: &Target,
        held: &Held,
    ) -> Result<BuiltFile, SourceError> {
        let _span = tracing::debug_span!("source", path = %path.display()).entered();
        let mut files = Files::new(held);
        let (bytes, log) = match path.extension().and_then(|extension| extension.to_str()) {
            Some("o" | "a") => (read(path, &mut files)?, String::new()),
            Some("c") => self.compile(path, target, &mut files)?,
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
        &self,
        path: &Placed<PathBuf>,
        target: &Target,
        files: &mut Files<'_>,
    ) -> Result<(Vec<u8>, String), SourceError> {
        // That there is a file is told in the words that all sources have, and not in the
        // compiler's.
        let text = read(path, files)?;
        let HostSource { include, define, options, .. } = self;
        CFile { path, text: &text, include, define, options }
            .compile(target, files)
            .map_err(|error| SourceError::new(SourceErrorKind::CCompiler, path.span, error))
    }
}

fn read(path: &Placed<PathBuf>, files: &mut Files<'_>) -> Result<Vec<u8>, SourceError> {
    files.read(path).map_err(|error| SourceError::file(path.span, &error))
}

fn no_source(path: &Placed<PathBuf>, what: &str) -> SourceError {
    SourceError::new(SourceErrorKind::File, path.span, format!("`{}` {what}", path.display()))
}
