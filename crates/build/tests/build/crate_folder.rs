// SPDX-License-Identifier: Apache-2.0
//! A crate that is being built: its folder, the folder for what its build script makes, and the
//! stand-in for the program. Each test has its own.

use crate::object_file::{object_with, record};
use expect_test::Expect;
use kernpack_build::{Built, Environment, Error, Package, Prebuilt, package, prebuilt};
use serde_json::{Value, json};
use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use tempfile::TempDir;

/// The folders `crate`, `out` and `bin`, the last with a program that builds the package `norm` of
/// `norm.toml`.
pub struct CrateFolder {
    root: TempDir,
    variables: Vec<(&'static str, String)>,
}

impl CrateFolder {
    pub fn new() -> CrateFolder {
        let root = tempfile::tempdir().unwrap();
        for name in ["crate", "out", "bin"] {
            fs::create_dir(root.path().join(name)).unwrap();
        }
        let mut folder = CrateFolder { root, variables: vec![] };
        folder.set("OUT_DIR", &folder.path("out"));
        folder.set("CARGO_MANIFEST_DIR", &folder.path("crate"));
        folder.set("TARGET", "x86_64-unknown-linux-gnu");
        folder.set("PATH", &format!("{}:/usr/bin:/bin", folder.path("bin")));
        folder.add_program("bin");
        folder.write("crate/norm.toml", "");
        folder
    }

    /// Puts the stand-in into a folder, where it builds `norm`.
    pub fn add_program(&self, folder: &str) {
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/build/stand_in.sh");
        symlink(script, self.path(&format!("{folder}/kernpack"))).unwrap();
        let version = format!("kernpack {}\n", env!("CARGO_PKG_VERSION"));
        self.write(&format!("{folder}/version"), version);
        self.write(&format!("{folder}/object"), object_with(&[record("norm")]));
        self.write(&format!("{folder}/functions"), "pub fn norm() {}\n");
        let answer = json!({
            "package": "norm", "target": "x86_64-linux-gnu", "outputs": [],
            "inputs": ["norm.toml", "/usr/include/math.h"], "warnings": [],
        });
        self.write(&format!("{folder}/answer"), answer.to_string());
        self.write(&format!("{folder}/stderr"), "");
        self.write(&format!("{folder}/status"), "0");
    }

    /// The program's answer, and its exit code.
    pub fn answer(&self, answer: &Value, status: &str) {
        self.write("bin/answer", answer.to_string());
        self.write("bin/status", status);
    }

    pub fn set(&mut self, name: &'static str, value: &str) {
        self.unset(name);
        self.variables.push((name, value.to_string()));
    }

    pub fn unset(&mut self, name: &str) {
        self.variables.retain(|(known, _)| *known != name);
    }

    pub fn path(&self, name: &str) -> String {
        self.root.path().join(name).display().to_string()
    }

    pub fn write(&self, name: &str, bytes: impl AsRef<[u8]>) {
        let path = PathBuf::from(self.path(name));
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, bytes).unwrap();
    }

    pub fn read(&self, name: &str) -> String {
        fs::read_to_string(self.path(name)).unwrap()
    }

    /// The names in the folder for what is made, in order.
    pub fn made(&self) -> Vec<String> {
        let entries = fs::read_dir(self.path("out")).unwrap();
        let name_of = |entry: fs::DirEntry| entry.file_name().into_string().unwrap();
        let mut names: Vec<_> = entries.map(|entry| name_of(entry.unwrap())).collect();
        names.sort();
        names
    }

    pub fn package(&self, file: &str) -> Package {
        package(file).environment(self.environment())
    }

    pub fn prebuilt(&self, file: &str) -> Prebuilt {
        prebuilt(file).environment(self.environment())
    }

    fn environment(&self) -> Environment {
        self.variables.iter().cloned().collect()
    }

    /// Holds what cargo is told of a package against what is expected.
    #[track_caller]
    pub fn expect_built(&self, outcome: Result<Built, Error>, expected: &Expect) {
        let built = outcome.unwrap_or_else(|error| panic!("{error}"));
        expected.assert_eq(&self.shown(&built.lines.join("\n")));
    }

    /// Holds a problem against what is expected. Nothing was made then, nor is anything left.
    #[track_caller]
    pub fn expect_problem(&self, outcome: Result<Built, Error>, expected: &Expect) {
        let error = outcome.expect_err("a problem");
        expected.assert_eq(&self.shown(&error.to_string()));
        assert_eq!(self.made(), [""; 0]);
    }

    /// A text in which the test's own folder is `ROOT`, and the version is `VERSION`.
    pub fn shown(&self, text: &str) -> String {
        let text = text.replace(&self.path(""), "ROOT/");
        text.replace(env!("CARGO_PKG_VERSION"), "VERSION")
    }
}
