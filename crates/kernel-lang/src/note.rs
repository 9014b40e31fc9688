// SPDX-License-Identifier: Apache-2.0
//! Diagnostics of a kernel, each mistake once: what is unrolled or called again meets it again.

use kernpack_syntax::{Diagnostic, Diagnostics, Span};
use std::collections::HashSet;

/// The mistakes that were reported.
#[derive(Debug, Default)]
pub(crate) struct Notes {
    diagnostics: Diagnostics,
    seen: HashSet<(Option<Span>, String)>,
    n_repeated: usize,
}

impl Notes {
    /// Whether a mistake is new, and so to be added.
    pub fn is_new(&mut self, problem: &Diagnostic) -> bool {
        let span = problem.labels.first().map(|label| label.span);
        self.seen.insert((span, problem.message.clone()))
    }

    /// Counts a mistake that was told before.
    pub fn repeat(&mut self) {
        self.n_repeated += 1;
    }

    /// How many mistakes were told before.
    pub fn n_repeated(&self) -> usize {
        self.n_repeated
    }

    /// Adds a mistake.
    pub fn add(&mut self, problem: Diagnostic) {
        self.diagnostics.push(problem);
    }

    /// All of them, in the order of the text.
    pub fn finish(mut self) -> Diagnostics {
        self.diagnostics.sort();
        self.diagnostics
    }
}
