// SPDX-License-Identifier: Apache-2.0
//! Lets the program find libtvm_ffi where it was linked: the crate `tvm-ffi` links it, but leaves
//! no trace of where it is.

use std::process::Command;

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    println!("cargo:rerun-if-env-changed=PATH");
    let asked = Command::new("tvm-ffi-config").arg("--libdir").output();
    let answer = asked.expect("tvm-ffi-config, of the Python package apache-tvm-ffi, is on PATH");
    let folder = String::from_utf8(answer.stdout).expect("a path is text");
    println!("cargo:rustc-link-arg-bins=-Wl,-rpath,{}", folder.trim());
}
