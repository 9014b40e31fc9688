// SPDX-License-Identifier: Apache-2.0
//! Rules: conditions between the things a signature names. Here: the data and its text, and in
//! `outcome` what is known of a rule before a call. What a rule becomes in a plan:
//! [`check`](crate::check).
//!
//! A rule is a tree: comparisons and the like are its *parts*, joined by `and`, `or` and `not`.

mod outcome;

pub use outcome::{Known, KnownValue, Outcomes};

use crate::expr::{Expr, Field, Name};
use crate::literal::float_text;
use kernpack_ffi_abi::DType;
use kernpack_interval::Interval;
use kernpack_syntax::{Span, quote};
use std::fmt;

/// How two expressions compare.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Comparison {
    /// `==`
    Eq,
    /// `!=`
    Ne,
    /// `<`
    Lt,
    /// `<=`
    Le,
    /// `>`
    Gt,
    /// `>=`
    Ge,
}

impl Comparison {
    /// Every comparison.
    pub const ALL: &[Comparison] = &[
        Comparison::Eq,
        Comparison::Ne,
        Comparison::Lt,
        Comparison::Le,
        Comparison::Gt,
        Comparison::Ge,
    ];

    /// As it is written.
    pub fn text(self) -> &'static str {
        match self {
            Comparison::Eq => "==",
            Comparison::Ne => "!=",
            Comparison::Lt => "<",
            Comparison::Le => "<=",
            Comparison::Gt => ">",
            Comparison::Ge => ">=",
        }
    }

    /// The comparison that holds where this one does not.
    pub fn opposite(self) -> Comparison {
        match self {
            Comparison::Eq => Comparison::Ne,
            Comparison::Ne => Comparison::Eq,
            Comparison::Lt => Comparison::Ge,
            Comparison::Le => Comparison::Gt,
            Comparison::Gt => Comparison::Le,
            Comparison::Ge => Comparison::Lt,
        }
    }

    /// Whether two floats compare so: nan does with nothing, but `!=`.
    pub fn holds_for_floats(self, a: f64, b: f64) -> bool {
        match self {
            Comparison::Eq => a == b,
            Comparison::Ne => a != b,
            Comparison::Lt => a < b,
            Comparison::Le => a <= b,
            Comparison::Gt => a > b,
            Comparison::Ge => a >= b,
        }
    }

    /// Whether some pair of values between the bounds compares so.
    pub fn is_possible(self, a: Interval, b: Interval) -> bool {
        match self {
            Comparison::Eq => a.min <= b.max && b.min <= a.max,
            Comparison::Ne => a.known().is_none() || a.known() != b.known(),
            Comparison::Lt => a.min < b.max,
            Comparison::Le => a.min <= b.max,
            Comparison::Gt => a.max > b.min,
            Comparison::Ge => a.max >= b.min,
        }
    }

    /// Whether two integers compare so.
    pub fn holds(self, a: i64, b: i64) -> bool {
        self.is_possible(Interval::exactly(a.into()), Interval::exactly(b.into()))
    }
}

/// A side of a comparison of floats.
#[derive(Clone, Debug, PartialEq)]
pub enum FloatSide {
    /// A float parameter.
    Name(Expr),
    /// A constant.
    Value(f64),
}

impl FloatSide {
    fn expr(&self) -> Option<&Expr> {
        match self {
            FloatSide::Name(name) => Some(name),
            FloatSide::Value(_) => None,
        }
    }

    /// The parameter's name.
    pub fn name(&self) -> Option<&str> {
        self.expr().and_then(Expr::as_symbol)
    }
}

impl fmt::Display for FloatSide {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            FloatSide::Name(name) => name.fmt(f),
            FloatSide::Value(value) => f.write_str(&float_text(*value)),
        }
    }
}

/// The forms of a rule.
#[derive(Clone, Debug, PartialEq)]
pub enum RuleKind {
    /// `a == b` and its like.
    Compare(Expr, Comparison, Expr),
    /// `eps > 0.0`
    Floats(FloatSide, Comparison, FloatSide),
    /// `n in {64, 128}`
    In(Expr, Vec<i64>),
    /// `mode in {"relu", "gelu"}`, or `mode == "relu"`
    Texts(Expr, Vec<String>),
    /// `T in {float16, bfloat16}`, or `(TA, TB) in {(float16, float32), …}`; every row has as many
    /// dtypes as there are variables.
    DTypes(Vec<String>, Vec<Vec<DType>>),
    /// `noalias(a, b)`
    NoAlias(String, String),
    /// `aligned(x, 16)`; a power of two.
    Aligned(String, u32),
    /// `not n == 1`
    Not(Box<Rule>),
    /// `m > 4 and n > 4`
    And(Vec<Rule>),
    /// `m > 4 or n > 4`
    Or(Vec<Rule>),
}

/// A rule and where it stands.
#[derive(Clone, Debug)]
pub struct Rule {
    /// Its form.
    pub kind: RuleKind,
    /// Where.
    pub span: Span,
}

impl PartialEq for Rule {
    fn eq(&self, other: &Rule) -> bool {
        self.kind == other.kind
    }
}

impl Rule {
    /// A rule without a place in a text.
    pub fn new(kind: RuleKind) -> Rule {
        Rule { kind, span: Span::default() }
    }

    /// The rules of several that do not stand in one another, in order: the one, or what `and`,
    /// `or` and `not` join.
    pub fn parts(&self) -> Vec<&Rule> {
        match &self.kind {
            RuleKind::Compare(..)
            | RuleKind::Floats(..)
            | RuleKind::In(..)
            | RuleKind::Texts(..)
            | RuleKind::DTypes(..)
            | RuleKind::NoAlias(..)
            | RuleKind::Aligned(..) => vec![self],
            RuleKind::Not(rule) => rule.parts(),
            RuleKind::And(rules) | RuleKind::Or(rules) => {
                rules.iter().flat_map(Rule::parts).collect()
            }
        }
    }

    /// Whether it is made of others.
    pub fn is_joined(&self) -> bool {
        matches!(self.kind, RuleKind::Not(_) | RuleKind::And(_) | RuleKind::Or(_))
    }

    /// Whether it asks whether an `Optional` is given.
    pub fn asks_given(&self) -> bool {
        self.names().iter().any(|name| name.field == Some(Field::Given))
    }

    /// The symbols and fields that the rule compares, once each, in order of first appearance.
    pub fn names(&self) -> Vec<Name> {
        let mut names: Vec<Name> = Vec::new();
        for part in self.parts() {
            let sides = match &part.kind {
                RuleKind::Compare(a, _, b) => vec![a, b],
                RuleKind::Floats(a, _, b) => {
                    [a, b].into_iter().filter_map(FloatSide::expr).collect()
                }
                RuleKind::In(e, _) | RuleKind::Texts(e, _) => vec![e],
                _ => vec![],
            };
            for name in sides.into_iter().flat_map(Expr::names) {
                if !names.iter().any(|known| known.text == name.text) {
                    names.push(name);
                }
            }
        }
        names
    }

    /// The dtype variables that the rule asks about, once each, in order of first appearance.
    pub fn dtype_vars(&self) -> Vec<&str> {
        let mut vars: Vec<&str> = Vec::new();
        for part in self.parts() {
            if let RuleKind::DTypes(own, _) = &part.kind {
                let new: Vec<_> = own.iter().filter(|var| !vars.contains(&&***var)).collect();
                vars.extend(new.into_iter().map(String::as_str));
            }
        }
        vars
    }

    /// The tensors whose memory the rule asks about, in order of appearance.
    pub fn tensors(&self) -> Vec<&str> {
        let tensors = self.parts().into_iter().flat_map(|part| match &part.kind {
            RuleKind::NoAlias(a, b) => vec![&a[..], b],
            RuleKind::Aligned(tensor, _) => vec![&tensor[..]],
            _ => vec![],
        });
        tensors.collect()
    }

    /// Whether the rule may hold where its only name has that value; nothing where it is about
    /// something else.
    pub fn holds_for(&self, name: &str, value: &KnownValue) -> Option<bool> {
        let is_other = |other: &Name| other.text != name;
        let has_others = !self.dtype_vars().is_empty() || !self.tensors().is_empty();
        if has_others || self.names().iter().any(is_other) {
            return None;
        }
        Some(self.outcomes(&Known { values: &|_| Some(value.clone()) }).holds)
    }

    /// The rule as a comparison of floats, where it is one: of parameters that `is_float` tells, or
    /// with a constant that is no integer.
    pub fn as_floats(
        &self,
        is_float: &dyn Fn(&str) -> bool,
    ) -> Option<(FloatSide, Comparison, FloatSide)> {
        let side = |expr: &Expr| match expr {
            Expr::Int(value) => Some(FloatSide::Value(*value as f64)),
            Expr::Symbol(name, _) if is_float(name) => Some(FloatSide::Name(expr.clone())),
            _ => None,
        };
        match &self.kind {
            RuleKind::Floats(a, comparison, b) => Some((a.clone(), *comparison, b.clone())),
            RuleKind::Compare(a, comparison, b)
                if self.names().iter().any(|name| is_float(&name.text)) =>
            {
                Some((side(a)?, *comparison, side(b)?))
            }
            _ => None,
        }
    }

    /// The symbol and divisor of `sym % c == 0`.
    pub fn as_divisibility(&self) -> Option<(&Expr, i64)> {
        use crate::expr::Op;
        match &self.kind {
            RuleKind::Compare(Expr::Binary(Op::Mod, a, b), Comparison::Eq, Expr::Int(0))
                if matches!(**a, Expr::Symbol(..)) =>
            {
                Some((&**a, b.as_int().filter(|divisor| *divisor > 0)?))
            }
            _ => None,
        }
    }
}

impl fmt::Display for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.kind {
            RuleKind::Compare(a, comparison, b) => write!(f, "{a} {} {b}", comparison.text()),
            RuleKind::Floats(a, comparison, b) => write!(f, "{a} {} {b}", comparison.text()),
            RuleKind::In(e, values) => write!(f, "{e} in {{{}}}", join(values)),
            RuleKind::Texts(e, texts) => match &texts[..] {
                [text] => write!(f, "{e} == {}", quote(text)),
                _ => write!(f, "{e} in {{{}}}", join(texts.iter().map(|text| quote(text)))),
            },
            RuleKind::DTypes(vars, rows) => match &vars[..] {
                [var] => {
                    write!(f, "{var} in {{{}}}", join(rows.iter().map(|row| row[0])))
                }
                _ => write!(f, "({}) in {}", join(vars), DTypeRows(rows)),
            },
            RuleKind::NoAlias(a, b) => write!(f, "noalias({a}, {b})"),
            RuleKind::Aligned(tensor, bytes) => write!(f, "aligned({tensor}, {bytes})"),
            RuleKind::Not(rule) => match (rule.as_dtype(), rule.as_text()) {
                (Some((var, dtype)), _) => write!(f, "{var} != {dtype}"),
                (_, Some((name, text))) => write!(f, "{name} != {}", quote(text)),
                (None, None) => write!(f, "not {}", rule.bracketed(&|_| true)),
            },
            RuleKind::And(rules) => f.write_str(&joined(rules, " and ", &|_| true)),
            RuleKind::Or(rules) => {
                f.write_str(&joined(rules, " or ", &|kind| matches!(kind, RuleKind::Or(_))))
            }
        }
    }
}

impl Rule {
    /// `T == float32`
    fn as_dtype(&self) -> Option<(&str, DType)> {
        match &self.kind {
            RuleKind::DTypes(vars, rows) => match (&vars[..], &rows[..]) {
                ([var], [row]) => Some((var, row[0])),
                _ => None,
            },
            _ => None,
        }
    }

    /// `mode == "relu"`
    fn as_text(&self) -> Option<(&Expr, &str)> {
        match &self.kind {
            RuleKind::Texts(name, texts) => match &texts[..] {
                [text] => Some((name, text)),
                _ => None,
            },
            _ => None,
        }
    }

    /// The text, in brackets where the rule is `and` or `or`, of a kind that needs them.
    fn bracketed(&self, needs_brackets: &dyn Fn(&RuleKind) -> bool) -> String {
        let is_list = matches!(self.kind, RuleKind::And(_) | RuleKind::Or(_));
        if is_list && needs_brackets(&self.kind) { format!("({self})") } else { self.to_string() }
    }
}

fn joined(rules: &[Rule], word: &str, needs_brackets: &dyn Fn(&RuleKind) -> bool) -> String {
    rules.iter().map(|rule| rule.bracketed(needs_brackets)).collect::<Vec<_>>().join(word)
}

/// Prints the allowed combinations of several dtype variables: `{(float16, float32), (bfloat16,
/// float32)}`.
pub struct DTypeRows<'r>(pub &'r [Vec<DType>]);

impl fmt::Display for DTypeRows<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let rows = self.0.iter().map(|row| format!("({})", join(row)));
        write!(f, "{{{}}}", join(rows))
    }
}

/// The items, separated by `, `.
pub(crate) fn join(items: impl IntoIterator<Item = impl fmt::Display>) -> String {
    items.into_iter().map(|item| item.to_string()).collect::<Vec<_>>().join(", ")
}
