// SPDX-License-Identifier: Apache-2.0
//! Which file the loader would take for a bare name, without loading it: one that is loaded
//! already, else the first in `LD_LIBRARY_PATH`, in the loader's own list, or in the system's
//! folders.

use super::loaded;
use kernpack_package::file::read_unrecorded;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// The loader's list of libraries.
const LIST: &str = "/etc/ld.so.cache";
/// The folders in which it looks behind that.
const FOLDERS: &[&str] = &["/lib64", "/usr/lib64", "/lib", "/usr/lib"];

/// The file of a library of that name.
pub fn find(name: &str) -> Option<PathBuf> {
    let set = std::env::var_os("LD_LIBRARY_PATH").unwrap_or_default();
    let in_folder = |folder: PathBuf| Some(folder.join(name)).filter(|file| file.is_file());
    let set = || std::env::split_paths(&set).find_map(in_folder);
    let listed = || listed(&read_unrecorded(Path::new(LIST)).ok()?, name);
    let system = || FOLDERS.iter().map(PathBuf::from).find_map(in_folder);
    loaded::loaded(name).or_else(set).or_else(listed).or_else(system)
}

/// The first path of that name in the list, which has paths that end in a NUL, and numbers.
fn listed(list: &[u8], name: &str) -> Option<PathBuf> {
    let paths = list.split(|byte| *byte == 0).map(|path| Path::new(OsStr::from_bytes(path)));
    let mut named = paths.filter(|path| path.is_absolute() && path.ends_with(name));
    named.find(|path| path.is_file()).map(Path::to_path_buf)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_library_that_is_loaded_or_listed_is_found() {
        let libc = find("libc.so.6").expect("this program has loaded it");
        assert!(libc.is_file() && libc.ends_with("libc.so.6"), "{}", libc.display());
        assert_eq!(find("libkernpack-none.so.1"), None);
        let list = [b"\x01\x02/no/libx.so.1\0", libc.as_os_str().as_bytes(), b"\0\0"].concat();
        let list = [&b"glibc-ld.so.cache1.1\0"[..], &list].concat();
        assert_eq!(listed(&list, "libc.so.6"), Some(libc));
        assert_eq!(listed(&list, "libx.so.1"), None);
    }
}
