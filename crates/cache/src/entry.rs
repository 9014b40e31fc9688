// SPDX-License-Identifier: Apache-2.0
//! The files of a package, in a folder of the cache or in memory.

use crate::disk;
use crate::manifest::{Artifact, Files, Manifest};
use crate::memory::MemoryFile;
use crate::record::Record;
use crate::request::digest;
use std::io;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The files of a package. As long as it lives, or a clone of it, in this process or in one that
/// was forked from it, nobody removes them.
#[derive(Clone, Debug)]
pub struct Entry(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    place: Place,
    manifest: Manifest,
    record: Record,
}

#[derive(Debug)]
enum Place {
    Folder {
        path: PathBuf,
        /// The folder, locked, where the file system has locks.
        _lock: Option<OwnedFd>,
        /// A copy in memory to load, where nothing can be loaded from the folder.
        loaded: Option<MemoryFile>,
    },
    /// In the order of [`Artifact::ALL`].
    Memory(Vec<MemoryFile>),
}

impl Entry {
    pub(crate) fn in_folder(
        path: PathBuf,
        lock: Option<OwnedFd>,
        manifest: Manifest,
        record: Record,
    ) -> Entry {
        let file = path.join(Artifact::SharedObject.file_name());
        let loaded = (!disk::can_load(&file)).then(|| disk::read(&file).ok()).flatten();
        let loaded = loaded.and_then(|bytes| MemoryFile::new(&bytes).ok());
        Entry(Arc::new(Inner {
            place: Place::Folder { path, _lock: lock, loaded },
            manifest,
            record,
        }))
    }

    pub(crate) fn in_memory(
        files: &Files,
        manifest: Manifest,
        record: Record,
    ) -> io::Result<Entry> {
        let files = files.iter().map(|bytes| MemoryFile::new(bytes)).collect::<io::Result<_>>()?;
        Ok(Entry(Arc::new(Inner { place: Place::Memory(files), manifest, record })))
    }

    /// The SHA-256 of the shared object, in hexadecimal.
    pub fn digest(&self) -> &str {
        &self.0.manifest.mark(Artifact::SharedObject).sha256
    }

    /// A path that leads to the file as long as the entry lives. The shared object there was
    /// verified.
    pub fn path(&self, artifact: Artifact) -> PathBuf {
        match &self.0.place {
            Place::Folder { loaded: Some(loaded), .. } if artifact == Artifact::SharedObject => {
                loaded.path()
            }
            Place::Folder { path, .. } => path.join(artifact.file_name()),
            Place::Memory(files) => files[artifact as usize].path(),
        }
    }

    /// The bytes of a file, verified.
    ///
    /// # Errors
    /// Where they cannot be read, or are not what was written.
    pub fn read(&self, artifact: Artifact) -> io::Result<Vec<u8>> {
        let path = self.path(artifact);
        let bytes = disk::read(&path)?;
        if digest(&bytes) == self.0.manifest.mark(artifact).sha256 {
            return Ok(bytes);
        }
        let message = format!("`{}` in the cache is damaged; remove it", path.display());
        Err(io::Error::new(io::ErrorKind::InvalidData, message))
    }

    /// The record of its compilation.
    pub fn record(&self) -> &Record {
        &self.0.record
    }

    /// The names of the functions that were described.
    pub fn functions(&self) -> &[String] {
        &self.0.manifest.functions
    }

    /// The folder that it lies in; nothing where it is in memory.
    pub fn folder(&self) -> Option<&Path> {
        match &self.0.place {
            Place::Folder { path, .. } => Some(path),
            Place::Memory(_) => None,
        }
    }
}
