// SPDX-License-Identifier: Apache-2.0
//! Which executable graphs are kept, and by whom they are used.
//!
//! A *use* is a batch that comes again: the same kernels on the same stream, for the same prepared
//! call if it is one's. Each kernel that batches begin with keeps track of its [`SLOTS`] most
//! frequent uses, by the algorithm of Misra and Gries: a use that has a slot is counted there; one
//! that has none takes a slot whose count is 0, and where there is no such slot, all counts go down.
//! So as many uses in turn as there are no slots for never get one, and one that has become rare
//! makes room.
//!
//! Counts are approximate: threads that count at once may miss each other. The executable of a slot
//! is taken out by who uses it, and put back. Nobody waits: who does not find it there launches
//! plainly.

use core::ffi::c_void;
use core::ptr;
use core::sync::atomic::{AtomicPtr, AtomicU32, Ordering};

use super::context::Current;
use super::graph::Executable;
use super::load::without_capture;
use super::state::{Area, MAX_DEVICES, n_kernels};
use crate::interface::layout::Batch;

/// The most graphs of a kernel.
const SLOTS: usize = 4;
/// The most graphs of a package.
const MOST_GRAPHS: u32 = 32;
/// A count that reaches this is halved, so that the last calls count for more than the first.
const MOST_USES: u32 = 1024;

/// What stands in the place of an executable that is taken out: no address.
const TAKEN: *mut Executable = ptr::without_provenance_mut(1);

/// The slots of a kernel on a device, in one cache line.
#[repr(C, align(64))]
pub(super) struct Kept {
    keys: [AtomicU32; SLOTS],
    counts: [AtomicU32; SLOTS],
    executables: [AtomicPtr<Executable>; SLOTS],
}

/// A slot, and how often its use has been seen.
#[derive(Clone, Copy)]
pub(super) struct Slot {
    executable: &'static AtomicPtr<Executable>,
    place: &'static AtomicU32,
    pub(super) count: u32,
}

/// What there is in a slot.
pub(super) enum Found {
    /// An executable, which is the caller's until it is put back.
    Executable(*mut Executable),
    /// Nothing; the caller has the slot until something is put back.
    Nothing,
    /// Somebody else has it.
    Taken,
}

impl Slot {
    pub(super) fn is_empty(self) -> bool {
        self.executable.load(Ordering::Relaxed).is_null()
    }

    #[inline(always)]
    pub(super) fn take(self) -> Found {
        match self.executable.swap(TAKEN, Ordering::Acquire) {
            TAKEN => Found::Taken,
            found if found.is_null() => Found::Nothing,
            found => Found::Executable(found),
        }
    }

    /// Puts an executable back, or NULL.
    #[inline(always)]
    pub(super) fn put(self, executable: *mut Executable) {
        self.executable.store(executable, Ordering::Release);
    }

    /// Destroys the executable that was taken out, and leaves the slot empty.
    ///
    /// # Safety
    ///
    /// The caller has taken it out.
    #[cold]
    pub(super) unsafe fn drop(self, area: Area, device: usize, executable: *mut Executable) {
        // SAFETY: as the caller says.
        unsafe { destroy(area, device, executable) };
        self.put(ptr::null_mut());
    }

    /// Empties it where the executable is meant. Whether it is empty.
    #[inline(never)]
    fn clear(self, area: Area, device: usize, is_meant: &dyn Fn(&Executable) -> bool) -> bool {
        match self.take() {
            Found::Taken => false,
            Found::Nothing => {
                self.put(ptr::null_mut());
                true
            }
            Found::Executable(executable) => {
                // SAFETY: it was taken out.
                let goes = is_meant(unsafe { &*executable });
                match goes {
                    // SAFETY: it was taken out.
                    true => unsafe { self.drop(area, device, executable) },
                    false => self.put(executable),
                }
                goes
            }
        }
    }

    fn lower_by(self, by: u32) {
        self.place.store(self.count.saturating_sub(by), Ordering::Relaxed);
    }
}

/// What tells the uses of a kernel apart. Where two are taken for one, the executable is of one of
/// them, which the other finds out.
#[inline(always)]
fn key(batch: &Batch) -> u32 {
    const PRIME: u64 = 0x0000_0100_0000_01b3;
    let mut key = (batch.owner.addr() as u64).rotate_left(32) ^ batch.stream().addr() as u64;
    for launch in batch.launches() {
        key = (key ^ u64::from(launch.kernel)).wrapping_mul(PRIME);
    }
    (key ^ key >> 32) as u32
}

impl Kept {
    /// Counts a use. Its slot, if it has one.
    #[inline(always)]
    pub(super) fn count(&'static self, area: Area, batch: &Batch) -> Option<Slot> {
        let key = key(batch);
        let mut slots = self.keys.iter().zip(self.slots());
        let is_own = |(own, slot): &(&AtomicU32, Slot)| {
            own.load(Ordering::Relaxed) == key && slot.count != 0
        };
        let Some((_, slot)) = slots.find(is_own) else {
            self.miss(area, batch.device as usize, key);
            return None;
        };
        let count = if slot.count + 1 < MOST_USES { slot.count + 1 } else { MOST_USES / 2 };
        slot.place.store(count, Ordering::Relaxed);
        Some(Slot { count, ..slot })
    }

    /// Counts a use that has no slot.
    #[cold]
    #[inline(never)]
    fn miss(&'static self, area: Area, device: usize, key: u32) {
        for (own, slot) in self.keys.iter().zip(self.slots()) {
            if slot.count == 0 && slot.clear(area, device, &|_| true) {
                own.store(key, Ordering::Relaxed);
                slot.place.store(1, Ordering::Relaxed);
                return;
            }
        }
        self.slots().for_each(|slot| slot.lower_by(1));
    }

    fn slots(&'static self) -> impl Iterator<Item = Slot> {
        let places = self.counts.iter().zip(&self.executables);
        places.map(|(place, executable)| Slot {
            executable,
            place,
            count: place.load(Ordering::Relaxed),
        })
    }
}

/// Takes room for one more graph in the package. Where there is none, the graphs that have become
/// rare make room for the next who asks.
pub(super) fn take_room(area: Area) -> bool {
    if area.n_graphs().fetch_add(1, Ordering::Relaxed) < MOST_GRAPHS {
        return true;
    }
    give_room(area);
    for_each(area, &mut |device, slot| {
        slot.lower_by(slot.count / 8 + 1);
        if slot.count <= 1 {
            slot.clear(area, device, &|_| true);
        }
    });
    false
}

/// Gives back what [`take_room`] took.
pub(super) fn give_room(area: Area) {
    area.n_graphs().fetch_sub(1, Ordering::Relaxed);
}

/// Destroys the graphs of which something holds.
pub(super) fn drop_where(area: Area, is_meant: &dyn Fn(&Executable) -> bool) {
    if area.n_graphs().load(Ordering::Relaxed) != 0 {
        for_each(area, &mut |device, slot| _ = slot.clear(area, device, is_meant));
    }
}

/// Destroys the graphs of a prepared call, which goes.
pub(super) fn drop_of(owner: *mut c_void) {
    if let Some((area, _)) = Area::ready() {
        drop_where(area, &|executable| executable.owner == owner);
    }
}

/// How many graphs a function has. One that is being used right now is not counted.
pub(super) fn count_of(area: Area, function: u32) -> u64 {
    let mut n = 0;
    for_each(area, &mut |_, slot| {
        if let Found::Executable(executable) = slot.take() {
            // SAFETY: it was taken out.
            n += u64::from(unsafe { &*executable }.function == function);
            slot.put(executable);
        }
    });
    n
}

/// Calls `body` with each slot that is not empty, and its device's number.
#[inline(never)]
fn for_each(area: Area, body: &mut dyn FnMut(usize, Slot)) {
    for device in 0..MAX_DEVICES {
        let is_used = !area.device(device).primary.load(Ordering::Acquire).is_null();
        for kernel in 0..if is_used { n_kernels() } else { 0 } {
            let slots = area.kept(device, kernel).slots();
            slots.filter(|slot| !slot.is_empty()).for_each(|slot| body(device, slot));
        }
    }
}

/// Destroys an executable, in its context.
///
/// # Safety
///
/// It was taken out.
unsafe fn destroy(area: Area, device: usize, executable: *mut Executable) {
    let (driver, calls) = (area.started_driver(), area.graph_calls());
    let primary = area.device(device).primary.load(Ordering::Acquire);
    let current = Current::ask(driver);
    let was_there = current.is(primary);
    // SAFETY: the handle is the driver's.
    let is_there = was_there || current.is_known() && unsafe { (driver.set_context)(primary) } == 0;
    // SAFETY: as the caller says.
    let is_past = |id| unsafe { &*executable }.is_of_the_past(id);
    let lives = is_there && calls.id_of(primary).is_some_and(|id| !is_past(id));
    // SAFETY: as the caller says.
    without_capture(driver, || unsafe { Executable::destroy(executable, lives.then_some(calls)) });
    if is_there && !was_there {
        current.put_back(driver);
    }
    give_room(area);
}
