// SPDX-License-Identifier: Apache-2.0
//! Clusters: their barrier, and addresses in the shared memory of their blocks.

use super::Nvptx;
use super::scalar::row;
use super::space::CLUSTER;
use crate::kernel::shared::{Lowering, values, words};
use crate::llvm::{Inline, Ty};
use kernpack_kernel_ir::intrinsic::ClusterOp;
use kernpack_kernel_ir::kernel::Value;
use kernpack_kernel_ir::op::Call;
use kernpack_kernel_ir::types::Scalar;

impl Lowering<'_, '_, Nvptx> {
    pub(super) fn lower_cluster(&mut self, result: Option<Value>, op: ClusterOp, call: &Call) {
        match (op, result, &values(call)[..]) {
            (ClusterOp::Arrive, _, _) => {
                let how = if words(call) == ["relaxed"] { "relaxed." } else { "" };
                let name = format!("llvm.nvvm.barrier.cluster.arrive.{how}aligned");
                self.emitter.intrinsic(&name, &[], &[]);
            }
            (ClusterOp::Wait, _, _) => {
                self.emitter.intrinsic("llvm.nvvm.barrier.cluster.wait.aligned", &[], &[]);
            }
            (ClusterOp::Map, Some(result), [pointer, rank]) => {
                self.map_shared(result, *pointer, *rank);
            }
            (ClusterOp::Map, ..) => unreachable!("addresses in clusters are verified"),
        }
    }

    /// LLVM takes its own function for one that keeps no address, and would take an array that
    /// other blocks alone write for one that nobody does.
    fn map_shared(&mut self, result: Value, pointer: Value, rank: Value) {
        let letter = row(Scalar::I32).letter;
        let inline = Inline {
            text: "mapa.shared::cluster.u64 $0, $1, $2;",
            constraints: &format!("=l,l,{letter}"),
            result: Some(Ty::PtrTo(CLUSTER)),
            has_effects: false,
        };
        let operands = [self.kept(pointer), self.full(rank)];
        let address = self.emitter.inline(&inline, &operands);
        let address = address.unwrap_or_else(|| unreachable!("the instruction has a result"));
        self.set_value(result, address);
    }
}
