// SPDX-License-Identifier: Apache-2.0
//! Lowers a function that launches on a GPU as two local functions and what is built on them.
//!
//! | function | does |
//! |---|---|
//! | `kernpack_check_<name>(args, num_args, state, error)` | checks the arguments, and writes to the state what launches need of them |
//! | `kernpack_launch_<name>(state, owner, result, error)` | does what an accepted call does; `owner` is the prepared call that it is for, or NULL |
//! | `__tvm_ffi_<name>` | both, with a state on its stack |
//! | `__tvm_ffi_kernpack_prepare_<name>` | has the runtime make a function of a state that outlives the call |
//!
//! All return 0, or -1 where an error is raised. The memory for one is the caller's, who has
//! written to it which entry point it is. The state is an array of 64-bit values.

use super::batch::is_same_each_time;
use super::faults::Faults;
use super::function::FunctionBuilder;
use super::import::{call_runtime, declare_as, record};
use super::launch::{self, Launching};
use super::raise::write_backtrace;
use super::{Entry, SafeCall};
use kernpack_codegen::llvm::{Emitter, Function, Predicate, Ty, Word};
use kernpack_ffi_abi::FUNCTION_PREFIX;
use kernpack_runtime::interface::functions::{CHECK, CUDA_PREPARE, LAUNCH};
use kernpack_runtime::interface::layout::{error_parts, preparable};
use kernpack_validators::plan::{Expr, Plan, Type, Value};

/// Lowers a function and its pieces.
pub fn lower(e: &Emitter<'_>, entry: &Entry<'_>, faults: &mut Faults, with: Launching<'_>) {
    let state = State::of(entry.plan);
    let (check, launch) = pieces(e, &entry.plan.name);
    lower_check(e, check, entry.plan, &state, faults, with);
    lower_launch(e, launch, entry.plan, &state, faults, with);

    let function = SafeCall::define(e, &format!("{FUNCTION_PREFIX}{}", entry.plan.name));
    let error = e.stack(function, error_parts::BYTES);
    let memory = e.stack(function, state.bytes());
    let (args, n_args, result) = SafeCall::params(e, function);
    write_backtrace(e, error, &entry.plan.name);
    let checked = e.call(check, &[args, n_args, memory, error]).expect("an int");
    let (accepted, refused) = (e.block(function, ""), e.block(function, ""));
    let is_accepted = e.compare(Predicate::EQ, checked, e.int(Ty::I32, 0));
    e.branch(is_accepted, accepted, refused, Some(true));
    e.at(refused);
    e.ret(checked);
    e.at(accepted);
    e.ret(e.call(launch, &[memory, e.null(), result, error]).expect("an int"));
}

/// Lowers what prepares calls of the function that the plan is of.
pub fn lower_prepare(e: &Emitter<'_>, entry: &Entry<'_>) {
    let (check, launch) = pieces(e, &entry.plan.name);
    let symbol = format!("{FUNCTION_PREFIX}{}", entry.name);
    let function = SafeCall::define(e, &symbol);
    let name = e.bytes("", format!("{}\0", entry.name).as_bytes(), 1);
    let preparable = [
        (preparable::NAME, Word::Pointer(name)),
        (preparable::CHECK, Word::Pointer(e.address(check))),
        (preparable::LAUNCH, Word::Pointer(e.address(launch))),
        (preparable::STATE_BYTES, Word::Int(State::of(entry.plan).bytes().into())),
        (preparable::IS_SAME, Word::Int(is_same_each_time(entry.plan).into())),
    ];
    let preparable = e.words("", &record(preparable::BYTES, preparable));
    let error = e.stack(function, error_parts::BYTES);
    let (args, n_args, result) = SafeCall::params(e, function);
    write_backtrace(e, error, entry.name);
    e.ret(call_runtime(e, CUDA_PREPARE, &[preparable, args, n_args, result, error]));
}

/// The pieces of a function, declared.
fn pieces<'c>(e: &Emitter<'c>, name: &str) -> (Function<'c>, Function<'c>) {
    (
        declare_as(e, &format!("kernpack_check_{name}"), CHECK),
        declare_as(e, &format!("kernpack_launch_{name}"), LAUNCH),
    )
}

fn lower_check<'c>(
    e: &Emitter<'c>,
    function: Function<'c>,
    plan: &Plan,
    state: &State,
    faults: &mut Faults,
    with: Launching<'_>,
) {
    e.begin(function);
    let [args, n_args, memory, error] = [0, 1, 2, 3].map(|number| e.param(function, number));
    let mut builder = FunctionBuilder::new(e, plan, function, args, n_args).piece(error);
    builder.kernels_asked = with.kernels_asked(plan);
    builder.plan();
    for (slot, value) in state.slots() {
        let stored = builder.value(value);
        let stored = if is_bool(plan, value) { e.zero_extend(stored) } else { stored };
        e.store_at(memory, slot, stored);
    }
    if let Some(slot) = state.device_slot() {
        let number = builder.device_number();
        e.store_at(memory, slot, number);
    }
    e.ret(e.int(Ty::I32, 0));
    builder.finish(faults);
}

fn lower_launch<'c>(
    e: &Emitter<'c>,
    function: Function<'c>,
    plan: &Plan,
    state: &State,
    faults: &mut Faults,
    with: Launching<'_>,
) {
    e.begin(function);
    let [memory, owner, result, error] = [0, 1, 2, 3].map(|number| e.param(function, number));
    let mut builder =
        FunctionBuilder::new(e, plan, function, e.null(), e.int(Ty::I32, 0)).piece(error);
    for (slot, value) in state.slots() {
        let loaded = e.load(Ty::I64, e.offset_by(memory, slot));
        let is_bool = is_bool(plan, value);
        builder.know(value, if is_bool { e.truncate(loaded, Ty::I1) } else { loaded });
    }
    if let Some(slot) = state.device_slot() {
        builder.device_number = Some(e.load(Ty::I64, e.offset_by(memory, slot)));
    }
    builder.driver_error();
    launch::lower(&mut builder, faults, with, owner, result);
}

/// The values that launches need of the arguments.
struct State {
    values: Vec<Value>,
    /// Whether the number of the device is among it. A call keeps to the device that was asked,
    /// even if it is prepared and another one is current when it is made.
    keeps_device: bool,
}

impl State {
    /// Every value that follows the checks, once; constants need no place.
    fn of(plan: &Plan) -> State {
        let mut values = Vec::new();
        plan.for_each_effect_value(&mut |value| {
            let is_constant = matches!(plan.expr(value), Expr::Int(_) | Expr::Bool(_));
            if !is_constant && !values.contains(&value) {
                values.push(value);
            }
        });
        State { values, keeps_device: plan.asks_device() && !plan.tells_device() }
    }

    /// Each value with its place, in bytes.
    fn slots(&self) -> impl Iterator<Item = (u32, Value)> {
        (0..).step_by(8).zip(self.values.iter().copied())
    }

    /// The place of the device's number, in bytes.
    fn device_slot(&self) -> Option<u32> {
        self.keeps_device.then(|| 8 * self.values.len() as u32)
    }

    fn bytes(&self) -> u32 {
        8 * (self.values.len() as u32 + u32::from(self.keeps_device))
    }
}

fn is_bool(plan: &Plan, value: Value) -> bool {
    plan.type_of(value) == Type::Bool
}
