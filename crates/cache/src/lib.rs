// SPDX-License-Identifier: Apache-2.0
//! The compile cache: a package file goes in, a shared object that can be loaded comes out, and it
//! is compiled only where nothing on the disk is known to be the same.
//!
//! ```text
//! Request ──key──▶ records ── all files and compilers as they were? ──▶ entry ──verified──▶ Got
//!                     │ none
//!                     └─ lock ─ compile ─ publish entry ─ write record ─▶ Got
//! ```
//!
//! It takes two steps, as what a package is made of is not known before it is read. The
//! [`Request`] makes a key without opening a file. Under the key stand records, each of
//! one compilation: the files that were read with their digests, the places where a header was
//! looked for in vain, the compilers, and the entry that came of it. A record holds where all of
//! that is as it was. Where a compiler is not to be found, nothing else could be made and the entry
//! stands: so neither NVRTC nor a C compiler is needed for what was compiled before.
//!
//! An [entry](Entry) is a folder of files that is complete and correct or is not used: it appears
//! by being renamed, its name is a digest of its manifest, which has those of its files, and they
//! are compared before a path is handed out. Whoever looks takes no lock that another waits for,
//! and writes nothing but the time. Whoever compiles holds a lock that goes with the process.
//!
//! ```no_run
//! use kernpack_cache::{Artifact, Cache, Request, Silent};
//! use std::path::Path;
//!
//! let text = std::fs::read_to_string("pkg/norm.toml")?;
//! let got = Cache::from_env().get(&Request::new("norm.toml", text, Path::new("pkg")), &Silent)?;
//! let path = got.entry.path(Artifact::SharedObject);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Whatever goes wrong with the disk is a warning, and the package is compiled and kept in memory.
//! Not here: any drawing of what is told, and anything of Python.
//!
//! # Where things live
//!
//! `request.rs` is what is asked for, and the key that names it; `cache.rs` is the order in which
//! an answer is looked for. A record (`record.rs`) is what one compilation depended on, and says
//! whether all of it is as it was (`memo.rs` remembers digests of files) and whom its code serves.
//! An entry (`entry.rs`, `manifest.rs`) is the files that came of it, in a folder or in memory
//! (`memory.rs`). `store.rs` is how both lie on a disk, `folder.rs` which folders may be used,
//! `lock.rs` who may compile, `eviction.rs` what goes, and `maintenance.rs` what people do with it
//! on purpose. `settings.rs` reads the environment, `compile.rs` calls the compiler, `warning.rs`
//! has diagnostics as records keep them. `docs/cache.md` is what users see of it.
//!
//! Invariants, besides those of ARCHITECTURE.md:
//! * whoever finds what he wants waits for nobody and writes nothing but the time of its use.
//! * it draws nothing and prints nothing: what there is to be said comes with the answer.

mod cache;
mod compile;
mod disk;
mod entry;
mod eviction;
mod failure;
mod folder;
mod lock;
mod maintenance;
mod manifest;
mod memo;
mod memory;
mod observer;
mod record;
mod request;
mod settings;
mod store;
mod warning;

#[cfg(test)]
mod tests;

pub use cache::{Cache, Got};
pub use entry::Entry;
pub use failure::Failure;
pub use maintenance::{Cleared, Shown, Verified};
pub use manifest::Artifact;
pub use observer::{Observer, Silent};
pub use record::Record;
pub use request::{Request, Wanted};
