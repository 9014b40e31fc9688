// SPDX-License-Identifier: Apache-2.0
//! The files that a C++ file includes.
//!
//! NVRTC does not say what it read. So `#include` lines are followed here, whatever `#if` they stand under, which finds every file that is
//! read and perhaps some that are not. A name that a macro spells is not found, and one that is in none of the folders is the compiler's
//! affair.

use std::collections::HashSet;
use std::path::{Path, PathBuf};

/// The files that `file`, of this text, includes directly or not, in the order in which they are met.
pub(crate) fn included(file: &Path, text: &str, folders: &[PathBuf]) -> Vec<PathBuf> {
    let mut walk = Walk { folders, seen: HashSet::new(), found: Vec::new() };
    walk.seen.insert(file.to_path_buf());
    walk.follow(file, text);
    walk.found
}

struct Walk<'a> {
    folders: &'a [PathBuf],
    seen: HashSet<PathBuf>,
    found: Vec<PathBuf>,
}

impl Walk<'_> {
    fn follow(&mut self, file: &Path, text: &str) {
        let own_folder = file.parent().unwrap_or(Path::new(""));
        for (name, is_quoted) in text.lines().filter_map(directive) {
            let own = is_quoted.then_some(own_folder);
            let folders = own.into_iter().chain(self.folders.iter().map(PathBuf::as_path));
            let mut files = folders.map(|folder| folder.join(name));
            let Some(header) = files.find(|file| file.is_file()) else { continue };
            if !self.seen.insert(header.clone()) {
                continue;
            }
            self.found.push(header.clone());
            let bytes = std::fs::read(&header).unwrap_or_default();
            self.follow(&header, &String::from_utf8_lossy(&bytes));
        }
    }
}

/// The name in a line `#include "name"` or `#include <name>`, and whether it is the former.
fn directive(line: &str) -> Option<(&str, bool)> {
    let directive = line.trim_start().strip_prefix('#')?.trim_start();
    let name = directive.strip_prefix("include")?.trim_start();
    match name.strip_prefix('"') {
        Some(name) => Some((name.split_once('"')?.0, true)),
        None => Some((name.strip_prefix('<')?.split_once('>')?.0, false)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn lines_are_told_apart() {
        assert_eq!(directive(r#"#include "a/b.h" // why"#), Some(("a/b.h", true)));
        assert_eq!(directive("  #  include<b.h>"), Some(("b.h", false)));
        for line in ["#include NAME", "include \"a.h\"", "#include \"a.h", "#define include <a.h>"]
        {
            assert_eq!(directive(line), None, "{line}");
        }
    }

    #[test]
    fn quoted_names_begin_at_the_file_and_others_at_the_folders() {
        let root = tempfile::tempdir().unwrap();
        let at = |name: &str| root.path().join(name);
        for folder in ["own/sub", "one", "two"] {
            fs::create_dir_all(at(folder)).unwrap();
        }
        fs::write(at("own/sub/a.h"), "#include \"b.h\"\n#include <c.h>\n").unwrap();
        fs::write(at("own/sub/b.h"), "#include \"a.h\"\n").unwrap();
        fs::write(at("one/c.h"), "#include \"missing.h\"\n").unwrap();
        fs::write(at("two/c.h"), "").unwrap();
        fs::write(at("two/b.h"), "").unwrap();
        let text = "#if 0\n#include \"sub/a.h\"\n#endif\n#include \"b.h\"\n";
        let found = included(&at("own/k.cu"), text, &[at("one"), at("two")]);
        let expected = ["own/sub/a.h", "own/sub/b.h", "one/c.h", "two/b.h"].map(at);
        assert_eq!(found, expected);
    }
}
