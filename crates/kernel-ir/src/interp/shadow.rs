// SPDX-License-Identifier: Apache-2.0
//! Who touched each cell of an allocation last, so that two accesses that nothing orders, and of
//! which one writes, are found. A cell is as large as the smallest access that the kernel makes: an
//! element, as a rule.
//!
//! A cell has the last plain write, and what has touched it since otherwise: plain reads and atomic
//! operations, of which there may be many. They are kept as groups of threads of a warp that did
//! the same at the same time. Most cells have one group at most.
//!
//! An access is a thread, a time and a way: plain or atomic, and for whom. Beside them
//! are the marks of copies in flight, which happen at no time yet.

use super::clock::{Clock, Event, Now, Reach, grid_of, in_grid, of_grid};
use super::marks::Marks;
use kernpack_machine::block::WARP_SIZE;
use std::ops::Range;

/// How a cell is touched.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(super) enum Way {
    Read = 1,
    Write = 2,
    /// Atomic operations that others of the block may take part in.
    AtomicReadHere = 3,
    AtomicWriteHere = 4,
    /// Those that others of the cluster may take part in.
    AtomicReadNear = 5,
    AtomicWriteNear = 6,
    /// Those that all of the device may take part in.
    AtomicRead = 7,
    AtomicWrite = 8,
    /// Those of copies of many bytes, which are done.
    AsyncRead = 9,
    AsyncWrite = 10,
    /// Atomic operations that other devices may take part in.
    AtomicReadFar = 11,
    AtomicWriteFar = 12,
    /// A copy of many bytes that combines each element in one step, for all of the device.
    AsyncUpdate = 13,
}

/// The last write, the group and its lanes.
const CELL_BYTES: u64 = 8 + 8 + 4;

/// In place of a way: the groups are in a list.
const LIST: u64 = 15;
const WAY_BITS: u32 = 4;
const LANE_BITS: u32 = WARP_SIZE.ilog2();

impl Way {
    pub fn atomic(writes: bool, reach: Reach) -> Way {
        match (writes, reach) {
            (false, Reach::Block) => Way::AtomicReadHere,
            (true, Reach::Block) => Way::AtomicWriteHere,
            (false, Reach::Cluster) => Way::AtomicReadNear,
            (true, Reach::Cluster) => Way::AtomicWriteNear,
            (false, Reach::Grid) => Way::AtomicRead,
            (true, Reach::Grid) => Way::AtomicWrite,
            (false, Reach::System) => Way::AtomicReadFar,
            (true, Reach::System) => Way::AtomicWriteFar,
        }
    }

    pub fn of(bits: u64) -> Way {
        match bits & LIST {
            1 => Way::Read,
            2 => Way::Write,
            3 => Way::AtomicReadHere,
            4 => Way::AtomicWriteHere,
            5 => Way::AtomicReadNear,
            6 => Way::AtomicWriteNear,
            7 => Way::AtomicRead,
            9 => Way::AsyncRead,
            10 => Way::AsyncWrite,
            11 => Way::AtomicReadFar,
            12 => Way::AtomicWriteFar,
            13 => Way::AsyncUpdate,
            _ => Way::AtomicWrite,
        }
    }

    pub const fn writes(self) -> bool {
        match self {
            Way::Write
            | Way::AtomicWriteHere
            | Way::AtomicWriteNear
            | Way::AtomicWrite
            | Way::AtomicWriteFar
            | Way::AsyncWrite
            | Way::AsyncUpdate => true,
            Way::Read
            | Way::AtomicReadHere
            | Way::AtomicReadNear
            | Way::AtomicRead
            | Way::AtomicReadFar
            | Way::AsyncRead => false,
        }
    }

    pub const fn is_atomic(self) -> bool {
        self.reach().is_some()
    }

    /// Who may take part in one step.
    pub const fn reach(self) -> Option<Reach> {
        match self {
            Way::Read | Way::Write | Way::AsyncRead | Way::AsyncWrite => None,
            Way::AtomicReadHere | Way::AtomicWriteHere => Some(Reach::Block),
            Way::AtomicReadNear | Way::AtomicWriteNear => Some(Reach::Cluster),
            Way::AtomicRead | Way::AtomicWrite | Way::AsyncUpdate => Some(Reach::Grid),
            Way::AtomicReadFar | Way::AtomicWriteFar => Some(Reach::System),
        }
    }

    /// Whether it was a copy of many bytes.
    pub const fn is_async(self) -> bool {
        matches!(self, Way::AsyncRead | Way::AsyncWrite | Way::AsyncUpdate)
    }

    /// Its deed, for messages.
    pub const fn text(self) -> &'static str {
        match (self.writes(), self.is_atomic()) {
            (true, true) if self.is_async() => "combines it in one step",
            (true, _) if self.is_async() => "copies into it",
            (false, _) if self.is_async() => "copies from it",
            (false, false) => "reads it",
            (true, false) => "writes it",
            (false, true) => "reads it in one step",
            (true, true) => "updates it in one step",
        }
    }

    /// Whether one that touches a cell so is minded wherever another one is that reads or writes as
    /// it does.
    pub fn is_minded_more(self, other: Way) -> bool {
        self.reach() < other.reach()
    }

    /// Whether one that touches a cell so minds another one that does, from a block that near.
    pub fn minds(self, other: Way, near: Reach) -> bool {
        let is_shared_step = match (self.reach(), other.reach()) {
            (Some(own), Some(theirs)) => own.min(theirs) >= near,
            (None, _) | (_, None) => false,
        };
        (self.writes() || other.writes()) && !is_shared_step
    }
}

/// How accesses of a launch are packed into 64 bits: from below the way, lane, warp, block, rank,
/// place in the source, and time.
#[derive(Clone, Copy, Debug)]
pub(super) struct Packing {
    warp_bits: u32,
    block_bits: u32,
    rank_bits: u32,
    site_bits: u32,
    /// The grid of the first rank.
    pub first_grid: u64,
}

/// An access, unpacked.
#[derive(Clone, Copy, Debug)]
pub(super) struct Seen {
    pub way: Way,
    pub event: Event,
    /// Its place among those of all accesses.
    pub site: u32,
}

impl Packing {
    pub fn new(n_warps: u32, n_blocks: u64, n_sites: usize) -> Packing {
        let bits = |count: u64| 64 - count.saturating_sub(1).leading_zeros();
        Packing {
            warp_bits: bits(n_warps.into()),
            block_bits: bits(n_blocks),
            rank_bits: 0,
            site_bits: bits(n_sites as u64),
            first_grid: 0,
        }
    }

    /// The same for so many ranks, whose grids have the numbers from that one on.
    pub fn of_ranks(self, n_ranks: usize, first_grid: u64) -> Packing {
        let rank_bits = n_ranks.next_power_of_two().ilog2();
        Packing { rank_bits, first_grid, ..self }
    }

    /// How far the operations reach that everybody may take part in.
    fn widest(self) -> Reach {
        if self.rank_bits > 0 { Reach::System } else { Reach::Grid }
    }

    /// The bits of blocks of all ranks.
    fn all_block_bits(self) -> u32 {
        self.block_bits + self.rank_bits
    }

    /// The latest time that fits; nothing where there is hardly room for any.
    pub fn most_time(self) -> Option<u64> {
        let used = WAY_BITS + LANE_BITS + self.warp_bits + self.all_block_bits() + self.site_bits;
        (used <= 54).then(|| (1 << (64 - used)) - 1)
    }

    /// An access by a warp, as its lane 0.
    pub fn pack(self, way: Way, now: &Now, site: u32) -> u64 {
        let mut bits = now.time;
        bits = bits << self.site_bits | u64::from(site);
        bits = bits << self.rank_bits | (grid_of(now.block) - self.first_grid);
        bits = bits << self.block_bits | in_grid(now.block);
        bits = bits << self.warp_bits | u64::from(now.warp);
        bits << (LANE_BITS + WAY_BITS) | way as u64
    }

    pub fn unpack(self, bits: u64) -> Seen {
        let take = |from: u32, count: u32| bits >> from & ((1 << count) - 1);
        let lane = WAY_BITS;
        let warp = lane + LANE_BITS;
        let block = warp + self.warp_bits;
        let rank = block + self.block_bits;
        let site = rank + self.rank_bits;
        let grid = self.first_grid + take(rank, self.rank_bits);
        let event = Event {
            lane: take(lane, LANE_BITS) as u32,
            warp: take(warp, self.warp_bits) as u32,
            block: of_grid(grid, take(block, self.block_bits)),
            time: bits >> (site + self.site_bits),
        };
        Seen { way: Way::of(bits), event, site: take(site, self.site_bits) as u32 }
    }

    /// All but the place in the source.
    fn without_site(self, bits: u64) -> u64 {
        let from = WAY_BITS + LANE_BITS + self.warp_bits + self.all_block_bits();
        bits & !(((1 << self.site_bits) - 1) << from)
    }
}

/// An access, packed, that a lane makes.
pub(super) fn by_lane(key: u64, lane: u32) -> u64 {
    key | u64::from(lane) << WAY_BITS
}

/// Threads of a warp that did the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Group {
    key: u64,
    lanes: u32,
}

/// The most groups that a cell keeps: of a cell that more threads touch without order, the earliest
/// are forgotten.
const MOST_GROUPS: usize = 1024;
/// The bytes that lists of groups have in any case, and for each cell besides. Where there are
/// more, cells keep no more groups than they have: the earliest are forgotten.
const LIST_BYTES: usize = 4 << 20;
const LIST_BYTES_PER_CELL: usize = 3;

#[derive(Clone, Debug, Default)]
struct Groups {
    all: Vec<Group>,
    has_atomics: bool,
    has_plain_or_narrow: bool,
}

/// The cells of an allocation, with who touched them.
#[derive(Debug)]
pub(super) struct Shadow {
    packing: Packing,
    /// The bytes of a cell are two to the power of this.
    cell_log2: u32,
    /// The last plain write, or 0.
    writers: Vec<u64>,
    /// The group that has touched it since, 0, or the number of a list.
    groups: Vec<u64>,
    lanes: Vec<u32>,
    lists: Vec<Groups>,
    free: Vec<u64>,
    /// The bytes of all lists.
    list_bytes: usize,
    /// Whether groups were forgotten that may still count.
    has_forgotten: bool,
    /// The operations in flight that touch cells.
    pub marks: Marks,
}

impl Shadow {
    /// The bytes that it takes for an allocation whose cells are of that size, at most, and but for
    /// what is the same for any.
    pub fn most_bytes(n_bytes: u64, cell_bytes: u32) -> u64 {
        (n_bytes / u64::from(cell_bytes) + 1)
            .saturating_mul(CELL_BYTES + LIST_BYTES_PER_CELL as u64)
    }

    /// The bytes that it takes.
    pub fn bytes(&self) -> u64 {
        self.writers.len() as u64 * CELL_BYTES + self.list_bytes as u64
    }

    /// Whether lists may have more bytes.
    fn has_room(&self) -> bool {
        self.list_bytes < LIST_BYTES + self.writers.len() * LIST_BYTES_PER_CELL
    }

    pub fn new(n_bytes: usize, cell_bytes: u32, packing: Packing) -> Shadow {
        let cell_log2 = cell_bytes.ilog2();
        let n_cells = (n_bytes >> cell_log2) + 1;
        Shadow {
            packing,
            cell_log2,
            writers: vec![0; n_cells],
            groups: vec![0; n_cells],
            lanes: vec![0; n_cells],
            lists: Vec::new(),
            free: Vec::new(),
            list_bytes: 0,
            has_forgotten: false,
            marks: Marks::default(),
        }
    }

    /// Whether who has touched a cell is known of every one, so that every race was found.
    pub fn knows_all(&self) -> bool {
        !self.has_forgotten
    }

    /// How many cells there are.
    pub fn n_cells(&self) -> usize {
        self.writers.len()
    }

    /// The bytes of a cell.
    pub fn cell_bytes(&self) -> usize {
        1 << self.cell_log2
    }

    /// Whether anybody has written a cell. No atomic operation has.
    #[inline]
    pub fn is_written(&self, cell: usize) -> bool {
        self.writers[cell] != 0
    }

    /// Whether anybody has touched a cell.
    #[inline]
    pub fn is_touched(&self, cell: usize) -> bool {
        self.writers[cell] | self.groups[cell] != 0
    }

    /// Forgets everything.
    pub fn clear(&mut self) {
        self.writers.fill(0);
        self.groups.fill(0);
        self.marks = Marks::default();
        self.free = (0..self.lists.len() as u64).collect();
    }

    /// The cells of these bytes.
    #[inline]
    pub fn cells(&self, offset: u64, bytes: u32) -> Range<usize> {
        let end = offset as usize + bytes as usize;
        offset as usize >> self.cell_log2..end.div_ceil(1 << self.cell_log2)
    }

    /// Where a cell begins.
    pub fn byte_of(&self, cell: usize) -> u64 {
        (cell as u64) << self.cell_log2
    }

    /// A lane reads a cell. Gives an access that it races with.
    #[inline]
    pub fn read(&mut self, cell: usize, key: u64, lane: u32, now: &Now) -> Option<Seen> {
        let race = self.race_with_writer(cell, lane, now);
        let group = self.groups[cell];
        if group == 0 {
            self.groups[cell] = key;
            self.lanes[cell] = 1 << lane;
        } else if group == key {
            self.lanes[cell] |= 1 << lane;
        } else {
            let other = self.race_with_groups(cell, Way::Read, lane, now);
            self.record(cell, key, lane, now);
            return race.or(other);
        }
        race
    }

    /// A lane writes a cell.
    #[inline]
    pub fn write(&mut self, cell: usize, key: u64, lane: u32, now: &Now) -> Option<Seen> {
        let mut race = self.race_with_writer(cell, lane, now);
        let group = self.groups[cell];
        if group != 0 {
            race = race.or_else(|| self.race_with_groups(cell, Way::Write, lane, now));
            if let Some(list) = list_of(group) {
                self.free.push(list as u64);
            }
            self.groups[cell] = 0;
        }
        self.writers[cell] = by_lane(key, lane);
        race
    }

    /// A lane touches a cell in one step.
    pub fn atomic(&mut self, cell: usize, key: u64, lane: u32, now: &Now) -> Option<Seen> {
        let race = self.race(cell, Way::of(key), lane, now);
        self.record(cell, key, lane, now);
        race
    }

    /// An access that one by a lane would race with.
    pub fn race(&self, cell: usize, way: Way, lane: u32, now: &Now) -> Option<Seen> {
        let race = self.race_with_writer(cell, lane, now);
        race.or_else(|| self.race_with_groups(cell, way, lane, now))
    }

    /// The first of these cells with an access that one by a lane would race with.
    pub fn first_race(
        &self,
        cells: Range<usize>,
        way: Way,
        lane: u32,
        now: &Now,
    ) -> Option<(usize, Seen)> {
        self.unlike(cells).find_map(|cell| Some((cell, self.race(cell, way, lane, now)?)))
    }

    /// Those of some cells that are not like the one before: what holds for that one, holds for
    /// the others, which are most that are side by side.
    pub fn unlike(&self, cells: impl Iterator<Item = usize>) -> impl Iterator<Item = usize> {
        let mut before = None;
        cells.filter(move |cell| {
            !before.replace(*cell).is_some_and(|before| self.is_alike(before, *cell))
        })
    }

    /// Whether the same is known of two cells.
    fn is_alike(&self, one: usize, other: usize) -> bool {
        let [[writer, group, lanes], theirs] = [one, other]
            .map(|cell| [self.writers[cell], self.groups[cell], self.lanes[cell].into()]);
        let is_same_list = || match (list_of(group), list_of(theirs[1])) {
            (Some(own), Some(their)) => self.lists[own].all == self.lists[their].all,
            _ => group == theirs[1] && lanes == theirs[2],
        };
        writer == theirs[0] && is_same_list()
    }

    /// The first access that another block made, and that a clock does not know, with its cell.
    pub fn unknown_of_others(&self, own: u64, clock: &Clock) -> Option<(usize, Seen)> {
        (0..self.n_cells()).find_map(|cell| {
            let seen =
                self.seen(cell).find(|seen| seen.event.block != own && !clock.knows(seen.event))?;
            Some((cell, seen))
        })
    }

    /// Who has touched a cell, as far as it is kept.
    fn seen(&self, cell: usize) -> impl Iterator<Item = Seen> {
        let one = Group { key: self.groups[cell], lanes: self.lanes[cell] };
        let groups = match list_of(one.key) {
            Some(list) => &self.lists[list].all[..],
            None => &[],
        };
        let writer = self.packing.unpack(self.writers[cell]);
        let one = (list_of(one.key).is_none() && one.key != 0).then_some(one);
        let touched = groups.iter().copied().chain(one).flat_map(|group| {
            let seen = self.packing.unpack(group.key);
            let lanes = (0..WARP_SIZE).filter(move |lane| group.lanes >> lane & 1 == 1);
            lanes.map(move |lane| Seen { event: Event { lane, ..seen.event }, ..seen })
        });
        (self.writers[cell] != 0).then_some(writer).into_iter().chain(touched)
    }

    /// A launch is over, and with it copies that nobody had to wait for: they have written.
    pub fn end_rows(&mut self) {
        for rows in self.marks.take_written() {
            for row in rows.iter() {
                self.writers[row].iter_mut().for_each(|writer| *writer |= 1);
            }
        }
    }

    /// Threads that have written a cell, as far as it is kept.
    pub fn written_by_threads(&self, cell: usize) -> impl Iterator<Item = Seen> {
        self.seen(cell).filter(|seen| seen.way.writes() && !seen.way.is_async())
    }

    #[inline]
    fn race_with_writer(&self, cell: usize, lane: u32, now: &Now) -> Option<Seen> {
        let writer = self.writers[cell];
        if writer == 0 {
            return None;
        }
        let seen = self.packing.unpack(writer);
        if now.knows(lane, seen.event) { None } else { Some(seen) }
    }

    fn race_with_groups(&self, cell: usize, way: Way, lane: u32, now: &Now) -> Option<Seen> {
        let Some(list) = list_of(self.groups[cell]) else {
            let group = Group { key: self.groups[cell], lanes: self.lanes[cell] };
            return self.race_with(group, way, lane, now);
        };
        let groups = &self.lists[list];
        let may_mind = match way {
            Way::Read | Way::AsyncRead => groups.has_atomics,
            Way::Write
            | Way::AsyncWrite
            | Way::AtomicReadHere
            | Way::AtomicWriteHere
            | Way::AtomicReadNear
            | Way::AtomicWriteNear => true,
            Way::AtomicRead
            | Way::AtomicWrite
            | Way::AtomicReadFar
            | Way::AtomicWriteFar
            | Way::AsyncUpdate => {
                groups.has_plain_or_narrow || way.reach() < Some(self.packing.widest())
            }
        };
        if !may_mind {
            return None;
        }
        groups.all.iter().find_map(|group| self.race_with(*group, way, lane, now))
    }

    fn race_with(&self, group: Group, way: Way, lane: u32, now: &Now) -> Option<Seen> {
        if group.key == 0 {
            return None;
        }
        let mut seen = self.packing.unpack(group.key);
        if !way.minds(seen.way, now.near(seen.event.block)) {
            return None;
        }
        seen.event.lane = unknown_lane(group, seen, lane, now)?;
        Some(seen)
    }

    /// Whether a group need not be kept behind a new access: whoever is ordered behind the new one
    /// is ordered behind the group, and whoever minds the group minds the new one.
    fn is_covered(&self, group: Group, way: Way, lane: u32, now: &Now) -> bool {
        let seen = self.packing.unpack(group.key);
        let is_as_strict = way == seen.way || way.writes() && !way.is_atomic();
        is_as_strict && unknown_lane(group, seen, lane, now).is_none()
    }

    fn record(&mut self, cell: usize, key: u64, lane: u32, now: &Now) {
        let new = Group { key, lanes: 1 << lane };
        let old = Group { key: self.groups[cell], lanes: self.lanes[cell] };
        let is_same =
            |group: &Group| self.packing.without_site(group.key) == self.packing.without_site(key);
        if old.key == 0 {
            self.groups[cell] = key;
            self.lanes[cell] = new.lanes;
            return;
        }
        let Some(list) = list_of(old.key) else {
            if is_same(&old) {
                self.lanes[cell] |= new.lanes;
            } else if self.is_covered(old, Way::of(key), lane, now) {
                self.groups[cell] = key;
                self.lanes[cell] = new.lanes;
            } else if self.has_room() {
                self.groups[cell] = self.keep(&[old, new]);
            } else {
                self.has_forgotten = true;
                self.groups[cell] = key;
                self.lanes[cell] = new.lanes;
            }
            return;
        };
        match self.lists[list].all.iter_mut().rev().take(32).find(|group| is_same(group)) {
            Some(group) => group.lanes |= new.lanes,
            None => self.push(list, new, lane, now),
        }
    }

    fn push(&mut self, list: usize, new: Group, lane: u32, now: &Now) {
        let mut groups = std::mem::take(&mut self.lists[list]);
        if groups.all.len() >= 8 && groups.all.len().is_power_of_two() {
            let way = Way::of(new.key);
            groups.all.retain(|group| !self.is_covered(*group, way, lane, now));
        }
        if groups.all.len() >= MOST_GROUPS {
            groups.all.drain(..MOST_GROUPS / 2);
            self.has_forgotten = true;
        }
        let before = groups.bytes();
        if groups.all.len() == groups.all.capacity() && !self.has_room() {
            groups.all.remove(0);
            self.has_forgotten = true;
        }
        groups.push(new, self.packing.widest());
        self.list_bytes += groups.bytes() - before;
        self.lists[list] = groups;
    }

    /// Keeps a list of these; gives what stands for it.
    fn keep(&mut self, groups: &[Group]) -> u64 {
        let place = self.free.pop().unwrap_or_else(|| {
            self.lists.push(Groups::default());
            self.list_bytes += size_of::<Groups>();
            self.lists.len() as u64 - 1
        });
        let list = &mut self.lists[place as usize];
        let before = list.bytes();
        list.clear();
        groups.iter().for_each(|group| list.push(*group, self.packing.widest()));
        self.list_bytes += list.bytes() - before;
        place << WAY_BITS | LIST
    }
}

impl Groups {
    fn bytes(&self) -> usize {
        size_of::<Groups>() + self.all.capacity() * size_of::<Group>()
    }

    /// Empties the list, and keeps its memory.
    fn clear(&mut self) {
        self.all.clear();
        (self.has_atomics, self.has_plain_or_narrow) = (false, false);
    }

    fn push(&mut self, group: Group, widest: Reach) {
        let way = Way::of(group.key);
        self.has_atomics |= way.is_atomic();
        self.has_plain_or_narrow |= way.reach() < Some(widest);
        self.all.push(group);
    }
}

fn list_of(group: u64) -> Option<usize> {
    (group & LIST == LIST).then_some((group >> WAY_BITS) as usize)
}

/// The first lane of a group that did what did not happen before.
fn unknown_lane(group: Group, seen: Seen, lane: u32, now: &Now) -> Option<u32> {
    let mut lanes = group.lanes;
    // All other lanes know alike what its lanes did.
    while lanes != 0 {
        let other = lanes.trailing_zeros();
        if !now.knows(lane, Event { lane: other, ..seen.event }) {
            return Some(other);
        }
        lanes &= lanes - 1;
    }
    None
}
