// SPDX-License-Identifier: Apache-2.0
//! Dependent launches: a grid that may begin before the one in front of it has ended waits for it
//! at a place of its own, and lets the next one begin.

use super::{Completes, DependentOp, Gives, Intrinsic, Level, Meaning, Spread, Touches};

const fn row(name: &'static str, doc: &'static str, op: DependentOp) -> Intrinsic {
    Intrinsic {
        name,
        doc,
        takes: &[],
        gives: Gives::Nothing,
        together: Level::Thread,
        uniform: Level::Thread,
        touches: Touches::Order,
        completes: Completes::AtOnce,
        result: Spread::AsOperands,
        meaning: Meaning::Dependent(op),
    }
}

pub(super) const ROWS: &[Intrinsic] = &[
    row(
        "griddepcontrol.wait",
        "Waits until the launch in front of this one has ended, where this one may have begun before that. The thread sees what it wrote.",
        DependentOp::Wait,
    ),
    row(
        "griddepcontrol.launch_dependents",
        "Lets the launch behind this one begin, where it may before this one has ended, once a thread of every block has said so or the block has ended.",
        DependentOp::LaunchDependents,
    ),
];
