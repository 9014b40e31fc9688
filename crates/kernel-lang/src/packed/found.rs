// SPDX-License-Identifier: Apache-2.0
//! Rules and memory that the body of a packed function says, and that belong to its signature:
//! every call has to keep the rules, and allocates the memory.
//!
//! A body is gone through twice where it says such a thing: first to find it, and then as if it had
//! stood in the signature, which is what callers see and entry points check. So what kernels are
//! compiled for is established by checks that are there, wherever in the body they are written.
//!
//! A rule that is found on one side of an `if` is kept there: `not cond or rule`. One that only
//! some combinations of dtypes have is kept for them: `T in {the others} or rule`.

use super::Row;
use super::allocation::Allocation;
use super::expression::Evaluator;
use crate::python::tree::Name;
use kernpack_ffi_abi::DType;
use kernpack_syntax::{Diagnostic, Span};
use kernpack_validators::{Branch, Rule, RuleKind, Signature, Workspace};

/// How a body is gone through.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Pass {
    /// To find what it says that belongs to the signature.
    Finding,
    /// With a signature in which all of it stands.
    Final,
}

/// Rules of the signature that a body says.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Found {
    /// Rules, in the order in which they were met, each once.
    pub rules: Vec<Rule>,
    /// Memory that calls allocate, in the order in which it was met.
    pub allocations: Vec<Allocation>,
    /// The names of that which is returned, in order; nothing where nothing is.
    pub returned: Option<Vec<Name>>,
}

impl Found {
    /// Whether there is nothing.
    pub fn is_empty(&self) -> bool {
        self.rules.is_empty() && self.allocations.is_empty()
    }

    fn add(&mut self, rule: Rule) {
        if !self.rules.contains(&rule) {
            self.rules.push(rule);
        }
    }

    /// Those that the combinations of dtypes have found, in terms of all of them.
    pub fn of_rows(rows: &[(Row, Found)]) -> Found {
        // Functions with dtype variables allocate nothing, and others have one combination.
        let first = rows.first().map(|(_, found)| found.clone()).unwrap_or_default();
        let mut all = Found { rules: Vec::new(), ..first };
        for rule in rows.iter().flat_map(|(_, found)| &found.rules) {
            let (own, others): (Vec<_>, Vec<_>) =
                rows.iter().partition(|(_, found)| found.rules.contains(rule));
            let [own, others] = [own, others].map(|rows| rows.into_iter().map(|row| &row.0));
            all.add(match others.len() {
                0 => rule.clone(),
                _ => {
                    let of_others = of_other_rows(own.collect(), others.collect(), rule.span);
                    any_of([of_others, rule.clone()], rule.span)
                }
            });
        }
        all
    }

    /// A signature in which it stands, with what calls allocate beside that.
    pub fn added_to(
        self,
        signature: &Signature,
        mut workspaces: Vec<Workspace>,
    ) -> (Signature, Vec<Workspace>) {
        let mut signature = signature.clone();
        let returned = self.returned.unwrap_or_default();
        let of = |name: &Name| self.allocations.iter().find(|one| one.name == *name);
        let results = returned.iter().filter_map(of).map(Allocation::as_result);
        signature.results.extend(results);
        let others = self.allocations.iter().filter(|one| !returned.contains(&one.name));
        workspaces.extend(others.map(Allocation::as_workspace));
        let is_new = |rule: &Rule| !signature.rules.contains(rule);
        let rules: Vec<_> = self.rules.into_iter().filter(is_new).collect();
        signature.rules.extend(rules);
        (signature, workspaces)
    }
}

impl Evaluator<'_> {
    /// Demands that a rule holds in every call that gets here. Gives whether each of them is asked:
    /// of a rule over what is absent, or over a stride that no step takes, part may be left out.
    pub fn demand(&mut self, rule: Rule) -> bool {
        match rule.kind {
            // Each by itself, so that the message about one says no more than that.
            RuleKind::And(rules) => {
                let are_asked: Vec<_> = rules.into_iter().map(|rule| self.demand(rule)).collect();
                !are_asked.contains(&false)
            }
            _ => self.demand_one(Some(rule.clone()), rule.span),
        }
    }

    /// Demands that no call gets here, where some side of an `if` is around. Gives whether none
    /// does.
    pub fn demand_nothing(&mut self, span: Span) -> bool {
        self.demand_one(None, span)
    }

    fn demand_one(&mut self, rule: Option<Rule>, span: Span) -> bool {
        let others = self.facts.sides().iter().map(other_side);
        let rule = any_of(others.chain(rule), span);
        if !self.knows_no_device(&rule, span) {
            return true;
        }
        let is_asked = self.facts.is_always_asked(&rule);
        match self.pass {
            Pass::Finding => {
                self.unasked.extend((!is_asked).then_some(span));
                self.facts.demand(&rule);
                self.found.add(rule);
                is_asked
            }
            // What is known by now may have made this rule shorter than the one that is asked.
            Pass::Final => is_asked && !self.unasked.iter().any(|one| one.overlaps(span)),
        }
    }

    /// Demands what launches rely on, so that it has to be asked of each call that gets here.
    pub fn demand_always(&mut self, rule: Rule) -> Option<()> {
        let (text, span) = (rule.to_string(), rule.span);
        if self.demand(rule) {
            return Some(());
        }
        self.not_asked(&format!("`{text}` is not asked of every call that gets here"), span);
        None
    }

    /// That a rule is not asked of each call that gets to where it is relied on: `message` says so.
    pub fn not_asked(&mut self, message: &str, span: Span) {
        let problem = Diagnostic::new("packed-value", message);
        let why =
            "this, or a condition around it, is over a stride that a call may have no step for";
        let help = "ask for it by an `if`, or let no stride be in the conditions around it";
        self.report(problem.label(span, why).help(help));
    }
}

/// That a call takes the other side. What has no value fails a rule either way.
fn other_side(Branch { rule, holds }: &Branch) -> Rule {
    match (&rule.kind, holds) {
        (_, false) => rule.clone(),
        (RuleKind::Not(rule), true) => (**rule).clone(),
        (RuleKind::Compare(a, comparison, b), true) => {
            let kind = RuleKind::Compare(a.clone(), comparison.opposite(), b.clone());
            Rule { kind, span: rule.span }
        }
        (_, true) => Rule { kind: RuleKind::Not(Box::new(rule.clone())), span: rule.span },
    }
}

/// That one of some rules holds.
fn any_of(rules: impl IntoIterator<Item = Rule>, span: Span) -> Rule {
    let mut all = Vec::new();
    for rule in rules {
        match rule.kind {
            RuleKind::Or(rules) => all.extend(rules),
            _ => all.push(rule),
        }
    }
    match (all.len(), all.pop()) {
        (1, Some(Rule { kind, .. })) => Rule { kind, span },
        (_, last) => Rule { kind: RuleKind::Or(all.into_iter().chain(last).collect()), span },
    }
}

/// That the dtypes are none of those combinations, but one of the others: by as few variables as
/// tell.
fn of_other_rows(own: Vec<&Row>, others: Vec<&Row>, span: Span) -> Rule {
    let mut vars: Vec<&String> = own.iter().flat_map(|row| row.keys()).collect();
    vars.sort();
    vars.dedup();
    for var in vars.clone() {
        let fewer: Vec<_> = vars.iter().copied().filter(|other| *other != var).collect();
        let of = |row: &Row| fewer.iter().map(|var| row[*var]).collect::<Vec<_>>();
        let is_told = others.iter().all(|row| own.iter().all(|own| of(own) != of(row)));
        if is_told {
            vars = fewer;
        }
    }
    let mut rows: Vec<Vec<DType>> = Vec::new();
    for row in others {
        let dtypes: Vec<_> = vars.iter().map(|var| row[*var]).collect();
        if !rows.contains(&dtypes) {
            rows.push(dtypes);
        }
    }
    Rule { kind: RuleKind::DTypes(vars.into_iter().cloned().collect(), rows), span }
}
