// SPDX-License-Identifier: Apache-2.0
//! The libraries that a package asks its loader for, as far as they are on this machine: which of
//! them has a symbol.
//!
//! They are looked for where a loader of the target looks: in the folders of `LD_LIBRARY_PATH`, on
//! the target itself also in those of `/etc/ld.so.conf`, then where distributions have them, for
//! cross compilers too. A file for another machine is passed over. Nothing of a library gets into a
//! package but its name, which the package file has.

use super::glibc;
use kernpack_codegen::link::SharedLibrary;
use kernpack_package::file::read_unrecorded;
use kernpack_package::target::Target;
use std::collections::HashMap;
use std::path::{Path, PathBuf};

/// The libraries that were looked for.
pub struct Libraries<'t> {
    target: &'t Target,
    folders: Vec<PathBuf>,
    found: HashMap<String, Option<SharedLibrary>>,
}

/// Whether libraries have a symbol.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Search {
    /// One of them has it, or one that they load.
    Found,
    /// None has it.
    Lacking,
    /// None that is here has it; these are not here.
    Unknown(Vec<String>),
}

impl<'t> Libraries<'t> {
    /// Libraries for a target.
    pub fn of(target: &'t Target) -> Libraries<'t> {
        let folders = folders(target, std::env::var_os("LD_LIBRARY_PATH").as_deref());
        Libraries { target, folders, found: HashMap::new() }
    }

    /// The host that they are for.
    pub fn target(&self) -> &'t Target {
        self.target
    }

    /// Looks for a symbol in these libraries and in those that they load. The C library's are not
    /// looked into: a list says what they have.
    pub fn search(&mut self, names: &[String], symbol: &str) -> Search {
        let (mut queue, mut missing) = (names.to_vec(), vec![]);
        let mut at = 0;
        while at < queue.len() {
            let name = queue[at].clone();
            at += 1;
            if glibc::has_library(&name) {
                continue;
            }
            match self.library(&name) {
                Some(library) if library.exports.contains(symbol) => return Search::Found,
                Some(library) => {
                    let more: Vec<_> = library
                        .needed
                        .iter()
                        .filter(|name| !queue.contains(name))
                        .cloned()
                        .collect();
                    queue.extend(more);
                }
                None => missing.push(name),
            }
        }
        if missing.is_empty() { Search::Lacking } else { Search::Unknown(missing) }
    }

    /// The library of that name, if it is here.
    fn library(&mut self, name: &str) -> Option<&SharedLibrary> {
        let (target, folders) = (self.target, &self.folders);
        let found = self.found.entry(name.to_string()).or_insert_with(|| {
            let read = |folder: &PathBuf| {
                let bytes = read_unrecorded(&folder.join(name)).ok()?;
                SharedLibrary::read(target.elf, &bytes)
            };
            folders.iter().find_map(read)
        });
        found.as_ref()
    }
}

/// Where a loader of the target looks, in its order.
fn folders(target: &Target, variable: Option<&std::ffi::OsStr>) -> Vec<PathBuf> {
    let named = variable.into_iter().flat_map(std::env::split_paths);
    let mut folders: Vec<_> = named.filter(|folder| !folder.as_os_str().is_empty()).collect();
    let name = target.name;
    let of_target =
        [format!("/lib/{name}"), format!("/usr/lib/{name}"), format!("/usr/{name}/lib")];
    if std::ptr::eq(target, Target::host()) {
        folders.extend(configured(Path::new("/etc/ld.so.conf"), &mut vec![]));
        folders.extend(of_target.map(PathBuf::from));
        folders.extend(["/lib64", "/usr/lib64", "/lib", "/usr/lib"].map(PathBuf::from));
    } else {
        folders.extend(of_target.map(PathBuf::from));
    }
    folders
}

/// The folders that a file like `/etc/ld.so.conf` names: one a line, or further such files behind
/// `include`. Those that are `open` already, as one that includes itself is, say nothing more.
fn configured(file: &Path, open: &mut Vec<PathBuf>) -> Vec<PathBuf> {
    let identity = file.canonicalize().unwrap_or_else(|_| file.to_path_buf());
    if open.contains(&identity) {
        return vec![];
    }
    open.push(identity);
    let bytes = read_unrecorded(file).unwrap_or_default();
    let text = String::from_utf8_lossy(&bytes);
    let mut folders = Vec::new();
    for line in text.lines().map(|line| line.split('#').next().unwrap_or_default().trim()) {
        match line.split_once(char::is_whitespace) {
            Some(("include", pattern)) => {
                let pattern = file.parent().unwrap_or(Path::new("")).join(pattern.trim());
                folders.extend(matching(&pattern).iter().flat_map(|file| configured(file, open)));
            }
            _ if line.is_empty() => {}
            _ => folders.push(PathBuf::from(line)),
        }
    }
    open.pop();
    folders
}

/// The files that a path with one `*` in its last part means, in the order of their names.
fn matching(pattern: &Path) -> Vec<PathBuf> {
    let (Some(folder), Some(name)) = (pattern.parent(), pattern.file_name()) else { return vec![] };
    let name = name.to_string_lossy();
    let Some((start, end)) = name.split_once('*') else { return vec![pattern.to_path_buf()] };
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let fits = |name: &str| {
        name.len() >= start.len() + end.len() && name.starts_with(start) && name.ends_with(end)
    };
    let files = entries.filter(|entry| fits(&entry.file_name().to_string_lossy()));
    let mut files: Vec<_> = files.map(|entry| entry.path()).collect();
    files.sort();
    files
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folders_are_read_from_files_that_include_others() {
        let root = tempfile::tempdir().unwrap();
        let write = |name: &str, text: &str| std::fs::write(root.path().join(name), text).unwrap();
        std::fs::create_dir(root.path().join("conf.d")).unwrap();
        write("ld.so.conf", "# first\n/one\ninclude conf.d/*.conf\n\n/four # behind\n");
        write("conf.d/b.conf", "/three\n");
        write("conf.d/a.conf", "/two\n");
        write("conf.d/a.conf.old", "/old\n");
        let expected = ["/one", "/two", "/three", "/four"].map(PathBuf::from);
        let read = |name: &str| configured(&root.path().join(name), &mut vec![]);
        assert_eq!(read("ld.so.conf"), expected);
        assert!(read("missing").is_empty());
    }

    #[test]
    fn a_file_that_includes_itself_is_read_once() {
        let root = tempfile::tempdir().unwrap();
        let write = |name: &str, text: &str| std::fs::write(root.path().join(name), text).unwrap();
        write("own.conf", "/one\ninclude own.conf\ninclude *.conf\n/two\n");
        write("other.conf", "/three\ninclude ./own.conf\n");
        let expected = ["/one", "/three", "/two"].map(PathBuf::from);
        assert_eq!(configured(&root.path().join("own.conf"), &mut vec![]), expected);
    }

    #[test]
    fn the_variable_comes_first_and_other_targets_have_folders_of_their_own() {
        let [host, other] =
            ["x86_64-linux-gnu", "aarch64-linux-gnu"].map(|name| Target::find(name).unwrap());
        let of = |target| folders(target, Some("/first::/second".as_ref()));
        assert_eq!(of(host)[..2], ["/first", "/second"].map(PathBuf::from));
        let foreign = if std::ptr::eq(host, Target::host()) { other } else { host };
        assert!(!of(foreign).contains(&PathBuf::from("/usr/lib")));
        assert!(of(foreign).contains(&Path::new("/usr").join(foreign.name).join("lib")));
    }

    /// libstdc++ loads libgcc_s, and both the C library, of which a list says what it has.
    #[test]
    fn libraries_are_searched_with_those_that_they_load() {
        let mut libraries = Libraries::of(Target::host());
        let mut search = |names: &[&str], symbol| {
            let names: Vec<_> = names.iter().map(ToString::to_string).collect();
            libraries.search(&names, symbol)
        };
        let personality = "__gcc_personality_v0";
        assert_eq!(search(&["libgcc_s.so.1"], personality), Search::Found);
        assert_eq!(search(&["libstdc++.so.6"], personality), Search::Found);
        assert_eq!(search(&["libstdc++.so.6"], "malloc"), Search::Lacking);
        assert_eq!(search(&["libm.so.6"], "expf"), Search::Lacking);
        let missing = Search::Unknown(vec!["libmissing.so".to_string()]);
        assert_eq!(search(&["libmissing.so", "libgcc_s.so.1"], "nowhere"), missing);
        assert_eq!(search(&["libmissing.so", "libgcc_s.so.1"], personality), Search::Found);
    }

    /// No cross C library is needed to know that nothing has a symbol.
    #[test]
    fn the_c_library_is_not_missed() {
        let mut libraries = Libraries { folders: vec![], ..Libraries::of(Target::host()) };
        let names = ["libm.so.6", "libdl.so.2"].map(str::to_string);
        assert_eq!(libraries.search(&names, "nowhere"), Search::Lacking);
    }
}
