// SPDX-License-Identifier: Apache-2.0
//! Clocks. What they say differs from run to run.

use super::{Completes, Gives, Intrinsic, Level, Meaning, Spread, Timer, Touches};
use crate::types::Scalar;

const fn row(name: &'static str, doc: &'static str, timer: Timer) -> Intrinsic {
    Intrinsic {
        name,
        doc,
        takes: &[],
        gives: Gives::Exactly(Scalar::I64),
        together: Level::Thread,
        uniform: Level::Thread,
        // It stays between what stands around it.
        touches: Touches::Order,
        completes: Completes::AtOnce,
        result: Spread::Varies,
        meaning: Meaning::Timer(timer),
    }
}

pub(super) const ROWS: &[Intrinsic] = &[
    row("clock", "The cycles that the multiprocessor has counted.", Timer::Cycles),
    row("globaltimer", "The nanoseconds that the device has counted.", Timer::Nanoseconds),
];
