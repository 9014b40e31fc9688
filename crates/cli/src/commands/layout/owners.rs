// SPDX-License-Identifier: Apache-2.0
//! A tile, with the thread that has each element and the number of the value that it is to the
//! thread: `T3V1`.

use super::{known, table::table};
use crate::Failure;
use anyhow::anyhow;
use kernpack_layout::{Coord, Int, Layout, Shape, Slot, Symbol, Symbols, Tuple, index};
use serde_json::{Value, json};

/// The most elements that a tile has.
const MOST_ELEMENTS: i64 = 4096;
/// The most columns that are drawn.
const MOST_COLUMNS: i64 = 64;

/// The tile as a table, and as lists of threads and values by number of the element.
pub fn draw(
    cx: &mut Symbols,
    tile: &Shape<Symbol>,
    layout: &Layout<Symbol>,
) -> Result<(String, Value), Failure> {
    let (extents, modes) = (known(tile), known(&layout.shape()));
    let (Some(extents), Some(modes), true) = (extents, modes, layout.is_static()) else {
        return Ok(("\nnot drawn, as not all of its numbers are known\n".to_string(), Value::Null));
    };
    let [threads, values] = modes[..] else {
        return Err(anyhow!("`{layout}` has no mode of threads and one of values").into());
    };
    let product = |numbers: &[i64]| numbers.iter().try_fold(1_i64, |all, n| all.checked_mul(*n));
    let n_elements = product(&extents).filter(|n| *n <= MOST_ELEMENTS);
    let n_owners = product(&modes).filter(|n| *n <= MOST_ELEMENTS);
    let (Some(n_elements), Some(_)) = (n_elements, n_owners) else {
        return Ok((
            format!("\nnot drawn, as it has more than {MOST_ELEMENTS} elements\n"),
            Value::Null,
        ));
    };
    let mut owners = vec![Vec::<(i64, i64)>::new(); n_elements as usize];
    for (thread, value) in (0..threads).flat_map(|t| (0..values).map(move |v| (t, v))) {
        let element = element(cx, layout, thread, value)?;
        let at = usize::try_from(element).ok().and_then(|at| owners.get_mut(at));
        let beyond = || {
            anyhow!(
                "T{thread}V{value} is element {element} of `{layout}`, and the tile `{tile}` has \
                 {n_elements}"
            )
        };
        at.ok_or_else(beyond)?.push((thread, value));
    }
    let (rows, columns) = match extents[..] {
        [] => (1, 1),
        [columns] => (1, columns),
        [rows, ref others @ ..] => (rows, others.iter().product()),
    };
    let answer = json!(owners);
    if columns > MOST_COLUMNS {
        return Ok((format!("\nnot drawn, as it has more than {MOST_COLUMNS} columns\n"), answer));
    }
    let cell = |at: &[i64]| Ok(name(&owners[(at[0] + at[1] * rows) as usize]));
    Ok((format!("\n{}", table(rows, columns, extents.len() > 1, cell)?), answer))
}

/// The number of an element in its tile.
fn element(
    cx: &mut Symbols,
    layout: &Layout<Symbol>,
    thread: i64,
    value: i64,
) -> Result<i64, Failure> {
    let at = |number| Tuple::Leaf(Slot::At(Int::Known(number)));
    let coord: Coord<Symbol> = Tuple::Node(vec![at(thread), at(value)]);
    let element = index(cx, &coord, layout)?.known();
    element.ok_or_else(|| anyhow!("not all of `{layout}` is known").into())
}

/// Who has an element: the first, and `+` where there are others; `.` where nobody has it.
fn name(owners: &[(i64, i64)]) -> String {
    match owners {
        [] => ".".to_string(),
        [(thread, value)] => format!("T{thread}V{value}"),
        [(thread, value), ..] => format!("T{thread}V{value}+"),
    }
}
