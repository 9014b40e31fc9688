// SPDX-License-Identifier: Apache-2.0
//! A function that is being built: what it is made of, what is known so far, and how it is left.

use super::faults::Faults;
use super::raise::{raise, write_backtrace};
use super::steps::needed;
use super::value::Known;
use kernpack_codegen::llvm::{Block, Emitter, Function, Predicate, Ty, V};
use kernpack_runtime::interface::layout::error_parts;
use kernpack_validators::plan::{Plan, Value};

/// A function in the making.
pub struct FunctionBuilder<'f, 'c> {
    /// The emitter.
    pub e: &'f Emitter<'c>,
    /// The plan that is lowered.
    pub plan: &'f Plan,
    /// The function.
    pub function: Function<'c>,
    pub(super) args: V<'c>,
    pub(super) n_args: V<'c>,
    /// The values that code needs, and not only messages.
    pub(super) needed: Vec<bool>,
    /// The values that have been emitted and may be used again.
    pub(super) known: Known<'c>,
    /// Values that checks have found not to be negative.
    pub(super) not_negative: Vec<Value>,
    /// The blocks that failed checks go to, with the step that each begins at. The last is where
    /// they go now.
    pub(super) refused: Vec<(Block<'c>, u32)>,
    error: Option<V<'c>>,
    /// Where the facts of the device are.
    pub(super) device: Option<V<'c>>,
    /// The number of the call's device, once it has been found out.
    pub(super) device_number: Option<V<'c>>,
    /// The launches that steps ask about, each with the numbers of its kernels: one, or one for
    /// each combination of dtypes that it has some for.
    pub(super) kernels_asked: Vec<(usize, Vec<usize>)>,
    /// Whether its caller has memory for an error, which has the caller's backtrace.
    is_piece: bool,
}

/// A point to go back to.
#[derive(Clone, Copy)]
pub struct Mark {
    known: usize,
    not_negative: usize,
}

impl<'f, 'c> FunctionBuilder<'f, 'c> {
    /// A function whose arguments are these.
    pub fn new(
        e: &'f Emitter<'c>,
        plan: &'f Plan,
        function: Function<'c>,
        args: V<'c>,
        n_args: V<'c>,
    ) -> FunctionBuilder<'f, 'c> {
        FunctionBuilder {
            e,
            plan,
            function,
            args,
            n_args: e.sign_extend(n_args),
            needed: needed(plan),
            known: Known::new(plan),
            not_negative: vec![],
            refused: vec![],
            error: None,
            device: None,
            device_number: None,
            kernels_asked: vec![],
            is_piece: false,
        }
    }

    /// Makes it a piece of a function: its caller has memory for an error, and has written the
    /// backtrace there.
    pub fn piece(mut self, error: V<'c>) -> FunctionBuilder<'f, 'c> {
        (self.error, self.is_piece) = (Some(error), true);
        self
    }

    /// Forgets what `body` emits: it does not dominate what follows.
    pub fn scoped<T>(&mut self, body: impl FnOnce(&mut Self) -> T) -> T {
        let mark = self.mark();
        let result = body(self);
        self.forget(mark);
        result
    }

    /// A point to go back to.
    pub fn mark(&self) -> Mark {
        Mark { known: self.known.len(), not_negative: self.not_negative.len() }
    }

    /// Forgets what was found out behind a mark.
    pub fn forget(&mut self, mark: Mark) {
        self.known.truncate(mark.known);
        self.not_negative.truncate(mark.not_negative);
    }

    /// Memory for an error.
    pub fn error(&mut self) -> V<'c> {
        *self.error.get_or_insert_with(|| self.e.stack(self.function, error_parts::BYTES))
    }

    /// Memory for an error of the driver, which is worded without the plan: with the call in it.
    pub fn driver_error(&mut self) -> V<'c> {
        let error = self.error();
        let call = format!(" when calling: `{}`\0", self.plan.signature);
        self.e.store_at(error, error_parts::CALL, self.e.bytes("", call.as_bytes(), 1));
        error
    }

    /// Memory for an error that is about to be raised, with the backtrace in it.
    pub(super) fn error_to_raise(&mut self) -> V<'c> {
        let error = self.error();
        if !self.is_piece {
            write_backtrace(self.e, error, &self.plan.name);
        }
        error
    }

    /// Takes a value as it has been found before.
    pub fn know(&mut self, value: Value, found: V<'c>) {
        self.known.insert_value(value, found);
    }

    /// Leaves the function where the runtime has written an error: where that has any strings.
    pub fn leave_if_written(&mut self, n_strings: V<'c>) {
        let ok = self.at_failure(n_strings);
        self.leave(n_strings);
        self.e.at(ok);
    }

    /// Goes on where an `int` is not 0: up to where that leaves the function. The block is where
    /// the rest goes on.
    pub(super) fn at_failure(&self, status: V<'c>) -> Block<'c> {
        let e = self.e;
        let (ok, failed) = (self.block(), self.block());
        let fine = e.compare(Predicate::EQ, status, e.int(Ty::I32, 0));
        e.branch(fine, ok, failed, Some(true));
        e.at(failed);
        ok
    }

    /// Leaves the function with the error that has been written, which has that many strings.
    pub fn leave(&mut self, n_strings: V<'c>) {
        let error = self.error_to_raise();
        raise(self.e, error, n_strings);
    }

    pub(super) fn block(&self) -> Block<'c> {
        self.e.block(self.function, "")
    }

    pub(super) fn refused(&self) -> Block<'c> {
        self.refused[self.refused.len() - 1].0
    }

    /// Writes the blocks that failed checks go to.
    pub fn finish(mut self, faults: &mut Faults) {
        let e = self.e;
        // In memory: the copies that a phi needs would end up among the checks.
        let first_step_at = e.stack(self.function, 8);
        let refuse = self.block();
        for &(refused, first_step) in &self.refused {
            e.at(refused);
            e.store(first_step_at, e.int(Ty::I32, first_step.into()));
            e.jump(refuse);
        }
        e.at(refuse);
        let first_step = e.load(Ty::I32, first_step_at);
        let program = e.int(Ty::I32, faults.add_program(self.plan).into());
        let n_args = e.truncate(self.n_args, Ty::I32);
        let device = self.device.unwrap_or_else(|| e.null());
        let call = [program, first_step, self.args, n_args, device];
        let n_strings = Faults::word_refused(e, self.plan, self.error(), call);
        self.leave(n_strings);
    }
}
