// SPDX-License-Identifier: Apache-2.0
//! Raises errors, through the runtime. Each has a backtrace, in memory beside the error: one line,
//! as libtvm_ffi words those that it makes itself, which names the entry point.

use super::import::{declare, declare_runtime};
use kernpack_codegen::llvm::{Emitter, Function, Ty, V};
use kernpack_ffi_abi::FUNCTION_PREFIX;
use kernpack_ffi_abi::imports::ERROR_MOVE_FROM_RAISED;
use kernpack_runtime::interface::functions::{self, RAISE, RAISE_BEHIND};
use kernpack_runtime::interface::layout::error_parts;

/// Has the errors that are written there be those of a function's entry point.
pub fn write_backtrace<'c>(e: &Emitter<'c>, error: V<'c>, name: &str) {
    let line = format!("  File \"<unknown>\", line 0, in {FUNCTION_PREFIX}{name}\n\0");
    e.store_at(error, error_parts::BACKTRACE, e.bytes("", line.as_bytes(), 1));
}

/// Raises what the runtime has worded, and leaves the function.
pub fn raise<'c>(e: &Emitter<'c>, error: V<'c>, n_strings: V<'c>) {
    e.ret(call_cold(e, RAISE, &[error, n_strings]));
}

/// Raises the error that is set once more, behind the C string `what`.
pub fn raise_behind<'c>(e: &Emitter<'c>, function: Function<'c>, error: V<'c>, what: V<'c>) {
    let at = e.stack(function, 8);
    e.call(declare(e, ERROR_MOVE_FROM_RAISED), &[at]);
    call_cold(e, RAISE_BEHIND, &[error, what, e.load(Ty::Ptr, at)]);
}

fn call_cold<'c>(e: &Emitter<'c>, function: functions::Function, args: &[V<'c>]) -> V<'c> {
    let function = declare_runtime(e, function);
    e.mark_cold(function);
    e.call(function, args).expect("an int")
}
