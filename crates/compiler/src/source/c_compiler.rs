// SPDX-License-Identifier: Apache-2.0
//! The user's C compiler: which program it is, which arguments it has from the user, and what is
//! said where it makes no object.
//!
//! Variables are read as `make` reads them: `CC="ccache gcc"` and `CC="gcc -m64"` are a program and
//! its arguments, split at white space. A file whose path has spaces is named as it is. A variable
//! without a program in it counts as unset. Not here: the options that a source needs
//! ([`host`](super::host)).

use super::identity::{Identity, processor};
use super::search;
use kernpack_package::file::open_unrecorded;
use kernpack_package::target::Target;
use kernpack_process::leftover;
use kernpack_process::parallel::Permit;
use std::collections::{BTreeSet, HashSet};
use std::ffi::{OsStr, OsString};
use std::io::{self, Read};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use thiserror::Error;

/// Why a C file gave no object.
#[derive(Debug, Error)]
pub enum CCompilerError {
    /// There is no C compiler for a C file.
    #[error("no C compiler for `{}`: tried {tried}; install one, or set {variable} to its path", path.display())]
    NotFound {
        /// The C file.
        path: PathBuf,
        /// The programs that were looked for.
        tried: String,
        /// The environment variable that names a compiler.
        variable: String,
    },
    /// The program cannot be run.
    #[error(
        "cannot run `{program}`, the C compiler for `{}`{}: {reason}; {}",
        path.display(), named_by(variable), advice(variable)
    )]
    Run {
        /// The C file.
        path: PathBuf,
        /// The program.
        program: String,
        /// The environment variable that names it, and its value; nothing where it was found on the
        /// path.
        variable: Option<(String, String)>,
        /// Why.
        reason: io::Error,
    },
    /// There is no place for what the compiler writes.
    #[error("cannot make a folder in `{}`, where the C compiler is to write: {reason}; set TMPDIR to a folder that can be written to", folder.display())]
    Folder {
        /// Where it should be.
        folder: PathBuf,
        /// Why not.
        reason: io::Error,
    },
    /// The compiler refused a C file.
    #[error("`{program}` refused `{}`:\n{text}", path.display())]
    Refused {
        /// The C file.
        path: PathBuf,
        /// The compiler.
        program: String,
        /// Its own words.
        text: String,
    },
    /// The program succeeded, and wrote nothing.
    #[error("`{program}`{} made no object of `{}`; {}", named_by(variable), path.display(), advice(variable))]
    NoObject {
        /// The C file.
        path: PathBuf,
        /// The compiler.
        program: String,
        /// The environment variable that names it, and its value.
        variable: Option<(String, String)>,
    },
}

/// A C compiler.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct CCompiler {
    program: OsString,
    args: Vec<OsString>,
    /// The environment variable that names it, and its value.
    variable: Option<(String, String)>,
}

impl CCompiler {
    /// The compiler that the environment names, else the first that is found.
    pub(super) fn find(target: &Target, path: &Path) -> Result<CCompiler, CCompilerError> {
        let own = format!("CC_{}", target.name.replace('-', "_"));
        let names = if std::ptr::eq(target, Target::host()) {
            vec![&own[..], "CC"]
        } else {
            vec![&own[..]]
        };
        let named = names.iter().find_map(|name| CCompiler::named(name, std::env::var_os(name)?));
        let found = || {
            let found = target.c_compilers.iter().find(|compiler| is_on_path(compiler))?;
            Some(CCompiler { program: found.into(), args: vec![], variable: None })
        };
        named.or_else(found).ok_or_else(|| CCompilerError::NotFound {
            path: path.to_path_buf(),
            tried: target.c_compilers.join(", "),
            variable: own,
        })
    }

    /// Its identity; nothing where its program is not there.
    fn identity(&self) -> Option<Identity> {
        let program = resolve(&self.program).into_iter().next()?;
        let mut identity = Identity::of(&program)?;
        let words = self.args.iter().map(|word| word.to_string_lossy());
        identity.marks.extend(words.clone().map(|word| format!("argument {word}")));
        // What these programs run is found on the path in turn.
        let others = resolve(&self.program).into_iter().skip(1);
        let others = others.filter(|_| runs_another(&program));
        let named = self.args.iter().flat_map(|word| resolve(word)).chain(self.files_of_options());
        let assembler = resolve(OsStr::new("as")).into_iter().take(1);
        let mut files: Vec<_> = others.chain(named).chain(assembler).collect();
        let mut scripts = vec![program.clone()];
        scripts.extend(files.iter().cloned());
        let mut variables = BTreeSet::new();
        add_named_by_scripts(scripts, &mut files, &mut variables);
        files.retain(|file| *file != program);
        files.iter().for_each(|file| identity.and_file(file));
        variables.iter().for_each(|name| identity.and_hidden_variable(name));
        VARIABLES.iter().for_each(|name| identity.and_variable(name));
        if words.into_iter().any(|word| word.contains("native")) {
            identity.marks.push(processor());
        }
        Some(identity)
    }

    /// The files of options that its arguments name, in what they hand on too.
    fn files_of_options(&self) -> impl Iterator<Item = PathBuf> {
        let parts = self.args.iter().flat_map(|word| word.as_bytes().split(|byte| *byte == b','));
        parts.filter_map(|part| Some(OsStr::from_bytes(part.strip_prefix(b"@")?).into()))
    }

    /// The compiler that the value of a variable names, if any.
    fn named(variable: &str, value: OsString) -> Option<CCompiler> {
        let text = value.to_string_lossy().into_owned();
        let mut words: Vec<OsString> = match value.to_str() {
            Some(text) if !Path::new(text).is_file() => {
                text.split_whitespace().map(OsString::from).collect()
            }
            _ => vec![value],
        };
        let args = words.split_off(words.len().min(1));
        let variable = Some((variable.to_string(), text));
        Some(CCompiler { program: words.pop()?, args, variable })
    }

    /// Its name in messages.
    fn name(&self) -> String {
        self.program.to_string_lossy().into_owned()
    }

    /// A run of it, with the arguments that it has from the user.
    pub(super) fn command(&self) -> Command {
        let mut command = Command::new(&self.program);
        command.args(&self.args);
        command
    }

    /// Has the command compile the file.
    pub(super) fn run(&self, command: &mut Command, path: &Path) -> Result<Output, CCompilerError> {
        let (path, program) = (path.to_path_buf(), self.name());
        let permit = Permit::wait();
        let output = leftover::run(command);
        drop(permit);
        let output = match output {
            Ok(output) => output,
            Err(reason) => {
                let variable = self.variable.clone();
                return Err(CCompilerError::Run { path, program, variable, reason });
            }
        };
        if output.status.success() {
            return Ok(output);
        }
        let text = match search::split(&output.stderr).1.trim_end() {
            "" => format!("it says nothing, and ended with {}", output.status),
            text => text.to_string(),
        };
        Err(CCompilerError::Refused { path, program, text })
    }

    /// The error of a compiler that succeeds and writes nothing.
    pub(super) fn no_object(&self, path: &Path) -> CCompilerError {
        let (path, variable) = (path.to_path_buf(), self.variable.clone());
        CCompilerError::NoObject { path, program: self.name(), variable }
    }
}

/// The variables that C compilers heed.
const VARIABLES: &[&str] = &[
    "CPATH",
    "C_INCLUDE_PATH",
    "COMPILER_PATH",
    "GCC_EXEC_PREFIX",
    "SOURCE_DATE_EPOCH",
    "CCC_OVERRIDE_OPTIONS",
];

/// Programs that keep what compilers made, or have other machines run them.
const IN_FRONT: &[&str] = &["ccache", "sccache", "distcc", "icecc"];

/// The compiler that a C file would be compiled with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Found {
    /// It is there.
    Compiler(Identity),
    /// A variable names one that is not there: by path, or by the name of its file.
    NotThere(PathBuf),
    /// There is none, and none is named.
    Nothing,
}

/// Looks for the compiler that a C file would be compiled with.
pub fn found(target: &Target) -> Found {
    let Ok(compiler) = CCompiler::find(target, Path::new("")) else { return Found::Nothing };
    match compiler.identity() {
        Some(identity) => Found::Compiler(identity),
        None => Found::NotThere(compiler.program.into()),
    }
}

/// The most files that scripts name in turn.
const MAX_NAMED: usize = 256;
/// The most bytes of a script.
const MAX_SCRIPT: u64 = 1 << 16;

/// Variables that differ where nothing else does; and where programs are, which are told by what
/// they are.
const OTHERS: &[&str] = &["PATH", "PWD", "OLDPWD", "SHLVL", "_", "LINES", "COLUMNS"];

/// Adds the programs, files and variables that scripts name, whatever they do with them: a compiler
/// that is a script is as the compilers that it runs.
fn add_named_by_scripts(
    mut scripts: Vec<PathBuf>,
    files: &mut Vec<PathBuf>,
    variables: &mut BTreeSet<String>,
) {
    while let Some(script) = scripts.pop() {
        let text = script_text(&script);
        variables.extend(named_variables(&text));
        for file in named_files(&text) {
            if files.len() < MAX_NAMED && !files.contains(&file) {
                files.push(file.clone());
                scripts.push(file);
            }
        }
    }
}

/// The text of a script; empty of what is none.
fn script_text(script: &Path) -> Vec<u8> {
    let mut text = Vec::new();
    let read = open_unrecorded(script).and_then(|mut file| {
        let mut start = [0; 2];
        file.read_exact(&mut start)?;
        match &start {
            b"#!" => file.take(MAX_SCRIPT).read_to_end(&mut text),
            _ => Ok(0),
        }
    });
    if read.is_ok() { text } else { vec![] }
}

/// The files that the words of a script lead to, but for those that it writes to.
fn named_files(text: &[u8]) -> Vec<PathBuf> {
    let found = words(text).filter_map(|word| resolve(OsStr::from_bytes(word)).into_iter().next());
    found.filter(|file| file.is_file()).collect()
}

/// The variables that are set and that a script names.
fn named_variables(text: &[u8]) -> Vec<String> {
    if text.is_empty() {
        return vec![];
    }
    let is_between = |byte: &u8| !byte.is_ascii_alphanumeric() && *byte != b'_';
    let words: HashSet<_> = text.split(is_between).collect();
    let set = std::env::vars_os().filter_map(|(name, _)| name.into_string().ok());
    let is_named = |name: &String| words.contains(name.as_bytes());
    set.filter(|name| is_named(name) && !OTHERS.contains(&&name[..])).collect()
}

/// The words of a script, but for what stands behind a `>`.
fn words(text: &[u8]) -> impl Iterator<Item = &[u8]> {
    let is_between = |byte: &u8| byte.is_ascii_whitespace() || b"\"'`;&|()<>=$".contains(byte);
    let mut end = 0;
    text.split(is_between).filter(move |word| {
        let before = &text[..end];
        end += word.len() + 1;
        let before = before.trim_ascii_end();
        let before = before.strip_suffix(b"\"").or(before.strip_suffix(b"'")).unwrap_or(before);
        !word.is_empty() && !before.trim_ascii_end().ends_with(b">")
    })
}

/// Whether a program runs another of its own name: a script, or one that stands in front of
/// compilers.
fn runs_another(program: &Path) -> bool {
    let file = program.canonicalize().unwrap_or_else(|_| program.to_path_buf());
    let name = file.file_name().unwrap_or_default();
    let mut start = [0; 2];
    let read = open_unrecorded(&file).and_then(|mut file| file.read_exact(&mut start));
    IN_FRONT.iter().any(|known| name == *known) || (read.is_ok() && start == *b"#!")
}

/// The files that a program's name means, that which is run first.
fn resolve(program: &OsStr) -> Vec<PathBuf> {
    if program.as_encoded_bytes().contains(&b'/') {
        return vec![PathBuf::from(program)];
    }
    let path = std::env::var_os("PATH").unwrap_or_default();
    let files = std::env::split_paths(&path).map(|folder| folder.join(program));
    files.filter(|file| file.is_file()).collect()
}

fn is_on_path(program: &str) -> bool {
    !resolve(OsStr::new(program)).is_empty()
}

/// Where the name of a compiler is from, in brackets.
fn named_by(variable: &Option<(String, String)>) -> String {
    match variable {
        Some((name, value)) => format!(" (from {name}=\"{value}\")"),
        None => String::new(),
    }
}

/// The advice about a compiler.
fn advice(variable: &Option<(String, String)>) -> String {
    match variable {
        Some((name, _)) => format!("set {name} to a C compiler, or unset it"),
        None => "set CC to a C compiler".to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The program and its arguments that a value names.
    fn expect_named(value: &str, expected: Option<&[&str]>) {
        let found = CCompiler::named("CC", value.into());
        let words = found.map(|compiler| {
            let words = [compiler.program].into_iter().chain(compiler.args);
            words.map(|word| word.into_string().unwrap()).collect::<Vec<_>>()
        });
        assert_eq!(
            words.as_deref(),
            expected
                .map(|words| words.iter().map(ToString::to_string).collect::<Vec<_>>())
                .as_deref(),
            "{value:?}"
        );
    }

    #[test]
    fn a_value_is_a_program_with_its_arguments() {
        expect_named("gcc", Some(&["gcc"]));
        expect_named(" ccache  gcc -m64\t", Some(&["ccache", "gcc", "-m64"]));
        expect_named("", None);
        expect_named(" \t", None);
    }

    #[test]
    fn a_script_is_as_what_it_runs() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        let write = |name: &str, text: &str| std::fs::write(at(name), text).unwrap();
        write("cc", &format!("#!/bin/sh\nexec \"{}\" \"$@\"\n", at("inner").display()));
        write("inner", &format!("#!/bin/sh\nCC='{}' exec gcc\n", at("innermost").display()));
        write("innermost", "one");
        write("options", "-O1");
        let value = format!("{} @{}", at("cc").display(), at("options").display());
        let identity = || CCompiler::named("CC", value.clone().into()).unwrap().identity().unwrap();
        let first = identity();
        assert_eq!(first, identity());
        let path = std::env::var_os("PATH").unwrap();
        let mut gccs = std::env::split_paths(&path).map(|folder| folder.join("gcc"));
        let gcc = format!("{} ", gccs.find(|path| path.is_file()).unwrap().display());
        assert!(first.marks.iter().any(|mark| mark.starts_with(&gcc)), "{first}");
        write("innermost", "two");
        let second = identity();
        assert_ne!(first, second);
        write("options", "-O2");
        assert_ne!(second, identity());
    }

    #[test]
    fn what_a_script_writes_to_is_no_part_of_it() {
        let text = b"#!/bin/sh\necho one >> \"/log\" 2> '/other' >/third\nexec /inner < /read\n";
        let words: Vec<_> = words(text).map(String::from_utf8_lossy).collect();
        assert_eq!(words, ["#!/bin/sh", "echo", "one", "2", "exec", "/inner", "/read"]);
    }

    #[test]
    fn a_file_is_named_with_the_spaces_of_its_path() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("my cc");
        let name = file.to_str().unwrap();
        expect_named(name, Some(&[name.strip_suffix(" cc").unwrap(), "cc"]));
        std::fs::write(&file, "").unwrap();
        expect_named(name, Some(&[name]));
    }
}
