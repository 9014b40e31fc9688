// SPDX-License-Identifier: Apache-2.0
//! Shared memory of a block: what a kernel has by itself, what a launch may ask for, and what the
//! system keeps. How much each architecture has is in [`multiprocessor`](crate::multiprocessor).
//!
//! Source: `cuda/__device/arch_traits.h` of [CCCL].
//!
//! [CCCL]: https://github.com/NVIDIA/cccl

use crate::multiprocessor::Multiprocessor;

/// The most bytes that a kernel has by itself, on every GPU. For more a launch has to ask.
pub const STATIC_BYTES: u32 = 48 << 10;

/// The bytes that the system keeps of each block's, from compute capability 8.0 on.
pub const RESERVED_BYTES: u32 = 1 << 10;

/// The most bytes that a block has on any GPU, beside those. GPUs that have less refuse the launch.
pub const MOST_BYTES: u32 = Multiprocessor::largest().most_block_bytes();
