// SPDX-License-Identifier: Apache-2.0
//! Blocks of one cluster: their barrier, and the shared memory of one that others reach.
//!
//! A block's memory is there from its beginning to its end. Who reaches it has to know that it has
//! begun, and it may end only when it knows that nobody reaches it any more: both are found out by
//! what is ordered, not by which of them happened to be first.

use super::access::{Deed, Fault, Faulty, now};
use super::atomic::new_orders;
use super::bulk::end_bulk;
use super::clock::{self, Clock, Now};
use super::execute::{Execution, Machine};
use super::finding::Kind;
use super::flight::end_tracked;
use super::launch::product;
use super::memory::Memory;
use super::products::end_products;
use super::shadow::Shadow;
use super::step::{Access, Register};
use super::warp::{Block, Cluster, Meeting, Status, Warp, lanes_of};
use crate::types::Space;

/// Why a block's memory may not be there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Absence {
    /// Nothing says that the block has begun.
    Early,
    /// It has ended.
    Late,
}

impl Execution<'_, '_> {
    /// The warp arrives at the barrier of the cluster.
    pub fn arrive(&mut self, is_release: bool) {
        self.require_all(Kind::DivergentBarrier, "the cluster's barrier");
        if self.warp.meeting != Meeting::Away {
            let message = "arrives at the cluster's barrier again before it has waited there";
            self.find(Kind::MisusedBarrier, self.first_lane(), None, message);
        }
        match is_release {
            true => {
                let clock = now!(self.warp, self.block, self.cluster).clock_of_warp();
                self.cluster.arriving.join(&clock);
            }
            false => self.cluster.arriving.hear_of(self.block.number),
        }
        self.pass_time();
        self.warp.meeting = Meeting::Arrived;
    }

    /// The warp waits until all have arrived.
    pub fn meet(&mut self) {
        self.require_all(Kind::DivergentBarrier, "the cluster's barrier");
        match self.warp.meeting {
            Meeting::Arrived => return self.block_on(Status::Cluster(self.warp.pc)),
            Meeting::Met => {
                let orders = self.warp.orders.get_or_insert_with(new_orders);
                clock::teach(orders, &self.cluster.met);
            }
            Meeting::Away => {
                let message = "waits at the cluster's barrier, where it has not arrived";
                self.find(Kind::MisusedBarrier, self.first_lane(), None, message);
            }
        }
        self.warp.meeting = Meeting::Away;
        self.warp.pc += 1;
    }

    /// The same place in the memory of other blocks. One that the cluster has not is told, and its
    /// thread goes on with its own block's.
    pub fn map(&mut self, pointer: Register, rank: Register, out: Register) {
        let (mut arrays, ranks) = (self.get(pointer), self.get(rank));
        let (n_arrays, n_blocks) = (self.cluster.n_arrays, self.cluster.blocks.len() as u64);
        for lane in lanes_of(self.warp.active) {
            let rank = ranks[lane] as u32 as i32;
            let array = arrays[lane] as u32 % n_arrays.max(1);
            match u64::try_from(rank) {
                Ok(rank) if rank < n_blocks => {
                    arrays[lane] = (rank as u32 * n_arrays + array).into();
                }
                _ => {
                    let message =
                        format!("block {rank} of the cluster is out of bounds: it has {n_blocks}");
                    self.find(Kind::IndexOutOfBounds, lane, None, message);
                }
            }
        }
        self.set(out, arrays);
        self.set(out + 1, self.get(pointer + 1));
    }

    /// Finds lanes that reach the memory of a block that may not be there.
    pub fn check_presence(&mut self, access: &Access, array: u32, deed: Deed, lanes: u32) {
        if access.space != Space::Cluster {
            return;
        }
        let rank = self.cluster.rank_of(array);
        if rank == self.block.rank {
            return;
        }
        self.cluster.is_reached = true;
        let number = self.cluster.blocks[rank as usize];
        let has_ended = self.cluster.has_ended[rank as usize];
        let offsets = self.get(access.pointer + 1);
        for lane in lanes_of(lanes) {
            let now = now!(self.warp, self.block, self.cluster);
            let absence = match (now.has_heard_of(lane as u32, number), has_ended) {
                (false, _) => Some(Absence::Early),
                (true, true) => Some(Absence::Late),
                (true, false) => None,
            };
            let block = self.machine.index_of(number);
            let fault = absence.map(|absence| Fault::Absent(absence, block));
            self.report(access, array, deed, Faulty::new(lane, offsets[lane], fault).as_slice());
        }
    }
}

/// A block ends: finds who may reach its memory later.
pub(super) fn end_block(
    machine: &mut Machine,
    cluster: &mut Cluster,
    block: &mut Block,
    warps: &[Warp],
) {
    cluster.has_ended[block.rank as usize] = true;
    end_bulk(machine, cluster, block);
    end_tracked(machine, cluster, block);
    end_products(machine, block);
    if !cluster.is_reached {
        return;
    }
    let mut known = Clock::default();
    for order in warps.iter().filter_map(|warp| warp.orders.as_deref()).flatten() {
        known.join(&order.acquired);
    }
    let first = (block.rank * cluster.n_arrays) as usize;
    for (memory, shadow) in &cluster.shared[first..first + cluster.n_arrays as usize] {
        let Some((cell, seen)) = shadow.unknown_of_others(block.number, &known) else { continue };
        let deed = if seen.way.writes() { Deed::Writes } else { Deed::Reads };
        let element = memory.element_at(shadow.byte_of(cell));
        let thread = machine.doer(seen.event, seen.site);
        let message = absent(&element, machine.index_of(block.number), deed, Absence::Late);
        let place = machine.program.sites[seen.site as usize];
        machine.find(Kind::AbsentBlock, place, thread, None, message);
    }
}

/// An access to a block that may not be there, in words.
pub(super) fn absent(element: &str, [x, y, z]: [u32; 3], deed: Deed, why: Absence) -> String {
    let why = match why {
        Absence::Early => "may not have begun: nothing orders that before",
        Absence::Late => "may have ended: nothing keeps it from that",
    };
    format!("{} `{element}` of block ({x}, {y}, {z}), which {why}", deed.text())
}

impl Cluster {
    /// A cluster whose blocks have these shared arrays, and have not begun.
    pub fn new(shared: Vec<(Memory, Shadow)>, n_arrays: u32) -> Cluster {
        Cluster { shared, n_arrays, ..Cluster::default() }
    }

    /// Begins again, with blocks of these numbers.
    pub fn begin(&mut self, blocks: Vec<u64>) {
        for (memory, shadow) in &mut self.shared {
            shadow.clear();
            if let Some(written) = &mut memory.written {
                written.clear();
            }
        }
        let (shared, n_arrays) = (std::mem::take(&mut self.shared), self.n_arrays);
        let has_ended = vec![false; blocks.len()];
        *self = Cluster { shared, n_arrays, blocks, has_ended, ..Cluster::default() };
    }
}

/// The numbers of a cluster's blocks, in their order in it.
pub(super) fn blocks_of(number: u64, grid: [u32; 3], cluster: [u32; 3]) -> Vec<u64> {
    let [gx, gy, _] = grid.map(u64::from);
    let [cx, cy, cz] = cluster.map(u64::from);
    let (nx, ny) = (gx / cx, gy / cy);
    let [x, y, z] = [number % nx * cx, number / nx % ny * cy, number / nx / ny * cz];
    let one = |rank: u64| {
        let [i, j, k] = [rank % cx, rank / cx % cy, rank / cx / cy];
        ((z + k) * gy + y + j) * gx + x + i
    };
    (0..product(cluster)).map(one).collect()
}
