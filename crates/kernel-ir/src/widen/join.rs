// SPDX-License-Identifier: Apache-2.0
//! Makes one `if` of several whose conditions hold alike. What stands between two goes before the
//! first where the second needs it, and else behind.

use super::condition::{Condition, Conditions};
use super::effect::{Effects, Memory};
use crate::kernel::{Kernel, Value};
use crate::op::{Expr, Op, OpKind, Region};
use crate::ranges::Ranges;
use rustc_hash::FxHashSet;

/// How many become one: as many as the widest access has elements of a byte, twice, as an element
/// may be read and written. More would keep more values at once than a thread has registers for.
const MOST_JOINED: usize = 32;
/// The most operations between two.
const MOST_BETWEEN: usize = 512;

/// Joins what can be joined in a kernel. Gives whether there was such.
pub(super) fn join(kernel: &mut Kernel, ranges: &Ranges) -> bool {
    if !has_pair(&kernel.body) {
        return false;
    }
    let (conditions, memory) = (Conditions::of(kernel, ranges), Memory::of(kernel));
    let mut joiner = Joiner { conditions, memory, has_joined: false };
    joiner.region(&mut kernel.body);
    joiner.has_joined
}

/// Whether there are two in a region.
fn has_pair(region: &Region) -> bool {
    let is_if = |op: &&Op| matches!(op.kind, OpKind::If { .. });
    let mut inner = region.0.iter().flat_map(|op| op.kind.regions());
    region.0.iter().filter(is_if).nth(1).is_some() || inner.any(has_pair)
}

struct Joiner<'r> {
    conditions: Conditions<'r>,
    memory: Memory,
    has_joined: bool,
}

/// An `if` that others may join.
struct Last {
    /// Its place among the operations.
    place: usize,
    condition: Condition,
    effects: Effects,
    n_joined: usize,
}

impl Joiner<'_> {
    fn region(&mut self, region: &mut Region) {
        let mut last: Option<Last> = None;
        let mut ops: Vec<Op> = Vec::with_capacity(region.0.len());
        for op in region.0.drain(..) {
            let OpKind::If { condition, .. } = op.kind else {
                ops.push(op);
                continue;
            };
            let (condition, effects) =
                (self.conditions.condition(condition), self.memory.effects(&op));
            let is_alike =
                |last: &&mut Last| last.condition == condition && last.n_joined < MOST_JOINED;
            let before = last.as_mut().filter(is_alike).and_then(|last| {
                let is_before = self.needed(&op, &effects, &ops[last.place..], last)?;
                Some((last, is_before))
            });
            match before {
                Some((last, is_before)) => {
                    last.place = insert(op, &mut ops, last.place, &is_before);
                    last.effects.add(effects);
                    last.n_joined += 1;
                    self.has_joined = true;
                }
                None => {
                    last = Some(Last { place: ops.len(), condition, effects, n_joined: 1 });
                    ops.push(op);
                }
            }
        }
        region.0 = ops;
        let inner = region.0.iter_mut().flat_map(|op| op.kind.regions_mut());
        inner.for_each(|region| self.region(region));
    }

    /// Which of the operations between two go before the first, so that the second can join it;
    /// nothing where it cannot. The first is the first of `ops`.
    fn needed(
        &self,
        second: &Op,
        effects: &Effects,
        ops: &[Op],
        first: &Last,
    ) -> Option<Vec<bool>> {
        let between = &ops[1..];
        if between.len() > MOST_BETWEEN || first.effects.are_fixed || effects.are_fixed {
            return None;
        }
        let mut used = FxHashSet::default();
        uses(second, &mut used);
        let mut is_before = vec![false; between.len()];
        for (op, is_before) in between.iter().zip(&mut is_before).rev() {
            *is_before = op.result.is_some_and(|result| used.contains(&result));
            if *is_before {
                uses(op, &mut used);
            }
        }
        let mut passed = first.effects.clone();
        for (op, is_before) in between.iter().zip(&is_before) {
            let of_op = self.memory.effects(op);
            let by = if *is_before { &passed } else { effects };
            let may_go = !*is_before || may_go_ahead(op);
            if !may_go || !self.memory.may_swap(&of_op, by) {
                return None;
            }
            if !is_before {
                passed.add(of_op);
            }
        }
        Some(is_before)
    }
}

/// Whether an operation that gives a value may do so earlier. Where a thread is asks nothing of
/// others, and no clock.
fn may_go_ahead(op: &Op) -> bool {
    match &op.kind {
        OpKind::Expr(Expr::Load(load)) => load.guard.is_none(),
        OpKind::Expr(_) => true,
        OpKind::Call(call) => call.intrinsic.only_gives(),
        OpKind::Store(_) | OpKind::InBounds { .. } | OpKind::Set(..) => false,
        OpKind::If { .. } | OpKind::For { .. } | OpKind::While { .. } => false,
        OpKind::Jump(_) | OpKind::Print(..) | OpKind::Assert(_) | OpKind::Asm(_) => false,
    }
}

/// The values that an operation uses, and those in its regions.
fn uses(op: &Op, used: &mut FxHashSet<Value>) {
    op.kind.uses(&mut |value| used.extend([*value]));
    let inner = op.kind.regions().flat_map(|region| &region.0);
    inner.for_each(|op| uses(op, used));
}

/// Has an `if` join the one at a place, before which some of those behind it go. Gives its place.
fn insert(second: Op, ops: &mut Vec<Op>, place: usize, is_before: &[bool]) -> usize {
    let mut behind = ops.split_off(place).into_iter();
    let mut first = behind.next();
    let (mut before, mut after) = (Vec::new(), Vec::new());
    for (op, is_before) in behind.zip(is_before) {
        if *is_before { before.push(op) } else { after.push(op) }
    }
    if let Some(OpKind::If { then, otherwise, .. }) = first.as_mut().map(|first| &mut first.kind)
        && let OpKind::If { then: more, otherwise: other, .. } = second.kind
    {
        then.0.extend(more.0);
        otherwise.0.extend(other.0);
    }
    ops.extend(before);
    let place = ops.len();
    ops.extend(first);
    ops.extend(after);
    place
}
