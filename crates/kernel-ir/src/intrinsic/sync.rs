// SPDX-License-Identifier: Apache-2.0
//! Threads that wait for one another, and the order in which they see memory.

use super::{Accepts, Completes, Gives, Intrinsic, Level, Meaning, Spread, Touches};
use crate::types::Scalar;

const fn row(
    name: &'static str,
    doc: &'static str,
    takes: &'static [Accepts],
    level: Level,
    meaning: Meaning,
) -> Intrinsic {
    Intrinsic {
        name,
        doc,
        takes,
        gives: Gives::Nothing,
        together: level,
        uniform: level,
        touches: Touches::Order,
        completes: Completes::AtOnce,
        result: Spread::AsOperands,
        meaning,
    }
}

/// How many barriers a block has, that of all its threads included.
pub const N_BARRIERS: i64 = 16;

const NAMED: &[Accepts] = &[Accepts::Exactly(Scalar::I32), Accepts::Warps];

pub(super) const ROWS: &[Intrinsic] = &[
    row(
        "barrier",
        "Waits until every thread of the block is here. What was written before it is seen behind it by all of them.",
        &[],
        Level::Block,
        Meaning::Barrier,
    ),
    row(
        "barrier.warp",
        "Waits until every thread of the warp is here. What was written before it is seen behind it by all of them.",
        &[],
        Level::Warp,
        Meaning::Barrier,
    ),
    row(
        "barrier.grid",
        "Waits until every thread of the grid is here. What was written before it is seen behind it by all of them. Its launch is cooperative.",
        &[],
        Level::Grid,
        Meaning::Barrier,
    ),
    row(
        "barrier.sync",
        "Waits at the barrier of that number until so many threads have come, this warp's among them. What they wrote before is seen behind it.",
        NAMED,
        Level::Warp,
        Meaning::Named { waits: true },
    ),
    row(
        "barrier.arrive",
        "Comes to the barrier of that number, and goes on. What was written before is seen by those who wait there.",
        NAMED,
        Level::Warp,
        Meaning::Named { waits: false },
    ),
    row(
        "fence",
        "What this thread wrote before it is seen by others of that scope before what it writes behind it.",
        &[Accepts::Word(super::atomic::SCOPES)],
        Level::Thread,
        Meaning::Fence,
    ),
];
