// SPDX-License-Identifier: Apache-2.0
//! The interpreter that has the installed apache-tvm-ffi, which tests ask what is true.

#![allow(dead_code, reason = "each test file uses a part")]

use std::path::{Path, PathBuf};
use std::process::Command;

/// The output of a script, without the space around it.
pub fn printed(script: &str, args: &[&str]) -> String {
    run("KERNPACK_PYTHON", ".venv", script, args)
}

/// The same of the interpreter that has apache-tvm-ffi 0.1.0.
pub fn printed_by_oldest(script: &str, args: &[&str]) -> String {
    run("KERNPACK_PYTHON_OLDEST", ".venv-tvm-ffi-0.1.0", script, args)
}

fn run(variable: &str, environment: &str, script: &str, args: &[&str]) -> String {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let python = std::env::var_os(variable).map(PathBuf::from);
    let python = python.unwrap_or_else(|| root.join(environment).join("bin/python"));
    let output = Command::new(&python).args(["-c", script]).args(args).output();
    let output = output.unwrap_or_else(|error| {
        panic!("cannot run {}: {error}; run `scripts/setup python` first", python.display())
    });
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).expect("text").trim().to_string()
}
