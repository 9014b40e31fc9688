// SPDX-License-Identifier: Apache-2.0
//! Copies that go on while the thread that began them does something else: they are in flight until
//! it waits for the group that they are in.

use super::{Accepts, Completes, CopyOp, Gives, Intrinsic, Level, Meaning, Spread, Touches};
use crate::types::Space;

const fn row(
    name: &'static str,
    doc: &'static str,
    takes: &'static [Accepts],
    touches: Touches,
    op: CopyOp,
) -> Intrinsic {
    let completes = match op {
        CopyOp::Begin => Completes::WithGroup,
        CopyOp::Commit | CopyOp::Wait => Completes::AtOnce,
    };
    Intrinsic {
        name,
        doc,
        takes,
        gives: Gives::Nothing,
        together: Level::Thread,
        uniform: Level::Thread,
        touches,
        completes,
        result: Spread::AsOperands,
        meaning: Meaning::Copy(op),
    }
}

/// The most groups that a wait leaves in flight.
pub const MOST_IN_FLIGHT: i64 = 63;

pub(super) const ROWS: &[Intrinsic] = &[
    row(
        "copy.async",
        "Begins to copy so many bytes to the first address from the second, both of which are multiples of that; zeros, and reads nothing, where the last operand is false.",
        &[
            Accepts::Pointer(&[Space::Shared]),
            Accepts::Pointer(&[Space::Global]),
            Accepts::PowerOfTwo(4, 16),
            Accepts::Bool,
        ],
        Touches::Copy,
        CopyOp::Begin,
    ),
    row(
        "copy.commit",
        "Makes a group of the copies that this thread has begun since its last group.",
        &[],
        Touches::Order,
        CopyOp::Commit,
    ),
    row(
        "copy.wait",
        "Waits until no more than so many groups of this thread are in flight, the last ones. It sees what the others copied.",
        &[Accepts::Constant(0, MOST_IN_FLIGHT)],
        Touches::Order,
        CopyOp::Wait,
    ),
];
