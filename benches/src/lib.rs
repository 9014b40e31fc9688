// SPDX-License-Identifier: Apache-2.0
//! Costs of calls and builds, each figure next to what it is held against.
//!
//! | figures | held against | file |
//! |---|---|---|
//! | accepted calls from C | the same checks by hand, `reference.c` | [`accepted`] |
//! | accepted calls from Python | `testing.nop` of libtvm_ffi with the same arguments | [`python`] |
//! | refused calls from Python | the same calls of `reference.c`, where libtvm_ffi raises | [`python`] |
//! | typed calls from Rust | the same calls from C through the packed symbol | [`typed`] |
//! | refused calls from C | libtvm_ffi raising an error of as many parts | [`refused`] |
//! | kernels, from their text to PTX | nvJitLink, which assembles that | [`kernels`] |
//! | builds | a limit in milliseconds, kilobytes, or growth | [`builds`] |
//!
//! Both sides of a figure are timed in turn, round after round, and so is the reference a second
//! time, as a [`control`](series): what the reference differs from itself by is what the machine
//! adds to every number of that run. A run whose control is off by more than a third of the
//! target's margin says nothing, and is repeated.
//!
//! [`subject`] has the two functions that calls are measured on; a test holds `reference.c` to
//! kernpack's own verdicts on them, so that the C cannot be fast by checking less. Not here: how
//! fast kernels are.

pub mod accepted;
pub mod builds;
pub mod call;
pub mod ffi;
pub mod figure;
pub mod gpu;
pub mod kernels;
pub mod nvrtc;
pub mod programs;
pub mod python;
pub mod refused;
pub mod report;
pub mod series;
pub mod subject;
pub mod toolchain;
pub mod typed;
