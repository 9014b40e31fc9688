// SPDX-License-Identifier: Apache-2.0
//! A C++ file and the files that it includes, read once and given names that do not depend on where
//! they lie.
//!
//! NVRTC neither says what it read nor takes a path out of what it makes. So `#include` lines are
//! followed here, whatever `#if` they stand under; what is found goes to NVRTC as text, and each
//! line then has the name under which that text goes:
//!
//! ```text
//! /home/me/norm/norm.cu    #include "warp.h"       /kernpack/norm.cu          #include "/kernpack/warp.h"
//! /home/me/norm/warp.h     #include <tile.h>   ─▶  /kernpack/warp.h           #include "/kernpack/include-0/tile.h"
//! /opt/tiles/tile.h                                /kernpack/include-0/tile.h
//! ```
//!
//! Names that are in none of the folders stay as they are: CUDA's own headers, or an error that the
//! compiler finds. So does a name that a macro spells, which the compiler then looks for itself.

use crate::file::{Files, ReadError};
use std::collections::HashMap;
use std::ops::Range;
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

/// This file, and those that it includes directly or not, in the order in which they are met. A
/// file that includes itself is among those too: NVRTC loses track of kernels' names where a
/// program is included under its own name.
pub(crate) fn read_all(
    path: &Path,
    folders: &[PathBuf],
    read: &mut Files<'_>,
) -> Result<Vec<File>, ReadError> {
    let text = read.read(path)?;
    let virtual_folder =
        |(index, folder): (usize, &PathBuf)| (folder.clone(), format!("{ROOT}/include-{index}"));
    let folders = folders.iter().enumerate().map(virtual_folder).collect();
    let mut walk = Walk { folders, names: HashMap::new(), files: Vec::new(), read };
    let last = path.file_name().unwrap_or_default().to_string_lossy();
    walk.follow(path, format!("{ROOT}/{last}"), &text);
    Ok(walk.files)
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

struct Walk<'r, 'h> {
    /// Where to look, and what that is called.
    folders: Vec<(PathBuf, String)>,
    /// Names by the one path that each file has.
    names: HashMap<PathBuf, String>,
    files: Vec<File>,
    read: &'r mut Files<'h>,
}

impl Walk<'_, '_> {
    fn follow(&mut self, path: &Path, name: String, text: &[u8]) {
        let at = self.files.len();
        self.files.push(File { path: path.to_path_buf(), name: name.clone(), text: vec![] });
        let mut named = Vec::new();
        for line in text.split_inclusive(|byte| *byte == b'\n') {
            let found = directive(line)
                .and_then(|found| Some((self.resolve(path, &name, &found)?, found.place)));
            match found {
                Some((header, place)) => {
                    named.extend_from_slice(&line[..place.start]);
                    named.extend_from_slice(format!("\"{header}\"").as_bytes());
                    named.extend_from_slice(&line[place.end..]);
                }
                None => named.extend_from_slice(line),
            }
        }
        self.files[at].text = named;
    }

    /// The name of the file that is meant, which is read if it was not before.
    fn resolve(&mut self, path: &Path, name: &str, directive: &Directive<'_>) -> Option<String> {
        let own_folder = path.parent().unwrap_or(Path::new("")).to_path_buf();
        let own_name = name.rsplit_once('/').map_or(ROOT, |(folder, _)| folder).to_string();
        let own = directive.is_quoted.then_some((own_folder, own_name));
        let places = own.iter().chain(&self.folders).map(|(folder, name)| Candidate {
            path: folder.join(directive.name),
            name: format!("{name}/{}", directive.name),
        });
        let Candidate { path: header, name: wanted } = self.read.find(places)?;
        if let Some(known) = self.names.get(&self.read.identity(&header)) {
            return Some(known.clone());
        }
        let text = self.read.read(&header).ok()?;
        let name = self.give_name(&header, without_dots(&wanted));
        self.follow(&header, name.clone(), &text);
        Some(name)
    }

    /// Gives a file the name, or one like it where that is taken.
    fn give_name(&mut self, path: &Path, wanted: String) -> String {
        let mut name = wanted.clone();
        let mut n_others = 0;
        while self.files.iter().any(|file| file.name == name) {
            n_others += 1;
            name = format!("{wanted}~{n_others}");
        }
        self.names.insert(self.read.identity(path), name.clone());
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

/// A line that includes a file.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Directive<'a> {
    /// The name of the file.
    pub name: &'a str,
    /// Whether it is `"name"`, not `<name>`.
    pub is_quoted: bool,
    /// Where the name stands in the line, with what is around it.
    place: Range<usize>,
}

/// What a line includes, if it does.
pub(super) fn directive(line: &[u8]) -> Option<Directive<'_>> {
    let line = std::str::from_utf8(line).ok()?;
    let directive = line.trim_start().strip_prefix('#')?.trim_start();
    let rest = directive.strip_prefix("include")?.trim_start();
    let (is_quoted, end) = match rest.chars().next()? {
        '"' => (true, '"'),
        '<' => (false, '>'),
        _ => return None,
    };
    let (name, _) = rest[1..].split_once(end)?;
    let start = line.len() - rest.len();
    Some(Directive { name, is_quoted, place: start..start + name.len() + 2 })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::file::Held;
    use std::fs;

    fn expect_directive(line: &str, expected: Option<(&str, bool)>) {
        let found = directive(line.as_bytes());
        assert_eq!(found.as_ref().map(|found| (found.name, found.is_quoted)), expected, "{line}");
        if let Some(found) = found {
            let around = if found.is_quoted { ['"', '"'] } else { ['<', '>'] };
            assert_eq!(line[found.place], format!("{}{}{}", around[0], found.name, around[1]));
        }
    }

    #[test]
    fn lines_are_told_apart() {
        expect_directive("#include \"a/b.h\" // why \"so\"", Some(("a/b.h", true)));
        expect_directive("  #  include<b.h>\n", Some(("b.h", false)));
        for line in ["#include NAME", "include \"a.h\"", "#include \"a.h", "#define include <a.h>"]
        {
            expect_directive(line, None);
        }
    }

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
        read_all(&path, &[root.join("one"), root.join("two")], &mut Files::default()).unwrap()
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
        read_all(&root.path().join("own/k.cu"), &folders, &mut files).unwrap();
        let missed = files.into_looked().missed.into_iter();
        let missed: Vec<_> =
            missed.map(|path| path.strip_prefix(root.path()).unwrap().to_path_buf()).collect();
        let expected = ["own/b.h", "one/b.h", "one/cuda_fp16.h", "two/cuda_fp16.h"];
        assert_eq!(missed, expected.map(PathBuf::from));
    }

    #[test]
    fn held_headers_are_found_and_named_like_others() {
        let root = tree(&[("own/k.cu", "#include \"b.h\"\n")]);
        let held: Held = [("own/b.h", "#include \"../own/b.h\"\n")].into_iter().collect();
        let held = held.below(root.path());
        let mut files = Files::new(&held);
        let read = read_all(&root.path().join("own/k.cu"), &[], &mut files).unwrap();
        let names: Vec<_> = read.iter().map(|file| &file.name[..]).collect();
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
