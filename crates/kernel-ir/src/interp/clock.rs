// SPDX-License-Identifier: Apache-2.0
//! The order of events: what happens before what. Each block counts its events of order: barriers,
//! and releases of its threads. The count is its time, and an access is known by its thread and the
//! time at which it happened. A thread knows all that its block did before the block's last
//! barrier, all that its warp did before the warp's last barrier, all that it did itself, and what
//! it has acquired.
//!
//! An acquire brings a [`Clock`]: up to which time a block, a warp or a thread is known. A
//! release leaves the releasing thread's clock where it writes ([`Releases`]), and whoever acquires
//! what was written there joins it to its own. A barrier joins the clocks of all that take part.

use super::warp::LANES;
use kernpack_machine::block::WARP_SIZE;
use std::collections::{BTreeMap, HashMap};
use std::rc::Rc;

/// Whom a time of a clock is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Party {
    Block,
    Warp(u32),
    Thread(u32),
}

/// The number of a block that stands for what ran before the launch: no grid has so many blocks.
const BEFORE: u64 = u64::MAX;

/// A clock: it knows everything of a party before a time. Nothing at all is the common case.
#[derive(Clone, Debug, Default)]
pub(super) struct Clock(Option<Rc<BTreeMap<(u64, Party), u64>>>);

impl Clock {
    /// Knows what the other one knows, too.
    pub fn join(&mut self, other: &Clock) {
        let Some(theirs) = &other.0 else { return };
        match &mut self.0 {
            None => self.0 = Some(theirs.clone()),
            Some(mine) if Rc::ptr_eq(mine, theirs) => {}
            Some(mine) => {
                let mine = Rc::make_mut(mine);
                for (party, time) in theirs.iter() {
                    let known = mine.entry(*party).or_default();
                    *known = (*known).max(*time);
                }
            }
        }
    }

    fn learn(&mut self, block: u64, party: Party, time: u64) {
        let known = Rc::make_mut(self.0.get_or_insert_default()).entry((block, party)).or_default();
        *known = (*known).max(time);
    }

    fn knows(&self, event: Event) -> bool {
        let Some(times) = &self.0 else { return false };
        let thread = event.warp * WARP_SIZE + event.lane;
        [Party::Block, Party::Warp(event.warp), Party::Thread(thread)]
            .iter()
            .any(|party| times.get(&(event.block, *party)).is_some_and(|time| event.time < *time))
    }
}

/// Who did something, and when.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Event {
    pub block: u64,
    pub warp: u32,
    pub lane: u32,
    pub time: u64,
}

/// The clocks that a thread has acquired, is about to acquire, and would release.
#[derive(Clone, Debug, Default)]
pub(super) struct Order {
    pub acquired: Clock,
    /// The clocks that relaxed reads have found, which a fence acquires: of its own block's, and of
    /// others.
    found_here: Clock,
    found_elsewhere: Clock,
    /// The clocks that relaxed writes release since a fence: to its own block, and to others.
    fenced_here: Clock,
    fenced_elsewhere: Clock,
}

/// The clocks of a warp at a moment.
pub(super) struct Now<'a> {
    pub block: u64,
    pub warp: u32,
    pub time: u64,
    /// Everything of the block before this is known.
    pub block_known: u64,
    /// Everything of the warp before this is known.
    pub warp_known: u64,
    /// The clocks of its threads, if any has acquired one.
    pub orders: Option<&'a [Order; LANES]>,
}

impl Now<'_> {
    /// A deed of a lane, now.
    pub fn event(&self, lane: u32) -> Event {
        Event { block: self.block, warp: self.warp, lane, time: self.time }
    }

    /// Whether something happened before what a lane does now.
    pub fn knows(&self, lane: u32, event: Event) -> bool {
        if event.block == self.block {
            let is_own_warp = event.warp == self.warp;
            if event.time < self.block_known
                || is_own_warp && (event.lane == lane || event.time < self.warp_known)
            {
                return true;
            }
        }
        self.orders.is_some_and(|orders| orders[lane as usize].acquired.knows(event))
    }

    /// All that a lane knows, its own deeds included. The block's time has to move on behind it.
    fn clock(&self, lane: u32) -> Clock {
        let mut clock =
            self.orders.map_or_else(Clock::default, |all| all[lane as usize].acquired.clone());
        clock.learn(self.block, Party::Block, self.block_known);
        clock.learn(self.block, Party::Warp(self.warp), self.warp_known);
        clock.learn(self.block, Party::Thread(self.warp * WARP_SIZE + lane), self.time + 1);
        clock
    }
}

/// The mark of a release.
#[derive(Clone, Debug)]
struct Released {
    block: u64,
    /// Whether other blocks may acquire it.
    is_wide: bool,
    clock: Clock,
}

/// Marks of releases, by allocation and byte.
#[derive(Debug, Default)]
pub(super) struct Releases(HashMap<(u32, u64), Vec<Released>>);

/// How an atomic operation orders.
#[derive(Clone, Copy, Debug)]
pub(super) struct Ordering {
    pub is_acquire: bool,
    pub is_release: bool,
    pub is_wide: bool,
}

impl Releases {
    /// A lane reads what was written there in one step.
    pub fn acquire(&self, at: (u32, u64), block: u64, how: Ordering, order: &mut Order) {
        for released in self.0.get(&at).into_iter().flatten() {
            let is_here = released.block == block;
            let is_meant = is_here || released.is_wide && how.is_wide;
            if !is_meant {
                continue;
            }
            match (how.is_acquire, is_here) {
                (true, _) => order.acquired.join(&released.clock),
                (false, true) => order.found_here.join(&released.clock),
                (false, false) => order.found_elsewhere.join(&released.clock),
            }
        }
    }

    /// A lane writes there in one step. What was released there before stays where this one has
    /// read it.
    pub fn release(
        &mut self,
        at: (u32, u64),
        now: &Now,
        lane: u32,
        how: Ordering,
        is_update: bool,
    ) {
        if !is_update {
            self.forget(at);
        }
        let mut add = |clock: Clock, is_wide| {
            if clock.0.is_some() {
                self.add(at, Released { block: now.block, is_wide, clock });
            }
        };
        if how.is_release {
            add(now.clock(lane), how.is_wide);
        } else if let Some(orders) = now.orders {
            let order = &orders[lane as usize];
            add(order.fenced_here.clone(), false);
            if how.is_wide {
                add(order.fenced_elsewhere.clone(), true);
            }
        }
    }

    fn add(&mut self, at: (u32, u64), new: Released) {
        let all = self.0.entry(at).or_default();
        match all.iter_mut().find(|old| old.block == new.block && old.is_wide == new.is_wide) {
            Some(old) => old.clock.join(&new.clock),
            None => all.push(new),
        }
    }

    /// Something else is written there.
    pub fn forget(&mut self, at: (u32, u64)) {
        self.0.remove(&at);
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

/// A lane orders what it did before and does behind.
pub(super) fn fence(now: &Now, lane: u32, is_wide: bool, order: &mut Order) {
    let found = std::mem::take(&mut order.found_here);
    order.acquired.join(&found);
    if is_wide {
        let found = std::mem::take(&mut order.found_elsewhere);
        order.acquired.join(&found);
    }
    let mut clock = now.clock(lane);
    clock.join(&order.acquired);
    if is_wide {
        order.fenced_elsewhere = clock.clone();
    }
    order.fenced_here = clock;
}

/// A lane waits for the launch in front. Whoever acquires what it releases knows that, too.
pub(super) fn wait(order: &mut Order) {
    order.acquired.learn(BEFORE, Party::Block, 1);
}

/// Whether what a lane does now comes behind a wait for the launch in front.
pub(super) fn has_waited(now: &Now, lane: u32) -> bool {
    now.knows(lane, Event { block: BEFORE, warp: 0, lane: 0, time: 0 })
}

/// All of them know what any of them knows.
pub(super) fn join<'a>(orders: impl Iterator<Item = &'a mut [Order; LANES]>) -> Clock {
    let mut all = Clock::default();
    let mut orders: Vec<_> = orders.collect();
    for order in orders.iter().flat_map(|lanes| lanes.iter()) {
        all.join(&order.acquired);
    }
    for order in orders.iter_mut().flat_map(|lanes| lanes.iter_mut()) {
        order.acquired = all.clone();
    }
    all
}
