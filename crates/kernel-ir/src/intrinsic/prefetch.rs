// SPDX-License-Identifier: Apache-2.0
//! Hints that something will be read, which change no result.

use super::{Accepts, Completes, Gives, Intrinsic, Level, Meaning, Spread, Touches};
use crate::types::Space;

/// The caches, by their names.
pub const CACHES: &[&str] = &["L1", "L2"];

pub(super) const ROWS: &[Intrinsic] = &[Intrinsic {
    name: "prefetch",
    doc: "Has the line of a cache fetched that the address is in, if it is not there.",
    takes: &[Accepts::Pointer(&[Space::Global]), Accepts::Word(CACHES)],
    gives: Gives::Nothing,
    together: Level::Thread,
    uniform: Level::Thread,
    touches: Touches::Nothing,
    completes: Completes::AtOnce,
    result: Spread::AsOperands,
    meaning: Meaning::Prefetch,
}];
