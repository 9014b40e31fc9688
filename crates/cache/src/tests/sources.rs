// SPDX-License-Identifier: Apache-2.0
//! The digest of kernpack's own sources is of all that decides what a package becomes.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The files that the build script took the digest of, from the root of the repository.
const COVERED: &str = include_str!(concat!(env!("OUT_DIR"), "/sources.txt"));

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap()
}

fn output(command: &mut Command) -> Vec<u8> {
    let output = command.current_dir(root()).output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{command:?}: {said}");
    output.stdout
}

/// The folders of the crates that are linked into a kernpack that asks this cache, or into what
/// builds it, from the root: as cargo resolves them. (`cargo metadata` would have to fetch what
/// other systems need.)
fn crates() -> BTreeSet<String> {
    let mut cargo = Command::new(env!("CARGO"));
    cargo.args(["tree", "--package=kernpack-cache", "--edges=normal,build", "--all-features"]);
    cargo.args(["--prefix=none", "--format={p}", "--offline", "--locked"]);
    let tree = String::from_utf8(output(&mut cargo)).unwrap();
    let folder = |line: &str| {
        let place = line.split_once(" (")?.1.split(')').next()?;
        let folder = Path::new(place).strip_prefix(root()).ok()?;
        Some(folder.to_str().unwrap().to_string())
    };
    tree.lines().filter_map(folder).collect()
}

/// Every file that git knows or would take in below these folders, but for tests.
fn files(folders: &BTreeSet<String>) -> BTreeSet<String> {
    let mut git = Command::new("git");
    git.args(["ls-files", "--cached", "--others", "--exclude-standard", "--"]).args(folders);
    let listed = String::from_utf8(output(&mut git)).unwrap();
    let is_there = |file: &&str| root().join(file).exists();
    let is_test = |file: &&str| file.contains("/tests/");
    listed.lines().filter(is_there).filter(|file| !is_test(file)).map(str::to_string).collect()
}

#[test]
fn the_digest_covers_every_crate_that_the_compiler_depends_on() {
    let crates = crates();
    for known in
        ["cache", "codegen", "compiler", "package", "kernel-ir", "kernel-lang", "layout", "runtime"]
    {
        assert!(crates.contains(&format!("crates/{known}")), "{known} of {crates:?}");
    }
    let covered: BTreeSet<_> = COVERED.lines().map(str::to_string).collect();
    let pins = ["Cargo.lock", "Cargo.toml", "rust-toolchain.toml"].map(str::to_string);
    let expected: BTreeSet<_> = files(&crates).into_iter().chain(pins).collect();
    let missing: Vec<_> = expected.difference(&covered).collect();
    assert!(missing.is_empty(), "changed without another key: {missing:?}");
    for kind in [".rs", ".kir", "prelude.h", "link.cpp", "build.rs", "glibc.txt"] {
        assert!(covered.iter().any(|file| file.ends_with(kind)), "{kind}");
    }
}

#[test]
fn no_source_takes_in_a_file_that_the_digest_leaves_out() {
    let covered: BTreeSet<_> = COVERED.lines().collect();
    let ways = ["#[path = \"", "include_str!(\"", "include_bytes!(\"", "include!(\""];
    let mut n_found = 0;
    for file in covered.iter().filter(|file| file.ends_with(".rs")) {
        let text = std::fs::read_to_string(root().join(file)).unwrap();
        for taken in ways.iter().flat_map(|way| text.split(way).skip(1)) {
            let name = taken.split('"').next().unwrap();
            let path = root().join(file).parent().unwrap().join(name);
            // A text that only looks like it, as above.
            let Ok(path) = path.canonicalize() else { continue };
            let path = path.strip_prefix(root()).unwrap().to_str().unwrap();
            let is_test = path.contains("/tests/");
            assert!(is_test || covered.contains(path), "{file} takes in {path}");
            n_found += 1;
        }
    }
    assert!(n_found > 3, "{n_found}");
}
