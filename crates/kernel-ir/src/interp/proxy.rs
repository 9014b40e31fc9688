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

/// A fence, with what its thread knew.
#[derive(Debug)]
struct Fence {
    event: Event,
    clock: Clock,
    /// Whether it is about shared memory alone.
    is_of_shared: bool,
}

/// The fences of a launch, the latest last.
#[derive(Debug, Default)]
pub(super) struct ProxyFences {
    last: VecDeque<Fence>,
    /// That of all fences before these: they are taken to stand in front of everything, so that
    /// nothing is found where one was forgotten.
    forgotten: Clock,
}

impl ProxyFences {
    fn add(&mut self, fence: Fence) {
        self.last.push_back(fence);
        if self.last.len() > MOST_FENCES
            && let Some(fence) = self.last.pop_front()
        {
            self.forgotten.join(&fence.clock);
        }
    }

    /// Whether a fence stands between a write, into shared or global memory, and what a lane does
    /// now.
    pub fn stands_between(
        &self,
        (written, is_global): (Event, bool),
        now: &Now,
        lane: u32,
    ) -> bool {
        let mut fences = self.last.iter().rev().filter(|fence| !(is_global && fence.is_of_shared));
        self.forgotten.knows(written)
            || fences.any(|fence| now.knows(lane, fence.event) && fence.clock.knows(written))
    }
}

impl Execution<'_, '_> {
    /// The writes that each lane that runs knows of, or of these the ones into shared memory, are
    /// seen by copies of many bytes behind it.
    pub fn fence_proxy(&mut self, is_of_shared: bool) {
        for lane in lanes_of(self.warp.active) {
            let now = now!(self.warp, self.block, self.cluster);
            let (event, clock) = (now.event(lane as u32), now.clock(lane as u32));
            self.machine.proxy_fences.add(Fence { event, clock, is_of_shared });
        }
        self.pass_time();
    }
}
