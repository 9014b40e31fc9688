// SPDX-License-Identifier: Apache-2.0
//! kernpack as one library for Python.
//!
//! Its functions are entry points as packages have them, which `python/kernpack/_native.py` calls
//! with texts and bytes and gets JSON from; and `kernpack_main`, the command line tool. LLVM is
//! inside, and no symbol of it can be seen from outside. Not here: what packages, caches and
//! commands are.
//!
//! # Where things live
//!
//! `libkernpack.so`, which has LLVM inside. `export.rs` lists its functions: entry points of
//! TVM-FFI's calling convention, which take texts and bytes and answer JSON. `ffi.rs` is how they
//! read arguments, answer, raise and call back. `build.rs` asks the cache, on a thread of its own,
//! while the one that called looks for Ctrl-C; `interpret.rs` makes a call on the interpreter the
//! same way, and `given.rs` is how Python gets tensors of it; `command.rs` is the command line, as
//! `main` and as a function; `dispatch/` has the functions that are compiled for their arguments,
//! and `program.rs` what texts of functions use; `signature.rs` describes signatures and checks
//! calls that are not made; `package_text.rs` writes package files, and `inspect.rs` looks into
//! them and into packages; `emitted.rs` shows what kernels become. `layout.rs` evaluates and draws
//! layouts. `prepared.rs` runs prepared calls on PyTorch's current stream. `spans.rs` tells where
//! tensors lie, and `toml.rs` reads files that Python has no reader for.

mod build;
mod command;
mod dispatch;
mod emitted;
mod export;
mod ffi;
mod given;
mod inspect;
mod interpret;
mod layout;
mod package_text;
mod prepared;
mod program;
mod signature;
mod spans;
mod toml;

// The handler of XLA's custom calls: its symbols are this library's.
use kernpack_xla as _;
