// SPDX-License-Identifier: Apache-2.0
//! Which of two ways there are to the same is taken: that of a machine, in its assembly, or a
//! model of it.

use super::{Completes, Gives, Intrinsic, Level, Meaning, Spread, Touches};
use crate::types::Scalar;

/// The name of the row that chooses.
pub const INTERPRETED: &str = "interpreted";

pub(super) const ROWS: &[Intrinsic] = &[Intrinsic {
    name: INTERPRETED,
    doc: "Whether the interpreter runs the kernel, and no machine does.",
    takes: &[],
    gives: Gives::Exactly(Scalar::Bool),
    together: Level::Thread,
    uniform: Level::Thread,
    touches: Touches::Nothing,
    completes: Completes::AtOnce,
    result: Spread::Uniform(Level::Grid),
    meaning: Meaning::Interpreted,
}];
