// SPDX-License-Identifier: Apache-2.0
//! Whether nothing but the extent of something else bounds an index where it is stated to be in
//! bounds. Whatever is not certain is no finding.

use super::definition::Definition;
use super::form::{Form, Part};
use super::relations::names_of;
use super::support::{Source, Support};
use super::walk::{Bound, BoundOf, Fact, Walk};
use super::{Given, Unrelated};
use crate::parameter::term_op;
use kernpack_interval::Interval;
use kernpack_kernel_ir::intrinsic::Geometry;
use kernpack_kernel_ir::kernel::{Place, Value};
use kernpack_kernel_ir::op::Expr;
use kernpack_kernel_ir::ranges::of_place;
use kernpack_machine::block::MOST_BLOCKS_ALONG;
use kernpack_syntax::Span;
use kernpack_validators::Expr as CallExpr;
use kernpack_validators::expr::Op;
use std::collections::BTreeSet;

/// The most facts that are looked through for an access.
const MOST_FACTS: usize = 512;
/// How deep an expression of the call is.
const DEPTH: u32 = 8;

/// An index that is asked about.
struct Asked<'w> {
    /// The part of it that threads have, without a constant.
    least: Form,
    /// The part of it that the call has, and the constant.
    rest: Form,
    /// The extent.
    extent: Form,
    /// The names that are related to the extent.
    related: BTreeSet<String>,
    /// The origins of the index.
    support: Support,
    /// The bounds that count here.
    bounds: Vec<&'w Bound>,
}

/// The meaning of a bound for an index.
enum Says {
    /// The index may be bounded as it has to be.
    Enough,
    /// Nothing to the point.
    Nothing,
    /// It is bounded by what has nothing to do with the extent.
    Other,
}

impl Walk<'_> {
    /// The finding about an index that is stated to be in bounds.
    pub fn finding(&mut self, index: Value, extent: Value, place: Place) -> Option<Unrelated> {
        let access = self.finished.accesses.of((index, extent, place))?.clone();
        let (condition, [index, extent]) = self.unmasked(index, extent);
        let mode = self.finished.accesses.mode(&access.name, extent, self.finished.kernel)?;
        let (bound, limit) = self.inside(|walk| {
            if let Some(condition) = condition {
                walk.suppose(condition, true);
            }
            walk.other_bound(index, extent)
        })?;
        let extent = self.expr(&self.form(extent))?;
        let super::Access { name: tensor, span: access, called } = access;
        Some(Unrelated { access, called, tensor, mode, extent, bound, limit })
    }

    /// An index that counts only where a condition holds, as masked accesses have it.
    fn unmasked(&self, index: Value, extent: Value) -> (Option<Value>, [Value; 2]) {
        let Some(Expr::Select(condition, at, other)) = self.definitions.expr(index) else {
            return (None, [index, extent]);
        };
        if self.form(*other).known() != Some(0) {
            return (None, [index, extent]);
        }
        let extent = match self.definitions.expr(extent) {
            Some(Expr::Select(of, inner, _)) if of == condition => *inner,
            _ => extent,
        };
        (Some(*condition), [*at, extent])
    }

    /// The bound of an index by something that has nothing to do with its extent, where there is no
    /// other: where it is written, and the least extent that would be enough by it.
    fn other_bound(&self, index: Value, extent: Value) -> Option<(Span, CallExpr)> {
        let is_opaque = |fact: &Fact| matches!(fact, Fact::Opaque);
        if self.facts.len() > MOST_FACTS || self.facts.iter().any(is_opaque) {
            return None;
        }
        let (rest, least) = self.form(index).split(|part| self.is_of_call(part));
        let rest = Form { constant: least.constant, ..rest };
        let least = Form { constant: 0, ..least };
        let bounds = self.facts.iter().filter_map(|fact| match fact {
            Fact::Bound(bound) => Some(bound),
            Fact::Opaque | Fact::Call(..) => None,
        });
        let bounds: Vec<_> = bounds.collect();
        if !bounds.iter().any(|bound| least.multiple_of(&bound.least).is_some()) {
            return None;
        }
        let extent = (*self.form(extent)).clone();
        if !extent.parts.keys().all(|part| self.is_of_call(part)) {
            return None;
        }
        let related = self.related(&extent);
        let support = Support::of(self.definitions, &self.form(index));
        let asked = Asked { least, rest, extent, related, support, bounds };
        let found = self.direct_bound(&asked)?;
        let may_be_enough = asked.support.has_more
            || asked.support.names_any(&asked.related)
            || self.others_may_be_enough(&asked)
            || self.is_small_enough(&asked);
        (!may_be_enough).then_some(found)
    }

    /// The names of an extent and all that is related to them.
    fn related(&self, extent: &Form) -> BTreeSet<String> {
        let mut related = Support::of(self.definitions, extent).names;
        loop {
            let before = related.len();
            related = self.surroundings.relations.related_to(&related);
            for fact in &self.facts {
                if let Fact::Call(_, names) = fact
                    && !names.is_disjoint(&related)
                {
                    related.extend(names.iter().cloned());
                }
            }
            if related.len() == before {
                return related;
            }
        }
    }

    /// The innermost comparison that bounds the index itself, unless any may be enough.
    fn direct_bound(&self, asked: &Asked<'_>) -> Option<(Span, CallExpr)> {
        let mut found = None;
        for bound in &asked.bounds {
            let Some((p, q)) = asked.least.multiple_of(&bound.least) else { continue };
            let most = bound.most.times(p).and_then(|most| most.over(q));
            let most = most.and_then(|most| most.plus(1, &asked.rest));
            let Some(most) = most else {
                // The bound is a quotient, of which it is enough to know the names.
                match Support::of(self.definitions, &bound.most).names_any(&asked.related) {
                    true => return None,
                    false => continue,
                }
            };
            match (self.says(&most, bound.of, asked), bound.of) {
                (Says::Enough, _) => return None,
                (Says::Other, BoundOf::Compared(span) | BoundOf::Equal(span)) => {
                    let limit = most.plus(1, &Form::constant(1))?;
                    found = Some((span, self.expr(&limit)?));
                }
                (Says::Other, BoundOf::Stated) | (Says::Nothing, _) => {}
            }
        }
        found
    }

    /// The meaning of a bound of the index.
    fn says(&self, most: &Form, of: BoundOf, asked: &Asked<'_>) -> Says {
        let names = Support::of(self.definitions, most).names;
        let is_asked_of =
            |fact: &Fact| matches!(fact, Fact::Call(_, asked) if !asked.is_disjoint(&names));
        let is_number = asked.extent.known().is_some();
        match () {
            () if self.is_below(most, &asked.extent) => Says::Enough,
            () if !names.is_disjoint(&asked.related) => Says::Enough,
            () if names.is_empty() && matches!(of, BoundOf::Equal(_)) => Says::Enough,
            () if names.is_empty() => Says::Nothing,
            // The kernel has asked how large that is, and an extent that is a number has no name.
            () if is_number && self.facts.iter().any(is_asked_of) => Says::Enough,
            () => Says::Other,
        }
    }

    /// Whether one sum is known to be less than another.
    fn is_below(&self, most: &Form, extent: &Form) -> bool {
        let Some(over) = most.plus(-1, extent) else { return true };
        let is_negative = |form: &Form| self.range(form, &[]).max < 0;
        let by_call = |fact: &Fact| match fact {
            Fact::Call(call, _) => over.plus(-1, call).is_some_and(|over| is_negative(&over)),
            Fact::Opaque | Fact::Bound(_) => false,
        };
        is_negative(&over) || self.facts.iter().any(by_call)
    }

    /// Whether bounds of what the index comes of, and of what these have to do with, may be enough.
    fn others_may_be_enough(&self, asked: &Asked<'_>) -> bool {
        let indirect = asked.bounds.iter();
        let indirect = indirect.filter(|bound| asked.least.multiple_of(&bound.least).is_none());
        let mut left: Vec<_> = indirect
            .map(|bound| {
                let most = Support::of(self.definitions, &bound.most);
                (Support::of(self.definitions, &bound.least), most)
            })
            .collect();
        let mut sources = asked.support.sources.clone();
        while let Some(at) = left.iter().position(|(one, _)| !one.sources.is_disjoint(&sources)) {
            let (least, most) = left.swap_remove(at);
            let is_foreign =
                |source: &Source| source.is_data() && !asked.support.sources.contains(source);
            let may_be_enough = least.has_more
                || least.names_any(&asked.related)
                || most.names_any(&asked.related)
                || least.sources.iter().any(is_foreign);
            if may_be_enough {
                return true;
            }
            sources.extend(least.sources);
        }
        (0..3).any(|axis| {
            sources.contains(&Source::Place(Geometry::BlockIdx(axis)))
                && self.grid_may_be_enough(axis, asked)
        })
    }

    /// Whether the grid has to do with the extent. One of as many blocks as cover it may well go
    /// beyond, unless they are known to fill it.
    fn grid_may_be_enough(&self, axis: usize, asked: &Asked<'_>) -> bool {
        let Some(blocks) = self.surroundings.grid.get(axis) else { return false };
        if names_of(&blocks.value).is_disjoint(&asked.related) {
            return false;
        }
        let block = Part::Place(Geometry::BlockIdx(axis));
        let stride = asked.least.parts.get(&block).copied().unwrap_or(0);
        let Some((covered, by)) = covering(&blocks.value) else { return true };
        let is_it = |given: &&Given<'_>| given.expr == covered;
        let divisor = self.finished.given.iter().find(is_it).map(|given| given.divisor);
        let has_rest = divisor.is_some_and(|divisor| divisor % by != 0);
        !(has_rest && stride >= i128::from(by))
    }

    /// Whether numbers alone say that the index is below the extent.
    fn is_small_enough(&self, asked: &Asked<'_>) -> bool {
        let Some(index) = asked.least.plus(1, &asked.rest) else { return true };
        let least_extent = self.range(&asked.extent, &[]).min;
        self.range(&index, &asked.bounds).max < least_extent
    }

    // Numbers.

    /// The range of a sum, by bounds of its parts.
    fn range(&self, form: &Form, bounds: &[&Bound]) -> Interval {
        let parts = form.parts.iter().map(|(part, times)| {
            let mut range = self.part_range(*part);
            for bound in bounds {
                if bound.least == Form::part(*part) {
                    let most = self.range(&bound.most, &[]).max;
                    range = Interval::new(range.min, range.max.min(most));
                }
            }
            let (a, b) = (range.min.saturating_mul(*times), range.max.saturating_mul(*times));
            (a.min(b), a.max(b))
        });
        let sum = parts.fold((form.constant, form.constant), |(min, max), (from, to)| {
            (min.saturating_add(from), max.saturating_add(to))
        });
        Interval::new(sum.0, sum.1)
    }

    fn part_range(&self, part: Part) -> Interval {
        let kernel = self.finished.kernel;
        match part {
            Part::Value(value) => match self.finished.facts.get(&value) {
                Some(facts) => Interval::new(facts.min.into(), facts.max.into()),
                None => kernel.ty(value).scalar().map_or(Interval::ANY, |scalar| scalar.integers()),
            },
            Part::Slot(slot, _) => {
                let scalar = kernel.slots[slot.index()].ty.scalar();
                scalar.map_or(Interval::ANY, |scalar| scalar.integers())
            }
            Part::Place(geometry) => of_place(geometry, kernel.block, |axis| self.blocks(axis)),
        }
    }

    /// The most blocks along an axis.
    fn blocks(&self, axis: usize) -> i128 {
        let most = i128::from(MOST_BLOCKS_ALONG[axis]);
        let grid = self.surroundings.grid;
        match (grid.get(axis), grid.is_empty()) {
            (Some(blocks), _) => blocks.value.as_int().map_or(most, i128::from),
            (None, false) => 1,
            (None, true) => most,
        }
    }

    // Expressions of the call.

    /// A sum of numbers of the call as an expression of it.
    fn expr(&self, form: &Form) -> Option<CallExpr> {
        let mut sum: Option<CallExpr> = None;
        let (positive, negative): (Vec<_>, Vec<_>) =
            form.parts.iter().partition(|(_, times)| **times > 0);
        for (part, times) in positive.into_iter().chain(negative) {
            let Part::Value(value) = part else { return None };
            let one = self.value_expr(*value, 0)?;
            let size = i64::try_from(times.unsigned_abs()).ok()?;
            let one = if size == 1 { one } else { one * size };
            sum = Some(match (sum, *times > 0) {
                (None, true) => one,
                (None, false) => CallExpr::Int(0) - one,
                (Some(sum), true) => sum + one,
                (Some(sum), false) => sum - one,
            });
        }
        let constant = i64::try_from(form.constant).ok()?;
        Some(match (sum, constant) {
            (None, constant) => CallExpr::Int(constant),
            (Some(sum), 0) => sum,
            (Some(sum), constant @ 1..) => sum + CallExpr::Int(constant),
            (Some(sum), constant) => sum - CallExpr::Int(constant.checked_neg()?),
        })
    }

    fn value_expr(&self, value: Value, depth: u32) -> Option<CallExpr> {
        if let Some(written) = (self.finished.written)(value) {
            return Some(written);
        }
        let inner = |value: &Value| self.value_expr(*value, depth + 1);
        match self.definitions.get(value) {
            Definition::Given(number) => Some(self.definitions.given(number).0.clone()),
            Definition::Expr(expr) if depth < DEPTH => match expr {
                Expr::Const(constant) => constant.as_int().map(CallExpr::Int),
                Expr::Convert(value, _) => inner(value),
                Expr::Binary(op, a, b) => {
                    Some(CallExpr::binary(term_op(*op)?, inner(a)?, inner(b)?))
                }
                _ => None,
            },
            _ => None,
        }
    }
}

/// How many elements a number of blocks covers, and how many each: the last has fewer, where a rest
/// is left.
fn covering(blocks: &CallExpr) -> Option<(&CallExpr, i64)> {
    let CallExpr::Binary(op, covered, by) = blocks else { return None };
    let by = by.as_int().filter(|by| *by > 1)?;
    match (op, &**covered) {
        (Op::CeilDiv, covered) => Some((covered, by)),
        (Op::FloorDiv, CallExpr::Binary(Op::Add, covered, more)) => {
            (more.as_int() == Some(by - 1)).then_some((&**covered, by))
        }
        _ => None,
    }
}
