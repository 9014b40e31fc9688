// SPDX-License-Identifier: Apache-2.0
//! Which way of submitting launches is cheaper on a device, found out on the launches themselves.
//!
//! All threads go the same way at a time: what a launch costs depends on how the others launch, and
//! a thread that tries the other way alone learns nothing of what it costs when all do. So the way
//! is the device's. Few launches on it are timed; from time to time all go the other way for a
//! moment, a *trial*, in which each launch is timed.
//!
//! Means decide, not medians: threads that launch at once wait for one another, most of them
//! briefly and some long, and longer where there are more calls of the driver. Only what took much
//! longer than the others is left out: anything may have interrupted it.
//!
//! Trials become rarer as they confirm the way, and another begins early where launches cost
//! something else than when the way was chosen: threads have come or gone.
//!
//! Everything here is zero at first, which is the way through graphs.

#![expect(unsafe_code, reason = "threads share what one of them changes at a time")]

use core::cell::UnsafeCell;
use core::sync::atomic::{AtomicU32, Ordering};

/// A way of submitting launches.
#[derive(Clone, Copy, PartialEq, Eq)]
#[repr(u32)]
pub(super) enum Way {
    Graph = 0,
    Plain = 1,
}

impl Way {
    fn other(self) -> Way {
        if self == Way::Graph { Way::Plain } else { Way::Graph }
    }
}

/// The way that all go now, and whether that is a trial.
#[derive(Clone, Copy)]
pub(super) struct Now(u32);

impl Now {
    fn going(way: Way) -> Now {
        Now(way as u32)
    }

    fn trying(way: Way) -> Now {
        Now(way as u32 | IS_TRIAL)
    }

    #[inline(always)]
    pub(super) fn way(self) -> Way {
        if self.0 & Way::Plain as u32 == 0 { Way::Graph } else { Way::Plain }
    }

    #[inline(always)]
    pub(super) fn is_trial(self) -> bool {
        self.0 & IS_TRIAL != 0
    }
}

/// How many launches are timed in a *round*, which gives a mean.
const SAMPLES: usize = 32;
/// How many are not, where the way has just changed: other threads may still be going the old one.
const SKIPPED: u32 = 4;
/// The most rounds between two trials.
const MOST_ROUNDS: u32 = 32;
/// How many there are between the first ones.
const FIRST_ROUNDS: u32 = 4;
/// The least, where a trial begins early.
const LEAST_ROUNDS: u32 = 2;

const IS_TRIAL: u32 = 2;

/// The state of choosing between the ways.
#[repr(C)]
pub(super) struct Choice {
    now: AtomicU32,
    /// 1 while a thread has the memory behind this.
    is_busy: AtomicU32,
    known: UnsafeCell<Known>,
}

#[repr(C)]
struct Known {
    samples: [u32; SAMPLES],
    /// How many have been taken note of in this round, those that are skipped too.
    n_noted: u32,
    /// The last mean of each way; 0 where there is none.
    costs: [u32; 2],
    /// The cost of the way when it was chosen.
    chosen_at: u32,
    /// How many rounds there have been since the last trial.
    n_rounds: u32,
    /// How many there are to be before the next.
    interval: u32,
}

impl Choice {
    /// Which way to go.
    #[inline(always)]
    pub(super) fn now(&self) -> Now {
        Now(self.now.load(Ordering::Relaxed))
    }

    /// Takes note of how many ticks something took that went this way. Where another thread is at
    /// it, that is forgotten.
    pub(super) fn note(&self, went: Way, ticks: u32) {
        if self.is_busy.swap(1, Ordering::Acquire) != 0 {
            return;
        }
        let now = self.now();
        // SAFETY: one thread at a time is here.
        let known = unsafe { &mut *self.known.get() };
        self.now.store(known.note(now, went, ticks).0, Ordering::Relaxed);
        self.is_busy.store(0, Ordering::Release);
    }
}

impl Known {
    /// Notes what a launch took, and says which way comes next.
    fn note(&mut self, now: Now, went: Way, ticks: u32) -> Now {
        // A way that cannot be gone is as good as one that costs too much.
        let ticks = match went == now.way() {
            true => ticks,
            false if now.is_trial() => u32::MAX,
            false => return now,
        };
        let n_skipped = if self.n_rounds == 0 { SKIPPED } else { 0 };
        let number = self.n_noted.wrapping_sub(n_skipped);
        self.n_noted += 1;
        if let Some(place) = self.samples.get_mut(number as usize) {
            *place = ticks;
        }
        if number != SAMPLES as u32 - 1 {
            return now;
        }
        let mean = mean(&self.samples);
        let [graph, plain] = &mut self.costs;
        *(if now.way() == Way::Graph { graph } else { plain }) = mean;
        self.n_noted = 0;
        match now.is_trial() {
            true => self.decide(now.way(), mean),
            false => self.go_on(now, mean),
        }
    }

    /// Behind a round of the way that was chosen: begins a trial of the other, where it is time.
    fn go_on(&mut self, now: Now, mean: u32) -> Now {
        if self.chosen_at == 0 {
            self.chosen_at = mean;
        }
        self.n_rounds += 1;
        let is_other = differs(mean, self.chosen_at) && self.n_rounds >= LEAST_ROUNDS;
        if self.n_rounds < self.interval && !is_other {
            return now;
        }
        self.n_rounds = 0;
        Now::trying(now.way().other())
    }

    /// Behind a trial: keeps to the way where it is cheaper by more than chance.
    fn decide(&mut self, way: Way, mean: u32) -> Now {
        let before = self.cost(way.other());
        let is_cheaper = mean.saturating_add(mean / 32) < before;
        let way = if is_cheaper { way } else { way.other() };
        self.chosen_at = self.cost(way);
        let longer = (4 * self.interval).clamp(FIRST_ROUNDS, MOST_ROUNDS);
        self.interval = if is_cheaper { 1 } else { longer };
        Now::going(way)
    }

    fn cost(&self, way: Way) -> u32 {
        let [graph, plain] = self.costs;
        if way == Way::Graph { graph } else { plain }
    }
}

/// Whether a cost is no longer what it was.
fn differs(cost: u32, was: u32) -> bool {
    cost > was.saturating_add(was / 4) || cost.saturating_add(cost / 4) < was
}

/// The mean of the samples but those beyond twice the mean of all.
fn mean(samples: &[u32; SAMPLES]) -> u32 {
    let mut mean = u64::MAX / 2;
    for _ in 0..2 {
        let (mut sum, mut n) = (0, 0);
        for sample in samples.iter().map(|sample| u64::from(*sample)) {
            if sample <= 2 * mean {
                sum += sample;
                n += 1;
            }
        }
        mean = sum / n.max(1);
    }
    mean as u32
}

#[cfg(test)]
mod tests {
    use super::*;
    use core::mem::MaybeUninit;
    use std::vec::Vec;

    /// Every so many calls, one is timed.
    const TIMED: u32 = 16;

    /// The costs of launches by graphs and plainly.
    type Costs = [u32; 2];
    const GRAPHS_ARE_CHEAPER: Costs = [1000, 1200];
    const PLAIN_IS_CHEAPER: Costs = [1200, 1000];

    fn cost_of(way: Way, [graph, plain]: Costs) -> u32 {
        if way == Way::Graph { graph } else { plain }
    }

    /// A device, and what has been done on it.
    struct Device {
        choice: Choice,
        n_calls: u32,
        n_plain: u32,
        /// Which calls trials began with.
        trials: Vec<u32>,
        random: u32,
    }

    impl Device {
        fn new() -> Device {
            // SAFETY: everything is zero at first.
            let choice = unsafe { MaybeUninit::zeroed().assume_init() };
            Device { choice, n_calls: 0, n_plain: 0, trials: Vec::new(), random: 1 }
        }

        /// A number below another, as if by chance.
        fn below(&mut self, limit: u32) -> u32 {
            self.random = self.random.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            ((u64::from(self.random) * u64::from(limit)) >> 32) as u32
        }

        /// Makes a call, which costs up to a tenth more or less, and now and then ten times as
        /// much.
        fn call(&mut self, costs: Costs) {
            let was_trial = self.choice.now().is_trial();
            let now = self.choice.now();
            let cost = cost_of(now.way(), costs);
            let interrupted = if self.below(10) == 0 { 10 } else { 1 };
            let cost = interrupted * (cost - cost / 10 + self.below(cost / 5));
            self.n_calls += 1;
            self.n_plain += u32::from(now.way() == Way::Plain);
            if now.is_trial() || self.n_calls.is_multiple_of(TIMED) {
                self.choice.note(now.way(), cost);
            }
            if self.choice.now().is_trial() && !was_trial {
                self.trials.push(self.n_calls);
            }
        }

        fn calls(&mut self, number: u32, costs: Costs) {
            (0..number).for_each(|_| self.call(costs));
        }

        /// How many of the next calls go plainly.
        fn n_plain(&mut self, number: u32, costs: Costs) -> u32 {
            let before = self.n_plain;
            self.calls(number, costs);
            self.n_plain - before
        }

        /// How many calls it takes until the next way is chosen; not more than so many.
        fn n_until(&mut self, way: Way, most: u32, costs: Costs) -> u32 {
            let is_chosen = |now: Now| now.way() == way && !now.is_trial();
            let before = self.n_calls;
            while !is_chosen(self.choice.now()) && self.n_calls - before < most {
                self.call(costs);
            }
            self.n_calls - before
        }

        /// How many calls of exactly those costs are timed until a trial begins, or ends.
        fn n_timed_until(&self, is_trial: bool, costs: Costs) -> u32 {
            let mut n = 0;
            while self.choice.now().is_trial() != is_trial && n < 10_000 {
                let way = self.choice.now().way();
                self.choice.note(way, cost_of(way, costs));
                n += 1;
            }
            n
        }

        /// How many are until a trial has begun and ended.
        fn n_timed_to_a_decision(&self, costs: Costs) -> u32 {
            self.n_timed_until(true, costs) + self.n_timed_until(false, costs)
        }
    }

    #[test]
    fn the_cheaper_way_is_found_soon_and_kept() {
        for (costs, is_plain) in [(GRAPHS_ARE_CHEAPER, false), (PLAIN_IS_CHEAPER, true)] {
            let mut device = Device::new();
            device.calls(1000, costs);
            let n_plain = device.n_plain(100_000, costs);
            let n_other = if is_plain { 100_000 - n_plain } else { n_plain };
            assert!(n_other < 500, "{costs:?}: {n_other} of 100,000 calls");
            assert!(n_other > 0, "{costs:?}: the other way is tried");
        }
    }

    #[test]
    fn trials_become_rarer() {
        let mut device = Device::new();
        device.calls(300_000, PLAIN_IS_CHEAPER);
        let apart: Vec<_> = device.trials.windows(2).map(|pair| pair[1] - pair[0]).collect();
        // One is begun behind so many rounds, each of so many calls that are timed.
        let round = SAMPLES as u32 * TIMED;
        assert!(apart[0] <= 2 * round, "{apart:?}");
        assert!(apart.is_sorted_by(|a, b| *b + 2 * TIMED * SKIPPED > *a), "{apart:?}");
        let last = apart.last().unwrap();
        let most = MOST_ROUNDS * round;
        assert!((most..most + round).contains(last), "{apart:?}");
    }

    #[test]
    fn a_trial_times_thirty_six_calls() {
        let device = Device::new();
        for n_before in [36, 132, 516, 1028, 1028] {
            assert_eq!(device.n_timed_until(true, GRAPHS_ARE_CHEAPER), n_before);
            assert_eq!(device.n_timed_until(false, GRAPHS_ARE_CHEAPER), 36);
        }
    }

    /// Graphs cost 1000 when they are chosen, and something else from then on.
    #[test]
    fn a_change_of_more_than_a_quarter_begins_a_trial_early() {
        for (graph, n_before) in [(1251, 68), (1250, 516), (800, 516), (799, 68)] {
            let device = Device::new();
            device.n_timed_to_a_decision(GRAPHS_ARE_CHEAPER);
            device.n_timed_to_a_decision(GRAPHS_ARE_CHEAPER);
            let n = device.n_timed_until(true, [graph, 1200]);
            assert_eq!(n, n_before, "{graph}");
        }
    }

    #[test]
    fn a_way_is_chosen_that_is_cheaper_by_more_than_a_thirty_second() {
        for (plain, is_chosen) in [(320, false), (319, true)] {
            let device = Device::new();
            device.n_timed_to_a_decision([330, plain]);
            assert!((device.choice.now().way() == Way::Plain) == is_chosen, "{plain}");
        }
    }

    #[test]
    fn a_mean_leaves_out_what_takes_more_than_twice_the_mean() {
        let mut samples = [1000; SAMPLES];
        samples[..8].fill(4000);
        assert_eq!(mean(&samples), 1000);
        samples[..16].fill(2900);
        assert_eq!(mean(&samples), 1950);
    }

    /// Of uses that differ, some may go no other way.
    #[test]
    fn a_way_counts_where_most_launches_go_it() {
        let mut samples = [1000; SAMPLES];
        samples[..SAMPLES / 2 - 1].fill(u32::MAX);
        assert_eq!(mean(&samples), 1000);
        samples[SAMPLES / 2] = u32::MAX;
        assert!(mean(&samples) >= u32::MAX / 2);
    }

    #[test]
    fn a_sample_is_forgotten_while_another_thread_takes_one() {
        let device = Device::new();
        device.choice.is_busy.store(1, Ordering::Relaxed);
        assert_eq!(device.n_timed_until(true, GRAPHS_ARE_CHEAPER), 10_000);
        device.choice.is_busy.store(0, Ordering::Relaxed);
        assert_eq!(device.n_timed_until(true, GRAPHS_ARE_CHEAPER), 36);
    }

    /// When many threads launch at once, each way costs something else: another trial begins before
    /// its time.
    #[test]
    fn what_launches_cost_may_change() {
        let mut device = Device::new();
        device.calls(100_000, GRAPHS_ARE_CHEAPER);
        let many_threads = [4000, 3000];
        let n = device.n_until(Way::Plain, 100_000, many_threads);
        assert!(n < 2000, "{n} calls when threads come");
        device.calls(100_000, many_threads);
        let n = device.n_until(Way::Graph, 100_000, GRAPHS_ARE_CHEAPER);
        assert!(n < 2000, "{n} calls when they go");
    }

    /// Where only the other way's cost changes, which nobody sees, the next trial finds it out.
    #[test]
    fn the_other_way_may_become_cheaper() {
        let mut device = Device::new();
        device.calls(100_000, GRAPHS_ARE_CHEAPER);
        let [graph, _] = GRAPHS_ARE_CHEAPER;
        let n = device.n_until(Way::Plain, 100_000, [graph, graph / 2]);
        assert!(n < (MOST_ROUNDS + 1) * SAMPLES as u32 * TIMED, "{n} calls");
    }

    /// A trial of graphs in which no call goes through one, be it that the driver refuses them.
    #[test]
    fn a_way_that_cannot_be_gone_is_given_up() {
        let mut device = Device::new();
        device.calls(2000, PLAIN_IS_CHEAPER);
        while !device.choice.now().is_trial() {
            device.call(PLAIN_IS_CHEAPER);
        }
        assert!(device.choice.now().way() == Way::Graph);
        let mut n = 0;
        while device.choice.now().is_trial() && n < 1000 {
            device.choice.note(Way::Plain, 1);
            n += 1;
        }
        assert!(n < 100, "{n} calls");
        assert!(device.choice.now().way() == Way::Plain);
        // As before, and graphs are chosen when there are some.
        let n = device.n_until(Way::Graph, 100_000, [500, 1000]);
        assert!((1..20_000).contains(&n), "{n} calls");
    }

    /// Plain launches where graphs are chosen say nothing of what graphs cost.
    #[test]
    fn calls_that_go_another_way_are_not_counted() {
        let device = Device::new();
        for _ in 0..10_000 {
            device.choice.note(Way::Plain, 1);
            let now = device.choice.now();
            assert!(now.way() == Way::Graph && !now.is_trial());
        }
    }

    /// However few ticks apart they are: not more goes to trials than usual.
    #[test]
    fn two_ways_that_cost_the_same_are_not_tried_all_the_time() {
        let mut device = Device::new();
        device.calls(200_000, [1000, 1000]);
        assert!(device.trials.len() < 200, "{}", device.trials.len());
    }
}
