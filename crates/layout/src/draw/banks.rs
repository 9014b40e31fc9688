// SPDX-License-Identifier: Apache-2.0
//! [Banks](kernpack_machine::banks) of shared memory, and accesses that are in one another's way.
//!
//! A warp whose threads want several words of one bank waits as many times: that is a conflict of
//! so many ways. Elements of 8 bytes are accessed by half a warp at a time, those of 16 bytes by a
//! quarter.

use super::DrawError;
use crate::layout::Layout;
use crate::symbols::Symbol;
use kernpack_machine::banks::{BANKS, WORD_BYTES, threads_at_once};
use kernpack_machine::block::WARP_SIZE;
use std::collections::{BTreeMap, BTreeSet};

/// The threads of a warp.
pub(super) const WARP: i64 = WARP_SIZE as i64;

/// The question of which bank each element is in, and how a warp accesses them.
#[derive(Clone, Debug)]
pub struct Banks {
    /// The bytes of an element: 1, 2, 4, 8 or 16.
    pub element_bytes: i64,
    /// The layout from a thread of the warp to the number of the coordinate that it accesses.
    /// Without one, thread `i` accesses coordinate `i`.
    pub threads: Option<Layout<Symbol>>,
}

/// The access of a thread to an element.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Access {
    pub thread: i64,
    /// The element's index.
    pub index: i64,
}

/// The accesses that wait for others, and for how many.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Conflicts {
    /// How often the warp waits in its slowest part: 1 where there is no conflict.
    pub ways: usize,
    /// The threads that access a bank of which others want another word.
    pub threads: BTreeSet<i64>,
}

impl Banks {
    /// The bytes of an element, if there is an access of such.
    pub(super) fn bytes(&self) -> Result<i128, DrawError> {
        match self.element_bytes {
            bytes @ (1 | 2 | 4 | 8 | 16) => Ok(bytes.into()),
            bytes => Err(DrawError::ElementBytes { bytes }),
        }
    }
}

/// The first word of an element.
fn first_word(index: i64, bytes: i128) -> i128 {
    (i128::from(index) * bytes).div_euclid(WORD_BYTES.into())
}

/// The bank in which an element begins.
pub(super) fn bank(index: i64, bytes: i128) -> i128 {
    first_word(index, bytes).rem_euclid(BANKS.into())
}

/// How many threads are served at a time.
pub(super) fn at_a_time(bytes: i128) -> i64 {
    threads_at_once(bytes as u64) as i64
}

/// The conflicts of a warp's accesses.
pub(super) fn conflicts(accesses: &[Access], bytes: i128) -> Conflicts {
    let mut found = Conflicts { ways: 1, threads: BTreeSet::new() };
    let words = |access: &Access| {
        let first = first_word(access.index, bytes);
        first..first + (bytes / i128::from(WORD_BYTES)).max(1)
    };
    let at_a_time = at_a_time(bytes);
    for part in 0..WARP / at_a_time {
        let accesses = accesses.iter().filter(|access| access.thread / at_a_time == part);
        let mut wanted = BTreeMap::<i128, BTreeSet<i128>>::new();
        for word in accesses.clone().flat_map(words) {
            wanted.entry(word.rem_euclid(BANKS.into())).or_default().insert(word);
        }
        let is_shared = |word: i128| {
            wanted.get(&word.rem_euclid(BANKS.into())).is_some_and(|words| words.len() > 1)
        };
        let waits = accesses.filter(|access| words(access).any(is_shared));
        found.threads.extend(waits.map(|access| access.thread));
        found.ways = found.ways.max(wanted.values().map(BTreeSet::len).max().unwrap_or(1));
    }
    found
}
