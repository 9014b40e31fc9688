// SPDX-License-Identifier: Apache-2.0
//! Maps of tensors, by which the device copies boxes. The copies are `kp.copy`.

use super::{Builtin, Given};
use crate::elaborate::Elaborator;
use crate::value::Elaborated;

pub(super) const ROWS: &[Builtin] = &[Builtin {
    name: "make_tma",
    takes: &["x", "layout"],
    doc: "The map of a tensor that the launch passes, by which `kp.copy` has the device copy tiles of \
          it to shared memory and back: `tma = kp.make_tma(x, layout)`, `kp.copy(tma[None, (i, j)], \
          tile, to=bar)`. `layout` is that of a tile in shared memory, and may have a mode of stages \
          behind its others. The value is a tensor of coordinates, of shape `((tile…), (tiles…))`. It \
          needs `sm_90`.",
    data: "",
    run: make_tma,
}];

fn make_tma(cx: &mut Elaborator<'_>, given: &Given) -> Elaborated {
    let Elaborated::Tensor(x) = given.get("x").clone() else {
        return cx.expected("a tensor", given, "x");
    };
    match cx.layout(&given.get("layout").clone(), given.at("layout")) {
        Some(layout) => cx.make_map(&x, &layout, given.span),
        None => Elaborated::Poison,
    }
}
