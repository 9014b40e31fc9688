// SPDX-License-Identifier: Apache-2.0
//! The only folder that names inkwell: a small vocabulary for writing functions, in which nothing
//! can fail.
//!
//! inkwell makes every builder call fallible and address arithmetic `unsafe`; both are settled here
//! once. Values are 64-bit integers, truths (`i1`) and pointers, as in plans; a word is 64 bits.
//! Not here: plans, signatures, symbols of any meaning.
//!
//! An [`Emitter`] writes one module. Its methods lie in a file for each thing that is written:
//! `function`, `control` flow, `memory`, `arithmetic` and what is `constant`; of GPUs' kernels,
//! their `number`s of any width, vectors, `thread_memory`, assembly (`inline`), hints to caches
//! (`cache_hint`), constants that are `hidden` from the assembler, conversions that are `paired`,
//! and the lines of source (`line`) that instructions come from.
//!
//! A module becomes an `object` for the host, or `nvptx`: text for NVIDIA's assembler, without
//! `strength` reduction where that is asked for.

mod arithmetic;
mod cache_hint;
mod constant;
mod control;
mod emitter;
mod freeze;
mod function;
mod hidden;
mod inline;
mod kernel;
mod line;
mod memory;
mod number;
mod nvptx;
mod object;
mod paired;
mod strength;
mod thread_memory;
mod ty;
mod vector;

pub use arithmetic::Operation;
pub use cache_hint::{CacheHint, Manner};
pub use constant::Word;
pub use emitter::{Block, Emitter, Function, V};
use emitter::{int, pointer};
pub use function::{Extension, Passed};
pub use inkwell::FloatPredicate;
pub use inkwell::IntPredicate as Predicate;
pub use inkwell::context::Context;
pub use inkwell::support::get_llvm_version as version;
pub use inline::Inline;
pub use kernel::{FloatOperation, KernelParam};
pub use line::{KernelLine, Lines, Place};
pub use number::Exact;
pub use nvptx::{NEWEST as NEWEST_PTX, PtxError, PtxOptions, ptx};
pub use object::{CodegenError, Effort, write_object};
pub use ty::{AddressSpace, FloatKind, Lane, Ty};
