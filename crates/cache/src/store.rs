// SPDX-License-Identifier: Apache-2.0
//! A cache on a disk, as folders and files:
//!
//! ```text
//! v1/requests/KEY/DIGEST      records of a request, each named by its digest
//! v1/entries/DIGEST/          an entry, named by the digest of its manifest
//!     manifest.json
//!     package.so  package.o  package.h  package.pyi  package.rs
//!     used                    changed when the entry was used last
//! v1/locks/NNN                who compiles holds a lock on one
//! v1/tmp/                     what is being written
//! v1/damaged/                 what was found damaged, until there is no room
//! ```
//!
//! A file under its final name is complete: it was written under another name, by somebody who had
//! it locked, and renamed. An entry that is used is locked by its users together; whoever removes
//! one has it alone, and renames it first.

use crate::disk;
use crate::entry::Entry;
use crate::folder;
use crate::manifest::{Artifact, Files, MANIFEST, Manifest};
use crate::memo;
use crate::record::Record;
use crate::request::{Key, hex};
use crate::warning::Remark;
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// The layout of the folders, and the form of what lies there.
const FORMAT: &str = "v1";
/// The most records of a request.
const MAX_RECORDS: usize = 16;
/// A time of use is not written again so soon.
const MINUTE: Duration = Duration::from_secs(60);
/// The file of an entry that has the time of its last use.
pub(crate) const USED: &str = "used";

/// A cache on a disk.
#[derive(Clone, Debug)]
pub(crate) struct Store {
    /// The folder that the user named.
    pub named: PathBuf,
    root: PathBuf,
    is_writable: bool,
}

/// Why an entry is not used.
#[derive(Debug)]
pub(crate) enum Unusable {
    /// There is none of that name, or it is being removed.
    Absent,
    /// It is not what was written.
    Damaged(Remark),
    /// It cannot be read now.
    Unread(Remark),
}

impl Store {
    /// The user's own, which is made where it is not there.
    pub fn own(named: &Path) -> Result<Store, Remark> {
        folder::make(named)?;
        Ok(Store { named: named.to_path_buf(), root: named.join(FORMAT), is_writable: true })
    }

    /// One that is only read. Nothing where there is nothing of this format.
    pub fn shipped(named: &Path) -> Result<Store, Remark> {
        folder::trust(named)?;
        Ok(Store { named: named.to_path_buf(), root: named.join(FORMAT), is_writable: false })
    }

    /// The folder of that name in it.
    pub fn folder(&self, name: &str) -> PathBuf {
        self.root.join(name)
    }

    /// The records of a request, the newest first, and those that are damaged.
    pub fn records(&self, key: Key) -> (Vec<Record>, Vec<Remark>) {
        self.records_in(&self.requests_of(key))
    }

    /// How many records of a request are as they were written, and those that are not.
    pub fn verify_records(&self, folder: &Path) -> (usize, Vec<Remark>) {
        let (records, remarks) = self.records_in(folder);
        (records.len(), remarks)
    }

    fn records_in(&self, folder: &Path) -> (Vec<Record>, Vec<Remark>) {
        let (mut records, mut remarks) = (Vec::<(_, Record)>::new(), Vec::new());
        if self.is_distrusted(folder) {
            return (vec![], remarks);
        }
        let listed = disk::list(folder);
        if let Err(error) = &listed
            && error.kind() == io::ErrorKind::PermissionDenied
        {
            let help = "let whoever runs this read it: `chmod -R go+rX` where it was made";
            remarks.push(Remark::unused(&self.named, &error.to_string(), help));
        }
        for path in listed.unwrap_or_default() {
            let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            let bytes = match disk::read(&path) {
                Err(error) if !is_other(&error) => continue,
                read => read.unwrap_or_default(),
            };
            match Record::decode(&bytes, &name) {
                Some(record) => records.push((modified(&path), record)),
                None => {
                    self.set_aside(&path);
                    remarks.push(Remark::damaged(&path, "its digest is another"));
                }
            }
        }
        records.sort_by_key(|(time, _)| std::cmp::Reverse(*time));
        (records.into_iter().map(|(_, record)| record).collect(), remarks)
    }

    /// An entry, which is verified, and in use from then on.
    pub fn open(&self, record: Record) -> Result<Entry, Unusable> {
        let path = self.folder("entries").join(&record.entry);
        if self.is_distrusted(&path) {
            return Err(Unusable::Absent);
        }
        let absent_or_unread = |error: io::Error| match error.kind() {
            io::ErrorKind::NotFound => Unusable::Absent,
            _ if is_other(&error) => {
                self.set_aside(&path);
                Unusable::Damaged(Remark::damaged(&path, "it is no folder"))
            }
            _ => Unusable::Unread(self.cannot_read(&error)),
        };
        let lock = disk::open_folder(&path).map_err(absent_or_unread)?;
        match disk::try_lock(&lock, false) {
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                return Err(Unusable::Absent);
            }
            // A file system without locks has nobody who removes what others use.
            _ => {}
        }
        if !self.is_still(&path, &lock) {
            return Err(Unusable::Absent);
        }
        let manifest = self.verified((&path, &lock), &record.entry, &[Artifact::SharedObject])?;
        self.note_use(&path);
        Ok(Entry::in_folder(path, Some(lock), manifest, record))
    }

    /// The manifest of an entry, which was opened, and whose files of these kinds are what it says.
    pub fn verified(
        &self,
        (path, opened): (&Path, &OwnedFd),
        name: &str,
        artifacts: &[Artifact],
    ) -> Result<Manifest, Unusable> {
        let damaged = |what: &str| {
            // Somebody may have found the same, and made it again.
            if self.is_still(path, opened) {
                self.set_aside(path);
            }
            Unusable::Damaged(Remark::damaged(path, what))
        };
        let missing_or_unread = |error: io::Error, file: &str| match error.kind() {
            io::ErrorKind::NotFound => damaged(&format!("it has no `{file}`")),
            _ if is_other(&error) => damaged(&format!("its `{file}` is no file")),
            _ => Unusable::Unread(self.cannot_read(&error)),
        };
        let bytes = disk::read(&path.join(MANIFEST));
        let bytes = bytes.map_err(|error| missing_or_unread(error, MANIFEST))?;
        let manifest = Manifest::decode(&bytes, name);
        let manifest = manifest.ok_or_else(|| damaged("the digest of its manifest is another"))?;
        for artifact in artifacts {
            let mark = manifest.mark(*artifact);
            let file = path.join(&mark.name);
            if self.is_distrusted(&file) {
                return Err(Unusable::Absent);
            }
            let digest = memo::digest_of(&file);
            let digest = digest.map_err(|error| missing_or_unread(error, &mark.name))?;
            if hex(&digest) != mark.sha256 {
                return Err(damaged(&format!("the digest of its `{}` is another", mark.name)));
            }
        }
        Ok(manifest)
    }

    /// Publishes an entry, which is in use from then on.
    pub fn publish(
        &self,
        files: &Files,
        manifest: &Manifest,
        record: &Record,
    ) -> io::Result<Entry> {
        let path = self.folder("entries").join(&record.entry);
        // The entry that is there may be damaged, and this one made to replace it.
        if let Ok(entry) = self.open(record.clone()) {
            return Ok(entry);
        }
        disk::make_folder(&self.folder("entries"))?;
        let draft = self.draft()?;
        disk::make_new_folder(&draft)?;
        let published = self.fill(&draft, files, manifest).and_then(|lock| {
            let renamed = disk::rename(&draft, &path);
            // Somebody was quicker, or what is there could not be read.
            renamed.map(|()| lock)
        });
        match published {
            Ok(lock) => Ok(Entry::in_folder(path, lock, manifest.clone(), record.clone())),
            Err(error) => {
                let _ = disk::remove_folder(&draft);
                self.open(record.clone()).map_err(|_| error)
            }
        }
    }

    /// Writes the files of an entry, locked as one that is used.
    fn fill(
        &self,
        draft: &Path,
        files: &Files,
        manifest: &Manifest,
    ) -> io::Result<Option<OwnedFd>> {
        let lock = disk::open_folder(draft)?;
        let is_locked = disk::try_lock(&lock, false).is_ok();
        for (artifact, bytes) in Artifact::ALL.iter().zip(files) {
            disk::write_new(&draft.join(artifact.file_name()), bytes)?;
        }
        disk::write_new(&draft.join(MANIFEST), &manifest.encode())?;
        disk::write_new(&draft.join(USED), b"")?;
        Ok(Some(lock).filter(|_| is_locked))
    }

    /// Writes a record of a request. Of many, the oldest go.
    pub fn write(&self, key: Key, record: &Record) -> io::Result<()> {
        let folder = self.requests_of(key);
        disk::make_folder(&folder)?;
        let bytes = record.encode();
        let path = folder.join(crate::request::digest(&bytes));
        let draft = self.draft()?;
        let written = disk::write_new(&draft, &bytes).and_then(|()| disk::rename(&draft, &path));
        if let Err(error) = written {
            let _ = disk::remove_file(&draft);
            return Err(error);
        }
        let mut others = disk::list(&folder).unwrap_or_default();
        others.retain(|other| *other != path);
        others.sort_by_key(|other| std::cmp::Reverse(modified(other)));
        others.iter().skip(MAX_RECORDS - 1).for_each(|other| _ = disk::remove_file(other));
        Ok(())
    }

    /// Takes what is damaged out of the way, so that it can be looked at. What is in use is too:
    /// its users have it open.
    pub fn set_aside(&self, path: &Path) {
        if !self.is_writable {
            return;
        }
        let there = self.folder("damaged");
        let moved =
            disk::make_folder(&there).and_then(|()| disk::rename(path, &there.join(unique_name())));
        if moved.is_err() {
            let _ = disk::remove_folder(path);
            let _ = disk::remove_file(path);
        }
    }

    /// Whether the path still leads to the folder that was opened.
    pub fn is_still(&self, path: &Path, opened: &OwnedFd) -> bool {
        let Ok(known) = rustix::fs::fstat(opened) else { return false };
        let there = disk::metadata(path);
        there.is_ok_and(|there| (there.dev(), there.ino()) == (known.st_dev, known.st_ino))
    }

    /// A path for what is being written.
    fn draft(&self) -> io::Result<PathBuf> {
        let folder = self.folder("tmp");
        disk::make_folder(&folder)?;
        Ok(folder.join(unique_name()))
    }

    fn requests_of(&self, key: Key) -> PathBuf {
        self.folder("requests").join(key.to_string())
    }

    /// Whether others may have put there what lies there. Of the user's own cache nobody has to
    /// ask: nobody else comes into its folder.
    fn is_distrusted(&self, path: &Path) -> bool {
        let mut paths = path.ancestors().take_while(|path| path.starts_with(&self.root));
        !self.is_writable
            && paths.any(|path| {
                disk::metadata(path).is_ok_and(|known| folder::distrust(&known).is_some())
            })
    }

    fn cannot_read(&self, error: &io::Error) -> Remark {
        let help = "see to the disk, or set KERNPACK_CACHE_DIR to another folder";
        Remark::unused(&self.named, &error.to_string(), help)
    }

    /// Notes that an entry is used, where that was not noted a moment ago.
    fn note_use(&self, entry: &Path) {
        let used = entry.join(USED);
        let now = SystemTime::now();
        let is_fresh = modified(&used).is_some_and(|time| {
            let apart = now.duration_since(time).unwrap_or_else(|error| error.duration());
            apart < MINUTE
        });
        if self.is_writable && !is_fresh {
            let _ = disk::set_time(&used, now);
        }
    }
}

/// Whether something else lies where a file or a folder should.
fn is_other(error: &io::Error) -> bool {
    use io::ErrorKind::{InvalidInput, IsADirectory, NotADirectory};
    matches!(error.kind(), InvalidInput | IsADirectory | NotADirectory)
}

/// When a file was changed; nothing where that cannot be seen. A time in the future is none: the
/// clock was wrong then, or is now.
pub(crate) fn modified(path: &Path) -> Option<SystemTime> {
    disk::metadata(path).and_then(|known| known.modified()).ok()
}

/// A name that nothing else has.
pub(crate) fn unique_name() -> String {
    static N_NAMES: AtomicU64 = AtomicU64::new(0);
    let number = N_NAMES.fetch_add(1, Ordering::Relaxed);
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    format!("{}-{:x}-{number}", std::process::id(), since.as_nanos())
}
