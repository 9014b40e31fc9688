// SPDX-License-Identifier: Apache-2.0
//! Eviction, where there is too much: of entries that were not used for the longest time, never one
//! that is in use, and of what killed processes left.
//!
//! Times are those of `used`. One in the future is of a clock that was wrong, and counts as now.

use crate::disk;
use crate::store::{Store, USED, modified, unique_name};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// The most requests of which there are records.
const MAX_REQUESTS: usize = 1 << 15;
/// How old a file must be that is being written, to be one of a process that is no more.
const ABANDONED: Duration = Duration::from_secs(3600);

/// An entry as it lies on the disk.
#[derive(Debug)]
pub(crate) struct Kept {
    pub path: PathBuf,
    pub bytes: u64,
    pub used: SystemTime,
}

/// Removes entries until they take at most so many bytes, save those that were just made.
pub(crate) fn shrink(store: &Store, limit: u64, newest: &[String]) {
    let mut entries = entries(store);
    let mut total: u64 = entries.iter().map(|entry| entry.bytes).sum();
    total += bytes_of(&store.folder("damaged"));
    if total > limit {
        let damaged = store.folder("damaged");
        total -= bytes_of(&damaged);
        let _ = disk::remove_folder(&damaged);
    }
    entries.sort_by_key(|entry| entry.used);
    entries.retain(|entry| !newest.iter().any(|newest| entry.path.ends_with(newest)));
    for entry in entries {
        if total <= limit {
            break;
        }
        if remove(store, &entry.path) {
            total -= entry.bytes;
        }
    }
    sweep(store);
}

/// Every entry.
pub(crate) fn entries(store: &Store) -> Vec<Kept> {
    let paths = disk::list(&store.folder("entries")).unwrap_or_default();
    let now = SystemTime::now();
    let kept = |path: PathBuf| {
        let used = modified(&path.join(USED)).unwrap_or(UNIX_EPOCH).min(now);
        Kept { bytes: bytes_of(&path), used, path }
    };
    paths.into_iter().map(kept).collect()
}

/// Removes an entry, if nobody uses it.
pub(crate) fn remove(store: &Store, path: &Path) -> bool {
    let Ok(folder) = disk::open_folder(path) else { return false };
    if disk::try_lock(&folder, true).is_err() || !store.is_still(path, &folder) {
        return false;
    }
    // Under another name nobody finds it while it goes.
    let there = store.folder("tmp").join(unique_name());
    let renamed = disk::make_folder(&store.folder("tmp")).and_then(|()| disk::rename(path, &there));
    renamed.is_ok_and(|()| disk::remove_folder(&there).is_ok())
}

/// Removes what processes left that were killed, and the oldest requests where there are too many.
pub(crate) fn sweep(store: &Store) {
    for path in disk::list(&store.folder("tmp")).unwrap_or_default() {
        let Ok(metadata) = disk::metadata(&path) else { continue };
        if metadata.is_dir() {
            // Whoever fills it has it locked.
            let folder = disk::open_folder(&path);
            let is_old = is_older(&path, Duration::from_secs(10));
            if is_old && folder.is_ok_and(|folder| disk::try_lock(&folder, true).is_ok()) {
                let _ = disk::remove_folder(&path);
            }
        } else if is_older(&path, ABANDONED) {
            let _ = disk::remove_file(&path);
        }
    }
    let mut requests = disk::list(&store.folder("requests")).unwrap_or_default();
    if requests.len() > MAX_REQUESTS {
        requests.sort_by_key(|path| modified(path));
        let n_excess = requests.len() - MAX_REQUESTS / 2;
        requests.iter().take(n_excess).for_each(|path| _ = disk::remove_folder(path));
    }
}

fn is_older(path: &Path, age: Duration) -> bool {
    let Some(time) = modified(path) else { return false };
    let apart = SystemTime::now().duration_since(time);
    // A time of the future was written by a clock that is wrong: it is as old as can be told.
    apart.unwrap_or_else(|error| error.duration()) > age
}

/// The bytes of all files in a folder, those in folders below it included.
fn bytes_of(path: &Path) -> u64 {
    let bytes = |path: &PathBuf| match disk::metadata(path) {
        Ok(metadata) if metadata.is_dir() => bytes_of(path),
        Ok(metadata) => metadata.len(),
        Err(_) => 0,
    };
    disk::list(path).unwrap_or_default().iter().map(bytes).sum()
}
