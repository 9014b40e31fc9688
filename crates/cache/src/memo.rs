// SPDX-License-Identifier: Apache-2.0
//! Digests of files that this process has read before: a file that has not changed since has the
//! same.
//!
//! A file system's clock is coarse, so that two changes may have one time. A file that was changed
//! within the last two seconds is read again.

use crate::disk;
use sha2::{Digest, Sha256};
use std::collections::HashMap;
use std::fs::Metadata;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::time::{SystemTime, UNIX_EPOCH};

/// For how many seconds a change counts as recent.
const RECENT: i64 = 2;
/// The most digests that are kept.
const MAX_KEPT: usize = 1 << 16;

/// A file as its file system tells it from others and from what it was before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Version {
    numbers: [u64; 3],
    times: [i64; 4],
}

impl Version {
    fn of(metadata: &Metadata) -> Version {
        Version {
            numbers: [metadata.dev(), metadata.ino(), metadata.size()],
            times: [
                metadata.mtime(),
                metadata.mtime_nsec(),
                metadata.ctime(),
                metadata.ctime_nsec(),
            ],
        }
    }

    /// Whether it may be another one now, with the same times.
    fn is_recent(&self) -> bool {
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let now = i64::try_from(since.as_secs()).unwrap_or(i64::MAX);
        self.times[0].max(self.times[2]) + RECENT >= now
    }
}

type Kept = HashMap<PathBuf, (Version, [u8; 32])>;

static KEPT: Mutex<Option<Kept>> = Mutex::new(None);

/// The SHA-256 of a file.
pub fn digest_of(path: &Path) -> io::Result<[u8; 32]> {
    let metadata = disk::metadata(path)?;
    if !metadata.is_file() {
        return Err(io::ErrorKind::InvalidInput.into());
    }
    let version = Version::of(&metadata);
    if let Some(known) = kept(path, version) {
        return Ok(known);
    }
    let digest = Sha256::digest(disk::read(path)?).into();
    // A file that changed meanwhile has no one digest.
    if !version.is_recent() && Version::of(&disk::metadata(path)?) == version {
        keep(path, version, digest);
    }
    Ok(digest)
}

// A forked child may find the lock held by a thread that it has not: then nothing is remembered.
fn kept(path: &Path, version: Version) -> Option<[u8; 32]> {
    let kept = KEPT.try_lock().ok()?;
    let (known, digest) = kept.as_ref()?.get(path)?;
    (*known == version).then_some(*digest)
}

fn keep(path: &Path, version: Version, digest: [u8; 32]) {
    if let Ok(mut kept) = KEPT.try_lock() {
        let kept = kept.get_or_insert_default();
        if kept.len() >= MAX_KEPT {
            kept.clear();
        }
        kept.insert(path.to_path_buf(), (version, digest));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn what_changed_has_another_digest_also_within_a_moment() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a");
        for text in ["one", "two", "six"] {
            std::fs::write(&path, text).unwrap();
            assert_eq!(digest_of(&path).unwrap(), <[u8; 32]>::from(Sha256::digest(text)));
        }
        assert!(digest_of(folder.path()).is_err());
    }

    #[test]
    fn what_is_old_is_not_read_again() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a");
        std::fs::write(&path, "one").unwrap();
        let version = Version::of(&path.metadata().unwrap());
        // Another test may hold the lock.
        let is_remembered = || {
            keep(&path, version, [7; 32]);
            digest_of(&path).unwrap() == [7; 32]
        };
        assert!((0..1000).any(|_| is_remembered()));
        disk::set_time(&path, SystemTime::now() - Duration::from_secs(100)).unwrap();
        assert_eq!(digest_of(&path).unwrap(), <[u8; 32]>::from(Sha256::digest("one")));
    }
}
