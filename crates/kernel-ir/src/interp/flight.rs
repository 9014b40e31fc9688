// SPDX-License-Identifier: Apache-2.0
//! Copies in flight. Each is an agent of its own, beside the warps: it reads and writes at any time
//! from the step that begins it to the wait of its thread that sees it. What it touches meanwhile
//! is marked in shadow memory, and whoever touches that, too, is found, the thread itself included.
//! Behind the wait, what it did is what its thread did there.
//!
//! Where an arrival at an mbarrier comes with copies, who waits there sees them, and the thread
//! need not.
//!
//! The bytes move at the wait: when they do makes no difference to a kernel in which nothing is
//! found.

use super::access::{Deed, Fault, Faulty, in_flight, now, touch};
use super::clock::{Event, Now};
use super::execute::{Execution, Machine};
use super::finding::Kind;
use super::marks::Marks;
use super::mbarrier::At;
use super::memory::Memory;
use super::shadow::{Shadow, Way};
use super::step::{Access, Copy};
use super::warp::{Block, Cluster, LANES, lanes_of};
use crate::types::Space;
use std::collections::VecDeque;

/// A copy that has begun.
#[derive(Clone, Copy, Debug)]
struct Flight {
    /// The array of the block, and the byte in it.
    to: (u32, u64),
    /// The allocation, and the byte in it; nothing where zeros are written.
    from: Option<(u32, u64)>,
    bytes: u32,
    /// Its mark where it reads.
    mark: Mark,
    /// The arrival that it belongs to, at an mbarrier.
    tracked: Option<Tracked>,
}

/// An arrival at an mbarrier that comes when copies are done, and the phase that it belongs to. It
/// tells those who wait what the thread knew, too, which is more than a machine promises.
#[derive(Clone, Copy, Debug)]
struct Tracked {
    at: At,
    phase: i64,
    event: Event,
}

/// The copies of a thread that are in flight.
#[derive(Debug, Default)]
struct OfThread {
    /// Those in no group yet.
    open: Vec<Flight>,
    /// The groups, the earliest first.
    groups: VecDeque<Vec<Flight>>,
}

/// The copies of a block that are in flight, by thread.
#[derive(Debug, Default)]
pub(super) struct Flights(Vec<OfThread>);

impl Flights {
    fn of(&mut self, warp: u32, lane: usize) -> &mut OfThread {
        let thread = warp as usize * LANES + lane;
        if self.0.len() <= thread {
            self.0.resize_with(thread + 1, OfThread::default);
        }
        &mut self.0[thread]
    }

    /// Whether a copy by that thread, begun there, is in no group.
    pub fn is_open(&self, event: Event, site: u32) -> bool {
        let thread = self.0.get(event.warp as usize * LANES + event.lane as usize);
        thread.is_some_and(|thread| {
            thread.open.iter().any(|one| one.mark.site == site && one.tracked.is_none())
        })
    }

    /// The copies of a thread belong to its arrival at an mbarrier.
    pub fn track(&mut self, event: Event, at: At, phase: i64) {
        let thread = self.of(event.warp, event.lane as usize);
        let groups = thread.groups.iter_mut().flatten();
        for flight in groups.chain(&mut thread.open) {
            flight.tracked.get_or_insert(Tracked { at, phase, event });
        }
    }

    /// Takes out copies that belong to arrivals.
    fn take_tracked(&mut self, which: impl Fn(&Tracked) -> bool) -> Vec<Flight> {
        let is_one = |flight: &mut Flight| flight.tracked.as_ref().is_some_and(&which);
        let mut taken = Vec::new();
        for thread in &mut self.0 {
            for flights in thread.groups.iter_mut().chain([&mut thread.open]) {
                taken.extend(flights.extract_if(.., |flight| is_one(flight)));
            }
        }
        taken
    }

    /// Forgets all.
    pub fn clear(&mut self) {
        self.0.clear();
    }
}

/// The mark of a copy in flight at a cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Mark {
    pub writes: bool,
    pub event: Event,
    /// Where it was begun: its place among those of all accesses.
    pub site: u32,
    pub by: By,
}

/// The operation that is in flight.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum By {
    /// A copy that its thread waits for.
    Copy,
    /// A copy of many bytes.
    Bulk,
    /// One that combines elements with what it copies.
    Reduction,
    /// A product of a warpgroup.
    Product,
}

impl By {
    /// As a message says it.
    pub const fn text(self) -> &'static str {
        match self {
            By::Copy | By::Bulk | By::Reduction => "copy",
            By::Product => "product",
        }
    }
}

impl Execution<'_, '_> {
    /// Each lane that runs begins a copy.
    pub fn begin_copies(&mut self, copy: &Copy) {
        let active = self.warp.active;
        self.warp.outside.access(self.place(), active);
        let given = self.where_true(copy.given);
        self.count(&copy.from, Deed::Reads, given);
        self.count(&copy.to, Deed::Writes, active);
        for lane in lanes_of(active) {
            let at = |access: &Access| {
                let file = &self.warp.file;
                let [id, offset] = [0, 1].map(|i| file[access.pointer as usize + i][lane]);
                (id as u32, offset)
            };
            let is_given = given >> lane & 1 == 1;
            let (to, from) = (at(&copy.to), is_given.then(|| at(&copy.from)));
            let bytes = copy.to.bytes();
            let event = now!(self.warp, self.block, self.cluster).event(lane as u32);
            let mark = Mark { writes: false, event, site: copy.to.site, by: By::Copy };
            let flight = Flight { to, from, bytes, mark, tracked: None };
            if self.check_source(copy, &flight, lane) & self.check_target(copy, &flight, lane) {
                change_marks(self.machine, self.cluster, &flight, Marks::add);
                self.block.flights.of(self.warp.index, lane).open.push(flight);
            }
        }
    }

    /// The copies that each lane that runs has begun become a group.
    pub fn commit_copies(&mut self) {
        for lane in lanes_of(self.warp.active) {
            let thread = self.block.flights.of(self.warp.index, lane);
            let group = std::mem::take(&mut thread.open);
            thread.groups.push_back(group);
        }
    }

    /// Each lane that runs waits for all but its last groups.
    pub fn wait_for_copies(&mut self, n_left: usize) {
        for lane in lanes_of(self.warp.active) {
            loop {
                let groups = &mut self.block.flights.of(self.warp.index, lane).groups;
                if groups.len() <= n_left {
                    break;
                }
                let group = groups.pop_front().unwrap_or_default();
                group.iter().for_each(|flight| self.land(flight, lane));
            }
        }
    }

    /// Finds copies that nobody has waited for when their warp ends.
    pub fn end_copies(&mut self) {
        if self.block.flights.0.is_empty() {
            return;
        }
        for lane in lanes_of(self.warp.lanes) {
            let thread = std::mem::take(self.block.flights.of(self.warp.index, lane));
            let open = thread.open.iter().map(|flight| (flight, ", and is in no group"));
            let in_groups = thread.groups.iter().flatten().map(|flight| (flight, ""));
            let (tracked, left) = in_groups
                .chain(open)
                .partition::<Vec<_>, _>(|(flight, _)| flight.tracked.is_some());
            // Who waits for the arrival waits for these.
            let tracked = tracked.into_iter().map(|(flight, _)| *flight);
            self.block.flights.of(self.warp.index, lane).open = tracked.collect();
            for (flight, why) in left {
                let place = self.machine.program.sites[flight.mark.site as usize];
                let message = format!("a copy is in flight when its thread ends{why}");
                self.find_at(Kind::UnawaitedCopy, place, self.thread(lane), None, message);
                self.land(flight, lane);
            }
        }
    }

    /// Whether what it reads is there. A copy that has nothing to read is left out.
    fn check_source(&mut self, copy: &Copy, flight: &Flight, lane: usize) -> bool {
        let Some((id, offset)) = flight.from else { return true };
        let memory = &self.machine.memories[id as usize];
        let shadow = self.machine.shadows[id as usize].as_ref();
        let now = now!(self.warp, self.block, self.cluster);
        let bytes = (offset, flight.bytes);
        let fault = mistake(memory, shadow, bytes, flight.bytes, Way::Read, lane, &now);
        if memory.has(offset, flight.bytes) {
            let key = self.machine.packing.pack(Way::Read, &now, copy.from.site);
            touch!(self, copy.from.space, id, bytes, key, lane, &now);
        }
        self.tell(&copy.from, id, Deed::Reads, Faulty::new(lane, offset, fault))
    }

    /// Whether what it writes is there.
    fn check_target(&mut self, copy: &Copy, flight: &Flight, lane: usize) -> bool {
        let (id, offset) = flight.to;
        let bytes = (offset, flight.bytes);
        let (memory, shadow) = &self.cluster.shared[id as usize];
        let now = now!(self.warp, self.block, self.cluster);
        let fault = mistake(memory, Some(shadow), bytes, flight.bytes, Way::Write, lane, &now);
        self.tell(&copy.to, id, Deed::Writes, Faulty::new(lane, offset, fault))
    }

    /// Says what is wrong, if anything is. Gives whether the bytes are there all the same.
    pub fn tell(&mut self, access: &Access, id: u32, deed: Deed, faulty: Option<Faulty>) -> bool {
        self.report(access, id, deed, faulty.as_slice());
        !faulty.is_some_and(|faulty| matches!(faulty.fault, Fault::OutOfBounds))
    }

    /// A copy is done, and its thread knows.
    fn land(&mut self, flight: &Flight, lane: usize) {
        change_marks(self.machine, self.cluster, flight, Marks::remove);
        self.record(flight, lane);
        let n_bytes = flight.bytes as usize;
        let zeros = [0; 16];
        let bytes = match flight.from {
            Some((id, offset)) => {
                &self.machine.memories[id as usize].bytes[offset as usize..][..n_bytes]
            }
            None => &zeros[..n_bytes],
        };
        let (id, offset) = flight.to;
        let memory = &mut self.cluster.shared[id as usize].0;
        let old = &mut memory.bytes[offset as usize..][..n_bytes];
        self.machine.changes += u64::from(old != bytes);
        old.copy_from_slice(bytes);
        if let Some(written) = &mut memory.written {
            written.set(offset as usize, flight.bytes);
        }
    }

    /// Copies are done that belong to arrivals at an mbarrier, in phases before that one.
    pub fn land_tracked(&mut self, at: At, phase: i64) {
        let done = self.block.flights.take_tracked(|one| one.at == at && one.phase < phase);
        done.iter().for_each(|flight| self.land(flight, flight.mark.event.lane as usize));
    }

    /// From now on its thread has done what a copy did. Whoever raced with that was found before.
    fn record(&mut self, flight: &Flight, lane: usize) {
        let now = match flight.tracked {
            Some(Tracked { event: Event { block, warp, time, .. }, .. }) => {
                let (block_known, warp_known) = (0, 0);
                Now { block, warp, time, block_known, warp_known, orders: None, peers: &[] }
            }
            None => now!(self.warp, self.block, self.cluster),
        };
        let packing = self.machine.packing;
        let (to, offset) = flight.to;
        for byte in offset..offset + u64::from(flight.bytes) {
            self.cluster.releases.forget((to, byte));
        }
        let shadow = &mut self.cluster.shared[to as usize].1;
        let key = packing.pack(Way::Write, &now, flight.mark.site);
        for cell in shadow.cells(offset, flight.bytes) {
            shadow.write(cell, key, lane as u32, &now);
        }
        let Some((from, offset)) = flight.from else { return };
        let Some(shadow) = &mut self.machine.shadows[from as usize] else { return };
        let key = packing.pack(Way::Read, &now, flight.mark.site);
        for cell in shadow.cells(offset, flight.bytes) {
            shadow.read(cell, key, lane as u32, &now);
        }
    }
}

/// A block ends: finds copies that belong to arrivals which nobody has waited for.
pub(super) fn end_tracked(machine: &mut Machine, cluster: &mut Cluster, block: &mut Block) {
    for flight in block.flights.take_tracked(|_| true) {
        let place = machine.program.sites[flight.mark.site as usize];
        let message = "a copy into its block's memory is in flight when the block ends".to_owned();
        let Event { block, warp, lane, .. } = flight.mark.event;
        let who = machine.thread(block, warp, lane);
        machine.find(Kind::UnawaitedCopy, place, who, None, message);
        change_marks(machine, cluster, &flight, Marks::remove);
    }
}

/// Goes through the cells that a copy touches, each with its mark there.
fn change_marks(
    machine: &mut Machine,
    cluster: &mut Cluster,
    flight: &Flight,
    f: impl Fn(&mut Marks, usize, Mark),
) {
    let to = &mut cluster.shared[flight.to.0 as usize].1;
    let mark = Mark { writes: true, ..flight.mark };
    to.cells(flight.to.1, flight.bytes).for_each(|cell| f(&mut to.marks, cell, mark));
    let Some((id, offset)) = flight.from else { return };
    if let Some(from) = &mut machine.shadows[id as usize] {
        from.cells(offset, flight.bytes).for_each(|cell| f(&mut from.marks, cell, flight.mark));
    }
}

/// The mistake of a copy that reads or writes these bytes, from a multiple of `align`, if it makes
/// one.
pub(super) fn mistake(
    memory: &Memory,
    shadow: Option<&Shadow>,
    (offset, bytes): (u64, u32),
    align: u32,
    way: Way,
    lane: usize,
    now: &Now,
) -> Option<Fault> {
    if !memory.has(offset, bytes) {
        return Some(Fault::OutOfBounds);
    }
    if !memory.is_aligned(offset, align) {
        return Some(Fault::Misaligned);
    }
    let reads = !way.writes() || way == Way::AsyncUpdate;
    let written = memory.written.as_ref().filter(|_| reads);
    if written.is_some_and(|written| !written.has_row(offset as usize, bytes)) {
        return Some(Fault::Unwritten);
    }
    let shadow = shadow?;
    let race = || {
        let cells = shadow.cells(offset, bytes);
        let (cell, seen) = shadow.first_race(cells, way, lane as u32, now)?;
        Some(Fault::Race(shadow.byte_of(cell), seen))
    };
    in_flight(shadow, offset, bytes, way).or_else(race)
}
