// SPDX-License-Identifier: Apache-2.0
//! Asking for a package: what is known is looked at, and only then is anything compiled.

use crate::compile::{self, Made};
use crate::entry::Entry;
use crate::eviction;
use crate::failure::{Failure, Forbidden};
use crate::lock::Leave;
use crate::observer::Observer;
use crate::record::{Compilers, Record};
use crate::request::{Key, Request, Wanted};
use crate::settings::Settings;
use crate::store::{Store, Unusable};
use crate::warning::{Remark, Stored, name_held};
use kernpack_process::fork::{self, Inside};
use kernpack_syntax::{Diagnostic, Texts, Told};
use std::io;
use std::sync::{Mutex, PoisonError};

/// The cache that the environment describes. Where it has grown beyond its limit, it is made
/// smaller as this is dropped: whoever waits for an answer need not wait for that.
#[derive(Debug)]
pub struct Cache {
    pub(crate) own: Option<Store>,
    pub(crate) shipped: Option<Store>,
    is_forbidden: bool,
    limit: u64,
    /// The entries that were published.
    published: Mutex<Vec<String>>,
    /// Remarks that the next answer brings.
    remarks: Mutex<Vec<Remark>>,
}

/// A package that was asked for.
#[derive(Clone, Debug)]
pub struct Got {
    /// Its files.
    pub entry: Entry,
    /// Whether it was there already.
    pub is_hit: bool,
    /// Diagnostics, those of its compilation among them.
    pub told: Told,
}

/// A search for a request's entry, with the findings on the way.
struct Search<'r> {
    request: &'r Request,
    key: Key,
    compilers: Compilers,
    /// Why records do not serve.
    reasons: Vec<String>,
}

impl Cache {
    /// The cache that the variables of the environment describe: `KERNPACK_CACHE`,
    /// `KERNPACK_CACHE_DIR`, `KERNPACK_CACHE_READONLY`, `KERNPACK_CACHE_SIZE` and `KERNPACK_JIT`.
    /// The first answer says what is wrong with them.
    pub fn from_env() -> Cache {
        Cache::of(Settings::of(&|name| std::env::var_os(name)))
    }

    /// No cache: everything is compiled, and kept in memory.
    pub fn off() -> Cache {
        Cache::of(Settings::of(&|name| (name == "KERNPACK_CACHE").then(|| "off".into())))
    }

    pub(crate) fn of(settings: Settings) -> Cache {
        let Settings { folder, shipped, is_forbidden, limit, mut remarks } = settings;
        let mut usable =
            |store: Result<Store, Remark>| store.map_err(|remark| remarks.push(remark)).ok();
        let own = folder.and_then(|folder| usable(Store::own(&folder)));
        let shipped = shipped.and_then(|folder| usable(Store::shipped(&folder)));
        let (published, remarks) = (Mutex::default(), Mutex::new(remarks));
        Cache { own, shipped, is_forbidden, limit, published, remarks }
    }

    /// The same, in which compiling is allowed whatever the environment says: for whoever is asked
    /// to compile ahead of time.
    pub fn and_compile(mut self) -> Cache {
        self.is_forbidden = false;
        self
    }

    /// The package that is asked for, from the cache or compiled.
    ///
    /// # Errors
    /// Where it cannot be had.
    pub fn get(&self, request: &Request, observer: &dyn Observer) -> Result<Got, Failure> {
        let _span = tracing::info_span!("cache").entered();
        let _inside = Inside::enter();
        let mut search = Search {
            request,
            key: request.key(),
            compilers: Compilers::of(request.target),
            reasons: vec![],
        };
        if let Some(entry) = self.look(&mut search) {
            return Ok(self.got(&search, entry, true));
        }
        if self.is_forbidden {
            return Err(self.forbidden(search));
        }
        let _leave = match &self.own {
            None => None,
            Some(store) => {
                let folder = store.folder("locks");
                let leave = fork::paused(|| Leave::wait(&folder, search.key, observer))?;
                // Somebody may have done it meanwhile.
                if let Some(entry) = self.look(&mut search) {
                    return Ok(self.got(&search, entry, true));
                }
                Some(leave)
            }
        };
        if observer.is_cancelled() {
            return Err(Failure::Cancelled);
        }
        observer.compiling();
        let made = compile::make(request, &search.compilers)?;
        let entry = self.keep(search.key, made).map_err(Failure::Memory)?;
        Ok(self.got(&search, entry, false))
    }

    /// An entry that serves, where there is one.
    fn look(&self, search: &mut Search<'_>) -> Option<Entry> {
        let _span = tracing::debug_span!("look").entered();
        search.reasons.clear();
        let stores = self.own.iter().chain(&self.shipped);
        let records: Vec<_> =
            stores.map(|store| (store, self.records(store, search.key))).collect();
        let found = records.iter().find_map(|(store, of)| self.serve(store, of, search, false));
        if found.is_some() || !matches!(search.request.archs, Wanted::Devices(_)) {
            return found;
        }
        search.reasons.clear();
        records.iter().find_map(|(store, of)| self.serve(store, of, search, true))
    }

    fn records(&self, store: &Store, key: Key) -> Vec<Record> {
        let (records, remarks) = store.records(key);
        remarks.into_iter().for_each(|remark| self.remark(remark));
        records
    }

    /// The first entry of these records that serves.
    fn serve(
        &self,
        store: &Store,
        records: &[Record],
        search: &mut Search<'_>,
        is_ptx_enough: bool,
    ) -> Option<Entry> {
        for record in records {
            let Request { archs, base, .. } = search.request;
            let is_ptx_enough =
                is_ptx_enough && (self.is_forbidden || record.is_of_the_past(&search.compilers));
            let reason = record
                .lacks(archs, is_ptx_enough)
                .or_else(|| record.changes(base, &search.compilers));
            if let Some(reason) = reason {
                search.reasons.push(reason);
                continue;
            }
            match store.open(record.clone()) {
                Ok(entry) => return Some(entry),
                Err(Unusable::Absent) => search.reasons.push("its files were removed".to_string()),
                Err(Unusable::Damaged(remark) | Unusable::Unread(remark)) => {
                    search.reasons.push(remark.diagnostic.message.clone());
                    self.remark(remark);
                }
            }
        }
        None
    }

    /// Has what was compiled stay: in the cache, or else in memory.
    fn keep(&self, key: Key, made: Made) -> io::Result<Entry> {
        let _span = tracing::debug_span!("keep").entered();
        let Made { files, manifest, record, is_settled } = made;
        if let Some(store) = &self.own {
            match store.publish(&files, &manifest, &record) {
                Ok(entry) => {
                    let written = if is_settled { store.write(key, &record) } else { Ok(()) };
                    written.unwrap_or_else(|error| self.remark(unwritten(store, &error)));
                    self.published(record.entry);
                    return Ok(entry);
                }
                Err(error) => self.remark(unwritten(store, &error)),
            }
        }
        Entry::in_memory(&files, manifest, record)
    }

    fn got(&self, search: &Search<'_>, entry: Entry, is_hit: bool) -> Got {
        let request = search.request;
        let mut texts = Texts::default();
        let id = texts.add(&request.name, &request.text);
        let record = entry.record();
        let kept = match request.archs {
            Wanted::Archs(_) => &record.kept[..],
            Wanted::Written | Wanted::Devices(_) => &[],
        };
        let mut again = |stored: &Stored| {
            let mut warning = stored.diagnostic(&mut texts, id, request);
            name_held(&mut warning, request);
            warning
        };
        let warnings: Vec<_> = kept.iter().chain(&record.warnings).map(&mut again).collect();
        let told = Told::of(&request.name, texts).and(self.said()).and(warnings);
        Got { entry, is_hit, told }
    }

    fn forbidden(&self, search: Search<'_>) -> Failure {
        let held = search.request.held.below(&search.request.base);
        let reading = search.request.package_text().read(&mut Texts::default(), &held);
        let mut reasons = search.reasons;
        if reasons.is_empty() {
            reasons.push("nothing is known of this text and the files that go with it".to_string());
        }
        reasons.extend(self.said().into_iter().map(|remark| remark.message));
        let stores = self.own.iter().chain(&self.shipped);
        Failure::Forbidden(Forbidden {
            package: reading.package.name.clone(),
            functions: compile::functions(&reading.package),
            reasons,
            folders: stores.map(|store| format!("`{}`", store.named.display())).collect(),
        })
    }

    /// Remarks on the cache itself, which are not made again in this process.
    pub fn told(&self) -> Told {
        Told::of("the cache", Texts::default()).and(self.said())
    }

    fn published(&self, entry: String) {
        // A forked child may find the lock held by a thread that it has not.
        if let Ok(mut published) = self.published.try_lock() {
            published.push(entry);
        }
    }

    fn remark(&self, remark: Remark) {
        // A forked child may find the lock held by a thread that it has not.
        if let Ok(mut remarks) = self.remarks.try_lock() {
            remarks.push(remark);
        }
    }

    /// Remarks on the cache itself, which are not made again.
    fn said(&self) -> Vec<Diagnostic> {
        let remarks = self.remarks.try_lock().map(|mut remarks| std::mem::take(&mut *remarks));
        remarks.unwrap_or_default().into_iter().filter_map(Remark::once).collect()
    }
}

impl Drop for Cache {
    fn drop(&mut self) {
        let published = self.published.get_mut().unwrap_or_else(PoisonError::into_inner);
        if let Some(store) = self.own.as_ref().filter(|_| !published.is_empty()) {
            eviction::shrink(store, self.limit, published);
        }
    }
}

/// The remark that nothing can be written.
fn unwritten(store: &Store, error: &io::Error) -> Remark {
    let help =
        "see to the disk, or set KERNPACK_CACHE_DIR to another folder, or KERNPACK_CACHE=off";
    let reason = format!("it cannot be written: {error}");
    Remark::unused(&store.named, &reason, help)
}
