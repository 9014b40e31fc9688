// SPDX-License-Identifier: Apache-2.0
//! Submitting a batch: launches that follow one another. It reaches the driver launch by launch, or
//! as an executable graph that is given the batch's arguments, which takes less of the host's time.
//! Nobody can tell which, but by the time.
//!
//! A graph is launched where all of this holds; else launches are plain:
//!
//! * neither the function nor the environment wants plain launches, and the driver has what it
//!   takes
//! * the use has come a few times before, and there is [room](super::kept)
//! * nobody else has the executable right now
//! * the stream is not each thread's own, it is of the device's primary context, which is current,
//!   and nothing captures it, or captures what it would wait for
//! * nodes can do what the launches do, and the stream had no window of memory when the executable
//!   was made
//! * the way through graphs is the [cheaper](super::choice) one, or wanted
//!
//! Where the driver refuses anything on that way, launches are plain, and say what they say.

use core::ptr;
use core::sync::atomic::Ordering;

use super::again::Again;
use super::choice::{Choice, Way};
use super::graph::{Executable, Outcome};
use super::kept::{self, Slot};
use super::launch::Launch;
use super::load::without_capture;
use super::place::Place;
use super::resident;
use super::state::{Area, MAX_DEVICES};
use super::system::ticks;
use crate::blank::Blank;
use crate::interface::layout::{Batch, ErrorParts, Submit};

/// How often a use has been seen when it is tried to make an executable for it: where the way is
/// chosen, and where graphs are wanted.
const A_FEW: u32 = 4;
const ONCE: u32 = 2;

/// How often that is tried, and, where none could be made, or the driver did not launch it, when it
/// is tried again.
const TRIES: u32 = 4;
const AGAIN: u32 = 512;

/// Every so many calls of a use, one is timed.
pub(super) const TIMED: u32 = 16;

/// The stream that is each thread's own.
const PER_THREAD: usize = 2;

/// Submits launches of the package. 0, or how many strings of an error there are.
///
/// # Safety
///
/// The batch is the compiler's, with as many launches as it says. Their kernels are the package's,
/// their grids have blocks, their arguments are as `cuLaunchKernelEx` takes them. `error` may be
/// written.
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn kernpack_rt_cuda_submit(
    batch: *const Batch,
    error: *mut ErrorParts,
) -> i32 {
    // SAFETY: as the caller says.
    let blank = unsafe { Blank::new(error) };
    // SAFETY: as the caller says.
    let batch = unsafe { &*batch };
    if let Err(n_strings) = resident::check(batch, blank) {
        return n_strings;
    }
    let this = Use::of(batch);
    let turn = this.map_or(Turn::PLAIN, Use::turn);
    let start = if turn.is_timed { ticks() } else { 0 };
    let mut went = Way::Plain;
    if let Some(this) = this
        && turn.way == Way::Graph
        && this.through_graph(turn)
    {
        went = Way::Graph;
    } else if let Err(n_strings) = plainly(batch, blank) {
        return n_strings;
    }
    if turn.is_timed
        && let Some(this) = this
    {
        note(this.area, batch, went, ticks() - start);
    }
    0
}

/// Launches one by one. Where one cannot be made, how many strings of an error there are.
#[inline(never)]
fn plainly(batch: &Batch, blank: Blank) -> Result<(), i32> {
    for launch in batch.launches() {
        Launch::of(batch, launch).make_it(blank)?;
        if let Some((area, _)) = Area::ready() {
            area.launched(batch.function).plain.fetch_add(1, Ordering::Relaxed);
        }
    }
    Ok(())
}

/// Takes note of how many ticks a batch took.
#[cold]
#[inline(never)]
fn note(area: Area, batch: &Batch, went: Way, ticks: u64) {
    choice(area, batch).note(went, ticks.min(u32::MAX.into()) as u32);
}

#[inline(always)]
fn choice(area: Area, batch: &Batch) -> &'static Choice {
    area.learned(batch.device as usize).choice(batch.n_launches > 1)
}

#[inline(always)]
fn place(area: Area, batch: &Batch) -> Place {
    Place { area, device: batch.device as usize, stream: batch.stream }
}

/// A batch that may go through a graph.
#[derive(Clone, Copy)]
struct Use<'b> {
    area: Area,
    batch: &'b Batch,
    slot: &'static Slot,
    is_wanted: bool,
}

/// Which way a batch is to go, whether an executable may be made for that, and whether it is timed.
#[derive(Clone, Copy)]
struct Turn {
    way: Way,
    makes: bool,
    is_timed: bool,
}

impl Turn {
    const PLAIN: Turn = Turn { way: Way::Plain, makes: false, is_timed: false };
}

/// Whether it is tried to make an executable for a use that has been seen so often.
#[inline(always)]
fn is_time(count: u32, least: u32) -> bool {
    (count % AGAIN).wrapping_sub(least) < TRIES
}

impl<'b> Use<'b> {
    /// `None` where it may not.
    #[inline(always)]
    fn of(batch: &'b Batch) -> Option<Use<'b>> {
        let (area, _) = Area::ready()?;
        let submit = area.submit(batch.submit);
        let may_be = submit != Submit::PLAIN
            && batch.submit != Submit::LAUNCHES
            && (batch.device as usize) < MAX_DEVICES
            && batch.stream.addr() != PER_THREAD;
        let first = if may_be { batch.launches().first()? } else { return None };
        let kept = area.kept(batch.device as usize, first.kernel as usize);
        let slot = kept.count(area, batch)?;
        Some(Use { area, batch, slot, is_wanted: submit == Submit::GRAPH })
    }

    /// Which way to go this time.
    #[inline(always)]
    fn turn(self) -> Turn {
        let count = self.slot.count();
        if self.is_wanted {
            return Turn { way: Way::Graph, makes: is_time(count, ONCE), is_timed: false };
        }
        let now = choice(self.area, self.batch).now();
        let is_timed = now.is_trial() || count.is_multiple_of(TIMED);
        let makes = is_time(count, A_FEW) || now.is_trial() && count >= A_FEW;
        Turn { way: now.way(), makes, is_timed }
    }

    /// Launches the executable, which is made where that is this turn's. Whether that was done.
    #[inline(always)]
    fn through_graph(self, turn: Turn) -> bool {
        if self.slot.is_empty() && !turn.makes {
            return false;
        }
        self.slot.fetch();
        let (area, batch, slot) = (self.area, self.batch, self.slot);
        let calls = area.graph_calls();
        let Some(id) = place(area, batch).id(calls) else { return false };
        let executable = match slot.take() {
            None => return false,
            Some(executable) if executable.is_null() => make(area, batch, slot, id),
            Some(executable) => executable,
        };
        // SAFETY: it was taken out, or just made.
        let Some(taken) = (unsafe { executable.as_mut() }) else {
            slot.put(executable);
            return false;
        };
        let may_be = taken.id == id || takes_over(area, batch, taken, id);
        if !may_be {
            slot.begin_again();
        }
        match if may_be { taken.launch(calls, batch) } else { Outcome::Refused } {
            Outcome::Launched => {
                slot.put(executable);
                // SAFETY: a prepared call begins with it.
                if let Some(again) = unsafe { batch.owner.cast::<Again>().as_ref() } {
                    again.remember(slot);
                }
                return true;
            }
            Outcome::Unfit => slot.put(executable),
            // SAFETY: it was taken out.
            Outcome::Refused => unsafe { slot.drop(area, batch.device as usize, executable) },
        }
        false
    }
}

/// Whether an executable may be launched on a stream that has the handle of the one that it was
/// made for. It is that one's from then on. It may not behind a reset.
#[cold]
#[inline(never)]
fn takes_over(area: Area, batch: &Batch, taken: &mut Executable, id: u64) -> bool {
    taken.id = id;
    place(area, batch).context_id(area.graph_calls()) == Some(taken.context_id)
}

/// Makes an executable where there is room. NULL where there is none, or the driver refuses.
#[cold]
#[inline(never)]
fn make(area: Area, batch: &Batch, slot: &Slot, id: u64) -> *mut Executable {
    let calls = area.graph_calls();
    let Some(context_id) = place(area, batch).context_id(calls) else { return ptr::null_mut() };
    if !kept::take_room(area) {
        return ptr::null_mut();
    }
    let functions = |number: u32| {
        let kernel = area.kernel(batch.device as usize, number as usize);
        let function = kernel.function.load(Ordering::Acquire);
        if function.is_null() {
            // It was first launched where there was none to be had.
            kernel.forget_function();
        }
        function
    };
    let make = || Executable::make(calls, area.edge_calls(), batch, id, context_id, &functions);
    let made = without_capture(area.found_driver(), make);
    match made.is_null() {
        true => kept::give_room(area),
        false => slot.settle(),
    }
    made
}
