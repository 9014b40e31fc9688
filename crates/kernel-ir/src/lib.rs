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
//! arrays of a block lie. [`widen()`] makes elements that lie side by side ready for one access.
//!
//! # Where things live
//!
//! A kernel (`kernel.rs`) has parameters, arrays, slots and operations (`op.rs`) on typed values
//! (`types.rs`, `constant.rs`), in structured regions. `builder.rs` makes kernels, and computes
//! once in a region what is asked for twice (`numbering.rs`), and states what something relies on
//! (`claims.rs`); `walk.rs` goes through them.
//! `assert_record.rs` is how a running kernel tells of an assertion that failed.
//! `eval.rs` says what operations on numbers give. `intrinsic/` has what a kernel can ask of a
//! machine, a row each.
//!
//! `text/` is their text, both ways; tests and people read and write kernels in it. `math/` has
//! functions of floats in that text, a file each (`function.rs` is what a function is), and
//! `expand.rs` puts them in the place of calls. `verify/` opens with the rules of kernels. Among
//! them are those of what threads do together: `verify/uniform/` computes how alike each value is
//! among threads, which back ends may ask (`Verified`). `generate/`, behind a feature, makes random
//! kernels with what they are launched with, for tests of whatever runs kernels.
//!
//! `timeline.rs` makes a kernel one that writes down what it waits for.
//!
//! `interp/` runs a whole grid and says what is wrong with it. `program.rs` makes a list of steps
//! (`step.rs`) of a kernel, and `lifetime.rs` has values share registers. A warp is a task: place,
//! registers and stack are data (`warp.rs`), `execute.rs` and `control.rs` run its steps, and
//! `schedule.rs` says which warp of which block runs when; more blocks begin where those that run
//! only wait. `access.rs`, `atomic.rs` and `exchange.rs` are what touches memory or other threads.
//! `clock.rs` says what happens before what, and `shadow.rs` who touched each cell of memory last.
//! Findings are in `finding.rs`, and `launch.rs` is what callers see of it all.
//!
//! Invariants, besides those of ARCHITECTURE.md:
//! * a kernel's control flow takes no recursion on Rust's stack, so that any warp can wait for any
//!   other.
//! * what orders two accesses is a barrier, or an atomic operation or fence, and nothing else:
//!   being in one warp does not, and the order in which warps happened to run does not.
//! * a pointer is an allocation and an offset, and there is no way from one allocation to another.
//!
//! Not here: LLVM, files, signatures, the language.
#![forbid(unsafe_code)]

pub mod assert_record;
pub mod builder;
mod claims;
pub mod constant;
pub mod eval;
pub mod expand;
pub mod function;
#[cfg(any(test, feature = "generate"))]
pub mod generate;
pub mod group_product;
pub mod interp;
pub mod intrinsic;
pub mod kernel;
pub mod math;
pub mod model;
mod numbering;
pub mod op;
pub mod ranges;
pub mod shared;
pub mod text;
pub mod timeline;
pub mod types;
pub mod verify;
mod walk;
pub mod widen;

pub use builder::Builder;
pub use claims::Claim;
pub use constant::Const;
pub use expand::expand;
pub use function::Function;
pub use kernel::Kernel;
pub use model::leave_out_models;
pub use types::{Scalar, Space, Type};
pub use verify::{Verified, verify};
pub use widen::widen;
