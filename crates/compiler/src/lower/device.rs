// SPDX-License-Identifier: Apache-2.0
//! The call's device: the one that the arguments tell, or else the one whose context is current. It
//! is found out once, and what launches ask of it is asked of that one.

use super::function::FunctionBuilder;
use super::import::call_runtime;
use kernpack_codegen::llvm::{Operation, Predicate, Ty, V};
use kernpack_runtime::interface::functions::{CUDA_CURRENT, CUDA_DEVICE, CUDA_PEER};
use kernpack_runtime::interface::layout::device_facts;
use kernpack_validators::plan::{Device, DeviceFact, Expr};

// Plans read the facts as elements, and the runtime writes them as fields.
const _: () = {
    assert!(device_facts::SM_COUNT == 8 * DeviceFact::SmCount as u32);
    assert!(device_facts::SMEM_OPTIN == 8 * DeviceFact::SmemOptin as u32);
    assert!(device_facts::CC == 8 * DeviceFact::Cc as u32);
    assert!(device_facts::BYTES == 8 * DeviceFact::ALL.len() as u32);
};

impl<'c> FunctionBuilder<'_, 'c> {
    /// The number of the call's device.
    pub fn device_number(&mut self) -> V<'c> {
        if let Some(number) = self.device_number {
            return number;
        }
        let Device { index, is_told, .. } = self.plan.device;
        let number = match *self.plan.expr(is_told) {
            Expr::Bool(true) => self.value(index),
            Expr::Bool(false) => self.current_device(),
            _ => self.told_or_current_device(),
        };
        *self.device_number.insert(number)
    }

    fn told_or_current_device(&mut self) -> V<'c> {
        let e = self.e;
        let Device { index, is_told, .. } = self.plan.device;
        let (told, is_told) = (self.value(index), self.value(is_told));
        let (from, ask, behind) = (e.here(), self.block(), self.block());
        e.branch(is_told, behind, ask, Some(true));
        e.at(ask);
        let current = self.current_device();
        let asked = e.here();
        e.jump(behind);
        e.at(behind);
        e.phi(Ty::I64, &[(told, from), (current, asked)])
    }

    fn current_device(&mut self) -> V<'c> {
        let e = self.e;
        let at = e.stack(self.function, 8);
        let error = self.driver_error();
        let n_strings = call_runtime(e, CUDA_CURRENT, &[at, error]);
        self.leave_if_written(n_strings);
        e.sign_extend(e.load(Ty::I32, at))
    }

    /// Has the runtime see to it that kernels on the call's device reach those of its peers.
    pub(super) fn reach_peers(&mut self) {
        let e = self.e;
        for peer in &self.plan.peers {
            let (device, peer) = (self.device_number(), self.value(*peer));
            let is_own = e.compare(Predicate::EQ, peer, device);
            let is_none = e.compare(Predicate::SLT, peer, e.int(Ty::I64, 0));
            let is_reached = e.arith(Operation::Or, is_own, is_none);
            let (ask, behind) = (self.block(), self.block());
            e.branch(is_reached, behind, ask, Some(true));
            e.at(ask);
            let error = self.driver_error();
            let n_strings = call_runtime(e, CUDA_PEER, &[device, peer, error]);
            self.leave_if_written(n_strings);
            e.jump(behind);
            e.at(behind);
        }
    }

    /// Has the runtime write down what is known of the call's device.
    pub(super) fn ask_device(&mut self) {
        let e = self.e;
        let number = self.device_number();
        let facts = e.stack(self.function, device_facts::BYTES);
        let error = self.driver_error();
        let n_strings = call_runtime(e, CUDA_DEVICE, &[number, facts, error]);
        self.leave_if_written(n_strings);
        // Where an earlier check fails, there are none, and no message needs them.
        self.device = Some(facts);
    }
}
