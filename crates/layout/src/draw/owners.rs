// SPDX-License-Identifier: Apache-2.0
//! The owners of a tile's elements: which thread has each, as which of its values.

use super::{DrawError, extents};
use crate::index::index;
use crate::int::Int;
use crate::layout::{Layout, Shape};
use crate::slice::{Coord, Slot};
use crate::symbols::{Symbol, Symbols};
use crate::tuple::Tuple;

/// The most elements that a tile has, and the most owners.
pub const MOST_ELEMENTS: i64 = 4096;

/// A tile, with who has its elements.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Owners {
    /// How many rows the tile has: the extent of its first mode, or one.
    pub rows: i64,
    /// How many columns: what the other modes have together.
    pub columns: i64,
    /// Whether there is a mode for the rows.
    pub has_rows: bool,
    /// Threads and values by number of the element, the rows being the fastest.
    pub of: Vec<Vec<(i64, i64)>>,
}

impl Owners {
    /// The owners that a layout from thread and value to the number of an element says.
    ///
    /// # Errors
    /// A tile that is not known or too large, and an owner of what it does not have.
    pub fn of(
        cx: &mut Symbols,
        tile: &Shape<Symbol>,
        layout: &Layout<Symbol>,
    ) -> Result<Owners, DrawError> {
        let (sides, modes) = (extents(tile), extents(&layout.shape()));
        let (Some(sides), Some(modes), true) = (sides, modes, layout.is_static()) else {
            return Err(DrawError::Unknown { of: layout.to_string() });
        };
        let [threads, values] = modes[..] else {
            return Err(DrawError::NoOwners { of: layout.to_string() });
        };
        let n_elements = few(&sides).ok_or_else(|| too_many(tile.to_string()))?;
        few(&modes).ok_or_else(|| too_many(layout.to_string()))?;
        let mut owners = vec![Vec::new(); n_elements as usize];
        for (thread, value) in (0..threads).flat_map(|t| (0..values).map(move |v| (t, v))) {
            let element = element(cx, layout, thread, value)?;
            let at = usize::try_from(element).ok().and_then(|at| owners.get_mut(at));
            let at = at.ok_or_else(|| DrawError::BeyondTile {
                thread,
                value,
                element,
                of: layout.to_string(),
                tile: tile.to_string(),
                n_elements,
            })?;
            at.push((thread, value));
        }
        let (rows, columns) = match sides[..] {
            [] => (1, 1),
            [columns] => (1, columns),
            [rows, ref others @ ..] => (rows, others.iter().product()),
        };
        Ok(Owners { rows, columns, has_rows: sides.len() > 1, of: owners })
    }

    /// The owners of the element in a row and a column.
    pub fn at(&self, row: i64, column: i64) -> &[(i64, i64)] {
        &self.of[(row + column * self.rows) as usize]
    }

    /// The name of who has that element: the first, and `+` where there are others; `.` where
    /// nobody has it.
    pub fn name(&self, row: i64, column: i64) -> String {
        match self.at(row, column) {
            [] => ".".to_string(),
            [(thread, value)] => format!("T{thread}V{value}"),
            [(thread, value), ..] => format!("T{thread}V{value}+"),
        }
    }
}

/// The product of extents, where it is not too large to be drawn.
fn few(extents: &[i64]) -> Option<i64> {
    let product = extents.iter().try_fold(1_i64, |all, extent| all.checked_mul(*extent));
    product.filter(|product| *product <= MOST_ELEMENTS)
}

fn too_many(of: String) -> DrawError {
    DrawError::TooMany { of, most: MOST_ELEMENTS }
}

/// The number of an element in its tile.
fn element(
    cx: &mut Symbols,
    layout: &Layout<Symbol>,
    thread: i64,
    value: i64,
) -> Result<i64, DrawError> {
    let at = |number| Tuple::Leaf(Slot::At(Int::Known(number)));
    let coord: Coord<Symbol> = Tuple::Node(vec![at(thread), at(value)]);
    let element = index(cx, &coord, layout)?.known();
    element.ok_or_else(|| DrawError::Unknown { of: layout.to_string() })
}
