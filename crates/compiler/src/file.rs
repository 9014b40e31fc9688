// SPDX-License-Identifier: Apache-2.0
//! The one door through which files are read: it records which they were, and a digest of what each
//! held.
//!
//! What a build read is what its result depends on: it stands in the rules for `make`, and whether
//! all of it is unchanged says whether the result is. What a compiler that ran here has written for
//! us is no such file, and neither is a shared library in which symbols are looked up: it changes
//! nothing of the result. Not here: files that a compiler opens by itself, save where it says which
//! and they are read once more.

use sha2::{Digest, Sha256};
use std::io;
use std::path::{Path, PathBuf};
use thiserror::Error;

/// A file that was read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InputFile {
    /// Where it lies.
    pub path: PathBuf,
    /// The SHA-256 of its bytes, as they were read.
    pub digest: [u8; 32],
}

/// The files that were read, in order. One that was read twice stands here twice only if it
/// changed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Files {
    read: Vec<InputFile>,
}

/// A file could not be read.
#[derive(Debug, Error)]
#[error("cannot read `{}`: {reason}", path.display())]
pub struct ReadError {
    /// The file.
    pub path: PathBuf,
    /// Why.
    pub reason: io::Error,
}

impl Files {
    /// Reads a whole file.
    ///
    /// # Errors
    /// Where it cannot be read.
    pub fn read(&mut self, path: &Path) -> Result<Vec<u8>, ReadError> {
        let bytes = read_unrecorded(path)
            .map_err(|reason| ReadError { path: path.to_path_buf(), reason })?;
        let digest = Sha256::digest(&bytes).into();
        self.record(InputFile { path: path.to_path_buf(), digest });
        Ok(bytes)
    }

    /// Reads a whole file as text.
    ///
    /// # Errors
    /// Where it cannot be read or is not UTF-8.
    pub fn read_text(&mut self, path: &Path) -> Result<String, ReadError> {
        String::from_utf8(self.read(path)?).map_err(|_| {
            let reason =
                io::Error::new(io::ErrorKind::InvalidData, "stream did not contain valid UTF-8");
            ReadError { path: path.to_path_buf(), reason }
        })
    }

    /// Adds what was read elsewhere.
    pub fn extend(&mut self, others: impl IntoIterator<Item = InputFile>) {
        others.into_iter().for_each(|file| self.record(file));
    }

    /// What was read.
    pub fn into_inputs(self) -> Vec<InputFile> {
        self.read
    }

    fn record(&mut self, file: InputFile) {
        if !self.read.contains(&file) {
            self.read.push(file);
        }
    }
}

/// Reads a file of which nothing depends: what a program that ran here has written for us, or what
/// only says where to look. It is not recorded.
///
/// # Errors
/// Where it cannot be read.
pub fn read_unrecorded(path: &Path) -> io::Result<Vec<u8>> {
    std::fs::read(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_read_is_recorded_once_for_each_content() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.txt");
        let mut files = Files::default();
        for text in ["one", "one", "two"] {
            std::fs::write(&path, text).unwrap();
            assert_eq!(files.read_text(&path).unwrap(), text);
        }
        let digests = [b"one", b"two"].map(|text| Sha256::digest(text).into());
        let expected = digests.map(|digest| InputFile { path: path.clone(), digest });
        assert_eq!(files.into_inputs(), expected);
    }

    #[test]
    fn what_cannot_be_read_is_named() {
        let folder = tempfile::tempdir().unwrap();
        let missing = folder.path().join("missing");
        let error = Files::default().read(&missing).unwrap_err().to_string();
        assert!(error.starts_with(&format!("cannot read `{}`: No such", missing.display())));
        let latin1 = folder.path().join("latin1");
        std::fs::write(&latin1, b"\xe9").unwrap();
        let error = Files::default().read_text(&latin1).unwrap_err().to_string();
        assert!(error.ends_with("stream did not contain valid UTF-8"), "{error}");
    }
}
