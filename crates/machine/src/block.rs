// SPDX-License-Identifier: Apache-2.0
//! Warps, blocks and grids, alike on every GPU: how many threads, how many blocks, and what a
//! kernel is passed.
//!
//! Sources: `cuda/__device/arch_traits.h` of [CCCL], NVIDIA's own constants of what the [CUDA
//! Programming Guide][guide] has under "Compute Capabilities"; of parameters and of the widest
//! accesses, the [PTX ISA][ptx].
//!
//! [CCCL]: https://github.com/NVIDIA/cccl
//! [guide]: https://docs.nvidia.com/cuda/cuda-programming-guide
//! [ptx]: https://docs.nvidia.com/cuda/parallel-thread-execution

/// The threads of a warp, which run together.
pub const WARP_SIZE: u32 = 32;
/// The warps of a warpgroup.
pub const WARPGROUP_WARPS: u32 = 4;
/// The threads of a warpgroup.
pub const WARPGROUP_SIZE: u32 = WARPGROUP_WARPS * WARP_SIZE;
/// The most threads of a block.
pub const MOST_THREADS: u32 = 1024;
/// The most threads of a block along each axis.
pub const MOST_THREADS_ALONG: [u32; 3] = [MOST_THREADS, MOST_THREADS, 64];
/// The most warps of a block.
pub const MOST_WARPS: u32 = MOST_THREADS / WARP_SIZE;
/// The most blocks of a grid along each axis.
pub const MOST_BLOCKS_ALONG: [u32; 3] = [(1 << 31) - 1, 65_535, 65_535];

/// The most blocks of a cluster, where a launch asks for more than the eight that every GPU with
/// clusters runs.
pub const MOST_CLUSTER_BLOCKS: u32 = 16;

/// The most bytes that a kernel is passed, on every GPU and whatever the version of PTX.
pub const MOST_PARAM_BYTES: u32 = 4096;
/// The most bytes that one access of a thread moves. It has to be aligned to as many as it moves.
pub const MOST_ACCESS_BYTES: u32 = 16;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_block_is_whole_warps() {
        assert_eq!(MOST_WARPS * WARP_SIZE, MOST_THREADS);
        assert!(WARP_SIZE.is_power_of_two() && MOST_ACCESS_BYTES.is_power_of_two());
    }
}
