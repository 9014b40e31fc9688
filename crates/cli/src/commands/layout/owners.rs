// SPDX-License-Identifier: Apache-2.0
//! A tile, with the thread that has each element and the number of the value that it is to the
//! thread: `T3V1`.

use super::table::{MOST_COLUMNS, table};
use crate::Failure;
use kernpack_layout::draw::{DrawError, Owners};
use kernpack_layout::{Layout, Shape, Symbol, Symbols};
use serde_json::{Value, json};

/// The tile as a table, and as lists of threads and values by number of the element.
pub fn draw(
    cx: &mut Symbols,
    tile: &Shape<Symbol>,
    layout: &Layout<Symbol>,
) -> Result<(String, Value), Failure> {
    let owners = match Owners::of(cx, tile, layout) {
        Ok(owners) => owners,
        Err(DrawError::Unknown { .. }) => {
            let text = "\nnot drawn, as not all of its numbers are known\n";
            return Ok((text.to_string(), Value::Null));
        }
        Err(DrawError::TooMany { most, .. }) => {
            let text = format!("\nnot drawn, as it has more than {most} elements\n");
            return Ok((text, Value::Null));
        }
        Err(error) => return Err(error.into()),
    };
    let answer = json!(owners.of);
    if owners.columns > MOST_COLUMNS {
        return Ok((format!("\nnot drawn, as it has more than {MOST_COLUMNS} columns\n"), answer));
    }
    let cell = |at: &[i64]| Ok(owners.name(at[0], at[1]));
    let table = table(owners.rows, owners.columns, owners.has_rows, cell)?;
    Ok((format!("\n{table}"), answer))
}
