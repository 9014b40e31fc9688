// SPDX-License-Identifier: Apache-2.0
//! The barrier of the grid, as CUDA's cooperative groups have it (`cooperative_groups/details` of
//! the toolkit): blocks count their arrivals in a word that the driver brings with each cooperative
//! launch, in graphs and on every stream. Its address is in two special registers.
//!
//! The first block adds what is left to 2^31 when all others have added 1, so that each barrier
//! turns the sign of the word and leaves the rest as it was: 0 is not needed to begin with.

use super::Nvptx;
use crate::kernel::shared::Lowering;
use crate::llvm::Inline;
use kernpack_kernel_ir::intrinsic::Level;

/// The first thread of a block arrives, and waits until the sign is another one.
const ARRIVE_AND_WAIT: &str =
    "{ .reg .pred skips; .reg .b32 low, high, n, all, before, now; .reg .b64 at;
mov.u32 low, %tid.x; mov.u32 n, %tid.y; or.b32 low, low, n; mov.u32 n, %tid.z; or.b32 low, low, n;
setp.ne.u32 skips, low, 0; @skips bra MET;
mov.u32 all, %nctaid.x; mov.u32 n, %nctaid.y; mul.lo.u32 all, all, n; mov.u32 n, %nctaid.z;
mul.lo.u32 all, all, n; sub.u32 all, 0x80000001, all;
mov.u32 low, %ctaid.x; mov.u32 n, %ctaid.y; or.b32 low, low, n; mov.u32 n, %ctaid.z;
or.b32 low, low, n; setp.ne.u32 skips, low, 0; selp.b32 n, 1, all, skips;
mov.u32 high, %envreg1; mov.u32 low, %envreg2; mov.b64 at, {low, high};
atom.add.release.gpu.u32 before, [at+4], n;
WAIT: ld.acquire.gpu.u32 now, [at+4]; xor.b32 now, now, before;
setp.ge.s32 skips, now, 0; @skips bra WAIT;
MET: }";

impl Lowering<'_, '_, Nvptx> {
    pub(super) fn lower_grid_barrier(&self) {
        let inline = Inline {
            text: ARRIVE_AND_WAIT,
            constraints: "~{memory}",
            result: None,
            has_effects: true,
        };
        self.lower_barrier(Level::Block);
        self.emitter.inline(&inline, &[]);
        self.lower_barrier(Level::Block);
    }
}
