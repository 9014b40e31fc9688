// SPDX-License-Identifier: Apache-2.0
//! The cells of the allocations that a launch has touched, which launches behind it may meet while
//! it still runs. Who was first to read one and who to write it is enough: whether two launches may
//! meet is the same for all their threads, but for those that have waited.
//!
//! Not here: races of one launch, which are a matter of each thread and time (`shadow.rs`).

use super::clock::Reach;
use super::launch::{Launch, cells_of};
use super::memory::{Memories, MemoryId};
use super::shadow::{Packing, Seen, Way};

/// The first read and the first write of a cell, or 0; of each the one that most others mind.
#[derive(Clone, Copy, Debug, Default)]
struct Cell {
    read: u64,
    written: u64,
}

/// The bytes that it takes to know which cells of that size a launch has touched of an allocation.
pub fn touched_bytes(cell_bytes: u32, n_bytes: u64) -> u64 {
    (n_bytes / u64::from(cell_bytes) + 1).saturating_mul(size_of::<Cell>() as u64)
}

/// The cells of every allocation. Those of one that is not touched are not there.
#[derive(Debug)]
pub(super) struct Touched {
    packing: Packing,
    allocations: Vec<Allocation>,
}

#[derive(Debug)]
struct Allocation {
    /// The bytes of a cell are two to the power of this.
    cell_log2: u32,
    n_bytes: usize,
    cells: Vec<Cell>,
}

impl Touched {
    /// A launch that has touched nothing so far.
    pub fn new(launch: &Launch, memories: &Memories, packing: Packing) -> Touched {
        let cells = cells_of(std::slice::from_ref(launch), memories);
        let allocation = |(memory, cell_bytes): (usize, u32)| Allocation {
            cell_log2: cell_bytes.ilog2(),
            n_bytes: memories.get(MemoryId(memory as u32)).bytes.len(),
            cells: Vec::new(),
        };
        let sizes = cells.into_iter().map(|cells| cells.bytes).enumerate();
        Touched { packing, allocations: sizes.map(allocation).collect() }
    }

    /// An access to bytes of an allocation, as it is packed with its lane.
    pub fn add(&mut self, memory: u32, (offset, bytes): (u64, u32), key: u64) {
        let allocation = &mut self.allocations[memory as usize];
        if allocation.cells.is_empty() {
            let n_cells = (allocation.n_bytes >> allocation.cell_log2) + 1;
            allocation.cells.resize(n_cells, Cell::default());
        }
        let range = allocation.range(offset, bytes);
        for cell in &mut allocation.cells[range] {
            let first = if Way::of(key).writes() { &mut cell.written } else { &mut cell.read };
            if *first == 0 || Way::of(key).is_minded_more(Way::of(*first)) {
                *first = key;
            }
        }
    }

    /// Forgets everything.
    pub fn forget(&mut self) {
        self.allocations.clear();
    }

    /// An access that one to these bytes would race with, and the byte where its cell begins.
    pub fn race(&self, memory: u32, (offset, bytes): (u64, u32), way: Way) -> Option<(u64, Seen)> {
        let allocation = self.allocations.get(memory as usize)?;
        let range = allocation.range(offset, bytes);
        let first = range.start;
        let cells = allocation.cells.get(range)?.iter().enumerate();
        let accesses = cells.flat_map(|(i, cell)| [(i, cell.written), (i, cell.read)]);
        accesses.filter(|(_, key)| *key != 0).find_map(|(i, key)| {
            let seen = self.packing.unpack(key);
            let byte = ((first + i) as u64) << allocation.cell_log2;
            way.minds(seen.way, Reach::Grid).then_some((byte.max(offset), seen))
        })
    }
}

impl Allocation {
    fn range(&self, offset: u64, bytes: u32) -> std::ops::Range<usize> {
        let end = offset as usize + bytes as usize;
        offset as usize >> self.cell_log2..end.div_ceil(1 << self.cell_log2)
    }
}
