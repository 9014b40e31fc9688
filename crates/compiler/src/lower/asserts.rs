// SPDX-License-Identifier: Apache-2.0
//! Calls of packages whose kernels assert something: each looks whether one has failed on its
//! device, and raises that before it launches anything; else it has where the next failure is
//! written down. And the function that waits for devices, and raises it then.

use super::SafeCall;
use super::faults::Faults;
use super::function::FunctionBuilder;
use super::import::{call_runtime, declare_runtime};
use super::launch::Call;
use kernpack_codegen::llvm::{Emitter, Ty, V};
use kernpack_ffi_abi::FUNCTION_PREFIX;
use kernpack_runtime::interface::functions::{CUDA_ASSERTS, CUDA_SYNCHRONIZE, PUSH_FLOAT};
use kernpack_validators::plan::{Launch, Plan};

/// Lowers the function that waits for the devices on which the package has launched kernels, and
/// raises the failure of one of them.
pub fn lower_synchronize(e: &Emitter<'_>, plan: &Plan, faults: &mut Faults) {
    let function = SafeCall::define(e, &format!("{FUNCTION_PREFIX}{}", plan.name));
    let (args, n_args, _) = SafeCall::params(e, function);
    let mut builder = FunctionBuilder::new(e, plan, function, args, n_args);
    builder.plan();
    builder.driver_error();
    let error = builder.error_to_raise();
    e.ret(call_runtime(e, CUDA_SYNCHRONIZE, &[push_float(e), error]));
    builder.finish(faults);
}

fn push_float<'c>(e: &Emitter<'c>) -> V<'c> {
    e.address(declare_runtime(e, PUSH_FLOAT))
}

/// Finds where kernels on a device write down that an assertion has failed; leaves the function
/// where one has.
pub(super) fn find_record<'c>(builder: &mut FunctionBuilder<'_, 'c>, device: V<'c>) -> V<'c> {
    let e = builder.e;
    let record = e.stack(builder.function, 8);
    let error = builder.error_to_raise();
    let raised = call_runtime(e, CUDA_ASSERTS, &[device, record, push_float(e), error]);
    let fine = builder.at_failure(raised);
    e.ret(raised);
    e.at(fine);
    e.load(Ty::Ptr, record)
}

impl<'c> Call<'_, '_, 'c> {
    /// Leaves the call where an assertion has failed on its device, if its kernels may do that.
    pub(super) fn look_for_failure(&mut self) {
        if !self.builder.plan.launches.iter().any(Launch::asserts) {
            return;
        }
        self.assert_record = Some(find_record(self.builder, self.index));
    }

    /// Where the kernels of this call write down that an assertion has failed.
    pub(super) fn assert_record(&self) -> V<'c> {
        self.assert_record.expect("a call that passes the record has looked at it")
    }
}
