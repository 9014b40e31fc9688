// SPDX-License-Identifier: Apache-2.0
//! Finds libtvm_ffi, where the feature `host` asks for it: in the folder that
//! `KERNPACK_TVM_FFI_LIBDIR` names, or else where `tvm-ffi-config` says.
//!
//! Cargo lets programs that it runs find libraries in folders that a build script names, but only
//! in those below its own. So there is a link to the library in this script's folder, and `cargo
//! run` and `cargo test` work in every crate that depends on this one.
//!
//! What `tvm-ffi-config` names is for this machine. Who builds for another one has to say where the
//! library for that is.
//!
//! With the feature `tvm-ffi`, that crate links the library too, from where `tvm-ffi-config` says:
//! it has to be the same.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, exit};

const VARIABLE: &str = "KERNPACK_TVM_FFI_LIBDIR";
const LIBRARY: &str = "libtvm_ffi.so";

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    let is_host = env::var_os("CARGO_FEATURE_HOST").is_some();
    if !is_host || env::var_os("DOCS_RS").is_some() {
        return;
    }
    println!("cargo::rerun-if-env-changed={VARIABLE}");
    println!("cargo::rerun-if-env-changed=PATH");
    match find().and_then(|folder| link(&folder)) {
        Ok(folder) => {
            println!("cargo::rustc-link-search=native={}", folder.display());
            println!("cargo::rustc-link-lib=dylib=tvm_ffi");
        }
        Err(message) => {
            println!("cargo::error={message}");
            exit(1);
        }
    }
}

/// The folder that has libtvm_ffi.
fn find() -> Result<PathBuf, String> {
    if let Some(folder) = env::var_os(VARIABLE) {
        let folder = PathBuf::from(folder);
        return match folder.join(LIBRARY).is_file() {
            true => agreed(folder),
            false => {
                Err(format!("{VARIABLE} is `{}`, where there is no {LIBRARY}", folder.display()))
            }
        };
    }
    if let Some(target) = other_machine() {
        return Err(format!(
            "which {LIBRARY} to link for `{target}` is not known: name the folder of one in \
             {VARIABLE}, such as `tvm_ffi/lib` of the wheel of apache-tvm-ffi for that machine"
        ));
    }
    configured().ok_or_else(|| {
        format!(
            "{LIBRARY} is not found: install it with `pip install apache-tvm-ffi`, so that \
             `tvm-ffi-config` is on PATH, or name its folder in {VARIABLE}"
        )
    })
}

/// The target, where it is another machine than this one.
fn other_machine() -> Option<String> {
    let (target, host) = (env::var("TARGET").ok()?, env::var("HOST").ok()?);
    let machine = |triple: &str| triple.split('-').next().map(str::to_string);
    (machine(&target) != machine(&host)).then_some(target)
}

/// The folder that has libtvm_ffi, as `tvm-ffi-config` says.
fn configured() -> Option<PathBuf> {
    let asked = Command::new("tvm-ffi-config").arg("--libdir").output();
    let answer = asked.ok().filter(|answer| answer.status.success());
    let folder = answer.and_then(|answer| String::from_utf8(answer.stdout).ok());
    let folder = folder.map(|text| PathBuf::from(text.trim()));
    folder.filter(|folder| folder.join(LIBRARY).is_file())
}

/// The folder, unless the crate `tvm-ffi` takes another library.
fn agreed(folder: PathBuf) -> Result<PathBuf, String> {
    let Some(other) = env::var_os("CARGO_FEATURE_TVM_FFI").and_then(|_| configured()) else {
        return Ok(folder);
    };
    let file = |folder: &Path| fs::canonicalize(folder.join(LIBRARY)).ok();
    match file(&folder) == file(&other) {
        true => Ok(folder),
        false => Err(format!(
            "{VARIABLE} is `{}`, but the crate `tvm-ffi` links the {LIBRARY} of `{}`: let \
             `tvm-ffi-config` on PATH be that of the first, or leave {VARIABLE} out",
            folder.display(),
            other.display()
        )),
    }
}

/// Puts a link to the library into the folder of this build script.
fn link(folder: &Path) -> Result<PathBuf, String> {
    let out = PathBuf::from(env::var_os("OUT_DIR").ok_or("OUT_DIR is not set: use cargo")?);
    let library = folder.join(LIBRARY);
    println!("cargo::rerun-if-changed={}", library.display());
    let here = out.join(LIBRARY);
    let _ = fs::remove_file(&here);
    let linked = std::os::unix::fs::symlink(&library, &here);
    linked.map_err(|error| format!("cannot make `{}`: {error}", here.display()))?;
    Ok(out)
}
