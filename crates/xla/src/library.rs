// SPDX-License-Identifier: Apache-2.0
//! Packages by digest: those that the process has loaded, and those that a program carries in
//! itself, whose bytes are loaded where the process does not have them yet.
//!
//! Bytes become a file in memory. The file stays open, and its name is written as nobody else
//! writes it: the dynamic loader would take a library of the same name for the same library. A
//! library stays loaded for the process, as the programs that call it do.

use crate::callee::{self, Callee};
use crate::failure::Failure;
use crate::layout::{DATA_LOSS, FAILED_PRECONDITION, INVALID_ARGUMENT, NOT_FOUND};
use kernpack_ffi_abi::libtvm_ffi::SafeCall;
use libloading::os::unix::{Library, RTLD_LOCAL, RTLD_NOW};
use rustix::fs::MemfdFlags;
use sha2::{Digest, Sha256};
use std::fmt::Write;
use std::fs::File;
use std::os::fd::{AsRawFd, IntoRawFd};
use std::sync::{Mutex, PoisonError};

/// The function of a key, and its package loaded from `bytes` where it is not known.
pub(crate) fn resolve(key: &[u8], bytes: &[u8]) -> Result<Callee, Failure> {
    match callee::find(key) {
        Some(callee) => Ok(callee),
        None => load(key, bytes),
    }
}

#[cold]
fn load(key: &[u8], bytes: &[u8]) -> Result<Callee, Failure> {
    let text = std::str::from_utf8(key).ok().and_then(|key| key.split_once('/'));
    let Some((digest, name)) = text else {
        return Err(Failure::plan("`key` is not a digest, a slash and a name"));
    };
    let callee = entry_point(digest, name, bytes)?;
    callee::add(key, callee);
    Ok(callee)
}

/// Has programs find the functions of a package that the process has loaded already.
pub(crate) fn know(digest: &str, library: Library) {
    let mut loaded = LOADED.lock().unwrap_or_else(PoisonError::into_inner);
    if loaded.iter().all(|(known, _)| known != digest) {
        loaded.push((digest.to_string(), library));
    } else {
        // The one that is known stays, and dropping this one would close its owner's.
        core::mem::forget(library);
    }
}

fn not_loaded(digest: &str, name: &str) -> Failure {
    let message = format_args!(
        "the package {digest} with `{name}` is not loaded in this process: load it with kernpack \
         before the program runs, or export the program with its packages (`kernpack.jax.export`)"
    );
    Failure::new(NOT_FOUND, message)
}

/// Every library that was loaded here, and those that Python has loaded, with their digests.
static LOADED: Mutex<Vec<(String, Library)>> = Mutex::new(Vec::new());

fn entry_point(digest: &str, name: &str, bytes: &[u8]) -> Result<Callee, Failure> {
    let mut loaded = LOADED.lock().unwrap_or_else(PoisonError::into_inner);
    let at = match loaded.iter().position(|(known, _)| known == digest) {
        Some(at) => at,
        None if bytes.is_empty() => return Err(not_loaded(digest, name)),
        None => {
            verify(digest, bytes)?;
            loaded.push((digest.to_string(), open(bytes)?));
            loaded.len() - 1
        }
    };
    symbol(&loaded[at].1, name).ok_or_else(|| {
        Failure::new(NOT_FOUND, format_args!("the package {digest} has no function `{name}`"))
    })
}

/// Refuses bytes that are not those which the program was traced with.
fn verify(digest: &str, bytes: &[u8]) -> Result<(), Failure> {
    let found = Sha256::digest(bytes).iter().fold(String::new(), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    });
    if found == digest {
        return Ok(());
    }
    let message = format_args!(
        "the program's copy of the package {digest} is damaged: its bytes have the digest {found}"
    );
    Err(Failure::new(DATA_LOSS, message))
}

#[expect(unsafe_code, reason = "runs what a package has to run when it is loaded")]
fn open(bytes: &[u8]) -> Result<Library, Failure> {
    let file = memory_file(bytes).map_err(|error| {
        Failure::new(FAILED_PRECONDITION, format_args!("cannot keep a package in memory: {error}"))
    })?;
    let path = format!("/proc/self/./fd/{}", file.as_raw_fd());
    // SAFETY: it is the package that the program was made with, as its digest says.
    let library = unsafe { Library::open(Some(path), RTLD_NOW | RTLD_LOCAL) };
    let library = library.map_err(|error| {
        Failure::new(INVALID_ARGUMENT, format_args!("cannot load a package: {error}"))
    })?;
    // The name must not come to mean another file.
    let _ = file.into_raw_fd();
    Ok(library)
}

fn memory_file(bytes: &[u8]) -> std::io::Result<File> {
    let mut file = File::from(rustix::fs::memfd_create("kernpack", MemfdFlags::CLOEXEC)?);
    std::io::Write::write_all(&mut file, bytes)?;
    Ok(file)
}

#[expect(unsafe_code, reason = "takes an entry point by its name")]
fn symbol(library: &Library, name: &str) -> Option<Callee> {
    let name = format!("__tvm_ffi_{name}");
    // SAFETY: a symbol of that name has this type, in every library for TVM-FFI.
    let found = unsafe { library.get::<SafeCall>(name.as_bytes()) };
    found.ok().map(|call| Callee::of_symbol(*call))
}
