// SPDX-License-Identifier: Apache-2.0
//! Clusters: blocks that run side by side, wait for one another and reach one another's shared
//! memory. The launch says how many blocks are one, with `cluster=`.

use super::geometry::{row, single};
use super::given::row_alone;
use super::{Builtin, Given};
use crate::elaborate::Elaborator;
use crate::emit::Emission;
use crate::expr::memory_of;
use crate::python::tree::Name;
use crate::tensor::{Limit, Within};
use crate::value::{Base, Elaborated, Mbarrier, Memory, Tensor};
use kernpack_kernel_ir::op::{Operand, Rounding};
use kernpack_kernel_ir::{Scalar, Space, kernel};
use kernpack_syntax::Span;
use std::sync::Arc;

pub(super) const ROWS: &[Builtin] = &[
    row("cluster_idx", "The cluster within the grid: a tuple of x, y and z."),
    row("cluster_dim", "The clusters of the grid: a tuple of x, y and z."),
    row("block_in_cluster_idx", "The block within its cluster: a tuple of x, y and z."),
    row(
        "block_in_cluster_dim",
        "The blocks of a cluster: a tuple of x, y and z, 1 each where the launch says no `cluster=`.",
    ),
    Builtin {
        name: "block_idx_in_cluster",
        takes: &[],
        doc: "The block within its cluster, as one number. Blocks are counted in x first, then in \
              y, then in z.",
        data: "block_idx_in_cluster",
        run: single,
    },
    Builtin {
        name: "cluster_size",
        takes: &[],
        doc: "How many blocks a cluster has.",
        data: "cluster_size",
        run: single,
    },
    Builtin {
        name: "cluster_arrive",
        takes: &[],
        doc: "Arrives at the barrier of the cluster, and goes on. What was written before it is \
              seen by all threads of the cluster behind their `kp.cluster_wait`.",
        data: "release",
        run: arrive,
    },
    Builtin {
        name: "cluster_arrive_relaxed",
        takes: &[],
        doc: "As `kp.cluster_arrive`, and says nothing of what was written before.",
        data: "relaxed",
        run: arrive,
    },
    Builtin {
        name: "cluster_wait",
        takes: &[],
        doc: "Waits until every thread of the cluster that has not ended has arrived. Each warp \
              arrives once and waits once, in turns.",
        data: "cluster.wait",
        run: row_alone,
    },
    Builtin {
        name: "cluster_sync",
        takes: &[],
        doc: "Waits until every thread of the cluster is here: `kp.cluster_arrive()` and \
              `kp.cluster_wait()`.",
        data: "release",
        run: sync,
    },
    Builtin {
        name: "map_shared",
        takes: &["x", "rank"],
        doc: "The tensor that `x`, a shared one, is in another block of the cluster, the `rank`th. \
              It is read, written and changed atomically, with scope `\"cluster\"`, like `x`. The \
              other block has begun behind a barrier of the cluster, and must not end before all \
              is done: another one keeps it from that.",
        data: "",
        run: map,
    },
];

fn arrive(cx: &mut Elaborator<'_>, given: &Given) -> Elaborated {
    cx.emit.call_with("cluster.arrive", vec![Operand::Word(given.row.data)]);
    Elaborated::None
}

fn sync(cx: &mut Elaborator<'_>, given: &Given) -> Elaborated {
    arrive(cx, given);
    cx.emit.call_with("cluster.wait", vec![]);
    Elaborated::None
}

fn map(cx: &mut Elaborator<'_>, given: &Given) -> Elaborated {
    if let Elaborated::Mbarrier(barrier) = given.get("x") {
        return map_mbarrier(cx, given, &barrier.clone());
    }
    let Elaborated::Tensor(tensor) = given.get("x").clone() else {
        return cx.expected("a tensor", given, "x");
    };
    let memory = match memory_of(&tensor) {
        Some(memory) if memory.space == Space::Shared => memory.clone(),
        _ => return cx.expected("a shared tensor", given, "x"),
    };
    let Some(mapped) = map_address(cx, given, memory.pointer) else { return Elaborated::Poison };
    let base = Base::Memory(Memory { space: Space::Cluster, pointer: mapped.pointer, ..memory });
    let limits = tensor.limits.iter().cloned().chain(mapped.limit).collect();
    Elaborated::Tensor(Arc::new(Tensor { base, limits, ..Tensor::clone(&tensor) }))
}

/// An address in the memory of another block.
struct Mapped {
    pointer: kernel::Value,
    /// Where there is such a block.
    within: Within,
    /// The same, for accesses of a tensor; nothing where that is not checked.
    limit: Option<Limit>,
}

/// The address that one in this block's memory is in that of the block of the argument `rank`.
fn map_address(cx: &mut Elaborator<'_>, given: &Given, pointer: kernel::Value) -> Option<Mapped> {
    let rank = cx.index_arg(given, "rank")?;
    let (rank, within, limit) = checked_rank(&mut cx.emit, rank, given.span);
    let rank = cx.emit.convert(rank, Scalar::I32, Rounding::NearestEven);
    Some(Mapped { pointer: cx.emit.call_row("shared.map", &[pointer, rank]), within, limit })
}

/// A block of the cluster; in a checked build one that there is.
fn checked_rank(
    emit: &mut Emission,
    rank: kernel::Value,
    span: Span,
) -> (kernel::Value, Within, Option<Limit>) {
    let name = Name::from("cluster");
    let check = emit.check(&name);
    if check.is_none() {
        return (rank, Within::EVERYWHERE, None);
    }
    let size = emit.call_row("cluster_size", &[]);
    let size = emit.convert(size, Scalar::I64, Rounding::NearestEven);
    emit.b.in_bounds(rank, size, check);
    let within = emit.within(rank, size);
    let (at, extent) = (emit.leaf(rank), emit.leaf(size));
    let limit = Limit::Place { at, extent, claim: None, name, span };
    let first = emit.b.index(0);
    let there = within.condition().map_or(rank, |there| emit.select_typed(there, rank, first));
    (there, within, Some(limit))
}

fn map_mbarrier(cx: &mut Elaborator<'_>, given: &Given, barrier: &Mbarrier) -> Elaborated {
    if barrier.space != Space::Shared {
        return cx.expected("an mbarrier of this block", given, "x");
    }
    let Some(mapped) = map_address(cx, given, barrier.pointer) else { return Elaborated::Poison };
    let within = cx.emit.both(barrier.within, mapped.within);
    let (space, pointer) = (Space::Cluster, mapped.pointer);
    let mapped = Mbarrier { space, pointer, within, ..barrier.clone() };
    Elaborated::Mbarrier(Arc::new(mapped))
}
