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

use super::choice::{Choice, Way};
use super::context::{Current, means_current};
use super::driver::GraphCalls;
use super::graph::{Executable, Outcome};
use super::kept::{self, Slot};
use super::launch::Launch;
use super::load::without_capture;
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
const TIMED: u32 = 16;

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
    let this = Use::of(batch);
    let turn = this.map_or(Turn::PLAIN, Use::turn);
    let start = if turn.is_timed { ticks() } else { 0 };
    let went = match this.is_some_and(|this| turn.way == Way::Graph && this.through_graph(turn)) {
        true => Way::Graph,
        false => match plainly(batch, blank) {
            Ok(()) => Way::Plain,
            Err(n_strings) => return n_strings,
        },
    };
    if turn.is_timed
        && let Some(this) = this
    {
        this.note(went, ticks() - start);
    }
    0
}

/// Launches one by one. Where one cannot be made, how many strings of an error there are.
#[inline(never)]
fn plainly(batch: &Batch, blank: Blank) -> Result<(), i32> {
    for launch in batch.launches() {
        Launch::of(batch, launch).make_it(blank)?;
    }
    if let Some((area, _)) = Area::ready() {
        let launched = &area.launched(batch.function).plain;
        launched.fetch_add(batch.n_launches.into(), Ordering::Relaxed);
    }
    Ok(())
}

/// A batch that may go through a graph.
#[derive(Clone, Copy)]
struct Use<'b> {
    batch: &'b Batch,
    area: Area,
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
        Some(Use { batch, area, slot, is_wanted: submit == Submit::GRAPH })
    }

    /// Which way to go this time.
    #[inline(always)]
    fn turn(self) -> Turn {
        let count = self.slot.count();
        if self.is_wanted {
            return Turn { way: Way::Graph, makes: is_time(count, ONCE), is_timed: false };
        }
        let now = self.choice().now();
        let is_timed = now.is_trial() || count.is_multiple_of(TIMED);
        let makes = is_time(count, A_FEW) || now.is_trial() && count >= A_FEW;
        Turn { way: now.way(), makes, is_timed }
    }

    /// Takes note of how many ticks the batch took.
    #[cold]
    #[inline(never)]
    fn note(self, went: Way, ticks: u64) {
        self.choice().note(went, ticks.min(u32::MAX.into()) as u32);
    }

    #[inline(always)]
    fn choice(self) -> &'static Choice {
        let [one, several] = &self.area.learned(self.batch.device as usize).choices;
        if self.batch.n_launches == 1 { one } else { several }
    }

    /// Launches the executable, which is made where that is this turn's. Whether that was done.
    #[inline(always)]
    fn through_graph(self, turn: Turn) -> bool {
        if self.slot.is_empty() && !turn.makes {
            return false;
        }
        self.slot.fetch();
        let calls = self.area.graph_calls();
        let Some(context_id) = self.context_id(calls) else { return false };
        let executable = match self.slot.take() {
            None => return false,
            Some(executable) if executable.is_null() => self.make(calls, context_id),
            Some(executable) => executable,
        };
        // SAFETY: it was taken out, or just made.
        let Some(taken) = (unsafe { executable.as_mut() }) else {
            self.slot.put(executable);
            return false;
        };
        match taken.launch(calls, context_id, self.batch) {
            Outcome::Launched => {
                self.slot.put(executable);
                return true;
            }
            Outcome::Unfit => self.slot.put(executable),
            outcome => {
                if let Outcome::Past = outcome {
                    self.slot.begin_again();
                }
                // SAFETY: it was taken out.
                unsafe { self.slot.drop(self.area, self.batch.device as usize, executable) };
            }
        }
        false
    }

    /// The number of the device's primary context, where that is current, the stream is of it, and
    /// what is launched into it runs.
    #[inline(always)]
    fn context_id(self, calls: &GraphCalls) -> Option<u64> {
        let (driver, stream) = (self.area.found_driver(), self.batch.stream);
        let primary = self.area.device(self.batch.device as usize).primary.load(Ordering::Relaxed);
        let is_usual = !primary.is_null()
            && Current::ask(driver).is(primary)
            && (means_current(stream) || calls.is_of_context(stream, primary))
            && calls.runs(stream);
        if is_usual { calls.id_of(primary) } else { None }
    }

    /// Makes an executable where there is room. NULL where there is none, or the driver refuses.
    #[cold]
    #[inline(never)]
    fn make(self, calls: &GraphCalls, context_id: u64) -> *mut Executable {
        if calls.has_window(self.batch.stream) || !kept::take_room(self.area) {
            return ptr::null_mut();
        }
        let functions = |number: u32| {
            let kernel = self.area.kernel(self.batch.device as usize, number as usize);
            let function = kernel.function.load(Ordering::Acquire);
            if function.is_null() {
                // It was first launched where there was none to be had: the next launch looks
                // again.
                kernel.is_sought.store(0, Ordering::Relaxed);
            }
            function
        };
        let driver = self.area.found_driver();
        let made =
            without_capture(driver, || Executable::make(calls, context_id, self.batch, functions));
        match made.is_null() {
            true => kept::give_room(self.area),
            false => self.slot.settle(),
        }
        made
    }
}
