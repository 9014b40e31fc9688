// SPDX-License-Identifier: Apache-2.0
//! How far a packed function may go: its budget of steps and levels, and how large one value may
//! be, which counts as steps.
//!
//! That functions do not call themselves, and that constants are not made of themselves, is seen
//! where they are called and looked up.

use super::call::OpenCall;
use super::expression::Evaluator;
use super::value::Evaluated;
use crate::argument::Dim;
use crate::budget::{Budget, too_deep};
use crate::names::Constants;
use kernpack_layout::{Int, Layout};
use kernpack_syntax::{Diagnostic, Span};
use kernpack_validators::expr::Expr as Number;
use kernpack_validators::{Rule, RuleKind};

#[cfg(test)]
mod tests;

/// The depth that a constant adds, beside its expression.
pub(super) const DEPTH_OF_CONSTANT: usize = 2;
/// The most steps: one for each expression that is evaluated, and one for each part of its value.
const MOST_STEPS: usize = 1_000_000;
/// The most operations, names and constants of a number.
const MOST_NODES: usize = 512;
/// The most parts of a value.
const MOST_PARTS: usize = 4096;
/// The most levels of tuples, or of conditions, within each other.
const MOST_LEVELS: usize = 200;

/// How far a packed function has gone.
#[derive(Clone, Debug)]
pub(super) struct Progress {
    pub calls: Vec<OpenCall>,
    /// The constants of files that were asked for.
    pub constants: Constants<Evaluated>,
    budget: Budget,
}

impl Default for Progress {
    fn default() -> Progress {
        let (calls, constants) = (Vec::new(), Constants::default());
        Progress { calls, constants, budget: Budget::new(MOST_STEPS) }
    }
}

impl Evaluator<'_> {
    /// Goes some levels deeper, unless that is too deep or there were too many steps, which is
    /// reported.
    pub fn begin(&mut self, n_levels: usize, span: Span) -> bool {
        if !self.count_steps(1, span) {
            return false;
        }
        if self.progress.budget.is_deep() {
            self.report(too_deep(span, "here"));
            return false;
        }
        self.progress.budget.enter(n_levels);
        true
    }

    /// Comes back from there.
    pub fn end(&mut self, n_levels: usize) {
        self.progress.budget.leave(n_levels);
    }

    /// Whether there may be that many steps more; reports that once.
    pub fn count_steps(&mut self, n_steps: usize, span: Span) -> bool {
        let budget = &mut self.progress.budget;
        budget.count(n_steps);
        if budget.is_spent() && budget.exhaust() {
            let message = format!("this function takes more than {MOST_STEPS} steps");
            let problem = Diagnostic::new("packed-size", message).label(span, "the last of them");
            self.report(problem.help("call functions fewer times, and make smaller values"));
        }
        !self.progress.budget.is_exhausted()
    }

    /// A value, unless it is too large, which is reported.
    pub fn bounded(&mut self, value: Evaluated, span: Span) -> Option<Evaluated> {
        let mut size = Size::default();
        size.add(&value, 0);
        self.count_steps(size.n_parts, span).then_some(())?;
        if size.n_parts <= MOST_PARTS && size.n_levels <= MOST_LEVELS {
            return Some(value);
        }
        let message = match value {
            Evaluated::Rule(_) => "a condition of too many parts".to_string(),
            value => format!("{} of too many parts", value.what()),
        };
        let problem = Diagnostic::new("packed-size", message).label(span, "here");
        let most = format!("make it of at most {MOST_PARTS} parts, in {MOST_LEVELS} levels");
        self.report(problem.help(most))
    }

    /// A number, unless it is too large, which is reported.
    pub fn bounded_number(&mut self, number: Number, span: Span) -> Option<Number> {
        if is_small(&number) {
            return Some(number);
        }
        self.report(too_large(span));
        None
    }
}

/// That a number is too large.
pub(super) fn too_large(span: Span) -> Diagnostic {
    let message = format!("a number of more than {MOST_NODES} operations, names and constants");
    let problem = Diagnostic::new("packed-size", message).label(span, "here");
    problem.help("compute it in the kernel")
}

/// Whether a number has no more operations, names and constants than it may have.
pub(super) fn is_small(number: &Number) -> bool {
    n_nodes(number) <= MOST_NODES
}

fn n_nodes(number: &Number) -> usize {
    match number {
        Number::Int(_) | Number::Symbol(..) | Number::Field(..) => 1,
        Number::Binary(_, a, b) => 1 + n_nodes(a) + n_nodes(b),
    }
}

/// How large a value is.
#[derive(Default)]
struct Size {
    n_parts: usize,
    n_levels: usize,
}

impl Size {
    fn add(&mut self, value: &Evaluated, level: usize) {
        self.n_parts += 1;
        self.n_levels = self.n_levels.max(level);
        match value {
            Evaluated::Dim(number) => self.n_parts += n_nodes(number),
            Evaluated::Tuple(items) => items.iter().for_each(|(_, item)| self.add(item, level + 1)),
            Evaluated::Layout(layout, _) => self.add_layout(layout),
            Evaluated::Tensor(tensor) => self.add_layout(&tensor.view),
            Evaluated::Optional(_, inner) => self.add(inner, level + 1),
            Evaluated::Rule(rule) => self.add_rule(rule, level),
            Evaluated::Call(call) => call.args.iter().for_each(|(arg, _)| self.add(arg, level + 1)),
            Evaluated::Poison
            | Evaluated::None
            | Evaluated::Bool(_)
            | Evaluated::Int(_)
            | Evaluated::Float(_)
            | Evaluated::Text(_)
            | Evaluated::DType(_)
            | Evaluated::DTypeParam(..)
            | Evaluated::Scalar(_)
            | Evaluated::String(_)
            | Evaluated::Stream(_)
            | Evaluated::Opaque(..)
            | Evaluated::Range(_)
            | Evaluated::Swizzle(_)
            | Evaluated::Pointer(_)
            | Evaluated::NoTensor(..)
            | Evaluated::Kernel(_)
            | Evaluated::Function(_)
            | Evaluated::Builtin(_)
            | Evaluated::Kernpack
            | Evaluated::Device
            | Evaluated::Module(_) => {}
        }
    }

    fn add_layout(&mut self, layout: &Layout<Dim>) {
        self.n_levels = self.n_levels.max(layout.depth());
        for mode in layout.leaves() {
            let numbers = [&mode.extent, &mode.stride.scale];
            self.n_parts += numbers.into_iter().map(n_nodes_of_int).sum::<usize>();
        }
    }

    fn add_rule(&mut self, rule: &Rule, level: usize) {
        self.n_parts += 1;
        self.n_levels = self.n_levels.max(level);
        match &rule.kind {
            RuleKind::Compare(a, _, b) => self.n_parts += n_nodes(a) + n_nodes(b),
            RuleKind::In(number, values) => self.n_parts += n_nodes(number) + values.len(),
            RuleKind::Texts(_, texts) => self.n_parts += texts.len(),
            RuleKind::Not(rule) => self.add_rule(rule, level + 1),
            RuleKind::And(rules) | RuleKind::Or(rules) => {
                rules.iter().for_each(|rule| self.add_rule(rule, level + 1));
            }
            RuleKind::Floats(..)
            | RuleKind::DTypes(..)
            | RuleKind::NoAlias(..)
            | RuleKind::Aligned(..) => {}
        }
    }
}

fn n_nodes_of_int(number: &Int<Dim>) -> usize {
    match number {
        Int::Known(_) => 1,
        Int::Dynamic(dim) => n_nodes(&dim.expr),
    }
}
