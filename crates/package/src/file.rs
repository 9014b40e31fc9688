// SPDX-License-Identifier: Apache-2.0
//! The one door through which files are read: it records which they were, a digest of what each
//! held, and where a file was looked for in vain.
//!
//! The files that a build read are what its result depends on: they stand in the rules for `make`,
//! and whether all of it is unchanged says whether the result is. So does a place at which a header
//! was not: one that comes to be there is found before the one that was read. What a compiler that
//! ran here has written for us is no such file, and neither is a shared library in which symbols
//! are looked up: it changes nothing of the result.
//!
//! Files may be held in memory instead ([`Held`]): they are seen before those on a disk, and are
//! not recorded, as whoever brings them knows them. Not here: files that a compiler opens by
//! itself, save where it says which and they are read once more.

mod held;

pub use held::Held;
pub use held::plain;

use sha2::{Digest, Sha256};
use std::collections::HashSet;
use std::fs::File;
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
    /// Whether it came with the compiler: a header that lies in none of the folders that the user
    /// named, such as `stdio.h`.
    pub is_compilers: bool,
}

/// The files that were read, and the places where there was none, both in order. A file that was
/// read twice stands here twice only if it changed.
#[derive(Clone, Debug)]
pub struct Files<'h> {
    held: &'h Held,
    read: Vec<InputFile>,
    missed: Vec<PathBuf>,
    missed_before: HashSet<PathBuf>,
    is_partial: bool,
    is_local: bool,
}

/// The files that were read through a door, and those that were looked for in vain.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Looked {
    /// Every file that was read.
    pub inputs: Vec<InputFile>,
    /// Every place where a file was looked for and none was, before it was found elsewhere or not
    /// at all.
    pub missed: Vec<PathBuf>,
    /// Whether something else was read, of which nobody knows what it was.
    pub is_partial: bool,
    /// Whether the folder that the process works in decides what is found.
    pub is_local: bool,
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

impl Default for Files<'_> {
    fn default() -> Self {
        Files::new(Held::nothing())
    }
}

impl<'h> Files<'h> {
    /// A door to these files, and behind them to those on a disk.
    pub fn new(held: &'h Held) -> Files<'h> {
        let (read, missed, missed_before) = (vec![], vec![], HashSet::new());
        Files { held, read, missed, missed_before, is_partial: false, is_local: false }
    }

    /// The files that are held in memory.
    pub fn held(&self) -> &'h Held {
        self.held
    }

    /// Reads a whole file.
    ///
    /// # Errors
    /// Where it cannot be read.
    pub fn read(&mut self, path: &Path) -> Result<Vec<u8>, ReadError> {
        self.read_of(path, false)
    }

    /// Reads a whole file that came with a compiler.
    ///
    /// # Errors
    /// Where it cannot be read.
    pub fn read_compilers(&mut self, path: &Path) -> Result<Vec<u8>, ReadError> {
        self.read_of(path, true)
    }

    fn read_of(&mut self, path: &Path, is_compilers: bool) -> Result<Vec<u8>, ReadError> {
        if let Some(bytes) = self.held.get(path) {
            return Ok(bytes.to_vec());
        }
        let bytes = read_unrecorded(path)
            .map_err(|reason| ReadError { path: path.to_path_buf(), reason })?;
        let digest = Sha256::digest(&bytes).into();
        self.record(InputFile { path: path.to_path_buf(), digest, is_compilers });
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

    /// The first of these places at which there is a file. The others before it are recorded as
    /// missed.
    pub fn find<T: AsRef<Path>>(&mut self, places: impl IntoIterator<Item = T>) -> Option<T> {
        for place in places {
            let path = place.as_ref();
            if self.held.get(path).is_some() || path.is_file() {
                return Some(place);
            }
            self.miss(path.to_path_buf());
        }
        None
    }

    /// Looks whether there is a file at this place. If not, that is recorded.
    pub fn look_at(&mut self, place: &Path) {
        let _ = self.find([place]);
    }

    /// Notes that something was read past this door.
    pub fn mark_partial(&mut self) {
        self.is_partial = true;
    }

    /// Notes that places begin at the folder that the process works in, and not at the base.
    pub fn mark_local(&mut self) {
        self.is_local = true;
    }

    fn miss(&mut self, path: PathBuf) {
        if self.missed_before.insert(path.clone()) {
            self.missed.push(path);
        }
    }

    /// The same path for the same file.
    pub fn identity(&self, path: &Path) -> PathBuf {
        match self.held.get(path) {
            Some(_) => plain(path),
            None => path.canonicalize().unwrap_or_else(|_| path.to_path_buf()),
        }
    }

    /// Adds what was looked at elsewhere.
    pub fn extend(&mut self, others: Looked) {
        others.inputs.into_iter().for_each(|file| self.record(file));
        others.missed.into_iter().for_each(|path| self.miss(path));
        self.is_partial |= others.is_partial;
        self.is_local |= others.is_local;
    }

    /// The files that were read, and those that were missed.
    pub fn into_looked(self) -> Looked {
        let Files { read: inputs, missed, is_partial, is_local, .. } = self;
        Looked { inputs, missed, is_partial, is_local }
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

/// Opens a file of which only a few bytes are looked at, and of which nothing depends but what says
/// so. It is not recorded.
///
/// # Errors
/// Where it cannot be opened.
pub fn open_unrecorded(path: &Path) -> io::Result<File> {
    File::open(path)
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
        let expected =
            digests.map(|digest| InputFile { path: path.clone(), digest, is_compilers: false });
        assert_eq!(files.into_looked().inputs, expected);
    }

    #[test]
    fn held_files_come_first_and_are_not_recorded() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.txt");
        std::fs::write(&path, "disk").unwrap();
        let held = [("sub/../a.txt", "held")].into_iter().collect::<Held>().below(folder.path());
        let mut files = Files::new(&held);
        assert_eq!(files.read_text(&path).unwrap(), "held");
        assert_eq!(files.into_looked(), Looked::default());
    }

    #[test]
    fn places_before_the_one_that_has_the_file_are_missed() {
        let folder = tempfile::tempdir().unwrap();
        let places = ["a", "b", "c"].map(|name| folder.path().join(name));
        std::fs::write(&places[1], "").unwrap();
        let mut files = Files::default();
        assert_eq!(files.find(&places), Some(&places[1]));
        assert_eq!(files.find(&places), Some(&places[1]));
        assert_eq!(files.find(&places[2..]), None);
        let missed = [places[0].clone(), places[2].clone()];
        let looked = files.into_looked();
        assert_eq!((looked.inputs, looked.missed), (vec![], missed.to_vec()));
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
