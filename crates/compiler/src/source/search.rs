// SPDX-License-Identifier: Apache-2.0
//! The folders that a C preprocessor searches, in its own words: GCC and Clang say them alike, in
//! front of all else that they say. Which of them a compiler searches by itself is told by a folder
//! that a variable puts right before those.

use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt;
use std::path::PathBuf;
use std::process::Command;

/// Has the preprocessor say where it looks.
pub(super) const OPTION: &str = "-Wp,-v";

/// The folders that are searched.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Search {
    /// Those that are not there.
    pub absent: Vec<PathBuf>,
    /// Those for quoted names alone, in order.
    pub quoted: Vec<PathBuf>,
    /// Those for all names, in order.
    pub all: Vec<PathBuf>,
    /// Those of all that the compiler searches by itself.
    pub own: Vec<PathBuf>,
}

const ABSENT: &[u8] = b"ignoring nonexistent directory \"";
const IGNORED: &[u8] = b"ignoring ";
const QUOTED: &[u8] = b"#include \"...\" search starts here:";
const ALL: &[u8] = b"#include <...> search starts here:";
const END: &[u8] = b"End of search list.";
/// The variable whose folders come right before those that a compiler searches by itself.
const LAST: &str = "C_INCLUDE_PATH";
/// A folder without headers, as the last of that variable.
const MARK: &str = "/proc/self/fdinfo";
/// Where whoever has the machine puts headers: compilers search it by themselves, and none of what
/// is in it came with them.
const LOCAL: &str = "/usr/local/include";
/// Clang's words behind a folder of a kind that only macOS has.
const FRAMEWORK: &[u8] = b" (framework directory)";

/// Has it say, too, which of the folders it searches by itself.
pub(super) fn mark(command: &mut Command) -> &mut Command {
    let mut folders = std::env::var_os(LAST).unwrap_or_default();
    if !folders.is_empty() {
        folders.push(":");
    }
    folders.push(MARK);
    command.env(LAST, folders)
}

/// The folders, where the compiler says them, and what else it says.
pub(super) fn split(said: &[u8]) -> (Option<Search>, String) {
    let mut search = Search::default();
    let mut rest = Vec::new();
    let (mut head, mut is_marked, mut is_done) = (None, false, false);
    for line in said.split_inclusive(|byte| *byte == b'\n') {
        let text = line.strip_suffix(b"\n").unwrap_or(line);
        if is_done {
            rest.extend_from_slice(line);
        } else if text == END {
            is_done = true;
        } else if text == QUOTED || text == ALL {
            head = Some(text);
        } else if let (Some(folder), Some(head)) = (text.strip_prefix(b" "), head) {
            let folder = folder.strip_suffix(FRAMEWORK).unwrap_or(folder);
            if is_marked && folder != LOCAL.as_bytes() {
                search.own.push(path(folder));
            }
            match head {
                _ if folder == MARK.as_bytes() => is_marked = true,
                QUOTED => search.quoted.push(path(folder)),
                _ => search.all.push(path(folder)),
            }
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
        let (quoted, all) = (paths(&["b c"]), paths(&["a", "/usr/include"]));
        let (absent, own) = (paths(&["no"]), vec![]);
        assert_eq!(search, Some(Search { absent, quoted, all, own }));
        assert_eq!(rest, "t.c:2:2: warning: hey\n    2 | ignoring\n");
    }

    #[test]
    fn behind_the_mark_are_the_compilers_own() {
        let said = format!(
            "{}\n a\n {MARK}\n /lib/gcc\n {LOCAL}\n /usr/include\n",
            "#include <...> search starts here:"
        );
        let search = split(&[said.as_bytes(), END, b"\n"].concat()).0.unwrap();
        assert_eq!(search.own, ["/lib/gcc", "/usr/include"].map(PathBuf::from));
        assert_eq!(search.all, ["a", "/lib/gcc", LOCAL, "/usr/include"].map(PathBuf::from));
    }

    #[test]
    fn without_a_list_all_is_said_by_the_compiler() {
        assert_eq!(split(b"ignoring it\n"), (None, "ignoring it\n".to_string()));
    }
}
