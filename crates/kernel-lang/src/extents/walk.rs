// SPDX-License-Identifier: Apache-2.0
//! The walk over a kernel's operations, with what conditions and loops say where it stands. Behind
//! a branch that leaves, the other way was taken, and what is known at its end is known.
//!
//! Not here: what follows from it for an index.

use super::definition::{Definition, Definitions};
use super::form::{Form, Part};
use super::support::{Source, Support};
use super::{Finished, Surroundings, Unrelated};
use kernpack_kernel_ir::Type;
use kernpack_kernel_ir::kernel::{Place, Slot, Value};
use kernpack_kernel_ir::op::{Binary, Compare, Expr, Jump, Op, OpKind, Region, Unary};
use kernpack_syntax::Span;
use rustc_hash::FxHashMap;
use std::collections::BTreeSet;
use std::rc::Rc;

/// The most conditions that one is made of.
const MOST_CONDITIONS: usize = 64;
/// How deep smallest and largest numbers are looked into.
const DEPTH: u32 = 4;

/// A fact that counts where the walk stands.
#[derive(Clone, Debug)]
pub(super) enum Fact {
    /// Something that is not seen through.
    Opaque,
    /// A sum of numbers of the call, which is at most 0, and their names.
    Call(Form, BTreeSet<String>),
    /// A bound of what threads have.
    Bound(Bound),
}

/// An upper bound: `least <= most`.
#[derive(Clone, Debug)]
pub(super) struct Bound {
    /// A sum of what threads have, without a constant.
    pub least: Form,
    /// A sum of numbers of the call.
    pub most: Form,
    /// Where it comes from.
    pub of: BoundOf,
}

/// The origin of a bound.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum BoundOf {
    /// A comparison or a loop that is written there.
    Compared(Span),
    /// A comparison for equality that is written there.
    Equal(Span),
    /// An index that was stated to be in bounds.
    Stated,
}

/// The content of a slot.
#[derive(Clone, Debug)]
enum Content {
    /// It is not known.
    Unknown,
    /// A value.
    Value(Value),
    /// One where a condition held, else another.
    Either(Value, Rc<[Content; 2]>),
}

/// The state of a slot: the number of the last change, and what it holds.
#[derive(Clone, Debug)]
struct Held {
    version: u32,
    content: Content,
}

/// The walk.
pub(super) struct Walk<'k> {
    pub finished: &'k Finished<'k>,
    pub definitions: &'k Definitions<'k>,
    pub surroundings: Surroundings<'k>,
    /// The facts that count here, the innermost last.
    pub facts: Vec<Fact>,
    /// The sums that integers are, as far as they were come to.
    forms: FxHashMap<Value, Rc<Form>>,
    /// The contents of slots that were read, where they are truth values.
    read: FxHashMap<Value, Content>,
    slots: Vec<Held>,
    /// Slots that were changed, with what they held before.
    changed: Vec<(Slot, Held)>,
    n_versions: u32,
    found: Vec<Unrelated>,
}

impl<'k> Walk<'k> {
    /// A walk that has not begun.
    pub fn new(
        finished: &'k Finished<'k>,
        definitions: &'k Definitions<'k>,
        surroundings: Surroundings<'k>,
    ) -> Walk<'k> {
        let held = |number: usize| Held { version: number as u32, content: Content::Unknown };
        let n_slots = finished.kernel.slots.len();
        Walk {
            finished,
            definitions,
            surroundings,
            facts: Vec::new(),
            forms: FxHashMap::default(),
            read: FxHashMap::default(),
            slots: (0..n_slots).map(held).collect(),
            changed: Vec::new(),
            n_versions: n_slots as u32,
            found: Vec::new(),
        }
    }

    /// The findings, each access once.
    pub fn findings(mut self) -> Vec<Unrelated> {
        self.region(&self.finished.kernel.body);
        self.found
    }

    fn region(&mut self, region: &'k Region) {
        region.0.iter().for_each(|op| self.op(op));
    }

    fn op(&mut self, op: &'k Op) {
        match &op.kind {
            OpKind::Expr(expr) => {
                if let Some(result) = op.result {
                    self.define(result, expr);
                }
            }
            OpKind::Set(slot, value) => self.set(*slot, Content::Value(*value)),
            OpKind::InBounds { index, extent, .. } => self.state(*index, *extent, op.place),
            OpKind::If { condition, then, otherwise } => self.branch(*condition, then, otherwise),
            OpKind::For { index, end, body, .. } => {
                let span = self.span(op.place);
                self.turns(body, |walk| {
                    walk.at_most(*index, *end, 1, BoundOf::Compared(span), 0);
                    walk.region(body);
                });
            }
            OpKind::While { before, condition, body } => {
                self.forget(before);
                self.turns(body, |walk| {
                    walk.region(before);
                    walk.suppose(*condition, true);
                    walk.region(body);
                });
                self.forget(before);
            }
            OpKind::Store(_) | OpKind::Jump(_) => {}
            OpKind::Asm(asm) => {
                asm.results.iter().for_each(|slot| self.set(*slot, Content::Unknown));
            }
            OpKind::Call(_) | OpKind::Print(..) | OpKind::Assert(_) => {}
        }
    }

    fn state(&mut self, index: Value, extent: Value, place: Place) {
        if let Some(found) = self.finding(index, extent, place)
            && !self.found.iter().any(|known| known.access == found.access)
        {
            self.found.push(found);
        }
        if self.finished.accesses.of((index, extent, place)).is_some() {
            self.at_most(index, extent, 1, BoundOf::Stated, 0);
        }
    }

    /// Does something within conditions that do not count behind it.
    pub fn inside<T>(&mut self, work: impl FnOnce(&mut Self) -> T) -> T {
        let mark = self.facts.len();
        let done = work(self);
        self.facts.truncate(mark);
        done
    }

    /// Goes through the turns of a loop, of which slots may bring something into the next.
    fn turns(&mut self, body: &'k Region, work: impl FnOnce(&mut Self)) {
        self.forget(body);
        self.inside(work);
        self.forget(body);
        if leaves(body, false) {
            self.facts.push(Fact::Opaque);
        }
    }

    fn branch(&mut self, condition: Value, then: &'k Region, otherwise: &'k Region) {
        let mut side = |holds: bool, region: &'k Region| {
            let (facts, changed) = (self.facts.len(), self.changed.len());
            self.suppose(condition, holds);
            self.region(region);
            (self.facts.split_off(facts), self.undo(changed))
        };
        let (first, second) = (side(true, then), side(false, otherwise));
        let kept = match (is_left(then), is_left(otherwise)) {
            (true, true) => return,
            (true, false) => second,
            (false, true) => first,
            (false, false) => {
                self.join(condition, [first.1, second.1]);
                if leaves(then, true) || leaves(otherwise, true) {
                    self.facts.push(Fact::Opaque);
                }
                return;
            }
        };
        self.facts.extend(kept.0);
        kept.1.into_iter().for_each(|(slot, held)| self.hold(slot, held));
    }

    // Slots.

    fn set(&mut self, slot: Slot, content: Content) {
        self.n_versions += 1;
        self.hold(slot, Held { version: self.n_versions, content });
    }

    fn hold(&mut self, slot: Slot, held: Held) {
        let before = std::mem::replace(&mut self.slots[slot.index()], held);
        self.changed.push((slot, before));
    }

    /// Takes back the changes of slots since there were so many. Gives what each was in the end.
    fn undo(&mut self, mark: usize) -> Vec<(Slot, Held)> {
        let mut last: Vec<(Slot, Held)> = Vec::new();
        let mut seen = BTreeSet::new();
        for (slot, before) in self.changed.split_off(mark).into_iter().rev() {
            let now = std::mem::replace(&mut self.slots[slot.index()], before);
            if seen.insert(slot) {
                last.push((slot, now));
            }
        }
        last
    }

    /// Brings slots together behind a condition.
    fn join(&mut self, condition: Value, sides: [Vec<(Slot, Held)>; 2]) {
        let slots: BTreeSet<_> = sides.iter().flatten().map(|(slot, _)| *slot).collect();
        let [then, otherwise] = sides.map(|side| side.into_iter().collect::<FxHashMap<_, _>>());
        for slot in slots {
            let before = &self.slots[slot.index()];
            let of =
                |side: &FxHashMap<Slot, Held>| side.get(&slot).unwrap_or(before).content.clone();
            let content = Content::Either(condition, Rc::new([of(&then), of(&otherwise)]));
            self.set(slot, content);
        }
    }

    /// Forgets what slots hold that a region changes.
    fn forget(&mut self, region: &'k Region) {
        for op in &region.0 {
            if let OpKind::Set(slot, _) = &op.kind {
                self.set(*slot, Content::Unknown);
            }
            if let OpKind::Asm(asm) = &op.kind {
                asm.results.iter().for_each(|slot| self.set(*slot, Content::Unknown));
            }
            op.kind.regions().for_each(|region| self.forget(region));
        }
    }

    // Sums.

    /// The sum that an integer is.
    pub fn form(&self, value: Value) -> Rc<Form> {
        match self.forms.get(&value) {
            Some(form) => form.clone(),
            None => Rc::new(self.plain(value)),
        }
    }

    fn plain(&self, value: Value) -> Form {
        let constant = self.finished.kernel.constant(value).and_then(|known| known.as_int());
        match (constant, self.definitions.get(value)) {
            (Some(constant), _) => Form::constant(constant.into()),
            (None, Definition::Geometry(geometry)) => Form::part(Part::Place(geometry)),
            (None, _) => Form::part(Part::Value(value)),
        }
    }

    fn define(&mut self, result: Value, expr: &'k Expr) {
        if let Expr::Get(slot) = expr {
            let Held { version, content } = self.slots[slot.index()].clone();
            if self.is_int(result) {
                let form = match &content {
                    Content::Value(value) => self.form(*value),
                    Content::Unknown | Content::Either(..) => {
                        Rc::new(Form::part(Part::Slot(*slot, version)))
                    }
                };
                self.forms.insert(result, form);
            }
            self.read.insert(result, content);
            return;
        }
        if self.is_int(result)
            && let Some(form) = self.sum(expr)
        {
            self.forms.insert(result, form);
        }
    }

    /// The sum that an expression is, if it is one.
    fn sum(&self, expr: &Expr) -> Option<Rc<Form>> {
        let form = match expr {
            Expr::Unary(Unary::Neg, value) => self.form(*value).times(-1),
            Expr::Binary(Binary::Add, a, b) => self.form(*a).plus(1, &self.form(*b)),
            Expr::Binary(Binary::Sub, a, b) => self.form(*a).plus(-1, &self.form(*b)),
            Expr::Binary(Binary::Mul, a, b) => {
                let (a, b) = (self.form(*a), self.form(*b));
                match (a.known(), b.known()) {
                    (Some(by), _) => b.times(by),
                    (None, Some(by)) => a.times(by),
                    (None, None) => None,
                }
            }
            Expr::Binary(Binary::Shl, a, by) => {
                let by = self.form(*by).known().filter(|by| (0..63).contains(by))?;
                self.form(*a).times(1 << by)
            }
            Expr::Convert(value, _) if self.is_int(*value) => return Some(self.form(*value)),
            _ => None,
        };
        form.map(Rc::new)
    }

    fn is_int(&self, value: Value) -> bool {
        matches!(self.finished.kernel.ty(value), Type::Scalar(scalar) if scalar.is_int())
    }

    /// Whether a part of a sum is a number of the call.
    pub fn is_of_call(&self, part: &Part) -> bool {
        match part {
            Part::Value(value) => self.definitions.is_of_call(*value),
            Part::Place(..) | Part::Slot(..) => false,
        }
    }

    // Conditions.

    /// Says that a condition holds, or that it does not.
    pub fn suppose(&mut self, condition: Value, holds: bool) {
        let (mut left, mut seen) = (vec![(condition, holds)], BTreeSet::new());
        while let Some((condition, holds)) = left.pop() {
            if seen.len() > MOST_CONDITIONS {
                return self.facts.push(Fact::Opaque);
            }
            if seen.insert((condition, holds)) && !self.suppose_one(condition, holds, &mut left) {
                self.facts.push(Fact::Opaque);
            }
        }
    }

    /// The same, but for the conditions that it is made of, which are left to say. Gives whether it
    /// is seen through.
    fn suppose_one(
        &mut self,
        condition: Value,
        holds: bool,
        left: &mut Vec<(Value, bool)>,
    ) -> bool {
        let expr = match self.definitions.get(condition) {
            // A truth value of the call says nothing of extents.
            Definition::Given(_) => return true,
            Definition::Expr(expr) => expr,
            Definition::Geometry(_) | Definition::Index | Definition::Other => return false,
        };
        match (expr, holds) {
            (Expr::Const(_), _) => {}
            (Expr::Compare(op, a, b), _) => {
                let span = self.span(self.definitions.place(condition));
                let op = if holds { *op } else { op.negated() };
                return self.suppose_compare(op, [*a, *b], span);
            }
            (Expr::Binary(Binary::And, a, b), true) | (Expr::Binary(Binary::Or, a, b), false) => {
                left.extend([(*a, holds), (*b, holds)]);
            }
            (Expr::Unary(Unary::Not, value), _) => left.push((*value, !holds)),
            (Expr::Get(_), _) => {
                let content = self.read.get(&condition).cloned().unwrap_or(Content::Unknown);
                return self.suppose_content(content, holds, left);
            }
            _ => return false,
        }
        true
    }

    /// Says that what a slot held is true, or that it is not. Where it comes of a condition, that
    /// is known too if the other side cannot be it.
    fn suppose_content(
        &self,
        mut content: Content,
        holds: bool,
        left: &mut Vec<(Value, bool)>,
    ) -> bool {
        loop {
            let (condition, sides) = match content {
                Content::Unknown => return false,
                Content::Value(value) => {
                    left.push((value, holds));
                    return true;
                }
                Content::Either(condition, sides) => (condition, sides),
            };
            let can_be = |taken: bool| match &sides[usize::from(!taken)] {
                Content::Value(value) if *value == condition => taken == holds,
                Content::Value(value) => {
                    let known = self.finished.kernel.constant(*value);
                    known.and_then(|known| known.as_bool()).is_none_or(|known| known == holds)
                }
                Content::Unknown | Content::Either(..) => true,
            };
            let taken = match (can_be(true), can_be(false)) {
                (true, false) => true,
                (false, true) => false,
                (true, true) | (false, false) => return false,
            };
            left.push((condition, taken));
            content = sides[usize::from(!taken)].clone();
        }
    }

    /// Says that two numbers compare so. Gives whether that is seen through.
    fn suppose_compare(&mut self, op: Compare, [left, right]: [Value; 2], span: Span) -> bool {
        if !self.is_int(left) {
            // Data says nothing of extents; what is computed of a thread's place may.
            let support = Support::of_values(self.definitions, &[left, right]);
            let is_data = |source: &Source| matches!(source, Source::Data(_));
            return !support.has_more && support.sources.iter().all(is_data);
        }
        let of = BoundOf::Compared(span);
        match op {
            Compare::Lt => self.at_most(left, right, 1, of, 0),
            Compare::Le => self.at_most(left, right, 0, of, 0),
            Compare::Gt => self.at_most(right, left, 1, of, 0),
            Compare::Ge => self.at_most(right, left, 0, of, 0),
            Compare::Eq => {
                self.at_most(left, right, 0, BoundOf::Equal(span), 0);
                self.at_most(right, left, 0, BoundOf::Equal(span), 0);
            }
            Compare::Ne => {}
        }
        true
    }

    /// Says that `left + by <= right`. What is below the smaller of two is below both.
    fn at_most(&mut self, left: Value, right: Value, by: i128, of: BoundOf, depth: u32) {
        if depth < DEPTH {
            if let Some(Expr::Binary(Binary::Min, a, b)) = self.unconverted(right) {
                self.at_most(left, *a, by, of, depth + 1);
                self.at_most(left, *b, by, of, depth + 1);
            }
            if let Some(Expr::Binary(Binary::Max, a, b)) = self.unconverted(left) {
                self.at_most(*a, right, by, of, depth + 1);
                self.at_most(*b, right, by, of, depth + 1);
            }
        }
        let difference = self.form(left).plus(-1, &self.form(right));
        let fact = difference.and_then(|mut difference| {
            difference.constant += by;
            let (call, least) = difference.split(|part| self.is_of_call(part));
            if least.parts.is_empty() {
                let names = Support::of(self.definitions, &call).names;
                return Some(Fact::Call(difference, names));
            }
            let constant = Form::constant(least.constant);
            let most = call.plus(1, &constant)?.times(-1)?;
            Some(Fact::Bound(Bound { least: Form { constant: 0, ..least }, most, of }))
        });
        self.facts.push(fact.unwrap_or(Fact::Opaque));
    }

    /// The expression of an integer, before it was made one of another type.
    fn unconverted(&self, value: Value) -> Option<&'k Expr> {
        let mut expr = self.definitions.expr(value)?;
        for _ in 0..DEPTH {
            match expr {
                Expr::Convert(inner, _) if self.is_int(*inner) => {
                    expr = self.definitions.expr(*inner)?;
                }
                _ => break,
            }
        }
        Some(expr)
    }

    fn span(&self, place: Place) -> Span {
        self.finished.kernel.place(place).span
    }
}

/// Whether nothing goes on behind a region.
fn is_left(region: &Region) -> bool {
    region.0.last().is_some_and(|op| match &op.kind {
        OpKind::If { then, otherwise, .. } => is_left(then) && is_left(otherwise),
        _ => op.is_jump(),
    })
}

/// Whether some way out of a region leads elsewhere than behind it: out of the kernel, or out of
/// the loop around, or to its next turn, where that counts.
fn leaves(region: &Region, turns_count: bool) -> bool {
    region.0.iter().any(|op| match &op.kind {
        OpKind::Jump(Jump::Return) => true,
        OpKind::Jump(Jump::Break | Jump::Continue) => turns_count,
        OpKind::For { .. } | OpKind::While { .. } => {
            op.kind.regions().any(|region| leaves(region, false))
        }
        _ => op.kind.regions().any(|region| leaves(region, turns_count)),
    })
}
