// SPDX-License-Identifier: Apache-2.0
//! A C++ file and the files that it includes, read once and given names that do not depend on where
//! they lie.
//!
//! NVRTC neither says what it read nor takes a path out of what it makes. So names of files are
//! followed here, whatever `#if` they stand under; what is found goes to NVRTC as text, and each
//! line then has the name under which that text goes:
//!
//! ```text
//! /home/me/norm/norm.cu    #include "warp.h"       /kernpack/norm.cu          #include "/kernpack/warp.h"
//! /home/me/norm/warp.h     #include <tile.h>   ─▶  /kernpack/warp.h           #include "/kernpack/include-0/tile.h"
//! /opt/tiles/tile.h                                /kernpack/include-0/tile.h
//! ```
//!
//! The same goes for the names in `__has_include`. NVRTC is told of no folder but CUDA's own, and
//! so it finds no file that was not found here: names that are in none of the folders are those of
//! CUDA's headers, or an error.
//!
//! A name that a macro spells cannot be told in its line. What definitions and conditions name is
//! looked for in advance, from each file in which a macro spells a name, and NVRTC gets it under
//! that very name too; what is put together of pieces NVRTC misses, and says so (`Walk::supply`).
//! NVRTC knows a name as it is spelled, and not where: one that leads to two files is not told
//! apart, but refused (`Walk::ambiguous`).

mod directive;

pub(super) use directive::{Named, Use, names, names_in_value};
use kernpack_package::file::{Files, ReadError};
use std::collections::{HashMap, HashSet};
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// The folder that files pretend to lie in.
const ROOT: &str = "/kernpack";

/// A file that was read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct File {
    /// Where it is.
    pub path: PathBuf,
    /// The name it is compiled under.
    pub name: String,
    /// Its text, in which the files that were found have their names.
    pub text: Vec<u8>,
}

/// A name that a macro spells, which leads to a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Alias {
    /// The name as it is spelled.
    pub spelled: String,
    /// The name of the file.
    pub name: String,
}

/// A name that a macro spells, which leads to one file here and to another there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Ambiguous {
    /// The name as it is spelled.
    pub spelled: String,
    /// Two files.
    pub files: [PathBuf; 2],
}

/// A name that a macro may spell.
#[derive(Debug)]
struct Mention {
    named: Named,
    /// The number of the files with macros from which it was looked for already.
    n_tried: usize,
}

/// A file in which a name stands.
#[derive(Clone, Debug)]
struct Place {
    path: PathBuf,
    /// The name that it is compiled under.
    name: String,
}

/// Gives the files in a compiler's messages their real names.
pub(crate) fn with_real_names(files: &[File], messages: &str) -> String {
    let (mut real, mut rest) = (String::new(), messages);
    while let Some(at) = rest.find(ROOT) {
        let (before, found) = rest.split_at(at);
        let fits = files.iter().filter(|file| found.starts_with(&file.name));
        // One name may begin with another.
        let file = fits.max_by_key(|file| file.name.len());
        real += before;
        real += &file.map_or(ROOT.to_string(), |file| file.path.display().to_string());
        rest = &found[file.map_or(ROOT.len(), |file| file.name.len())..];
    }
    real + rest
}

/// A file and those that it names, directly or not.
pub(crate) struct Walk<'r, 'h> {
    /// Where to look, and what that is called. The last is the source's own.
    folders: Vec<(PathBuf, String)>,
    /// Names by the one path that each file has.
    by_path: HashMap<PathBuf, String>,
    taken: HashSet<String>,
    files: Vec<File>,
    mentions: Vec<Mention>,
    /// The files in which macros spell names.
    with_macros: Vec<Place>,
    aliases: Vec<Alias>,
    /// The first name that leads to two files.
    ambiguous: Option<Ambiguous>,
    read: &'r mut Files<'h>,
}

/// The most names that NVRTC has to miss: each costs a run of it.
const MAX_SUPPLIED: usize = 64;

impl<'r, 'h> Walk<'r, 'h> {
    /// This file, and those that it names directly or not, in the order in which they are met. A
    /// file that includes itself is among those too: NVRTC loses track of kernels' names where a
    /// program is included under its own name.
    ///
    /// # Errors
    /// Where the file itself cannot be read.
    pub fn new(
        path: &Path,
        folders: &[PathBuf],
        read: &'r mut Files<'h>,
    ) -> Result<Walk<'r, 'h>, ReadError> {
        let text = read.read(path)?;
        let virtual_folder = |(index, folder): (usize, &PathBuf)| {
            (folder.clone(), format!("{ROOT}/include-{index}"))
        };
        let own = (folder_of(path), ROOT.to_string());
        let folders = folders.iter().enumerate().map(virtual_folder).chain([own]).collect();
        let (by_path, taken) = (HashMap::new(), HashSet::new());
        let mut walk = Walk {
            folders,
            by_path,
            taken,
            files: vec![],
            mentions: vec![],
            with_macros: vec![],
            aliases: vec![],
            ambiguous: None,
            read,
        };
        let name = format!("{ROOT}/{}", path.file_name().unwrap_or_default().to_string_lossy());
        walk.taken.insert(name.clone());
        walk.follow(Place { path: path.to_path_buf(), name }, &text);
        walk.follow_mentions();
        Ok(walk)
    }

    /// The files, the source first.
    pub fn files(&self) -> &[File] {
        &self.files
    }

    /// Names that macros spell.
    pub fn aliases(&self) -> &[Alias] {
        &self.aliases
    }

    /// The name that leads to two files, if there is one.
    pub fn ambiguous(&self) -> Option<&Ambiguous> {
        self.ambiguous.as_ref()
    }

    /// The name of the file that an option has included before the source, if it is found.
    pub fn include_first(&mut self, name: &str) -> Option<String> {
        let found = self.resolve(&self.source(), &spelled(name));
        self.follow_mentions();
        found
    }

    /// Looks for the files that are named in the value of a macro.
    pub fn mention(&mut self, value: &str) {
        names_in_value(value.as_bytes()).into_iter().for_each(|named| self.add_mention(named));
        self.follow_mentions();
    }

    /// Looks for the file that NVRTC has not found, by its messages. Whether there is one now.
    pub fn supply(&mut self, messages: &str) -> bool {
        let Some((_, rest)) = messages.split_once("open source file \"") else { return false };
        let Some((name, _)) = rest.split_once('"') else { return false };
        if self.with_macros.is_empty() {
            self.with_macros.push(self.source());
        }
        let n_before = self.aliases.len();
        if n_before < MAX_SUPPLIED + self.files.len() {
            self.add_mention(spelled(name));
            self.follow_mentions();
        }
        self.aliases.len() > n_before
    }

    /// The source, as a place to look from.
    fn source(&self) -> Place {
        let File { path, name, .. } = &self.files[0];
        Place { path: path.clone(), name: name.clone() }
    }

    fn follow(&mut self, place: Place, text: &[u8]) {
        let at = self.files.len();
        let Place { path, name } = place.clone();
        self.files.push(File { path, name, text: vec![] });
        let mut renamed = Vec::with_capacity(text.len());
        let (mut n_copied, mut has_macros) = (0, false);
        for named in names(text) {
            match named.usage {
                Use::IncludeMacro | Use::HasMacro => {
                    has_macros = true;
                    continue;
                }
                Use::Mention => {
                    self.add_mention(named);
                    continue;
                }
                Use::Include | Use::IncludeNext | Use::Has | Use::HasNext => {}
            }
            let Some(header) = self.resolve(&place, &named) else { continue };
            renamed.extend_from_slice(&text[n_copied..named.place.start]);
            if named.usage == Use::IncludeNext {
                renamed.extend_from_slice(b"include ");
            }
            renamed.extend_from_slice(format!("\"{header}\"").as_bytes());
            // The lines that follow keep their numbers.
            let n_lines = text[named.place.clone()].iter().filter(|byte| **byte == b'\n').count();
            renamed.extend(b"\\\n".repeat(n_lines));
            n_copied = named.place.end;
        }
        renamed.extend_from_slice(&text[n_copied..]);
        self.files[at].text = renamed;
        if has_macros {
            self.with_macros.push(place);
        }
    }

    fn add_mention(&mut self, named: Named) {
        let is_it =
            |known: &Named| (&known.name, known.is_quoted) == (&named.name, named.is_quoted);
        if !self.mentions.iter().any(|mention| is_it(&mention.named)) {
            self.mentions.push(Mention { named, n_tried: 0 });
        }
    }

    /// Looks for each name that macros may spell from each file in which they do, until nothing is
    /// new: what is found may have others.
    fn follow_mentions(&mut self) {
        let mut n_tried = 0;
        loop {
            let n_before = n_tried;
            let mut at = 0;
            while let Some(mention) = self.mentions.get_mut(at) {
                let Some(from) = self.with_macros.get(mention.n_tried).cloned() else {
                    at += 1;
                    continue;
                };
                mention.n_tried += 1;
                n_tried += 1;
                let named = mention.named.clone();
                self.follow_mention(&from, &named);
            }
            if n_tried == n_before {
                return;
            }
        }
    }

    fn follow_mention(&mut self, from: &Place, named: &Named) {
        let Ok(spelled) = String::from_utf8(named.name.clone()) else { return };
        if let Some(name) = self.resolve(from, named) {
            self.add_alias(Alias { spelled, name });
        }
    }

    /// Has a name lead to a file, unless it leads to another one already.
    fn add_alias(&mut self, alias: Alias) {
        let known = self.aliases.iter().find(|known| known.spelled == alias.spelled);
        let Some(known) = known else { return self.aliases.push(alias) };
        if known.name != alias.name {
            let names = [&known.name, &alias.name];
            let path = |name: &String| {
                let file = self.files.iter().find(|file| file.name == *name);
                file.map_or_else(|| name.into(), |file| file.path.clone())
            };
            let two = Ambiguous { spelled: alias.spelled, files: names.map(path) };
            self.ambiguous.get_or_insert(two);
        }
    }

    /// The name of the file that is meant, which is read if it was not before.
    fn resolve(&mut self, from: &Place, named: &Named) -> Option<String> {
        let Place { path, name } = from;
        let own_name = name.rsplit_once('/').map_or(ROOT, |(folder, _)| folder).to_string();
        let own = (folder_of(path), own_name);
        let is_next = matches!(named.usage, Use::IncludeNext | Use::HasNext);
        let named_folders = &self.folders[..self.folders.len() - 1];
        let own_at = named_folders.iter().position(|(folder, _)| path.starts_with(folder));
        let skipped = own_at.filter(|_| is_next).map_or(0, |at| at + 1);
        let own = Some(own).filter(|_| named.is_quoted && !is_next);
        let file = Path::new(OsStr::from_bytes(&named.name));
        let shown = String::from_utf8_lossy(&named.name);
        let places = own.iter().chain(&self.folders[skipped..]).map(|(folder, name)| Candidate {
            path: folder.join(file),
            name: format!("{name}/{shown}"),
        });
        let Candidate { path: header, name: wanted } = self.read.find(places)?;
        if let Some(known) = self.by_path.get(&self.read.identity(&header)) {
            return Some(known.clone());
        }
        let text = self.read.read(&header).ok()?;
        let name = self.give_name(&header, without_dots(&wanted));
        self.follow(Place { path: header, name: name.clone() }, &text);
        Some(name)
    }

    /// Gives a file the name, or one like it where that is taken.
    fn give_name(&mut self, path: &Path, wanted: String) -> String {
        let mut name = wanted.clone();
        let mut n_others = 0;
        while !self.taken.insert(name.clone()) {
            n_others += 1;
            name = format!("{wanted}~{n_others}");
        }
        self.by_path.insert(self.read.identity(path), name.clone());
        name
    }
}

/// A place where a header may be.
struct Candidate {
    path: PathBuf,
    /// The name that it would have.
    name: String,
}

impl AsRef<Path> for Candidate {
    fn as_ref(&self) -> &Path {
        &self.path
    }
}

/// The name with `.` and `..` worked out.
fn without_dots(name: &str) -> String {
    let mut parts: Vec<&str> = Vec::new();
    for part in name.split('/') {
        match part {
            "" | "." => {}
            ".." if parts.len() > 1 => drop(parts.pop()),
            ".." => {}
            part => parts.push(part),
        }
    }
    format!("/{}", parts.join("/"))
}

/// The folder that a file is in.
fn folder_of(path: &Path) -> PathBuf {
    path.parent().unwrap_or(Path::new("")).to_path_buf()
}

/// A name as if it stood in quotes.
fn spelled(name: &str) -> Named {
    Named { usage: Use::Include, name: name.into(), is_quoted: true, place: 0..0 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use kernpack_package::file::Held;
    use std::fs;

    /// A tree of files, each with its text.
    fn tree(files: &[(&str, &str)]) -> tempfile::TempDir {
        let root = tempfile::tempdir().unwrap();
        for (name, text) in files {
            let path = root.path().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        root
    }

    /// The names and texts for `own/k.cu`, with the folders `one` and `two`.
    fn read(root: &Path) -> Vec<File> {
        let path = root.join("own/k.cu");
        let mut files = Files::default();
        let walk = Walk::new(&path, &[root.join("one"), root.join("two")], &mut files).unwrap();
        walk.files().to_vec()
    }

    fn expect_files(root: &Path, expected: &[(&str, &str, &str)]) {
        let files = read(root);
        let texts: Vec<_> = files.iter().map(|file| String::from_utf8_lossy(&file.text)).collect();
        let paths: Vec<_> =
            files.iter().map(|file| file.path.strip_prefix(root).unwrap()).collect();
        let files: Vec<_> = files.iter().map(|file| file.name.as_str()).collect();
        let found: Vec<_> = (0..files.len())
            .map(|at| (paths[at].to_str().unwrap(), files[at], texts[at].as_ref()))
            .collect();
        assert_eq!(found, expected);
    }

    #[test]
    fn quoted_names_begin_at_the_file_and_others_at_the_folders() {
        let root = tree(&[
            ("own/k.cu", "#if 0\n#include \"sub/a.h\"\n#endif\n#include \"b.h\"\nlast"),
            ("own/sub/a.h", "#include \"b.h\"\n#include <c.h>\n"),
            ("own/sub/b.h", "#include \"a.h\" // again\n"),
            ("one/c.h", "#include \"missing.h\"\n#include <cuda_fp16.h>\n"),
            ("two/c.h", ""),
            ("two/b.h", "\n"),
        ]);
        expect_files(
            root.path(),
            &[
                (
                    "own/k.cu",
                    "/kernpack/k.cu",
                    "#if 0\n#include \"/kernpack/sub/a.h\"\n#endif\n#include \"/kernpack/include-1/b.h\"\nlast",
                ),
                (
                    "own/sub/a.h",
                    "/kernpack/sub/a.h",
                    "#include \"/kernpack/sub/b.h\"\n#include \"/kernpack/include-0/c.h\"\n",
                ),
                ("own/sub/b.h", "/kernpack/sub/b.h", "#include \"/kernpack/sub/a.h\" // again\n"),
                (
                    "one/c.h",
                    "/kernpack/include-0/c.h",
                    "#include \"missing.h\"\n#include <cuda_fp16.h>\n",
                ),
                ("two/b.h", "/kernpack/include-1/b.h", "\n"),
            ],
        );
    }

    #[test]
    fn places_before_a_header_and_those_of_none_are_missed() {
        let root = tree(&[
            ("own/k.cu", "#include \"b.h\"\n#include <c.h>\n#include <cuda_fp16.h>\n"),
            ("two/b.h", ""),
            ("one/c.h", ""),
        ]);
        let mut files = Files::default();
        let folders = ["one", "two"].map(|name| root.path().join(name));
        Walk::new(&root.path().join("own/k.cu"), &folders, &mut files).unwrap();
        let missed = files.into_looked().missed.into_iter();
        let missed: Vec<_> =
            missed.map(|path| path.strip_prefix(root.path()).unwrap().to_path_buf()).collect();
        let expected =
            ["own/b.h", "one/b.h", "one/cuda_fp16.h", "two/cuda_fp16.h", "own/cuda_fp16.h"];
        assert_eq!(missed, expected.map(PathBuf::from));
    }

    #[test]
    fn held_headers_are_found_and_named_like_others() {
        let root = tree(&[("own/k.cu", "#include \"b.h\"\n")]);
        let held: Held = [("own/b.h", "#include \"../own/b.h\"\n")].into_iter().collect();
        let held = held.below(root.path());
        let mut files = Files::new(&held);
        let walk = Walk::new(&root.path().join("own/k.cu"), &[], &mut files).unwrap();
        let names: Vec<_> = walk.files().iter().map(|file| &file.name[..]).collect();
        assert_eq!(names, ["/kernpack/k.cu", "/kernpack/b.h"]);
        let read = files.into_looked();
        assert_eq!((read.inputs.len(), read.missed.len()), (1, 0));
    }

    #[test]
    fn one_file_has_one_name_and_a_name_one_file() {
        let root = tree(&[
            (
                "own/k.cu",
                "#include \"k.cu\"\n#include \"./include-0/a.h\"\n#include <a.h>\n#include \"../one/a.h\"\n",
            ),
            ("own/include-0/a.h", ""),
            ("one/a.h", "#include \"../own/include-0/a.h\"\n"),
        ]);
        let own = "#include \"/kernpack/k.cu~1\"\n#include \"/kernpack/include-0/a.h\"\n#include \"/kernpack/include-0/a.h~1\"\n#include \"/kernpack/include-0/a.h~1\"\n";
        expect_files(
            root.path(),
            &[
                ("own/k.cu", "/kernpack/k.cu", own),
                ("own/k.cu", "/kernpack/k.cu~1", own),
                ("own/./include-0/a.h", "/kernpack/include-0/a.h", ""),
                ("one/a.h", "/kernpack/include-0/a.h~1", "#include \"/kernpack/include-0/a.h\"\n"),
            ],
        );
    }

    #[test]
    fn messages_get_the_real_names() {
        let file = |path: &str, name: &str| File {
            path: path.into(),
            name: name.to_string(),
            text: vec![],
        };
        let files =
            [file("/home/kernpack/k.cu", "/kernpack/k.cu"), file("k.h", "/kernpack/k.cu.h")];
        let messages = "/kernpack/k.cu(3): in /kernpack/k.cu.h: not /kernpack/other";
        let expected = "/home/kernpack/k.cu(3): in k.h: not /kernpack/other";
        assert_eq!(with_real_names(&files, messages), expected);
    }
}
