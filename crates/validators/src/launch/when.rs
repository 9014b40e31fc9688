// SPDX-License-Identifier: Apache-2.0
//! `when` as it is written, and what is known of it before a call: the dtypes under which a launch
//! may run.
//!
//! Every `when` of rules is asked by itself. `otherwise` asks about those above it, back to the
//! last `otherwise` or launch without `when`: what has been asked so far is a *group*, which ends
//! there.

use crate::declare::Bindings;
use crate::expr::Name;
use crate::rule::{Known, KnownValue, Outcomes, Rule, RuleKind, join};
use kernpack_ffi_abi::DType;
use kernpack_syntax::Span;
use std::fmt;

/// When a launch runs.
#[derive(Clone, Debug, Default)]
pub enum When {
    /// In every call.
    #[default]
    Always,
    /// Where all of these hold.
    Rules(Vec<Rule>),
    /// Where no `when` above it held, back to the last `otherwise` or launch without `when`. The
    /// word stands there.
    Otherwise(Span),
    /// On one way through nested `if`s: of several launches, none may run.
    Branches(Vec<Branch>),
}

/// A side of an `if`.
#[derive(Clone, Debug, PartialEq)]
pub struct Branch {
    /// The rule that is asked.
    pub rule: Rule,
    /// Whether it is the side where that holds. A rule that overflows, or divides by what is not
    /// positive, does not hold: so each call takes one side.
    pub holds: bool,
}

impl Branch {
    /// The side as a rule.
    fn as_rule(&self) -> Rule {
        let Branch { rule, holds } = self.clone();
        let span = rule.span;
        if holds { rule } else { Rule { kind: RuleKind::Not(Box::new(rule)), span } }
    }
}

/// Equal conditions are equal wherever they stand.
impl PartialEq for When {
    fn eq(&self, other: &When) -> bool {
        match (self, other) {
            (When::Always, When::Always) | (When::Otherwise(_), When::Otherwise(_)) => true,
            (When::Rules(rules), When::Rules(others)) => rules == others,
            (When::Branches(branches), When::Branches(others)) => branches == others,
            (When::Always | When::Rules(_) | When::Otherwise(_) | When::Branches(_), _) => false,
        }
    }
}

impl When {
    /// The word for what is left.
    pub(crate) const OTHERWISE: &str = "otherwise";

    /// Its rules, if it has any, whichever way they are asked.
    pub fn rules(&self) -> Vec<&Rule> {
        match self {
            When::Rules(rules) => rules.iter().collect(),
            When::Branches(branches) => branches.iter().map(|branch| &branch.rule).collect(),
            When::Always | When::Otherwise(_) => vec![],
        }
    }

    /// Where it stands.
    pub fn span(&self) -> Option<Span> {
        match self {
            When::Always => None,
            When::Rules(rules) => rules.iter().map(|rule| rule.span).reduce(Span::to),
            When::Otherwise(span) => Some(*span),
            // They stand in several places; the innermost is the launch's own.
            When::Branches(branches) => branches.last().map(|branch| branch.rule.span),
        }
    }

    /// The rules that it asks, a text for each.
    pub fn texts(&self) -> Vec<String> {
        match self {
            When::Always => vec![],
            When::Rules(rules) => rules.iter().map(Rule::to_string).collect(),
            When::Otherwise(_) => vec![When::OTHERWISE.to_string()],
            When::Branches(branches) => {
                branches.iter().map(|branch| branch.as_rule().to_string()).collect()
            }
        }
    }
}

impl fmt::Display for When {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&join(self.texts()))
    }
}

/// The symbols and fields that the launch of that number asks about, itself or by `otherwise`.
pub(super) fn asked(whens: &[&When], launch: usize) -> Vec<Name> {
    let end = match whens[launch] {
        When::Otherwise(_) => launch,
        When::Always | When::Rules(_) | When::Branches(_) => launch + 1,
    };
    let is_rules = |when: &&&When| matches!(when, When::Rules(_) | When::Branches(_));
    let group = whens[..end].iter().rev().take_while(is_rules);
    let own = if end == launch { usize::MAX } else { 1 };
    group.take(own).flat_map(|when| when.rules()).flat_map(Rule::names).collect()
}

/// For each launch, the numbers of the combinations of dtypes under which it may run. Without dtype
/// variables, none of them has any.
pub(super) fn runnable(
    whens: &[&When],
    bindings: &Bindings,
    combinations: &[Vec<DType>],
) -> Vec<Vec<usize>> {
    let mut runnable = vec![vec![]; whens.len()];
    for (number, row) in combinations.iter().enumerate() {
        let place = |var: &str| bindings.dtypes.keys().position(|known| known == var);
        let dtype = |var: &str| place(var).map(|at| KnownValue::DType(row[at]));
        let known = Known { values: &dtype };
        for (launch, outcomes) in outcomes(whens, &known).into_iter().enumerate() {
            if outcomes.holds {
                runnable[launch].push(number);
            }
        }
    }
    runnable
}

/// The possible outcomes of each condition.
fn outcomes(whens: &[&When], known: &Known<'_>) -> Vec<Outcomes> {
    let mut group: Vec<Outcomes> = Vec::new();
    let of = |when: &&When| match when {
        When::Always => {
            group.clear();
            Outcomes::of_all(&[], known)
        }
        When::Rules(rules) => {
            let outcomes = Outcomes::of_all(rules, known);
            group.push(outcomes);
            outcomes
        }
        When::Branches(branches) => {
            let outcomes = Outcomes::of_branches(branches, known);
            group.push(outcomes);
            outcomes
        }
        When::Otherwise(_) => Outcomes::of_none(&std::mem::take(&mut group)),
    };
    whens.iter().map(of).collect()
}
