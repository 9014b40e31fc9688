// SPDX-License-Identifier: Apache-2.0
//! How much accesses ask of memory, counted as a launch runs: sectors of global memory, and how
//! often a warp waits for the [banks] of shared memory.
//!
//! A code generator makes one access of several side by side. [`Widths`] has which, and how wide
//! they become. What a warp accesses at the places of one of its groups is held until it comes to
//! one of its operations again, and then cut into accesses as wide as that allows.
//!
//! Counted are loads, stores, atomic operations, copies of `cp.async`, and the rows that matrices
//! are read from and written to by `ldmatrix` and `stmatrix`. Not counted: register tensors, memory
//! of other blocks of a cluster, bulk copies, and what products of warpgroups read.

use super::access::Deed;
use super::execute::Execution;
use super::memory::Memory;
use super::step::{Access, Pc};
use super::warp::lanes_of;
use crate::kernel::{File, Kernel, Place, PlaceData};
use crate::types::Space;
use kernpack_machine::banks::{self, BANKS, SECTOR_BYTES, WORD_BYTES};
use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::ops::RangeInclusive;

/// How wide the accesses of a kernel become that a code generator makes one of, by the places that
/// they are written at.
#[derive(Clone, Debug, Default)]
pub struct Widths {
    groups: HashMap<(Written, bool), Group>,
    n_groups: u32,
}

/// Where something is written: the file, the line and the column.
type Written = (Option<File>, u32, u32);

/// Accesses of which some become one.
#[derive(Clone, Copy, Debug)]
struct Group {
    number: u32,
    /// The bytes of the widest.
    bytes: u64,
}

impl Widths {
    /// Accesses at these places, all of them reading or all writing, become accesses of so many
    /// bytes at most.
    pub fn join(&mut self, places: &[PlaceData], is_write: bool, bytes: u32) {
        let group = Group { number: self.n_groups, bytes: bytes.into() };
        self.n_groups += 1;
        self.groups.extend(places.iter().map(|place| ((written(place), is_write), group)));
    }

    fn of(&self, place: &PlaceData, deed: Deed) -> Option<Group> {
        self.groups.get(&(written(place), deed == Deed::Writes)).copied()
    }
}

fn written(place: &PlaceData) -> Written {
    (place.file, place.line, place.column)
}

/// The accesses of one line to one tensor or array, as far as they are of the same kind.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Traffic {
    /// The place of the first of them.
    pub place: PlaceData,
    /// The deed.
    pub deed: Deed,
    /// The name of the tensor or array.
    pub memory: String,
    /// Whether it is global memory or that of the block.
    pub space: Space,
    /// The bytes of a thread's access.
    pub bytes: u64,
    /// How much there was.
    pub amount: Amount,
}

/// How much was accessed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Amount {
    /// How often a warp made an access.
    pub accesses: u64,
    /// How many of its threads took part, in all.
    pub threads: u64,
    /// How many sectors of global memory that took, or how often the warp waited for banks.
    pub taken: u64,
    /// The same at least, where what is accessed lies side by side.
    pub least: u64,
}

impl Amount {
    fn add(&mut self, other: Amount) {
        let Amount { accesses, threads, taken, least } = other;
        self.accesses += accesses;
        self.threads += threads;
        self.taken += taken;
        self.least += least;
    }
}

/// The multiples at which memory of the host begins. Memory of a GPU begins at larger ones: of
/// where an array of the host lies, only what is left of this says anything about a GPU.
const HOST_ALIGN: u32 = 16;

/// Accesses that are counted together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
struct Key {
    site: u32,
    deed: Deed,
    is_global: bool,
    /// The allocation, or the array of the block.
    memory: u32,
    bytes: u64,
}

/// The counts of a launch, or of a part of it.
#[derive(Debug)]
pub(super) struct Counter {
    widths: Widths,
    amounts: HashMap<Key, Amount>,
    /// Those that may still become wider, by the group, the block and its warp.
    held: HashMap<(u32, u64, u32), Held>,
}

/// Accesses of a warp that may become fewer.
#[derive(Debug)]
struct Held {
    /// The first of them, and how wide they become.
    key: Key,
    width: u64,
    /// Their operations, each of which has been here once.
    steps: Vec<Pc>,
    /// The addresses of each lane, and how many bytes there.
    pieces: BTreeMap<usize, Vec<(u64, u64)>>,
}

/// The addresses of lanes that make an access.
type Lanes = Vec<(usize, u64)>;

impl Counter {
    pub fn new(widths: &Widths) -> Counter {
        Counter { widths: widths.clone(), amounts: HashMap::new(), held: HashMap::new() }
    }

    /// Takes what another one has counted.
    pub fn add(&mut self, mut other: Counter) {
        other.release(|_| true);
        for (key, amount) in other.amounts {
            self.amounts.entry(key).or_default().add(amount);
        }
    }

    fn count(&mut self, key: Key, lanes: &[(usize, u64)]) {
        self.amounts.entry(key).or_default().add(amount(key, lanes));
    }

    /// Holds an access of a warp of a block until nothing more may become one with it.
    fn hold(&mut self, group: Group, at: (u64, u32), pc: Pc, key: Key, lanes: Lanes) {
        let place = (group.number, at.0, at.1);
        let goes_on = |held: &Held| held.key.memory == key.memory && !held.steps.contains(&pc);
        if !self.held.get(&place).is_some_and(goes_on) {
            self.let_go(place);
        }
        let held = self.held.entry(place).or_insert_with(|| Held {
            key,
            width: group.bytes,
            steps: Vec::new(),
            pieces: BTreeMap::new(),
        });
        held.steps.push(pc);
        for (lane, address) in lanes {
            held.pieces.entry(lane).or_default().push((address, key.bytes));
        }
    }

    /// Counts what warps hold, by the group, the block and its warp.
    fn release(&mut self, which: impl Fn((u32, u64, u32)) -> bool) {
        let places: Vec<_> = self.held.keys().copied().filter(|place| which(*place)).collect();
        places.into_iter().for_each(|place| self.let_go(place));
    }

    fn let_go(&mut self, place: (u32, u64, u32)) {
        let Some(Held { key, width, pieces, .. }) = self.held.remove(&place) else { return };
        // The first access of each lane is made together, then the second ...
        let mut together: BTreeMap<(usize, u64), Lanes> = BTreeMap::new();
        for (lane, pieces) in pieces {
            for (number, (address, bytes)) in joined(pieces, width).into_iter().enumerate() {
                together.entry((number, bytes)).or_default().push((lane, address));
            }
        }
        for ((_, bytes), lanes) in together {
            self.count(Key { bytes, ..key }, &lanes);
        }
    }

    /// All of it, by lines.
    pub fn traffic(
        mut self,
        kernel: &Kernel,
        sites: &[Place],
        memories: &[Cow<'_, Memory>],
    ) -> Vec<Traffic> {
        self.release(|_| true);
        let mut keys: Vec<_> = self.amounts.into_iter().collect();
        keys.sort_by_key(|(key, _)| *key);
        let mut all: Vec<Traffic> = Vec::new();
        for (key, amount) in keys {
            let (space, memory) = match key.is_global {
                true => (Space::Global, &memories[key.memory as usize].name),
                false => (Space::Shared, &kernel.shared[key.memory as usize].name),
            };
            let place = *kernel.place_of_user(sites[key.site as usize]);
            let (deed, memory, bytes) = (key.deed, memory.clone(), key.bytes);
            let new = Traffic { place, deed, memory, space, bytes, amount };
            match all.iter_mut().find(|one| one.is_with(&new)) {
                Some(one) => {
                    one.amount.add(amount);
                    one.place.column = one.place.column.min(place.column);
                }
                None => all.push(new),
            }
        }
        all.sort_by_key(|one| (one.place.file, one.place.line, one.place.column));
        all
    }
}

impl Traffic {
    /// Whether both are counted as one.
    fn is_with(&self, other: &Traffic) -> bool {
        let of = |one: &Traffic| (one.place.file, one.place.line, one.deed, one.space, one.bytes);
        of(self) == of(other) && self.memory == other.memory
    }
}

/// Accesses of a thread as a code generator joins them: what lies side by side in pieces of a power
/// of two, aligned to their size.
fn joined(mut pieces: Vec<(u64, u64)>, width: u64) -> Vec<(u64, u64)> {
    pieces.sort_unstable();
    let mut all: Vec<(u64, u64)> = Vec::new();
    let mut rest = pieces.into_iter().peekable();
    while let Some((mut address, bytes)) = rest.next() {
        let mut end = address.saturating_add(bytes);
        while let Some((_, more)) = rest.next_if(|(next, _)| *next == end) {
            end = end.saturating_add(more);
        }
        while address < end {
            let (left, mut size) = (end - address, width.max(bytes));
            while size > bytes.min(left) && (!address.is_multiple_of(size) || size > left) {
                size /= 2;
            }
            all.push((address, size));
            address = address.saturating_add(size);
        }
    }
    all
}

/// How much an access of these lanes takes.
fn amount(key: Key, lanes: &[(usize, u64)]) -> Amount {
    let (taken, least) = match key.is_global {
        true => sectors(key.bytes, lanes),
        false => waits(key.bytes, lanes),
    };
    Amount { accesses: 1, threads: lanes.len() as u64, taken, least }
}

/// The units of memory that bytes lie in.
fn units(address: u64, bytes: u64, size: u64) -> RangeInclusive<u64> {
    address / size..=address.saturating_add(bytes - 1) / size
}

/// How many sectors the bytes lie in, and how many would hold them.
fn sectors(bytes: u64, lanes: &[(usize, u64)]) -> (u64, u64) {
    let addresses: BTreeSet<u64> = lanes.iter().map(|(_, address)| *address).collect();
    let of = |address: &u64| units(*address, bytes, SECTOR_BYTES);
    let sectors: BTreeSet<u64> = addresses.iter().flat_map(of).collect();
    let least = (addresses.len() as u64 * bytes).div_ceil(SECTOR_BYTES);
    // Threads that access a part of what another one does need no more than that.
    (sectors.len() as u64, least.min(sectors.len() as u64))
}

/// How often banks serve the threads, and how often they do where no thread waits for another.
fn waits(bytes: u64, lanes: &[(usize, u64)]) -> (u64, u64) {
    let at_once = banks::threads_at_once(bytes) as usize;
    let mut parts: BTreeMap<usize, BTreeMap<u64, BTreeSet<u64>>> = BTreeMap::new();
    for (lane, address) in lanes {
        let part = parts.entry(lane / at_once).or_default();
        for word in units(*address, bytes, WORD_BYTES) {
            part.entry(word % BANKS).or_default().insert(word);
        }
    }
    let busiest = |part: &BTreeMap<u64, BTreeSet<u64>>| part.values().map(BTreeSet::len).max();
    let taken: usize = parts.values().filter_map(busiest).sum();
    (taken as u64, parts.len() as u64)
}

impl Execution<'_, '_> {
    /// Counts an access of these lanes, where that is wanted.
    #[inline]
    pub fn count(&mut self, access: &Access, deed: Deed, lanes: u32) {
        if self.machine.counter.is_some() && lanes != 0 {
            self.count_access(access, deed, lanes);
        }
    }

    fn count_access(&mut self, access: &Access, deed: Deed, lanes: u32) {
        let is_global = match access.space {
            Space::Global => true,
            Space::Shared => false,
            Space::Map | Space::Local | Space::Cluster => return,
        };
        let offsets = self.get(access.pointer + 1);
        let at = (self.block.number, self.warp.index);
        let place = self.machine.program.kernel.place(self.place());
        let Some(mut counter) = self.machine.counter.take() else { return };
        let mut rest = lanes;
        while rest != 0 {
            let (allocation, own) = self.first_allocation(access.pointer, rest);
            rest &= !own;
            let (memory, lead) = match is_global {
                true => {
                    let lead = self.machine.memories[allocation as usize].lead;
                    (allocation, u64::from(lead % HOST_ALIGN))
                }
                false => (allocation % self.cluster.n_arrays.max(1), 0),
            };
            let address = |lane: usize| (lane, offsets[lane].wrapping_add(lead));
            let lanes: Lanes = lanes_of(own).map(address).collect();
            let (site, bytes) = (access.site, access.bytes().into());
            let key = Key { site, deed, is_global, memory, bytes };
            match counter.widths.of(place, deed) {
                Some(group) if group.bytes > bytes => {
                    counter.hold(group, at, self.warp.pc, key, lanes);
                }
                Some(_) | None => counter.count(key, &lanes),
            }
        }
        self.machine.counter = Some(counter);
    }

    /// Counts what the warp has accessed last, as it ends.
    pub fn end_count(&mut self) {
        let (block, warp) = (self.block.number, self.warp.index);
        if let Some(counter) = &mut self.machine.counter {
            counter.release(|(_, of_block, of_warp)| (of_block, of_warp) == (block, warp));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::joined;

    #[test]
    fn accesses_are_cut_as_a_code_generator_joins_them() {
        let four = |first: u64| (0..4).map(|number| (first + 4 * number, 4)).collect();
        assert_eq!(joined(four(32), 16), [(32, 16)]);
        assert_eq!(joined(four(32), 8), [(32, 8), (40, 8)]);
        assert_eq!(joined(four(36), 16), [(36, 4), (40, 8), (48, 4)]);
        // An access that is wide by itself stays so, and one that nothing lies beside.
        assert_eq!(joined(vec![(2, 4)], 16), [(2, 4)]);
        assert_eq!(joined(vec![(0, 16), (16, 16)], 8), [(0, 16), (16, 16)]);
        assert_eq!(joined(vec![(8, 4), (0, 4)], 8), [(0, 4), (8, 4)]);
        // Wide ones beside narrow ones, and the same element twice.
        assert_eq!(joined(vec![(0, 4), (4, 2)], 8), [(0, 4), (4, 2)]);
        assert_eq!(joined(vec![(0, 4), (0, 4)], 8), [(0, 4), (0, 4)]);
        assert_eq!(joined(vec![(u64::MAX - 1, 4)], 16), [(u64::MAX - 1, 1)]);
    }
}
