// SPDX-License-Identifier: Apache-2.0
//! The operations in flight that touch cells of an allocation. A thread's own copies are short, and
//! are kept cell by cell. What touches many cells is kept once, with the rows of them.

use super::clock::Reach;
use super::flight::{By, Mark};
use super::shadow::Way;
use std::collections::HashMap;
use std::ops::Range;
use std::sync::Arc;

/// Cells: rows of them, in order and apart.
#[derive(Clone, Debug)]
pub(super) struct Rows(Arc<[Range<usize>]>);

impl Rows {
    /// All cells of some rows.
    pub fn new(rows: impl Iterator<Item = Range<usize>>) -> Rows {
        Rows(joined(rows.collect()).into())
    }

    /// The rows.
    pub fn iter(&self) -> impl Iterator<Item = Range<usize>> {
        self.0.iter().cloned()
    }

    /// The first of them that is in a row.
    fn first_in(&self, row: &Range<usize>) -> Option<usize> {
        let next = self.0.partition_point(|own| own.end <= row.start);
        let first = self.0.get(next)?.start.max(row.start);
        (first < row.end).then_some(first)
    }
}

/// Rows in order, of which those that meet are one.
pub(super) fn joined<T: Ord + Copy>(mut rows: Vec<Range<T>>) -> Vec<Range<T>> {
    rows.sort_unstable_by_key(|row| row.start);
    let mut all: Vec<Range<T>> = Vec::new();
    for row in rows {
        match all.last_mut() {
            Some(last) if row.start <= last.end => last.end = last.end.max(row.end),
            _ => all.push(row),
        }
    }
    all
}

/// The marks of an allocation.
#[derive(Debug, Default)]
pub(super) struct Marks {
    by_cell: HashMap<usize, Vec<Mark>>,
    by_rows: Vec<(Rows, Mark)>,
}

impl Marks {
    /// Whether there are none.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.by_cell.is_empty() && self.by_rows.is_empty()
    }

    /// The first cell of a row that an operation touches for which an access has to wait; of
    /// several there, one that reads it. Reductions do not wait for one another, nor do steps
    /// that all of the device takes part in.
    pub fn first_in(&self, row: Range<usize>, way: Way) -> Option<(usize, Mark)> {
        let is_step = way.writes() && way.reach() >= Some(Reach::Grid);
        let is_shared = |mark: &Mark| mark.by == By::Reduction && mark.writes && is_step;
        let waits = |mark: &&Mark| (mark.writes || way.writes()) && !is_shared(mark);
        let by_rows = self.by_rows.iter().filter(|(_, mark)| waits(&mark));
        let by_rows = by_rows.filter_map(|(rows, mark)| Some((rows.first_in(&row)?, *mark)));
        let by_rows = by_rows.min_by_key(|(cell, mark)| (*cell, mark.writes));
        if self.by_cell.is_empty() {
            return by_rows;
        }
        let by_cell = row.into_iter().find_map(|cell| {
            let mark = self.by_cell.get(&cell)?.iter().find(waits)?;
            Some((cell, *mark))
        });
        by_cell.into_iter().chain(by_rows).min_by_key(|(cell, _)| *cell)
    }

    /// An operation that touches a cell begins.
    pub fn add(&mut self, cell: usize, mark: Mark) {
        self.by_cell.entry(cell).or_default().push(mark);
    }

    /// One that touches a cell is done.
    pub fn remove(&mut self, cell: usize, mark: Mark) {
        let Some(marks) = self.by_cell.get_mut(&cell) else { return };
        if let Some(place) = marks.iter().position(|one| *one == mark) {
            marks.swap_remove(place);
        }
        if marks.is_empty() {
            self.by_cell.remove(&cell);
        }
    }

    /// An operation that touches many cells begins.
    pub fn add_rows(&mut self, rows: Rows, mark: Mark) {
        self.by_rows.push((rows, mark));
    }

    /// One that touches many cells is done. Where it has several such marks, one of them goes.
    pub fn remove_rows(&mut self, mark: Mark) {
        if let Some(place) = self.by_rows.iter().position(|(_, one)| *one == mark) {
            self.by_rows.swap_remove(place);
        }
    }

    /// Forgets those of many cells, and gives the rows of those that write.
    pub fn take_written(&mut self) -> impl Iterator<Item = Rows> {
        let all = std::mem::take(&mut self.by_rows).into_iter();
        all.filter(|(_, mark)| mark.writes).map(|(rows, _)| rows)
    }
}

#[cfg(test)]
mod tests {
    use super::Rows;

    #[test]
    fn rows_that_meet_are_one() {
        let rows = Rows::new([8..12, 0..4, 4..6, 9..10, 14..16].into_iter());
        assert_eq!(rows.iter().collect::<Vec<_>>(), [0..6, 8..12, 14..16]);
    }

    #[test]
    fn the_first_cell_in_a_row_is_found() {
        let rows = Rows::new([2..4, 8..12].into_iter());
        let first = |row| rows.first_in(&row);
        assert_eq!([first(0..2), first(0..3), first(3..9)], [None, Some(2), Some(3)]);
        assert_eq!([first(4..8), first(4..9), first(11..20)], [None, Some(8), Some(11)]);
        assert_eq!([first(12..20), first(9..9)], [None, None]);
    }
}
