// SPDX-License-Identifier: Apache-2.0
//! Code of a package's sources. A source of host functions is built by [`host`], one of
//! kernels for GPUs by [`gpu`], which knows who builds its kind. Whatever a source has to report is
//! a [`SourceError`](kernpack_package::source::SourceError).

pub mod assembler;
pub mod c_compiler;
mod c_file;
pub mod cuda;
#[macro_use]
pub mod cuda_tool;
pub mod gpu;
mod gpu_file;
pub mod host;
pub mod identity;
mod include;
pub mod kernel;
pub mod nvjitlink;
pub mod nvrtc;
pub mod ptxas;
mod search;

pub use identity::Identity;
