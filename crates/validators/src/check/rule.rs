// SPDX-License-Identifier: Apache-2.0
//! The rules behind `where`.

use super::{Info, alias, divisibility, dtype_combination};
use crate::expr::Expr;
use crate::fault::{Format, Phrase};
use crate::path::Path;
use crate::plan::{Compare, Value};
use crate::planner::{Checked, Planner};
use crate::rule::{Comparison, Rule, RuleKind};
use kernpack_ffi_abi::ErrorKind;

/// The check.
pub const INFO: Info = Info {
    name: "rule",
    kind: ErrorKind::ValueError,
    doc: "A rule of the signature holds. Arithmetic is on 64 bits; an overflow, or a divisor that is not positive, fails the rule.",
    example: "Invalid k.shape[1] on argument #1 when calling: `f(q: Tensor([n, hq], float32), k: Tensor([n, hkv], float32))`, expected hq % hkv == 0, got 12 % 5",
};

/// What must have a value before the rule can be checked. A rule on one dtype variable is part of that variable's binding.
pub fn needs(rule: &Rule) -> Vec<String> {
    match &rule.kind {
        RuleKind::Compare(..) | RuleKind::In(..) => {
            rule.names().into_iter().map(|name| name.text).collect()
        }
        RuleKind::DTypes(vars, _) if vars.len() == 1 => vec![],
        RuleKind::DTypes(vars, _) => vars.clone(),
        RuleKind::NoAlias(a, b) => vec![a.clone(), b.clone()],
    }
}

/// Requires the rule, which what stands at `path` completes, except where `skip` holds. `subject` is how a message about numbers begins.
pub fn require(
    cx: &mut Planner<'_>,
    path: &Path,
    subject: Phrase,
    rule: &Rule,
    skip: Value,
) {
    if let Some((expr, divisor)) = rule.as_divisibility()
        && let [name] = &expr.names()[..]
        && cx.named(&name.text).is_some_and(|named| named.exact)
    {
        let value = cx.expr(expr).value;
        return divisibility::require(cx, subject, value, divisor, skip);
    }
    match &rule.kind {
        RuleKind::DTypes(vars, rows) => dtype_combination::require(cx, path, vars, rows),
        RuleKind::NoAlias(a, b) => alias::require(cx, path, a, b),
        RuleKind::Compare(..) | RuleKind::In(..) => {
            for name in rule.names() {
                if let Some(valid) = cx.named(&name.text).and_then(|named| named.valid) {
                    let cond = cx.b.or(skip, valid);
                    let got = received(cx, rule, Some(&name.text));
                    cx.require(cond, INFO.complaint(subject.clone(), rule.to_string(), got));
                }
            }
            let holds = condition(cx, rule);
            let cond = cx.b.or(skip, holds);
            let got = received(cx, rule, None);
            cx.require(cond, INFO.complaint(subject, rule.to_string(), got));
        }
    }
}

/// Whether a rule over values holds.
pub fn condition(cx: &mut Planner<'_>, rule: &Rule) -> Value {
    match &rule.kind {
        RuleKind::Compare(a, comparison, b) => {
            let (a, b) = (cx.expr(a), cx.expr(b));
            let valid = cx.b.and(a.valid, b.valid);
            let holds = compare(cx, *comparison, a, b);
            cx.b.and(valid, holds)
        }
        RuleKind::In(e, values) => {
            let e = cx.expr(e);
            let holds = cx.b.eq_any(e.value, values.iter().copied());
            cx.b.and(e.valid, holds)
        }
        RuleKind::DTypes(vars, rows) => {
            let values: Vec<_> = vars.iter().map(|var| cx.named(var).expect("bound").value).collect();
            let mut any = cx.b.bool(false);
            for row in rows {
                let mut all = cx.b.bool(true);
                for (value, dtype) in values.iter().zip(row) {
                    let eq = cx.b.eq_int(*value, dtype.packed());
                    all = cx.b.and(all, eq);
                }
                any = cx.b.or(any, all);
            }
            any
        }
        RuleKind::NoAlias(..) => unreachable!("a launch's condition is over values and dtypes"),
    }
}

fn compare(cx: &mut Planner<'_>, comparison: Comparison, a: Checked, b: Checked) -> Value {
    let (a, b) = (a.value, b.value);
    match comparison {
        Comparison::Eq => cx.b.eq(a, b),
        Comparison::Ne => cx.b.compare(Compare::Ne, a, b),
        Comparison::Lt => cx.b.compare(Compare::Lt, a, b),
        Comparison::Le => cx.b.compare(Compare::Le, a, b),
        Comparison::Gt => cx.b.compare(Compare::Lt, b, a),
        Comparison::Ge => cx.b.compare(Compare::Le, b, a),
    }
}

/// The left side with values for names; both sides where the right one has names too. `overflowed` has no value.
fn received(cx: &Planner<'_>, rule: &Rule, overflowed: Option<&str>) -> Phrase {
    match &rule.kind {
        RuleKind::Compare(a, _, b) if b.names().is_empty() => substituted(cx, a, overflowed),
        RuleKind::Compare(a, _, b) => {
            substituted(cx, a, overflowed).and(" and ").and_phrase(substituted(cx, b, overflowed))
        }
        RuleKind::In(e, _) => substituted(cx, e, overflowed),
        RuleKind::DTypes(..) | RuleKind::NoAlias(..) => Phrase::default(),
    }
}

/// An expression with values in place of its names.
fn substituted(cx: &Planner<'_>, expr: &Expr, overflowed: Option<&str>) -> Phrase {
    // A name cannot hold this character, so it marks the places of values in the text.
    const MARK: char = '\u{1}';
    let mut text = String::new();
    let mut values = Vec::new();
    let written = expr.write(&mut text, &mut |f, name| {
        if overflowed == Some(name) {
            return f.write_str("an overflow");
        }
        values.push(cx.named(name).expect("the name has a value").value);
        f.write_char(MARK)
    });
    written.expect("writing to a string");
    let mut phrase = Phrase::default();
    let mut values = values.into_iter();
    for (i, piece) in text.split(MARK).enumerate() {
        if i > 0 {
            let value = values.next().expect("a value for each mark");
            phrase = phrase.and_value(value, Format::Int);
        }
        phrase = phrase.and(piece);
    }
    phrase
}
