// SPDX-License-Identifier: Apache-2.0
//! Rules: conditions between the things a signature names. Here: the data and its text. What a rule becomes in a plan: [`check`](crate::check).

use crate::expr::{Expr, Name};
use kernpack_ffi_abi::DType;
use kernpack_syntax::Span;
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

    /// Whether some pair of values within the bounds compares so.
    pub fn is_possible(self, (a0, a1): (i64, i64), (b0, b1): (i64, i64)) -> bool {
        match self {
            Comparison::Eq => a0 <= b1 && b0 <= a1,
            Comparison::Ne => !(a0 == a1 && b0 == b1 && a0 == b0),
            Comparison::Lt => a0 < b1,
            Comparison::Le => a0 <= b1,
            Comparison::Gt => a1 > b0,
            Comparison::Ge => a1 >= b0,
        }
    }
}

/// What a rule says.
#[derive(Clone, Debug, PartialEq)]
pub enum RuleKind {
    /// `a == b` and its like.
    Compare(Expr, Comparison, Expr),
    /// `n in {64, 128}`
    In(Expr, Vec<i64>),
    /// `T in {float16, bfloat16}`, or `(TA, TB) in {(float16, float32), …}`; every row has as many dtypes as there are variables.
    DTypes(Vec<String>, Vec<Vec<DType>>),
    /// `noalias(a, b)`
    NoAlias(String, String),
}

/// A rule and where it stands.
#[derive(Clone, Debug)]
pub struct Rule {
    /// What it says.
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

    /// The symbols and fields that the rule compares, once each, in order of first appearance.
    pub fn names(&self) -> Vec<Name> {
        match &self.kind {
            RuleKind::Compare(a, _, b) => {
                let mut names = a.names();
                for name in b.names() {
                    if !names.iter().any(|known| known.text == name.text) {
                        names.push(name);
                    }
                }
                names
            }
            RuleKind::In(e, _) => e.names(),
            RuleKind::DTypes(..) | RuleKind::NoAlias(..) => Vec::new(),
        }
    }

    /// Whether the rule holds where its only name has that value; nothing where it is about something else.
    pub fn holds_for(&self, name: &str, value: i64) -> Option<bool> {
        if self.names().iter().any(|other| other.text != name) {
            return None;
        }
        let of = |_: &str| Some(value);
        match &self.kind {
            RuleKind::Compare(a, comparison, b) => {
                let sides = a.value(&of).zip(b.value(&of));
                Some(sides.is_some_and(|(a, b)| comparison.is_possible((a, a), (b, b))))
            }
            RuleKind::In(e, values) => Some(e.value(&of).is_some_and(|e| values.contains(&e))),
            RuleKind::DTypes(..) | RuleKind::NoAlias(..) => None,
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
            RuleKind::In(e, values) => write!(f, "{e} in {{{}}}", join(values)),
            RuleKind::DTypes(vars, rows) => match &vars[..] {
                [var] => {
                    write!(f, "{var} in {{{}}}", join(rows.iter().map(|row| row[0])))
                }
                _ => write!(f, "({}) in {}", join(vars), DTypeRows(rows)),
            },
            RuleKind::NoAlias(a, b) => write!(f, "noalias({a}, {b})"),
        }
    }
}

/// Prints the allowed combinations of several dtype variables: `{(float16, float32), (bfloat16, float32)}`.
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
