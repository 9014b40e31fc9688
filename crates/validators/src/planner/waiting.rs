// SPDX-License-Identifier: Apache-2.0
//! Checks that wait until everything they name has a value.
//!
//! Each definition of a name is an event: the checks that it completes are made right then, in the
//! order written, dims before rules.

use super::star::ndim_of;
use super::{Planner, StarUse};
use crate::check;
use crate::expr::Expr;
use crate::fault::Phrase;
use crate::path::Path;
use crate::plan::Value;
use crate::rule::Rule;
use std::collections::{BTreeMap, HashMap};

/// A check, other than a rule, that waits for a value.
#[derive(Debug)]
struct Pending {
    needs: Vec<String>,
    guards: Vec<Value>,
    check: Check,
}

#[derive(Debug)]
enum Check {
    Dim { path: Path, actual: Value, expr: Expr },
    Stride { path: Path, actual: Value, free: Value, expr: Expr },
    DType { path: Path, actual: Value, var: String },
    Star(StarUse),
}

/// The number of a check that waits. Rules come behind everything else.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Number {
    Check(usize),
    Rule(usize),
}

/// The checks that wait.
#[derive(Debug, Default)]
pub(super) struct Waiting {
    checks: BTreeMap<usize, Pending>,
    /// What each rule needs.
    rules: BTreeMap<usize, Vec<String>>,
    /// What has ever waited for a name.
    of_name: HashMap<String, Vec<Number>>,
    n_checks: usize,
}

/// Names that have just got their values.
pub(super) struct Event<'e> {
    /// The names.
    pub(super) names: &'e [&'e str],
    /// Where.
    pub(super) path: &'e Path,
    /// How the message of a rule that they complete begins.
    pub(super) subject: Phrase,
    /// Where rules that they complete hold in any case.
    pub(super) skip: Value,
}

impl Waiting {
    /// The rules that need a value.
    pub(super) fn new(rules: &[Rule]) -> Waiting {
        let mut waiting = Waiting::default();
        for (number, rule) in rules.iter().enumerate() {
            let needs = check::rule::needs(rule);
            if !needs.is_empty() {
                waiting.index(&needs, Number::Rule(number));
                waiting.rules.insert(number, needs);
            }
        }
        waiting
    }

    fn add(&mut self, pending: Pending) {
        self.index(&pending.needs, Number::Check(self.n_checks));
        self.checks.insert(self.n_checks, pending);
        self.n_checks += 1;
    }

    fn index(&mut self, needs: &[String], number: Number) {
        for need in needs {
            self.of_name.entry(need.clone()).or_default().push(number);
        }
    }

    /// What one of the names may complete, in the order in which it is made.
    fn on(&self, names: &[&str]) -> Vec<Number> {
        let waiting = names.iter().filter_map(|name| self.of_name.get(*name)).flatten();
        let mut numbers: Vec<_> = waiting.copied().collect();
        numbers.sort();
        numbers.dedup();
        numbers
    }

    /// How many checks have waited so far.
    pub(super) fn mark(&self) -> usize {
        self.n_checks
    }

    /// The values that checks since `mark` wait with.
    pub(super) fn values_since(&mut self, mark: usize) -> Vec<&mut Value> {
        self.checks.range_mut(mark..).flat_map(|(_, pending)| pending.check.values()).collect()
    }
}

impl Check {
    fn values(&mut self) -> Vec<&mut Value> {
        match self {
            Check::Dim { actual, .. } | Check::DType { actual, .. } => vec![actual],
            Check::Stride { actual, free, .. } => vec![actual, free],
            Check::Star(at) => vec![&mut at.n_dims, &mut at.extents.start, &mut at.extents.step],
        }
    }
}

impl Planner<'_> {
    /// Makes the check of a dim now, or as soon as what it names has a value.
    pub fn check_dim(&mut self, path: &Path, actual: Value, expr: &Expr) {
        let needs = expr.names().into_iter().map(|name| name.text).collect();
        let (path, expr) = (path.clone(), expr.clone());
        self.check(needs, Check::Dim { path, actual, expr });
    }

    /// Makes the check of a stride that is an expression, now or as soon as what it names has a
    /// value that is final.
    pub fn check_stride(&mut self, path: &Path, actual: Value, free: Value, expr: &Expr) {
        let needs = expr.names().into_iter().map(|name| name.text).collect();
        let (path, expr) = (path.clone(), expr.clone());
        self.check(needs, Check::Stride { path, actual, free, expr });
    }

    /// Makes the check of a dtype against its variable, now or as soon as the variable has a value.
    pub fn check_dtype(&mut self, path: &Path, actual: Value, var: &str) {
        let (path, var) = (path.clone(), var.to_string());
        self.check(vec![var.clone()], Check::DType { path, actual, var });
    }

    /// Holds the dims of a star against those that it has, as soon as it has any.
    pub(super) fn check_star(&mut self, name: &str, at: &StarUse) {
        self.check(vec![ndim_of(name)], Check::Star(at.clone()));
    }

    fn check(&mut self, needs: Vec<String>, check: Check) {
        let pending = Pending { needs, guards: self.guards.clone(), check };
        if self.are_final(&pending.needs) {
            self.make(&pending);
        } else {
            self.waiting.add(pending);
        }
    }

    /// Whether these names have values that no later use can change.
    fn are_final(&self, names: &[String]) -> bool {
        names.iter().all(|name| {
            let named = self.names.get(name);
            named.is_some_and(|named| named.shared.as_ref().is_none_or(|shared| shared.settled))
        })
    }

    /// Whether later uses of shared symbols may complete a rule where it is not complete yet.
    fn may_come_later(&self, needs: &[String]) -> bool {
        needs.iter().any(|need| {
            let shared = self.names[need].shared.as_ref();
            shared.is_some_and(|shared| !shared.settled && self.bindings.symbols[need].n_shared > 1)
        })
    }

    /// Makes the checks that an event completes.
    pub(super) fn make_ready(&mut self, event: Event<'_>) {
        for number in self.waiting.on(event.names) {
            match number {
                Number::Check(number) => {
                    if let Some(pending) = self.waiting.checks.remove(&number) {
                        match self.are_final(&pending.needs) {
                            true => self.make(&pending),
                            false => _ = self.waiting.checks.insert(number, pending),
                        }
                    }
                }
                Number::Rule(number) => {
                    if let Some(needs) = self.waiting.rules.remove(&number) {
                        let is_ready = needs.iter().all(|need| self.names.contains_key(need));
                        if is_ready {
                            self.make_rule(number, &needs, &event);
                        }
                        if !is_ready || self.may_come_later(&needs) {
                            self.waiting.rules.insert(number, needs);
                        }
                    }
                }
            }
        }
    }

    /// Makes a rule. It holds where the event says so, and where a shared symbol is not known.
    fn make_rule(&mut self, number: usize, needs: &[String], event: &Event<'_>) {
        let mut skip = event.skip;
        for need in needs {
            if let Some(shared) = &self.names[need].shared {
                let unknown = self.b.not(shared.known());
                skip = self.b.or(skip, unknown);
            }
        }
        let (rule, path, subject) = (&self.rules[number], event.path, event.subject.clone());
        self.under_guards(&[], needs, |cx| check::rule::require(cx, path, subject, rule, skip));
    }

    /// Makes a check that is no rule.
    fn make(&mut self, pending: &Pending) {
        self.under_guards(&pending.guards, &pending.needs, |cx| match &pending.check {
            Check::Dim { path, actual, expr } => {
                check::dim::require_expr(cx, path, *actual, expr);
            }
            Check::Stride { path, actual, free, expr } => {
                check::stride::require_expr(cx, path, *actual, *free, expr);
            }
            Check::DType { path, actual, var } => {
                check::dtype::require_match(cx, path, *actual, var);
            }
            Check::Star(at) => {
                let bound = cx.bound_star(&at.star).expect("the star has been bound").clone();
                check::rank::require_same(cx, at, &bound);
                check::dim::require_same_dims(cx, at, &bound);
            }
        });
    }

    /// Plans `body` under the conditions that a check and the names it needs stand under.
    fn under_guards(&mut self, own: &[Value], needs: &[String], body: impl FnOnce(&mut Self)) {
        let names = needs.iter().flat_map(|need| &self.names[need].guards);
        let mut guards: Vec<_> = own.iter().chain(names).copied().collect();
        guards.retain(|guard| !self.guards.contains(guard));
        guards.dedup();
        guards.iter().for_each(|_| self.b.open());
        body(self);
        for guard in guards.iter().rev() {
            self.b.close(*guard, &[]);
        }
    }
}
