// SPDX-License-Identifier: Apache-2.0
//! A C file on its way through the user's C compiler: how the compiler is called, and what it read
//! and looked for in vain.
//!
//! The compiler opens files by itself. Those that are held in memory are written into the temporary
//! folder that it has anyway, each below it as it lies below the root of the file system, so that
//! they find each other as they would on a disk. Behind each folder that is searched there comes
//! the one that it stands for. The folders' names are mapped away, and the object is the same
//! wherever a file is.
//!
//! What was read is in the rule that the compiler writes for `make`. What was looked for in vain is
//! nowhere: it follows from the `#include` lines of what was read and the folders that are
//! searched. A header that came with the compiler is not looked into for that.

use super::c_compiler::{CCompiler, CCompilerError};
use super::include;
use crate::file::{Files, Held, plain, read_unrecorded};
use crate::leftover::Temporary;
use crate::target::Target;
use std::ffi::OsString;
use std::io;
use std::os::unix::ffi::OsStringExt;
use std::path::{Path, PathBuf};
use std::process::Command;

/// A C file of a source, which has its text already.
#[derive(Debug)]
pub(super) struct CFile<'s> {
    /// The file.
    pub path: &'s Path,
    /// Its bytes.
    pub text: &'s [u8],
    /// Folders to look for headers in.
    pub include: &'s [PathBuf],
    /// Macros, `NAME` and value.
    pub define: &'s [(String, String)],
    /// Further options of the compiler.
    pub options: &'s [String],
}

/// Options that name a folder of headers, joined to it or in front of it.
const FOLDER_OPTIONS: &[&str] = &["-I", "-iquote", "-isystem", "-idirafter"];

impl CFile<'_> {
    /// The object, and what the compiler warned of.
    pub fn compile(
        &self,
        target: &Target,
        files: &mut Files<'_>,
    ) -> Result<(Vec<u8>, String), CCompilerError> {
        let no_folder = |reason| CCompilerError::Folder { folder: std::env::temp_dir(), reason };
        let folder = Temporary::new(tempfile::tempdir).map_err(no_folder)?;
        let (object, depends) = (folder.path().join("host.o"), folder.path().join("host.d"));
        let compiler = CCompiler::find(target, self.path)?;
        let mirror = Mirror::new(folder.path().join("held"), files.held(), self);
        let mirror = mirror.map_err(no_folder)?;
        let mut command = self.command(compiler.command(), mirror.as_ref(), (&object, &depends));
        let real = |text: String| match &mirror {
            Some(mirror) => mirror.with_real_names(text),
            None => text,
        };
        let output = compiler.run(&mut command, self.path).map_err(|error| match error {
            CCompilerError::Refused { path, program, text } => {
                CCompilerError::Refused { path, program, text: real(text) }
            }
            error => error,
        })?;
        let bytes = read_unrecorded(&object).map_err(|_| compiler.no_object(self.path))?;
        let rule = read_unrecorded(&depends).unwrap_or_default();
        self.record(&parse_depfile(&rule), mirror.as_ref(), files);
        Ok((bytes, real(String::from_utf8_lossy(&output.stderr).trim_end().to_string())))
    }

    /// The folders that are named here, and the one that the compiler runs in, leave no trace in
    /// the object.
    fn command(
        &self,
        mut command: Command,
        mirror: Option<&Mirror>,
        (object, depends): (&Path, &Path),
    ) -> Command {
        // With `./` in front, a relative name differs from an absolute one in nothing but the part
        // that is mapped away.
        let here = Path::new(".");
        let file = mirror.map_or_else(|| here.join(self.path), |mirror| mirror.of(self.path));
        let real = |folder: &Path| here.join(folder);
        // Each folder, behind the one in which what is held of it lies.
        let with_held = |folder: &Path| {
            let held = mirror.map(|mirror| mirror.of(folder));
            held.into_iter().chain([real(folder)]).collect::<Vec<_>>()
        };
        let own = with_held(self.path.parent().unwrap_or(Path::new("")));
        let includes: Vec<_> = self.include.iter().flat_map(|folder| with_held(folder)).collect();
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
        for folder in own.iter().chain(&includes) {
            command.arg(mapping("-ffile-prefix-map=", &folder.join(""), "=./"));
        }
        command.arg("-MD").arg("-MF").arg(depends).arg("-o").arg(object);
        for folder in own.iter().filter(|_| mirror.is_some()) {
            command.arg("-iquote").arg(folder);
        }
        for include in &includes {
            command.arg("-I").arg(include);
        }
        for (name, value) in self.define {
            command.arg(format!("-D{name}={value}"));
        }
        command.args(self.options).arg(file).env("LC_ALL", "C");
        command
    }

    /// Records what the compiler read, and where it looked in vain before.
    fn record(&self, read: &[PathBuf], mirror: Option<&Mirror>, files: &mut Files<'_>) {
        let folders = self.folders();
        let own = self.path.parent().unwrap_or(Path::new(""));
        let mut users = vec![(self.path.to_path_buf(), self.text.to_vec())];
        for path in read {
            let held = mirror.and_then(|mirror| mirror.real(path));
            if let Some(held) = held {
                let bytes = files.held().get(held).unwrap_or_default();
                users.push((held.to_path_buf(), bytes.to_vec()));
            } else if is_below(path, own) || folders.iter().any(|folder| is_below(path, folder)) {
                // What the compiler has read and then was taken away is missed at the next build.
                let Ok(bytes) = files.read(path) else { continue };
                users.push((path.clone(), bytes));
            } else {
                let _ = files.read_compilers(path);
            }
        }
        for (path, text) in &users {
            look_for_includes(path, text, &folders, files);
            look_before(path, &folders, files);
        }
    }

    /// The folders in which every header is looked for, as far as they are named.
    fn folders(&self) -> Vec<PathBuf> {
        let mut folders = self.include.to_vec();
        let mut options = self.options.iter();
        while let Some(option) = options.next() {
            let rest = FOLDER_OPTIONS.iter().find_map(|name| option.strip_prefix(name));
            match rest {
                Some("") => folders.extend(options.next().map(PathBuf::from)),
                Some(folder) => folders.push(PathBuf::from(folder)),
                None => {}
            }
        }
        folders
    }
}

/// Whether a path is below a folder. No folder is the current one.
fn is_below(path: &Path, folder: &Path) -> bool {
    let folder = folder.strip_prefix(".").unwrap_or(folder);
    if folder.as_os_str().is_empty() { path.is_relative() } else { path.starts_with(folder) }
}

/// Looks for what each line of a text includes, as the compiler does.
fn look_for_includes(path: &Path, text: &[u8], folders: &[PathBuf], files: &mut Files<'_>) {
    let own = path.parent().unwrap_or(Path::new(""));
    for line in text.split_inclusive(|byte| *byte == b'\n') {
        let Some(include) = include::directive(line) else { continue };
        let own = include.is_quoted.then_some(own).into_iter();
        let places = own.chain(folders.iter().map(PathBuf::as_path));
        // What is in none of them is the compiler's, or under an `#if`.
        let _ = files.find(places.map(|folder| folder.join(include.name)));
    }
}

/// Looks for a file in the folders before the one that has it: for one whose name a macro spells.
fn look_before(path: &Path, folders: &[PathBuf], files: &mut Files<'_>) {
    for (at, folder) in folders.iter().enumerate() {
        if let Ok(name) = path.strip_prefix(folder).map(Path::to_path_buf) {
            let _ = files.find(folders[..=at].iter().map(|folder| folder.join(&name)));
        }
    }
}

/// Held files on a disk, and the file that is compiled with them.
#[derive(Debug)]
struct Mirror {
    root: PathBuf,
    /// Where each lies, and what it is called.
    files: Vec<(PathBuf, PathBuf)>,
}

impl Mirror {
    /// Writes them; nothing where nothing is held.
    fn new(root: PathBuf, held: &Held, file: &CFile<'_>) -> io::Result<Option<Mirror>> {
        if held.is_empty() {
            return Ok(None);
        }
        let mut mirror = Mirror { root, files: vec![] };
        for (path, bytes) in held.iter().chain([(file.path, file.text)]) {
            let there = mirror.of(path);
            std::fs::create_dir_all(there.parent().unwrap_or(&mirror.root))?;
            std::fs::write(&there, bytes)?;
            mirror.files.push((there, path.to_path_buf()));
        }
        Ok(Some(mirror))
    }

    /// Where a path is below the root.
    fn of(&self, path: &Path) -> PathBuf {
        let current = std::env::current_dir().unwrap_or_default();
        let path = plain(&current.join(path));
        self.root.join(path.strip_prefix("/").unwrap_or(&path))
    }

    /// What a file below the root is called, if it is held.
    fn real(&self, path: &Path) -> Option<&Path> {
        let path = plain(path);
        let found = self.files.iter().find(|(there, _)| *there == path);
        found.map(|(_, real)| &**real)
    }

    /// The compiler's words with the names that files have elsewhere.
    fn with_real_names(&self, text: String) -> String {
        let mut files: Vec<_> = self.files.iter().collect();
        // One name may begin with another.
        files.sort_by_key(|(there, _)| std::cmp::Reverse(there.as_os_str().len()));
        files.iter().fold(text, |text, (there, real)| {
            text.replace(&*there.to_string_lossy(), &Path::new(".").join(real).to_string_lossy())
        })
    }
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
