// SPDX-License-Identifier: Apache-2.0
//! Ranks: launches of one kernel at the same time, each on a device of its own, which differ in
//! their arguments alone, and reach one another's memory.
//!
//! Their blocks run side by side, as those of one grid do. What reaches no further than a device
//! orders nothing between them, and neither do barriers: only operations of system scope do. A
//! rank's launches run one behind another, and each knows all that those of its own rank did, and
//! what these had acquired. Other ranks may still run any launch in front, or have begun one
//! behind: launches of the same place are run together, and accesses are held against those of all
//! launches that some rank does not know the end of. So races are found whichever rank is ahead,
//! and what is computed is as if they kept step.
//!
//! Not here: launches that begin early (`sequence.rs`), and the barrier of the grid, which ranks
//! that run together have not.

use super::access::Deed;
use super::atomic::new_orders;
use super::clock::{Clock, Now, Order, Releases};
use super::execute::{Execution, Machine};
use super::finding::{Kind, With};
use super::launch::{Launch, Options, Outcome, Run};
use super::memory::Memories;
use super::program::Program;
use super::sequence::Ran;
use super::shadow::{Seen, Shadow, Way};
use super::warp::{LANES, Warp};

/// Launches of ranks, one behind another.
#[derive(Debug, Default)]
pub struct Ranks {
    /// The releases to memory.
    releases: Releases,
    together: Together,
    /// The number of the next grid.
    next_grid: u64,
}

/// The knowledge of ranks of one another, while they run a launch.
#[derive(Debug, Default)]
pub(super) struct Together {
    /// The launches that some rank does not know the end of, with the grid of their first rank.
    past: Vec<(u64, Ran<Vec<Option<Shadow>>>)>,
    /// The knowledge of each rank as its launch begins, and that of its blocks as they ended.
    at_begin: Vec<Clock>,
    at_end: Vec<Clock>,
    /// The lanes that have met an earlier launch, and have not been told of.
    met: Vec<(usize, Met)>,
}

/// An access of an earlier launch that one of this launch meets.
#[derive(Clone, Copy, Debug)]
struct Met {
    launch: usize,
    /// The byte that both touch.
    byte: u64,
    seen: Seen,
}

impl Ranks {
    /// Runs the next launch of every rank. There are as many each time.
    ///
    /// # Panics
    /// As [`run`](super::run), and where there is no rank.
    pub fn run(
        &mut self,
        launches: &[Launch],
        memories: &mut Memories,
        options: &Options,
    ) -> Outcome {
        let program = Program::of(launches[0].kernel);
        let run = check(launches)
            .and_then(|()| Run::of_ranks(launches, self.next_grid, &program, memories));
        let run = match run {
            Ok(run) => run,
            Err(message) => return Outcome::refused(message),
        };
        self.together.at_begin.resize_with(launches.len(), Clock::default);
        self.together.at_end.clone_from(&self.together.at_begin);
        let mut machine = run.whole(memories, options);
        machine.releases = std::mem::take(&mut self.releases);
        machine.together = Some(std::mem::take(&mut self.together));
        let outcome = run.in_order(&mut machine, memories, options);
        self.releases = std::mem::take(&mut machine.releases);
        self.together = machine.together.take().unwrap_or_default();
        let ran = Ran::of(&launches[0], launches.len(), run.sites(), machine.shadows);
        self.together.end(self.next_grid, ran);
        self.next_grid += launches.len() as u64;
        outcome
    }
}

/// Why launches cannot be those of ranks.
fn check(launches: &[Launch]) -> Result<(), String> {
    let first = &launches[0];
    let layout = |launch: &Launch| (launch.grid, launch.block, launch.cluster);
    let told = |of: &Launch| format!("a grid of {:?} blocks of {:?} threads", of.grid, of.block);
    for (rank, other) in launches.iter().enumerate() {
        if other.kernel.name != first.kernel.name {
            let (own, theirs) = (&first.kernel.name, &other.kernel.name);
            return Err(format!("rank 0 launches `{own}`, and rank {rank} `{theirs}`"));
        }
        if layout(other) != layout(first) {
            let (own, theirs) = (told(first), told(other));
            return Err(format!("rank 0 launches {own}, and rank {rank} {theirs}"));
        }
    }
    match first.kernel.waits_for_grid() {
        true => Err("ranks that run together have no barrier of the grid".to_owned()),
        false => Ok(()),
    }
}

impl Together {
    /// A launch has ended on every rank.
    fn end(&mut self, first_grid: u64, ran: Ran<Vec<Option<Shadow>>>) {
        self.at_begin = std::mem::take(&mut self.at_end);
        for (rank, known) in (0..).zip(&mut self.at_begin) {
            known.learn_grid(first_grid + rank);
        }
        self.past.push((first_grid, ran));
        let n_ranks = self.at_begin.len() as u64;
        let known = &self.at_begin;
        self.past.retain(|(first, _)| {
            let mut grids = *first..first + n_ranks;
            !grids.all(|grid| known.iter().all(|clock| clock.knows_grid(grid)))
        });
    }

    /// A lane touches bytes of an allocation. An access of an earlier launch that it meets is kept
    /// until it is told.
    pub fn touch(&mut self, memory: u32, bytes: (u64, u32), key: u64, lane: usize, now: &Now) {
        let met = self.past.iter().enumerate().find_map(|(launch, (_, ran))| {
            let shadow = ran.touched.get(memory as usize)?.as_ref()?;
            let mut cells = shadow.cells(bytes.0, bytes.1);
            cells.find_map(|cell| {
                let seen = shadow.race(cell, Way::of(key), lane as u32, now)?;
                Some((lane, Met { launch, byte: shadow.byte_of(cell).max(bytes.0), seen }))
            })
        });
        self.met.extend(met);
    }
}

impl Machine<'_> {
    /// The knowledge of a rank's threads as its launch begins.
    pub fn known_at_begin(&self, rank: usize) -> Option<Box<[Order; LANES]>> {
        let known = self.together.as_ref()?.at_begin.get(rank)?;
        let mut orders = new_orders();
        orders.iter_mut().for_each(|order| order.acquired = known.clone());
        Some(orders)
    }

    /// All threads of a block of a rank have ended: its next launch knows what they knew.
    pub fn learn_at_end(&mut self, rank: usize, warps: &[Warp]) {
        let Some(known) = self.together.as_mut().and_then(|all| all.at_end.get_mut(rank)) else {
            return;
        };
        let orders = warps.iter().filter_map(|warp| warp.orders.as_deref()).flatten();
        orders.for_each(|order| known.join(&order.acquired));
    }
}

impl Execution<'_, '_> {
    /// Says which accesses of earlier launches those to an allocation have met.
    pub fn report_met(&mut self, id: u32, deed: Deed) {
        let Some(together) = &mut self.machine.together else { return };
        for (lane, met) in std::mem::take(&mut together.met) {
            self.report_one_met(id, deed, lane, met);
        }
    }

    fn report_one_met(&mut self, id: u32, deed: Deed, lane: usize, met: Met) {
        let with = With::Earlier(met.launch, Some(met.seen.site));
        self.find_with_earlier(Kind::GlobalRace, with, lane, |machine| {
            let together = machine.together.as_ref()?;
            let element = machine.memories[id as usize].element_at(met.byte);
            let theirs = if met.seen.way.writes() { "write" } else { "read" };
            let race = format!("race: `{element}` is {}, and nothing orders that", deed.passive());
            let message = format!("{race} with another rank's {theirs} in an earlier launch");
            Some((message, together.past[met.launch].1.earlier(met.seen)))
        });
    }
}
