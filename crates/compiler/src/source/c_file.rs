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
//! The files that were read are in the rule that the compiler writes for `make`, and the folders
//! that it searches, in order, in what its preprocessor says ([`search`](super::search)). So
//! whatever was read was looked for in vain in the folders before. What else was, such as a header
//! beside the file or in `__has_include`, follows from the names in what was read. A header that
//! came with the compiler, in a folder that it searches by itself, is looked into for
//! `__has_include` alone.
//!
//! Where a macro spells a name, nothing says which. Each file that was read is taken for one that
//! may have been meant there, and was looked for beside the text first.
//!
//! Where something was read that nobody knows of, such as what an assembler includes, the result is
//! not to be found again ([`Looked::is_partial`](kernpack_package::file::Looked)).

use super::c_compiler::{CCompiler, CCompilerError};
use super::include::{Named, Use, names, names_in_value};
use super::search::{self, Search};
use kernpack_package::file::{Files, Held, plain, read_unrecorded};
use kernpack_package::target::Target;
use kernpack_process::leftover::Temporary;
use std::ffi::{OsStr, OsString};
use std::io;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
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
        let command = || self.command(compiler.command(), mirror.as_ref(), (&object, &depends));
        let real = |text: String| match &mirror {
            Some(mirror) => mirror.with_real_names(text),
            None => text,
        };
        // A compiler that refuses the file may be one that does not say where it looks.
        let output = compiler
            .run(search::mark(command().arg(search::OPTION).arg(last_rule(&depends))), self.path)
            .or_else(|_| compiler.run(&mut command(), self.path));
        let output = output.map_err(|error| match error {
            CCompilerError::Refused { path, program, text } => {
                CCompilerError::Refused { path, program, text: real(text) }
            }
            error => error,
        })?;
        let bytes = read_unrecorded(&object).map_err(|_| compiler.no_object(self.path))?;
        if is_local(self.options) {
            files.mark_local();
        }
        let rule = parse_depfile(&read_unrecorded(&depends).unwrap_or_default());
        if rule.is_empty() {
            files.mark_partial();
        }
        let (search, log) = search::split(&output.stderr);
        let folders = self.folders(search, mirror.as_ref());
        let record = Record { file: self, folders, files, mentions: vec![], with_macros: vec![] };
        record.all(&rule, mirror.as_ref());
        Ok((bytes, real(log.trim_end().to_string())))
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

    /// The folders that are searched: as the compiler says, else as far as they are named.
    fn folders(&self, search: Option<Search>, mirror: Option<&Mirror>) -> Folders {
        let named = self.named_folders();
        let Some(Search { absent, quoted, all, own }) = search else {
            let (all, angled, compilers) = (named.clone(), named.clone(), vec![]);
            return Folders { all, angled, users: named, compilers };
        };
        // What is held is known by its name. Where an absent folder would come is not known.
        let is_held =
            |folder: &PathBuf| mirror.is_some_and(|mirror| folder.starts_with(&mirror.root));
        let seen = |folders: Vec<PathBuf>| {
            let folders = folders.into_iter().map(|folder| without_dot(&folder));
            folders.filter(|folder| !is_held(folder)).collect::<Vec<_>>()
        };
        let (absent, quoted, others) = (seen(absent), seen(quoted), seen(all));
        let (all, angled) =
            ([&absent[..], &quoted, &others].concat(), [&absent[..], &others].concat());
        let mut users = named;
        users.extend(all.iter().filter(|folder| !own.contains(folder)).cloned());
        Folders { all, angled, users, compilers: own }
    }

    fn named_folders(&self) -> Vec<PathBuf> {
        let mut folders = self.include.to_vec();
        let mut options = self.options.iter();
        while let Some(option) = options.next() {
            match value_of(option, FOLDER_OPTIONS) {
                Some("") => folders.extend(options.next().map(PathBuf::from)),
                Some(folder) => folders.push(PathBuf::from(folder.trim_start_matches('='))),
                None => {}
            }
        }
        folders
    }
}

/// Options that name a file to be included first, joined to them, behind them or behind a `=`.
const INCLUDED: &[&str] = &["-include", "-imacros", "--include", "--imacros"];

/// Options that name another file or folder, joined to them or behind them, or may.
const PATH_OPTIONS: &[&str] = &[
    "-iprefix",
    "-isysroot",
    "--sysroot=",
    "-B",
    "-specs=",
    "--specs=",
    "-fplugin=",
    "-fprofile-use=",
    "-fauto-profile=",
    "-Wa,",
    "-Wp,",
    "@",
];

/// Whether options may name a path that begins at the folder that the process works in.
fn is_local(options: &[String]) -> bool {
    let mut is_path = false;
    options.iter().any(|option| {
        let included = value_of(option, INCLUDED).map(|value| value.trim_start_matches('='));
        let joined = included
            .or_else(|| value_of(option, FOLDER_OPTIONS))
            .or_else(|| value_of(option, PATH_OPTIONS));
        let path = match joined {
            _ if is_path || !option.starts_with(['-', '@']) => Some(&option[..]),
            Some("") => None,
            joined => joined,
        };
        is_path = !is_path && joined == Some("");
        path.is_some_and(|path| !path.starts_with(['/', '=']))
    })
}

/// The text that is joined to an option of one of these names.
fn value_of<'o>(option: &'o str, names: &[&str]) -> Option<&'o str> {
    names.iter().find_map(|name| option.strip_prefix(name))
}

/// Where headers are looked for.
struct Folders {
    /// All folders, in order: those for quoted names.
    all: Vec<PathBuf>,
    /// Those for other names.
    angled: Vec<PathBuf>,
    /// Those of the user's.
    users: Vec<PathBuf>,
    /// Those that the compiler searches by itself.
    compilers: Vec<PathBuf>,
}

/// The recording of what a compilation depended on.
struct Record<'r, 's, 'h> {
    file: &'r CFile<'s>,
    folders: Folders,
    files: &'r mut Files<'h>,
    /// The names that macros may spell, each with the text that has it.
    mentions: Vec<(PathBuf, Named)>,
    /// The texts in which macros spell names.
    with_macros: Vec<PathBuf>,
}

impl Record<'_, '_, '_> {
    /// Records what the compiler read, and where it looked in vain before.
    fn all(mut self, read: &[PathBuf], mirror: Option<&Mirror>) {
        self.texts((self.file.path, self.file.text), true);
        for path in read {
            if let Some(held) = mirror.and_then(|mirror| mirror.real(path)) {
                let bytes = self.files.held().get(held).unwrap_or_default();
                self.texts((held, bytes), true);
            } else {
                let Some(bytes) = self.read(path) else { continue };
                self.texts((path, &bytes), self.is_users(path));
            }
        }
        let (values, own) = (self.file.define.iter().map(|(_, value)| value), self.file.path);
        for value in values.chain(self.file.options) {
            names_in_value(value.as_bytes()).into_iter().for_each(|named| self.named(own, named));
        }
        let real = |path| mirror.and_then(|mirror| mirror.real(path)).unwrap_or(path);
        self.spelled_by_macros(read.iter().map(|path| real(path)));
        self.included_first();
    }

    /// Records what follows from a file that was read.
    fn texts(&mut self, (path, text): (&Path, &[u8]), is_users: bool) {
        let is_asked = |named: &Named| matches!(named.usage, Use::Has | Use::HasNext);
        let contains = |word: &[u8]| text.windows(word.len()).any(|part| part == word);
        if is_users || contains(b"__has_include") || contains(b"__has_embed") {
            let names = names(text).into_iter();
            names
                .filter(|named| is_users || is_asked(named))
                .for_each(|named| self.named(path, named));
        }
        // An assembler reads by itself, and does not say what.
        if is_users && (contains(b".incbin") || contains(b".include")) {
            self.files.mark_partial();
        }
        self.look_before(path);
    }

    /// Records what follows from a name in a text.
    fn named(&mut self, path: &Path, named: Named) {
        match named.usage {
            Use::IncludeMacro | Use::HasMacro => {
                if self.with_macros.last().is_none_or(|last| last != path) {
                    self.with_macros.push(path.to_path_buf());
                }
            }
            Use::Mention => self.mentions.push((path.to_path_buf(), named)),
            Use::Include | Use::IncludeNext | Use::Has | Use::HasNext => self.find(path, &named),
        }
    }

    /// Looks for what a text names, as the compiler does.
    fn find(&mut self, path: &Path, named: &Named) {
        let is_next = matches!(named.usage, Use::IncludeNext | Use::HasNext);
        let own = path.parent().unwrap_or(Path::new(""));
        let own = named.is_quoted.then_some(own);
        let Folders { all, angled, .. } = &self.folders;
        let all = if named.is_quoted { all } else { angled }.clone();
        // By which folder the text was found is not known, where several fit.
        let next = (0..all.len()).filter(|at| is_next && path.starts_with(&all[*at]));
        let name = Path::new(OsStr::from_bytes(&named.name));
        for start in [0].into_iter().chain(next.map(|at| at + 1)) {
            let own = own.filter(|_| start == 0).into_iter();
            let places = own.chain(all[start..].iter().map(PathBuf::as_path));
            // What is in none of them is under an `#if`.
            let found = self.files.find(places.map(|folder| folder.join(name)));
            let is_included = matches!(named.usage, Use::Include | Use::IncludeNext);
            if let Some(found) = found.filter(|_| !is_included) {
                // That it is there counts, and perhaps what is in it.
                let _ = self.read(&without_dot(&found));
            }
        }
    }

    /// Looks for a file in the folders before the one that has it. One of that name in a folder
    /// before need not have been found: it may be for quoted names, or for what comes before
    /// `#include_next`.
    fn look_before(&mut self, path: &Path) {
        for (at, name) in self.folders.names_of(path) {
            self.folders.all[..at]
                .iter()
                .for_each(|folder| self.files.look_at(&folder.join(&name)));
        }
    }

    /// Looks for what macros may have spelled, beside the texts in which they do.
    fn spelled_by_macros<'p>(&mut self, read: impl Iterator<Item = &'p Path>) {
        let (texts, mentions) =
            (std::mem::take(&mut self.with_macros), std::mem::take(&mut self.mentions));
        if texts.is_empty() {
            return;
        }
        let names: Vec<_> = read.flat_map(|path| self.folders.names_of(path)).collect();
        mentions.iter().for_each(|(own, named)| self.find(own, named));
        for text in texts {
            let own = text.parent().unwrap_or(Path::new(""));
            names.iter().for_each(|(_, name)| self.files.look_at(&own.join(name)));
            mentions.iter().for_each(|(_, named)| self.find(&text, named));
        }
    }

    /// Looks for what an option has included before the file, in the current folder first.
    fn included_first(&mut self) {
        let mut options = self.file.options.iter();
        while let Some(option) = options.next() {
            let name = match value_of(option, INCLUDED) {
                Some("") => options.next().cloned(),
                Some(rest) => Some(rest.trim_start_matches('=').to_string()),
                None => None,
            };
            if let Some(name) = name {
                let _ = self.files.find([Path::new(&name)]);
            }
        }
    }

    fn read(&mut self, path: &Path) -> Option<Vec<u8>> {
        let read = match self.is_users(path) {
            true => self.files.read(path),
            false => self.files.read_compilers(path),
        };
        // It was taken away meanwhile, or is called as no rule for `make` can say.
        read.map_err(|_| self.files.mark_partial()).ok()
    }

    /// Whether a file is none that came with the compiler.
    fn is_users(&self, path: &Path) -> bool {
        let own = self.file.path.parent().unwrap_or(Path::new(""));
        let is_in = |folders: &[PathBuf]| folders.iter().any(|folder| is_below(path, folder));
        is_below(path, own) || is_in(&self.folders.users) || !is_in(&self.folders.compilers)
    }
}

impl Folders {
    /// The names by which a file is found, each with the place of the folder in which it is.
    fn names_of(&self, path: &Path) -> Vec<(usize, PathBuf)> {
        let name = |folder: &PathBuf| Some(path.strip_prefix(folder).ok()?.to_path_buf());
        let names = self.all.iter().enumerate();
        names.filter_map(|(at, folder)| Some((at, name(folder)?))).collect()
    }
}

/// Whether a path is below a folder. No folder is the current one.
fn is_below(path: &Path, folder: &Path) -> bool {
    let folder = folder.strip_prefix(".").unwrap_or(folder);
    if folder.as_os_str().is_empty() { path.is_relative() } else { path.starts_with(folder) }
}

/// The path without `./` in front.
fn without_dot(path: &Path) -> PathBuf {
    path.strip_prefix(".").unwrap_or(path).to_path_buf()
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

    /// The name of a file below the root, if it is held.
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

/// Has the preprocessor write the rule there, with all headers, whatever was said of rules before;
/// unless the name cannot be handed on, and then it is as it was said.
fn last_rule(depends: &Path) -> OsString {
    let option = if depends.as_os_str().as_bytes().contains(&b',') { "-MF" } else { "-Wp,-MD," };
    let mut option = OsString::from(option);
    option.push(depends);
    option
}

/// An option that gives the folder another name.
fn mapping(option: &str, folder: &Path, name: &str) -> OsString {
    let mut mapping = OsString::from(option);
    mapping.push(folder);
    mapping.push(name);
    mapping
}

/// The files that a Makefile rule, as C compilers write it, depends on. Their names are any bytes
/// but for ends of lines, which no rule can have.
fn parse_depfile(rule: &[u8]) -> Vec<PathBuf> {
    let start = rule.windows(2).position(|pair| pair == b": ").map_or(rule.len(), |at| at + 2);
    let mut names = vec![vec![]];
    let mut rest = &rule[start..];
    while !rest.is_empty() {
        let n_marks = rest.iter().take_while(|byte| **byte == b'\\').count();
        let name = names.last_mut().expect("there is one at least");
        let n_read = match rest[n_marks..] {
            // In front of these, each mark of the name is written twice, and theirs comes last.
            [byte @ (b' ' | b'\t' | b'#'), ..] if n_marks > 0 => {
                name.extend(std::iter::repeat_n(b'\\', n_marks / 2));
                let is_marked = n_marks % 2 == 1;
                if is_marked {
                    name.push(byte);
                }
                n_marks + usize::from(is_marked)
            }
            [b'\n', ..] if n_marks > 0 => {
                name.extend(std::iter::repeat_n(b'\\', n_marks - 1));
                names.push(vec![]);
                n_marks + 1
            }
            _ if n_marks > 0 => {
                name.extend(std::iter::repeat_n(b'\\', n_marks));
                n_marks
            }
            [b'$', b'$', ..] => {
                name.push(b'$');
                2
            }
            [byte, ..] if !byte.is_ascii_whitespace() => {
                name.push(byte);
                1
            }
            _ => {
                names.push(vec![]);
                1
            }
        };
        rest = &rest[n_read..];
    }
    names.retain(|name: &Vec<u8>| !name.is_empty());
    let paths = names.into_iter().map(|name| PathBuf::from(OsString::from_vec(name)));
    paths.map(|path| without_dot(&path)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_a_rule_are_any_bytes() {
        for (written, expected) in [
            (&b"a.c"[..], &b"a.c"[..]),
            (b"./a\\ b.h", b"a b.h"),
            (b"a\\\tb.h", b"a\tb.h"),
            (b"a\\#b$$c.h", b"a#b$c.h"),
            (b"a\\b.h", b"a\\b.h"),
            (b"a\\\\\\ b.h", b"a\\ b.h"),
            (b"\xe9.h", b"\xe9.h"),
        ] {
            let rule = [b"host.o: first.c \\\n ", written, b" \\\n last.h\n"].concat();
            let names = ["first.c".into(), OsString::from_vec(expected.to_vec()), "last.h".into()];
            assert_eq!(parse_depfile(&rule), names.map(PathBuf::from));
        }
    }

    #[test]
    fn options_that_name_paths_from_the_working_directory() {
        let is_local_of = |text: &str| {
            let options: Vec<_> = text.split(' ').map(str::to_string).collect();
            is_local(&options)
        };
        let local = [
            "-Iinc",
            "-I inc",
            "-O3 -isystem inc",
            "-include k.h",
            "--include=k.h",
            "-fplugin=p.so",
        ];
        for text in
            local.into_iter().chain(["-I /usr/include -Ia", "--sysroot=s", "@file", "extra.c"])
        {
            assert!(is_local_of(text), "{text}");
        }
        let others = ["-O3 -march=native", "-I/usr/include", "-I /usr/include", "-std=c11 -DX=y"];
        for text in others.into_iter().chain(["-isystem=inc", "-Wall", "-fmax-errors=3"]) {
            assert!(!is_local_of(text), "{text}");
        }
    }
}
