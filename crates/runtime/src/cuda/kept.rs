// SPDX-License-Identifier: Apache-2.0
//! Which executable graphs are kept, and by whom they are used.
//!
//! A *use* is a batch that comes again: the same kernels of the same function on the same stream,
//! for the same prepared call if it is one's. Each kernel that batches begin with keeps track of
//! its [`SLOTS`] most frequent uses, by the algorithm of Misra and Gries: a use that has a slot is
//! counted there; one that has none takes a slot whose count is 0, and where there is no such slot,
//! all counts go down. So as many uses in turn as there are no slots for never get one, and one
//! that has become rare makes room.
//!
//! Counts are approximate: threads that count at once may miss each other. The executable of a slot
//! is taken out by who uses it, and put back. Nobody waits: who does not find it there launches
//! plainly.

use core::ffi::c_void;
use core::ptr;
use core::sync::atomic::{AtomicPtr, AtomicU32, Ordering};

use super::context::within;
use super::graph::Executable;
use super::load::without_capture;
use super::state::{Area, MAX_DEVICES, n_kernels};
use super::system::prefetch;
use crate::interface::layout::Batch;

/// The most graphs of a kernel.
const SLOTS: usize = 4;
/// The most graphs of a package.
const MOST_GRAPHS: u32 = 32;
/// A count that reaches this is halved, so that the last calls count for more than the first.
const MOST_USES: u32 = 1024;

/// The count of a use whose executable has made room. That is past when one is made for it, which
/// is tried again when it has come often.
const MADE_ROOM: u32 = 8;

/// The mark in the place of an executable that is taken out: no address.
const TAKEN: *mut Executable = ptr::without_provenance_mut(1);

/// The slots of a kernel on a device, in one cache line.
#[repr(C, align(64))]
pub(super) struct Kept([Slot; SLOTS]);

/// A use and its executable, if it has one.
#[repr(C)]
pub(super) struct Slot {
    key: AtomicU32,
    count: AtomicU32,
    executable: AtomicPtr<Executable>,
}

impl Slot {
    /// How often its use has been seen.
    #[inline(always)]
    pub(super) fn count(&self) -> u32 {
        self.count.load(Ordering::Relaxed)
    }

    /// Counts a use.
    #[inline(always)]
    pub(super) fn note_use(&self) {
        let count = if self.count() + 1 < MOST_USES { self.count() + 1 } else { MOST_USES / 2 };
        self.count.store(count, Ordering::Relaxed);
    }

    pub(super) fn is_empty(&self) -> bool {
        self.executable.load(Ordering::Relaxed).is_null()
    }

    /// Has the processor fetch what the executable is first asked, which the driver's own work has
    /// pushed out since the last launch.
    #[inline(always)]
    pub(super) fn fetch(&self) {
        let executable: *const u8 = self.executable.load(Ordering::Relaxed).cast();
        for line in 0..3 {
            prefetch(executable.wrapping_add(64 * line));
        }
    }

    /// Takes out what is there: an executable, or NULL. The slot is the caller's until something is
    /// put back. `None` where it is somebody else's.
    #[inline(always)]
    pub(super) fn take(&self) -> Option<*mut Executable> {
        let found = self.executable.swap(TAKEN, Ordering::Acquire);
        (found != TAKEN).then_some(found)
    }

    /// Puts an executable back, or NULL.
    #[inline(always)]
    pub(super) fn put(&self, executable: *mut Executable) {
        self.executable.store(executable, Ordering::Release);
    }

    /// Destroys the executable that was taken out, and leaves the slot empty.
    ///
    /// # Safety
    ///
    /// The caller has taken it out.
    #[cold]
    pub(super) unsafe fn drop(&self, area: Area, device: usize, executable: *mut Executable) {
        // SAFETY: as the caller says.
        unsafe { destroy(area, device, executable) };
        self.put(ptr::null_mut());
    }

    /// Empties it. Whether it is empty: it is not where it is somebody else's.
    fn clear(&self, area: Area, device: usize) -> bool {
        let Some(executable) = self.take() else { return false };
        match executable.is_null() {
            true => self.put(executable),
            // SAFETY: it was taken out.
            false => unsafe { self.drop(area, device, executable) },
        }
        true
    }

    /// Has its use be one that was seen once: a new executable may be made soon.
    pub(super) fn begin_again(&self) {
        self.count.store(1, Ordering::Relaxed);
    }

    /// Has its use, for which an executable has just been made, be one that was seen often: what
    /// was made is to serve for some time.
    pub(super) fn settle(&self) {
        self.count.store(MOST_USES / 2, Ordering::Relaxed);
    }

    fn lower_by(&self, by: u32) {
        self.count.store(self.count().saturating_sub(by), Ordering::Relaxed);
    }
}

/// A key that tells the uses of a kernel apart. Where two are taken for one, the executable is of
/// one of them, which the other finds out.
#[inline(always)]
fn key(batch: &Batch) -> u32 {
    const PRIME: u64 = 0x0000_0100_0000_01b3;
    let with = |key: u64, number: u32| (key ^ u64::from(number)).wrapping_mul(PRIME);
    let key = (batch.owner.addr() as u64).rotate_left(32) ^ batch.stream.addr() as u64;
    let mut key = with(key, batch.function);
    for launch in batch.launches() {
        key = with(key, launch.kernel);
    }
    (key ^ key >> 32) as u32
}

impl Kept {
    /// Counts a use. Its slot, if it has one.
    #[inline(always)]
    pub(super) fn count(&'static self, area: Area, batch: &Batch) -> Option<&'static Slot> {
        let key = key(batch);
        let is_own = |slot: &&Slot| slot.key.load(Ordering::Relaxed) == key && slot.count() != 0;
        let Some(slot) = self.0.iter().find(is_own) else {
            self.miss(area, batch.device as usize, key);
            return None;
        };
        slot.note_use();
        Some(slot)
    }

    /// Counts a use that has no slot.
    #[cold]
    #[inline(never)]
    fn miss(&'static self, area: Area, device: usize, key: u32) {
        for slot in &self.0 {
            if slot.count() == 0 && slot.clear(area, device) {
                slot.key.store(key, Ordering::Relaxed);
                slot.count.store(1, Ordering::Relaxed);
                return;
            }
        }
        self.0.iter().for_each(|slot| slot.lower_by(1));
    }
}

/// Takes room for one more graph in the package. Where there is none, those that have become rare
/// make room for the next who asks.
pub(super) fn take_room(area: Area) -> bool {
    let is_room = area.n_graphs().fetch_add(1, Ordering::Relaxed) < MOST_GRAPHS;
    if !is_room {
        give_room(area);
        visit(area, Visit::Age);
    }
    is_room
}

/// Gives back what [`take_room`] took.
pub(super) fn give_room(area: Area) {
    area.n_graphs().fetch_sub(1, Ordering::Relaxed);
}

/// Destroys every graph.
pub(super) fn drop_all(area: Area) {
    visit(area, Visit::Drop);
}

/// Destroys the graphs of a prepared call, which goes.
pub(super) fn drop_of(owner: *mut c_void) {
    if let Some((area, _)) = Area::ready() {
        visit(area, Visit::DropOf(owner));
    }
}

/// How many graphs a function has, and how many kernels they have launched. One that is being used
/// right now is not counted.
pub(super) fn count_of(area: Area, function: u32) -> Tally {
    visit(area, Visit::Count(function))
}

/// Counts of what was done.
pub(super) struct Tally {
    pub(super) graphs: u64,
    pub(super) launched: u64,
}

/// What to do with graphs.
#[derive(Clone, Copy)]
enum Visit {
    /// Destroyed.
    Drop,
    /// Destroyed where they are that prepared call's.
    DropOf(*mut c_void),
    /// Counted where they are that function's.
    Count(u32),
    /// Worth less than before, and destroyed where they are worth nothing.
    Age,
}

/// Does it with each, and counts them if that is what is done.
#[inline(never)]
fn visit(area: Area, what: Visit) -> Tally {
    let mut tally = Tally { graphs: 0, launched: 0 };
    let n_devices = if area.n_graphs().load(Ordering::Relaxed) == 0 { 0 } else { MAX_DEVICES };
    for device in 0..n_devices {
        let is_used = !area.device(device).primary.load(Ordering::Acquire).is_null();
        let kernels = 0..if is_used { n_kernels() } else { 0 };
        for slot in kernels.flat_map(|kernel| &area.kept(device, kernel).0) {
            let Some(executable) = slot.take() else { continue };
            // SAFETY: it was taken out.
            let goes = unsafe { executable.as_ref() }.is_some_and(|executable| match what {
                Visit::Drop => true,
                Visit::DropOf(owner) => executable.owner == owner,
                Visit::Count(function) => {
                    if executable.function == function {
                        tally.graphs += 1;
                        tally.launched += executable.n_launched;
                    }
                    false
                }
                Visit::Age => {
                    slot.lower_by(slot.count() / 8 + 1);
                    slot.count() == 0
                }
            });
            if goes {
                // At 0, another use may have the slot.
                let count = if let Visit::Age = what { MADE_ROOM } else { 0 };
                slot.count.store(count, Ordering::Relaxed);
                // SAFETY: it was taken out.
                unsafe { slot.drop(area, device, executable) };
            } else {
                slot.put(executable);
            }
        }
    }
    tally
}

/// Destroys an executable, in its context.
///
/// # Safety
///
/// It was taken out.
unsafe fn destroy(area: Area, device: usize, executable: *mut Executable) {
    // SAFETY: as the caller says.
    let taken = unsafe { &*executable };
    area.launched(taken.function).graph.fetch_add(taken.n_launched, Ordering::Relaxed);
    let (driver, calls) = (area.found_driver(), area.graph_calls());
    let primary = area.device(device).primary.load(Ordering::Acquire);
    within(driver, primary, |is_entered| {
        let id = if is_entered { calls.id_of(primary) } else { None };
        let lives = id == Some(taken.context_id);
        let calls = lives.then_some(calls);
        // SAFETY: as the caller says.
        without_capture(driver, || unsafe { Executable::destroy(executable, calls) });
    });
    give_room(area);
}
