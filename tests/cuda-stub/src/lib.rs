// SPDX-License-Identifier: Apache-2.0
//! A CUDA driver without a GPU, for tests: a library under the name `libcuda.so.1` with the
//! driver's functions, which remembers every call, can be told to fail, and behaves as the driver
//! of CUDA 13.0 does where a program that launches kernels can tell.
//!
//! * [`api`] has the functions, with the driver's own signatures, to which a test holds them;
//!   [`call`] is what all of them do around their work.
//! * [`driver`] and [`thread`] are the state: contexts and which is current, streams, captures
//!   ([`capture`]), libraries, kernels. [`memory`] is memory of the host.
//! * [`image`] reads images; kernels do not run, but one in the stub's own form may say what it
//!   does to memory.
//! * [`launch`] and [`occupancy`] decide what a launch is told.
//! * [`config`] is what the stub is told, in the file that `KERNPACK_CUDA_STUB` names or through
//!   [`control`]; [`log`] is what it tells.
//!
//! Codes and texts were compared with the driver of CUDA 13.0 (580 series) on an H200. The stub
//! differs from it on purpose: a handle that was never given, or whose library was unloaded or
//! context ended, is an error here and the end of the process there; loading a library under a
//! global capture is refused unless the configuration allows it, as the manual reserves; a capture
//! mode that does not exist is refused. Deliberately absent: errors that stay (after an illegal
//! address the real context is lost) or come later than their call, events, graph launches, managed
//! and pinned memory, fat binaries.

pub mod api;
pub mod argument;
pub mod c_types;
pub mod call;
pub mod capture;
pub mod config;
pub mod control;
pub mod driver;
pub mod h200;
pub mod image;
pub mod json;
pub mod launch;
pub mod log;
pub mod memory;
pub mod occupancy;
pub mod status;
pub mod thread;
