// SPDX-License-Identifier: Apache-2.0
//! From kernels to LLVM's IR, and what a target makes of that. A target is a folder.
//!
//! ```text
//! Kernel ──verified, expanded──▶ shared::Lowering ──▶ module ──nvptx, llvm::ptx──▶ PTX
//!            Ranges ────────────────▲        ▲
//!            Target ─────────────────────────┘
//! ```
//!
//! `shared/` has what every target does alike: arithmetic, conversions, control, memory, lines. A
//! folder beside it has what only one target has, and answers `shared/target.rs`: how a kernel is
//! begun and gets its parameters, address spaces, what threads do together, where they are,
//! assembly, the column of the table of intrinsics (`rows.rs`), and what these need. [`nvptx`] is
//! NVIDIA's GPUs.
//!
//! Results of operations are those of `kernpack_kernel_ir::eval`, and code gives it to the last
//! bit; the tests hold both against each other.
//!
//! A verified kernel for an architecture that has what it needs never fails here: what an
//! architecture has not, LLVM answers by ending the process, so that nothing of it may get there.
//! Not here: which passes run, PTX's text, machine code.

pub mod nvptx;
mod shared;
