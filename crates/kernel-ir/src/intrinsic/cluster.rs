// SPDX-License-Identifier: Apache-2.0
//! Clusters: blocks that run side by side, wait for one another and reach one another's shared
//! memory. A launch says how many blocks are one; without clusters each block is one of its own.
//!
//! Not here: where in its cluster a block is (`geometry.rs`).

use super::{Accepts, ClusterOp, Completes, Gives, Intrinsic, Level, Meaning, Spread, Touches};
use crate::types::{Scalar, Space};

/// Whether an arrival says what its thread did before.
pub const ARRIVALS: &[&str] = &["release", "relaxed"];

const fn barrier(
    name: &'static str,
    doc: &'static str,
    takes: &'static [Accepts],
    op: ClusterOp,
) -> Intrinsic {
    Intrinsic {
        name,
        doc,
        takes,
        gives: Gives::Nothing,
        together: Level::Warp,
        uniform: Level::Warp,
        touches: Touches::Order,
        completes: Completes::AtOnce,
        result: Spread::AsOperands,
        meaning: Meaning::Cluster(op),
    }
}

pub(super) const ROWS: &[Intrinsic] = &[
    barrier(
        "cluster.arrive",
        "Arrives at the barrier of the cluster, and goes on. What was written before a `release` is seen by all behind their wait; `relaxed` says nothing of it.",
        &[Accepts::Word(ARRIVALS)],
        ClusterOp::Arrive,
    ),
    barrier(
        "cluster.wait",
        "Waits until every thread of the cluster that has not ended has arrived.",
        &[],
        ClusterOp::Wait,
    ),
    Intrinsic {
        name: "shared.map",
        doc: "The address in another block of the cluster that this block's has in its own. Blocks of a cluster are counted in x first, then in y, then in z.",
        takes: &[Accepts::Pointer(&[Space::Shared]), Accepts::Exactly(Scalar::I32)],
        gives: Gives::Pointer(Space::Cluster),
        together: Level::Thread,
        uniform: Level::Thread,
        touches: Touches::Nothing,
        completes: Completes::AtOnce,
        result: Spread::AsOperands,
        meaning: Meaning::Cluster(ClusterOp::Map),
    },
];
