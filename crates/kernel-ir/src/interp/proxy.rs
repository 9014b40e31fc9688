// SPDX-License-Identifier: Apache-2.0
//! Fences between what threads write and copies of many bytes, which touch memory by another proxy.
//! A copy sees what a thread wrote where a fence of some thread stands between: behind the write,
//! and in front of where the copy begins.

use super::access::now;
use super::clock::{Clock, Event, Now};
use super::execute::Execution;
use super::warp::lanes_of;
use std::collections::VecDeque;

/// How many fences are remembered.
const MOST_FENCES: usize = 4096;

/// The fences of a launch, the latest last, each with what its thread knew.
#[derive(Debug, Default)]
pub(super) struct ProxyFences {
    last: VecDeque<(Event, Clock)>,
    /// That of all fences before these: they are taken to stand in front of everything, so that
    /// nothing is found where one was forgotten.
    forgotten: Clock,
}

impl ProxyFences {
    fn add(&mut self, fence: Event, clock: Clock) {
        self.last.push_back((fence, clock));
        if self.last.len() > MOST_FENCES
            && let Some((_, clock)) = self.last.pop_front()
        {
            self.forgotten.join(&clock);
        }
    }

    /// Whether a fence stands between a write and what a lane does now.
    pub fn stands_between(&self, written: Event, now: &Now, lane: u32) -> bool {
        let mut fences = self.last.iter().rev();
        self.forgotten.knows(written)
            || fences.any(|(fence, clock)| now.knows(lane, *fence) && clock.knows(written))
    }
}

impl Execution<'_, '_> {
    /// The writes that each lane that runs knows of are seen by copies of many bytes behind it.
    pub fn fence_proxy(&mut self) {
        for lane in lanes_of(self.warp.active) {
            let now = now!(self.warp, self.block, self.cluster);
            let (fence, clock) = (now.event(lane as u32), now.clock(lane as u32));
            self.machine.proxy_fences.add(fence, clock);
        }
        self.pass_time();
    }
}
