// SPDX-License-Identifier: Apache-2.0
//! Mbarriers. A machine knows the parity of a phase alone; here each has the number of its phase,
//! so that a wait for another phase than the one that its thread means is found.
//!
//! A thread means a phase by what it knows: the last one that it knows to be complete where that
//! has the parity, else the one behind it. Before the first phase one is complete, number -1. What
//! a thread knows are its own waits, and those that happened before: phases are times of clocks.
//!
//! A phase that is complete teaches those who wait for it what those knew who arrived. It must not
//! be complete before every wait for the last one has seen that: parity would tell another phase
//! then. That is found by what is ordered, not by which happened to be first.
//!
//! An arrival that is relaxed teaches them less: which copies and products its thread has seen
//! done, and which phases are complete.
//!
//! A wait is over, too, before its warp makes the next group of products of a warpgroup. All four
//! warps make such a group, so that one thread that has seen it done may tell for all of them that
//! they have waited; of what else they did, it knows nothing.

use super::access::{Deed, Fault, Faulty, now};
use super::atomic::new_orders;
use super::bulk::{Bulk, agent_of};
use super::clock::{self, Clock, Event, Now, Reach};
use super::execute::Execution;
use super::finding::{Kind, Other};
use super::shadow::Way;
use super::step::{Access, MbarrierStep};
use super::warp::{Cluster, LANES, Status, Warp, lanes_of};
use crate::intrinsic::{MBARRIER_BYTES, MOST_ARRIVALS, MbarrierOp};
use crate::types::Space;
use std::collections::BTreeMap;

/// How many deeds of one phase are remembered.
const MOST_REMEMBERED: usize = 1 << 16;

/// How arrivals touch the bytes of an mbarrier.
const UPDATE: Way = Way::AtomicWriteNear;

/// Where an mbarrier is: the array and the byte in it.
pub(super) type At = (u32, u64);

/// The mbarriers of a cluster.
pub(super) type Mbarriers = BTreeMap<At, Mbarrier>;

/// An mbarrier.
#[derive(Clone, Debug)]
pub(super) struct Mbarrier {
    /// The block that has it, and its number among those of the cluster.
    home: u64,
    number: u32,
    /// How many arrivals a phase has.
    count: u32,
    /// How many of them are missing in the phase that goes on.
    pending: u32,
    /// How many bytes are missing.
    bytes: i64,
    /// The phase that goes on.
    phase: i64,
    /// The clock of those who have arrived.
    arriving: Clock,
    /// That of all of them, when the last phase was complete.
    met: Clock,
    /// That of those who have arrived and order nothing: it happens before the phase is complete,
    /// too, and is not what those who wait may look at.
    relaxed: Clock,
    /// Likewise that of those who have begun a copy, where an arrival expects bytes.
    copying: Clock,
    /// Whether an arrival expects bytes.
    expects_copies: bool,
    /// Deeds that happen before this phase is complete.
    before: Vec<Before>,
    /// Copies in flight, each with its phase.
    copies: Vec<(i64, Bulk)>,
    /// Whether arrivals come with copies of a few bytes.
    has_small_copies: bool,
    /// Who stands for it: what its copies did are deeds of that one.
    agent: (u64, u32),
    made: Done,
}

/// Who did something, and where that was written: its place among those of all accesses.
#[derive(Clone, Copy, Debug)]
struct Done {
    event: Event,
    site: u32,
}

/// A deed that has to happen before a phase is complete.
#[derive(Clone, Copy, Debug)]
struct Before {
    done: Done,
    /// The next group of products of its warp, which is made behind it.
    group: Event,
    what: Needs,
}

#[derive(Clone, Copy, Debug)]
enum Needs {
    /// It has waited for the phase before.
    Wait,
    /// It has the phase expect bytes.
    Bytes,
}

impl Mbarrier {
    /// The phase that a thread means by a parity: it knows so many to be complete.
    fn meant(&self, n_complete: u64, parity: u64) -> i64 {
        let last = n_complete as i64 - 1;
        if last.rem_euclid(2) as u64 == parity { last } else { last + 1 }
    }

    /// The phase that a machine takes a parity for.
    fn taken(&self, parity: u64) -> i64 {
        if self.phase.rem_euclid(2) as u64 == parity { self.phase } else { self.phase - 1 }
    }

    fn is_complete(&self) -> bool {
        self.pending == 0 && self.bytes <= 0
    }

    /// The next phase begins. Gives what nothing orders before that.
    fn complete(&mut self) -> Vec<Before> {
        self.met = std::mem::take(&mut self.arriving);
        let mut unseen = std::mem::take(&mut self.relaxed);
        let copying = std::mem::take(&mut self.copying);
        if std::mem::take(&mut self.expects_copies) {
            unseen.join(&copying);
        }
        let is_cause = |event| self.met.knows(event) || unseen.knows(event);
        let mut before = std::mem::take(&mut self.before);
        before.retain(|deed| !is_cause(deed.done.event) && !is_cause(deed.group));
        (self.phase, self.pending, self.bytes) = (self.phase + 1, self.count, 0);
        self.met.learn_phases(self.home, self.number, self.phase as u64);
        self.met.learn_agent(self.agent.0, self.agent.1, self.phase as u64);
        before
    }

    /// Remembers a deed. Of very many, the earliest are forgotten.
    fn remember(&mut self, deed: Before) {
        if self.before.len() >= MOST_REMEMBERED {
            self.before.drain(..MOST_REMEMBERED / 2);
        }
        self.before.push(deed);
    }

    /// Takes copies out that are in flight.
    pub fn take_copies(&mut self, which: impl Fn(&Bulk) -> bool) -> Vec<Bulk> {
        self.copies.extract_if(.., |(_, bulk)| which(bulk)).map(|(_, bulk)| bulk).collect()
    }

    /// The arrivals and bytes that the phase waits for, in words.
    fn missing(&self) -> String {
        let (pending, count) = (self.pending, self.count);
        let arrivals = format!("{pending} of {count} arrivals");
        match self.bytes {
            ..=0 => format!("{arrivals} are missing"),
            bytes => format!("{arrivals} and {bytes} bytes are missing"),
        }
    }
}

impl Execution<'_, '_> {
    /// Each lane that runs does something about an mbarrier.
    pub fn mbarrier(&mut self, step: &MbarrierStep) {
        let active = self.warp.active;
        self.warp.outside.access(self.place(), active);
        match step.op {
            MbarrierOp::Init => lanes_of(active).for_each(|lane| self.make_mbarrier(step, lane)),
            MbarrierOp::Arrive
            | MbarrierOp::ArriveRelaxed
            | MbarrierOp::ArriveAfterCopies
            | MbarrierOp::ExpectTx
            | MbarrierOp::ArriveExpectTx => {
                lanes_of(active).for_each(|lane| self.come_to_mbarrier(step, lane));
                self.pass_time();
            }
            MbarrierOp::CompleteTx => {
                lanes_of(active).for_each(|lane| self.bring_bytes(step, lane));
                self.pass_time();
            }
            MbarrierOp::Wait => match self.first_waiting(step) {
                Some((at, phase)) => {
                    return self.block_on(Status::Mbarrier { pc: self.warp.pc, at, phase });
                }
                None => self.pass_mbarrier(step, active),
            },
            MbarrierOp::TryWait => self.try_mbarrier(step),
        }
        self.warp.pc += 1;
    }

    fn at(&self, step: &MbarrierStep, lane: usize) -> At {
        self.at_of(&step.access, lane)
    }

    pub fn at_of(&self, access: &Access, lane: usize) -> At {
        let [id, offset] = [0, 1].map(|i| self.warp.file[access.pointer as usize + i][lane]);
        (id as u32, offset)
    }

    fn number(&self, step: &MbarrierStep, lane: usize) -> i64 {
        (self.warp.file[step.number as usize][lane] as i32).into()
    }

    fn make_mbarrier(&mut self, step: &MbarrierStep, lane: usize) {
        let (at, count) = (self.at(step, lane), self.number(step, lane));
        if !self.has_place(&step.access, at, lane) {
            return;
        }
        if let Some(made) = self.cluster.mbarriers.get(&at).map(|barrier| barrier.made) {
            let message = format!("initialises {}, which is one already", self.told_at(at));
            let other = self.other_done(made, "initialises it");
            return self.find(Kind::MisusedBarrier, lane, Some(other), message);
        }
        if !(1..=MOST_ARRIVALS).contains(&count) {
            let message =
                format!("an mbarrier for {count} arrivals: there are 1 to {MOST_ARRIVALS}");
            self.find(Kind::MisusedBarrier, lane, None, message);
        }
        self.touch_mbarrier(&step.access, at, lane, Way::Write);
        let made = self.done(step, lane);
        let count = count.clamp(1, MOST_ARRIVALS) as u32;
        let home = self.cluster.blocks[self.cluster.rank_of(at.0) as usize];
        let number = self.cluster.mbarriers.len() as u32;
        let agent = agent_of(self.machine.agents_of(home), number);
        let barrier = Mbarrier {
            home,
            number,
            count,
            pending: count,
            bytes: 0,
            phase: 0,
            arriving: Clock::default(),
            met: Clock::default(),
            relaxed: Clock::default(),
            copying: Clock::default(),
            expects_copies: false,
            before: Vec::new(),
            copies: Vec::new(),
            has_small_copies: false,
            agent,
            made,
        };
        self.cluster.mbarriers.insert(at, barrier);
    }

    /// A lane arrives, or has the phase expect bytes, or both.
    fn come_to_mbarrier(&mut self, step: &MbarrierStep, lane: usize) {
        let at = self.at(step, lane);
        if !self.use_mbarrier(step, at, lane) {
            return;
        }
        let is_arrival = step.op != MbarrierOp::ExpectTx;
        let bytes = match step.op {
            MbarrierOp::Arrive | MbarrierOp::ArriveRelaxed | MbarrierOp::ArriveAfterCopies => 0,
            _ => self.number(step, lane),
        };
        let done = self.done(step, lane);
        let clock = now!(self.warp, self.block, self.cluster).clock(lane as u32);
        let seen_done = (step.op == MbarrierOp::ArriveRelaxed).then(|| self.seen_done(lane));
        let (told, group) = (self.told_at(at), self.next_group());
        let Some(barrier) = self.cluster.mbarriers.get_mut(&at) else { return };
        let (phase, count) = (barrier.phase, barrier.count);
        if is_arrival && barrier.pending == 0 {
            let message = format!("arrives at {told} once more: all {count} of phase {phase} have");
            return self.find(Kind::MisusedBarrier, lane, None, message);
        }
        if !(0..=MOST_ARRIVALS).contains(&bytes) {
            let message =
                format!("{told} is to expect {bytes} bytes: there are 0 to {MOST_ARRIVALS}");
            return self.find(Kind::MisusedBarrier, lane, None, message);
        }
        barrier.bytes += bytes;
        if is_arrival {
            barrier.pending -= 1;
            match seen_done {
                Some(seen_done) => {
                    barrier.arriving.join(&seen_done);
                    barrier.relaxed.join(&clock);
                }
                None => barrier.arriving.join(&clock),
            }
            barrier.expects_copies |= bytes > 0;
        } else {
            barrier.remember(Before { done, group, what: Needs::Bytes });
        }
        if step.op == MbarrierOp::ArriveAfterCopies {
            barrier.has_small_copies = true;
            self.block.flights.track(done.event, at, phase);
        }
        self.machine.changes += 1;
        if is_arrival {
            self.complete_phase(at, lane, done);
        }
    }

    /// The deeds of agents that a lane has seen done, and the phases that it has waited for.
    fn seen_done(&self, lane: usize) -> Clock {
        let known = self.warp.orders.as_deref().map(|orders| &orders[lane].acquired);
        let machine = &self.machine;
        known.map_or_else(Clock::default, |clock| clock.of_agents(|block| machine.is_agents(block)))
    }

    /// A lane has bytes come that no copy brings.
    fn bring_bytes(&mut self, step: &MbarrierStep, lane: usize) {
        let at = self.at(step, lane);
        if !self.use_mbarrier(step, at, lane) {
            return;
        }
        let (bytes, done) = (self.number(step, lane), self.done(step, lane));
        if !(0..=MOST_ARRIVALS).contains(&bytes) {
            let told = self.told_at(at);
            let message = format!("{bytes} bytes come to {told}: there are 0 to {MOST_ARRIVALS}");
            return self.find(Kind::MisusedBarrier, lane, None, message);
        }
        self.receive(at, bytes, lane);
        self.complete_phase(at, lane, done);
    }

    /// Bytes come, or are in flight, that belong to the phase that goes on. Gives its mbarrier.
    fn receive(&mut self, at: At, bytes: i64, lane: usize) -> Option<&mut Mbarrier> {
        let clock = now!(self.warp, self.block, self.cluster).clock(lane as u32);
        let barrier = self.cluster.mbarriers.get_mut(&at)?;
        barrier.bytes -= bytes;
        barrier.copying.join(&clock);
        self.machine.changes += 1;
        Some(barrier)
    }

    /// A copy is in flight that belongs to the phase that goes on.
    pub fn count_bytes(&mut self, at: At, bulk: Bulk, lane: usize) {
        let done = Done { event: bulk.mark().event, site: bulk.mark().site };
        let Some(barrier) = self.receive(at, i64::from(bulk.bytes()), lane) else { return };
        barrier.copies.push((barrier.phase, bulk));
        self.complete_phase(at, lane, done);
    }

    /// The next phase begins, where nothing is missing of the one that goes on.
    fn complete_phase(&mut self, at: At, lane: usize, done: Done) {
        let Some(barrier) = self.cluster.mbarriers.get_mut(&at) else { return };
        if !barrier.is_complete() {
            return;
        }
        let (phase, too_many) = (barrier.phase, -barrier.bytes);
        let late = barrier.complete();
        if too_many > 0 {
            let told = self.told_at(at);
            let message = format!(
                "copies bring {too_many} bytes more to phase {phase} of {told} than it expects"
            );
            self.find(Kind::MisusedBarrier, lane, None, message);
        }
        late.into_iter().for_each(|deed| self.find_late(at, deed, done));
    }

    /// Copies are done that belong to phases which are complete.
    fn land_copies(&mut self, at: At) {
        let Some(barrier) = self.cluster.mbarriers.get_mut(&at) else { return };
        let (phase, agent) = (barrier.phase, barrier.agent);
        let done: Vec<_> = barrier.copies.extract_if(.., |(of, _)| *of < phase).collect();
        let has_small_copies = barrier.has_small_copies;
        done.iter().for_each(|(of, bulk)| self.land_bulk(bulk, agent, *of));
        if has_small_copies {
            self.land_tracked(at, phase);
        }
    }

    /// Finds a deed that nothing orders before a phase is complete, which has it complete.
    fn find_late(&mut self, at: At, deed: Before, last: Done) {
        let told = self.told_at(at);
        let phase = self.cluster.mbarriers.get(&at).map_or(0, |barrier| barrier.phase - 1);
        let message = match deed.what {
            Needs::Wait => format!(
                "phase {phase} of {told} may be complete before this wait has seen {}",
                phase_in_words(phase - 1)
            ),
            Needs::Bytes => {
                format!("phase {phase} of {told} may be complete before these bytes are expected")
            }
        };
        let Event { block, warp, lane, .. } = deed.done.event;
        let thread = self.machine.thread(block, warp, lane);
        let place = self.machine.program.sites[deed.done.site as usize];
        let other = self.other_done(last, "completes it");
        self.find_at(Kind::MisusedBarrier, place, thread, Some(other), message);
    }

    /// The mbarrier that the first lane waits at which cannot go on, and the phase of it.
    fn first_waiting(&self, step: &MbarrierStep) -> Option<(At, i64)> {
        lanes_of(self.warp.active).find_map(|lane| {
            let at = self.at(step, lane);
            let barrier = self.cluster.mbarriers.get(&at)?;
            let phase = self.meant(barrier, step, lane);
            (barrier.phase <= phase).then_some((at, phase))
        })
    }

    fn meant(&self, barrier: &Mbarrier, step: &MbarrierStep, lane: usize) -> i64 {
        let known = self.warp.orders.as_deref().map(|orders| &orders[lane].acquired);
        let n_complete = known.map_or(0, |clock| clock.phases(barrier.home, barrier.number));
        barrier.meant(n_complete, self.number(step, lane) as u64 & 1)
    }

    /// Lanes that need not wait: they learn what those knew who arrived.
    fn pass_mbarrier(&mut self, step: &MbarrierStep, lanes: u32) {
        let mut rest = lanes;
        while rest != 0 {
            let at = self.at(step, rest.trailing_zeros() as usize);
            let same = lanes_of(rest).filter(|lane| self.at(step, *lane) == at);
            let same = same.fold(0, |mask, lane| mask | 1 << lane);
            rest &= !same;
            lanes_of(same).for_each(|lane| self.see_phase(step, at, lane));
            self.learn_phase(at, same);
        }
    }

    /// A lane sees that a phase is complete.
    fn see_phase(&mut self, step: &MbarrierStep, at: At, lane: usize) {
        if !self.use_mbarrier(step, at, lane) {
            return;
        }
        self.land_copies(at);
        let (done, group) = (self.done(step, lane), self.next_group());
        let Some(barrier) = self.cluster.mbarriers.get(&at) else { return };
        let (phase, parity) = (self.meant(barrier, step, lane), self.number(step, lane) as u64 & 1);
        let (last, taken) = (barrier.phase - 1, barrier.taken(parity));
        if last > phase {
            let message = format!(
                "waits for {} of {}, and phase {last} is complete already: parity {parity} means {}",
                phase_in_words(phase),
                self.told_at(at),
                phase_in_words(taken)
            );
            self.find(Kind::MisusedBarrier, lane, None, message);
        } else if let Some(barrier) = self.cluster.mbarriers.get_mut(&at) {
            barrier.remember(Before { done, group, what: Needs::Wait });
        }
    }

    fn learn_phase(&mut self, at: At, lanes: u32) {
        let Some(barrier) = self.cluster.mbarriers.get(&at) else { return };
        let orders = self.warp.orders.get_or_insert_with(new_orders);
        match lanes == self.warp.lanes {
            true => clock::teach(orders, &barrier.met),
            false => lanes_of(lanes).for_each(|lane| orders[lane].acquired.join(&barrier.met)),
        }
    }

    /// Each lane is told whether it need not wait.
    fn try_mbarrier(&mut self, step: &MbarrierStep) {
        self.warp.may_wait = true;
        let (mut passing, mut out) = (0, [0; LANES]);
        for lane in lanes_of(self.warp.active) {
            let barrier = self.cluster.mbarriers.get(&self.at(step, lane));
            let waits =
                barrier.is_some_and(|barrier| barrier.phase <= self.meant(barrier, step, lane));
            if !waits {
                passing |= 1 << lane;
                out[lane] = 1;
            }
        }
        self.pass_mbarrier(step, passing);
        if let Some(register) = step.out {
            self.set(register, out);
        }
    }

    /// A lane's use of an mbarrier, in one step. Says whether there is one.
    fn use_mbarrier(&mut self, step: &MbarrierStep, at: At, lane: usize) -> bool {
        let writes = !matches!(step.op, MbarrierOp::Wait | MbarrierOp::TryWait);
        let is_there = self.is_mbarrier(&step.access, at, writes, lane);
        if is_there {
            self.touch_mbarrier(&step.access, at, lane, Way::atomic(writes, Reach::Cluster));
        }
        is_there
    }

    /// Whether an mbarrier is there; finds where not.
    pub fn is_mbarrier(&mut self, access: &Access, at: At, writes: bool, lane: usize) -> bool {
        if !self.has_place(access, at, lane) {
            return false;
        }
        let deed = if writes { Deed::Updates } else { Deed::Reads };
        self.check_presence(access, at.0, deed, 1 << lane);
        let is_there = self.cluster.mbarriers.contains_key(&at);
        if !is_there {
            let message = format!("{} was not initialised", self.told_at(at));
            self.find(Kind::MisusedBarrier, lane, None, message);
        }
        is_there
    }

    /// Whether there is memory for one; finds where not.
    fn has_place(&mut self, access: &Access, at: At, lane: usize) -> bool {
        let memory = &self.cluster.shared[at.0 as usize].0;
        let fault = match memory.has(at.1, MBARRIER_BYTES) {
            false => Some(Fault::OutOfBounds),
            true => (!memory.is_aligned(at.1, MBARRIER_BYTES)).then_some(Fault::Misaligned),
        };
        let faulty = Faulty::new(lane, at.1, fault);
        self.report(access, at.0, Deed::Updates, faulty.as_slice());
        fault.is_none()
    }

    /// A lane touches its bytes, as who makes, arrives or waits does. A copy does not before it is
    /// done, which those know who wait.
    pub fn touch_mbarrier(&mut self, access: &Access, (id, offset): At, lane: usize, way: Way) {
        let now = now!(self.warp, self.block, self.cluster);
        let key = self.machine.packing.pack(way, &now, access.site);
        let (memory, shadow) = &mut self.cluster.shared[id as usize];
        let mut race = None;
        for cell in shadow.cells(offset, MBARRIER_BYTES) {
            let seen = match way {
                Way::Write => shadow.write(cell, key, lane as u32, &now),
                Way::AsyncWrite => shadow.race(cell, UPDATE, lane as u32, &now),
                _ => shadow.atomic(cell, key, lane as u32, &now),
            };
            race = race.or(seen.map(|seen| Fault::Race(shadow.byte_of(cell), seen)));
        }
        if let (Way::Write, Some(written)) = (way, &mut memory.written) {
            written.set(offset as usize, MBARRIER_BYTES);
        }
        let deed = if way.writes() { Deed::Updates } else { Deed::Reads };
        self.report(access, id, deed, Faulty::new(lane, offset, race).as_slice());
    }

    /// Finds lanes that touch an mbarrier as if it were a number.
    pub fn check_plain(&mut self, access: &Access, id: u32, deed: Deed, lanes: u32) {
        let is_shared = matches!(access.space, Space::Shared | Space::Cluster);
        if !is_shared || self.cluster.mbarriers.is_empty() {
            return;
        }
        let offsets = self.get(access.pointer + 1);
        for lane in lanes_of(lanes) {
            let first = offsets[lane].saturating_sub(u64::from(MBARRIER_BYTES) - 1);
            let end = offsets[lane].saturating_add(access.bytes().into());
            let mut touched = self.cluster.mbarriers.range((id, first)..(id, end.max(first)));
            let Some((at, made)) = touched.next().map(|(at, barrier)| (*at, barrier.made)) else {
                continue;
            };
            let message = format!("{} {}", deed.text(), self.told_at(at));
            let other = self.other_done(made, "initialises it");
            self.find(Kind::MisusedBarrier, lane, Some(other), message);
        }
    }

    fn done(&self, step: &MbarrierStep, lane: usize) -> Done {
        let event = now!(self.warp, self.block, self.cluster).event(lane as u32);
        Done { event, site: step.access.site }
    }

    fn other_done(&self, Done { event, site }: Done, what: &'static str) -> Other {
        let thread = self.machine.thread(event.block, event.warp, event.lane);
        Other { place: self.machine.program.sites[site as usize], thread, what }
    }

    pub fn told_at(&self, at: At) -> String {
        self.cluster.told_at(at)
    }
}

impl Cluster {
    fn told_at(&self, (id, offset): At) -> String {
        format!("the mbarrier `{}`", self.shared[id as usize].0.element_at(offset))
    }

    /// The phase of an mbarrier that is waited for, and what it waits for, in words.
    pub fn missing(&self, at: At, phase: i64) -> String {
        let missing = self.mbarriers.get(&at).map(Mbarrier::missing).unwrap_or_default();
        format!("{} for phase {phase}: {missing}", self.told_at(at))
    }
}

fn phase_in_words(phase: i64) -> String {
    match phase {
        ..=-1 => "the phase before the first".to_owned(),
        phase => format!("phase {phase}"),
    }
}

/// Warps look again that wait for phases which are complete. Who completed one has moved in the
/// same sweep.
pub(super) fn pass_mbarriers(cluster: &Cluster, warps: &mut [Warp]) {
    for warp in warps {
        let Status::Mbarrier { at, phase, .. } = warp.status else { continue };
        if cluster.mbarriers.get(&at).is_some_and(|barrier| barrier.phase > phase) {
            warp.status = Status::Ready;
        }
    }
}
