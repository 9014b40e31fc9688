// SPDX-License-Identifier: Apache-2.0
//! Copies of many bytes, between global and shared memory and among the blocks of a cluster. An
//! address of the block's own memory is one of the cluster's, too.

use super::Nvptx;
use crate::kernel::shared::{Lowering, values, words};
use kernpack_kernel_ir::intrinsic::BulkOp;
use kernpack_kernel_ir::kernel::Value;
use kernpack_kernel_ir::op::{Call, Operand};
use kernpack_kernel_ir::types::{Space, Type};
use std::ops::Range;

impl Lowering<'_, '_, Nvptx> {
    pub(super) fn lower_bulk(&mut self, op: BulkOp, call: &Call) {
        let operands = values(call);
        let text = match op {
            BulkOp::Copy => self.copy_of(&operands),
            BulkOp::Store => {
                "cp.async.bulk.global.shared::cta.bulk_group [{0}], [{1}], {2};".to_string()
            }
            BulkOp::LoadBox => load_of_box(operands.len()),
            BulkOp::MulticastBox => multicast_of_box(operands.len()),
            BulkOp::StoreBox => store_of_box("cp.async.bulk.tensor", "", operands.len()),
            BulkOp::ReduceBox => {
                let reduction = format!(".{}", words(call).join("."));
                store_of_box("cp.reduce.async.bulk.tensor", &reduction, operands.len())
            }
            BulkOp::PrefetchBox => prefetch_of_box(operands.len()),
            BulkOp::Commit => "cp.async.bulk.commit_group;".to_string(),
            BulkOp::Wait => format!("cp.async.bulk.wait_group {};", n_left(call)),
            BulkOp::WaitRead => format!("cp.async.bulk.wait_group.read {};", n_left(call)),
            BulkOp::Fence => "fence.proxy.async;".to_string(),
            BulkOp::FenceShared => "fence.proxy.async.shared::cta;".to_string(),
        };
        self.lower_ptx(None, &text, &operands, true);
    }

    fn copy_of(&self, operands: &[Value]) -> String {
        let from = match operands.get(1).map(|from| self.kernel.ty(*from)) {
            Some(Type::Pointer(Space::Global)) => "global",
            _ => "shared::cta",
        };
        format!(
            "cp.async.bulk.shared::cluster.{from}.mbarrier::complete_tx::bytes [{{0}}], [{{1}}], {{2}}, [{{3}}];"
        )
    }
}

/// The load of a box, with so many operands: where to, the map, an mbarrier and coordinates.
fn load_of_box(n_operands: usize) -> String {
    let (rank, at) = coordinates(3..n_operands);
    let to = "shared::cluster.global.mbarrier::complete_tx::bytes";
    format!("cp.async.bulk.tensor.{rank}d.{to} [{{0}}], [{{1}}, {{{at}}}], [{{2}}];")
}

/// The load of a box into several blocks: where to, the map, an mbarrier, the blocks' mask and
/// coordinates.
fn multicast_of_box(n_operands: usize) -> String {
    let (rank, at) = coordinates(4..n_operands);
    let to = "shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster";
    format!("cp.async.bulk.tensor.{rank}d.{to} [{{0}}], [{{1}}, {{{at}}}], [{{2}}], {{3}};")
}

/// The store of a box, with so many operands: the map, where from, and coordinates.
fn store_of_box(instruction: &str, reduction: &str, n_operands: usize) -> String {
    let (rank, at) = coordinates(2..n_operands);
    let from = format!("global.shared::cta{reduction}");
    format!("{instruction}.{rank}d.{from}.bulk_group [{{0}}, {{{at}}}], [{{1}}];")
}

/// The prefetch of a box, with so many operands: the map and coordinates.
fn prefetch_of_box(n_operands: usize) -> String {
    let (rank, at) = coordinates(1..n_operands);
    format!("cp.async.bulk.prefetch.tensor.{rank}d.L2.global [{{0}}, {{{at}}}];")
}

/// How many coordinates there are, and their operands.
fn coordinates(operands: Range<usize>) -> (usize, String) {
    let at: Vec<_> = operands.clone().map(|operand| format!("{{{operand}}}")).collect();
    (operands.len(), at.join(", "))
}

/// How many groups a wait leaves in flight.
fn n_left(call: &Call) -> i64 {
    match call.operands[..] {
        [Operand::Constant(n_left)] => n_left,
        _ => unreachable!("copies are verified"),
    }
}
