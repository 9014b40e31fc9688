// SPDX-License-Identifier: Apache-2.0
//! The rules behind `where`.

use super::{Info, alias, alignment, divisibility, dtype_combination};
use crate::expr::Expr;
use crate::fault::{Format, Phrase};
use crate::path::Path;
use crate::plan::Value;
use crate::planner::{NamedKind, Planner};
use crate::rule::{FloatSide, Rule, RuleKind};
use kernpack_ffi_abi::ErrorKind;

/// The check.
pub const INFO: Info = Info {
    name: "rule",
    kind: ErrorKind::ValueError,
    doc: "A rule of the signature holds. Arithmetic is on 64 bits; an overflow, or a divisor that is not positive, fails the rule, unless `and` or `or` has stopped before it.",
    example: "Invalid k.shape[1] on argument #1 when calling: `f(q: Tensor([n, hq], float32), k: Tensor([n, hkv], float32))`, expected hq % hkv == 0, got 12 % 5",
};

/// What must have a value before the rule can be checked. A rule on one dtype variable is part of
/// that variable's binding.
pub fn needs(rule: &Rule) -> Vec<String> {
    let names: Vec<_> = rule.names().into_iter().map(|name| name.text).collect();
    let (vars, tensors) = (rule.dtype_vars(), rule.tensors());
    if names.is_empty() && tensors.is_empty() && vars.len() == 1 {
        return vec![];
    }
    names.into_iter().chain(vars.into_iter().chain(tensors).map(str::to_string)).collect()
}

/// Requires the rule, which what stands at `path` completes, except where `skip` holds. `subject`
/// is how a message about numbers begins.
pub fn require(cx: &mut Planner<'_>, path: &Path, subject: Phrase, rule: &Rule, skip: Value) {
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
        _ => {
            let holds = condition(cx, rule);
            let cond = cx.b.or(skip, holds);
            for overflowed in overflows(cx, rule) {
                let mut either = if rule.is_joined() { cond } else { skip };
                for (_, valid) in &overflowed {
                    either = cx.b.or(either, *valid);
                }
                let names: Vec<_> = overflowed.iter().map(|(name, _)| &name[..]).collect();
                let got = received(cx, rule, &names);
                cx.require(either, INFO.complaint(subject.clone(), rule.to_string(), got));
            }
            let got = received(cx, rule, &[]);
            cx.require(cond, INFO.complaint(subject, rule.to_string(), got));
        }
    }
}

/// The names that may have no value, each with whether it has one, alone and before that all
/// together, where these are worded apart.
fn overflows(cx: &Planner<'_>, rule: &Rule) -> Vec<Vec<(String, Value)>> {
    let valid = |name: &str| cx.named(name).and_then(|named| named.valid);
    let names = rule.names().into_iter();
    let names = names.filter_map(|name| valid(&name.text).map(|valid| (name.text, valid)));
    let names: Vec<_> = names.collect();
    let each = names.iter().map(|name| vec![name.clone()]);
    let all = (names.len() > 1 && !rule.is_joined()).then(|| names.clone());
    all.into_iter().chain(each).collect()
}

/// Whether a rule holds, as far as every part of it that is reached has a value.
#[derive(Clone, Copy)]
struct Judged {
    holds: Value,
    /// Whether every part that is reached has a value.
    valid: Value,
}

/// Whether a rule holds: not where a part that is reached has no value.
pub fn condition(cx: &mut Planner<'_>, rule: &Rule) -> Value {
    let Judged { holds, valid } = judge(cx, rule);
    cx.b.and(valid, holds)
}

fn judge(cx: &mut Planner<'_>, rule: &Rule) -> Judged {
    let always = cx.b.bool(true);
    if let Some((a, comparison, b)) = cx.as_floats(rule) {
        return Judged { holds: cx.compare_floats(&a, comparison, &b), valid: always };
    }
    let (holds, valid) = match &rule.kind {
        RuleKind::Floats(..) => unreachable!("a comparison of floats is one"),
        RuleKind::Compare(a, comparison, b) => {
            let (a, b) = (cx.expr(a), cx.expr(b));
            (cx.compare(a.value, *comparison, b.value), cx.b.and(a.valid, b.valid))
        }
        RuleKind::In(e, values) => {
            let e = cx.expr(e);
            (cx.b.eq_any(e.value, values.iter().copied()), e.valid)
        }
        RuleKind::Texts(name, texts) => {
            let name = name.as_symbol().expect("a String goes by its name");
            let text = cx.named(name).expect("the name has a value").value;
            (cx.b.text_is_any(text, texts), always)
        }
        RuleKind::DTypes(vars, rows) => (dtype_combination::holds(cx, vars, rows), always),
        RuleKind::NoAlias(a, b) => alias::apart(cx, a, b),
        RuleKind::Aligned(tensor, bytes) => (alignment::holds(cx, tensor, *bytes), always),
        RuleKind::Not(rule) => {
            let Judged { holds, valid } = judge(cx, rule);
            (cx.b.not(holds), valid)
        }
        RuleKind::And(rules) => return join(cx, rules, true),
        RuleKind::Or(rules) => return join(cx, rules, false),
    };
    Judged { holds, valid }
}

/// Rules of which each is reached while those before it hold, if `all` have to hold, or else while
/// none of them does.
fn join(cx: &mut Planner<'_>, rules: &[Rule], all: bool) -> Judged {
    let parts: Vec<_> = rules.iter().map(|rule| judge(cx, rule)).collect();
    let mut joined = Judged { holds: cx.b.bool(all), valid: cx.b.bool(true) };
    for part in &parts {
        joined.holds = match all {
            true => cx.b.and(joined.holds, part.holds),
            false => cx.b.or(joined.holds, part.holds),
        };
    }
    // From the last on, so that each part is asked once: it has a value, and ends it or those
    // behind it have.
    for part in parts.iter().rev() {
        let is_decided = if all { cx.b.not(part.holds) } else { part.holds };
        let rest = cx.b.or(is_decided, joined.valid);
        joined.valid = cx.b.and(part.valid, rest);
    }
    joined
}

/// The left side with values for names; both sides where the right one has names too; the values of
/// all names where the rule is made of others. What has `overflowed` has no value.
fn received(cx: &mut Planner<'_>, rule: &Rule, overflowed: &[&str]) -> Phrase {
    match &rule.kind {
        RuleKind::Compare(a, _, b) if b.names().is_empty() => substituted(cx, a, overflowed),
        RuleKind::Compare(a, _, b) => {
            substituted(cx, a, overflowed).and(" and ").and_phrase(substituted(cx, b, overflowed))
        }
        RuleKind::Floats(a, _, b) if b.name().is_none() => float_side(cx, a),
        RuleKind::Floats(a, _, b) => float_side(cx, a).and(" and ").and_phrase(float_side(cx, b)),
        RuleKind::In(e, _) | RuleKind::Texts(e, _) => substituted(cx, e, overflowed),
        RuleKind::Aligned(tensor, bytes) => {
            alignment::received(cx, "address", tensor, *bytes, " == ")
        }
        _ => named_values(cx, [rule], overflowed.first().copied()),
    }
}

/// A side of a comparison of floats, with its value for a name.
fn float_side(cx: &Planner<'_>, side: &FloatSide) -> Phrase {
    match side.name() {
        Some(name) => value_of(cx, name),
        None => Phrase::text(side.to_string()),
    }
}

/// The value of a name.
fn value_of(cx: &Planner<'_>, name: &str) -> Phrase {
    let named = cx.named(name).expect("the name has a value");
    let format = match named.kind {
        NamedKind::Float => Format::Float,
        NamedKind::DType => Format::DType,
        NamedKind::Text => Format::Text,
        NamedKind::Int | NamedKind::Pointer | NamedKind::EnvStream => Format::Int,
    };
    Phrase::value(named.value, format)
}

/// What the rules name, each with its value, in order of first appearance, up to what has
/// `overflowed` and has none.
pub fn named_values<'r>(
    cx: &mut Planner<'_>,
    rules: impl IntoIterator<Item = &'r Rule>,
    overflowed: Option<&str>,
) -> Phrase {
    let mut seen: Vec<String> = Vec::new();
    let mut all = Phrase::default();
    for part in rules.into_iter().flat_map(Rule::parts) {
        for (name, value) in part_values(cx, part) {
            if seen.contains(&name) {
                continue;
            }
            all = all.and(if seen.is_empty() { "" } else { ", " });
            if overflowed == Some(&name) {
                return all.and(format!("{name} = an overflow"));
            }
            all = all.and_phrase(value);
            seen.push(name);
        }
    }
    all
}

/// What a part names, with the text that says its value.
fn part_values(cx: &mut Planner<'_>, part: &Rule) -> Vec<(String, Phrase)> {
    let value_of = |name: &str| Phrase::text(format!("{name} = ")).and_phrase(value_of(cx, name));
    match &part.kind {
        RuleKind::DTypes(vars, _) => vars.iter().map(|var| (var.clone(), value_of(var))).collect(),
        RuleKind::NoAlias(a, b) => {
            let (zero, one) = (cx.b.int(0), cx.b.int(1));
            let (apart, valid) = alias::apart(cx, a, b);
            let holds = cx.b.and(valid, apart);
            let value = cx.b.select(holds, one, zero);
            vec![(
                part.to_string(),
                Phrase::text(format!("{part} = ")).and_value(value, Format::Int),
            )]
        }
        RuleKind::Aligned(tensor, bytes) => {
            let what = format!("address of {tensor}");
            vec![(part.to_string(), alignment::received(cx, &what, tensor, *bytes, " = "))]
        }
        _ => {
            let names = part.names().into_iter().map(|name| name.text);
            names.map(|name| (name.clone(), value_of(&name))).collect()
        }
    }
}

/// An expression with values in place of its names.
fn substituted(cx: &Planner<'_>, expr: &Expr, overflowed: &[&str]) -> Phrase {
    // A name cannot hold this character, so it marks the places of values in the text.
    const MARK: char = '\u{1}';
    let mut text = String::new();
    let mut values = Vec::new();
    let written = expr.write(&mut text, &mut |f, name| {
        if overflowed.contains(&name) {
            return f.write_str("an overflow");
        }
        values.push(value_of(cx, name));
        f.write_char(MARK)
    });
    written.expect("writing to a string");
    let mut phrase = Phrase::default();
    let mut values = values.into_iter();
    for (i, piece) in text.split(MARK).enumerate() {
        if i > 0 {
            let value = values.next().expect("a value for each mark");
            phrase = phrase.and_phrase(value);
        }
        phrase = phrase.and(piece);
    }
    phrase
}
