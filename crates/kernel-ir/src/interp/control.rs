// SPDX-License-Identifier: Apache-2.0
//! Branches, loops and barriers: which lanes run, and which wait. A warp has one place in the
//! program, and keeps on its stack the lanes that are to run something else before all go on
//! together.

use super::clock;
use super::execute::Execution;
use super::finding::{Kind, Other};
use super::step::{Bounds, Control, Pc, Register};
use super::warp::{Frame, LANES, Status};
use crate::eval;
use crate::intrinsic::Level;
use crate::op::{Binary, Compare};

impl Execution<'_, '_> {
    /// Runs a step that says which lanes run next, and which step.
    pub fn control(&mut self, control: Control) {
        let next = self.warp.pc + 1;
        self.warp.pc = match control {
            Control::If { condition, otherwise } => self.branch(condition, otherwise, next),
            Control::Else { end } => self.other_branch(end, next),
            Control::EndIf { close } => {
                let waiting = match self.warp.frames.pop() {
                    Some(Frame::If { waiting }) => waiting,
                    Some(Frame::Loop { .. }) | None => 0,
                };
                self.warp.active |= waiting;
                self.unless_empty(next, close)
            }
            Control::For(start) => {
                self.set(start.bounds.index, self.get(start.first));
                self.first_turn(&start.bounds, start.exit, next)
            }
            Control::ForNext { bounds, body } => self.next_turn(&bounds, body, next),
            Control::While => {
                self.warp.frames.push(Frame::Loop { left: 0, continued: 0 });
                next
            }
            Control::WhileTest { condition, exit } => {
                let stays = self.where_true(condition);
                self.keep_in_loop(stays);
                self.unless_empty(next, exit)
            }
            Control::WhileNext { before } => {
                self.rejoin_turn();
                if self.warp.active != 0 {
                    self.turn();
                }
                self.unless_empty(before, next)
            }
            Control::EndLoop { close } => {
                let left = match self.warp.frames.pop() {
                    Some(Frame::Loop { left, .. }) => left,
                    Some(Frame::If { .. }) | None => 0,
                };
                self.warp.active = left;
                self.unless_empty(next, close)
            }
            Control::Break { close } => {
                let active = std::mem::take(&mut self.warp.active);
                if let Some((left, _)) = self.innermost_loop() {
                    *left |= active;
                }
                close
            }
            Control::Continue { close } => {
                let active = std::mem::take(&mut self.warp.active);
                if let Some((_, continued)) = self.innermost_loop() {
                    *continued |= active;
                }
                close
            }
            Control::Return { close } => {
                self.warp.active = 0;
                close
            }
            Control::End => {
                self.end_count();
                self.end_copies();
                self.end_bulk_stores();
                self.block_on(Status::Ended);
                self.warp.pc
            }
        };
    }

    fn unless_empty(&self, next: Pc, otherwise: Pc) -> Pc {
        if self.warp.active != 0 { next } else { otherwise }
    }

    fn branch(&mut self, condition: Register, otherwise: Pc, next: Pc) -> Pc {
        let then = self.where_true(condition);
        let waiting = self.warp.active & !then;
        self.warp.frames.push(Frame::If { waiting });
        self.warp.active = then;
        self.unless_empty(next, otherwise)
    }

    fn other_branch(&mut self, end: Pc, next: Pc) -> Pc {
        if let Some(Frame::If { waiting }) = self.warp.frames.last_mut() {
            std::mem::swap(waiting, &mut self.warp.active);
        }
        self.unless_empty(next, end)
    }

    /// These lanes go on in the loop, and the others that run have left it.
    fn keep_in_loop(&mut self, stays: u32) {
        let leaves = self.warp.active & !stays;
        if let Some((left, _)) = self.innermost_loop() {
            *left |= leaves;
        }
        self.warp.active = stays;
    }

    /// Lanes that have ended this turn run again.
    fn rejoin_turn(&mut self) {
        let ended = match self.innermost_loop() {
            Some((_, continued)) => std::mem::take(continued),
            None => 0,
        };
        self.warp.active |= ended;
    }

    fn first_turn(&mut self, bounds: &Bounds, exit: Pc, next: Pc) -> Pc {
        self.warp.frames.push(Frame::Loop { left: 0, continued: 0 });
        let zero = [0; LANES];
        let runs = self.lanes_below(bounds) & self.lanes_where(Compare::Gt, bounds, &zero);
        self.keep_in_loop(runs & self.warp.active);
        self.unless_empty(next, exit)
    }

    fn next_turn(&mut self, bounds: &Bounds, body: Pc, next: Pc) -> Pc {
        self.rejoin_turn();
        let (old, step) = (self.get(bounds.index), self.get(bounds.step));
        let (mut new, mut has_grown) = ([0; LANES], [0; LANES]);
        eval::binary_lanes(Binary::Add, bounds.scalar, &old, &step, &mut new);
        // Steps are positive, so that a sum that is not larger has overflowed.
        eval::compare_lanes(Compare::Gt, bounds.scalar, &new, &old, &mut has_grown);
        self.set(bounds.index, new);
        let runs = self.lanes_below(bounds) & mask(&has_grown);
        self.keep_in_loop(runs & self.warp.active);
        if self.warp.active != 0 {
            self.turn();
        }
        self.unless_empty(body, next)
    }

    /// The lanes whose index is below the end.
    fn lanes_below(&self, bounds: &Bounds) -> u32 {
        let mut is_below = [0; LANES];
        let (index, end) = (self.get(bounds.index), self.get(bounds.end));
        eval::compare_lanes(Compare::Lt, bounds.scalar, &index, &end, &mut is_below);
        mask(&is_below)
    }

    fn lanes_where(&self, op: Compare, bounds: &Bounds, right: &[u64]) -> u32 {
        let mut holds = [0; LANES];
        eval::compare_lanes(op, bounds.scalar, &self.get(bounds.step), right, &mut holds);
        mask(&holds)
    }

    // Barriers.

    /// Threads wait for one another.
    pub fn barrier(&mut self, level: Level) {
        match level {
            Level::Thread => self.warp.pc += 1,
            Level::Warp => {
                self.require_all(Kind::DivergentBarrier, "a warp's barrier");
                self.join_warp();
                self.warp.pc += 1;
            }
            Level::Block => {
                self.require_all(Kind::DivergentBarrier, "a barrier");
                let status = Status::Barrier(self.warp.pc);
                self.warp.pc += 1;
                self.block_on(status);
            }
            Level::Grid => {
                self.require_all(Kind::DivergentBarrier, "the grid's barrier");
                let status = Status::Grid(self.warp.pc);
                self.warp.pc += 1;
                self.block_on(status);
            }
            Level::Warpgroup | Level::Cluster => {
                self.unsupported(
                    "the interpreter has no barriers of warp groups, and others of clusters",
                );
            }
        }
    }

    /// Finds that not all lanes are here.
    pub fn require_all(&mut self, kind: Kind, what: &str) -> bool {
        let missing = self.warp.lanes & !self.warp.active;
        if missing == 0 {
            return true;
        }
        let lane = self.first_lane();
        let absent = self.thread(missing.trailing_zeros() as usize);
        let message = format!("{what} that not all threads come to: {absent} does not");
        let other = None::<Other>;
        self.find(kind, lane, other, message);
        false
    }

    /// All lanes of the warp know what any of them did.
    fn join_warp(&mut self) {
        self.pass_time();
        self.warp.known = self.block.time;
        if let Some(orders) = &mut self.warp.orders {
            clock::join(std::iter::once(&mut **orders));
        }
    }
}

/// The lanes where a truth value holds.
fn mask(lanes: &[u64; LANES]) -> u32 {
    let mut mask = 0;
    for (lane, bit) in lanes.iter().enumerate() {
        mask |= (*bit as u32 & 1) << lane;
    }
    mask
}
