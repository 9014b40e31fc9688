// SPDX-License-Identifier: Apache-2.0
//! The layout algebra, on layouts and on tensors: its rows are those of packed functions too.

use super::{Builtin, Given};
use crate::algebra;
use crate::elaborate::Elaborator;
use crate::value::Elaborated;

pub(super) const ROWS: &[Builtin] = &rows();

const fn rows() -> [Builtin; algebra::ROWS.len()] {
    const NONE: Builtin = Builtin { name: "", takes: &[], doc: "", data: "", run: call };
    let mut rows = [NONE; algebra::ROWS.len()];
    let mut i = 0;
    while i < rows.len() {
        let algebra::Row { name, takes, doc, .. } = algebra::ROWS[i];
        rows[i] = Builtin { name, takes, doc, data: "", run: call };
        i += 1;
    }
    rows
}

fn call(cx: &mut Elaborator<'_>, given: &Given) -> Elaborated {
    let args = given.in_order();
    let row = algebra::find(given.row.name);
    let value = row.and_then(|row| algebra::run(cx, row, &args, given.span));
    value.unwrap_or(Elaborated::Poison)
}
