// SPDX-License-Identifier: Apache-2.0
//! LLVM and lld, and nothing else has them: kernels of `crates/kernel-ir` to PTX, functions to
//! objects, and objects to one object or shared library.
//!
//! * [`llvm`] is a vocabulary for writing functions, the only folder that names LLVM's builder.
//! * [`kernel`] turns kernels into LLVM's IR with it, a file for each kind of operation;
//!   `kernel/shared/address.rs` adds what is constant in an address last, and
//!   `kernel/shared/registers.rs` finds the register tensors that become variables.
//! * [`link`] merges, localises, gates and links, with lld and ObjCopy inside this process.
//!
//! It knows no packages: of `crates/package` it takes the rows of hosts alone.
//! Not here: what functions mean (`crates/compiler`), and what assembles PTX.

pub mod kernel;
pub mod link;
pub mod llvm;
