// SPDX-License-Identifier: Apache-2.0
//! Layouts as pictures: SVG, as text.
//!
//! A layout of one or two modes is a grid of its indices. A layout of threads and values is the
//! tile with the owner of each element, coloured by thread. And a layout of memory can be coloured
//! by the bank of shared memory that each element lies in ([`Banks`]), with the accesses of a warp
//! that are in one another's way.
//!
//! A picture is of numbers that are all known, and of a size that can be looked at ([`MOST_SIDE`]).
//! The same layout is the same text. Deliberately absent: files, and tables for terminals.
//!
//! # Where things live
//!
//! `mapping.rs` is the index of each coordinate, `owners.rs` who has the elements of a tile,
//! `banks.rs` where memory is and what conflicts. `grid.rs` makes cells of either, `svg.rs` writes
//! them, and `error.rs` says why there is no picture.

mod banks;
mod error;
mod grid;
mod mapping;
mod owners;
mod svg;
#[cfg(test)]
mod tests;

pub use banks::Banks;
pub use error::DrawError;
pub use mapping::{Mapping, coord, extents};
pub use owners::{MOST_ELEMENTS, Owners};

use crate::evaluate::Object;
use crate::symbols::Symbols;
use grid::Grid;

/// The most rows of a picture, and the most columns.
pub const MOST_SIDE: i64 = 64;

/// A picture, and what it says besides.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Picture {
    /// The picture, as SVG.
    pub svg: String,
    /// The lines that stand above the cells, behind the layout.
    pub remarks: Vec<String>,
    /// How often a warp waits for banks, where they are shown: 1 without a conflict.
    pub ways: Option<usize>,
}

/// The picture of a layout; with banks, of where it lies in shared memory.
///
/// # Errors
/// What cannot be drawn, and why.
pub fn draw(cx: &mut Symbols, of: &Object, banks: Option<&Banks>) -> Result<Picture, DrawError> {
    let title = of.to_string();
    let grid = match (of, banks) {
        (Object::ThreadValue(..), Some(_)) => return Err(DrawError::NoBanks { of: title }),
        (Object::ThreadValue(tile, layout), None) => {
            Grid::of_owners(&Owners::of(cx, tile, layout)?, &title)?
        }
        (_, banks) => {
            let mapping = Mapping::of_object(of)
                .ok_or_else(|| DrawError::NoLayout { kind: of.kind(), of: title.clone() })?;
            match banks {
                None => Grid::of_indices(cx, &mapping, &title)?,
                Some(banks) => Grid::of_banks(cx, &mapping, &title, banks)?,
            }
        }
    };
    let svg = svg::write(&title, &grid);
    Ok(Picture { svg, remarks: grid.remarks, ways: grid.ways })
}
