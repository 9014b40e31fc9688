// SPDX-License-Identifier: Apache-2.0
//! Kernels as people write them, in a typed subset of Python's syntax, read from their text.
//!
//! ```text
//! text -- python/ --> tree -- file.rs --> functions and constants of files
//! function + arguments of a launch -- elaborate.rs --> operations, and what is passed
//! ```
//!
//! A kernel is written once and elaborated for each launch: with constant arguments as constants,
//! dtypes known, and what the signature promises of every number as facts. So `x.shape[1]` of a
//! constant dim is a constant, a function that is passed is inlined, and of two branches of an `if`
//! on a dtype only one is looked at.
//!
//! Elaborating is one forward walk. An expression gives a value, which is a *constant*, of which
//! the compiler knows all, or what a thread computes, which has a *type*. Tensors, layouts, tuples
//! and functions are constants that hold numbers of threads: they are gone when the kernel is
//! operations. A name stands for a value. Where run-time control decides which, it is in slots:
//! branches are joined where they meet, and a loop has in slots from its beginning what it assigns.
//!
//! ```
//! use kernpack_kernel_lang::argument::{Argument, Constant, ScalarArg};
//! use kernpack_kernel_lang::elaborate::{Request, elaborate};
//! use kernpack_kernel_lang::file::KernelFiles;
//! use kernpack_kernel_ir::{Scalar, kernel::Facts};
//! use kernpack_syntax::Texts;
//!
//! let text = "
//! import kernpack as kp
//!
//! @kp.kernel
//! def count(n, times):
//!     for i in range(n):
//!         kp.printf('{}', i * times)
//! ";
//! let mut texts = Texts::default();
//! let mut door = |_: &std::path::Path| Ok(text.as_bytes().to_vec());
//! let files = KernelFiles::read("count.py".as_ref(), &mut door, &mut texts).unwrap();
//! let n = ScalarArg { expr: "n".into(), scalar: Scalar::I32, facts: Facts::NONE };
//! let request = Request {
//!     kernel: files.function("count").unwrap(),
//!     arguments: &[Argument::Scalar(n), Argument::Constant(Constant::Int(3.into()))],
//!     dtypes: &[],
//!     block: [Some(32), None, None],
//!     archs: &[],
//!     surroundings: None,
//!     is_checked: false,
//!     symbol: "count",
//! };
//! let instance = elaborate(&files, &request).unwrap();
//! assert_eq!(instance.args[0].to_string(), "n: int32");
//! ```
//!
//! # Where things live
//!
//! `python/` reads text: ruff's parser, and at once a tree of our own (`tree.rs`, `statement.rs`),
//! in which what kernels have not is one kind of node. `file/` has a file's names and the kernel
//! files that it imports, or a text that a program hands over with what it captures; a file is what
//! it says, whatever it is called. `argument.rs` is what a launch passes to a kernel, whoever wrote
//! the launch.
//!
//! Two walkers go through statements: the elaboration of kernels, and the evaluation of packed
//! functions. They compute with values of their own, and what Python means to both is written once
//! (`walker.rs`): `names/` finds names and assigns to targets, `call/` binds arguments, `budget.rs`
//! says how far a walk may go. `plain.rs` has the functions of numbers and `algebra/` those of
//! layouts, a row each, `unroll.rs` loops that are gone through while compiling, `shown.rs`
//! values as they are told meanwhile, and `untyped.rs` the arithmetic of numbers without a type.
//! The folder `library/` is what the language says of itself: functions and classes that are
//! written in it (`file/library.rs`).
//!
//! `elaborate.rs` walks a kernel once, forward, into `kernel-ir`'s builder: `value.rs` is what an
//! expression gives, a constant or what a thread computes. Its state is in parts: `emit.rs` the
//! operations with what is known of their results, in which the layout algebra computes too,
//! `scope.rs` the calls and their names, `guard.rs` the conditions around, `place.rs` where
//! operations come from, and `note.rs` what is wrong. `stmt/` has control and the joining of names
//! where ways meet, `inline.rs` calls of functions, `expr/` expressions, `number/` types and
//! arithmetic, `tensor/` views, accesses and copies, `object.rs` objects. `builtin/` is what
//! kernels can call: tables, one file a family, one row a function, and the reference is made of
//! them. `parameter.rs` collects what a kernel is passed, `finish.rs` leaves out what is not used,
//! and `extents/` finds indices that the extent of another tensor alone bounds, where that is
//! asked.
//!
//! `packed/` is how signatures meet kernels. `body.rs` goes through a packed function once for each
//! way through its `if`s, and `facts/` learns from the signature and from the conditions on that
//! way what holds there, which is what `argument.rs` then says: each fact names the check, the
//! condition or the allocation that establishes it (`facts/fact.rs`). `closure.rs` keeps the names
//! of each call for the functions that stand there, and `limits.rs` says how far it all may go.
//! `settle.rs` has a kernel elaborated for each launch and combination of dtypes, and gives the
//! same name to what came out the same. `written.rs` does it for launches of package files.
//!
//! Invariants, besides those of ARCHITECTURE.md:
//! * a mistake is reported once, at its place, and what comes of it is silent: one walk finds all
//!   of them.
//!
//! Not here: signatures and their plans, LLVM, files but through a door that the caller opens, and
//! any unsafe code.
#![forbid(unsafe_code)]

mod algebra;
pub mod argument;
mod bind;
mod budget;
pub mod builtin;
mod call;
pub mod elaborate;
mod emit;
mod expr;
pub mod extents;
pub mod file;
mod finish;
mod guard;
mod inline;
pub mod integer;
pub mod layout;
mod names;
mod note;
mod number;
mod object;
pub mod packed;
mod parameter;
mod place;
mod plain;
pub mod python;
mod scope;
mod shown;
mod stmt;
mod tensor;
#[cfg(test)]
mod tests;
mod unroll;
mod untyped;
mod value;
mod walker;
