// SPDX-License-Identifier: Apache-2.0
//! Takes a digest of the sources of all that decides what a package becomes, so that another
//! kernpack has other keys, and the same kernpack the same ones however it was built.

use sha2::{Digest, Sha256};
use std::fs;
use std::path::{Path, PathBuf};

/// The crates that have a part in it, seen from here, and what pins the others.
const SOURCES: &[&str] = &[
    "../ffi-abi",
    "../syntax",
    "../validators",
    "../runtime",
    "../compiler",
    "src",
    "../../Cargo.lock",
    "../../rust-toolchain.toml",
];

fn main() {
    let mut files = Vec::new();
    for source in SOURCES.iter().map(Path::new) {
        println!("cargo::rerun-if-changed={}", source.display());
        collect(source, &mut files);
    }
    files.sort();
    let mut digest = Sha256::new();
    for file in files {
        let bytes = fs::read(&file).unwrap_or_default();
        digest.update(file.as_os_str().as_encoded_bytes());
        digest.update([0]);
        digest.update((bytes.len() as u64).to_le_bytes());
        digest.update(bytes);
    }
    println!("cargo::rustc-env=KERNPACK_SOURCES={:x}", digest.finalize());
}

/// Every file of a crate that gets into it: tests do not.
fn collect(path: &Path, files: &mut Vec<PathBuf>) {
    let Ok(entries) = fs::read_dir(path) else {
        files.push(path.to_path_buf());
        return;
    };
    for entry in entries.flatten().map(|entry| entry.path()) {
        if !entry.ends_with("tests") && !entry.ends_with("target") {
            collect(&entry, files);
        }
    }
}
