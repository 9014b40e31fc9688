// SPDX-License-Identifier: Apache-2.0
//! Mistakes of some combinations of dtypes. Most are so for most of them, and told for the first;
//! what others have in other words, at the same place, is counted.

use super::Row;
use kernpack_syntax::{Diagnostic, Diagnostics, Span};
use std::collections::BTreeSet;

/// The problems of combinations of dtypes.
#[derive(Default)]
pub(super) struct Told {
    problems: Vec<Problem>,
}

/// A problem of some of them.
struct Problem {
    /// The problem, without the combination.
    diagnostic: Diagnostic,
    /// Where the first one is told, and in which words.
    told: (Span, String),
    /// The first combination of dtypes that has it.
    row: usize,
    /// The others that have it in other words.
    others: BTreeSet<usize>,
}

impl Told {
    /// Adds what is wrong with one, at a place: `words` say what is there.
    pub fn add(
        &mut self,
        found: Diagnostics,
        (number, row): (usize, &Row),
        (span, words): (Span, &str),
    ) {
        let dtypes = row.iter().map(|(var, dtype)| format!("`{var}` is {dtype}"));
        let dtypes: Vec<_> = dtypes.collect();
        let text = match &dtypes[..] {
            [] => words.to_string(),
            dtypes => format!("{words}, where {}", dtypes.join(" and ")),
        };
        for diagnostic in found {
            if self.problems.iter().any(|known| known.diagnostic == diagnostic) {
                continue;
            }
            let alike = |known: &&mut Problem| {
                known.row != number
                    && known.told.0 == span
                    && known.diagnostic.code == diagnostic.code
                    && places(&known.diagnostic).eq(places(&diagnostic))
            };
            match self.problems.iter_mut().find(alike) {
                Some(known) => _ = known.others.insert(number),
                None => self.problems.push(Problem {
                    diagnostic,
                    told: (span, text.clone()),
                    row: number,
                    others: BTreeSet::new(),
                }),
            }
        }
    }

    /// All of it.
    pub fn finish(self) -> Diagnostics {
        let told = self.problems.into_iter().map(|problem| {
            let Problem { diagnostic, told: (span, text), others, .. } = problem;
            let text = match others.len() {
                0 => text,
                1 => format!("{text}, and likewise for another combination of dtypes"),
                others => format!("{text}, and likewise for {others} other combinations of dtypes"),
            };
            diagnostic.mark(span, text)
        });
        Diagnostics(told.collect())
    }
}

/// Where a diagnostic has its labels.
fn places(diagnostic: &Diagnostic) -> impl Iterator<Item = Span> {
    diagnostic.labels.iter().map(|label| label.span)
}
