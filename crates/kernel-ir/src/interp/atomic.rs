// SPDX-License-Identifier: Apache-2.0
//! Atomic operations and fences. The lanes of a warp take their turns one after another, from the
//! first on; the order of memory follows the clocks of the lanes.

use super::access::{self, Deed, Fault, Faulty, in_flight, now, split};
use super::clock::{self, Now, Order, Ordering, Reach};
use super::execute::Execution;
use super::memory::{Memory, fetch, put};
use super::shadow::{Shadow, Way};
use super::step::Atomic;
use super::warp::{LANES, lanes_of};
use crate::eval;
use crate::intrinsic::AtomicOp;
use crate::types::{Scalar, Space};

impl Execution<'_, '_> {
    /// Each lane that runs changes memory in one step.
    pub fn atomic(&mut self, atomic: &Atomic) {
        let access = &atomic.access;
        match atomic.op {
            AtomicOp::Load | AtomicOp::CompareExchange | AtomicOp::Exchange => {
                self.warp.may_wait = true;
            }
            AtomicOp::Store | AtomicOp::Update(_) => {}
        }
        if matches!(atomic.op, AtomicOp::Update(_)) && access.scalar.is_float() {
            self.machine.is_exact = false;
        }
        let (reads, writes) = match atomic.op {
            AtomicOp::Load => (true, false),
            AtomicOp::Store => (false, true),
            AtomicOp::Exchange | AtomicOp::CompareExchange | AtomicOp::Update(_) => (true, true),
        };
        let deed = match (reads, writes) {
            (true, false) => Deed::Reads,
            (false, _) => Deed::Writes,
            (true, true) => Deed::Updates,
        };
        let mut rest = self.warp.active;
        if let Some((condition, otherwise)) = atomic.guard {
            rest = self.where_true(condition);
            if let Some((out, otherwise)) = atomic.out.zip(otherwise) {
                self.set(out, self.get(otherwise));
            }
        }
        self.warp.outside.access(self.place(), rest);
        self.count(access, deed, rest);
        while rest != 0 {
            let (allocation, lanes) = self.first_allocation(access.pointer, rest);
            rest &= !lanes;
            self.check_presence(access, allocation, deed, lanes);
            self.check_plain(access, allocation, deed, lanes);
            for lane in lanes_of(lanes) {
                let fault = self.one_step(atomic, allocation, lane);
                self.report(access, allocation, deed, fault.as_slice());
            }
        }
    }

    /// One lane's turn.
    fn one_step(&mut self, atomic: &Atomic, id: u32, lane: usize) -> Option<Faulty> {
        let access = &atomic.access;
        let offset = self.warp.file[access.pointer as usize + 1][lane];
        let (now, memory, shadow, file) = split!(self, access.space, id, &mut Memory, to_mut);
        let find = |fault| Some(Faulty { lane, offset, fault });
        if !memory.has(offset, access.bytes()) {
            if let Some(out) = atomic.out {
                file[out as usize][lane] = 0;
            }
            return find(Fault::OutOfBounds);
        }
        let old = fetch(&memory.bytes, offset as usize, access.scalar);
        let given = [atomic.value, atomic.replacement].map(|from| file[from as usize][lane]);
        let new = written(atomic.op, access.scalar, old, given);
        let way = Way::atomic(new.is_some(), atomic.reach);
        let copied = shadow.as_deref();
        let copied = copied.and_then(|shadow| in_flight(shadow, offset, access.bytes(), way));
        let mut fault = copied.or_else(|| check(atomic, memory, offset));
        let packing = self.machine.packing;
        fault = fault.or(touch(shadow, way, lane, (atomic, offset), &now, packing));
        let (bytes, key) = ((offset, access.bytes()), packing.pack(way, &now, access.site));
        access::touch!(self, access.space, id, bytes, key, lane, &now);
        if let Some(out) = atomic.out {
            file[out as usize][lane] = old;
        }
        if let Some(new) = new {
            if let Some(written) = &mut memory.written {
                written.set(offset as usize, access.bytes());
            }
            let changes = put(&mut memory.bytes, offset as usize, access.scalar, new);
            self.machine.changes += u64::from(changes);
        }
        self.order(atomic, (id, offset), lane, new.is_some());
        fault.and_then(find)
    }

    /// Acquires what was released there, and releases what the lane knows.
    fn order(&mut self, atomic: &Atomic, at: (u32, u64), lane: usize, writes: bool) {
        let reads = !matches!(atomic.op, AtomicOp::Store);
        let how = Ordering {
            is_acquire: atomic.is_acquire,
            is_release: atomic.is_release,
            reach: atomic.reach,
        };
        let (warp, block) = (&mut *self.warp, &mut *self.block);
        let releases = match atomic.access.space {
            Space::Shared | Space::Cluster => &mut self.cluster.releases,
            Space::Global | Space::Map | Space::Local => &mut self.machine.releases,
        };
        if reads && !releases.is_empty() {
            let orders = warp.orders.get_or_insert_with(new_orders);
            let near = |other| Reach::between(block.number, other, &self.cluster.blocks);
            releases.acquire(at, near, how, &mut orders[lane]);
        }
        if !writes || !how.is_release && warp.orders.is_none() && releases.is_empty() {
            return;
        }
        let now = now!(warp, block, self.cluster);
        releases.release(at, &now, lane as u32, how, reads);
        if how.is_release {
            self.pass_time();
        }
    }

    /// Each lane that runs orders what it did before and does behind.
    pub fn fence(&mut self, reach: Reach) {
        let active = self.warp.active;
        let mut orders = self.warp.orders.take().unwrap_or_else(new_orders);
        let before = orders.clone();
        let (warp, block) = (&*self.warp, &*self.block);
        let now = Now { orders: Some(&before), ..now!(warp, block, self.cluster) };
        for lane in lanes_of(active) {
            clock::fence(&now, lane as u32, reach, &mut orders[lane]);
        }
        self.warp.orders = Some(orders);
        self.pass_time();
    }

    /// The block's time moves on. Ends the run where it is larger than shadow memory can keep.
    pub fn pass_time(&mut self) {
        self.block.time += 1;
        if self.block.time > self.machine.most_time {
            self.unsupported("more barriers and releases than the interpreter can tell apart");
        }
    }
}

pub(super) fn new_orders() -> Box<[Order; LANES]> {
    Box::new(std::array::from_fn(|_| Order::default()))
}

/// The number that an operation leaves, if it writes.
fn written(op: AtomicOp, scalar: Scalar, old: u64, [value, replacement]: [u64; 2]) -> Option<u64> {
    match op {
        AtomicOp::Load => None,
        AtomicOp::Store | AtomicOp::Exchange => Some(value),
        AtomicOp::CompareExchange => (old == value).then_some(replacement),
        AtomicOp::Update(op) => {
            let mut out = [0];
            eval::binary_lanes(op, scalar, &[old], &[value], &mut out);
            Some(out[0])
        }
    }
}

fn check(atomic: &Atomic, memory: &Memory, offset: u64) -> Option<Fault> {
    let (access, reads) = (&atomic.access, !matches!(atomic.op, AtomicOp::Store));
    let has_all = |all: &super::memory::Bits| all.has_all(offset as usize, access.bytes());
    if !memory.is_aligned(offset, access.align) {
        Some(Fault::Misaligned)
    } else if reads && !memory.written.as_ref().is_none_or(has_all) {
        Some(Fault::Unwritten)
    } else {
        None
    }
}

fn touch(
    shadow: Option<&mut Shadow>,
    way: Way,
    lane: usize,
    (atomic, offset): (&Atomic, u64),
    now: &Now,
    packing: super::shadow::Packing,
) -> Option<Fault> {
    let Some(shadow) = shadow else { return way.writes().then_some(Fault::ReadOnly) };
    let key = packing.pack(way, now, atomic.access.site);
    let bytes = atomic.access.bytes();
    let mut race = None;
    for cell in shadow.cells(offset, bytes) {
        let seen = shadow.atomic(cell, key, lane as u32, now);
        race = race.or(seen.map(|seen| Fault::Race(shadow.byte_of(cell), seen)));
    }
    race
}
