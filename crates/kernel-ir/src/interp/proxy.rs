// SPDX-License-Identifier: Apache-2.0
//! Fences between what threads write and copies of many bytes, which touch memory by another proxy.
//! A copy sees what a thread wrote where a fence of some thread stands between: behind the write,
//! and in front of where the copy begins.

use super::access::now;
use super::clock::{Clock, Event, Now};
use super::execute::Execution;
use super::warp::lanes_of;
use std::collections::VecDeque;
use std::collections::vec_deque::Iter;
use std::iter::Rev;

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

    /// All that a lane's copies see that begin now, in shared or global memory.
    pub fn seen<'a>(&'a self, now: &'a Now<'a>, lane: u32, is_global: bool) -> Seen<'a> {
        Seen { now, lane, is_global, left: self.last.iter().rev(), clock: self.forgotten.clone() }
    }
}

/// All that copies see of what threads wrote: what any of the fences knew that their lane knows of.
/// Of many fences the latest are looked at first, and no more than what is asked for takes.
pub(super) struct Seen<'a> {
    now: &'a Now<'a>,
    lane: u32,
    is_global: bool,
    left: Rev<Iter<'a, Fence>>,
    /// All that those knew that were looked at.
    clock: Clock,
}

impl Seen<'_> {
    /// Whether a fence stands between a write and the copies.
    pub fn has(&mut self, written: Event) -> bool {
        while !self.clock.knows(written) {
            let Some(fence) = self.left.next() else { return false };
            let is_of_it = !(self.is_global && fence.is_of_shared);
            if is_of_it && self.now.knows(self.lane, fence.event) {
                self.clock.join(&fence.clock);
            }
        }
        true
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
