// SPDX-License-Identifier: Apache-2.0
//! Which way of submitting launches is cheaper on a device, found out on the launches themselves.
//!
//! All threads go the same way at a time: what a launch costs depends on how the others launch, and
//! a thread that tries the other way alone learns nothing of what it costs when all do. So the way
//! is the device's. Few launches on it are timed; from time to time all go the other way for a
//! moment, a *trial*, in which each launch is timed. Medians decide.
//!
//! Trials become rarer as they confirm the way, and another begins early where launches cost
//! something else than when the way was chosen: threads have come or gone.
//!
//! Everything here is zero at first, which is the way through graphs.

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

/// How many launches are timed between two medians.
const SAMPLES: usize = 16;
/// How many are not, where the way has just changed: other threads may still be going the old one.
const SKIPPED: u32 = 4;
/// The most medians between two trials.
const MOST_MEDIANS: u32 = 64;
/// The least, where a trial begins early.
const LEAST_MEDIANS: u32 = 4;

const IS_TRIAL: u32 = 2;

/// What is known of the ways.
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
    /// How many have been taken note of since the last median, those that are skipped too.
    n_noted: u32,
    /// The last median of each way; 0 where there is none.
    costs: [u32; 2],
    /// What the way cost when it was chosen.
    chosen_at: u32,
    /// How many medians there have been since the last trial.
    n_medians: u32,
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
    /// What comes next.
    fn note(&mut self, now: Now, went: Way, ticks: u32) -> Now {
        // A way that cannot be gone is as good as one that costs too much.
        let ticks = match went == now.way() {
            true => ticks,
            false if now.is_trial() => u32::MAX,
            false => return now,
        };
        let n_skipped = if self.n_medians == 0 { SKIPPED } else { 0 };
        let number = self.n_noted.wrapping_sub(n_skipped);
        self.n_noted += 1;
        if let Some(place) = self.samples.get_mut(number as usize) {
            *place = ticks;
        }
        if number != SAMPLES as u32 - 1 {
            return now;
        }
        let median = median(&self.samples);
        let [graph, plain] = &mut self.costs;
        *(if now.way() == Way::Graph { graph } else { plain }) = median;
        self.n_noted = 0;
        match now.is_trial() {
            true => self.decide(now.way(), median),
            false => self.go_on(now, median),
        }
    }

    /// Behind a median of the way that was chosen: begins a trial of the other, where it is time.
    fn go_on(&mut self, now: Now, median: u32) -> Now {
        if self.chosen_at == 0 {
            self.chosen_at = median;
        }
        self.n_medians += 1;
        let is_other = differs(median, self.chosen_at) && self.n_medians >= LEAST_MEDIANS;
        if self.n_medians < self.interval && !is_other {
            return now;
        }
        self.n_medians = 0;
        Now::trying(now.way().other())
    }

    /// Behind a trial: keeps to the way where it is cheaper by more than chance.
    fn decide(&mut self, way: Way, median: u32) -> Now {
        let before = self.cost(way.other());
        let is_cheaper = median.saturating_add(median / 32) < before;
        let way = if is_cheaper { way } else { way.other() };
        self.chosen_at = self.cost(way);
        self.interval = if is_cheaper { 1 } else { (2 * self.interval).clamp(2, MOST_MEDIANS) };
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

/// The greatest sample that at most half of the others are below.
fn median(samples: &[u32; SAMPLES]) -> u32 {
    let n_below = |sample: u32| samples.iter().filter(|other| **other < sample).count();
    let half = samples.iter().copied().filter(|sample| n_below(*sample) <= SAMPLES / 2);
    half.max().unwrap_or(0)
}
