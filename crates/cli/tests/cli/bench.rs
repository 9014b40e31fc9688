// SPDX-License-Identifier: Apache-2.0
//! A folder to run the program in.

use expect_test::Expect;
use std::ffi::OsStr;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::process::{Command, Output};
use tempfile::TempDir;

/// The program.
pub const KERNPACK: &str = env!("CARGO_BIN_EXE_kernpack");

/// A package that needs no C compiler, for any target: a function that only checks.
pub const CHECKS: &str = r#"
[package]
name = "checks"
[[function]]
signature = "check(x: Tensor([n], float32)) where n % 8 == 0"
"#;

/// A package of one function, which a C file has.
pub const ONE: &str = r#"
[package]
name = "one"
[[function]]
signature = "one(x: Tensor([n], float32, mut))"
source = { host = "one.c" }
kernel = "one"
args = ["x"]
"#;

/// An empty folder and an empty cache, removed afterwards.
pub struct Bench {
    folder: TempDir,
    cache: TempDir,
}

/// The outcome of a run of the program.
pub struct Ran {
    /// The exit code.
    pub code: Option<i32>,
    /// The standard output.
    pub stdout: String,
    /// The standard error.
    pub stderr: String,
}

impl Bench {
    /// An empty folder.
    pub fn new() -> Bench {
        let [folder, cache] = [(); 2].map(|()| tempfile::tempdir().expect("a temporary folder"));
        Bench { folder, cache }
    }

    /// A folder with a file.
    pub fn with(name: &str, text: &str) -> Bench {
        Bench::new().and(name, text)
    }

    /// Adds a file, and its folder.
    pub fn and(self, name: &str, text: impl AsRef<[u8]>) -> Bench {
        let path = self.path(name);
        path.parent().map(std::fs::create_dir_all).transpose().expect("a writable folder");
        std::fs::write(path, text).expect("a writable folder");
        self
    }

    /// Adds a program, of a shell's lines.
    pub fn and_program(self, name: &str, script: &str) -> Bench {
        let bench = self.and(name, format!("#!/bin/sh\n{script}\n"));
        let executable = std::fs::Permissions::from_mode(0o755);
        std::fs::set_permissions(bench.path(name), executable).expect("a file of ours");
        bench
    }

    /// The path of a file.
    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// The names in a folder of it, sorted; `.` is itself.
    pub fn names(&self, folder: &str) -> Vec<String> {
        let entries = std::fs::read_dir(self.path(folder)).expect("a folder");
        let name = |entry: std::io::Result<std::fs::DirEntry>| entry.expect("readable").file_name();
        let mut names: Vec<_> =
            entries.map(|entry| name(entry).to_string_lossy().into_owned()).collect();
        names.sort();
        names
    }

    /// A command that runs another program in the folder.
    pub fn command(&self, program: &str) -> Command {
        let mut command = Command::new(program);
        command.current_dir(self.folder.path()).env_remove("NO_COLOR").env("LC_ALL", "C");
        command.env("KERNPACK_CACHE_DIR", self.cache.path());
        command
    }

    /// Runs the program.
    pub fn run(&self, args: impl IntoIterator<Item = impl AsRef<OsStr>>) -> Ran {
        self.command(KERNPACK).args(args).output().expect("the program runs").into()
    }

    /// Compares what the program prints and exits with.
    pub fn expect(&self, args: &[&str], expected: Expect) {
        expected.assert_eq(&self.run(args).to_string());
    }
}

impl From<Output> for Ran {
    fn from(output: Output) -> Ran {
        let text = |bytes| String::from_utf8(bytes).expect("the program prints UTF-8");
        let (stdout, stderr) = (text(output.stdout), text(output.stderr));
        Ran { code: output.status.code(), stdout, stderr }
    }
}

impl std::fmt::Display for Ran {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        writeln!(
            f,
            "exit {}",
            self.code.map_or("by a signal".to_string(), |code| code.to_string())
        )?;
        for (name, text) in [("out", &self.stdout), ("err", &self.stderr)] {
            for line in text.lines() {
                writeln!(f, "{name}: {line}")?;
            }
        }
        Ok(())
    }
}
