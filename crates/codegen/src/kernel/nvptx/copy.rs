// SPDX-License-Identifier: Apache-2.0
//! Copies in flight, from global to shared memory. 16 bytes go past the cache of the
//! multiprocessor, which fewer cannot.

use super::Nvptx;
use crate::kernel::shared::Lowering;
use crate::llvm::Ty;
use kernpack_kernel_ir::kernel::Value;
use kernpack_kernel_ir::op::{Call, InFlight};

/// The bytes that can go past the cache.
const PAST_CACHE: u32 = 16;

impl Lowering<'_, '_, Nvptx> {
    pub(super) fn lower_copy(&mut self, call: &Call) {
        match call.in_flight() {
            Some(InFlight::Begin { to, from, bytes, given }) => {
                self.begin_copy([to, from], bytes, given);
            }
            Some(InFlight::Commit) => {
                self.emitter.intrinsic("llvm.nvvm.cp.async.commit.group", &[], &[]);
            }
            Some(InFlight::Wait(n_left)) => {
                let n_left = self.emitter.int(Ty::I32, n_left.into());
                self.emitter.intrinsic("llvm.nvvm.cp.async.wait.group", &[], &[n_left]);
            }
            None => unreachable!("copies are verified"),
        }
    }

    /// Of the bytes, as many are read as are given: the rest are zeros.
    fn begin_copy(&mut self, [to, from]: [Value; 2], bytes: u32, given: Value) {
        let cache = if bytes == PAST_CACHE { "cg" } else { "ca" };
        let name = format!("llvm.nvvm.cp.async.{cache}.shared.global.{bytes}");
        let [to, from] = [to, from].map(|pointer| self.kept(pointer));
        match self.kernel.constant(given) {
            Some(given) if given.as_bool() == Some(true) => {
                self.emitter.intrinsic(&name, &[], &[to, from]);
            }
            _ => {
                let [all, none] = [bytes, 0].map(|bytes| self.emitter.int(Ty::I32, bytes.into()));
                let given = self.emitter.select(self.kept(given), all, none);
                self.emitter.intrinsic(&format!("{name}.s"), &[], &[to, from, given]);
            }
        }
    }
}
