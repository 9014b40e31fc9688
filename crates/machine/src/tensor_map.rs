// SPDX-License-Identifier: Apache-2.0
//! Limits of tensor maps, with which GPUs copy boxes of tensors.
//!
//! Source: `cuTensorMapEncodeTiled` in the [CUDA Driver API][manual]. Not here: the driver's
//! numbers for types, swizzles and the like.
//!
//! [manual]: https://docs.nvidia.com/cuda/cuda-driver-api/group__CUDA__TENSOR__MEMORY.html

/// The first major compute capability that has tensor maps.
pub const FIRST_MAJOR: u32 = 9;
/// The most dims.
pub const MOST_RANK: usize = 5;
/// The largest extent.
pub const MOST_EXTENT: i64 = 1 << 32;
/// The limit that strides are below, in bytes.
pub const STRIDE_LIMIT: i64 = 1 << 40;
/// The unit of addresses, strides and rows of a box, in bytes.
pub const UNIT_BYTES: u32 = 16;
/// The most elements of a box along one dim.
pub const MOST_IN_BOX: i64 = 256;
/// The largest step along one dim.
pub const LARGEST_STEP: i64 = 8;
/// The spans within which chunks of shared memory may change places, in bytes.
pub const SWIZZLES: [u32; 3] = [32, 64, 128];
