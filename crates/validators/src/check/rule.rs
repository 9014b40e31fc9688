// SPDX-License-Identifier: Apache-2.0
//! The rules behind `where`.

use super::{Info, alias, alignment, divisibility, dtype_combination};
use crate::declare::Binding;
use crate::expr::{Expr, Field, Name};
use crate::fault::{Format, Phrase};
use crate::path::Path;
use crate::plan::Value;
use crate::planner::{NamedKind, Planner};
use crate::rule::{Comparison, FloatSide, Rule, RuleKind};
use kernpack_ffi_abi::ErrorKind;

/// The check.
pub const INFO: Info = Info {
    name: "rule",
    kind: ErrorKind::ValueError,
    doc: "A rule of the signature holds. Arithmetic is on 64 bits; an overflow, or a divisor that is not positive, fails the rule, unless `and` or `or` has stopped before it.",
    example: "Invalid k.shape[1] on argument #1 when calling: `f(q: Tensor([n, hq], float32), k: Tensor([n, hkv], float32))`, expected hq % hkv == 0, got 12 % 5",
};

/// The names that must have a value before the rule can be checked. A rule on one dtype variable is
/// part of that variable's binding.
pub fn needs(rule: &Rule) -> Vec<String> {
    let names: Vec<_> = rule.names().into_iter().map(|name| name.text).collect();
    let (vars, tensors) = (rule.dtype_vars(), rule.tensors());
    if names.is_empty() && tensors.is_empty() && vars.len() == 1 {
        return vec![];
    }
    names.into_iter().chain(vars.into_iter().chain(tensors).map(str::to_string)).collect()
}

/// Where a rule is complete.
#[derive(Clone, Debug)]
pub struct Site<'s> {
    /// The path that completes it.
    pub path: &'s Path,
    /// The subject of a message about numbers.
    pub what: &'s str,
    /// How a message about numbers begins.
    pub subject: Phrase,
    /// Where the rule is not asked.
    pub skip: Value,
}

/// Whether something may remain of a rule where something that it names is absent. A comparison, or
/// the like, over what is absent is left out; a rule of which nothing remains holds. Whether an
/// `Optional` is given has an answer in any case.
pub fn may_remain(rule: &Rule) -> bool {
    rule.is_joined() || rule.asks_given()
}

/// Requires the rule.
pub fn require(cx: &mut Planner<'_>, site: Site<'_>, rule: &Rule) {
    let Site { path, what, subject, skip } = site;
    if let Some((expr, divisor)) = rule.as_divisibility()
        && let [name] = &expr.names()[..]
        && cx.named(&name.text).is_some_and(|named| named.exact)
    {
        let value = cx.expr(expr).value;
        return divisibility::require(cx, subject, value, divisor, skip);
    }
    if let Some(pair) = extents(cx, rule, path) {
        return require_same(cx, (path, skip), rule, pair);
    }
    match &rule.kind {
        RuleKind::DTypes(vars, rows) => dtype_combination::require(cx, path, vars, rows),
        RuleKind::NoAlias(a, b) => alias::require(cx, path, a, b),
        _ => {
            let holds = match may_remain(rule) {
                true => condition_of_rest(cx, rule),
                false => condition(cx, rule),
            };
            let cond = cx.b.or(skip, holds);
            let places = places(cx, rule, what);
            for overflowed in overflows(cx, rule) {
                let mut either = if rule.is_joined() { cond } else { skip };
                for (_, valid) in &overflowed {
                    either = cx.b.or(either, *valid);
                }
                let names: Vec<_> = overflowed.iter().map(|(name, _)| &name[..]).collect();
                let got = received(cx, rule, &names).and_phrase(places.clone());
                cx.require(either, INFO.complaint(subject.clone(), rule.to_string(), got));
            }
            let got = received(cx, rule, &[]).and_phrase(places);
            cx.require(cond, INFO.complaint(subject, rule.to_string(), got));
        }
    }
}

/// The extent that completes a rule, and another one that it has to be, with the path of that.
struct Extents {
    actual: Value,
    expected: Value,
    other: String,
}

/// The extents that a rule says are the same, where it is completed by one of them.
fn extents(cx: &Planner<'_>, rule: &Rule, path: &Path) -> Option<Extents> {
    let RuleKind::Compare(a, Comparison::Eq, b) = &rule.kind else { return None };
    let (a, b) = (extent(cx, a)?, extent(cx, b)?);
    let (own, other) = if b.0 == path.text { (b, a) } else { (a, b) };
    let is_own = own.0 == path.text && other.0 != path.text;
    is_own.then_some(Extents { actual: own.1, expected: other.1, other: other.0 })
}

/// The path and the value of a tensor's extent, which goes by that or by a symbol.
fn extent(cx: &Planner<'_>, expr: &Expr) -> Option<(String, Value)> {
    let name = match expr {
        Expr::Symbol(symbol, _) => symbol.clone(),
        Expr::Field(_, Field::Shape(0..), _) => expr.to_string(),
        Expr::Field(..) | Expr::Int(_) | Expr::Binary(..) => return None,
    };
    let named = cx.named(&name).filter(|named| named.stands_at_path())?;
    let path = &named.path.text;
    (path.contains(".shape[") && path.ends_with(']')).then(|| (path.clone(), named.value))
}

/// Requires that two extents are the same, in the words of a symbol that both would have.
fn require_same(cx: &mut Planner<'_>, (path, skip): (&Path, Value), rule: &Rule, pair: Extents) {
    let Extents { actual, expected, other } = pair;
    let holds = condition(cx, rule);
    let cond = cx.b.or(skip, holds);
    let got = Phrase::value(actual, Format::Int).and(format!(" ({other} is "));
    let got = got.and_value(expected, Format::Int).and(")");
    let subject = path.subject("Mismatched");
    cx.require(cond, INFO.complaint(subject, format!("to match {other}"), got));
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
    /// Whether something of it remains: not all of it is over what is absent.
    remains: Value,
}

/// The outcome of a part over what is absent.
#[derive(Clone, Copy)]
enum Absence {
    /// All that is absent is 0.
    IsZero,
    /// It is left out.
    LeavesOut,
}

/// Whether a rule holds, where all that is absent is 0: not where a part that is reached has no
/// value.
pub fn condition(cx: &mut Planner<'_>, rule: &Rule) -> Value {
    let Judged { holds, valid, .. } = judge(cx, rule, Absence::IsZero);
    cx.b.and(valid, holds)
}

/// Whether what remains of a rule holds, as where nothing does.
fn condition_of_rest(cx: &mut Planner<'_>, rule: &Rule) -> Value {
    let Judged { holds, valid, remains } = judge(cx, rule, Absence::LeavesOut);
    let nothing = cx.b.not(remains);
    let rest = cx.b.and(valid, holds);
    cx.b.or(nothing, rest)
}

impl Absence {
    /// Whether a part remains that names this.
    fn leaves(self, cx: &mut Planner<'_>, names: &[Name], tensors: &[&str]) -> Value {
        let mut all = cx.b.bool(true);
        let names = names.iter().filter(|name| name.field != Some(Field::Given));
        for name in names.map(|name| &name.text[..]).chain(tensors.iter().copied()) {
            match (self, cx.given(name)) {
                (Absence::LeavesOut, Some(given)) => all = cx.b.and(all, given),
                (Absence::LeavesOut, None) | (Absence::IsZero, _) => {}
            }
        }
        all
    }

    /// Whether a part remains.
    fn leaves_part(self, cx: &mut Planner<'_>, part: &Rule) -> Value {
        self.leaves(cx, &part.names(), &part.tensors())
    }
}

fn judge(cx: &mut Planner<'_>, rule: &Rule, absence: Absence) -> Judged {
    let (holds, valid) = match &rule.kind {
        RuleKind::Not(rule) => {
            let Judged { holds, valid, remains } = judge(cx, rule, absence);
            return Judged { holds: cx.b.not(holds), valid, remains };
        }
        RuleKind::And(rules) => return join(cx, rules, true, absence),
        RuleKind::Or(rules) => return join(cx, rules, false, absence),
        _ => judge_part(cx, rule),
    };
    Judged { holds, valid, remains: absence.leaves_part(cx, rule) }
}

/// Whether a part holds, and whether it has a value.
fn judge_part(cx: &mut Planner<'_>, rule: &Rule) -> (Value, Value) {
    let always = cx.b.bool(true);
    if let Some((a, comparison, b)) = cx.as_floats(rule) {
        return (cx.compare_floats(&a, comparison, &b), always);
    }
    match &rule.kind {
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
        RuleKind::Not(_) | RuleKind::And(_) | RuleKind::Or(_) => {
            unreachable!("a part is not made of others")
        }
    }
}

/// Rules of which each is reached while those before it hold, if `all` have to hold, or else while
/// none of them does. Those of which nothing remains do not count.
fn join(cx: &mut Planner<'_>, rules: &[Rule], all: bool, absence: Absence) -> Judged {
    let parts: Vec<_> = rules
        .iter()
        .map(|rule| {
            let part = judge(cx, rule, absence);
            let nothing = cx.b.not(part.remains);
            let holds = match all {
                true => cx.b.or(nothing, part.holds),
                false => cx.b.and(part.remains, part.holds),
            };
            Judged { holds, valid: cx.b.or(nothing, part.valid), ..part }
        })
        .collect();
    let (holds, valid, remains) = (cx.b.bool(all), cx.b.bool(true), cx.b.bool(false));
    let mut joined = Judged { holds, valid, remains };
    for part in &parts {
        joined.remains = cx.b.or(joined.remains, part.remains);
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
        _ => {
            let absence = Absence::LeavesOut;
            all_values(cx, [rule], overflowed.first().copied(), absence)
        }
    }
}

/// ` (n is x.shape[0])`: what binds the symbols of a rule, as far as a message about `what` does
/// not name it.
fn places(cx: &Planner<'_>, rule: &Rule, what: &str) -> Phrase {
    let names = rule.names();
    let is_named = |place: &str| place == what || names.iter().any(|name| name.text == place);
    let mut all = Phrase::default();
    let symbols = &cx.bindings().symbols;
    for name in names.iter().filter(|name| symbols.contains_key(&name.text)) {
        let named = cx.named(&name.text).expect("the name has a value");
        let place = match named.settled_arg_index() {
            Some(_) if named.name == what => continue,
            Some(arg_index) => Phrase::text(format!("{} is on argument #", name.text))
                .and_value(arg_index, Format::Int),
            None if is_named(&named.path.text) => continue,
            None => {
                let line = written(&name.text, &symbols[&name.text]);
                Phrase::text(format!("{line} is {}", named.path.text))
            }
        };
        let before = if all.0.is_empty() { " (" } else { ", " };
        all = all.and(before).and_phrase(place);
    }
    if all.0.is_empty() { all } else { all.and(")") }
}

/// The text where a symbol is bound: the symbol, or what it was solved from.
fn written(symbol: &str, Binding { scale, offset, .. }: &Binding) -> String {
    let factor = if *scale == 1 { String::new() } else { format!("{scale}*") };
    let sign = if *offset < 0 { '-' } else { '+' };
    let constant =
        if *offset == 0 { String::new() } else { format!(" {sign} {}", offset.unsigned_abs()) };
    format!("{factor}{symbol}{constant}")
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

/// The names in the rules, each with its value, in order of first appearance. All that is absent is
/// 0.
pub fn named_values<'r>(cx: &mut Planner<'_>, rules: impl IntoIterator<Item = &'r Rule>) -> Phrase {
    all_values(cx, rules, None, Absence::IsZero)
}

/// The names in the rules, each with its value, in order of first appearance, up to what has
/// `overflowed` and has none.
fn all_values<'r>(
    cx: &mut Planner<'_>,
    rules: impl IntoIterator<Item = &'r Rule>,
    overflowed: Option<&str>,
    absence: Absence,
) -> Phrase {
    let mut seen: Vec<String> = Vec::new();
    let mut all = Phrase::default();
    for part in rules.into_iter().flat_map(Rule::parts) {
        for (name, value) in part_values(cx, part, absence) {
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

/// The names in a part, with the text that says its value, or that there is none.
fn part_values(cx: &mut Planner<'_>, part: &Rule, absence: Absence) -> Vec<(String, Phrase)> {
    match &part.kind {
        // It has no value that says more.
        RuleKind::Aligned(tensor, bytes) if alignment::is_established(cx, tensor, *bytes) => vec![],
        RuleKind::DTypes(vars, _) => {
            let value =
                |var: &String| Phrase::text(format!("{var} = ")).and_phrase(value_of(cx, var));
            vars.iter().map(|var| (var.clone(), value(var))).collect()
        }
        RuleKind::NoAlias(a, b) => {
            let (zero, one) = (cx.b.int(0), cx.b.int(1));
            let (apart, valid) = alias::apart(cx, a, b);
            let holds = cx.b.and(valid, apart);
            let value = Phrase::value(cx.b.select(holds, one, zero), Format::Int);
            let remains = absence.leaves_part(cx, part);
            let value = where_there(cx, value, remains);
            vec![(part.to_string(), Phrase::text(format!("{part} = ")).and_phrase(value))]
        }
        RuleKind::Aligned(tensor, bytes) => {
            let what = format!("address of {tensor}");
            let value = alignment::received(cx, &what, tensor, *bytes, " = ");
            let remains = absence.leaves_part(cx, part);
            vec![(part.to_string(), where_there(cx, value, remains))]
        }
        _ => {
            let mut values = Vec::new();
            for name in part.names() {
                let value = Phrase::text(format!("{} = ", name.text));
                let value = value.and_phrase(value_of(cx, &name.text));
                let is_there = absence.leaves(cx, std::slice::from_ref(&name), &[]);
                values.push((name.text, where_there(cx, value, is_there)));
            }
            values
        }
    }
}

/// A phrase whose values there may be none of; what is there in any call takes no room for that.
fn where_there(cx: &Planner<'_>, phrase: Phrase, is_there: Value) -> Phrase {
    match cx.b.as_bool(is_there) {
        Some(true) => phrase,
        Some(false) | None => phrase.where_given(is_there),
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
