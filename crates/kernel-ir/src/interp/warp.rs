// SPDX-License-Identifier: Apache-2.0
//! The state of a warp and of a block between two steps: all that a task needs to go on.

use super::bulk::BulkStores;
use super::clock::{Clock, Order, Releases};
use super::flight::Flights;
use super::mbarrier::Mbarriers;
use super::memory::{Bits, Memory};
use super::named::NamedBarriers;
use super::products::Warpgroups;
use super::program::Program;
use super::shadow::Shadow;
use super::step::Pc;
use crate::kernel::Place;

/// The threads of a warp.
pub(super) const LANES: usize = kernpack_machine::block::WARP_SIZE as usize;

/// A number for each thread of a warp.
pub(super) type Lanes = [u64; LANES];

/// The barrier or end that a warp waits at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Status {
    /// Nothing: it can go on.
    Ready,
    /// The barrier at this step.
    Barrier(Pc),
    /// The barrier of the cluster, at this step.
    Cluster(Pc),
    /// The barrier of the grid, at this step.
    Grid(Pc),
    /// The barrier of that number, at this step, until it was passed so many times.
    Named { pc: Pc, number: usize, phase: u64 },
    /// The products of its warpgroup, at this step, until all its warps have made so many groups.
    Products { pc: Pc, n_groups: u64 },
    /// The mbarrier at this array and byte, at this step, until that phase of it is complete.
    Mbarrier { pc: Pc, at: (u32, u64), phase: i64 },
    /// It has ended.
    Ended,
}

/// Where a warp is with the barrier of its cluster.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Meeting {
    /// It has not arrived.
    Away,
    /// It has arrived, and others have not.
    Arrived,
    /// All have arrived, and it has not waited for that.
    Met,
}

/// A construct that a warp is in.
#[derive(Clone, Copy, Debug)]
pub(super) enum Frame {
    /// The threads that run the second region, or those that have run the first.
    If { waiting: u32 },
    /// The threads that have left the loop, and those that have ended this turn.
    Loop { left: u32, continued: u32 },
}

/// A warp.
#[derive(Debug)]
pub(super) struct Warp {
    pub index: u32,
    pub status: Status,
    pub pc: Pc,
    /// The threads that it has: bit by bit, as in all that follows.
    pub lanes: u32,
    /// Those that run the next step.
    pub active: u32,
    pub frames: Vec<Frame>,
    pub file: Vec<Lanes>,
    pub locals: Vec<LocalMemory>,
    /// Everything that it did before this time of the block is known to all its threads.
    pub known: u64,
    /// The clocks that its threads have acquired, once one has.
    pub orders: Option<Box<[Order; LANES]>>,
    /// How many turns of loops it has run.
    pub turns: u64,
    /// The step that ended the last of them.
    pub last_turn: Pc,
    /// Its part in the barrier of its cluster.
    pub meeting: Meeting,
    /// The threads that had an index outside.
    pub outside: Outside,
    /// Whether it has read, in one step, what others may write: it may wait for them.
    pub may_wait: bool,
}

/// The threads of a warp that had an index outside, and where they made use of it: beyond memory,
/// what they access there comes of that, and is not told again. Each place of an index has one of
/// an access, the next that is new.
#[derive(Debug, Default)]
pub(super) struct Outside {
    /// Where threads had one.
    indices: Vec<(Place, u32)>,
    /// Those that have yet to make use of one, and of how many each.
    waiting: u32,
    counts: [u32; LANES],
    /// Where they did.
    places: Vec<(Place, u32)>,
}

impl Outside {
    /// A thread has an index outside.
    pub fn add(&mut self, place: Place, lane: usize) {
        let new = add_lanes(&mut self.indices, place, 1 << lane);
        if new != 0 {
            self.waiting |= new;
            self.counts[lane] += 1;
        }
    }

    /// Threads access memory.
    #[inline]
    pub fn access(&mut self, place: Place, lanes: u32) {
        if self.waiting & lanes != 0 {
            self.make_use(place, self.waiting & lanes);
        }
    }

    fn make_use(&mut self, place: Place, lanes: u32) {
        let new = add_lanes(&mut self.places, place, lanes);
        for lane in (0..LANES).filter(|lane| new >> lane & 1 == 1) {
            self.counts[lane] -= 1;
            if self.counts[lane] == 0 {
                self.waiting &= !(1 << lane);
            }
        }
    }

    /// Whether what a thread accesses there comes of an index outside.
    pub fn explains(&self, place: Place, lane: usize) -> bool {
        self.places.iter().any(|(at, lanes)| *at == place && lanes >> lane & 1 == 1)
    }

    fn clear(&mut self) {
        *self = Outside::default();
    }
}

/// Adds lanes to those of a place. Gives the new ones.
fn add_lanes(places: &mut Vec<(Place, u32)>, place: Place, lanes: u32) -> u32 {
    match places.iter_mut().find(|(at, _)| *at == place) {
        Some((_, all)) => {
            let new = lanes & !*all;
            *all |= lanes;
            new
        }
        None => {
            places.push((place, lanes));
            lanes
        }
    }
}

/// A register tensor, for each thread of a warp.
#[derive(Debug)]
pub(super) struct LocalMemory {
    /// The bytes that one thread has.
    pub size: usize,
    pub bytes: Vec<u8>,
    pub written: Bits,
}

impl Warp {
    /// A warp that has not begun.
    pub fn new(program: &Program, index: u32) -> Warp {
        let locals = program.kernel.locals.iter().map(|local| {
            let size = (local.count * local.element.bytes()) as usize;
            LocalMemory { size, bytes: vec![0; size * LANES], written: Bits::new(size * LANES) }
        });
        let mut file = vec![[0; LANES]; program.n_registers as usize];
        for (register, bits) in &program.constants {
            file[*register as usize] = [*bits; LANES];
        }
        Warp {
            index,
            status: Status::Ready,
            pc: 0,
            lanes: 0,
            active: 0,
            frames: Vec::new(),
            file,
            locals: locals.collect(),
            known: 0,
            orders: None,
            turns: 0,
            last_turn: 0,
            meeting: Meeting::Away,
            outside: Outside::default(),
            may_wait: false,
        }
    }

    /// Begins again, as a warp of another block.
    pub fn begin(&mut self, n_threads: u32) {
        let rest = n_threads - self.index * LANES as u32;
        self.lanes = if rest >= LANES as u32 { u32::MAX } else { (1 << rest) - 1 };
        self.active = self.lanes;
        (self.status, self.meeting) = (Status::Ready, Meeting::Away);
        (self.pc, self.known, self.turns, self.may_wait) = (0, 0, 0, false);
        self.outside.clear();
        self.frames.clear();
        self.orders = None;
        for local in &mut self.locals {
            local.written.clear();
        }
    }
}

/// A block.
#[derive(Debug)]
pub(super) struct Block {
    /// Its place in the order of blocks: in x first, then in y, then in z.
    pub number: u64,
    pub index: [u32; 3],
    /// Its place in its cluster, counted so too.
    pub rank: u32,
    /// How many events of order there were.
    pub time: u64,
    /// Everything that it did before this is known to all its threads.
    pub known: u64,
    /// The copies that its threads have begun.
    pub flights: Flights,
    /// Those out of shared memory, of many bytes.
    pub bulk_stores: BulkStores,
    /// Its barriers with numbers.
    pub named: NamedBarriers,
    /// The products of its warpgroups.
    pub warpgroups: Warpgroups,
    /// Whether a thread has waited for the launch in front.
    pub has_waited: bool,
    /// Whether a thread that does not know of such a wait has let the launch behind begin.
    pub lets_early: bool,
}

/// Blocks that run side by side and reach one another's shared memory. A block of a launch without
/// clusters is one of its own.
#[derive(Debug, Default)]
pub(super) struct Cluster {
    /// The arrays of its blocks: those of the first, then those of the second ...
    pub shared: Vec<(Memory, Shadow)>,
    /// How many of them a block has.
    pub n_arrays: u32,
    /// The releases to them.
    pub releases: Releases,
    /// The numbers of its blocks.
    pub blocks: Vec<u64>,
    /// Which of these have ended.
    pub has_ended: Vec<bool>,
    /// Whether a block has reached another one's memory.
    pub is_reached: bool,
    /// The mbarriers, by the array and byte that they are at.
    pub mbarriers: Mbarriers,
    /// The clock of those that have arrived at its barrier so far.
    pub arriving: Clock,
    /// That of all of them, when the last of them had.
    pub met: Clock,
}

impl Cluster {
    /// The place in the cluster of the block that has an array.
    pub fn rank_of(&self, array: u32) -> u32 {
        array / self.n_arrays.max(1)
    }
}

/// The lanes of a mask, from the first on.
pub(super) fn lanes_of(mut mask: u32) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        let lane = mask.trailing_zeros() as usize;
        mask &= mask.wrapping_sub(1);
        (lane < LANES).then_some(lane)
    })
}
