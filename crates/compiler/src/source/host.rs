// SPDX-License-Identifier: Apache-2.0
//! Source `host`: functions of the C ABI, from an object file, an archive or a C file.
//!
//! A C file is compiled by the user's own compiler, with the same bytes as the result wherever the package lies.

use super::c_compiler::{CCompiler, CCompilerError};
use super::error::{SourceError, SourceErrorKind};
use crate::file::{Files, InputFile, read_made};
use crate::leftover::Temporary;
use crate::link::{self, Input};
use crate::target::Target;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;

/// An object, an archive or a C file.
#[derive(Clone, Debug, PartialEq)]
pub struct HostSource {
    /// The file: `.o`, `.a` or `.c`.
    pub path: PathBuf,
    /// For a C file: folders to look for headers in.
    pub include: Vec<PathBuf>,
    /// For a C file: macros, `NAME` and value.
    pub define: Vec<(String, String)>,
    /// For a C file: further options of the compiler.
    pub options: Vec<String>,
}

/// What a host source became.
#[derive(Clone, Debug)]
pub struct HostArtifact {
    /// The file it came from, for messages.
    pub path: PathBuf,
    /// An object or an archive.
    pub bytes: Vec<u8>,
    /// The global functions that it defines.
    pub functions: Vec<String>,
    /// What the C compiler warned of, in its own words.
    pub log: String,
    /// Every file that was read.
    pub inputs: Vec<InputFile>,
}

impl HostArtifact {
    /// What messages call it.
    pub fn name(&self) -> String {
        self.path.display().to_string()
    }

    /// The artifact as an input of a link, under its name.
    pub fn input<'a>(&'a self, name: &'a str) -> Input<'a> {
        Input { name, bytes: &self.bytes }
    }
}

impl HostSource {
    /// That file, without options.
    pub fn new(path: impl Into<PathBuf>) -> HostSource {
        HostSource { path: path.into(), include: vec![], define: vec![], options: vec![] }
    }

    /// Reads or compiles the file.
    ///
    /// # Errors
    /// Where it cannot be read, is of another kind, or the C compiler refuses it.
    pub fn build(&self, target: &Target) -> Result<HostArtifact, SourceError> {
        let _span = tracing::debug_span!("source", path = %self.path.display()).entered();
        let mut files = Files::default();
        let (bytes, log) = match self.path.extension().and_then(|extension| extension.to_str()) {
            Some("o" | "a") => (files.read(&self.path)?, String::new()),
            Some("c") => self.compile(target, &mut files)?,
            _ => {
                return Err(
                    self.no_source("is no host source: expected a file ending in .o, .a or .c")
                );
            }
        };
        if bytes.is_empty() {
            return Err(self.no_source("is empty; build or copy it again"));
        }
        let name = self.path.display().to_string();
        let functions = link::functions(&Input { name: &name, bytes: &bytes })
            .map_err(|error| SourceError::new(SourceErrorKind::Object, &self.path, error))?;
        Ok(HostArtifact {
            path: self.path.clone(),
            bytes,
            functions,
            log,
            inputs: files.into_inputs(),
        })
    }

    fn no_source(&self, what: &str) -> SourceError {
        let message = format!("`{}` {what}", self.path.display());
        SourceError::new(SourceErrorKind::File, &self.path, message)
    }

    /// The object of a C file, and what its compiler warned of.
    fn compile(
        &self,
        target: &Target,
        files: &mut Files,
    ) -> Result<(Vec<u8>, String), SourceError> {
        // That there is a file is told in the words that all sources have, and not in the compiler's.
        files.read(&self.path)?;
        self.run_compiler(target, files).map_err(|error| error.of(&self.path))
    }

    fn run_compiler(
        &self,
        target: &Target,
        files: &mut Files,
    ) -> Result<(Vec<u8>, String), CCompilerError> {
        let folder = Temporary::new(tempfile::tempdir)
            .map_err(|reason| CCompilerError::Folder { folder: std::env::temp_dir(), reason })?;
        let (object, depends) = (folder.path().join("host.o"), folder.path().join("host.d"));
        let compiler = CCompiler::find(target, &self.path)?;
        let mut command = self.command(compiler.command(), &object, &depends);
        let output = compiler.run(&mut command, &self.path)?;
        let bytes = read_made(&object).map_err(|_| compiler.no_object(&self.path))?;
        let rule = read_made(&depends).unwrap_or_default();
        for header in parse_depfile(&String::from_utf8_lossy(&rule)) {
            // What the compiler has read and then was taken away is missed at the next build.
            let _ = files.read(&header);
        }
        Ok((bytes, String::from_utf8_lossy(&output.stderr).trim_end().to_string()))
    }

    /// The folders that are named here, and the one that the compiler runs in, leave no trace in the object.
    fn command(&self, mut command: Command, object: &Path, depends: &Path) -> Command {
        // With `./` in front, a relative name differs from an absolute one in nothing but the part that is mapped away.
        let here = Path::new(".");
        let file = here.join(&self.path);
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

/// An option that gives the folder another name.
fn mapping(option: &str, folder: &Path, name: &str) -> OsString {
    let mut mapping = OsString::from(option);
    mapping.push(folder);
    mapping.push(name);
    mapping
}

/// The files that a Makefile rule, as C compilers write it, depends on.
fn parse_depfile(text: &str) -> Vec<PathBuf> {
    let rule = text.split_once(": ").map_or("", |(_, rest)| rest);
    let joined = rule.replace("\\\n", " ").replace("\\ ", "\u{1}");
    let names = joined.split_whitespace().map(|name| name.replace('\u{1}', " "));
    names.map(|name| PathBuf::from(name.strip_prefix("./").unwrap_or(&name))).collect()
}
