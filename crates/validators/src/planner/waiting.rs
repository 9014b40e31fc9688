// SPDX-License-Identifier: Apache-2.0
//! Checks that wait until everything they name has a value.
//!
//! Each definition of a name is an event: the checks that it completes are made right then, in the
//! order written, dims before rules.

use super::name::Named;
use super::star::ndim_of;
use super::{Planner, StarUse};
use crate::check;
use crate::check::rule::Site;
use crate::expr::Expr;
use crate::fault::Phrase;
use crate::path::Path;
use crate::plan::Value;
use crate::rule::Rule;
use std::collections::{BTreeMap, BTreeSet, HashMap};

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

/// The checks that wait.
#[derive(Debug, Default)]
pub(super) struct Waiting {
    checks: BTreeMap<usize, Pending>,
    /// The numbers of the checks that wait for a name.
    checks_on: HashMap<String, Vec<usize>>,
    n_checks: usize,
    /// The names that each rule needs.
    rules: BTreeMap<usize, Vec<String>>,
    /// The numbers of the rules that need a name.
    rules_on: HashMap<String, Vec<usize>>,
    /// The rules that wait for the end of the outermost `Optional`.
    late: BTreeSet<usize>,
}

/// Names that have just got their values, and complete rules.
pub(super) struct Event<'e> {
    /// The names.
    pub(super) names: &'e [&'e str],
    /// Where.
    pub(super) path: &'e Path,
    /// The subject in the message of a rule that they complete.
    pub(super) what: &'e str,
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
                index(&mut waiting.rules_on, &needs, number);
                waiting.rules.insert(number, needs);
            }
        }
        waiting
    }

    fn add(&mut self, pending: Pending) {
        index(&mut self.checks_on, &pending.needs, self.n_checks);
        self.checks.insert(self.n_checks, pending);
        self.n_checks += 1;
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

fn index(numbers_on: &mut HashMap<String, Vec<usize>>, needs: &[String], number: usize) {
    for need in needs {
        numbers_on.entry(need.clone()).or_default().push(number);
    }
}

/// The checks that wait for one of the names, in the order in which they are made.
fn numbers(numbers_on: &HashMap<String, Vec<usize>>, names: &[&str]) -> Vec<usize> {
    let waiting = names.iter().filter_map(|name| numbers_on.get(*name)).flatten();
    let mut numbers: Vec<_> = waiting.copied().collect();
    numbers.sort_unstable();
    numbers.dedup();
    numbers
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
        if self.is_ready(&pending) {
            self.make(&pending);
        } else {
            self.waiting.add(pending);
        }
    }

    /// Whether all that a check names has a value that no later use can change.
    fn is_ready(&self, pending: &Pending) -> bool {
        let is_final = |named: &Named| self.is_final_under(named, &pending.guards);
        pending.needs.iter().all(|need| self.names.get(need).is_some_and(is_final))
    }

    /// Whether later uses of shared symbols may complete a rule where it is not complete yet.
    fn may_come_later(&self, number: usize, needs: &[String]) -> bool {
        let may_remain = check::rule::may_remain(&self.rules[number]);
        needs.iter().any(|need| {
            let open = self.names[need].shared.as_ref().filter(|it| !it.is_settled());
            open.is_some_and(|shared| {
                let remains = may_remain && shared.given().is_some();
                remains || self.bindings.symbols[need].n_sharers() > 1
            })
        })
    }

    /// Whether a rule that is complete has to wait for the end of the outermost `Optional`: there
    /// may be something to check where that is absent.
    fn is_late(&self, number: usize, needs: &[String]) -> bool {
        let rule = &self.rules[number];
        let is_here = |need: &String| self.names[need].guards == self.guards;
        !self.guards.is_empty()
            && check::rule::may_remain(rule)
            && (rule.asks_given() || !needs.iter().all(is_here))
    }

    /// Makes the checks, other than rules, that wait for one of the names and no longer have to.
    pub(super) fn make_checks(&mut self, names: &[&str]) {
        for number in numbers(&self.waiting.checks_on, names) {
            let Some(pending) = self.waiting.checks.remove(&number) else { continue };
            match self.is_ready(&pending) {
                true => self.make(&pending),
                false => _ = self.waiting.checks.insert(number, pending),
            }
        }
        // A check that is made is not looked at again, however often a name gets a value.
        let Waiting { checks, checks_on, .. } = &mut self.waiting;
        for name in names {
            if let Some(numbers) = checks_on.get_mut(*name) {
                numbers.retain(|number| checks.contains_key(number));
            }
        }
    }

    /// Makes the rules that an event completes.
    pub(super) fn make_rules(&mut self, event: Event<'_>) {
        for number in numbers(&self.waiting.rules_on, event.names) {
            self.complete_rule(number, &event);
        }
    }

    /// Makes the rules that have waited for the end of the `Optional` at that path, where that is
    /// the outermost.
    pub fn make_late_rules(&mut self, path: &Path) {
        if !self.guards.is_empty() {
            return;
        }
        let (subject, skip) = (path.subject("Invalid"), self.b.bool(false));
        let event = Event { names: &[], path, what: &path.text, subject, skip };
        for number in std::mem::take(&mut self.waiting.late) {
            self.complete_rule(number, &event);
        }
    }

    /// Makes a rule that an event may complete, if it does.
    fn complete_rule(&mut self, number: usize, event: &Event<'_>) {
        let Some(needs) = self.waiting.rules.remove(&number) else { return };
        let is_complete = needs.iter().all(|need| self.names.contains_key(need));
        let is_late = is_complete && self.is_late(number, &needs);
        if is_late {
            self.waiting.late.insert(number);
        } else if is_complete {
            self.make_rule(number, &needs, event);
        }
        if !is_complete || is_late || self.may_come_later(number, &needs) {
            self.waiting.rules.insert(number, needs);
        }
    }

    /// Makes a rule. It holds where the event says so, and where a shared symbol is not known. One
    /// of which nothing remains where something is absent is made under the conditions of what it
    /// names.
    fn make_rule(&mut self, number: usize, needs: &[String], event: &Event<'_>) {
        let rule = &self.rules[number];
        let may_remain = check::rule::may_remain(rule);
        let mut skip = event.skip;
        for need in needs {
            if let Some(shared) = self.names[need].shared.clone() {
                let unknown = match may_remain {
                    true => self.is_unknown(need, &shared),
                    false => self.b.not(shared.known()),
                };
                skip = self.b.or(skip, unknown);
            }
        }
        let Event { path, what, subject, .. } = event;
        let site = Site { path, what, subject: subject.clone(), skip };
        if may_remain {
            return check::rule::require(self, site, rule);
        }
        self.under_guards(&[], needs, |cx| check::rule::require(cx, site, rule));
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
        let mut guards: Vec<Value> = Vec::new();
        for guard in own.iter().chain(names).copied() {
            if !self.guards.contains(&guard) && !guards.contains(&guard) {
                guards.push(guard);
            }
        }
        guards.iter().for_each(|_| self.b.open());
        body(self);
        for guard in guards.iter().rev() {
            self.b.close(*guard, &[]);
        }
    }
}
