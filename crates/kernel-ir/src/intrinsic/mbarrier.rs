// SPDX-License-Identifier: Apache-2.0
//! Mbarriers: 8 bytes of shared memory that count arrivals, and bytes that copies bring. Once all
//! have come that belong to a phase, the next phase begins. Who waits says the parity of the phase
//! that it waits for: the last one that is complete, or the one that goes on.

use super::{Accepts, Completes, Gives, Intrinsic, Level, MbarrierOp, Meaning, Spread, Touches};
use crate::types::{Scalar, Space};

/// The bytes of one.
pub const MBARRIER_BYTES: u32 = 8;

/// The most arrivals, and bytes, that a phase counts.
pub const MOST_ARRIVALS: i64 = (1 << 20) - 1;

const OWN: Accepts = Accepts::Pointer(&[Space::Shared]);
/// One of a block of the cluster.
pub(super) const ANY: Accepts = Accepts::Pointer(&[Space::Shared, Space::Cluster]);
const NUMBER: Accepts = Accepts::Exactly(Scalar::I32);

const fn row(
    name: &'static str,
    doc: &'static str,
    takes: &'static [Accepts],
    op: MbarrierOp,
) -> Intrinsic {
    let (gives, result) = match op {
        MbarrierOp::TryWait => (Gives::Exactly(Scalar::Bool), Spread::Varies),
        _ => (Gives::Nothing, Spread::AsOperands),
    };
    Intrinsic {
        name,
        doc,
        takes,
        gives,
        together: Level::Thread,
        uniform: Level::Thread,
        touches: Touches::Atomic,
        completes: Completes::AtOnce,
        result,
        meaning: Meaning::Mbarrier(op),
    }
}

pub(super) const ROWS: &[Intrinsic] = &[
    row(
        "mbarrier.init",
        "Makes an mbarrier, each phase of which so many arrivals complete. Others use it behind a barrier.",
        &[OWN, NUMBER],
        MbarrierOp::Init,
    ),
    row(
        "mbarrier.arrive",
        "Arrives at an mbarrier, and goes on. What was written before it is seen by those who wait for the phase.",
        &[ANY],
        MbarrierOp::Arrive,
    ),
    row(
        "mbarrier.arrive_relaxed",
        "As `mbarrier.arrive`, and says nothing of what was read and written before: only that those copies and products are done that this thread has waited for.",
        &[ANY],
        MbarrierOp::ArriveRelaxed,
    ),
    row(
        "mbarrier.arrive_after_copies",
        "Arrives at an mbarrier when all copies are done that this thread has begun by `copy.async`. Those who wait for the phase see them.",
        &[OWN],
        MbarrierOp::ArriveAfterCopies,
    ),
    row(
        "mbarrier.expect_tx",
        "The phase of an mbarrier that goes on is complete only when copies have brought so many bytes more.",
        &[ANY, NUMBER],
        MbarrierOp::ExpectTx,
    ),
    row(
        "mbarrier.arrive_expect_tx",
        "Has the phase of an mbarrier expect so many bytes more, and arrives.",
        &[ANY, NUMBER],
        MbarrierOp::ArriveExpectTx,
    ),
    row(
        "mbarrier.complete_tx",
        "Has so many bytes come to the phase of an mbarrier that goes on, in the place of a copy that does not begin.",
        &[ANY, NUMBER],
        MbarrierOp::CompleteTx,
    ),
    row(
        "mbarrier.wait",
        "Waits until the phase of that parity, the lowest bit of the number, is complete.",
        &[OWN, NUMBER],
        MbarrierOp::Wait,
    ),
    row(
        "mbarrier.try_wait",
        "Waits for a while, and says whether the phase of that parity is complete.",
        &[OWN, NUMBER],
        MbarrierOp::TryWait,
    ),
];
