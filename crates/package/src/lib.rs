// SPDX-License-Identifier: Apache-2.0
//! Packages as data, and all that reads, settles, describes, exports, inspects and
//! interprets it. Nothing here compiles anything, and so nothing links LLVM.
//!
//! # Where things live
//!
//! **What is read**: `package.rs` is what a user describes, and `package_file/` reads it from TOML.
//! `source/` is where kernels come from, as a user says it, with a file for each kind.
//! `language.rs` tells package files from kernel files, which `kernel_file.rs` opens with their
//! imports, and `kernel_package.rs` makes packages of; `program.rs` reads functions of a running
//! program. `target/` is what code is made for: a row
//! has the triple, the processor, the object format and the C ABI's way with structs. `image/`
//! reads what GPU images say about themselves, and finds kernels in them by their symbols or their
//! names in C++. `file.rs` is the door through which files are read.
//!
//! **What is completed**: `settle.rs` completes what launches leave to their sources, before
//! anything is planned: `triton_launch/` by Triton's JSON, and `kernel_launch.rs` by having kernels
//! elaborated. `plans.rs` plans every function. `problem.rs` says which function a problem is of.
//!
//! **What is said of it**: `export/` writes header, stubs, metadata and note, and `inspect.rs`
//! reads a file's description back.
//!
//! **What is run**: `interpret.rs` makes no files. It runs a function's checks and kernels on the
//! interpreters, with arguments that it makes of the signature. `interpret/compare.rs` has a GPU
//! run the same launches, through the driver that `interpret/driver.rs` finds, with images from
//! whoever has the compilers; `interpret/difference.rs` holds what is there against what the
//! interpreter has.
//!
//! Invariants, besides those of ARCHITECTURE.md:
//! * what a user can mend is a diagnostic, made where its place in the package file is known:
//!   paths, kernels, arguments and `link` carry their spans (`Placed`), which do not count where
//!   sources are compared.
//! * every file is read by `file.rs`, which records path and digest, and where a file was looked
//!   for in vain; files held in memory are seen there first.

pub mod export;
pub mod file;
pub mod image;
pub mod inspect;
pub mod interpret;
pub mod kernel_file;
mod kernel_launch;
mod kernel_package;
mod language;
pub mod package;
pub mod package_file;
pub mod plans;
pub mod problem;
pub mod program;
pub mod settle;
pub mod source;
pub mod target;
mod triton_launch;

pub use file::{Held, InputFile};
pub use kernel_file::KernelFile;
pub use language::{Language, PackageText};
pub use package::{
    Function, KernelLaunch, Launch, Package, PackedLaunches, Returns, Site, Submit, TritonLaunch,
    WrittenLaunch, WrittenPackage,
};
pub use source::{GpuSource, HostSource, SourceError, SourceErrorKind};
pub use target::Target;
