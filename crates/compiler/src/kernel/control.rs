// SPDX-License-Identifier: Apache-2.0
//! Conditions and loops.

use super::Lowering;
use super::number::scalar_ty;
use crate::llvm::{Block, Operation, Predicate, V};
use kernpack_kernel_ir::kernel::Value;
use kernpack_kernel_ir::op::{Binary, Region};
use kernpack_kernel_ir::ranges::is_exact;
use kernpack_kernel_ir::types::{Scalar, Type};

/// A loop that is being written.
#[derive(Clone, Copy)]
pub(super) struct Loop<'c> {
    /// Where the next turn begins.
    pub next: Block<'c>,
    /// What comes behind the loop.
    pub exit: Block<'c>,
}

/// How a loop counts.
struct Count<'c> {
    /// The type that is counted in.
    scalar: Scalar,
    first: V<'c>,
    end: V<'c>,
    step: V<'c>,
    /// Whether no sum overflows.
    is_exact: bool,
    /// Whether the step is known to be above 0.
    is_upward: bool,
}

impl<'c> Lowering<'c, '_> {
    pub(super) fn lower_if(&mut self, condition: Value, then: &Region, otherwise: &Region) {
        let (yes, behind) = (self.block("then"), self.block("behind"));
        let no = if otherwise.0.is_empty() { behind } else { self.block("else") };
        self.emitter.branch(self.kept(condition), yes, no, None);
        self.emitter.at(yes);
        self.region(then);
        self.emitter.jump(behind);
        if !otherwise.0.is_empty() {
            self.emitter.at(no);
            self.region(otherwise);
            self.emitter.jump(behind);
        }
        self.emitter.at(behind);
    }

    pub(super) fn lower_while(&mut self, before: &Region, condition: Value, body: &Region) {
        let (head, turn, exit) = (self.block("head"), self.block("turn"), self.block("exit"));
        self.emitter.jump(head);
        self.emitter.at(head);
        self.loops.push(Loop { next: head, exit });
        self.region(before);
        self.emitter.branch(self.kept(condition), turn, exit, None);
        self.emitter.at(turn);
        self.region(body);
        self.emitter.jump(head);
        self.loops.pop();
        self.emitter.at(exit);
    }

    pub(super) fn lower_for(&mut self, index: Value, bounds: [Value; 3], body: &Region) {
        let count = self.count(index, bounds);
        let (head, turn) = (self.block("head"), self.block("turn"));
        let (next, exit) = (self.block("next"), self.block("exit"));
        let before = self.enter(&count, head, exit);
        self.emitter.at(head);
        let at = self.emitter.open_phi(count.first, before);
        let is_below = self.emitter.compare(less(count.scalar), at.value(), count.end);
        self.emitter.branch(is_below, turn, exit, None);
        self.emitter.at(turn);
        self.set_number(index, at.value(), count.scalar);
        self.loops.push(Loop { next, exit });
        self.region(body);
        self.loops.pop();
        self.emitter.jump(next);
        self.emitter.at(next);
        let (sum, from) = self.step(&count, at.value(), head, exit);
        at.close(sum, from);
        self.emitter.at(exit);
    }

    /// In how many bits a loop counts, and what is known of it.
    fn count(&self, index: Value, [first, end, step]: [Value; 3]) -> Count<'c> {
        let Type::Scalar(own) = self.kernel.ty(index) else {
            unreachable!("a loop counts with integers")
        };
        let of_index = self.ranges.value(index);
        let [of_end, of_step] = [0, 1].map(|place| self.ranges.operand(index, place));
        let is_32 = [of_index, of_end, of_step].iter().all(|range| range.fits(Scalar::I32));
        let is_wide = matches!(own, Scalar::I64 | Scalar::U64);
        let scalar = if is_wide && is_32 { Scalar::I32 } else { own };
        Count {
            scalar,
            first: self.cut(first, scalar),
            end: self.cut(end, scalar),
            step: self.cut(step, scalar),
            is_exact: of_step.min >= 1 && is_exact(Binary::Add, of_index, of_step, scalar),
            is_upward: of_step.min >= 1,
        }
    }

    /// Goes to the head of a loop, unless its step keeps it from running. Gives the block that
    /// does.
    fn enter(&self, count: &Count<'c>, head: Block<'c>, exit: Block<'c>) -> Block<'c> {
        let here = self.emitter.here();
        if count.is_upward {
            self.emitter.jump(head);
            return here;
        }
        let zero = self.emitter.int(scalar_ty(count.scalar), 0);
        let is_upward = self.emitter.compare(less(count.scalar), zero, count.step);
        self.emitter.branch(is_upward, head, exit, None);
        here
    }

    /// Goes to the next turn. Gives the index there, and the block that comes to it.
    fn step(
        &self,
        count: &Count<'c>,
        at: V<'c>,
        head: Block<'c>,
        exit: Block<'c>,
    ) -> (V<'c>, Block<'c>) {
        let here = self.emitter.here();
        if count.is_exact {
            let is_signed = count.scalar.is_signed();
            let sum = self.emitter.arith_exact(Operation::Add, is_signed, at, count.step);
            self.emitter.jump(head);
            return (sum, here);
        }
        // What is left is above 0, and is seen without a sign: the sum cannot overflow where it is
        // more than the step.
        let left = self.emitter.arith(Operation::Sub, count.end, at);
        let sum = self.emitter.arith(Operation::Add, at, count.step);
        let is_more = self.emitter.compare(Predicate::UGT, left, count.step);
        self.emitter.branch(is_more, head, exit, None);
        (sum, here)
    }

    /// Leaves the turn of the innermost loop.
    pub(super) fn leave(&mut self, to: impl Fn(&Loop<'c>) -> Block<'c>) {
        let Some(innermost) = self.loops.last() else {
            unreachable!("`break` and `continue` are in loops")
        };
        self.emitter.jump(to(innermost));
        self.go_on_unreached();
    }

    /// What follows in the region is never come to.
    pub(super) fn go_on_unreached(&mut self) {
        self.emitter.at(self.block("unreached"));
    }
}

/// What says that one number is less than another.
pub(super) const fn less(scalar: Scalar) -> Predicate {
    if scalar.is_signed() { Predicate::SLT } else { Predicate::ULT }
}
