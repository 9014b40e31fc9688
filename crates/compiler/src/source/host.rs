// SPDX-License-Identifier: Apache-2.0
//! Source `host`: functions of the C ABI, from object files, archives and C files, which see each
//! other.
//!
//! A C file is compiled by the user's own compiler, with the same bytes as the result wherever the
//! package lies.

use super::c_compiler::{CCompiler, CCompilerError};
use super::error::{SourceError, SourceErrorKind};
use crate::file::{Files, InputFile, read_unrecorded};
use crate::leftover::Temporary;
use crate::link::{self, Input, LinkError};
use crate::parallel;
use crate::target::Target;
use kernpack_syntax::{Placed, Span};
use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt;
use std::path::{Path, PathBuf};
use std::process::Command;

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
    /// Every file that was read.
    pub inputs: Vec<InputFile>,
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

/// A file, the functions that it defines, and what was read.
struct BuiltFile {
    file: HostFile,
    functions: Vec<String>,
    inputs: Vec<InputFile>,
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
    pub fn build(&self, target: &Target) -> Result<HostArtifact, Vec<SourceError>> {
        let mut source = HostArtifact::default();
        let (mut inputs, mut errors) = (Files::default(), vec![]);
        for built in parallel::map(&self.paths, |path| self.build_file(path, target)) {
            match built {
                Ok(BuiltFile { file, functions, inputs: read }) => {
                    source.files.push(file);
                    source.functions.extend(functions);
                    inputs.extend(read);
                }
                Err(error) => errors.push(error),
            }
        }
        if !errors.is_empty() {
            return Err(errors);
        }
        source.functions.sort();
        source.functions.dedup();
        Ok(HostArtifact { inputs: inputs.into_inputs(), ..source })
    }

    fn build_file(
        &self,
        path: &Placed<PathBuf>,
        target: &Target,
    ) -> Result<BuiltFile, SourceError> {
        let _span = tracing::debug_span!("source", path = %path.display()).entered();
        let mut files = Files::default();
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
        let inputs = files.into_inputs();
        Ok(BuiltFile { file: HostFile { name, bytes, log }, functions, inputs })
    }

    /// The object of a C file, and what its compiler warned of.
    fn compile(
        &self,
        path: &Placed<PathBuf>,
        target: &Target,
        files: &mut Files,
    ) -> Result<(Vec<u8>, String), SourceError> {
        // That there is a file is told in the words that all sources have, and not in the
        // compiler's.
        read(path, files)?;
        self.run_compiler(path, target, files)
            .map_err(|error| SourceError::new(SourceErrorKind::CCompiler, path.span, error))
    }

    fn run_compiler(
        &self,
        path: &Path,
        target: &Target,
        files: &mut Files,
    ) -> Result<(Vec<u8>, String), CCompilerError> {
        let folder = Temporary::new(tempfile::tempdir)
            .map_err(|reason| CCompilerError::Folder { folder: std::env::temp_dir(), reason })?;
        let (object, depends) = (folder.path().join("host.o"), folder.path().join("host.d"));
        let compiler = CCompiler::find(target, path)?;
        let mut command = self.command(path, compiler.command(), (&object, &depends));
        let output = compiler.run(&mut command, path)?;
        let bytes = read_unrecorded(&object).map_err(|_| compiler.no_object(path))?;
        let rule = read_unrecorded(&depends).unwrap_or_default();
        for header in parse_depfile(&rule) {
            // What the compiler has read and then was taken away is missed at the next build.
            let _ = files.read(&header);
        }
        Ok((bytes, String::from_utf8_lossy(&output.stderr).trim_end().to_string()))
    }

    /// The folders that are named here, and the one that the compiler runs in, leave no trace in
    /// the object.
    fn command(
        &self,
        path: &Path,
        mut command: Command,
        (object, depends): (&Path, &Path),
    ) -> Command {
        // With `./` in front, a relative name differs from an absolute one in nothing but the part
        // that is mapped away.
        let here = Path::new(".");
        let file = here.join(path);
        let includes: Vec<_> = self.include.iter().map(|folder| here.join(folder)).collect();
        command.args([
            "-c",
            "-O2",
            "-fPIC",
            "-fvisibility=hidden",
            "-frandom-seed=kernpack",
            "-x",
            "c",
        ]);
        if let Ok(current) = std::env::current_dir() {
            command.arg(mapping("-fdebug-prefix-map=", &current, "=."));
        }
        // The last one that fits decides: a header goes by the folder in which it is looked up.
        for folder in file.parent().into_iter().chain(includes.iter().map(PathBuf::as_path)) {
            command.arg(mapping("-ffile-prefix-map=", &folder.join(""), "=./"));
        }
        command.arg("-MD").arg("-MF").arg(depends).arg("-o").arg(object);
        for include in &includes {
            command.arg("-I").arg(include);
        }
        for (name, value) in &self.define {
            command.arg(format!("-D{name}={value}"));
        }
        command.args(&self.options).arg(file).env("LC_ALL", "C");
        command
    }
}

fn read(path: &Placed<PathBuf>, files: &mut Files) -> Result<Vec<u8>, SourceError> {
    files.read(path).map_err(|error| SourceError::file(path.span, &error))
}

fn no_source(path: &Placed<PathBuf>, what: &str) -> SourceError {
    SourceError::new(SourceErrorKind::File, path.span, format!("`{}` {what}", path.display()))
}

/// An option that gives the folder another name.
fn mapping(option: &str, folder: &Path, name: &str) -> OsString {
    let mut mapping = OsString::from(option);
    mapping.push(folder);
    mapping.push(name);
    mapping
}

/// The files that a Makefile rule, as C compilers write it, depends on. Their names are any bytes.
fn parse_depfile(rule: &[u8]) -> Vec<PathBuf> {
    let start = rule.windows(2).position(|pair| pair == b": ").map_or(rule.len(), |at| at + 2);
    let mut names = vec![vec![]];
    let mut rest = &rule[start..];
    while !rest.is_empty() {
        let (n_read, byte) = match rest {
            [b'\\', b'\n', ..] => (2, None),
            [b'\\', byte @ (b' ' | b'#'), ..] | [b'$', byte @ b'$', ..] => (2, Some(*byte)),
            [byte, ..] if !byte.is_ascii_whitespace() => (1, Some(*byte)),
            _ => (1, None),
        };
        match (byte, names.last_mut()) {
            (Some(byte), Some(name)) => name.push(byte),
            _ => names.push(vec![]),
        }
        rest = &rest[n_read..];
    }
    names.retain(|name: &Vec<u8>| !name.is_empty());
    let paths = names.into_iter().map(|name| PathBuf::from(OsString::from_vec(name)));
    paths.map(|path| path.strip_prefix(".").map_or(path.clone(), Path::to_path_buf)).collect()
}
