// SPDX-License-Identifier: Apache-2.0
//! Threads that wait for one another, and the order in which they see memory.

use super::{Accepts, Completes, Gives, Intrinsic, Level, Meaning, Spread, Touches};

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
        "fence",
        "What this thread wrote before it is seen by others of that scope before what it writes behind it.",
        &[Accepts::Word(super::atomic::SCOPES)],
        Level::Thread,
        Meaning::Fence,
    ),
];
