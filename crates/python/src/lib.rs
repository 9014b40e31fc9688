// SPDX-License-Identifier: Apache-2.0
//! kernpack as one library for Python.
//!
//! Its functions are packed functions of TVM-FFI, which `python/kernpack/_native.py` calls with
//! texts and bytes and gets JSON from; and `kernpack_main`, the command line tool. LLVM is inside,
//! and no symbol of it can be seen from outside. Not here: what packages, caches and commands are.

mod allocator;
mod build;
mod command;
mod cuda;
mod export;
mod ffi;
mod inspect;
mod prepared;
mod signature;

// The handler of XLA's custom calls: its symbols are this library's.
use kernpack_xla as _;
