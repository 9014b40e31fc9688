// SPDX-License-Identifier: Apache-2.0
//! Exchanges of the threads of a warp. Every thread of the warp takes part: the conditions around
//! are the same for all of it.

use super::{Accepts, Completes, Gives, Intrinsic, Level, Meaning, Spread, Touches, WarpOp};
use crate::types::Scalar;

const fn row(
    name: &'static str,
    doc: &'static str,
    takes: &'static [Accepts],
    gives: Gives,
    result: Spread,
    op: WarpOp,
) -> Intrinsic {
    Intrinsic {
        name,
        doc,
        takes,
        gives,
        together: Level::Warp,
        uniform: Level::Warp,
        touches: Touches::Nothing,
        completes: Completes::AtOnce,
        result,
        meaning: Meaning::Warp(op),
    }
}

const SHUFFLED: &[Accepts] = &[Accepts::Any, Accepts::Int];
const LIKE: Gives = Gives::Like(0);
const BITS: Gives = Gives::Exactly(Scalar::U32);
const TRUTH: Gives = Gives::Exactly(Scalar::Bool);
const WARP: Spread = Spread::Uniform(Level::Warp);

pub(super) const ROWS: &[Intrinsic] = &[
    row(
        "shuffle.idx",
        "The value of the lane with that number, modulo 32.",
        SHUFFLED,
        LIKE,
        Spread::Varies,
        WarpOp::ShuffleIdx,
    ),
    row(
        "shuffle.up",
        "The value of the lane so many, modulo 32, below; a lane that has none keeps its own.",
        SHUFFLED,
        LIKE,
        Spread::Varies,
        WarpOp::ShuffleUp,
    ),
    row(
        "shuffle.down",
        "The value of the lane so many, modulo 32, above; a lane that has none keeps its own.",
        SHUFFLED,
        LIKE,
        Spread::Varies,
        WarpOp::ShuffleDown,
    ),
    row(
        "shuffle.xor",
        "The value of the lane whose number differs in those bits, modulo 32.",
        SHUFFLED,
        LIKE,
        Spread::Varies,
        WarpOp::ShuffleXor,
    ),
    row("vote.any", "Whether it holds in any lane.", &[Accepts::Bool], TRUTH, WARP, WarpOp::Any),
    row("vote.all", "Whether it holds in all lanes.", &[Accepts::Bool], TRUTH, WARP, WarpOp::All),
    row(
        "vote.ballot",
        "The lanes in which it holds, a bit for each.",
        &[Accepts::Bool],
        BITS,
        WARP,
        WarpOp::Ballot,
    ),
    row(
        "match.any",
        "The lanes that have the same value, a bit for each.",
        &[Accepts::Any],
        BITS,
        Spread::Varies,
        WarpOp::Match,
    ),
];
