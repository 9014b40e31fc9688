// SPDX-License-Identifier: Apache-2.0
//! How launches on a GPU are handed to the driver.

use std::fmt;

/// How the launches of a function are submitted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Submit {
    /// In the way that costs a call less, which the package finds out as it runs.
    #[default]
    Auto,
    /// One after the other.
    Plain,
    /// As a graph that stays, and that each call gives its arguments.
    Graph,
}

impl Submit {
    /// Each with its word, in package files and in what packages say of themselves.
    pub const TABLE: [(Submit, &str); 3] =
        [(Submit::Auto, "auto"), (Submit::Plain, "plain"), (Submit::Graph, "graph")];

    /// The one with that word.
    pub fn from_word(word: &str) -> Option<Submit> {
        Submit::TABLE.iter().find(|(_, known)| *known == word).map(|(submit, _)| *submit)
    }
}

impl fmt::Display for Submit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let row = Submit::TABLE.iter().find(|(submit, _)| submit == self);
        f.write_str(row.expect("the table has each").1)
    }
}
