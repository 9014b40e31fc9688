// SPDX-License-Identifier: Apache-2.0
//! What a rule says of numbers where it holds, and where it does not.

use super::{CallFacts, meet, pair};
use kernpack_layout::{Facts, gcd};
use kernpack_validators::expr::{Affine, Expr, Op};
use kernpack_validators::{Comparison, Rule, RuleKind};

impl CallFacts {
    /// Learns from a rule of the signature, which an absent Optional may have skipped.
    pub(super) fn learn_checked(&mut self, rule: &Rule) {
        let names = rule.names();
        if !names.iter().any(|name| self.names.is_optional(name)) {
            return self.learn(rule, true);
        }
        let mut learned = self.clone();
        learned.learn(rule, true);
        if learned.is_impossible {
            return;
        }
        // Where the rule was skipped, what it names is 0 as far as it was absent.
        let symbols = names.iter().filter(|name| name.param.is_none());
        let absent: Vec<_> = symbols.filter(|name| self.names.is_optional(name)).collect();
        for name in absent {
            if let Some(facts) = learned.numbers.get(&name.text) {
                self.know(&Expr::symbol(&name.text), hull(*facts, Facts::of_number(0)));
            }
        }
    }

    /// Learns that a rule holds, or that it has a value and does not.
    pub(super) fn learn(&mut self, rule: &Rule, holds: bool) {
        match &rule.kind {
            RuleKind::Compare(a, comparison, b) if !self.names.is_of_others(rule) => {
                let comparison = if holds { *comparison } else { comparison.opposite() };
                self.learn_comparison(a, comparison, b);
            }
            RuleKind::In(e, values) if holds => self.learn_values(e, values),
            RuleKind::NoAlias(a, b) if holds => _ = self.apart.insert(pair(a, b)),
            RuleKind::Aligned(tensor, bytes) if holds => {
                let known = self.aligned.entry(tensor.clone()).or_insert(1);
                *known = (*known).max(*bytes);
            }
            RuleKind::Not(rule) => self.learn(rule, !holds),
            RuleKind::And(rules) if holds => rules.iter().for_each(|rule| self.learn(rule, true)),
            RuleKind::Or(rules) if !holds => rules.iter().for_each(|rule| self.learn(rule, false)),
            RuleKind::And(rules) | RuleKind::Or(rules) => self.learn_one_of(rules, holds),
            RuleKind::DTypes(..) if self.decide(rule) == Some(!holds) => self.is_impossible = true,
            RuleKind::Compare(..)
            | RuleKind::In(..)
            | RuleKind::Floats(..)
            | RuleKind::Texts(..)
            | RuleKind::DTypes(..)
            | RuleKind::NoAlias(..)
            | RuleKind::Aligned(..) => {}
        }
    }

    /// Learns that one of several rules holds, or that one of them does not.
    fn learn_one_of(&mut self, rules: &[Rule], holds: bool) {
        let possible = rules.iter().filter(|rule| self.decide(rule) != Some(!holds));
        let ways = possible.map(|rule| {
            let mut way = self.clone();
            way.learn(rule, holds);
            way
        });
        match ways.filter(|way| !way.is_impossible).reduce(CallFacts::either) {
            Some(either) => *self = either,
            None => self.is_impossible = true,
        }
    }

    /// What is known where one or the other is.
    fn either(mut self, other: CallFacts) -> CallFacts {
        self.numbers.retain(|text, facts| match other.numbers.get(text) {
            Some(others) => {
                *facts = hull(*facts, *others);
                true
            }
            None => false,
        });
        self.most_nodes = self.most_nodes.min(other.most_nodes);
        self.aligned.retain(|tensor, bytes| match other.aligned.get(tensor) {
            Some(others) => {
                *bytes = (*bytes).min(*others);
                true
            }
            None => false,
        });
        self.apart.retain(|both| other.apart.contains(both));
        self
    }

    fn learn_values(&mut self, e: &Expr, values: &[i64]) {
        let e = self.canonical(e);
        let own = self.facts(&e);
        let is_possible = |value: &&i64| {
            (own.min..=own.max).contains(value) && (own.divisor <= 1 || *value % own.divisor == 0)
        };
        let possible = values.iter().filter(is_possible);
        match possible.map(|value| Facts::of_number(*value)).reduce(hull) {
            Some(facts) => self.know(&e, facts),
            None => self.is_impossible = true,
        }
    }

    fn learn_comparison(&mut self, a: &Expr, comparison: Comparison, b: &Expr) {
        let (a, b) = (self.canonical(a), self.canonical(b));
        let (of_a, of_b) = (self.facts(&a), self.facts(&b));
        let at_most = |max: i64| Facts { max, ..Facts::NONE };
        let at_least = |min: i64| Facts { min, ..Facts::NONE };
        match comparison {
            Comparison::Eq => {
                self.know(&a, of_b);
                self.know(&b, of_a);
                self.learn_multiple(&a, &b);
                self.learn_multiple(&b, &a);
            }
            Comparison::Ne => {
                self.learn_other(&a, of_b);
                self.learn_other(&b, of_a);
            }
            Comparison::Lt => {
                self.know(&a, at_most(of_b.max.saturating_sub(1)));
                self.know(&b, at_least(of_a.min.saturating_add(1)));
            }
            Comparison::Le => {
                self.know(&a, at_most(of_b.max));
                self.know(&b, at_least(of_a.min));
            }
            Comparison::Gt => {
                self.know(&a, at_least(of_b.min.saturating_add(1)));
                self.know(&b, at_most(of_a.max.saturating_sub(1)));
            }
            Comparison::Ge => {
                self.know(&a, at_least(of_b.min));
                self.know(&b, at_most(of_a.max));
            }
        }
    }

    /// `e % c == 0` says what divides `e`.
    fn learn_multiple(&mut self, rest: &Expr, zero: &Expr) {
        if let (Expr::Binary(Op::Mod, e, by), Expr::Int(0)) = (rest, zero)
            && let Some(by) = by.as_int().filter(|by| *by > 0)
        {
            self.know(e, Facts { divisor: by, ..Facts::NONE });
        }
    }

    /// A number that is not another one: where that is its bound, the bound is the next.
    fn learn_other(&mut self, expr: &Expr, other: Facts) {
        let own = self.facts(expr);
        match other.known() {
            Some(value) if value == own.min && value == own.max => self.is_impossible = true,
            Some(value) if value == own.min && value < i64::MAX => {
                self.know(expr, Facts { min: value + 1, ..Facts::NONE });
            }
            Some(value) if value == own.max && value > i64::MIN => {
                self.know(expr, Facts { max: value - 1, ..Facts::NONE });
            }
            Some(_) | None => {}
        }
    }

    /// Learns something of an expression, and of the symbol that it is a multiple of.
    fn know(&mut self, expr: &Expr, facts: Facts) {
        if let Expr::Int(value) = expr {
            self.is_impossible |= *value > facts.max || *value < facts.min;
            return;
        }
        let (own, n_nodes) = self.measured(expr);
        let known = meet(own, facts);
        if known.min > known.max {
            self.is_impossible = true;
            return;
        }
        if known != own {
            self.numbers.insert(expr.to_string(), known);
            self.most_nodes = self.most_nodes.max(n_nodes);
        }
        if let (Some(Affine { symbol, scale, offset }), None) = (expr.as_affine(), expr.as_symbol())
        {
            self.know(&Expr::symbol(symbol), solved(known, scale, offset));
        }
    }
}

/// What is known of `s` where `scale * s + offset` is known.
fn solved(facts: Facts, scale: i64, offset: i64) -> Facts {
    let clamp = |value: i128| value.clamp(i64::MIN.into(), i64::MAX.into()) as i64;
    let from = |bound: i64| i128::from(bound) - i128::from(offset);
    let by = i128::from(scale);
    let min = match facts.min {
        i64::MIN => i64::MIN,
        min => clamp(-(-from(min)).div_euclid(by)),
    };
    let max = match facts.max {
        i64::MAX => i64::MAX,
        max => clamp(from(max).div_euclid(by)),
    };
    let divisor = match (facts.divisor, offset) {
        (divisor, 0) if divisor > 0 => divisor / gcd(divisor, scale),
        _ => 1,
    };
    Facts { divisor, min, max }
}

/// What is known of a number that is one or the other.
fn hull(a: Facts, b: Facts) -> Facts {
    let divisor = gcd(a.divisor, b.divisor);
    Facts { divisor, min: a.min.min(b.min), max: a.max.max(b.max) }
}
