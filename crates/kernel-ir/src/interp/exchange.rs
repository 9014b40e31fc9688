// SPDX-License-Identifier: Apache-2.0
//! Shuffles, votes and matches: what the lanes of a warp get from one another. All lanes of the
//! warp have to come, and a lane that is read has to be there.

use super::execute::Execution;
use super::finding::Kind;
use super::step::Register;
use super::warp::{LANES, Lanes, lanes_of};
use crate::intrinsic::{Intrinsic, WarpOp};
use crate::types::Scalar;

impl Execution<'_, '_> {
    /// The lanes that run exchange values.
    pub fn exchange(
        &mut self,
        op: WarpOp,
        row: &Intrinsic,
        (_, value): (Scalar, Register),
        (_, by): (Scalar, Register),
        out: Register,
    ) {
        self.require_all(Kind::DivergentExchange, &format!("`{}`", row.name));
        let values = self.get(value);
        let active = self.warp.active;
        let holds = self.where_true(value);
        let given = match op {
            WarpOp::ShuffleIdx | WarpOp::ShuffleUp | WarpOp::ShuffleDown | WarpOp::ShuffleXor => {
                self.shuffle(op, row, &values, by)
            }
            WarpOp::Any => [u64::from(holds != 0); LANES],
            WarpOp::All => [u64::from(holds == active); LANES],
            WarpOp::Ballot => [holds.into(); LANES],
            WarpOp::Match => std::array::from_fn(|lane| {
                lanes_of(active)
                    .filter(|other| values[*other] == values[lane])
                    .fold(0, |all, other| all | 1 << other)
            }),
        };
        self.set(out, given);
    }

    fn shuffle(&mut self, op: WarpOp, row: &Intrinsic, values: &Lanes, by: Register) -> Lanes {
        let by = self.get(by);
        let mut given = *values;
        for lane in lanes_of(self.warp.active) {
            let from = source(op, lane, by[lane]);
            if self.warp.active >> from & 1 == 1 {
                given[lane] = values[from];
                continue;
            }
            let why = match self.warp.lanes >> from & 1 {
                1 => "does not come to it",
                _ => "is not there: the block's threads end before it",
            };
            let message = format!("`{}` reads lane {from}, which {why}", row.name);
            self.find(Kind::DivergentExchange, lane, None, message);
        }
        given
    }
}

/// The lane that a lane reads.
fn source(op: WarpOp, lane: usize, by: u64) -> usize {
    let by = (by % LANES as u64) as usize;
    match op {
        WarpOp::ShuffleUp => lane.checked_sub(by).unwrap_or(lane),
        WarpOp::ShuffleDown if lane + by < LANES => lane + by,
        WarpOp::ShuffleXor => lane ^ by,
        WarpOp::ShuffleIdx => by,
        WarpOp::ShuffleDown | WarpOp::Any | WarpOp::All | WarpOp::Ballot | WarpOp::Match => lane,
    }
}
