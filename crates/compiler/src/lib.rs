// SPDX-License-Identifier: Apache-2.0
//! From a package to the files that hosts load and link.
//!
//! ```text
//! Package ─ plans ─┬─ lower ─ object ─┐
//!     │            └─ metadata, note ─┤
//!     └─ sources ─ objects ───────────┼─ merge ─ localise ─ gate ─▶ .o ─ link ─▶ .so
//!                     runtime object ─┘                           .h, .pyi
//! ```
//!
//! [`compile`](compile()) is this picture as code. LLVM is known to `llvm` alone, the linker to
//! [`link`] alone; what a package is described by is [`package`], or text that [`package_file`]
//! reads. Not here: how signatures become plans (`kernpack_validators`), and writing files.
//!
//! # Where things live
//!
//! **What is read**: `package.rs` is what a user describes, and `package_file/` reads it from TOML.
//! `source/` is where kernels come from. `settle.rs` completes what launches leave to their
//! sources, before anything is planned: `triton_launch/` by Triton's JSON, and `kernel_launch.rs`
//! by having kernels elaborated. `language.rs` tells package files from kernel files, which
//! `kernel_file.rs` opens with their imports, and `kernel_package.rs` makes packages of. `image/`
//! reads what GPU images say about themselves, and finds kernels in them by their symbols or their
//! names in C++. `file.rs` is the door through which files are read; what a C compiler reads past
//! it is in its own words (`source/search.rs`), and NVRTC reads nothing but what
//! `source/include.rs` finds for it.
//!
//! **What is made**: `target/` is what code is made for: a row has the triple, the processor, the
//! object format and the C ABI's way with structs. `gpu_kernels.rs` numbers kernels, `host_code.rs`
//! and `gpu_code.rs` build each source once (`wanted.rs`), and hold what it has against what
//! launches pass. `lower/` turns plans into entry points, and `llvm/` is the vocabulary it does
//! that in: for the host, and for kernels, which become PTX (`llvm/nvptx.rs`). `kernel/` turns
//! kernels of `crates/kernel-ir` into LLVM's IR: `shared/` has what every target does alike, a file
//! for each kind of operation, and `nvptx/` what only NVIDIA's GPUs have. `shared/address.rs` adds
//! what is constant in an address last, and `shared/registers.rs` finds the register tensors that
//! become variables. `source/kernel/` has kernels verified, lowered and assembled, and warns
//! of what makes them slow. `source/nvjitlink/` assembles PTX, and reads what the assembler says of
//! it. `link/` merges, localises, gates and links, with lld inside this process. `symbols.rs` says
//! which symbols a package may define and need, and whether the process that loads it will have
//! them. `export/` writes header, stubs, metadata and note, and `inspect.rs` reads a file's
//! description back.
//!
//! **In which order**: `compile.rs` is the order in which all of it happens. `parts.rs` has plans
//! (`plans.rs`) and built sources together, and has the entry points' code made beside kernels that
//! are written here, of which it needs the numbers only. `package_object.rs` makes one object of
//! all of it. `parallel.rs` has compilers run at once. `leftover.rs` lists the temporary files and
//! running compilers of a build, for whoever learns that the process is to end. `fork.rs` has a
//! fork wait for LLVM and lld. `error.rs` is what can come of it.
//!
//! **What is run**: `interpret.rs` makes no files. It runs a function's checks and kernels on the
//! interpreters, with arguments that it makes of the signature. `interpret/compare.rs` has a GPU
//! run the same launches, through the driver that `interpret/driver.rs` finds, and
//! `interpret/difference.rs` holds what is there against what the interpreter has.
//!
//! What holds here, besides what ARCHITECTURE.md says:
//! * what a user can mend is a diagnostic, made where its place in the package file is known:
//!   paths, kernels, arguments and `link` carry their spans (`Placed`), which do not count where
//!   sources are compared.
//! * every file is read by `file.rs`, which records path and digest, and where a file was looked
//!   for in vain; files held in memory are seen there first.
//! * what tells compilers apart (`source/identity.rs`) neither runs nor loads one.

mod compile;
mod error;
pub mod export;
pub mod file;
pub mod fork;
mod gpu_code;
mod gpu_kernels;
mod host_code;
pub mod image;
pub mod inspect;
pub mod interpret;
pub mod kernel;
pub mod kernel_file;
mod kernel_launch;
mod kernel_package;
mod language;
pub mod leftover;
pub mod link;
mod llvm;
mod lower;
pub mod package;
pub mod package_file;
mod package_object;
mod parallel;
mod parts;
mod plans;
mod settle;
pub mod source;
mod symbols;
pub mod target;
mod triton_launch;
mod wanted;

pub use compile::{
    Checked, Compiled, KernelCode, Options, SharedObject, check, check_rest, compile,
    compile_plans, kernel_sources,
};
pub use error::CompileError;
pub use file::{Held, InputFile};
pub use gpu_code::{CudaCode, GpuCompiler};
pub use kernel_file::{KernelFile, KernelTarget};
pub use language::{Language, PackageText};
pub use llvm::version as llvm_version;
pub use package::{
    Function, KernelLaunch, Launch, Package, PackedLaunches, Returns, Site, Submit, TritonLaunch,
    WrittenLaunch, WrittenPackage,
};
pub use source::{GpuSource, HostSource, SourceError, SourceErrorKind};
pub use target::Target;
