// SPDX-License-Identifier: Apache-2.0
//! Where in the grid a thread is.

use super::{Builtin, Given};
use crate::elaborate::Elaborator;
use crate::value::Elaborated;
use kernpack_layout::Facts;

/// The most threads of a block in each direction.
const MOST_THREADS: [i64; 3] = [1024, 1024, 64];
/// The most blocks of a grid in each direction.
const MOST_BLOCKS: [i64; 3] = [i32::MAX as i64, 65535, 65535];
const AXES: [&str; 3] = ["x", "y", "z"];

const fn row(name: &'static str, doc: &'static str) -> Builtin {
    Builtin { name, takes: &[], doc, data: name, run: triple }
}

pub(super) const ROWS: &[Builtin] = &[
    row("thread_idx", "The thread within its block: a tuple of x, y and z."),
    row("block_idx", "The block within the grid: a tuple of x, y and z."),
    row(
        "block_dim",
        "The threads of a block: a tuple of x, y and z, constant where the launch says.",
    ),
    row("grid_dim", "The blocks of the grid: a tuple of x, y and z."),
    Builtin {
        name: "lane_idx",
        takes: &[],
        doc: "The thread within its warp: 0 to 31.",
        data: "lane_idx",
        run: single,
    },
    Builtin {
        name: "warp_idx",
        takes: &[],
        doc: "The warp within its block. Threads are counted in x first, then in y, then in z.",
        data: "warp_idx",
        run: single,
    },
];

fn triple(cx: &mut Elaborator<'_>, given: &Given) -> Elaborated {
    let parts = (0..3).map(|axis| part(cx, given.row.data, axis)).collect();
    Elaborated::tuple(parts)
}

fn part(cx: &mut Elaborator<'_>, what: &str, axis: usize) -> Elaborated {
    let threads = cx.block[axis].map(i64::from);
    let (min, max) = match what {
        "thread_idx" if threads == Some(1) => return Elaborated::index(0),
        "thread_idx" => (0, threads.unwrap_or(MOST_THREADS[axis]) - 1),
        "block_dim" => match threads {
            Some(threads) => return Elaborated::index(threads),
            None => (1, MOST_THREADS[axis]),
        },
        "block_idx" => (0, MOST_BLOCKS[axis] - 1),
        _ => (1, MOST_BLOCKS[axis]),
    };
    let value = cx.emit.call_row(&format!("{what}.{}", AXES[axis]), &[]);
    cx.emit.know(value, Facts { divisor: 1, min, max });
    Elaborated::Typed(value)
}

fn single(cx: &mut Elaborator<'_>, given: &Given) -> Elaborated {
    let value = cx.emit.call_row(given.row.data, &[]);
    let warps = cx.block.iter().map(|side| side.map(i64::from)).product::<Option<i64>>();
    let max = match (given.row.data, warps) {
        ("warp_idx", Some(threads)) => (threads.max(1) - 1) / 32,
        _ => 31,
    };
    cx.emit.know(value, Facts { divisor: 1, min: 0, max });
    Elaborated::Typed(value)
}
