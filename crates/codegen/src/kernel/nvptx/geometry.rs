// SPDX-License-Identifier: Apache-2.0
//! Where in the grid a thread is: special registers, of 32 bits each.

use super::Nvptx;
use crate::kernel::shared::Lowering;
use crate::llvm::{Exact, Operation, Ty, V};
use kernpack_kernel_ir::intrinsic::Geometry;
use kernpack_kernel_ir::kernel::Value;
use kernpack_kernel_ir::types::Scalar;
use kernpack_machine::block::{WARP_SIZE, WARPGROUP_SIZE};

/// The axes, as registers are called.
const AXES: [&str; 3] = ["x", "y", "z"];

impl<'c> Lowering<'c, '_, Nvptx> {
    pub(super) fn lower_geometry(&mut self, result: Value, geometry: Geometry) {
        let register = |name: &str, axis: usize| self.register(&format!("{name}.{}", AXES[axis]));
        let value = match geometry {
            Geometry::ThreadIdx(axis) => self.thread(axis),
            Geometry::BlockIdx(axis) => self.block_idx(axis),
            Geometry::BlockDim(axis) => self.threads(axis),
            Geometry::GridDim(axis) => register("nctaid", axis),
            Geometry::BlockInCluster(axis) => register("cluster.ctaid", axis),
            Geometry::BlockInClusterDim(axis) => register("cluster.nctaid", axis),
            Geometry::ClusterIdx(axis) => register("clusterid", axis),
            Geometry::ClusterDim(axis) => register("nclusterid", axis),
            Geometry::ClusterRank => self.register("cluster.ctarank"),
            Geometry::ClusterSize => self.register("cluster.nctarank"),
            Geometry::Lane => self.lane_idx(),
            Geometry::Warp => self.group_of(WARP_SIZE),
            Geometry::Warpgroup => self.group_of(WARPGROUP_SIZE),
        };
        // A register is below 2^31.
        self.set_number(result, value, Scalar::U32);
    }

    /// Which of the groups of so many threads it is, a power of two, that the thread is in.
    fn group_of(&self, size: u32) -> V<'c> {
        let bits = self.emitter.int(Ty::I32, size.ilog2().into());
        self.emitter.arith(Operation::ShiftRightZeros, self.linear(), bits)
    }

    fn register(&self, name: &str) -> V<'c> {
        self.plain_intrinsic(&format!("llvm.nvvm.read.ptx.sreg.{name}"), &[])
    }

    pub(super) fn block_idx(&self, axis: usize) -> V<'c> {
        self.register(&format!("ctaid.{}", AXES[axis]))
    }

    pub(super) fn thread(&self, axis: usize) -> V<'c> {
        match self.kernel.block[axis] {
            Some(1) => self.emitter.int(Ty::I32, 0),
            _ => self.register(&format!("tid.{}", AXES[axis])),
        }
    }

    fn threads(&self, axis: usize) -> V<'c> {
        match self.kernel.block[axis] {
            Some(known) => self.emitter.int(Ty::I32, known.into()),
            None => self.register(&format!("ntid.{}", AXES[axis])),
        }
    }

    /// The thread's number in its block.
    fn linear(&self) -> V<'c> {
        let emitter = self.emitter;
        let of = |major, extent, minor| {
            let scaled = emitter.sum(Operation::Mul, Exact::Both, major, extent);
            emitter.sum(Operation::Add, Exact::Both, scaled, minor)
        };
        let [_, y, z] = self.kernel.block;
        match (y, z) {
            (Some(1), Some(1)) => self.thread(0),
            (_, Some(1)) => of(self.thread(1), self.threads(0), self.thread(0)),
            _ => {
                let plane = of(self.thread(2), self.threads(1), self.thread(1));
                of(plane, self.threads(0), self.thread(0))
            }
        }
    }

    /// Of a row of threads, the lower bits of their number; there is also a register.
    fn lane_idx(&self) -> V<'c> {
        match self.kernel.block {
            [_, Some(1), Some(1)] => {
                let mask = self.emitter.int(Ty::I32, i64::from(WARP_SIZE) - 1);
                self.emitter.arith(Operation::And, self.thread(0), mask)
            }
            _ => self.register("laneid"),
        }
    }
}
