// SPDX-License-Identifier: Apache-2.0
//! kernpack as one library for Python.
//!
//! Its functions are packed functions of TVM-FFI, which `python/kernpack/_native.py` calls with
//! texts and bytes and gets JSON from; and `kernpack_main`, the command line tool. LLVM is inside,
//! and no symbol of it can be seen from outside. Not here: what packages, caches and commands are.

mod allocator;
mod build;
mod cuda;
mod export;
mod ffi;
mod prepared;
mod signature;
