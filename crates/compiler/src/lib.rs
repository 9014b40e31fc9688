// SPDX-License-Identifier: Apache-2.0
//! From a package to the files that hosts load and link.
//!
//! ```text
//! Package ─ plans ─┬─ lower ─ object ─┐
//!     │            └─ metadata, note ─┤
//!     └─ sources ─ objects ───────────┼─ merge ─ localise ─ gate ─▶ .o ─ link ─▶ .so
//!                     runtime object ─┘                           .h, .pyi, .rs
//! ```
//!
//! [`compile`](compile()) is this picture as code. What a package is, and what describes it, is
//! `kernpack_package`; LLVM and the linker are `kernpack_codegen`'s. Not here: how signatures
//! become plans (`kernpack_validators`), and writing files.
//!
//! # Where things live
//!
//! **What is made**: `source/` has what sources become, with a file for each kind: `source/kernel/`
//! has kernels verified, lowered and assembled, and warns of what makes them slow;
//! `source/assembler/` says who assembles PTX, `source/nvjitlink/` or `source/ptxas/`, and reads
//! what the assembler says of it. What a C compiler reads past the door for files is in its own
//! words (`source/search.rs`), and NVRTC reads nothing but what `source/include.rs` finds for it.
//! `gpu_kernels.rs` numbers kernels, `host_code.rs` and `gpu_code.rs` build each source once
//! (`wanted.rs`), and hold what it has against what launches pass. `lower/` turns plans into entry
//! points. `symbols.rs` says which symbols a package may define and need, and whether the process
//! that loads it will have them.
//!
//! **In which order**: `compile.rs` is the order in which all of it happens. `parts.rs` has plans
//! and built sources together, and has the entry points' code made beside kernels that are written
//! here, of which it needs the numbers only. `package_object.rs` makes one object of all of it.
//! `error.rs` is what can come of it.
//!
//! Invariants, besides those of ARCHITECTURE.md: what tells compilers apart
//! (`source/identity.rs`) neither runs nor loads one.

mod compile;
mod error;
mod gpu_code;
mod gpu_kernels;
mod host_code;
mod lower;
mod package_object;
mod parts;
pub mod source;
mod symbols;
mod wanted;

pub use compile::{
    Checked, Compiled, KernelCode, Options, SharedObject, check, check_rest, compile,
    compile_plans, kernel_sources,
};
pub use error::CompileError;
pub use gpu_code::CudaCode;
pub use kernpack_codegen::llvm::version as llvm_version;
pub use source::gpu::GpuCompiler;
