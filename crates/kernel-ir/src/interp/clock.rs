// SPDX-License-Identifier: Apache-2.0
//! The order of events: what happens before what. Each block counts its events of order: barriers,
//! and releases of its threads. The count is its time, and an access is known by its thread and the
//! time at which it happened. A thread knows all that its block did before the block's last
//! barrier, all that its warp did before the warp's last barrier, all that it did itself, and what
//! it has acquired.
//!
//! An acquire brings a [`Clock`]: up to which time a block, a warp or a thread is known. A
//! release leaves the releasing thread's clock where it writes ([`Releases`]), and whoever acquires
//! what was written there joins it to its own. A barrier joins the clocks of all that take part,
//! and that of a cluster brings those of all who have arrived.
//!
//! How far an operation in one step reaches, and how near two blocks are, is one scale: [`Reach`].
//!
//! Blocks of several ranks, and of their launches one after another, are numbered through: above
//! [`GRID_BIT`] a number says which grid its block is of.

use super::warp::LANES;
use kernpack_machine::block::WARP_SIZE;
use std::collections::{BTreeMap, HashMap};
use std::rc::Rc;

/// How far an operation is seen: by its block, its cluster, its device or all. Also how near two
/// blocks are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
pub(super) enum Reach {
    Block = 0,
    Cluster = 1,
    Grid = 2,
    System = 3,
}

impl Reach {
    /// Every one.
    const ALL: [Reach; 4] = [Reach::Block, Reach::Cluster, Reach::Grid, Reach::System];

    /// How near two blocks are, of which one has these in its cluster.
    pub fn between(own: u64, other: u64, peers: &[u64]) -> Reach {
        if own == other {
            Reach::Block
        } else if peers.contains(&other) {
            Reach::Cluster
        } else if grid_of(own) == grid_of(other) {
            Reach::Grid
        } else {
            Reach::System
        }
    }

    /// Those that it holds, itself included.
    fn within(self) -> impl Iterator<Item = Reach> {
        Reach::ALL.into_iter().filter(move |one| *one <= self)
    }
}

/// Where the number of a block's grid begins in its own.
pub(super) const GRID_BIT: u32 = 40;

/// The grid that a block is of.
pub(super) fn grid_of(block: u64) -> u64 {
    block >> GRID_BIT
}

/// The number of a block among those of its grid.
pub(super) fn in_grid(block: u64) -> u64 {
    block & ((1 << GRID_BIT) - 1)
}

/// The number of a block of a grid, among those of all.
pub(super) fn of_grid(grid: u64, block: u64) -> u64 {
    grid << GRID_BIT | block
}

/// Whom a time of a clock is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Party {
    Block,
    Warp(u32),
    Thread(u32),
    /// An mbarrier of the block: its times are its phases.
    Mbarrier(u32),
    /// All of the grid that begins with the block, which has ended.
    Grid,
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

    /// Knows that a block has begun, and nothing that it did.
    pub fn hear_of(&mut self, block: u64) {
        self.learn(block, Party::Block, 0);
    }

    /// Whether it knows that a block has begun.
    pub fn has_heard_of(&self, block: u64) -> bool {
        let Some(times) = &self.0 else { return false };
        let of_block = (block, Party::Block)..(block + 1, Party::Block);
        times.range(of_block).next().is_some()
    }

    /// Knows everything that a block did before a time.
    pub fn learn_block(&mut self, block: u64, time: u64) {
        self.learn(block, Party::Block, time);
    }

    /// Knows everything of a grid, which has ended.
    pub fn learn_grid(&mut self, grid: u64) {
        let times = Rc::make_mut(self.0.get_or_insert_default());
        times.retain(|(block, _), _| grid_of(*block) != grid);
        times.insert((of_grid(grid, 0), Party::Grid), 0);
    }

    /// Whether it knows everything of a grid.
    pub fn knows_grid(&self, grid: u64) -> bool {
        let first = (of_grid(grid, 0), Party::Grid);
        self.0.as_deref().is_some_and(|times| times.contains_key(&first))
    }

    fn learn(&mut self, block: u64, party: Party, time: u64) {
        let known = Rc::make_mut(self.0.get_or_insert_default()).entry((block, party)).or_default();
        *known = (*known).max(time);
    }

    /// Knows that so many phases of an mbarrier of a block are complete.
    pub fn learn_phases(&mut self, block: u64, mbarrier: u32, n_complete: u64) {
        self.learn(block, Party::Mbarrier(mbarrier), n_complete);
    }

    /// Knows all that an agent, which stands for a warp, did before a time.
    pub fn learn_agent(&mut self, block: u64, agent: u32, time: u64) {
        self.learn(block, Party::Warp(agent), time);
    }

    /// Its part about agents, which go by such numbers of blocks, and phases of mbarriers.
    pub fn of_agents(&self, is_agents: impl Fn(u64) -> bool) -> Clock {
        let times = self.0.iter().flat_map(|times| times.iter());
        let is_kept = |(block, party)| is_agents(block) || matches!(party, Party::Mbarrier(_));
        let kept: BTreeMap<_, _> =
            times.filter(|(of, _)| is_kept(**of)).map(|(of, time)| (*of, *time)).collect();
        Clock((!kept.is_empty()).then(|| Rc::new(kept)))
    }

    /// How many phases of an mbarrier of a block it knows to be complete.
    pub fn phases(&self, block: u64, mbarrier: u32) -> u64 {
        let times = self.0.as_deref();
        times.and_then(|times| times.get(&(block, Party::Mbarrier(mbarrier)))).map_or(0, |n| *n)
    }

    pub fn knows(&self, event: Event) -> bool {
        let Some(times) = &self.0 else { return false };
        let thread = event.warp * WARP_SIZE + event.lane;
        [Party::Block, Party::Warp(event.warp), Party::Thread(thread)]
            .iter()
            .any(|party| times.get(&(event.block, *party)).is_some_and(|time| event.time < *time))
            || self.knows_grid(grid_of(event.block))
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
    /// The clocks that relaxed reads have found, which a fence acquires: by how near it was.
    found: [Clock; Reach::ALL.len()],
    /// The clocks that relaxed writes release since a fence: by how far.
    fenced: [Clock; Reach::ALL.len()],
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
    /// The blocks of its cluster, itself included.
    pub peers: &'a [u64],
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

    /// How near a block is.
    pub fn near(&self, block: u64) -> Reach {
        Reach::between(self.block, block, self.peers)
    }

    /// Whether a lane knows that a block has begun.
    pub fn has_heard_of(&self, lane: u32, block: u64) -> bool {
        let orders = self.orders.map(|orders| &orders[lane as usize]);
        orders.is_some_and(|order| order.acquired.has_heard_of(block))
    }

    /// All that the lanes of the warp know, their own deeds included. The block's time has to move
    /// on behind it.
    pub fn clock_of_warp(&self) -> Clock {
        let mut clock = Clock::default();
        for order in self.orders.into_iter().flatten() {
            clock.join(&order.acquired);
        }
        clock.learn(self.block, Party::Block, self.block_known);
        clock.learn(self.block, Party::Warp(self.warp), self.time + 1);
        clock
    }

    /// All that a lane knows, its own deeds included. The block's time has to move on behind it.
    pub fn clock(&self, lane: u32) -> Clock {
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
    /// Who may acquire it.
    reach: Reach,
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
    pub reach: Reach,
}

impl Releases {
    /// A lane reads what was written there in one step.
    pub fn acquire(
        &self,
        at: (u32, u64),
        near: impl Fn(u64) -> Reach,
        how: Ordering,
        order: &mut Order,
    ) {
        for released in self.0.get(&at).into_iter().flatten() {
            let near = near(released.block);
            if near > released.reach.min(how.reach) {
                continue;
            }
            match how.is_acquire {
                true => order.acquired.join(&released.clock),
                false => order.found[near as usize].join(&released.clock),
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
        let mut add = |clock: Clock, reach| {
            if clock.0.is_some() {
                self.add(at, Released { block: now.block, reach, clock });
            }
        };
        if how.is_release {
            add(now.clock(lane), how.reach);
        } else if let Some(orders) = now.orders {
            let fenced = &orders[lane as usize].fenced;
            how.reach.within().for_each(|reach| add(fenced[reach as usize].clone(), reach));
        }
    }

    fn add(&mut self, at: (u32, u64), new: Released) {
        let all = self.0.entry(at).or_default();
        match all.iter_mut().find(|old| old.block == new.block && old.reach == new.reach) {
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
pub(super) fn fence(now: &Now, lane: u32, reach: Reach, order: &mut Order) {
    for near in reach.within() {
        let found = std::mem::take(&mut order.found[near as usize]);
        order.acquired.join(&found);
    }
    let mut clock = now.clock(lane);
    clock.join(&order.acquired);
    reach.within().for_each(|reach| order.fenced[reach as usize] = clock.clone());
}

/// The lanes of a warp know what a clock does, too.
pub(super) fn teach(orders: &mut [Order; LANES], clock: &Clock) {
    let first = orders[0].acquired.clone();
    let mut both = first.clone();
    both.join(clock);
    for order in orders {
        match (&order.acquired.0, &first.0) {
            (Some(own), Some(first)) if Rc::ptr_eq(own, first) => order.acquired = both.clone(),
            (None, None) => order.acquired = both.clone(),
            _ => order.acquired.join(clock),
        }
    }
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
