// SPDX-License-Identifier: Apache-2.0
//! Paths as records have them: from the folder that the package file's paths start at, where they
//! are below it, and else from the root.

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};
use std::ffi::OsString;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

/// A path, relative where it starts at the base.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct StoredPath(PathBuf);

impl StoredPath {
    /// The path, as it was named.
    pub fn of(path: &Path, base: &Path) -> StoredPath {
        match path.strip_prefix(base) {
            Ok(rest) => StoredPath(rest.to_path_buf()),
            Err(_) => {
                let current = std::env::current_dir().unwrap_or_default();
                let base = current.join(base);
                let path = current.join(path);
                StoredPath(path.strip_prefix(base).map_or(path.clone(), Path::to_path_buf))
            }
        }
    }

    /// The path with that base.
    pub fn at(&self, base: &Path) -> PathBuf {
        base.join(&self.0)
    }
}

/// In front of a path that is no text, in hexadecimal: no path has it.
const BYTES: &str = "\0";

impl Serialize for StoredPath {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.0.to_str() {
            Some(text) => serializer.serialize_str(text),
            None => {
                let hex = crate::request::hex(self.0.as_os_str().as_bytes());
                serializer.serialize_str(&format!("{BYTES}{hex}"))
            }
        }
    }
}

impl<'de> Deserialize<'de> for StoredPath {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<StoredPath, D::Error> {
        let text = String::deserialize(deserializer)?;
        let Some(hex) = text.strip_prefix(BYTES) else { return Ok(StoredPath(text.into())) };
        let digits = hex.as_bytes().chunks(2).map(|pair| {
            let pair = std::str::from_utf8(pair).ok()?;
            u8::from_str_radix(pair, 16).ok()
        });
        let bytes = digits.collect::<Option<Vec<_>>>();
        let bytes = bytes.ok_or_else(|| de::Error::custom("no path"))?;
        Ok(StoredPath(OsString::from_vec(bytes).into()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn expect_moved(path: &str, base: &str, other: &str, expected: &str) {
        let stored = StoredPath::of(Path::new(path), Path::new(base));
        assert_eq!(stored.at(Path::new(base)), Path::new(path), "{path} in {base}");
        assert_eq!(stored.at(Path::new(other)), Path::new(expected), "{path} in {base}");
    }

    #[test]
    fn paths_move_with_their_base_if_they_are_below_it() {
        expect_moved("pkg/k.c", "pkg", "/other", "/other/k.c");
        expect_moved("k.c", "", "/other", "/other/k.c");
        expect_moved("pkg/../up.h", "pkg", "x", "x/../up.h");
        expect_moved("/usr/include/a.h", "pkg", "x", "/usr/include/a.h");
        expect_moved("/b/k.c", "/b", "", "k.c");
    }

    #[test]
    fn any_bytes_are_a_path() {
        for name in [&b"k\xe9.c"[..], b"k.c", "\u{e9}.h".as_bytes()] {
            let stored = StoredPath(OsString::from_vec(name.to_vec()).into());
            let text = serde_json::to_string(&stored).unwrap();
            assert_eq!(serde_json::from_str::<StoredPath>(&text).unwrap(), stored, "{text}");
        }
    }
}
