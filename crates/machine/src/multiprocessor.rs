// SPDX-License-Identifier: Apache-2.0
//! Multiprocessors, by compute capability: the one table of what differs between
//! architectures. How many blocks run at once follows.
//!
//! Sources: `cuda/__device/arch_traits.h` of [CCCL], NVIDIA's own constants of what the [CUDA
//! Programming Guide][guide] has under "Compute Capabilities"; of the units in which shared memory
//! and registers are handed out, the header `cuda_occupancy.h` of CUDA 13; of the fewest registers,
//! what nvJitLink of CUDA 13 says of fewer.
//!
//! Not here: how many registers a thread takes, which is known where a kernel is assembled.
//!
//! [CCCL]: https://github.com/NVIDIA/cccl
//! [guide]: https://docs.nvidia.com/cuda/cuda-programming-guide

use crate::block::WARP_SIZE;
use crate::shared::RESERVED_BYTES;

/// The limits of a multiprocessor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Multiprocessor {
    /// The compute capability without its point.
    pub capability: u32,
    /// The most threads at once.
    pub most_threads: u32,
    /// The most blocks at once.
    pub most_blocks: u32,
    /// Its shared memory, in KiB, with what the system keeps of it.
    pub shared_kib: u32,
}

/// The most registers of a thread.
pub const MOST_REGISTERS: u32 = 255;
/// The fewest registers of a thread: where fewer are asked for, the assembler takes these.
pub const LEAST_REGISTERS: u32 = 24;
/// The registers of a multiprocessor: as many on all of them.
pub const REGISTERS: u64 = 64 << 10;
/// The parts of a multiprocessor, each with its own share of registers.
const PARTS: u64 = 4;
/// The unit in which a warp gets registers.
const REGISTERS_UNIT: u64 = 256;

const fn row(
    capability: u32,
    most_threads: u32,
    most_blocks: u32,
    shared_kib: u32,
) -> Multiprocessor {
    Multiprocessor { capability, most_threads, most_blocks, shared_kib }
}

/// All of them that CUDA 13 has: capability, threads, blocks, shared memory.
pub const ALL: &[Multiprocessor] = &[
    row(75, 1024, 16, 64),
    row(80, 2048, 32, 164),
    row(86, 1536, 16, 100),
    row(87, 1536, 16, 164),
    row(88, 1536, 16, 100),
    row(89, 1536, 24, 100),
    row(90, 2048, 32, 228),
    row(100, 2048, 32, 228),
    row(103, 2048, 32, 228),
    row(110, 1536, 24, 228),
    row(120, 1536, 24, 100),
    row(121, 1536, 24, 100),
];

/// The first capability of which the system keeps shared memory, and that has it in smaller units.
const FIRST_RESERVING: u32 = 80;

impl Multiprocessor {
    /// That of a compute capability; nothing where it is not known here.
    pub fn of(capability: u32) -> Option<Multiprocessor> {
        ALL.iter().copied().find(|row| row.capability == capability)
    }

    /// The most of each that any has: what is too much for it is too much for all.
    pub const fn largest() -> Multiprocessor {
        let (mut most, mut rows) = (row(FIRST_RESERVING, 0, 0, 0), ALL);
        while let [row, rest @ ..] = rows {
            most.most_threads = larger(most.most_threads, row.most_threads);
            most.most_blocks = larger(most.most_blocks, row.most_blocks);
            most.shared_kib = larger(most.shared_kib, row.shared_kib);
            rows = rest;
        }
        most
    }

    /// The most blocks of so many threads that it holds at once, whatever else they need.
    pub fn most_blocks_of(self, threads: u64) -> u64 {
        let warp = u64::from(WARP_SIZE);
        let threads = threads.max(1).div_ceil(warp).saturating_mul(warp);
        (u64::from(self.most_threads) / threads).min(self.most_blocks.into())
    }

    /// The most bytes of shared memory that a block has.
    pub const fn most_block_bytes(self) -> u32 {
        (self.shared_kib << 10) - self.reserved_bytes()
    }

    /// The bytes of each block's shared memory that the system keeps.
    pub const fn reserved_bytes(self) -> u32 {
        if self.capability >= FIRST_RESERVING { RESERVED_BYTES } else { 0 }
    }

    /// The unit in which shared memory is handed out.
    const fn shared_unit(self) -> u64 {
        if self.capability >= FIRST_RESERVING { 128 } else { 256 }
    }

    /// How many blocks of so many threads and bytes of shared memory it holds at once, as far as
    /// registers do not make it fewer. Where a block may have other bytes than the table says, that
    /// counts.
    pub fn blocks_at_once(self, threads: u64, shared_bytes: u64, most_block_bytes: u64) -> u64 {
        let unit = self.shared_unit();
        let reserved = u64::from(self.reserved_bytes());
        let taken = shared_bytes.saturating_add(reserved).div_ceil(unit).saturating_mul(unit);
        let all = most_block_bytes.saturating_add(reserved);
        let by_shared = all.checked_div(taken).unwrap_or(u64::MAX);
        by_shared.min(self.most_blocks_of(threads))
    }
}

/// How many blocks of so many threads the registers of a multiprocessor suffice for, where each
/// thread takes so many.
pub fn blocks_by_registers(threads: u64, registers: u64) -> u64 {
    let warp = u64::from(WARP_SIZE);
    let warps = threads.max(1).div_ceil(warp);
    let of_warp = registers.saturating_mul(warp).div_ceil(REGISTERS_UNIT) * REGISTERS_UNIT;
    let Some(of_part) = (REGISTERS / PARTS).checked_div(of_warp) else { return u64::MAX };
    of_part * PARTS / warps
}

const fn larger(a: u32, b: u32) -> u32 {
    if a > b { a } else { b }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Arch, ArchKind, Suffix};

    /// The guide's "maximum amount of shared memory per thread block".
    #[test]
    fn a_block_has_all_but_what_is_reserved() {
        let kib =
            |capability| Multiprocessor::of(capability).map(|row| row.most_block_bytes() >> 10);
        let expected = [
            (75, 64),
            (80, 163),
            (86, 99),
            (87, 163),
            (89, 99),
            (90, 227),
            (100, 227),
            (103, 227),
            (110, 227),
            (120, 99),
            (121, 99),
        ];
        for (capability, expected) in expected {
            assert_eq!(kib(capability), Some(expected), "{capability}");
        }
        assert_eq!(crate::shared::MOST_BYTES, 227 << 10);
    }

    #[test]
    fn each_is_an_architecture_that_ptx_has() {
        for row in ALL {
            let arch = Arch { kind: ArchKind::Sm, number: row.capability, suffix: Suffix::None };
            assert!(arch.first_ptx().is_some(), "{arch}");
        }
        assert!(ALL.is_sorted_by_key(|row| row.capability));
        assert_eq!(Multiprocessor::of(77), None);
    }

    #[test]
    fn threads_blocks_and_shared_memory_bound_what_runs_at_once() {
        let at_once = |capability, threads, shared| {
            let row = Multiprocessor::of(capability).expect("it is in the table");
            row.blocks_at_once(threads, shared, row.most_block_bytes().into())
        };
        assert_eq!(at_once(90, 1024, 0), 2);
        assert_eq!(at_once(90, 1000, 0), 2);
        assert_eq!(at_once(90, 33, 0), 32);
        assert_eq!(at_once(90, 0, 0), 32);
        assert_eq!(at_once(90, 256, 0), 8);
        assert_eq!(at_once(90, 32, 40_000), 5);
        assert_eq!(at_once(90, 32, 232_448), 1);
        assert_eq!(at_once(90, 32, 232_449), 0);
        assert_eq!(at_once(89, 512, 0), 3);
        assert_eq!(at_once(86, 32, 0), 16);
        // Nothing is kept of a block's shared memory, nor where it has none.
        assert_eq!(at_once(75, 32, 32 << 10), 2);
        assert_eq!(at_once(75, 256, 0), 4);
        // 25 KiB are 26 with what is kept.
        assert_eq!(at_once(120, 128, 25 << 10), 3);
        assert_eq!(at_once(90, u64::MAX, u64::MAX), 0);
    }

    /// By the rule of `cuda_occupancy.h`: a warp gets whole units, of its part of the registers.
    #[test]
    fn registers_bound_what_runs_at_once() {
        assert_eq!(blocks_by_registers(256, 32), 8);
        assert_eq!(blocks_by_registers(256, 33), 6);
        assert_eq!(blocks_by_registers(256, 40), 6);
        assert_eq!(blocks_by_registers(256, 41), 5);
        assert_eq!(blocks_by_registers(1024, 64), 1);
        assert_eq!(blocks_by_registers(1024, 65), 0);
        assert_eq!(blocks_by_registers(128, 255), 2);
        assert_eq!(blocks_by_registers(96, 255), 2);
        assert_eq!(blocks_by_registers(32, 0), u64::MAX);
    }
}
