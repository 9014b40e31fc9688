// SPDX-License-Identifier: Apache-2.0
//! Where in the grid a thread is.

use super::{Builtin, Given};
use crate::elaborate::Elaborator;
use crate::value::Elaborated;
use kernpack_layout::Facts;
use kernpack_machine::block::{
    MOST_BLOCKS_ALONG, MOST_CLUSTER_BLOCKS, MOST_THREADS, MOST_THREADS_ALONG, MOST_WARPS,
    WARP_SIZE, WARPGROUP_SIZE,
};

const AXES: [&str; 3] = ["x", "y", "z"];
const MOST_IN_CLUSTER: i64 = MOST_CLUSTER_BLOCKS as i64;

pub(super) const fn row(name: &'static str, doc: &'static str) -> Builtin {
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
    Builtin {
        name: "warpgroup_idx",
        takes: &[],
        doc: "The warpgroup within its block: four warps in a row are one.",
        data: "warpgroup_idx",
        run: single,
    },
];

fn triple(cx: &mut Elaborator<'_>, given: &Given) -> Elaborated {
    let parts = (0..3).map(|axis| part(cx, given.row.data, axis)).collect();
    Elaborated::tuple(parts)
}

fn part(cx: &mut Elaborator<'_>, what: &str, axis: usize) -> Elaborated {
    let threads = cx.block[axis].map(i64::from);
    let most_threads = threads.unwrap_or(MOST_THREADS_ALONG[axis].into());
    let most_blocks = i64::from(MOST_BLOCKS_ALONG[axis]);
    let (min, max) = match what {
        "thread_idx" if threads == Some(1) => return Elaborated::index(0),
        "thread_idx" => (0, most_threads - 1),
        "block_dim" => match threads {
            Some(threads) => return Elaborated::index(threads),
            None => (1, most_threads),
        },
        "block_idx" | "cluster_idx" => (0, most_blocks - 1),
        "block_in_cluster_idx" => (0, MOST_IN_CLUSTER - 1),
        "block_in_cluster_dim" => (1, MOST_IN_CLUSTER),
        _ => (1, most_blocks),
    };
    let value = cx.emit.call_row(&format!("{what}.{}", AXES[axis]), &[]);
    cx.emit.know(value, Facts { divisor: 1, min, max });
    Elaborated::Typed(value)
}

pub(super) fn single(cx: &mut Elaborator<'_>, given: &Given) -> Elaborated {
    let value = cx.emit.call_row(given.row.data, &[]);
    let (min, max) = match (given.row.data, cx.threads_of_block()) {
        ("warp_idx", Some(threads)) => (0, (threads.max(1) - 1) / i64::from(WARP_SIZE)),
        ("warp_idx", None) => (0, i64::from(MOST_WARPS) - 1),
        ("warpgroup_idx", threads) => {
            let threads = threads.unwrap_or(MOST_THREADS.into()).max(1);
            (0, (threads - 1) / i64::from(WARPGROUP_SIZE))
        }
        ("cluster_size", _) => (1, MOST_IN_CLUSTER),
        ("block_idx_in_cluster", _) => (0, MOST_IN_CLUSTER - 1),
        _ => (0, i64::from(WARP_SIZE) - 1),
    };
    cx.emit.know(value, Facts { divisor: 1, min, max });
    Elaborated::Typed(value)
}
