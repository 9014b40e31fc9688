// SPDX-License-Identifier: Apache-2.0
//! Barriers with numbers, at which some warps of a block meet: those that say so, as many threads
//! as they say. A warp waits there, or arrives and goes on.

use super::access::now;
use super::atomic::new_orders;
use super::clock::{self, Clock, Now};
use super::execute::Execution;
use super::finding::Kind;
use super::step::Register;
use super::warp::{Block, Status, Warp, lanes_of};
use crate::intrinsic::N_BARRIERS;
use kernpack_machine::block::WARP_SIZE;

/// The barriers of a block, by number. The first is that of all its threads.
pub(super) type NamedBarriers = [NamedBarrier; N_BARRIERS as usize];

/// A barrier with a number.
#[derive(Clone, Debug, Default)]
pub(super) struct NamedBarrier {
    /// How many times it was passed.
    phase: u64,
    /// How many threads those that have come expect.
    n_expected: u32,
    /// The warps that have come: bit by bit.
    warps: u32,
    /// The clock of these.
    arriving: Clock,
    /// That of all of them, when it was passed last.
    met: Clock,
}

impl NamedBarrier {
    fn n_come(&self) -> u32 {
        self.warps.count_ones() * WARP_SIZE
    }

    /// How many threads it waits for.
    pub fn n_missing(&self) -> u32 {
        self.n_expected.saturating_sub(self.n_come())
    }
}

impl Execution<'_, '_> {
    /// The warp comes to the barrier of that number, which so many threads come to.
    pub fn come_to(&mut self, number: Register, n_threads: u32, waits: bool) {
        self.require_all(Kind::DivergentBarrier, "a barrier");
        if let Some(number) = self.barrier_number(number) {
            self.misuse(number, n_threads);
            let phase = self.arrive_at(number, n_threads);
            if waits {
                self.block_on(Status::Named { pc: self.warp.pc, number, phase });
            }
        }
        self.warp.pc += 1;
    }

    /// The number that all lanes say; nothing, where they say several, or one that is not there.
    fn barrier_number(&mut self, register: Register) -> Option<usize> {
        let numbers = self.get(register);
        let lane = self.first_lane();
        let number = numbers[lane] as u32 as i32;
        let differs = lanes_of(self.warp.active).find(|at| numbers[*at] != numbers[lane]);
        if let Some(other) = differs {
            let message = format!(
                "the threads of a warp come to barriers {number} and {}",
                numbers[other] as u32 as i32
            );
            self.find(Kind::MisusedBarrier, other, None, message);
            return None;
        }
        if !(1..N_BARRIERS as i32).contains(&number) {
            let message =
                format!("barrier {number} is out of bounds: a block has 1 to {}", N_BARRIERS - 1);
            self.find(Kind::IndexOutOfBounds, lane, None, message);
            return None;
        }
        Some(number as usize)
    }

    /// Finds what those who come to a barrier do not agree on.
    fn misuse(&mut self, number: usize, n_threads: u32) {
        let barrier = &self.block.named[number];
        let message = if barrier.warps >> self.warp.index & 1 == 1 {
            format!("comes to barrier {number} again before the others have come")
        } else if barrier.warps != 0 && barrier.n_expected != n_threads {
            let others = barrier.n_expected;
            format!(
                "barrier {number} is for {n_threads} threads here, and for {others} where others are"
            )
        } else {
            return;
        };
        self.find(Kind::MisusedBarrier, self.first_lane(), None, message);
    }

    /// Gives which time the barrier is passed with that.
    fn arrive_at(&mut self, number: usize, n_threads: u32) -> u64 {
        let clock = now!(self.warp, self.block, self.cluster).clock_of_warp();
        let barrier = &mut self.block.named[number];
        barrier.arriving.join(&clock);
        barrier.warps |= 1 << self.warp.index;
        barrier.n_expected = n_threads;
        let phase = barrier.phase;
        if barrier.n_missing() == 0 {
            barrier.met = std::mem::take(&mut barrier.arriving);
            (barrier.phase, barrier.warps) = (phase + 1, 0);
        }
        self.pass_time();
        phase
    }
}

/// Warps go on that wait at barriers with numbers which were passed. Who has come to one last has
/// moved in the same sweep.
pub(super) fn pass_named_barriers(block: &Block, warps: &mut [Warp]) {
    for warp in warps {
        let Status::Named { number, phase, .. } = warp.status else { continue };
        let barrier = &block.named[number];
        if barrier.phase > phase {
            warp.status = Status::Ready;
            clock::teach(warp.orders.get_or_insert_with(new_orders), &barrier.met);
        }
    }
}
