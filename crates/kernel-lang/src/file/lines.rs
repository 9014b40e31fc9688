// SPDX-License-Identifier: Apache-2.0
//! Lines and columns of a file's text.

use std::sync::Arc;

/// Where lines begin, so that a place is found without reading what is before it.
#[derive(Debug)]
pub(super) struct Lines {
    text: Arc<str>,
    starts: Vec<usize>,
    /// How many lines of the file are before the text.
    n_before: u32,
}

impl Lines {
    /// Those of a text that begins in the line `first`.
    pub fn new(text: &str, first: u32) -> Lines {
        let breaks = text.bytes().enumerate().filter(|(_, byte)| *byte == b'\n');
        let starts = std::iter::once(0).chain(breaks.map(|(at, _)| at + 1));
        let n_before = first.saturating_sub(1);
        Lines { starts: starts.collect(), text: Arc::from(text), n_before }
    }

    /// The line and column of a byte, both from 1. It is found at once in the line `near`.
    pub fn position(&self, byte: usize, near: u32) -> (u32, u32) {
        let near = near.saturating_sub(self.n_before) as usize;
        let line = match self.is_in(near, byte) {
            true => near,
            false => self.starts.partition_point(|start| *start <= byte).max(1),
        };
        let before = self.text.get(self.starts[line - 1]..byte).unwrap_or_default();
        (line as u32 + self.n_before, before.chars().count() as u32 + 1)
    }

    fn is_in(&self, line: usize, byte: usize) -> bool {
        let starts_before =
            line > 0 && self.starts.get(line - 1).is_some_and(|start| *start <= byte);
        starts_before && self.starts.get(line).is_none_or(|next| byte < *next)
    }
}
