// SPDX-License-Identifier: Apache-2.0
//! Conditions and loops.

use super::number::scalar_ty;
use super::{Lowering, Target};
use crate::llvm::{Block, Exact, Operation, Predicate, Ty, V};
use kernpack_kernel_ir::kernel::Value;
use kernpack_kernel_ir::op::{Binary, Region};
use kernpack_kernel_ir::ranges::is_exact;
use kernpack_kernel_ir::types::{Scalar, Type};

/// A loop that is being written.
#[derive(Clone, Copy)]
pub(super) struct Loop<'c> {
    /// Where the next turn begins.
    pub next: Block<'c>,
    /// The block behind the loop.
    pub exit: Block<'c>,
}

/// How a loop counts.
struct Count<'c> {
    /// The type that is counted in.
    scalar: Scalar,
    first: V<'c>,
    end: V<'c>,
    step: V<'c>,
    /// Whether the step is above 0 and no sum overflows.
    is_exact: bool,
}

impl<'c, T: Target> Lowering<'c, '_, T> {
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
        match count.is_exact {
            true => self.lower_exact_for(index, &count, body),
            false => self.lower_counted_for(index, &count, body),
        }
    }

    /// A loop in which no sum overflows: it ends where the index is not below the end.
    fn lower_exact_for(&mut self, index: Value, count: &Count<'c>, body: &Region) {
        let (head, turn) = (self.block("head"), self.block("turn"));
        let (next, exit) = (self.block("next"), self.block("exit"));
        let before = self.emitter.here();
        self.emitter.jump(head);
        self.emitter.at(head);
        let at = self.emitter.open_phi(count.first, before);
        let is_below = self.emitter.compare(less(count.scalar), at.value(), count.end);
        self.emitter.branch(is_below, turn, exit, None);
        self.emitter.at(turn);
        self.lower_turn(index, at.value(), count, Loop { next, exit }, body);
        let exact = if count.scalar.is_signed() { Exact::Signed } else { Exact::Unsigned };
        let here = self.emitter.here();
        let sum = self.emitter.sum(Operation::Add, exact, at.value(), count.step);
        self.emitter.jump(head);
        at.close(sum, here);
        self.emitter.at(exit);
    }

    /// A loop in which a sum may overflow: its turns are counted before it, and it ends behind the
    /// last. To compare the index would not do: ptxas takes it that a sum which is compared with a
    /// sign does not overflow, and such a loop never ends.
    fn lower_counted_for(&mut self, index: Value, count: &Count<'c>, body: &Region) {
        let (turn, next, exit) = (self.block("turn"), self.block("next"), self.block("exit"));
        let turns = self.turns(count, exit);
        let before = self.emitter.here();
        self.emitter.jump(turn);
        self.emitter.at(turn);
        let (at, left) =
            (self.emitter.open_phi(count.first, before), self.emitter.open_phi(turns, before));
        self.lower_turn(index, at.value(), count, Loop { next, exit }, body);
        let here = self.emitter.here();
        let sum = self.emitter.arith(Operation::Add, at.value(), count.step);
        let [zero, one] = [0, 1].map(|number| self.emitter.int(scalar_ty(count.scalar), number));
        let rest = self.emitter.arith(Operation::Sub, left.value(), one);
        let is_more = self.emitter.compare(Predicate::NE, rest, zero);
        self.emitter.branch(is_more, turn, exit, None);
        at.close(sum, here);
        left.close(rest, here);
        self.emitter.at(exit);
    }

    /// The body of a loop; what follows is where the next turn begins.
    fn lower_turn(
        &mut self,
        index: Value,
        at: V<'c>,
        count: &Count<'c>,
        own: Loop<'c>,
        body: &Region,
    ) {
        let next = own.next;
        self.set_number(index, at, count.scalar);
        self.loops.push(own);
        self.region(body);
        self.loops.pop();
        self.emitter.jump(next);
        self.emitter.at(next);
    }

    /// How many turns a loop has, where it has one; else it is left for `exit`.
    fn turns(&self, count: &Count<'c>, exit: Block<'c>) -> V<'c> {
        let (below, counted) = (self.block("below"), self.block("counted"));
        let [zero, one] = [0, 1].map(|number| self.emitter.int(scalar_ty(count.scalar), number));
        let is_upward = self.emitter.compare(less(count.scalar), zero, count.step);
        self.emitter.branch(is_upward, below, exit, None);
        self.emitter.at(below);
        let is_below = self.emitter.compare(less(count.scalar), count.first, count.end);
        self.emitter.branch(is_below, counted, exit, None);
        self.emitter.at(counted);
        // What is left is above 0, and is seen without a sign.
        let left = self.emitter.arith(Operation::Sub, count.end, count.first);
        let behind_first = self.emitter.arith(Operation::Sub, left, one);
        let more = self.emitter.arith(Operation::DivUnsigned, behind_first, count.step);
        self.emitter.arith(Operation::Add, more, one)
    }

    /// In how many bits a loop counts, and what is known of it.
    fn count(&self, index: Value, [first, end, step]: [Value; 3]) -> Count<'c> {
        let Type::Scalar(own) = self.kernel.ty(index) else {
            unreachable!("a loop counts with integers")
        };
        let of_index = self.ranges.value(index);
        let [of_end, of_step] = [0, 1].map(|place| self.ranges.operand(index, place));
        let is_32 = [of_index, of_end, of_step].iter().all(|range| Scalar::I32.holds(*range));
        let is_wide = matches!(own, Scalar::I64 | Scalar::U64);
        let scalar = if is_wide && is_32 { Scalar::I32 } else { own };
        // A first index of more bits is beyond the end: there is no turn.
        let is_beyond = scalar != own && !scalar.holds(self.ranges.value(first));
        let first = match is_beyond {
            true => {
                let least = self.extreme("min", own, self.full(first), self.full(end));
                self.emitter.resize(least, Ty::I32, true)
            }
            false => self.cut(first, scalar),
        };
        Count {
            scalar,
            first,
            end: self.cut(end, scalar),
            step: self.cut(step, scalar),
            is_exact: of_step.min >= 1 && is_exact(Binary::Add, of_index, of_step, scalar),
        }
    }

    /// Leaves the turn of the innermost loop.
    pub(super) fn leave(&mut self, to: impl Fn(&Loop<'c>) -> Block<'c>) {
        let Some(innermost) = self.loops.last() else {
            unreachable!("`break` and `continue` are in loops")
        };
        self.emitter.jump(to(innermost));
        self.go_on_unreached();
    }

    /// Goes on in a block that nothing reaches.
    pub(super) fn go_on_unreached(&mut self) {
        self.emitter.at(self.block("unreached"));
    }
}

/// The predicate that one number is less than another.
pub(super) const fn less(scalar: Scalar) -> Predicate {
    if scalar.is_signed() { Predicate::SLT } else { Predicate::ULT }
}
