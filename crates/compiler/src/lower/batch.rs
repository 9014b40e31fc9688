// SPDX-License-Identifier: Apache-2.0
//! Lowers batches: launches on a GPU that follow one another on one stream, with nothing between
//! them. What each passes is written to the stack, and the runtime submits them all at once.
//!
//! Only those that run are written: one behind the other, and counted as that is done.

use super::import::call_runtime;
use super::launch::Call;
use kernpack_codegen::llvm::{Operation, Predicate, Ty, V};
use kernpack_package::package::Submit;
use kernpack_runtime::interface::functions::CUDA_SUBMIT;
use kernpack_runtime::interface::layout::{self, batch, kernel_launch};
use kernpack_validators::LaunchFlag;
use kernpack_validators::plan::{self, Grid, Plan};
use std::ops::Range;

/// The most launches of a batch. All of them lie on the stack, and a graph of them is made within a
/// call.
const MAX_BATCH: usize = 64;

/// How launches on a GPU are submitted.
#[derive(Clone, Copy)]
pub struct Submission<'c> {
    /// The function's number.
    pub number: u32,
    /// The way of submitting that it wants.
    pub submit: Submit,
    /// The prepared call that it is for, or NULL.
    pub owner: V<'c>,
}

/// A batch in the making.
#[derive(Clone, Copy)]
pub struct Batch<'c> {
    space: V<'c>,
    has_several: bool,
}

/// The launches of a plan by batches; what runs on the host is by itself.
pub fn batches(plan: &Plan) -> Vec<Range<usize>> {
    let mut batches: Vec<Range<usize>> = Vec::new();
    for (number, launch) in plan.launches.iter().enumerate() {
        match batches.last_mut() {
            Some(batch) if follows(&plan.launches[batch.clone()], launch) => batch.end += 1,
            _ => batches.push(number..number + 1),
        }
    }
    batches
}

/// Whether all that an accepted call does is to submit one batch, on the environment's stream. What
/// a prepared call passes is the same each time then.
pub fn is_same_each_time(plan: &Plan) -> bool {
    let is_on_env_stream =
        |launch: &plan::Launch| launch.grid().is_some_and(|grid| grid.stream.is_none());
    plan.results.is_empty()
        && plan.workspaces.is_empty()
        && batches(plan).len() == 1
        && plan.launches.iter().all(is_on_env_stream)
}

/// Whether a launch belongs to the batch of those before it.
fn follows(before: &[plan::Launch], launch: &plan::Launch) -> bool {
    let [Some(first), Some(next)] = [before[0].grid(), launch.grid()] else { return false };
    let way = |grid: &Grid| (grid.stream, can_be_node(grid));
    before.len() < MAX_BATCH && way(first) == way(next)
}

/// Whether a node of a graph can do what a launch does. One has the priority of the stream, and is
/// cooperative where that is asked for. One begins when the one in front of it has ended, which is
/// right for a launch that may begin earlier, too.
fn can_be_node(grid: &Grid) -> bool {
    let is_node = |flag| match flag {
        LaunchFlag::Cooperative | LaunchFlag::Dependent => true,
    };
    grid.flags.iter().all(is_node) && grid.priority.is_none()
}

impl<'c> Call<'_, '_, 'c> {
    /// Begins a batch of launches, if they are on a GPU.
    pub fn begin_batch(&mut self, launches: &[plan::Launch]) {
        let Some(grid) = launches[0].grid() else { return };
        let stream = self.stream_of(grid);
        let e = self.e();
        let n = launches.len() as u32;
        let space = e.stack(self.function(), batch::BYTES + n * kernel_launch::BYTES);
        let submission = self.submission;
        let submit = match submission.submit {
            _ if !can_be_node(grid) => layout::Submit::LAUNCHES,
            Submit::Auto => layout::Submit::AUTO,
            Submit::Plain => layout::Submit::PLAIN,
            Submit::Graph => layout::Submit::GRAPH,
        };
        e.store_at(space, batch::OWNER, submission.owner);
        e.store_at(space, batch::STREAM, stream);
        e.store_at(space, batch::DEVICE, e.truncate(self.index, Ty::I32));
        e.store_at(space, batch::FUNCTION, e.int(Ty::I32, submission.number.into()));
        e.store_at(space, batch::SUBMIT, e.int(Ty::I32, submit.0.into()));
        e.store_at(space, batch::N_LAUNCHES, e.int(Ty::I32, 0));
        self.pending = Some(Batch { space, has_several: n > 1 });
    }

    /// Where the next launch of the batch is to be written. It counts from now on.
    pub fn next_launch(&self) -> V<'c> {
        let e = self.e();
        let Batch { space, has_several } = self.pending.expect("a launch on a GPU is in a batch");
        let (first, one) = (e.offset_by(space, batch::BYTES), e.int(Ty::I32, 1));
        let count_at = e.offset_by(space, batch::N_LAUNCHES);
        if !has_several {
            e.store(count_at, one);
            return first;
        }
        let count = e.load(Ty::I32, count_at);
        e.store(count_at, e.arith(Operation::Add, count, one));
        let bytes = e.int(Ty::I64, kernel_launch::BYTES.into());
        e.offset(first, e.arith(Operation::Mul, e.zero_extend(count), bytes))
    }

    /// Submits the batch, if there is one.
    pub fn submit_batch(&mut self) {
        if let Some(batch) = self.pending.take() {
            let n_strings = self.submit(batch);
            self.leave_with_error(n_strings);
        }
    }

    /// Where a launch cannot even be written, for which there is an error: submits those before it.
    /// How many strings of an error there are then: the first failure is the one that is told.
    pub fn submit_before(&mut self, n_strings: V<'c>) -> V<'c> {
        let e = self.e();
        match self.pending {
            Some(batch) if batch.has_several => {
                let before = self.submit(batch);
                let has_failed = e.compare(Predicate::NE, before, e.int(Ty::I32, 0));
                e.select(has_failed, before, n_strings)
            }
            _ => n_strings,
        }
    }

    fn submit(&mut self, batch: Batch<'c>) -> V<'c> {
        let error = self.error();
        call_runtime(self.e(), CUDA_SUBMIT, &[batch.space, error])
    }
}
