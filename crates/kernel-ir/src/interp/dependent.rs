// SPDX-License-Identifier: Apache-2.0
//! A launch beside those in front of it: its waits for them, and the accesses by which it meets one
//! that may still run (`sequence.rs` has which).

use super::access::{Deed, now};
use super::atomic::new_orders;
use super::clock::{self, Now};
use super::execute::{Execution, Machine};
use super::finding::{Earlier, Kind, With};
use super::sequence::Dependence;
use super::shadow::Seen;
use super::warp::{Block, lanes_of};
use crate::intrinsic::DependentOp;

/// An access that meets one of an earlier launch.
#[derive(Clone, Copy, Debug)]
pub(super) struct Overlap {
    /// The launch, by its place among those that have run.
    pub launch: usize,
    /// The byte that both touch.
    pub byte: u64,
    /// The access of that one; nothing where it is not known.
    pub seen: Option<Seen>,
    /// Whether the access comes behind a wait, which does not cover that launch.
    pub has_waited: bool,
}

impl Execution<'_, '_> {
    /// Each lane that runs waits for the launch in front, or lets the one behind begin.
    pub fn dependent(&mut self, op: DependentOp) {
        match op {
            DependentOp::Wait => self.wait_for_launch(),
            DependentOp::LaunchDependents => self.launch_dependents(),
        }
    }

    fn wait_for_launch(&mut self) {
        let active = self.warp.active;
        let Some(dependence) = &mut self.machine.dependence else { return };
        dependence.has_waited = true;
        self.block.has_waited = true;
        let orders = self.warp.orders.get_or_insert_with(new_orders);
        lanes_of(active).for_each(|lane| clock::wait(&mut orders[lane]));
    }

    fn launch_dependents(&mut self) {
        let now = now!(self.warp, self.block, self.cluster);
        let has_waited = |lane: usize| clock::has_waited(&now, lane as u32);
        let is_early = !lanes_of(self.warp.active).all(has_waited);
        self.block.lets_early |= is_early;
    }

    /// Says which earlier launches the accesses to an allocation have met.
    pub fn report_overlaps(&mut self, id: u32, deed: Deed) {
        let Some(dependence) = &mut self.machine.dependence else { return };
        for (lane, overlap) in std::mem::take(&mut dependence.overlaps) {
            self.report_overlap(id, deed, lane, overlap);
        }
    }

    fn report_overlap(&mut self, id: u32, deed: Deed, lane: usize, overlap: Overlap) {
        let with = With::Earlier(overlap.launch, overlap.seen.map(|seen| seen.site));
        self.find_with_earlier(Kind::DependentRace, with, lane, |machine| {
            let dependence = machine.dependence.as_ref()?;
            let element = machine.memories[id as usize].element_at(overlap.byte);
            Some((dependence.told(&element, deed, overlap), dependence.earlier(overlap)))
        });
    }
}

impl Machine<'_> {
    /// All threads of a block have ended: it lets the launch behind begin, if it had not before.
    pub fn let_next_begin(&mut self, block: &Block) {
        if let Some(dependence) = &mut self.dependence {
            dependence.lets_behind_wait |= block.has_waited && !block.lets_early;
        }
    }
}

impl Dependence {
    fn told(&self, element: &str, deed: Deed, overlap: Overlap) -> String {
        let who = match &self.past[overlap.launch].ran {
            Some(ran) => format!("an earlier launch of `{}`", ran.kernel),
            None => "a launch before the call".to_owned(),
        };
        let does = match overlap.seen.map(|seen| seen.way.writes()) {
            Some(true) => "write",
            Some(false) => "read",
            None if deed == Deed::Reads => "write",
            None => "use",
        };
        let why = match (overlap.has_waited, self.front()) {
            (true, Some(front)) => {
                format!("its thread has waited for `{front}`, which may end before that")
            }
            (true, None) | (false, _) => "its thread has not waited for it".to_owned(),
        };
        format!("race: `{element}` is {}, and {who} may still {does} it: {why}", deed.passive())
    }

    /// The deed of the earlier launch, in words; of one that is not known, why it may still run.
    fn earlier(&self, overlap: Overlap) -> Earlier {
        let (Some(ran), Some(seen)) = (&self.past[overlap.launch].ran, overlap.seen) else {
            let text = "launched to begin before what is in front of it has ended".to_owned();
            return Earlier { span: self.span, text };
        };
        ran.earlier(seen)
    }
}
