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
mod kernel;
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
pub use kernel_file::KernelFile;
pub use language::{Language, PackageText};
pub use llvm::version as llvm_version;
pub use package::{
    Function, KernelLaunch, Launch, Package, PackedLaunches, Returns, Site, Submit, TritonLaunch,
    WrittenLaunch, WrittenPackage,
};
pub use source::{GpuSource, HostSource, SourceError, SourceErrorKind};
pub use target::Target;
