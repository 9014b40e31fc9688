// SPDX-License-Identifier: Apache-2.0
//! Mbarriers. Only threads of its block wait for one. So an arrival at one of another block orders
//! what the cluster does. One at the block's own orders what the block does, and takes less time.

use super::Nvptx;
use super::needs::Needs;
use crate::kernel::shared::{Lowering, values};
use kernpack_kernel_ir::intrinsic::{ClusterOp, MbarrierOp, Meaning};
use kernpack_kernel_ir::kernel::{Kernel, Value};
use kernpack_kernel_ir::op::Call;
use kernpack_kernel_ir::types::{Space, Type};

/// Makes one.
const INIT: &str = "mbarrier.init.shared::cta.b64 [{0}], {1};";

/// Has other blocks and copies see those that were made, too, behind a barrier.
const FENCES: &str = " fence.mbarrier_init.release.cluster; fence.proxy.async;";

impl Lowering<'_, '_, Nvptx> {
    pub(super) fn lower_mbarrier(&mut self, result: Option<Value>, op: MbarrierOp, call: &Call) {
        let operands = values(call);
        let seen = if reaches_others(self.kernel) { "cluster" } else { "cta" };
        let (scope, space) = match operands.first().map(|pointer| self.kernel.ty(*pointer)) {
            Some(Type::Pointer(Space::Cluster)) => ("cluster", "shared::cluster"),
            _ => ("cta", "shared::cta"),
        };
        // With these came waits that do not spin.
        let has_clusters = self.target.arch.number >= Needs::SINCE_SM_90.sm;
        let wait = if has_clusters { "try_wait" } else { "test_wait" };
        let text = match op {
            MbarrierOp::Init if has_clusters && !self.makes_more => format!("{INIT}{FENCES}"),
            MbarrierOp::Init => INIT.to_string(),
            MbarrierOp::Arrive => {
                format!("mbarrier.arrive.release.{scope}.{space}.b64 _, [{{0}}];")
            }
            MbarrierOp::ArriveRelaxed => {
                format!("mbarrier.arrive.relaxed.{scope}.{space}.b64 _, [{{0}}];")
            }
            MbarrierOp::ArriveAfterCopies => {
                "cp.async.mbarrier.arrive.noinc.shared::cta.b64 [{0}];".to_string()
            }
            MbarrierOp::ExpectTx => {
                format!("mbarrier.expect_tx.relaxed.{scope}.{space}.b64 [{{0}}], {{1}};")
            }
            MbarrierOp::ArriveExpectTx => {
                format!("mbarrier.arrive.expect_tx.release.{scope}.{space}.b64 _, [{{0}}], {{1}};")
            }
            MbarrierOp::CompleteTx => {
                format!("mbarrier.complete_tx.relaxed.{scope}.{space}.b64 [{{0}}], {{1}};")
            }
            MbarrierOp::TryWait => format!(
                "{{ .reg .b32 parity; and.b32 parity, {{2}}, 1; \
                 mbarrier.{wait}.parity.acquire.{seen}.shared::cta.b64 {{0}}, [{{1}}], parity; }}"
            ),
            MbarrierOp::Wait => format!(
                "{{ .reg .b32 parity; .reg .pred complete; and.b32 parity, {{1}}, 1; WAIT: \
                 mbarrier.{wait}.parity.acquire.{seen}.shared::cta.b64 complete, [{{0}}], parity; \
                 @!complete bra WAIT; }}"
            ),
        };
        self.lower_ptx(result, &text, &operands, true);
    }
}

/// Whether a kernel reaches memory of other blocks: then others reach its own, too.
fn reaches_others(kernel: &Kernel) -> bool {
    let is_map = |call: &Call| matches!(call.intrinsic.meaning, Meaning::Cluster(ClusterOp::Map));
    kernel.body.any_call(is_map)
}
