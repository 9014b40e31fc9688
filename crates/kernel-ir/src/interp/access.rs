// SPDX-License-Identifier: Apache-2.0
//! Loads and stores: each is held against its allocation's bounds, its alignment, what was written
//! and who else touches the cell. What is wrong is found, and the run goes on as well as it can: a
//! read outside gives 0, and a write outside is left out.

use super::clock::Now;
use super::cluster::{Absence, absent};
use super::execute::Execution;
use super::finding::{Kind, Other};
use super::flight::{By, Mark};
use super::memory::{Memory, fetch, put};
use super::products::is_of_warpgroup;
use super::shadow::{Seen, Shadow, Way};
use super::step::{Access, Register};
use super::warp::{LANES, LocalMemory, lanes_of};
use crate::kernel::LOCAL_ALIGN;
use crate::types::Space;
use std::ops::Deref;

/// The mistake of an access.
#[derive(Clone, Copy, Debug)]
pub(super) enum Fault {
    OutOfBounds,
    Misaligned,
    Unwritten,
    ReadOnly,
    /// Another access to the cell that begins at this byte.
    Race(u64, Seen),
    /// A copy in flight that touches the cell that begins at this byte.
    InFlight(u64, Mark),
    /// The memory of that block, which may not be there.
    Absent(Absence, [u32; 3]),
}

/// An access that something is wrong with.
#[derive(Clone, Copy, Debug)]
pub(super) struct Faulty {
    pub lane: usize,
    pub offset: u64,
    pub fault: Fault,
}

impl Faulty {
    /// The mistake of a lane's access, if it made one.
    pub fn new(lane: usize, offset: u64, fault: Option<Fault>) -> Option<Faulty> {
        fault.map(|fault| Faulty { lane, offset, fault })
    }
}

/// The deed of an access.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Deed {
    /// A load.
    Reads,
    /// A store.
    Writes,
    /// An atomic operation that does both.
    Updates,
    /// A prefetch, which gives nothing.
    Prefetches,
}

impl Deed {
    /// The word in messages.
    pub fn text(self) -> &'static str {
        match self {
            Deed::Reads => "reads",
            Deed::Writes => "writes",
            Deed::Updates => "updates",
            Deed::Prefetches => "prefetches",
        }
    }

    pub(super) fn passive(self) -> &'static str {
        match self {
            Deed::Reads => "read",
            Deed::Writes => "written",
            Deed::Updates => "updated",
            Deed::Prefetches => "prefetched",
        }
    }
}

/// Clocks of a warp and its block, as they are now. The rest of both can be changed meanwhile.
macro_rules! now {
    ($warp:expr, $block:expr, $cluster:expr) => {
        Now {
            block: $block.number,
            warp: $warp.index,
            time: $block.time,
            block_known: $block.known,
            warp_known: $warp.known,
            orders: $warp.orders.as_deref(),
            peers: &$cluster.blocks,
        }
    };
}
pub(super) use now;

/// The parts of a warp, its cluster and its launch that an access needs at once: the memory to be
/// changed (`to_mut`), or as it is (`deref`).
macro_rules! split {
    ($self:ident, $space:expr, $id:expr, $memory:ty, $how:ident) => {{
        let (warp, block) = (&mut *$self.warp, &*$self.block);
        let now = now!(warp, block, $self.cluster);
        let (memory, shadow): ($memory, Option<&mut Shadow>) = match $space {
            Space::Shared | Space::Cluster => {
                let (memory, shadow) = &mut $self.cluster.shared[$id as usize];
                (memory, Some(shadow))
            }
            Space::Global | Space::Map | Space::Local => (
                $self.machine.memories[$id as usize].$how(),
                $self.machine.shadows[$id as usize].as_mut(),
            ),
        };
        (now, memory, shadow, &mut warp.file)
    }};
}
pub(super) use split;

/// Tells other launches of a lane's access to global memory. What the access needs of the machine
/// beside them is borrowed meanwhile.
macro_rules! touch {
    ($self:ident, $space:expr, $id:expr, $bytes:expr, $key:expr, $lane:expr, $now:expr) => {
        if let (Space::Global, Some(dependence)) = ($space, &mut $self.machine.dependence) {
            dependence.touch($id, $bytes, $key, $lane, $now);
        }
        if let (Space::Global, Some(together)) = ($space, &mut $self.machine.together) {
            together.touch($id, $bytes, $key, $lane, $now);
        }
    };
}
pub(super) use touch;

impl Execution<'_, '_> {
    /// Gives each lane that runs, and for which a condition holds, what lies at its address.
    pub fn load(&mut self, access: &Access, out: Register, guard: Option<(Register, Register)>) {
        let mut rest = self.warp.active;
        if let Some((condition, otherwise)) = guard {
            rest = self.where_true(condition);
            for i in 0..access.count {
                self.set(out + i, self.get(otherwise + i));
            }
        }
        self.load_for(access, out, rest);
    }

    /// Gives each of these lanes what lies at its address.
    pub fn load_for(&mut self, access: &Access, out: Register, lanes: u32) {
        let mut rest = lanes;
        self.warp.outside.access(self.place(), rest);
        self.count(access, Deed::Reads, lanes);
        while rest != 0 {
            let (allocation, lanes) = self.first_allocation(access.pointer, rest);
            rest &= !lanes;
            let faults = match access.space {
                Space::Local => self.load_local(access, out, allocation, lanes),
                Space::Global | Space::Map | Space::Shared | Space::Cluster => {
                    self.load_from(access, out, allocation, lanes)
                }
            };
            self.check_presence(access, allocation, Deed::Reads, lanes);
            self.check_plain(access, allocation, Deed::Reads, lanes);
            self.report(access, allocation, Deed::Reads, &faults);
        }
    }

    /// Puts a value at the address of each lane that runs, and for which a condition holds.
    pub fn store(&mut self, access: &Access, value: Register, condition: Option<Register>) {
        let lanes = match condition {
            Some(condition) => self.where_true(condition),
            None => self.warp.active,
        };
        self.store_for(access, value, lanes);
    }

    /// Puts a value at the address of each of these lanes.
    pub fn store_for(&mut self, access: &Access, value: Register, lanes: u32) {
        let mut rest = lanes;
        self.warp.outside.access(self.place(), rest);
        self.count(access, Deed::Writes, lanes);
        while rest != 0 {
            let (allocation, lanes) = self.first_allocation(access.pointer, rest);
            rest &= !lanes;
            let faults = match access.space {
                Space::Local => self.store_local(access, value, allocation, lanes),
                Space::Global | Space::Map | Space::Shared | Space::Cluster => {
                    self.store_to(access, value, allocation, lanes)
                }
            };
            self.check_presence(access, allocation, Deed::Writes, lanes);
            self.check_plain(access, allocation, Deed::Writes, lanes);
            self.report(access, allocation, Deed::Writes, &faults);
        }
    }

    /// Finds lanes that prefetch what is not there. Nothing else comes of it.
    pub fn prefetch(&mut self, access: &Access) {
        let (mut rest, offsets) = (self.warp.active, self.get(access.pointer + 1));
        self.warp.outside.access(self.place(), rest);
        while rest != 0 {
            let (allocation, lanes) = self.first_allocation(access.pointer, rest);
            rest &= !lanes;
            let memory = &self.machine.memories[allocation as usize];
            let is_outside = |lane: &usize| !memory.has(offsets[*lane], access.bytes());
            let outside = lanes_of(lanes).filter(is_outside);
            let faults: Vec<_> = outside
                .map(|lane| Faulty { lane, offset: offsets[lane], fault: Fault::OutOfBounds })
                .collect();
            self.report(access, allocation, Deed::Prefetches, &faults);
        }
    }

    /// The allocation of the first of these lanes, and which of them are in it too.
    pub fn first_allocation(&self, pointer: Register, lanes: u32) -> (u32, u32) {
        let allocations = &self.warp.file[pointer as usize];
        let first = allocations[lanes.trailing_zeros() as usize % LANES];
        let mut same = 0;
        for (lane, allocation) in allocations.iter().enumerate() {
            same |= u32::from(*allocation == first) << lane;
        }
        (first as u32, same & lanes)
    }

    fn load_from(&mut self, access: &Access, out: Register, id: u32, lanes: u32) -> Vec<Faulty> {
        let offsets = self.get(access.pointer + 1);
        let (now, memory, mut shadow, file) = split!(self, access.space, id, &Memory, deref);
        let key = self.machine.packing.pack(Way::Read, &now, access.site);
        let bytes = access.bytes();
        let mut faults = Vec::new();
        for lane in lanes_of(lanes) {
            let offset = offsets[lane];
            let mut find = |fault| faults.push(Faulty { lane, offset, fault });
            if !memory.has(offset, bytes) {
                find(Fault::OutOfBounds);
                (0..access.count).for_each(|i| file[(out + i) as usize][lane] = 0);
                continue;
            }
            if !memory.is_aligned(offset, access.align) {
                find(Fault::Misaligned);
            }
            let in_flight =
                shadow.as_deref().and_then(|all| in_flight(all, offset, bytes, Way::Read));
            if let Some(fault) = in_flight {
                find(fault);
            } else if memory
                .written
                .as_ref()
                .is_some_and(|all| !all.has_all(offset as usize, bytes))
            {
                find(Fault::Unwritten);
            }
            if let Some(shadow) = shadow.as_deref_mut() {
                for cell in shadow.cells(offset, bytes) {
                    if let Some(seen) = shadow.read(cell, key, lane as u32, &now) {
                        find(Fault::Race(shadow.byte_of(cell), seen));
                        break;
                    }
                }
            }
            touch!(self, access.space, id, (offset, bytes), key, lane, &now);
            let mut at = offset as usize;
            for i in 0..access.count {
                file[(out + i) as usize][lane] = fetch(&memory.bytes, at, access.scalar);
                at += access.scalar.bytes() as usize;
            }
        }
        faults
    }

    fn store_to(&mut self, access: &Access, value: Register, id: u32, lanes: u32) -> Vec<Faulty> {
        let offsets = self.get(access.pointer + 1);
        self.forget_releases(access.space, id, &offsets, lanes);
        let (now, memory, mut shadow, file) = split!(self, access.space, id, &mut Memory, to_mut);
        let key = self.machine.packing.pack(Way::Write, &now, access.site);
        let bytes = access.bytes();
        let mut faults = Vec::new();
        let mut changes = 0;
        for lane in lanes_of(lanes) {
            let offset = offsets[lane];
            let mut find = |fault| faults.push(Faulty { lane, offset, fault });
            if !memory.has(offset, bytes) {
                find(Fault::OutOfBounds);
                continue;
            }
            if !memory.is_aligned(offset, access.align) {
                find(Fault::Misaligned);
            }
            match shadow.as_deref_mut() {
                None => find(Fault::ReadOnly),
                Some(shadow) => {
                    if let Some(fault) = in_flight(shadow, offset, bytes, Way::Write) {
                        find(fault);
                    }
                    let mut race = None;
                    for cell in shadow.cells(offset, bytes) {
                        let seen = shadow.write(cell, key, lane as u32, &now);
                        race = race.or(seen.map(|seen| (cell, seen)));
                    }
                    if let Some((cell, seen)) = race {
                        find(Fault::Race(shadow.byte_of(cell), seen));
                    }
                }
            }
            touch!(self, access.space, id, (offset, bytes), key, lane, &now);
            if let Some(written) = &mut memory.written {
                written.set(offset as usize, bytes);
            }
            let mut at = offset as usize;
            for i in 0..access.count {
                let value = file[(value + i) as usize][lane];
                changes += u64::from(put(&mut memory.bytes, at, access.scalar, value));
                at += access.scalar.bytes() as usize;
            }
        }
        self.machine.changes += changes;
        faults
    }

    /// Forgets releases at these addresses, which are overwritten.
    fn forget_releases(&mut self, space: Space, id: u32, offsets: &[u64; LANES], lanes: u32) {
        let releases = match space {
            Space::Shared | Space::Cluster => &mut self.cluster.releases,
            Space::Global | Space::Map | Space::Local => &mut self.machine.releases,
        };
        if !releases.is_empty() {
            lanes_of(lanes).for_each(|lane| releases.forget((id, offsets[lane])));
        }
    }

    fn load_local(&mut self, access: &Access, out: Register, id: u32, lanes: u32) -> Vec<Faulty> {
        let offsets = self.get(access.pointer + 1);
        let local = &self.warp.locals[id as usize];
        let file = &mut self.warp.file;
        let mut faults = Vec::new();
        for lane in lanes_of(lanes) {
            let offset = offsets[lane];
            let mut find = |fault| faults.push(Faulty { lane, offset, fault });
            let Some(mut at) = place_of(local, access, lane, offset, &mut find) else {
                (0..access.count).for_each(|i| file[(out + i) as usize][lane] = 0);
                continue;
            };
            if !local.written.has_all(at, access.bytes()) {
                find(Fault::Unwritten);
            }
            for i in 0..access.count {
                file[(out + i) as usize][lane] = fetch(&local.bytes, at, access.scalar);
                at += access.scalar.bytes() as usize;
            }
        }
        faults
    }

    fn store_local(
        &mut self,
        access: &Access,
        value: Register,
        id: u32,
        lanes: u32,
    ) -> Vec<Faulty> {
        let offsets = self.get(access.pointer + 1);
        let local = &mut self.warp.locals[id as usize];
        let mut faults = Vec::new();
        for lane in lanes_of(lanes) {
            let offset = offsets[lane];
            let mut find = |fault| faults.push(Faulty { lane, offset, fault });
            let Some(mut at) = place_of(local, access, lane, offset, &mut find) else {
                continue;
            };
            local.written.set(at, access.bytes());
            for i in 0..access.count {
                let value = self.warp.file[(value + i) as usize][lane];
                put(&mut local.bytes, at, access.scalar, value);
                at += access.scalar.bytes() as usize;
            }
        }
        faults
    }

    /// Says what is wrong with accesses to an allocation.
    pub fn report(&mut self, access: &Access, id: u32, deed: Deed, faults: &[Faulty]) {
        self.report_overlaps(id, deed);
        self.report_met(id, deed);
        for faulty in faults {
            let kind = kind_of(faulty.fault, access.space);
            let is_told = self.warp.outside.explains(self.place(), faulty.lane);
            if kind == Kind::OutOfBounds && is_told {
                continue;
            }
            let other = match faulty.fault {
                Fault::Race(_, seen) => Some(self.other(seen)),
                Fault::InFlight(_, mark) => Some(self.other_copy(mark)),
                Fault::OutOfBounds
                | Fault::Misaligned
                | Fault::Unwritten
                | Fault::ReadOnly
                | Fault::Absent(..) => None,
            };
            if !self.machine.findings.again(kind, self.place(), other.as_ref()) {
                let message = self.told(access, id, deed, faulty);
                self.find(kind, faulty.lane, other, message);
            }
        }
    }

    pub fn other(&self, seen: Seen) -> Other {
        let thread = self.machine.doer(seen.event, seen.site);
        let is_product = seen.way.is_async() && is_of_warpgroup(seen.event);
        let what = if is_product { "multiplies it" } else { seen.way.text() };
        Other { place: self.machine.program.sites[seen.site as usize], thread, what }
    }

    fn other_copy(&self, Mark { event, site, writes, by }: Mark) -> Other {
        let what = match (by, writes) {
            (By::Product, _) => "multiplies it",
            (By::Reduction, true) => "combines it",
            (By::Copy | By::Bulk, true) => "copies into it",
            (By::Copy | By::Bulk | By::Reduction, false) => "copies from it",
        };
        let thread = self.machine.thread(event.block, event.warp, event.lane);
        Other { place: self.machine.program.sites[site as usize], thread, what }
    }

    fn told(&self, access: &Access, id: u32, deed: Deed, faulty: &Faulty) -> String {
        let local;
        let memory = match access.space {
            Space::Global | Space::Map => &self.machine.memories[id as usize],
            Space::Shared | Space::Cluster => &self.cluster.shared[id as usize].0,
            Space::Local => {
                local = self.local_as_memory(id);
                &local
            }
        };
        let mut message = told(memory, access, deed, faulty);
        if let Fault::InFlight(_, mark) = faulty.fault {
            let is_own = mark.event.block == self.block.number;
            message += match is_own
                && mark.by == By::Copy
                && self.block.flights.is_open(mark.event, mark.site)
            {
                true => ", in no group yet",
                false if mark.by != By::Copy => ", and no wait has seen that it is done",
                false => ", and its thread has not waited for it",
            };
        }
        message
    }

    /// A register tensor, for messages.
    fn local_as_memory(&self, id: u32) -> Memory {
        let local = &self.machine.program.kernel.locals[id as usize];
        let bytes = vec![0; self.warp.locals[id as usize].size];
        Memory { align: LOCAL_ALIGN, ..Memory::new(local.name.clone(), local.element, bytes) }
    }
}

fn kind_of(fault: Fault, space: Space) -> Kind {
    match (fault, space) {
        (Fault::OutOfBounds, _) => Kind::OutOfBounds,
        (Fault::Misaligned, _) => Kind::MisalignedAccess,
        (Fault::Unwritten, _) => Kind::UninitialisedRead,
        (Fault::ReadOnly, _) => Kind::ReadOnlyWrite,
        (Fault::Race(..), Space::Shared | Space::Cluster) => Kind::SharedRace,
        (Fault::Race(..), Space::Global | Space::Map | Space::Local) => Kind::GlobalRace,
        (Fault::InFlight(_, Mark { by: By::Product, .. }), _) => Kind::ProductInFlight,
        (Fault::InFlight(..), _) => Kind::CopyInFlight,
        (Fault::Absent(..), _) => Kind::AbsentBlock,
    }
}

fn told(memory: &Memory, access: &Access, deed: Deed, faulty: &Faulty) -> String {
    let (does, offset, name) = (deed.text(), faulty.offset, &memory.name);
    match faulty.fault {
        Fault::OutOfBounds => memory.outside(does, offset, access),
        Fault::Misaligned => {
            let (element, align) = (memory.element_at(offset), access.align);
            let why = match (align > memory.align, memory.lead) {
                (true, _) => format!("and `{name}` is aligned to {} bytes only", memory.align),
                (false, 0) => format!("at byte {offset}, which is no multiple of {align}"),
                (false, lead) => format!(
                    "at byte {offset} of what begins {lead} bytes behind a multiple of {}",
                    memory.align
                ),
            };
            format!("{does} `{element}` as if aligned to {align} bytes, {why}")
        }
        Fault::Unwritten => {
            format!("{does} `{}`, which was never written", memory.element_at(offset))
        }
        Fault::Absent(why, block) => absent(&memory.element_at(offset), block, deed, why),
        Fault::ReadOnly => {
            format!("{does} `{}`, but may not write `{name}`", memory.element_at(offset))
        }
        Fault::InFlight(byte, mark) => {
            let element = memory.element_at(byte);
            let what = match (mark.by, mark.writes) {
                (By::Product, _) => "product of",
                (By::Reduction, true) => "reduction of",
                (By::Copy | By::Bulk, true) => "copy into",
                (By::Copy | By::Bulk | By::Reduction, false) => "copy from",
            };
            format!("{does} `{element}` while a {what} it is in flight")
        }
        Fault::Race(byte, seen) => {
            let theirs = if seen.way.writes() { "write" } else { "read" };
            format!(
                "race: `{}` is {}, and nothing orders that with another thread's {theirs}",
                memory.element_at(byte),
                deed.passive()
            )
        }
    }
}

impl Memory {
    /// An access outside, in words.
    fn outside(&self, does: &str, offset: u64, access: &Access) -> String {
        let (size, name) = (u64::from(self.element.bytes()), &self.name);
        let (bytes, all) = (u64::from(access.bytes()), self.bytes.len() as u64);
        if is_inside(offset, access.bytes(), self.bytes.len())
            && let Some(place) = self.gap_in(offset, access.bytes())
        {
            let steps: Vec<_> = self.modes.iter().map(|mode| mode.stride).collect();
            let what = format!("{does} what lies at {place} in `{name}`");
            return format!("{what}, between elements: its strides are {steps:?}");
        }
        let is_whole =
            offset.is_multiple_of(size) && bytes.is_multiple_of(size) && offset as i64 >= 0;
        if !is_whole {
            let offset = offset as i64;
            return format!("{does} {bytes} bytes at byte {offset} of `{name}`, which has {all}");
        }
        let (first, last) = (offset / size, (offset / size).saturating_add(bytes / size - 1));
        let which = match first == last {
            true => format!("element {first}"),
            false => format!("elements {first} to {last}"),
        };
        format!("{does} {which} of `{name}`, which has {}", all / size)
    }
}

/// A copy in flight that an access has to wait for.
#[inline]
pub(super) fn in_flight(shadow: &Shadow, offset: u64, bytes: u32, way: Way) -> Option<Fault> {
    if shadow.marks.is_empty() {
        return None;
    }
    let (cell, mark) = shadow.marks.first_in(shadow.cells(offset, bytes), way)?;
    Some(Fault::InFlight(shadow.byte_of(cell), mark))
}

#[inline]
pub(super) fn is_inside(offset: u64, bytes: u32, all: usize) -> bool {
    offset.checked_add(bytes.into()).is_some_and(|end| end <= all as u64)
}

/// Where in a warp's register tensor a lane's bytes begin.
fn place_of(
    local: &LocalMemory,
    access: &Access,
    lane: usize,
    offset: u64,
    find: &mut impl FnMut(Fault),
) -> Option<usize> {
    if !is_inside(offset, access.bytes(), local.size) {
        find(Fault::OutOfBounds);
        return None;
    }
    if access.align > LOCAL_ALIGN || offset & (u64::from(access.align) - 1) != 0 {
        find(Fault::Misaligned);
    }
    Some(lane * local.size + offset as usize)
}
