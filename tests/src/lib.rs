// SPDX-License-Identifier: Apache-2.0
//! The suite: Markdown files that say, by example, what signatures mean and what calls are told;
//! and its runner.
//!
//! ````text
//! ## A tensor of another rank is refused          a case
//! ```signature
//! scale(x: Tensor([n, 128], float32))             the function that the blocks below are about
//! ```
//! ```call
//! scale(Tensor([4, 128, 1], float32))             accepted, unless a `fault` follows
//! ```
//! ```fault
//! ValueError tensor-rank: Mismatched Tensor on argument #0 when calling: `SIG`, expected ndim=2,
//! got 3
//! ```
//! ````
//!
//! [`document`] reads a file, [`block`] has the kinds of block, one a file, and [`suite`] runs
//! them. Every [call](callee) is made of the interpreter of plans and of the compiled entry point,
//! which must agree in kind and message; the functions of one file become one package ([`module`]).
//! Its entry points find libtvm_ffi's functions in [`fake_ffi`], so the suite needs neither that
//! library nor Python, and a GPU neither: tensors are only described ([`value`], [`memory`]), and
//! kernels only record what they get ([`kernels`]).
//!
//! Cases about kernels that are written here have the kernels in a `python` block, and a `run`
//! block of launches with what came of them ([`kernel_text`]): the interpreter runs them. So has
//! `docs/language.md`, which is run with the suite. Kernels as operations stand in an `ir` block,
//! and `verified` has what the verifier says of them.
//!
//! `cargo test -p kernpack-tests` runs everything; `BLESS=1` rewrites the blocks that say what is
//! expected. `cost.rs` counts what signatures cost; `tidy.rs`, `modules.rs` and `documents/` hold
//! the tree itself to its rules. [`cuda_stub`] loads a CUDA driver that needs no GPU,
//! [`gpu_package`] and [`cuda_host`] are what calls it. [`gpu_proof`] has kernels that the
//! interpreter and a GPU have to run alike. The program `replay` compares recorded calls with what
//! is made of them here.

pub mod alone;
pub mod block;
pub mod callee;
#[cfg(test)]
mod cost;
pub mod cuda_host;
pub mod cuda_stub;
pub mod document;
#[cfg(test)]
mod documents;
pub mod fake_ffi;
pub mod gpu_kernels;
pub mod gpu_package;
pub mod gpu_proof;
pub mod kernel_text;
pub mod kernels;
pub mod memory;
pub mod module;
#[cfg(test)]
mod modules;
pub mod random_call;
pub mod random_plan;
pub mod subject;
pub mod suite;
#[cfg(test)]
mod tidy;
pub mod value;
