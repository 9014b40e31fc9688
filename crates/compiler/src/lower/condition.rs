// SPDX-License-Identifier: Apache-2.0
//! Lowers conditions to branches: a connective is a branch for each of its operands, unless one
//! comparison decides it.

use super::function::{FunctionBuilder, Mark};
use kernpack_codegen::llvm::Block;
use kernpack_validators::plan::{Expr, Value};

/// In which of a branch's two blocks writing goes on.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Continue {
    Yes,
    No,
}

impl<'c> FunctionBuilder<'_, 'c> {
    /// Goes to `yes` or `no`. Writing goes on in one of them: there, what both operands of a
    /// connective evaluated stays known where both lie on the way. Returns the mark of the first
    /// branch: what was known by then is known everywhere.
    pub(super) fn branch_to(
        &mut self,
        cond: Value,
        yes: Block<'c>,
        no: Block<'c>,
        go_on: Continue,
        likely: Option<bool>,
    ) -> Mark {
        let e = self.e;
        match *self.plan.expr(cond) {
            _ if self.known.has(cond) || self.membership(cond).is_some() => {}
            Expr::Not(inner) => {
                let likely = likely.map(|likely| !likely);
                let mark = self.branch_to(inner, no, yes, Continue::Yes, likely);
                self.forget(mark);
                return mark;
            }
            Expr::And(a, b) | Expr::Or(a, b) => {
                let second = self.block();
                let (yes_first, no_first, both) = match *self.plan.expr(cond) {
                    Expr::And(..) => (second, no, Continue::Yes),
                    _ => (yes, second, Continue::No),
                };
                let mark = self.branch_to(a, yes_first, no_first, both, likely);
                e.at(second);
                if likely == Some(both == Continue::No) {
                    self.scoped(|builder| builder.branch_seldom(b, yes, no));
                } else {
                    self.branch_to(b, yes, no, go_on, likely);
                }
                if go_on != both {
                    self.forget(mark);
                }
                return mark;
            }
            _ => {}
        }
        let cond = self.value(cond);
        e.branch(cond, yes, no, likely);
        self.mark()
    }

    /// Goes to `yes` or `no` on a way that is seldom gone: a block for each operand is not worth
    /// its while there.
    pub(super) fn branch_seldom(&mut self, cond: Value, yes: Block<'c>, no: Block<'c>) {
        // This much is evaluated in any case.
        let mut first = cond;
        while let Expr::And(a, _) | Expr::Or(a, _) = *self.plan.expr(first) {
            first = a;
        }
        self.value(first);
        if self.reads_nothing_new(cond) {
            let cond = self.value(cond);
            self.e.branch_whole(cond, yes, no);
        } else {
            self.branch_to(cond, yes, no, Continue::Yes, Some(true));
        }
    }

    /// Goes to `yes` where one of the condition's alternatives before `excuse` holds, else to `no`.
    pub(super) fn branch_without(
        &mut self,
        excuse: Value,
        cond: Value,
        yes: Block<'c>,
        no: Block<'c>,
    ) {
        let Expr::Or(first, rest) = *self.plan.expr(cond) else {
            unreachable!("the condition ends with the excuse")
        };
        if rest == excuse {
            self.branch_to(first, yes, no, Continue::Yes, Some(true));
            return;
        }
        let second = self.block();
        let mark = self.branch_to(first, yes, second, Continue::Yes, Some(true));
        self.forget(mark);
        self.scoped(|builder| {
            builder.e.at(second);
            builder.branch_without(excuse, rest, yes, no);
        });
    }
}
