// SPDX-License-Identifier: Apache-2.0
//! Clocks.

use super::{Builtin, Given};
use crate::elaborate::Elaborator;
use crate::value::Elaborated;

pub(super) const ROWS: &[Builtin] = &[
    Builtin {
        name: "clock",
        takes: &[],
        doc: "The cycles that the multiprocessor has counted, an int64. The interpreter counts \
              operations.",
        data: "clock",
        run: timer,
    },
    Builtin {
        name: "globaltimer",
        takes: &[],
        doc: "The nanoseconds that the device has counted, an int64. The interpreter counts \
              operations.",
        data: "globaltimer",
        run: timer,
    },
];

fn timer(cx: &mut Elaborator<'_>, given: &Given) -> Elaborated {
    Elaborated::Typed(cx.emit.call_row(given.row.data, &[]))
}
