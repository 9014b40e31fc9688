// SPDX-License-Identifier: Apache-2.0
//! Packages of kernels in a build script: the package is compiled, linked with the crate, and can
//! be called through functions that have Rust's types.
//!
//! In `build.rs`, where this crate is a build dependency:
//!
//! ```no_run
//! kernpack_build::package("src/norm.py").arch("sm_90a,compute_80").compile();
//! ```
//!
//! In the crate, which depends on the crate `kernpack`, `kernpack::include!(norm);` is then the
//! module of functions of the package `norm`.
//!
//! # What happens
//!
//! [`package()`] runs the program `kernpack`, which compiles a package file or a kernel file for
//! the target that cargo builds for. The object goes into the static archive
//! `libkernpack_norm.a`, the functions into `norm.rs`, both in `OUT_DIR`. Cargo is told to link the
//! archive with what it needs, and to run the build script again where a file has changed that was
//! read. What is wrong with the files appears as errors of cargo's, with file, line and mark.
//!
//! The program is the one that [`Package::program`] names, else the one that the variable
//! `KERNPACK` names, else `kernpack` on `PATH`. It has to be of this crate's version: functions are
//! written for the crate `kernpack` of one version.
//!
//! With the feature `compiler`, `linked` has the compiler that is part of the build script do what
//! the program does. Whoever builds the crate needs LLVM for it, and no program.
//!
//! [`prebuilt()`] takes what the program has made before. It needs no program and no compiler, so
//! crates are published with it.
//!
//! # Variables
//!
//! | | |
//! |---|---|
//! | `KERNPACK` | the program, where the build script names none |
//! | `KERNPACK_ARCH` | what GPU code is made for, whatever the build script says |
//!
//! One that is empty counts as not set.
//!
//! # Where things live
//!
//! `package.rs` and `prebuilt.rs` are the two ways to a package, each a file. `environment.rs` is
//! all that is known of the build script, `host.rs` what it builds for. `program.rs` finds and runs
//! the program, `linked.rs` asks the linked compiler; `answer.rs` and `diagnostic.rs` are what
//! either answers. `object_file.rs` reads what an object says of its package, `archive.rs` makes an
//! archive of it, and `output.rs` puts both files where they belong, whole or not at all.
//! `built.rs` is what there is to be said to cargo then, `problem.rs` what there is to be said
//! otherwise, `cargo.rs` the language for both. `report.rs` alone prints. Nothing here compiles
//! kernels or writes Rust: these two do.

mod answer;
mod archive;
mod built;
mod cargo;
mod diagnostic;
mod environment;
mod host;
#[cfg(feature = "compiler")]
mod linked;
mod object_file;
mod output;
mod package;
mod prebuilt;
mod problem;
mod program;
mod report;

pub use built::Built;
pub use environment::Environment;
pub use package::Package;
pub use prebuilt::Prebuilt;
pub use problem::Error;

use std::path::Path;

/// A package file, which ends in `.toml`, or a kernel file, which ends in `.py`. A path that is
/// relative begins at the folder of `Cargo.toml`.
///
/// ```no_run
/// kernpack_build::package("kernels/norm.toml").compile();
/// ```
pub fn package(path: impl AsRef<Path>) -> Package {
    Package::new(path.as_ref())
}

/// The object of a package, with the functions in a file beside it that ends in `.rs`, both made
/// before by `kernpack build norm.toml -o norm.o -o norm.rs`. A path that is relative begins at the
/// folder of `Cargo.toml`.
///
/// `{target}` in the path stands for what cargo builds for, `x86_64-linux-gnu` or
/// `aarch64-linux-gnu`:
///
/// ```no_run
/// kernpack_build::prebuilt("kernels/norm-{target}.o").compile();
/// ```
pub fn prebuilt(path: impl AsRef<Path>) -> Prebuilt {
    Prebuilt::new(path.as_ref())
}
