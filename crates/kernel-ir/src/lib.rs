// SPDX-License-Identifier: Apache-2.0
//! Kernels as data: what each thread of a grid does, as values, variables and structured control
//! flow, without a target.
//!
//! ```text
//! kernel add_one(a: pointer.global float32 align 16, n: int64 0..65536) block 256
//! v2 = call block_idx.x()
//! v3 = const int64 256
//! ...
//! ```
//!
//! A [`Kernel`] has parameters, arrays that a block shares, register tensors, slots and a body. An
//! [`Op`](op::Op) computes a value, touches memory, or has regions of its own. Values are defined
//! once; what changes is in slots, which have no address: a name of the language that is assigned
//! twice is a slot. There is no jump: `if`, `for`, `while`, `break`, `continue` and `return` are
//! all there is, so that a printer, an interpreter and two back ends need no graph.
//!
//! Tensors, layouts and views are gone here: what is left of `x[i, j]` is an offset in bytes, an
//! alignment that layouts and signatures have proved, and a statement that the index is in bounds.
//!
//! [`eval`] says what operations on numbers give, [`intrinsic`] what a kernel can ask of a machine.
//! [`Builder`] makes kernels, [`text`] prints and reads them, [`expand()`] puts functions in the
//! place of calls, and [`verify()`] says which kernels are well formed. [`interp`] runs them and
//! finds what is wrong with them. [`ranges`] finds what integers can be, and [`shared`] where
//! arrays of a block lie.
//!
//! Not here: LLVM, files, signatures, the language.
#![forbid(unsafe_code)]

pub mod builder;
pub mod constant;
pub mod eval;
pub mod expand;
pub mod function;
#[cfg(any(test, feature = "generate"))]
pub mod generate;
pub mod interp;
pub mod intrinsic;
pub mod kernel;
pub mod math;
mod numbering;
pub mod op;
pub mod ranges;
pub mod shared;
pub mod text;
pub mod types;
pub mod verify;
mod walk;

pub use builder::Builder;
pub use constant::Const;
pub use expand::expand;
pub use function::Function;
pub use kernel::Kernel;
pub use types::{Scalar, Space, Type};
pub use verify::{Verified, verify};
