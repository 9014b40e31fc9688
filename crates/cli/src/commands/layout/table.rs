// SPDX-License-Identifier: Apache-2.0
//! A layout as a table of its indices: of rank 2 with a row for each coordinate of the first mode,
//! of rank 1 as a line, of higher ranks a table for each coordinate of the further modes.

use crate::Failure;
use kernpack_layout::Symbols;
use kernpack_layout::draw::{Mapping, coord, extents};
use std::fmt::Write;

/// The most cells that are drawn.
const MOST_CELLS: i64 = 4096;
/// The most columns that are drawn, as no terminal is wider.
pub const MOST_COLUMNS: i64 = 64;

/// The index of a coordinate, as text.
fn index(cx: &mut Symbols, mapping: &Mapping, numbers: &[i64]) -> Result<String, Failure> {
    let coord = coord(&mapping.layout.shape(), numbers);
    Ok(mapping.index(cx, &coord)?.to_string())
}

/// The tables, or why there are none.
pub fn draw(cx: &mut Symbols, mapping: &Mapping) -> Result<String, Failure> {
    let extents = extents(&mapping.layout.shape());
    let Some(extents) = extents.filter(|_| mapping.layout.is_static()) else {
        return Ok("\nnot drawn, as not all of its numbers are known\n".to_string());
    };
    let cells = extents.iter().try_fold(1_i64, |cells, extent| cells.checked_mul(*extent));
    let columns = extents.get(1).or(extents.first()).copied().unwrap_or(1);
    if cells.is_none_or(|cells| cells > MOST_CELLS) || columns > MOST_COLUMNS {
        return Ok(format!(
            "\nnot drawn, as it has more than {MOST_COLUMNS} columns or {MOST_CELLS} cells\n"
        ));
    }
    if cells == Some(0) {
        return Ok("\nnot drawn, as it has no coordinates\n".to_string());
    }
    match &extents[..] {
        [] => Ok(format!("\n{}\n", index(cx, mapping, &[])?)),
        [extent] => {
            let cell = |numbers: &[i64]| index(cx, mapping, &numbers[1..]);
            Ok(format!("\n{}", table(1, *extent, false, cell)?))
        }
        [rows, columns, further @ ..] => {
            let mut text = String::new();
            for at in coords(further) {
                text.push('\n');
                if !further.is_empty() {
                    let at = at.iter().map(|number| format!(",{number}"));
                    writeln!(text, "(_,_{})", at.collect::<String>())?;
                }
                let cell = |numbers: &[i64]| index(cx, mapping, &[numbers, &at].concat());
                text.push_str(&table(*rows, *columns, true, cell)?);
            }
            Ok(text)
        }
    }
}

/// All coordinates of modes, the first being the fastest.
fn coords(extents: &[i64]) -> Vec<Vec<i64>> {
    let mut coords = vec![vec![]];
    for extent in extents.iter().rev() {
        let longer = |coord: &Vec<i64>| {
            let coord = coord.clone();
            (0..*extent).map(move |number| [&[number], &coord[..]].concat())
        };
        coords = coords.iter().flat_map(longer).collect();
    }
    coords
}

/// A table with a cell for each row and column, and the numbers of both.
pub fn table(
    rows: i64,
    columns: i64,
    has_rows: bool,
    mut cell: impl FnMut(&[i64]) -> Result<String, Failure>,
) -> Result<String, Failure> {
    let mut cells = Vec::new();
    for row in 0..rows {
        let row = (0..columns).map(|column| cell(&[row, column]));
        cells.push(row.collect::<Result<Vec<_>, _>>()?);
    }
    let heads = (0..columns).map(|column| column.to_string()).collect::<Vec<_>>();
    let all = cells.iter().flatten().chain(&heads);
    let width = all.map(|text| text.chars().count()).max().unwrap_or(0);
    let label = (rows - 1).max(0).to_string().len();
    let line = |head: &str, cells: &[String]| {
        let cells: String = cells.iter().map(|text| format!("  {text:>width$}")).collect();
        match has_rows {
            true => format!("{head:>label$} |{}\n", cells.strip_prefix(' ').unwrap_or(&cells)),
            false => format!("{}\n", cells.strip_prefix("  ").unwrap_or(&cells)),
        }
    };
    let mut text = line("", &heads);
    let rule = "-".repeat(text.trim_end().chars().count());
    if has_rows {
        text.push_str(&format!(
            "{}+{}\n",
            &rule[..label + 1],
            &rule[(label + 2).min(rule.len())..]
        ));
    } else {
        text.push_str(&format!("{rule}\n"));
    }
    for (number, cells) in cells.iter().enumerate() {
        text.push_str(&line(&number.to_string(), cells));
    }
    Ok(text)
}
