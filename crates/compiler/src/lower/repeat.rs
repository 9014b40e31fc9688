// SPDX-License-Identifier: Apache-2.0
//! Lowers loops: the plan's own, and those of launches. What a turn hands on stays in registers;
//! what is found out inside a turn is forgotten behind it.

use super::function::FunctionBuilder;
use kernpack_codegen::llvm::{Operation, Predicate, Ty, V};
use kernpack_validators::plan::{MOST_TURNS, Repeat, Value};

impl<'c> FunctionBuilder<'_, 'c> {
    /// A loop whose first block decides whether there is another turn.
    pub(super) fn repeat(&mut self, repeat: &Repeat) {
        let e = self.e;
        let n_turns = self.n_turns(repeat.count);
        let firsts: Vec<_> = repeat.carried.iter().map(|it| self.value(it.first)).collect();
        let (head, body, behind, from) = (self.block(), self.block(), self.block(), e.here());
        e.jump(head);
        e.at(head);
        let turn = e.open_phi(e.int(Ty::I64, 0), from);
        let handed_on: Vec<_> = firsts.into_iter().map(|first| e.open_phi(first, from)).collect();
        e.branch(e.compare(Predicate::SLT, turn.value(), n_turns), body, behind, None);
        e.at(body);
        self.scoped(|function| {
            function.know(repeat.turn, turn.value());
            for (carried, phi) in repeat.carried.iter().zip(&handed_on) {
                function.know(carried.inner, phi.value());
            }
            function.steps(&repeat.steps);
            let nexts = repeat.carried.iter().map(|carried| function.value(carried.next));
            let nexts: Vec<_> = nexts.collect();
            let next_turn = e.arith(Operation::Add, turn.value(), e.int(Ty::I64, 1));
            let end = e.here();
            handed_on.iter().zip(nexts).for_each(|(phi, next)| phi.close(next, end));
            turn.close(next_turn, end);
        });
        e.jump(head);
        e.at(behind);
        for (carried, phi) in repeat.carried.iter().zip(&handed_on) {
            self.know(carried.outer, phi.value());
        }
    }

    /// Calls `body` to write a loop's turn, given its number, which counts up to `count`. Nothing
    /// that is found out in it is known behind it.
    pub(super) fn count_up(&mut self, count: V<'c>, body: impl FnOnce(V<'c>)) {
        let e = self.e;
        let (head, turn, behind, from) = (self.block(), self.block(), self.block(), e.here());
        e.jump(head);
        e.at(head);
        let number = e.open_phi(e.int(Ty::I64, 0), from);
        e.branch(e.compare(Predicate::SLT, number.value(), count), turn, behind, None);
        e.at(turn);
        body(number.value());
        number.close(e.arith(Operation::Add, number.value(), e.int(Ty::I64, 1)), e.here());
        e.jump(head);
        e.at(behind);
    }

    /// How many turns there are: 0 to 64.
    pub(super) fn n_turns(&mut self, count: Value) -> V<'c> {
        let e = self.e;
        let (count, most) = (self.value(count), e.int(Ty::I64, MOST_TURNS));
        let (few, none) = (e.compare(Predicate::SLT, count, most), e.int(Ty::I64, 0));
        let count = e.select(few, count, most);
        e.select(e.compare(Predicate::SLT, count, none), none, count)
    }
}
