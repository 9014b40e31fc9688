// SPDX-License-Identifier: Apache-2.0
//! How far a walk may go, so that what is written in a few lines does not take forever, or more
//! stack than there is: expressions, branches and calls within each other, and steps.
//!
//! Not here: how large one value may be, which each walker says of its own.

use kernpack_syntax::{Diagnostic, Span};

/// The most expressions, branches and calls within each other.
const MOST_DEPTH: usize = 320;
/// The depth that a call adds: its statements are walked too.
pub(crate) const DEPTH_OF_CALL: usize = 8;

/// How far a walk has gone, and may go.
#[derive(Clone, Debug)]
pub(crate) struct Budget {
    depth: usize,
    n_steps: usize,
    most_steps: usize,
    is_exhausted: bool,
}

impl Budget {
    /// That of a walk of so many steps.
    pub fn new(most_steps: usize) -> Budget {
        Budget { depth: 0, n_steps: 0, most_steps, is_exhausted: false }
    }

    /// Counts steps: one for each expression, and for each turn of a loop that is unrolled.
    pub fn count(&mut self, n_steps: usize) {
        self.n_steps += n_steps;
    }

    /// Whether there were more steps than there may be.
    pub fn is_spent(&self) -> bool {
        self.n_steps > self.most_steps
    }

    /// Nothing more is walked from here on. Gives whether that is new, and so to be reported.
    pub fn exhaust(&mut self) -> bool {
        !std::mem::replace(&mut self.is_exhausted, true)
    }

    /// Whether nothing more is walked.
    pub fn is_exhausted(&self) -> bool {
        self.is_exhausted
    }

    /// Whether no level may come within this one.
    pub fn is_deep(&self) -> bool {
        self.depth >= MOST_DEPTH
    }

    /// Goes some levels deeper.
    pub fn enter(&mut self, n_levels: usize) {
        self.depth += n_levels;
    }

    /// Comes back from there.
    pub fn leave(&mut self, n_levels: usize) {
        self.depth -= n_levels;
    }
}

/// That this is nested too deeply: it is walked with a stack, and so is all that comes behind.
pub(crate) fn too_deep(span: Span, label: &str) -> Diagnostic {
    let message = "this is nested too deeply, in expressions, branches or calls";
    let problem = Diagnostic::new("too-deep", message).label(span, label);
    problem.help("name parts of it, or write a function for each")
}
