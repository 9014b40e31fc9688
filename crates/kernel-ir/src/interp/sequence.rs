// SPDX-License-Identifier: Apache-2.0
//! Launches one behind another, of which some may begin before those in front of them have ended.
//! They are run in their order all the same; what is found is an access that nothing orders behind
//! one of an earlier launch.
//!
//! A launch that may begin early does so once every block of the one in front of it has let it, by
//! `griddepcontrol.launch_dependents` or by ending. A wait covers the launch in front alone: what
//! that one had not waited for may still run behind it. So each launch has two lists of those that
//! may still run, as it begins and once a thread has waited:
//!
//! ```text
//! as it begins     the one in front, and what may still run when that one lets it begin
//! behind a wait    what may still run when the one in front ends
//! ```
//!
//! What ran before the first launch is not known, and may touch all memory. A launch that may not
//! begin early comes behind everything.

use super::clock::{self, Now};
use super::dependent::Overlap;
use super::finding::{Earlier, Thread};
use super::launch::{self, Launch, Options, Outcome};
use super::memory::{Memories, MemoryId};
use super::shadow::{Seen, Way, by_lane};
use super::touched::Touched;
use kernpack_syntax::Span;

/// When a launch of a sequence begins, and whether another one may meet it.
#[derive(Clone, Debug, Default)]
pub struct Turn {
    /// How it begins before those in front of it have ended, where it may.
    pub early: Option<Early>,
    /// Whether the launch behind it may begin before this one has ended.
    pub may_be_met: bool,
}

/// A launch that may begin before those in front of it have ended.
#[derive(Clone, Debug)]
pub struct Early {
    /// Where it is written.
    pub span: Span,
    /// The allocations that nothing before the sequence has written, as far as it may still run.
    pub unwritten: Vec<MemoryId>,
}

/// Launches that were run one behind another.
#[derive(Debug)]
pub struct Sequence {
    past: Vec<Past>,
}

/// Nothing was run, and what was before it is not known.
impl Default for Sequence {
    fn default() -> Sequence {
        Sequence { past: vec![Past::default()] }
    }
}

/// A launch that ran, as far as those behind it may meet it. Others are known by their places.
#[derive(Debug, Default)]
pub(super) struct Past {
    /// The launch; nothing of what ran before the sequence.
    pub ran: Option<Ran>,
    /// Those that may still run as it begins.
    at_begin: Vec<usize>,
    /// Those that may still run once a thread of it has waited.
    behind_wait: Vec<usize>,
    /// Whether any of its threads has waited, so that it ends behind that.
    has_waited: bool,
    /// Whether it lets the next launch begin behind a wait only.
    lets_behind_wait: bool,
}

/// A launch that ran, with what it has touched.
#[derive(Debug)]
pub(super) struct Ran<T = Touched> {
    /// The symbol of its kernel.
    pub kernel: String,
    grid: [u32; 3],
    block: [u32; 3],
    n_ranks: usize,
    /// The places of its accesses: in a text, and in words where they are in none.
    sites: Vec<(Span, String)>,
    pub touched: T,
}

/// The knowledge of a launch that runs of those in front of it, and for those behind it.
#[derive(Debug, Default)]
pub(super) struct Dependence {
    pub past: Vec<Past>,
    /// Where it is written, where it may begin early.
    pub span: Span,
    at_begin: Vec<usize>,
    behind_wait: Vec<usize>,
    unwritten: Vec<MemoryId>,
    /// The cells that it touches, where another launch may meet it.
    pub touched: Option<Touched>,
    /// The lanes that have met an earlier launch, and have not been told of.
    pub overlaps: Vec<(usize, Overlap)>,
    pub has_waited: bool,
    pub lets_behind_wait: bool,
}

impl Sequence {
    /// Runs the next launch. One without blocks is none.
    ///
    /// # Panics
    /// As [`run`](super::run).
    pub fn run(
        &mut self,
        launch: &Launch,
        turn: &Turn,
        memories: &mut Memories,
        options: &Options,
    ) -> Outcome {
        if launch.grid.contains(&0) {
            return launch::run(launch, memories, options);
        }
        let mut dependence = self.dependence(turn);
        if turn.early.is_none() && !turn.may_be_met {
            self.past = vec![dependence.into_past(None)];
            return launch::run(launch, memories, options);
        }
        let met = turn.may_be_met;
        let (outcome, sites) =
            launch::run_depending(launch, &mut dependence, met, memories, options);
        self.past = std::mem::take(&mut dependence.past);
        let touched = dependence.touched.take();
        if met && touched.is_none() {
            // It was refused, and is none.
            return outcome;
        }
        let ran = touched.map(|touched| Ran::of(launch, 1, sites, touched));
        self.past.push(dependence.into_past(ran));
        outcome
    }

    /// The launches that the next one may meet.
    fn dependence(&mut self, turn: &Turn) -> Dependence {
        let Some(early) = &turn.early else { return Dependence::default() };
        let mut past = std::mem::take(&mut self.past);
        let (mut at_begin, mut behind_wait) = (Vec::new(), Vec::new());
        if let Some((front, last)) = past.len().checked_sub(1).map(|last| (last, &past[last])) {
            at_begin.push(front);
            at_begin.extend(if last.lets_behind_wait { &last.behind_wait } else { &last.at_begin });
            behind_wait.extend(if last.has_waited { &last.behind_wait } else { &last.at_begin });
        }
        let ended = past.iter_mut().enumerate().filter(|(launch, _)| !at_begin.contains(launch));
        ended.filter_map(|(_, past)| past.ran.as_mut()).for_each(|ran| ran.touched.forget());
        let (span, unwritten) = (early.span, early.unwritten.clone());
        Dependence { past, span, at_begin, behind_wait, unwritten, ..Dependence::default() }
    }
}

impl Dependence {
    fn into_past(self, ran: Option<Ran>) -> Past {
        let Dependence { at_begin, behind_wait, has_waited, lets_behind_wait, .. } = self;
        Past { ran, at_begin, behind_wait, has_waited, lets_behind_wait }
    }

    /// A lane touches bytes of an allocation. An access of an earlier launch that it meets is kept
    /// until it is told.
    pub fn touch(&mut self, memory: u32, bytes: (u64, u32), key: u64, lane: usize, now: &Now) {
        if let Some(touched) = &mut self.touched {
            touched.add(memory, bytes, by_lane(key, lane as u32));
        }
        if self.at_begin.is_empty() {
            return;
        }
        let has_waited = clock::has_waited(now, lane as u32);
        let running = if has_waited { &self.behind_wait } else { &self.at_begin };
        let met = running.iter().find_map(|&launch| {
            let (byte, seen) = self.race(&self.past[launch], memory, bytes, Way::of(key))?;
            Some((lane, Overlap { launch, byte, seen, has_waited }))
        });
        self.overlaps.extend(met);
    }

    /// The byte that an access and one of another launch meet at, and that one where it is known.
    fn race(
        &self,
        other: &Past,
        memory: u32,
        bytes: (u64, u32),
        way: Way,
    ) -> Option<(u64, Option<Seen>)> {
        match &other.ran {
            Some(ran) => {
                let (byte, seen) = ran.touched.race(memory, bytes, way)?;
                Some((byte, Some(seen)))
            }
            None => {
                let is_right = !way.writes() && self.unwritten.contains(&MemoryId(memory));
                (!is_right).then_some((bytes.0, None))
            }
        }
    }

    /// The symbol of the kernel of the launch in front; nothing of what is not known.
    pub fn front(&self) -> Option<&str> {
        Some(&self.past.last()?.ran.as_ref()?.kernel)
    }
}

impl<T> Ran<T> {
    /// A launch by so many ranks, with the places of its accesses.
    pub fn of(launch: &Launch, n_ranks: usize, sites: Vec<(Span, String)>, touched: T) -> Ran<T> {
        let (kernel, grid, block) = (launch.kernel.name.clone(), launch.grid, launch.block);
        Ran { kernel, grid, block, n_ranks, sites, touched }
    }

    /// An access that it made, where that is written, and its words.
    pub fn earlier(&self, seen: Seen) -> Earlier {
        let (span, spelled) = &self.sites[seen.site as usize];
        let thread = Thread::of(self.grid, self.block, self.n_ranks, seen.event);
        let mut text = format!("{thread} of `{}` {}", self.kernel, seen.way.text());
        if span.text.is_none() {
            text += &format!(", at {spelled}");
        }
        Earlier { span: *span, text }
    }
}
