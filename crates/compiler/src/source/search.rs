// SPDX-License-Identifier: Apache-2.0
//! The folders that a C preprocessor searches, in its own words: GCC and Clang say them alike, in
//! front of all else that they say.

use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt;
use std::path::PathBuf;

/// Has the preprocessor say where it looks.
pub(super) const OPTION: &str = "-Wp,-v";

/// The folders that are searched.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Search {
    /// Those that are not there.
    pub absent: Vec<PathBuf>,
    /// The others, in order: those for quoted names first.
    pub found: Vec<PathBuf>,
}

const ABSENT: &[u8] = b"ignoring nonexistent directory \"";
const IGNORED: &[u8] = b"ignoring ";
const HEADS: [&[u8]; 2] =
    [b"#include \"...\" search starts here:", b"#include <...> search starts here:"];
const END: &[u8] = b"End of search list.";
/// What Clang says behind a folder of a kind that only macOS has.
const FRAMEWORK: &[u8] = b" (framework directory)";

/// The folders, where the compiler says them, and what else it says.
pub(super) fn split(said: &[u8]) -> (Option<Search>, String) {
    let mut search = Search::default();
    let mut rest = Vec::new();
    let (mut is_within, mut is_done) = (false, false);
    for line in said.split_inclusive(|byte| *byte == b'\n') {
        let text = line.strip_suffix(b"\n").unwrap_or(line);
        if is_done {
            rest.extend_from_slice(line);
        } else if text == END {
            is_done = true;
        } else if HEADS.contains(&text) {
            is_within = true;
        } else if let Some(folder) = text.strip_prefix(b" ").filter(|_| is_within) {
            let folder = folder.strip_suffix(FRAMEWORK).unwrap_or(folder);
            search.found.push(path(folder));
        } else if let Some(folder) = text.strip_prefix(ABSENT) {
            search.absent.push(path(folder.strip_suffix(b"\"").unwrap_or(folder)));
        } else if !text.starts_with(IGNORED) && !(text.starts_with(b"  as it is a ")) {
            rest.extend_from_slice(line);
        }
    }
    match is_done {
        true => (Some(search), String::from_utf8_lossy(&rest).into_owned()),
        false => (None, String::from_utf8_lossy(said).into_owned()),
    }
}

fn path(name: &[u8]) -> PathBuf {
    OsString::from_vec(name.to_vec()).into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_list_is_told_from_warnings() {
        let said = b"ignoring nonexistent directory \"no\"\nignoring duplicate directory \"a\"\n  as it is a non-system directory that duplicates a system directory\n#include \"...\" search starts here:\n b c\n#include <...> search starts here:\n a\n /usr/include\nEnd of search list.\nt.c:2:2: warning: hey\n    2 | ignoring\n";
        let (search, rest) = split(said);
        let paths = |names: &[&str]| names.iter().map(PathBuf::from).collect();
        let expected =
            Search { absent: paths(&["no"]), found: paths(&["b c", "a", "/usr/include"]) };
        assert_eq!(search, Some(expected));
        assert_eq!(rest, "t.c:2:2: warning: hey\n    2 | ignoring\n");
    }

    #[test]
    fn without_a_list_all_is_said_by_the_compiler() {
        assert_eq!(split(b"ignoring it\n"), (None, "ignoring it\n".to_string()));
    }
}
