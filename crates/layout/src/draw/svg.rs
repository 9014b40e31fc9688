// SPDX-License-Identifier: Apache-2.0
//! Cells as SVG: one text that needs nothing else, with colours for light and for dark.

use super::grid::{Cell, Grid, Tint};
use std::fmt::Write;

/// The width of a character, in the font of texts.
const CHAR_WIDTH: i64 = 8;
/// The width of a character of notes.
const NOTE_WIDTH: i64 = 6;
/// The height of a line of text.
const LINE_HEIGHT: i64 = 20;
/// The room around everything.
const MARGIN: i64 = 8;
/// The gap between groups of rows or columns.
const GAP: i64 = 5;

/// Rules for the colours. They are for this class alone, as a page may have several pictures, and
/// the ground is opaque: a page may be dark where its reader's system is light.
const STYLE: &str = "\
.kernpack-layout .ground{fill:#fff}\
.kernpack-layout text{fill:#1f2328}\
.kernpack-layout .head{fill:#656d76}\
.kernpack-layout .cell{stroke:#8c959f}\
.kernpack-layout .mark{stroke:#cf222e;stroke-width:2.5}\
.kernpack-layout .plain{fill:none}\
@media(prefers-color-scheme:dark){\
.kernpack-layout .ground{fill:#0d1117}\
.kernpack-layout text{fill:#e6edf3}\
.kernpack-layout .head{fill:#8d96a0}\
.kernpack-layout .cell{stroke:#6e7681}\
.kernpack-layout .mark{stroke:#ff7b72}}";

/// Where cells are.
struct Frame<'g> {
    grid: &'g Grid,
    cell_width: i64,
    cell_height: i64,
    left: i64,
    top: i64,
}

/// The text of a picture.
pub(super) fn write(title: &str, grid: &Grid) -> String {
    let frame = Frame::of(grid);
    let lines = [&[title.to_string()], &grid.remarks[..]].concat();
    let longest = lines.iter().map(|line| chars(line)).max().unwrap_or(0);
    let right = frame.x(grid.columns - 1) + frame.cell_width;
    let width = (longest * CHAR_WIDTH + MARGIN).max(right) + MARGIN;
    let height = frame.y(grid.rows - 1) + frame.cell_height + MARGIN;
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"kernpack-layout\" role=\"img\" \
         width=\"{width}\" height=\"{height}\" viewBox=\"0 0 {width} {height}\" \
         font-family=\"ui-monospace,Menlo,Consolas,'DejaVu Sans Mono',monospace\" \
         font-size=\"13\" text-anchor=\"middle\">\n<title>{}</title>\n<style>{STYLE}</style>\n\
         <rect class=\"ground\" width=\"{width}\" height=\"{height}\"/>\n",
        escaped(title)
    );
    svg.push_str("<g text-anchor=\"start\">\n");
    for (number, line) in lines.iter().enumerate() {
        let y = MARGIN + LINE_HEIGHT * number as i64 + 13;
        svg.push_str(&format!("<text x=\"{MARGIN}\" y=\"{y}\">{}</text>\n", escaped(line)));
    }
    svg.push_str("</g>\n");
    frame.write_heads(&mut svg);
    for (at, cell) in grid.cells.iter().enumerate() {
        let at = at as i64;
        frame.write_cell(&mut svg, at / grid.columns, at % grid.columns, cell);
    }
    svg.push_str("</svg>\n");
    svg
}

impl Frame<'_> {
    fn of(grid: &Grid) -> Frame<'_> {
        let texts = grid.cells.iter().map(|cell| chars(&cell.text) * CHAR_WIDTH);
        let notes = grid.cells.iter().map(|cell| chars(&cell.note) * NOTE_WIDTH);
        let widest = texts.chain(notes).max().unwrap_or(0);
        let has_notes = grid.cells.iter().any(|cell| !cell.note.is_empty());
        let n_digits = chars(&(grid.rows - 1).to_string());
        Frame {
            grid,
            cell_width: (widest + 8).max(28),
            cell_height: if has_notes { 36 } else { 24 },
            left: MARGIN + if grid.has_rows { n_digits * CHAR_WIDTH + 8 } else { 0 },
            top: MARGIN + LINE_HEIGHT * (2 + grid.remarks.len() as i64),
        }
    }

    fn x(&self, column: i64) -> i64 {
        self.left + column * self.cell_width + gaps(column, self.grid.columns_together)
    }

    fn y(&self, row: i64) -> i64 {
        self.top + row * self.cell_height + gaps(row, self.grid.rows_together)
    }

    /// The numbers of columns and rows.
    fn write_heads(&self, svg: &mut String) {
        let y = self.top - 6;
        for column in 0..self.grid.columns {
            let x = self.x(column) + self.cell_width / 2;
            write_text(svg, " class=\"head\"", (x, y), &column.to_string());
        }
        let rows = if self.grid.has_rows { self.grid.rows } else { 0 };
        for row in 0..rows {
            let y = self.y(row) + self.cell_height / 2 + 5;
            let x = (MARGIN + self.left) / 2 - 2;
            write_text(svg, " class=\"head\"", (x, y), &row.to_string());
        }
    }

    fn write_cell(&self, svg: &mut String, row: i64, column: i64, cell: &Cell) {
        let (x, y) = (self.x(column), self.y(row));
        let class = if cell.is_marked { "cell mark" } else { "cell" };
        let colour = match cell.tint {
            Tint::None => format!("class=\"{class} plain\""),
            Tint::Shade(percent) => {
                let percent = percent + 4;
                format!("class=\"{class}\" fill=\"#0969da\" fill-opacity=\"0.{percent:02}\"")
            }
            Tint::Hue(angle) => {
                format!("class=\"{class}\" fill=\"hsl({angle},75%,50%)\" fill-opacity=\"0.38\"")
            }
        };
        // A mark is a thick line, which the neighbours shall not cover.
        let inset = i64::from(cell.is_marked);
        let (width, height) = (self.cell_width - 2 * inset, self.cell_height - 2 * inset);
        svg.push_str(&format!(
            "<rect {colour} x=\"{}\" y=\"{}\" width=\"{width}\" height=\"{height}\"/>\n",
            x + inset,
            y + inset,
        ));
        let middle = x + self.cell_width / 2;
        write_text(svg, "", (middle, y + 17), &cell.text);
        if !cell.note.is_empty() {
            let class = " class=\"head\" font-size=\"9\"";
            write_text(svg, class, (middle, y + 30), &cell.note);
        }
    }
}

/// The gaps before a row or a column.
fn gaps(at: i64, together: Option<i64>) -> i64 {
    together.map_or(0, |together| at / together * GAP)
}

fn chars(text: &str) -> i64 {
    text.chars().count() as i64
}

fn write_text(svg: &mut String, attributes: &str, (x, y): (i64, i64), text: &str) {
    let text = escaped(text);
    // Writing to a text cannot fail.
    let _ = writeln!(svg, "<text{attributes} x=\"{x}\" y=\"{y}\">{text}</text>");
}

/// A text in which nothing is markup.
fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}
