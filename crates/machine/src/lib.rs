// SPDX-License-Identifier: Apache-2.0
//! Facts of GPUs, each once: what architectures are called and which code they run, which version
//! of PTX has which of them, the limits of blocks, grids, memory and tensor maps, and how memory
//! serves accesses. Whoever needs one of these numbers takes it from here, and what differs between
//! architectures is one table ([`multiprocessor`]).
//!
//! ```
//! use kernpack_machine::Multiprocessor;
//!
//! let hopper = Multiprocessor::of(90).expect("it is in the table");
//! assert_eq!(hopper.most_block_bytes(), 227 << 10);
//! ```
//!
//! Here are facts of machines as NVIDIA's documents and headers have them, each file with its
//! sources. Not here: limits that are ours, such as how much a kernel may have in register tensors;
//! what LLVM or the driver's functions know; attributes of the device at hand, which the driver
//! says.
//!
//! The crate depends on nothing. The runtime, which may not either, has `arch_code.rs` and
//! `tensor_map.rs` compiled into itself, by links to them: these two use nothing but `core`.

#![forbid(unsafe_code)]

mod arch;
mod arch_code;
pub mod banks;
pub mod block;
pub mod multiprocessor;
mod ptx_version;
pub mod shared;
pub mod tensor_map;

pub use arch::{Arch, ArchError, ArchKind, Suffix};
pub use arch_code::{ArchCode, best as best_arch};
pub use multiprocessor::Multiprocessor;
pub use ptx_version::PtxVersion;
