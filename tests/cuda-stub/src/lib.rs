// SPDX-License-Identifier: Apache-2.0
//! A CUDA driver without a GPU, for tests: a library under the name `libcuda.so.1` with the
//! driver's functions, which remembers every call, can be told to fail, and behaves as the driver
//! of CUDA 13.0 does where a program that launches kernels can tell.
//!
//! * [`api`] has the functions, with the driver's own signatures, to which a test holds them;
//!   [`call`] is what all of them do around their work, and [`exclusive`] notices which of them are
//!   at work on one executable graph at once.
//! * [`driver`] and [`thread`] are the state: contexts and which is current, streams, captures
//!   ([`capture`]), libraries, kernels. [`memory`] is memory of the host.
//! * [`image`] reads images; kernels do not run, but one in the stub's own form may say what it
//!   does to memory.
//! * [`launch`] and [`occupancy`] decide what a launch is told; [`graph`] makes launches of graphs.
//! * [`config`] is what the stub is told, in the file that `KERNPACK_CUDA_STUB` names or through
//!   [`control`]; [`log`] is what it tells, [`stack`] a part of that.
//!
//! Codes and texts were compared with the driver of CUDA 13.0 (580 series) on an H200. The stub
//! differs from it on purpose: a handle that was never given, or whose library was unloaded or
//! context ended, is an error here and the end of the process there; so is a change of a graph's
//! node without a current context. What the manual reserves is refused: under a capture that
//! forbids what is unsafe, libraries do not load, unless the configuration allows it; nodes are
//! added only where a context is current, and take no kernel for a function. A capture mode that
//! does not exist is refused. Of arguments that a node is given both one by one and packed, the
//! stub takes the first; the driver, too, takes such a node, and which of them it uses is not
//! known. Deliberately absent: errors that stay (after an illegal address the real context is lost)
//! or come later than their call, captures of several streams, memory that is allocated in a
//! stream's turn, nodes of graphs other than kernels, graphs that were captured except to destroy
//! them, attributes of streams other than the access policy window and the priority, green
//! contexts, managed and pinned memory, fat binaries.
//!
//! Prototypes, structs, enumerations and codes are those of `cuda.h`: the test `headers` has a C
//! compiler say so. The stub refuses what the driver refuses, with its codes; `replay.py` of
//! `tests/gpu` has a list of the exceptions, with reasons.

pub mod api;
pub mod argument;
pub mod c_types;
pub mod call;
pub mod capture;
pub mod config;
pub mod control;
pub mod driver;
pub mod exclusive;
pub mod graph;
pub mod h200;
pub mod image;
pub mod json;
pub mod launch;
pub mod log;
pub mod memory;
pub mod occupancy;
pub mod stack;
pub mod status;
pub mod thread;
