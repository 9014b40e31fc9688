// SPDX-License-Identifier: Apache-2.0
//! Files that are held in memory, by the paths under which others name them.
//!
//! Paths are compared as they are spelled, `.` and `..` worked out: nothing on a disk says what a
//! path means that leads to none.

use std::collections::BTreeMap;
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

/// Files in memory.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Held(BTreeMap<PathBuf, Arc<[u8]>>);

static NOTHING: Held = Held(BTreeMap::new());

impl Held {
    /// No files.
    pub fn nothing() -> &'static Held {
        &NOTHING
    }

    /// Adds a file, in the place of one of that path.
    pub fn insert(&mut self, path: impl AsRef<Path>, bytes: impl Into<Arc<[u8]>>) {
        self.0.insert(plain(path.as_ref()), bytes.into());
    }

    /// The bytes of a file.
    pub fn get(&self, path: &Path) -> Option<&[u8]> {
        // Nearly always there are none, and then the path need not be looked at.
        if self.is_empty() { None } else { self.0.get(&plain(path)).map(AsRef::as_ref) }
    }

    /// Whether there are no files.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The files, in the order of their paths.
    pub fn iter(&self) -> impl Iterator<Item = (&Path, &[u8])> {
        self.0.iter().map(|(path, bytes)| (&**path, &**bytes))
    }

    /// The same files with paths that start at a folder.
    pub fn below(&self, base: &Path) -> Held {
        Held(self.0.iter().map(|(path, bytes)| (plain(&base.join(path)), bytes.clone())).collect())
    }
}

impl<P: AsRef<Path>, B: Into<Vec<u8>>> FromIterator<(P, B)> for Held {
    fn from_iter<I: IntoIterator<Item = (P, B)>>(files: I) -> Held {
        let mut held = Held::default();
        files.into_iter().for_each(|(path, bytes)| held.insert(path, bytes.into()));
        held
    }
}

/// The path with `.` and `..` worked out as they are spelled.
pub fn plain(path: &Path) -> PathBuf {
    let mut plain = PathBuf::new();
    for component in path.components() {
        match component {
            Component::CurDir => {}
            Component::ParentDir => match plain.components().next_back() {
                Some(Component::Normal(_)) => _ = plain.pop(),
                Some(Component::RootDir) => {}
                _ => plain.push(component),
            },
            component => plain.push(component),
        }
    }
    plain
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_compared_as_they_are_spelled() {
        for (path, expected) in [
            ("./a//b/../c", "a/c"),
            ("../a", "../a"),
            ("/../a", "/a"),
            ("a/..", ""),
            ("..//..", "../.."),
        ] {
            assert_eq!(plain(Path::new(path)), Path::new(expected), "{path}");
        }
    }

    #[test]
    fn files_move_with_their_folder() {
        let held: Held = [("k.cu", "1"), ("/abs/a.h", "2")].into_iter().collect();
        let moved = held.below(Path::new("pkg/.."));
        assert_eq!(moved.get(Path::new("./k.cu")), Some(&b"1"[..]));
        let moved = held.below(Path::new("pkg"));
        assert_eq!(moved.get(Path::new("k.cu")), None);
        assert_eq!(moved.get(Path::new("pkg/x/../k.cu")), Some(&b"1"[..]));
        assert_eq!(moved.get(Path::new("/abs/a.h")), Some(&b"2"[..]));
    }
}
