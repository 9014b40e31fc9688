// SPDX-License-Identifier: Apache-2.0
//! Takes a digest of the sources of all that decides what a package becomes, so that another
//! kernpack has other keys, and the same kernpack the same ones however it was built.
//!
//! Cargo says which crates those are: this one and all of the workspace that it depends on, their
//! build scripts' dependencies included. The list of files is kept for a test
//! (`src/tests/sources.rs`), which holds it against what git knows.
//!
//! Where this crate was packed, there is no workspace. Crates of ours depend on those of their own
//! release, by its exact version, so that what this crate has in its folder names that of all.

use serde_json::Value;
use sha2::{Digest, Sha256};
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Files of the workspace that pin what all crates are built with.
const PINS: &[&str] = &["Cargo.lock", "Cargo.toml", "rust-toolchain.toml"];

/// The manifest as it was written, which cargo adds to a package of a crate.
const PACKED: &str = "Cargo.toml.orig";

fn main() {
    let own = PathBuf::from(variable("CARGO_MANIFEST_DIR"));
    let (root, sources) = match own.join(PACKED).exists() {
        true => (own.clone(), vec![own]),
        false => workspace(own),
    };
    let mut files = Vec::new();
    for source in sources {
        println!("cargo::rerun-if-changed={}", source.display());
        collect(&source, &mut files);
    }
    let from_root = |file: &PathBuf| file.strip_prefix(&root).unwrap_or(file).to_path_buf();
    let mut files: Vec<_> = files.iter().map(from_root).collect();
    files.sort();
    let (mut digest, mut list) = (Sha256::new(), String::new());
    for file in files {
        let bytes = fs::read(root.join(&file)).unwrap_or_default();
        digest.update(file.as_os_str().as_encoded_bytes());
        digest.update([0]);
        digest.update((bytes.len() as u64).to_le_bytes());
        digest.update(bytes);
        list += &format!("{}\n", file.display());
    }
    println!("cargo::rustc-env=KERNPACK_SOURCES={:x}", digest.finalize());
    let list_path = Path::new(&variable("OUT_DIR")).join("sources.txt");
    fs::write(list_path, list).expect("cargo's folder for the script can be written to");
}

/// The root of the workspace, and the files and folders in it that decide.
fn workspace(own: PathBuf) -> (PathBuf, Vec<PathBuf>) {
    let metadata = metadata();
    let root = PathBuf::from(text(&metadata["workspace_root"]));
    let pins: Vec<_> = PINS.iter().map(|pin| root.join(pin)).collect();
    let sources = folders(&metadata, own).into_iter().chain(pins).collect();
    (root, sources)
}

/// Cargo's metadata of the crates of the workspace. Nothing else is resolved, and nothing fetched.
fn metadata() -> Value {
    let mut cargo = Command::new(variable("CARGO"));
    cargo.args(["metadata", "--format-version=1", "--no-deps", "--manifest-path"]);
    cargo.arg(Path::new(&variable("CARGO_MANIFEST_DIR")).join("Cargo.toml"));
    let output = cargo.output().expect("cargo runs");
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "`cargo metadata` failed: {said}");
    serde_json::from_slice(&output.stdout).expect("`cargo metadata` writes JSON")
}

/// The folders of a crate and of those in the workspace that it depends on, whatever the
/// features. What only tests depend on is not among them.
fn folders(metadata: &Value, own: PathBuf) -> BTreeSet<PathBuf> {
    let (mut found, mut waiting) = (BTreeSet::new(), vec![own]);
    while let Some(folder) = waiting.pop() {
        if !found.insert(folder.clone()) {
            continue;
        }
        let manifest = folder.join("Cargo.toml");
        let is_it = |package: &&Value| Path::new(text(&package["manifest_path"])) == manifest;
        let package = list(&metadata["packages"]).iter().find(is_it);
        let package = package.unwrap_or_else(|| panic!("no crate in `{}`", folder.display()));
        let needed = list(&package["dependencies"]).iter();
        let needed = needed.filter(|dependency| dependency["kind"] != "dev");
        waiting.extend(needed.filter_map(|dependency| dependency["path"].as_str()).map(Into::into));
    }
    found
}

/// Every file of a crate that gets into it: tests do not, and neither does what cargo made of it
/// where it was built by itself.
fn collect(path: &Path, files: &mut Vec<PathBuf>) {
    let Ok(entries) = fs::read_dir(path) else {
        files.push(path.to_path_buf());
        return;
    };
    for entry in entries.flatten().map(|entry| entry.path()) {
        let is_built = || entry.join("CACHEDIR.TAG").exists();
        if !entry.ends_with("tests") && !is_built() {
            collect(&entry, files);
        }
    }
}

fn variable(name: &str) -> String {
    std::env::var(name).unwrap_or_else(|_| panic!("cargo sets {name}"))
}

fn text(value: &Value) -> &str {
    value.as_str().expect("`cargo metadata` says it")
}

fn list(value: &Value) -> &[Value] {
    value.as_array().expect("`cargo metadata` says it")
}
