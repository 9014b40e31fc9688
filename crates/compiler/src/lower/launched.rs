// SPDX-License-Identifier: Apache-2.0
//! The numbers of the functions that launch on a GPU, and the functions that return, of one of
//! them, how its launches were submitted.

use super::faults::Faults;
use super::function::FunctionBuilder;
use super::import::call_runtime;
use super::{Entry, SafeCall};
use kernpack_codegen::llvm::{Emitter, Ty};
use kernpack_ffi_abi::FUNCTION_PREFIX;
use kernpack_package::package::Role;
use kernpack_runtime::interface::functions::CUDA_LAUNCHED;
use kernpack_validators::Plan;
use std::collections::HashMap;

/// The functions that launch on a GPU, numbered from 0 in the order of the entry points: under
/// these numbers the runtime keeps what it knows of them.
pub struct Numbers<'p>(HashMap<&'p str, u32>);

impl<'p> Numbers<'p> {
    /// Numbers those among these.
    pub fn of(entries: &[Entry<'p>]) -> Numbers<'p> {
        let calls = entries.iter().filter(|entry| *entry.role == Role::Call);
        let on_gpu = calls.filter(|entry| launches_on_gpu(entry.plan));
        Numbers(on_gpu.map(|entry| &entry.plan.name[..]).zip(0..).collect())
    }

    /// The number of a function, where it launches on a GPU.
    pub fn of_function(&self, name: &str) -> Option<u32> {
        self.0.get(name).copied()
    }

    /// How many there are.
    pub fn n_functions(&self) -> u32 {
        self.0.len() as u32
    }
}

/// Whether a call of a plan's function launches on a GPU.
pub(super) fn launches_on_gpu(plan: &Plan) -> bool {
    plan.launches.iter().any(|launch| launch.grid().is_some())
}

/// Lowers the function of that plan, which takes nothing and returns how the launches of the
/// function of that number were submitted.
pub fn lower(e: &Emitter<'_>, plan: &Plan, faults: &mut Faults, number: u32) {
    let function = SafeCall::define(e, &format!("{FUNCTION_PREFIX}{}", plan.name));
    let (args, n_args, result) = SafeCall::params(e, function);
    let mut builder = FunctionBuilder::new(e, plan, function, args, n_args);
    builder.plan();
    let number = e.int(Ty::I32, number.into());
    e.ret(call_runtime(e, CUDA_LAUNCHED, &[number, result]));
    builder.finish(faults);
}
