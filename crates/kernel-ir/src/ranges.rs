// SPDX-License-Identifier: Apache-2.0
//! Between which bounds each integer lies, and what it is a multiple of, whatever a kernel is
//! called with: so that an index, which has 64 bits in meaning, is computed in 32 where that is the
//! same.
//!
//! Ranges come from parameters' facts, the limits of grids and blocks, constants,
//! arithmetic, loops, conditions, and from statements that an index is in bounds, which a right
//! kernel keeps. A value is defined once, so it has one range; behind a condition or a statement it
//! may have a smaller one, which counts for what is computed there ([`Ranges::operand`]). A slot
//! has one range for all that it ever holds, found by going over the kernel until nothing changes.
//!
//! Not here: floats, vectors, and what lies in memory.

mod arithmetic;

pub use arithmetic::binary;

use crate::constant::Const;
use crate::intrinsic::{Geometry, Meaning};
use crate::kernel::{Kernel, ParamKind, Slot, Value};
use crate::op::{Binary, Call, Compare, Expr, Op, OpKind, Region, Unary};
use crate::types::{Scalar, Type};
use kernpack_interval::{Interval, greatest_common_divisor};
use kernpack_machine::block::{
    MOST_BLOCKS_ALONG, MOST_CLUSTER_BLOCKS, MOST_THREADS, MOST_THREADS_ALONG, WARP_SIZE,
    WARPGROUP_SIZE,
};
use rustc_hash::FxHashMap;

/// The ranges of a kernel's integers.
#[derive(Clone, Debug)]
pub struct Ranges {
    values: Vec<Interval>,
    operands: FxHashMap<Value, [Interval; 2]>,
    slots: Vec<Interval>,
}

impl Ranges {
    /// Finds them. The kernel is verified.
    pub fn of(kernel: &Kernel) -> Ranges {
        let mut analysis = Analysis::new(kernel);
        analysis.settle();
        analysis.finish()
    }

    /// The range of a value: of what is no integer, anything.
    pub fn value(&self, value: Value) -> Interval {
        self.values[value.index()]
    }

    /// The range of an operand where a value is computed from it: its first or second.
    pub fn operand(&self, result: Value, place: usize) -> Interval {
        self.operands.get(&result).map_or(Interval::ANY, |operands| operands[place])
    }

    /// The range of a slot.
    pub fn slot(&self, slot: Slot) -> Interval {
        self.slots[slot.index()]
    }
}

/// Rounds in which slots grow as they do; from then on they grow in strides, so that it ends.
const PATIENCE: usize = 3;
/// Rounds in which slots shrink again to what is put into them.
const SHRINKING: usize = 2;
/// How deep the conditions of a condition are looked into.
const DEPTH: u32 = 32;

struct Analysis<'k> {
    kernel: &'k Kernel,
    /// Of each value what it can be where the analysis stands: nothing for what has not been come
    /// to, or can be nothing.
    known: Vec<Option<Interval>>,
    operands: FxHashMap<Value, [Interval; 2]>,
    /// The expression that made each truth value.
    conditions: FxHashMap<Value, &'k Expr>,
    /// The range of each slot, as far as it is known.
    slots: Vec<Option<Interval>>,
    /// The range of what was put into each slot in this round.
    put: Vec<Option<Interval>>,
    /// The ranges that values had outside of the conditions around.
    outside: Vec<(Value, Option<Interval>)>,
}

impl<'k> Analysis<'k> {
    fn new(kernel: &'k Kernel) -> Analysis<'k> {
        Analysis {
            kernel,
            known: vec![None; kernel.values.len()],
            operands: FxHashMap::default(),
            conditions: FxHashMap::default(),
            slots: vec![None; kernel.slots.len()],
            put: vec![],
            outside: vec![],
        }
    }

    /// Goes over the kernel until no slot grows, and then a few times to have them shrink. Gives
    /// how many rounds they grew.
    fn settle(&mut self) -> usize {
        let mut rounds = 0;
        loop {
            self.walk();
            let slots = 0..self.slots.len();
            let grown: Vec<_> = slots.map(|slot| self.grown(slot, rounds)).collect();
            if grown == self.slots {
                break;
            }
            self.slots = grown;
            rounds += 1;
        }
        for _ in 0..SHRINKING {
            self.slots.clone_from(&self.put);
            self.walk();
        }
        rounds
    }

    /// The range of a slot after this round.
    fn grown(&self, slot: usize, round: usize) -> Option<Interval> {
        let scalar = integer(self.kernel.slots[slot].ty)?;
        match (self.slots[slot], self.put[slot]) {
            (Some(before), Some(put)) if round >= PATIENCE => {
                Some(before.widened(put, scalar.integers()))
            }
            (before, put) => either(before, put),
        }
    }

    fn walk(&mut self) {
        self.put = vec![None; self.slots.len()];
        for (place, param) in self.kernel.params.iter().enumerate() {
            if let ParamKind::Scalar(scalar, facts) = param.kind
                && scalar.is_int()
            {
                self.known[place] =
                    Some(scalar.integers().said(facts.min, facts.max, facts.divisor));
            }
        }
        let kernel = self.kernel;
        self.region(&kernel.body);
        self.leave(0);
    }

    fn finish(self) -> Ranges {
        let all = |ty: Type| integer(ty).map_or(Interval::ANY, Scalar::integers);
        let values = self.known.iter().zip(&self.kernel.values);
        let slots = self.slots.iter().zip(&self.kernel.slots);
        Ranges {
            values: values.map(|(known, data)| known.unwrap_or(all(data.ty))).collect(),
            slots: slots.map(|(known, data)| known.unwrap_or(all(data.ty))).collect(),
            operands: self.operands,
        }
    }

    // Where conditions count.

    /// Says that a value is within a range from here on.
    fn refine(&mut self, value: Value, within: Interval) {
        let before = self.known[value.index()];
        if let Some(smaller) = before.and_then(|before| before.meet(within))
            && Some(smaller) != before
        {
            self.outside.push((value, before));
            self.known[value.index()] = Some(smaller);
        }
    }

    /// Forgets what was said since there were so many things to forget.
    fn leave(&mut self, mark: usize) {
        while self.outside.len() > mark
            && let Some((value, before)) = self.outside.pop()
        {
            self.known[value.index()] = before;
        }
    }

    fn inside(&mut self, work: impl FnOnce(&mut Self)) {
        let mark = self.outside.len();
        work(self);
        self.leave(mark);
    }

    /// Says that a condition holds, or that it does not.
    fn suppose(&mut self, condition: Value, holds: bool, depth: u32) {
        let Some(expr) = self.conditions.get(&condition).copied().filter(|_| depth < DEPTH) else {
            return;
        };
        match (expr, holds) {
            (Expr::Compare(op, left, right), _) => {
                let op = if holds { *op } else { op.negated() };
                self.suppose_compare(op, *left, *right);
            }
            (Expr::Binary(Binary::And, left, right), true)
            | (Expr::Binary(Binary::Or, left, right), false) => {
                self.suppose(*left, holds, depth + 1);
                self.suppose(*right, holds, depth + 1);
            }
            (Expr::Unary(Unary::Not, value), _) => self.suppose(*value, !holds, depth + 1),
            _ => {}
        }
    }

    fn suppose_compare(&mut self, op: Compare, left: Value, right: Value) {
        let (Some(a), Some(b)) = (self.known[left.index()], self.known[right.index()]) else {
            return;
        };
        match op {
            Compare::Eq => {
                self.refine(left, b);
                self.refine(right, a);
            }
            Compare::Lt => self.suppose_less(left, right, (a, b), 1),
            Compare::Le => self.suppose_less(left, right, (a, b), 0),
            Compare::Gt => self.suppose_less(right, left, (b, a), 1),
            Compare::Ge => self.suppose_less(right, left, (b, a), 0),
            Compare::Ne => {}
        }
    }

    /// Says that one value is less than another by that at least.
    fn suppose_less(&mut self, small: Value, large: Value, (a, b): (Interval, Interval), by: i128) {
        self.refine(small, Interval::new(Interval::ANY.min, b.max - by));
        self.refine(large, Interval::new(a.min + by, Interval::ANY.max));
    }

    // Operations.

    fn region(&mut self, region: &'k Region) {
        region.0.iter().for_each(|op| self.op(op));
    }

    fn op(&mut self, op: &'k Op) {
        match &op.kind {
            OpKind::If { condition, then, otherwise } => self.branch(*condition, then, otherwise),
            OpKind::For { index, first, end, step, body } => {
                self.known[index.index()] = self.loop_index([*first, *end, *step]);
                self.operands.insert(*index, [self.get(*end), self.get(*step)]);
                self.inside(|inside| inside.region(body));
            }
            OpKind::While { before, condition, body } => self.inside(|inside| {
                inside.region(before);
                inside.suppose(*condition, true, 0);
                inside.region(body);
            }),
            OpKind::InBounds { check: Some(_), .. } => {}
            OpKind::InBounds { index, extent, check: None } => {
                self.refine(*index, Interval::new(0, self.get(*extent).max - 1));
                self.refine(*extent, Interval::new(self.get(*index).min + 1, Interval::ANY.max));
            }
            OpKind::Set(slot, value) => {
                let put = &mut self.put[slot.index()];
                *put = either(*put, self.known[value.index()]);
            }
            OpKind::Expr(expr) => {
                if let Some(result) = op.result {
                    self.define(result, expr);
                }
            }
            OpKind::Call(call) => self.give(op.result, |inside, scalar| inside.call(call, scalar)),
            OpKind::Asm(asm) => {
                for slot in &asm.results {
                    let all = integer(self.kernel.slots[slot.index()].ty).map(Scalar::integers);
                    let put = &mut self.put[slot.index()];
                    *put = either(*put, all);
                }
            }
            OpKind::Store(_) | OpKind::Jump(_) | OpKind::Print(..) | OpKind::Assert(_) => {}
        }
    }

    fn branch(&mut self, condition: Value, then: &'k Region, otherwise: &'k Region) {
        self.inside(|inside| {
            inside.suppose(condition, true, 0);
            inside.region(then);
        });
        self.inside(|inside| {
            inside.suppose(condition, false, 0);
            inside.region(otherwise);
        });
        // Behind a branch that leaves, the other way was taken.
        match (is_left(then), is_left(otherwise)) {
            (true, false) => self.suppose(condition, false, 0),
            (false, true) => self.suppose(condition, true, 0),
            (true, true) | (false, false) => {}
        }
    }

    fn loop_index(&self, [first, end, step]: [Value; 3]) -> Option<Interval> {
        let (first, end) = (self.known[first.index()]?, self.known[end.index()]?);
        let step = self.known[step.index()]?;
        let divisor = greatest_common_divisor(first.divisor, step.divisor);
        // A loop that never runs has no index.
        let max = (end.max - 1).max(first.min);
        Some(Interval::new(first.min, max).with_divisor(divisor))
    }

    fn get(&self, value: Value) -> Interval {
        let all = || integer(self.kernel.ty(value)).map_or(Interval::ANY, Scalar::integers);
        self.known[value.index()].unwrap_or_else(all)
    }

    /// Gives an operation's result the range of its type.
    fn give(&mut self, result: Option<Value>, range: impl Fn(&Self, Scalar) -> Interval) {
        let Some(result) = result else { return };
        if let Some(scalar) = integer(self.kernel.ty(result)) {
            self.known[result.index()] = Some(range(self, scalar));
        }
    }

    /// Gives an expression's result its range.
    fn define(&mut self, result: Value, expr: &'k Expr) {
        let Type::Scalar(scalar) = self.kernel.ty(result) else { return };
        match expr {
            Expr::Compare(_, left, right) | Expr::Binary(_, left, right) => {
                self.operands.insert(result, [self.get(*left), self.get(*right)]);
            }
            Expr::Convert(value, _) | Expr::Unary(_, value) => {
                self.operands.insert(result, [self.get(*value); 2]);
            }
            _ => {}
        }
        if scalar == Scalar::Bool {
            self.conditions.insert(result, expr);
        }
        if scalar.is_int() {
            self.known[result.index()] = self.result(expr, scalar);
        }
    }

    /// The range of an integer; nothing where an operand has none.
    fn result(&self, expr: &Expr, scalar: Scalar) -> Option<Interval> {
        let known = |value: &Value| self.known[value.index()];
        match expr {
            Expr::Const(constant) => Some(of_const(*constant)),
            Expr::Unary(op, value) => Some(arithmetic::unary(*op, known(value)?, scalar)),
            Expr::Binary(op, left, right) => {
                Some(arithmetic::binary(*op, known(left)?, known(right)?, scalar))
            }
            Expr::Select(_, then, otherwise) => Some(known(then)?.hull(known(otherwise)?)),
            Expr::Convert(value, _) => match self.kernel.ty(*value).scalar() {
                Some(Scalar::Bool) => Some(Interval::new(0, 1)),
                Some(from) if from.is_int() => Some(known(value)?.wrapped(scalar.integers())),
                Some(_) | None => Some(scalar.integers()),
            },
            Expr::Get(slot) => {
                // With what this round has put there: one round follows a whole chain of slots.
                either(self.slots[slot.index()], self.put[slot.index()])
            }
            Expr::Compare(..) | Expr::Bitcast(_) | Expr::Load(_) => Some(scalar.integers()),
            Expr::Vector(_) | Expr::Splat(_) | Expr::Extract(..) | Expr::Insert(..) => {
                Some(scalar.integers())
            }
            Expr::Shared(_) | Expr::Local(_) | Expr::Offset(..) => Some(scalar.integers()),
        }
    }

    fn call(&self, call: &Call, scalar: Scalar) -> Interval {
        match call.intrinsic.meaning {
            Meaning::Geometry(geometry) => {
                of_place(geometry, self.kernel.block, |axis| MOST_BLOCKS_ALONG[axis].into())
            }
            _ => scalar.integers(),
        }
    }
}

/// Where in the grid a thread is, within the limits of CUDA. `block` has the threads of a block
/// along each axis, as far as they are known, and `blocks` gives the most blocks along one.
pub fn of_place(
    geometry: Geometry,
    block: [Option<u32>; 3],
    blocks: impl Fn(usize) -> i128,
) -> Interval {
    let threads = |axis: usize| match block[axis] {
        Some(known) => Interval::exactly(known.into()),
        None => Interval::new(1, MOST_THREADS_ALONG[axis].into()),
    };
    let groups_of = |size: u32| {
        let most: i128 = (0..3).map(|axis| threads(axis).max).product();
        Interval::new(0, (most.min(MOST_THREADS.into()) - 1) / i128::from(size))
    };
    match geometry {
        Geometry::ThreadIdx(axis) => Interval::new(0, threads(axis).max - 1),
        Geometry::BlockDim(axis) => threads(axis),
        Geometry::BlockIdx(axis) | Geometry::ClusterIdx(axis) => Interval::new(0, blocks(axis) - 1),
        Geometry::GridDim(axis) | Geometry::ClusterDim(axis) => Interval::new(1, blocks(axis)),
        Geometry::BlockInCluster(_) | Geometry::ClusterRank => {
            Interval::new(0, i128::from(MOST_CLUSTER_BLOCKS) - 1)
        }
        Geometry::BlockInClusterDim(_) | Geometry::ClusterSize => {
            Interval::new(1, MOST_CLUSTER_BLOCKS.into())
        }
        Geometry::Lane => Interval::new(0, i128::from(WARP_SIZE) - 1),
        Geometry::Warp => groups_of(WARP_SIZE),
        Geometry::Warpgroup => groups_of(WARPGROUP_SIZE),
    }
}

/// Whether a sum, difference or product is never more than a type has, and so what it is without
/// one. Of other operations it is not known.
pub fn is_exact(op: Binary, left: Interval, right: Interval, scalar: Scalar) -> bool {
    arithmetic::exact(op, left, right).is_some_and(|range| scalar.holds(range))
}

/// The range of what is of one or the other; nothing is of nothing.
fn either(a: Option<Interval>, b: Option<Interval>) -> Option<Interval> {
    match (a, b) {
        (Some(a), Some(b)) => Some(a.hull(b)),
        (a, b) => a.or(b),
    }
}

fn of_const(constant: Const) -> Interval {
    match constant.scalar().is_signed() {
        true => Interval::exactly(constant.signed().into()),
        false => Interval::exactly(constant.bits().into()),
    }
}

/// The type of an integer.
fn integer(ty: Type) -> Option<Scalar> {
    match ty {
        Type::Scalar(scalar) if scalar.is_int() => Some(scalar),
        Type::Scalar(_) | Type::Vector(..) | Type::Pointer(_) => None,
    }
}

fn is_left(region: &Region) -> bool {
    let last = region.0.last();
    last.is_some_and(Op::is_jump)
}

#[cfg(test)]
mod tests;
