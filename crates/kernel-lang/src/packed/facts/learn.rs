// SPDX-License-Identifier: Apache-2.0
//! Facts that rules say of a call: where they hold, where they do not, and where part of them is
//! left out.

use super::{Because, CallFacts, Learned, Number, Reasons, pair};
use kernpack_interval::Interval;
use kernpack_layout::{Facts, gcd};
use kernpack_validators::expr::{Affine, Expr, Field, Name, Op};
use kernpack_validators::{Comparison, Rule, RuleKind};
use std::rc::Rc;

/// Writes down what something establishes.
pub(super) struct Learner<'f> {
    facts: &'f mut CallFacts,
    because: Reasons,
}

impl CallFacts {
    /// Learns from what is so for that reason.
    pub(super) fn because(&mut self, because: Because) -> Learner<'_> {
        Learner { facts: self, because: Rc::new([because].into()) }
    }

    /// Learns from a check that says more under the conditions of this place.
    pub(super) fn because_here(&mut self, check: Because) -> Learner<'_> {
        let mut because = self.conditions.clone();
        Rc::make_mut(&mut because).insert(check);
        Learner { facts: self, because }
    }

    /// Learns from a rule of the signature, which a call may leave out.
    pub(super) fn learn_rule(&mut self, rule: &Rule) {
        let names = rule.names().into_iter().map(|name| name.text);
        let loose: Vec<_> = names
            .filter_map(|name| self.loose_stride(&name).map(|compact| (name, compact)))
            .collect();
        let because = Because::rule(rule);
        match &loose[..] {
            [] => self.because_here(because).learn_checked(rule, true),
            // It is asked where the stride is one that steps take.
            [(stride, compact)] => {
                let (mut asked, symbol) = (self.clone(), Expr::symbol(stride));
                let mut learner = asked.because_here(because.clone());
                learner.know(&symbol, Facts::NON_NEGATIVE);
                learner.learn_checked(rule, true);
                if !asked.is_impossible {
                    let known = asked.facts(&symbol).either(*compact);
                    self.because_here(because).know(&symbol, known);
                }
            }
            // Which of them steps take is not known.
            _ => {}
        }
    }

    /// Whether a rule of the signature is asked here as it stands, with no part of it left out.
    pub fn is_always_asked(&self, rule: &Rule) -> bool {
        let mut names = rule.names().into_iter();
        self.absentable(rule).is_empty()
            && names.all(|name| self.loose_stride(&name.text).is_none())
    }

    /// The holders that decide whether the names of a rule are there, each with the name; what is
    /// there in any call is not among them.
    fn absentable(&self, rule: &Rule) -> Vec<(Name, String)> {
        let tensor = |path: &str| Name {
            text: path.to_string(),
            span: rule.span,
            param: Some(path.to_string()),
            field: None,
        };
        let tensors = rule.tensors().into_iter().map(tensor);
        let names = rule.names().into_iter().chain(tensors);
        let absentable = names.filter_map(|name| {
            let holder = self.names.holder(&name)?.to_string();
            Some((name, holder))
        });
        absentable.filter(|(_, holder)| !self.is_given(holder)).collect()
    }

    /// Whether the Optional of that path is given wherever this is asked.
    fn is_given(&self, path: &str) -> bool {
        let given = Expr::Field(path.to_string(), Field::Given, Default::default());
        self.facts(&given).min == 1
    }
}

/// Who asks about a rule.
#[derive(Clone, Copy, PartialEq)]
enum Asked {
    /// The entry point, which leaves out what names what is absent.
    ByEntryPoint,
    /// A condition, in which absent numbers are 0.
    Here,
}

impl Learner<'_> {
    /// Learns from the same, and from what else was known for those reasons.
    fn also(&mut self, more: &Reasons) -> Learner<'_> {
        let mut because = self.because.clone();
        add_reasons(&mut because, more);
        Learner { facts: self.facts, because }
    }

    /// A way on which more may be learned from the same.
    fn way(&self, learn: impl FnOnce(&mut Learner<'_>)) -> CallFacts {
        let mut facts = self.facts.clone();
        learn(&mut Learner { facts: &mut facts, because: self.because.clone() });
        facts
    }

    /// Learns that a rule of the signature holds, or does not, of which comparisons are left out
    /// that name what is absent: each part tells what is so where it counts, and where it does not.
    fn learn_checked(&mut self, rule: &Rule, holds: bool) {
        match &rule.kind {
            RuleKind::Not(rule) => self.learn_checked(rule, !holds),
            RuleKind::And(rules) | RuleKind::Or(rules) => {
                match matches!(rule.kind, RuleKind::And(_)) == holds {
                    true => rules.iter().for_each(|rule| self.learn_checked(rule, holds)),
                    false => self.learn_one_of(rules, holds, Asked::ByEntryPoint),
                }
            }
            RuleKind::Compare(..)
            | RuleKind::In(..)
            | RuleKind::Floats(..)
            | RuleKind::Texts(..)
            | RuleKind::DTypes(..)
            | RuleKind::NoAlias(..)
            | RuleKind::Aligned(..) => self.learn_part(rule, holds),
        }
    }

    /// Learns from a comparison, which may be left out. Absent tensors lie nowhere, so that they
    /// are aligned and apart; absent numbers are 0.
    fn learn_part(&mut self, part: &Rule, holds: bool) {
        if matches!(part.kind, RuleKind::NoAlias(..) | RuleKind::Aligned(..)) {
            return self.learn(part, holds);
        }
        let absentable = self.facts.absentable(part);
        let Some((_, holder)) = absentable.first() else { return self.learn(part, holds) };
        // It is left out with what is there, where something else is not.
        if absentable.iter().any(|(_, other)| other != holder) {
            return;
        }
        let way = self.way(|learner| learner.learn(part, holds));
        if way.is_impossible {
            return;
        }
        for (name, _) in &absentable {
            let expr = self.facts.canonical(&expr_of(name));
            self.know(&expr, way.facts(&expr).either(Facts::of_number(0)));
        }
    }

    /// Learns that a rule holds, or that it has a value and does not.
    pub fn learn(&mut self, rule: &Rule, holds: bool) {
        match &rule.kind {
            RuleKind::Compare(a, comparison, b) if !self.facts.names.is_of_others(rule) => {
                let comparison = if holds { *comparison } else { comparison.opposite() };
                self.learn_comparison(a, comparison, b);
            }
            RuleKind::In(e, values) if holds => self.learn_values(e, values),
            RuleKind::NoAlias(a, b) if holds => self.learn_apart(a, b),
            RuleKind::Aligned(tensor, bytes) if holds => self.learn_aligned(tensor, *bytes),
            RuleKind::Not(rule) => self.learn(rule, !holds),
            RuleKind::And(rules) if holds => rules.iter().for_each(|rule| self.learn(rule, true)),
            RuleKind::Or(rules) if !holds => rules.iter().for_each(|rule| self.learn(rule, false)),
            RuleKind::And(rules) | RuleKind::Or(rules) => {
                self.learn_one_of(rules, holds, Asked::Here);
            }
            RuleKind::DTypes(..) if self.facts.decide(rule) == Some(!holds) => {
                self.facts.is_impossible = true;
            }
            RuleKind::Compare(..)
            | RuleKind::In(..)
            | RuleKind::Floats(..)
            | RuleKind::Texts(..)
            | RuleKind::DTypes(..)
            | RuleKind::NoAlias(..)
            | RuleKind::Aligned(..) => {}
        }
    }

    /// Learns that the address of a tensor is a multiple of so many bytes.
    pub fn learn_aligned(&mut self, tensor: &str, bytes: u32) {
        if bytes > self.facts.alignment(tensor) {
            let learned = Learned { what: bytes, because: self.because.clone() };
            self.facts.aligned.insert(tensor.to_string(), learned);
        }
    }

    /// Learns that two tensors share no memory.
    pub fn learn_apart(&mut self, a: &str, b: &str) {
        self.facts.apart.entry(pair(a, b)).or_insert_with(|| self.because.clone());
    }

    /// Learns that one of several rules holds, or that one of them does not.
    fn learn_one_of(&mut self, rules: &[Rule], holds: bool, asked: Asked) {
        let may_be = |rule: &&Rule| {
            // What is left out says nothing against the others.
            let counts = asked == Asked::Here || self.facts.absentable(rule).is_empty();
            !counts || self.facts.decide(rule) != Some(!holds)
        };
        let possible: Vec<_> = rules.iter().filter(may_be).collect();
        // What rules the others out.
        let mut why = Reasons::default();
        for name in rules.iter().flat_map(Rule::names) {
            let expr = self.facts.canonical(&expr_of(&name));
            self.facts.add_reasons_of(&expr, &mut why);
        }
        let parts = rules.iter().flat_map(Rule::parts);
        let checked = parts.filter(|part| self.facts.rules.contains(part));
        Rc::make_mut(&mut why).extend(checked.map(Because::rule));
        let learner = self.also(&why);
        let ways = possible.into_iter().map(|rule| {
            learner.way(|learner| match asked {
                Asked::Here => learner.learn(rule, holds),
                Asked::ByEntryPoint => learner.learn_checked(rule, holds),
            })
        });
        match ways.filter(|way| !way.is_impossible).reduce(CallFacts::either) {
            Some(either) => *self.facts = either,
            None => self.facts.is_impossible = true,
        }
    }

    fn learn_values(&mut self, e: &Expr, values: &[i64]) {
        let e = self.facts.canonical(e);
        let own = Interval::from(self.facts.facts(&e));
        let is_possible = |value: &&i64| own.contains((**value).into());
        let possible = values.iter().filter(is_possible);
        match possible.map(|value| Facts::of_number(*value)).reduce(Facts::either) {
            Some(facts) => self.know(&e, facts),
            None => self.facts.is_impossible = true,
        }
    }

    fn learn_comparison(&mut self, a: &Expr, comparison: Comparison, b: &Expr) {
        let (a, b) = (self.facts.canonical(a), self.facts.canonical(b));
        let (of_a, of_b) = (self.facts.facts(&a), self.facts.facts(&b));
        let (why_a, why_b) = (self.facts.reasons_of(&a), self.facts.reasons_of(&b));
        let at_most = |max: i64| Facts { max, ..Facts::NONE };
        let at_least = |min: i64| Facts { min, ..Facts::NONE };
        let (less, more) = (|n: i64| n.saturating_sub(1), |n: i64| n.saturating_add(1));
        let (a_is, b_is) = match comparison {
            Comparison::Eq => (of_b, of_a),
            Comparison::Ne => {
                self.also(&why_b).learn_other(&a, of_b);
                return self.also(&why_a).learn_other(&b, of_a);
            }
            Comparison::Lt => (at_most(less(of_b.max)), at_least(more(of_a.min))),
            Comparison::Le => (at_most(of_b.max), at_least(of_a.min)),
            Comparison::Gt => (at_least(more(of_b.min)), at_most(less(of_a.max))),
            Comparison::Ge => (at_least(of_b.min), at_most(of_a.max)),
        };
        self.also(&why_b).know(&a, a_is);
        self.also(&why_a).know(&b, b_is);
        if comparison == Comparison::Eq {
            self.learn_multiple(&a, &b);
            self.learn_multiple(&b, &a);
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
        let own = self.facts.facts(expr);
        match other.known() {
            Some(value) if value == own.min && value == own.max => self.facts.is_impossible = true,
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
    pub fn know(&mut self, expr: &Expr, facts: Facts) {
        if let Expr::Int(value) = expr {
            self.facts.is_impossible |= *value > facts.max || *value < facts.min;
            return;
        }
        let (own, n_nodes) = self.facts.measured(expr);
        let Some(known) = own.both(facts) else {
            self.facts.is_impossible = true;
            return;
        };
        if known != own {
            let because = self.facts.reasons_of(expr);
            let CallFacts { numbers, most_nodes, .. } = &mut *self.facts;
            let learned = numbers.entry(expr.to_string());
            let what = || Number { expr: expr.clone(), facts: known };
            let learned = learned.or_insert_with(|| Learned { what: what(), because });
            learned.what.facts = known;
            add_reasons(&mut learned.because, &self.because);
            *most_nodes = (*most_nodes).max(n_nodes);
        }
        if let (Some(Affine { symbol, scale, offset }), None) = (expr.as_affine(), expr.as_symbol())
        {
            let because = self.facts.reasons_of(expr);
            self.also(&because).know(&Expr::symbol(symbol), solved(known, scale, offset));
        }
    }
}

impl CallFacts {
    /// The reasons of what is known of an expression, beyond what types say of its names.
    pub(super) fn reasons_of(&self, expr: &Expr) -> Reasons {
        let mut reasons = Reasons::default();
        self.add_reasons_of(expr, &mut reasons);
        reasons
    }

    /// Adds what establishes what is known of an expression. Gives how many nodes it has.
    fn add_reasons_of(&self, expr: &Expr, reasons: &mut Reasons) -> usize {
        let n_nodes = match expr {
            Expr::Int(_) => return 1,
            Expr::Symbol(..) | Expr::Field(..) => 1,
            Expr::Binary(_, a, b) => {
                1 + self.add_reasons_of(a, reasons) + self.add_reasons_of(b, reasons)
            }
        };
        if n_nodes <= self.most_nodes
            && let Some(learned) = self.numbers.get(&expr.to_string())
        {
            add_reasons(reasons, &learned.because);
        }
        n_nodes
    }

    /// The facts where one or the other set holds.
    fn either(mut self, other: CallFacts) -> CallFacts {
        self.numbers.retain(|text, learned| match other.numbers.get(text) {
            Some(others) => {
                learned.what.facts = learned.what.facts.either(others.what.facts);
                add_reasons(&mut learned.because, &others.because);
                true
            }
            None => false,
        });
        self.most_nodes = self.most_nodes.min(other.most_nodes);
        self.aligned.retain(|tensor, learned| match other.aligned.get(tensor) {
            Some(others) => {
                learned.what = learned.what.min(others.what);
                add_reasons(&mut learned.because, &others.because);
                true
            }
            None => false,
        });
        self.apart.retain(|both, because| match other.apart.get(both) {
            Some(others) => {
                add_reasons(because, others);
                true
            }
            None => false,
        });
        self
    }
}

/// A name as an expression.
fn expr_of(name: &Name) -> Expr {
    match (&name.param, name.field) {
        (Some(path), Some(field)) => Expr::Field(path.clone(), field, name.span),
        _ => Expr::symbol(&name.text),
    }
}

/// Adds what else establishes something.
fn add_reasons(to: &mut Reasons, more: &Reasons) {
    if !more.is_subset(to) {
        Rc::make_mut(to).extend(more.iter().cloned());
    }
}

/// The facts of `s`, from those of `scale * s + offset`.
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
