// SPDX-License-Identifier: Apache-2.0
//! A folder with a package and a cache, removed afterwards.

use crate::cache::{Cache, Got};
use crate::settings::Settings;
use crate::{Artifact, Failure, Observer, Request};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use tempfile::TempDir;

/// A package of one function that a C file with a header has.
pub const SCALE: &str = r#"
[package]
name = "demo"
[[function]]
signature = "scale(x: Tensor([n], float32, mut))"
source = { host = "scale.c", include = ["first", "second"] }
kernel = "scale"
args = ["x", "n"]
"#;

/// A package of a function that only checks.
pub const CHECKS: &str = r#"
[package]
name = "checks"
[[function]]
signature = "check(x: Tensor([n], float32)) where n % 8 == 0"
"#;

const SCALE_C: &str = r#"
#include <stdint.h>
#include "factor.h"
void scale(float *x, int64_t n) { for (int64_t i = 0; i < n; i++) x[i] *= FACTOR; }
"#;

/// A folder with `pkg`, in which a package is, and `cache`.
pub struct Bench {
    pub folder: TempDir,
}

/// Counts how often something is compiled.
#[derive(Debug, Default)]
pub struct Count(AtomicUsize);

impl Observer for Count {
    fn compiling(&self) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }
}

impl Count {
    pub fn n_compiled(&self) -> usize {
        self.0.load(Ordering::Relaxed)
    }
}

impl Bench {
    /// One with the C file of [`SCALE`], whose header is in the second folder.
    pub fn new() -> Bench {
        let bench = Bench { folder: tempfile::tempdir().unwrap() };
        bench.write("pkg/scale.c", SCALE_C);
        bench.write("pkg/second/factor.h", "#define FACTOR 2\n");
        fs::create_dir_all(bench.path("pkg/first")).unwrap();
        bench
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub fn write(&self, name: &str, bytes: impl AsRef<[u8]>) {
        let path = self.path(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, bytes).unwrap();
    }

    pub fn settings(&self) -> Settings {
        Settings {
            folder: Some(self.path("cache")),
            shipped: None,
            is_forbidden: false,
            limit: 1 << 30,
            remarks: vec![],
        }
    }

    pub fn cache(&self) -> Cache {
        Cache::of(self.settings())
    }

    pub fn request(&self, text: &str) -> Request {
        Request::new("demo.toml", text, &self.path("pkg"))
    }

    /// Asks a cache that was opened anew.
    pub fn get(&self, text: &str) -> Result<Got, Failure> {
        self.cache().get(&self.request(text), &Count::default())
    }

    /// Whether [`SCALE`] is a hit.
    pub fn is_hit(&self) -> bool {
        let got = self.get(SCALE).unwrap();
        expect_loadable(&got);
        got.is_hit
    }

    /// The paths of all files in a folder of the cache.
    pub fn files(&self, name: &str) -> Vec<PathBuf> {
        let mut files = Vec::new();
        collect(&self.path("cache/v1").join(name), &mut files);
        files.sort();
        files
    }
}

fn collect(path: &Path, files: &mut Vec<PathBuf>) {
    for path in fs::read_dir(path).into_iter().flatten().map(|entry| entry.unwrap().path()) {
        if path.is_dir() { collect(&path, files) } else { files.push(path) }
    }
}

/// Expects an answer with the bytes of its digest.
pub fn expect_loadable(got: &Got) {
    let bytes = fs::read(got.entry.path(Artifact::SharedObject)).unwrap();
    assert_eq!(crate::request::digest(&bytes), got.entry.digest());
    assert!(bytes.starts_with(b"\x7fELF"));
}

/// The messages of what is told.
pub fn told(got: &Got) -> Vec<String> {
    got.told.diagnostics.0.iter().map(|diagnostic| diagnostic.message.clone()).collect()
}
