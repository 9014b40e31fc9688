// SPDX-License-Identifier: Apache-2.0
//! Calls of rows of the table: those that compute as their entries say, the others as they mean.

use super::Nvptx;
use super::rows::{self, How};
use super::warp::EVERYONE;
use crate::kernel::shared::{Lowering, values, words};
use crate::llvm::Ty;
use kernpack_kernel_ir::intrinsic::{DependentOp, Level, Meaning, Timer};
use kernpack_kernel_ir::kernel::Value;
use kernpack_kernel_ir::op::{Call, Operand};

/// The barrier of all threads of a block.
const FIRST_BARRIER: i64 = 0;

impl Lowering<'_, '_, Nvptx> {
    pub(super) fn lower_call(&mut self, result: Option<Value>, call: &Call) {
        let (row, values) = (call.intrinsic, values(call));
        match (row.meaning, result) {
            (Meaning::Pure(_) | Meaning::Approximate(_), Some(result)) => {
                self.lower_entry(result, row.name, &values);
            }
            (Meaning::Geometry(geometry), Some(result)) => self.lower_geometry(result, geometry),
            (Meaning::Warp(op), Some(result)) => self.lower_warp(result, op, &values),
            (Meaning::Matrix(op), result) => self.lower_matrix(result, op, call),
            (Meaning::Barrier, _) => self.lower_barrier(row.together),
            (Meaning::Named { waits }, _) => self.lower_named(call, waits),
            (Meaning::Interpreted, Some(result)) => {
                self.set_value(result, self.emitter.int(Ty::I1, 0));
            }
            (Meaning::Timer(timer), result) => self.lower_timer(result, timer),
            (Meaning::Fence, _) => self.lower_fence(&words(call)),
            (Meaning::Atomic(op), result) => self.lower_atomic(result, op, &values, &words(call)),
            (Meaning::Prefetch, _) => self.lower_prefetch(call),
            (Meaning::Copy(_), _) => self.lower_copy(call),
            (Meaning::Cluster(op), result) => self.lower_cluster(result, op, call),
            (Meaning::Bulk(op), _) => self.lower_bulk(op, call),
            (Meaning::Mbarrier(op), result) => self.lower_mbarrier(result, op, call),
            (Meaning::Dependent(op), _) => self.lower_dependent(op),
            (Meaning::Product(op), _) => self.lower_group_product(op, call),
            (Meaning::Registers { is_increase }, _) => self.lower_registers(is_increase, call),
            (Meaning::Expand(_), _) => unreachable!("`{}` is expanded", row.name),
            (
                Meaning::Pure(_)
                | Meaning::Approximate(_)
                | Meaning::Geometry(_)
                | Meaning::Warp(_)
                | Meaning::Interpreted,
                None,
            ) => unreachable!("`{}` gives a number", row.name),
        }
    }

    fn lower_entry(&mut self, result: Value, name: &str, values: &[Value]) {
        let entry = rows::find(name).unwrap_or_else(|| unreachable!("`{name}` has an entry"));
        match entry.how {
            How::Llvm(function) => self.lower_llvm(result, function, values),
            How::Ptx(text) => self.lower_ptx(Some(result), text, values, false),
        }
    }

    fn lower_named(&mut self, call: &Call, waits: bool) {
        let [Operand::Value(number), Operand::Constant(n_threads)] = call.operands[..] else {
            unreachable!("barriers are verified")
        };
        let how = if waits { "sync" } else { "arrive" };
        let operands = [self.full(number), self.emitter.int(Ty::I32, n_threads)];
        let name = format!("llvm.nvvm.barrier.cta.{how}.aligned.count");
        self.emitter.intrinsic(&name, &[], &operands);
    }

    fn lower_timer(&mut self, result: Option<Value>, timer: Timer) {
        let register = match timer {
            Timer::Cycles => "clock64",
            Timer::Nanoseconds => "globaltimer",
        };
        self.lower_ptx(result, &format!("mov.u64 {{0}}, %{register};"), &[], true);
    }

    pub(super) fn lower_barrier(&self, level: Level) {
        let (name, of) = match level {
            Level::Warp => ("llvm.nvvm.bar.warp.sync", EVERYONE),
            Level::Block => ("llvm.nvvm.barrier.cta.sync.aligned.all", FIRST_BARRIER),
            Level::Grid => return self.lower_grid_barrier(),
            Level::Thread | Level::Warpgroup | Level::Cluster => {
                unreachable!("no barrier is of a {level:?}")
            }
        };
        self.emitter.intrinsic(name, &[], &[self.emitter.int(Ty::I32, of)]);
    }

    fn lower_prefetch(&self, call: &Call) {
        let (&[address], &[cache]) = (&values(call)[..], &words(call)[..]) else {
            unreachable!("prefetches are verified")
        };
        self.emitter.prefetch(cache, self.kept(address));
    }

    fn lower_dependent(&self, op: DependentOp) {
        let name = match op {
            DependentOp::Wait => "llvm.nvvm.griddepcontrol.wait",
            DependentOp::LaunchDependents => "llvm.nvvm.griddepcontrol.launch.dependents",
        };
        self.emitter.intrinsic(name, &[], &[]);
    }
}
