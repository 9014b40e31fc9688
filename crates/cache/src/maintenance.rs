// SPDX-License-Identifier: Apache-2.0
//! Looking after the cache on purpose: what is in it, all of it removed, all of it verified.

use crate::cache::Cache;
use crate::disk;
use crate::eviction::{self, Kept};
use crate::manifest::{Artifact, MANIFEST, Manifest};
use crate::store::{Store, Unusable};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

/// An entry, for people.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shown {
    /// Where it lies.
    pub path: PathBuf,
    /// The name of its package; nothing where its manifest is damaged.
    pub package: Option<String>,
    /// The functions that were described.
    pub functions: Vec<String>,
    /// The architectures that there is code for, of what was CUDA C++.
    pub archs: Vec<String>,
    /// The bytes of its files.
    pub bytes: u64,
    /// When it was used last.
    pub used: SystemTime,
    /// Whether it is read only: from the second cache.
    pub is_shipped: bool,
}

/// The outcome of emptying a cache.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Cleared {
    /// How many entries were removed.
    pub n_removed: usize,
    /// How many bytes they took.
    pub bytes: u64,
    /// The entries that are in use, or that could not be removed, and stay.
    pub kept: Vec<PathBuf>,
}

/// The outcome of verifying a cache.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Verified {
    /// How many entries and records are as they were written.
    pub n_good: usize,
    /// The damage of others: they are set aside, where they can be.
    pub damaged: Vec<String>,
}

impl Cache {
    /// The folders that are used, the one that is written to first.
    pub fn folders(&self) -> Vec<&Path> {
        self.own.iter().chain(&self.shipped).map(|store| &*store.named).collect()
    }

    /// The folder that is written to; none where the cache is off, or nothing can be written.
    pub fn own_folder(&self) -> Option<&Path> {
        self.own.as_ref().map(|store| &*store.named)
    }

    /// Every entry, the one that was used last first.
    pub fn show(&self) -> Vec<Shown> {
        let own = self.own.iter().map(|store| (store, false));
        let stores = own.chain(self.shipped.iter().map(|store| (store, true)));
        let mut shown: Vec<_> = stores
            .flat_map(|(store, is_shipped)| {
                eviction::entries(store).into_iter().map(move |kept| shown(kept, is_shipped))
            })
            .collect();
        shown.sort_by_key(|shown| std::cmp::Reverse(shown.used));
        shown
    }

    /// Removes every entry that is not in use, and all records of what was removed.
    pub fn clear(&self) -> Cleared {
        let mut cleared = Cleared::default();
        let Some(store) = &self.own else { return cleared };
        for Kept { path, bytes, .. } in eviction::entries(store) {
            if eviction::remove(store, &path) {
                cleared.n_removed += 1;
                cleared.bytes += bytes;
            } else {
                cleared.kept.push(path);
            }
        }
        let _ = disk::remove_folder(&store.folder("damaged"));
        // Whoever uses an entry that stays can have it found again by compiling.
        if cleared.kept.is_empty() {
            let _ = disk::remove_folder(&store.folder("requests"));
        }
        eviction::sweep(store);
        cleared
    }

    /// Reads every entry and every record whole, and sets those aside that are not what was
    /// written.
    pub fn verify(&self) -> Verified {
        let mut verified = Verified::default();
        for store in self.own.iter().chain(&self.shipped) {
            verify_entries(store, &mut verified);
            verify_records(store, &mut verified);
        }
        verified
    }
}

fn verify_entries(store: &Store, verified: &mut Verified) {
    for path in disk::list(&store.folder("entries")).unwrap_or_default() {
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let Ok(folder) = disk::open_folder(&path) else { continue };
        match store.verified((&path, &folder), &name, &Artifact::ALL) {
            Ok(_) => verified.n_good += 1,
            Err(Unusable::Damaged(remark) | Unusable::Unread(remark)) => {
                verified.damaged.push(remark.diagnostic.message);
            }
            Err(Unusable::Absent) => {}
        }
    }
}

fn verify_records(store: &Store, verified: &mut Verified) {
    for request in disk::list(&store.folder("requests")).unwrap_or_default() {
        let (n_good, remarks) = store.verify_records(&request);
        verified.n_good += n_good;
        verified.damaged.extend(remarks.into_iter().map(|remark| remark.diagnostic.message));
    }
}

fn shown(kept: Kept, is_shipped: bool) -> Shown {
    let Kept { path, bytes, used } = kept;
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let manifest = disk::read(&path.join(MANIFEST)).ok();
    let manifest = manifest.and_then(|bytes| Manifest::decode(&bytes, &name));
    let (package, functions, archs) = match manifest {
        Some(Manifest { package, functions, archs, .. }) => (Some(package), functions, archs),
        None => (None, vec![], vec![]),
    };
    Shown { path, package, functions, archs, bytes, used, is_shipped }
}
