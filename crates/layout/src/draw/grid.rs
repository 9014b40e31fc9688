// SPDX-License-Identifier: Apache-2.0
//! The cells of a picture, with their colours, before anybody writes them.

use super::banks::{Access, Banks, WARP, at_a_time, bank, conflicts};
use super::{DrawError, MOST_SIDE, Mapping, Owners, coord, extents};
use crate::index::index_of;
use crate::int::Int;
use crate::layout::{Layout, Shape};
use crate::symbols::{Symbol, Symbols};
use crate::tuple::Tuple;
use std::collections::BTreeMap;

/// Rows and columns of cells.
pub(super) struct Grid {
    pub rows: i64,
    pub columns: i64,
    /// Whether the rows are numbered: a layout of one mode has but one.
    pub has_rows: bool,
    /// How many rows are in a group, where a mode has modes.
    pub rows_together: Option<i64>,
    /// The same of columns.
    pub columns_together: Option<i64>,
    /// The cells, row by row.
    pub cells: Vec<Cell>,
    /// The remarks above them.
    pub remarks: Vec<String>,
    /// How often a warp waits for banks, where they are shown.
    pub ways: Option<usize>,
}

/// A cell.
pub(super) struct Cell {
    pub text: String,
    /// A second, smaller line.
    pub note: String,
    pub tint: Tint,
    /// Whether it is marked as one in conflict.
    pub is_marked: bool,
}

/// The colour of a cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Tint {
    None,
    /// How dark, in percent.
    Shade(i64),
    /// An angle on the wheel of colours.
    Hue(i64),
}

impl Grid {
    /// The indices of a layout, the larger the darker.
    pub fn of_indices(cx: &mut Symbols, mapping: &Mapping, title: &str) -> Result<Grid, DrawError> {
        let (grid, indices) = Grid::without_cells(cx, mapping, title)?;
        let numbers = indices.iter().filter_map(number);
        let (least, most) = (numbers.clone().min().unwrap_or(0), numbers.max().unwrap_or(0));
        let span = (i128::from(most) - i128::from(least)).max(1);
        let cell = |index: &Shape<Symbol>| Cell {
            text: index.to_string(),
            note: String::new(),
            tint: match number(index) {
                Some(number) => {
                    let above = i128::from(number) - i128::from(least);
                    Tint::Shade((above * 40 / span) as i64)
                }
                None => Tint::None,
            },
            is_marked: false,
        };
        Ok(Grid { cells: indices.iter().map(cell).collect(), ..grid })
    }

    /// The indices of a layout, with their banks, and what a warp accesses.
    pub fn of_banks(
        cx: &mut Symbols,
        mapping: &Mapping,
        title: &str,
        banks: &Banks,
    ) -> Result<Grid, DrawError> {
        let bytes = banks.bytes()?;
        let (grid, indices) = Grid::without_cells(cx, mapping, title)?;
        let indices: Option<Vec<i64>> = indices.iter().map(number).collect();
        let indices = indices.ok_or_else(|| DrawError::NoBanks { of: title.to_string() })?;
        let accessed = grid.accessed(cx, title, banks)?;
        let access =
            |(thread, at): (usize, &usize)| Access { thread: thread as i64, index: indices[*at] };
        let accesses: Vec<_> = accessed.iter().enumerate().map(access).collect();
        let conflicts = conflicts(&accesses, bytes);
        let mut threads = BTreeMap::<usize, Vec<i64>>::new();
        for (thread, at) in accessed.iter().enumerate() {
            threads.entry(*at).or_default().push(thread as i64);
        }
        let cell = |(at, index): (usize, &i64)| {
            let bank = bank(*index, bytes);
            let threads = threads.get(&at).map_or(&[][..], |threads| threads);
            let thread = match threads {
                [] => String::new(),
                [thread] => format!(" t{thread}"),
                [thread, ..] => format!(" t{thread}+"),
            };
            Cell {
                text: index.to_string(),
                note: format!("b{bank}{thread}"),
                tint: Tint::Hue((bank * 360 / 32) as i64),
                is_marked: threads.iter().any(|thread| conflicts.threads.contains(thread)),
            }
        };
        let cells = indices.iter().enumerate().map(cell).collect();
        let remarks = remarks(accessed.len(), bytes, conflicts.ways);
        Ok(Grid { cells, remarks, ways: Some(conflicts.ways), ..grid })
    }

    /// Who has the elements of a tile, coloured by thread.
    pub fn of_owners(owners: &Owners, title: &str) -> Result<Grid, DrawError> {
        let (rows, columns) = sides(owners.rows, owners.columns, title)?;
        let places = (0..rows).flat_map(|row| (0..columns).map(move |column| (row, column)));
        let cell = |(row, column)| Cell {
            text: owners.name(row, column),
            note: String::new(),
            tint: match owners.at(row, column) {
                [] => Tint::None,
                // The golden angle: neighbours differ, and no number of threads repeats soon.
                [(thread, _), ..] => Tint::Hue(thread * 137 % 360),
            },
            is_marked: false,
        };
        Ok(Grid {
            rows,
            columns,
            has_rows: owners.has_rows,
            rows_together: None,
            columns_together: None,
            cells: places.map(cell).collect(),
            remarks: vec![],
            ways: None,
        })
    }

    /// A grid for a layout, and the index of each of its cells, row by row.
    fn without_cells(
        cx: &mut Symbols,
        mapping: &Mapping,
        title: &str,
    ) -> Result<(Grid, Vec<Shape<Symbol>>), DrawError> {
        let shape = mapping.layout.shape();
        let unknown = || DrawError::Unknown { of: title.to_string() };
        let sizes = extents(&shape).ok_or_else(unknown)?;
        let (rows, columns) = match sizes[..] {
            [] => (1, 1),
            [columns] => (1, columns),
            [rows, columns] => (rows, columns),
            _ => return Err(DrawError::Rank { of: title.to_string(), rank: sizes.len() }),
        };
        let (rows, columns) = sides(rows, columns, title)?;
        let mut indices = Vec::new();
        for (row, column) in (0..rows).flat_map(|row| (0..columns).map(move |at| (row, at))) {
            let numbers = [row, column];
            let coord = coord(&shape, &numbers[2 - sizes.len()..]);
            let index = mapping.index(cx, &coord)?;
            if index.leaves().into_iter().any(|number| number.known().is_none()) {
                return Err(unknown());
            }
            indices.push(index);
        }
        let modes = shape.modes();
        let grid = Grid {
            rows,
            columns,
            has_rows: sizes.len() == 2,
            rows_together: modes.first().filter(|_| sizes.len() == 2).and_then(together),
            columns_together: modes.last().and_then(together),
            cells: vec![],
            remarks: vec![],
            ways: None,
        };
        Ok((grid, indices))
    }

    /// The place of the cell that each thread of a warp accesses.
    fn accessed(
        &self,
        cx: &mut Symbols,
        title: &str,
        banks: &Banks,
    ) -> Result<Vec<usize>, DrawError> {
        let size = self.rows * self.columns;
        let Some(threads) = &banks.threads else {
            return Ok((0..size.min(WARP)).map(|number| self.place(number)).collect());
        };
        let unknown = || DrawError::Unknown { of: threads.to_string() };
        let n_threads = crate::index::size(cx, threads)?.known().ok_or_else(unknown)?;
        let mut places = Vec::new();
        for thread in 0..n_threads.min(WARP) {
            let number = number_of(cx, threads, thread)?.ok_or_else(unknown)?;
            if !(0..size).contains(&number) {
                let (threads, of) = (threads.to_string(), title.to_string());
                return Err(DrawError::BeyondLayout { thread, threads, number, of, size });
            }
            places.push(self.place(number));
        }
        Ok(places)
    }

    /// The place among the cells of the coordinate with a number, the first mode being the fastest.
    fn place(&self, number: i64) -> usize {
        let (row, column) = (number % self.rows, number / self.rows);
        (row * self.columns + column) as usize
    }
}

/// Rows and columns, if they can be drawn.
fn sides(rows: i64, columns: i64, title: &str) -> Result<(i64, i64), DrawError> {
    let of = title.to_string();
    match (rows, columns) {
        (0, _) | (_, 0) => Err(DrawError::Empty { of }),
        (1..=MOST_SIDE, 1..=MOST_SIDE) => Ok((rows, columns)),
        _ => Err(DrawError::TooLarge { of, rows, columns }),
    }
}

/// The extent of the fastest mode of a mode that has several.
fn together(mode: &Shape<Symbol>) -> Option<i64> {
    match mode.leaves()[..] {
        [first, _, ..] => first.known().filter(|extent| *extent > 1),
        _ => None,
    }
}

/// The number that an index is.
fn number(index: &Shape<Symbol>) -> Option<i64> {
    match index {
        Tuple::Leaf(Int::Known(number)) => Some(*number),
        Tuple::Leaf(Int::Dynamic(_)) | Tuple::Node(_) => None,
    }
}

/// The number of the coordinate that a thread accesses, where it is known.
fn number_of(
    cx: &mut Symbols,
    threads: &Layout<Symbol>,
    thread: i64,
) -> Result<Option<i64>, DrawError> {
    Ok(index_of(cx, &Int::Known(thread), threads)?.known())
}

/// The remarks on a warp's accesses.
fn remarks(n_threads: usize, bytes: i128, ways: usize) -> Vec<String> {
    let unit = if bytes == 1 { "byte" } else { "bytes" };
    let memory = format!("elements of {bytes} {unit} in 32 banks of 4 bytes (b)");
    let conflict = match ways {
        1 => "no conflict".to_string(),
        ways => format!("{ways}-way conflict"),
    };
    let at_a_time = match at_a_time(bytes) {
        WARP => String::new(),
        n_threads => format!(", {n_threads} at a time"),
    };
    let threads = if n_threads == 1 { "thread" } else { "threads" };
    vec![memory, format!("{n_threads} {threads} (t){at_a_time}: {conflict}")]
}
