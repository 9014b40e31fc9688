// SPDX-License-Identifier: Apache-2.0
//! Possible outcomes of a rule, where only some of what it names is known: the dtypes of a
//! combination, or the value of a parameter.
//!
//! In a call a rule holds, does not hold, or breaks: a part that is reached overflows or divides by
//! what is not positive. `and`, `or` and `not` stop as Python's do.

use super::{Comparison, FloatSide, Rule, RuleKind};
use crate::expr::{Expr, Field, Op};
use crate::launch::Branch;
use crate::plan::nearest;
use kernpack_ffi_abi::DType;

/// A name of a rule, as far as it is known.
#[derive(Clone, Debug, PartialEq)]
pub enum KnownValue {
    /// The value of a symbol or field.
    Int(i64),
    /// The value of a float parameter of that dtype.
    Float(f64, DType),
    /// The dtype of a dtype variable.
    DType(DType),
    /// The contents of a String.
    Text(String),
}

/// The names of a rule, as far as they are known.
#[derive(Clone, Copy)]
pub struct Known<'k> {
    /// The value of a name, as far as there is one.
    pub values: &'k dyn Fn(&str) -> Option<KnownValue>,
}

impl Known<'_> {
    fn int(&self, name: &str) -> Option<i64> {
        match (self.values)(name) {
            Some(KnownValue::Int(value)) => Some(value),
            _ => None,
        }
    }

    fn float(&self, name: &str) -> Option<(f64, DType)> {
        match (self.values)(name) {
            Some(KnownValue::Float(value, dtype)) => Some((nearest(value, dtype), dtype)),
            _ => None,
        }
    }

    fn dtype(&self, var: &str) -> Option<DType> {
        match (self.values)(var) {
            Some(KnownValue::DType(dtype)) => Some(dtype),
            _ => None,
        }
    }

    fn text(&self, name: &str) -> Option<String> {
        match (self.values)(name) {
            Some(KnownValue::Text(text)) => Some(text),
            _ => None,
        }
    }

    /// The possible outcomes of a comparison of floats.
    fn floats(&self, a: &FloatSide, comparison: Comparison, b: &FloatSide) -> Outcomes {
        let known = |side: &FloatSide| self.float(side.name()?);
        let value = |side: &FloatSide, other: &FloatSide| match side {
            FloatSide::Value(value) => known(other).map(|(_, dtype)| nearest(*value, dtype)),
            FloatSide::Name(_) => known(side).map(|(value, _)| value),
        };
        let holds = |(a, b)| Outcomes::of(comparison.holds_for_floats(a, b));
        value(a, b).zip(value(b, a)).map_or(Outcomes::EITHER, holds)
    }
}

/// The possible outcomes of a rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Outcomes {
    /// It may hold.
    pub holds: bool,
    /// It may not hold.
    pub fails: bool,
    /// It may break.
    pub breaks: bool,
}

impl Outcomes {
    const HOLDS: Outcomes = Outcomes { holds: true, fails: false, breaks: false };
    const FAILS: Outcomes = Outcomes { holds: false, fails: true, breaks: false };
    const BREAKS: Outcomes = Outcomes { holds: false, fails: false, breaks: true };
    /// Nothing is known, but that it has a value.
    const EITHER: Outcomes = Outcomes { holds: true, fails: true, breaks: false };
    const ANY: Outcomes = Outcomes { holds: true, fails: true, breaks: true };

    fn of(holds: bool) -> Outcomes {
        if holds { Outcomes::HOLDS } else { Outcomes::FAILS }
    }

    /// Whether it holds in every call.
    fn is_certain(self) -> bool {
        self == Outcomes::HOLDS
    }

    fn not(self) -> Outcomes {
        Outcomes { holds: self.fails, fails: self.holds, ..self }
    }

    /// Of several rules, whether all hold.
    pub fn of_all(rules: &[Rule], known: &Known<'_>) -> Outcomes {
        rules.iter().fold(Outcomes::HOLDS, |all, rule| {
            if !all.holds {
                return all;
            }
            let next = rule.outcomes(known);
            let (fails, breaks) = (all.fails || next.fails, all.breaks || next.breaks);
            Outcomes { holds: next.holds, fails, breaks }
        })
    }

    /// Of nested `if`s, whether this is the way through. A rule that breaks does not hold.
    pub fn of_branches(branches: &[Branch], known: &Known<'_>) -> Outcomes {
        branches.iter().fold(Outcomes::HOLDS, |all, Branch { rule, holds }| {
            if !all.holds {
                return all;
            }
            let asked = rule.outcomes(known);
            let no = asked.fails || asked.breaks;
            let (taken, left) = if *holds { (asked.holds, no) } else { (no, asked.holds) };
            Outcomes { holds: taken, fails: all.fails || left, breaks: false }
        })
    }

    /// Of several rules that are each asked by themselves, whether none holds. One that breaks does
    /// not.
    pub(crate) fn of_none(each: &[Outcomes]) -> Outcomes {
        let holds = each.iter().all(|rule| !rule.is_certain());
        let fails = each.iter().any(|rule| rule.holds);
        Outcomes { holds, fails, breaks: false }
    }

    /// Of several rules, whether one holds.
    fn of_any(rules: &[Rule], known: &Known<'_>) -> Outcomes {
        rules.iter().fold(Outcomes::FAILS, |any, rule| {
            if !any.fails {
                return any;
            }
            let next = rule.outcomes(known);
            let (holds, breaks) = (any.holds || next.holds, any.breaks || next.breaks);
            Outcomes { holds, fails: next.fails, breaks }
        })
    }
}

impl Rule {
    /// The possible outcomes of the rule.
    pub fn outcomes(&self, known: &Known<'_>) -> Outcomes {
        match &self.kind {
            RuleKind::Floats(a, comparison, b) => known.floats(a, *comparison, b),
            RuleKind::Compare(a, comparison, b) => {
                if let Some((a, comparison, b)) =
                    self.as_floats(&|name| known.float(name).is_some())
                {
                    return known.floats(&a, comparison, &b);
                }
                let int = |name: &str| known.int(name);
                if self.names().iter().any(|name| int(&name.text).is_none()) {
                    let breaks = may_break(a) || may_break(b);
                    return Outcomes { breaks, ..Outcomes::EITHER };
                }
                match a.value(&int).zip(b.value(&int)) {
                    None => Outcomes::BREAKS,
                    Some((a, b)) => Outcomes::of(comparison.holds(a, b)),
                }
            }
            RuleKind::In(e, values) => {
                let value = e.as_symbol().and_then(|name| known.int(name));
                value.map_or(Outcomes::EITHER, |value| Outcomes::of(values.contains(&value)))
            }
            RuleKind::DTypes(vars, rows) => {
                let dtypes: Vec<_> = vars.iter().map(|var| known.dtype(var)).collect();
                let is_known = |dtype: &Option<DType>| dtype.is_some();
                let fits = |row: &Vec<DType>| {
                    row.iter().zip(&dtypes).all(|(own, dtype)| dtype.is_none_or(|it| it == *own))
                };
                match rows.iter().any(fits) {
                    false => Outcomes::FAILS,
                    true if dtypes.iter().all(is_known) => Outcomes::HOLDS,
                    true => Outcomes::EITHER,
                }
            }
            RuleKind::Texts(e, texts) => {
                let text = e.as_symbol().and_then(|name| known.text(name));
                text.map_or(Outcomes::EITHER, |text| Outcomes::of(texts.contains(&text)))
            }
            RuleKind::NoAlias(..) => Outcomes::ANY,
            RuleKind::Aligned(..) => Outcomes::EITHER,
            RuleKind::Not(rule) => rule.outcomes(known).not(),
            RuleKind::And(rules) => Outcomes::of_all(rules, known),
            RuleKind::Or(rules) => Outcomes::of_any(rules, known),
        }
    }

    /// The dtypes that a rule lists for a variable, once each: with any other it cannot hold.
    /// `None` where it lists none.
    pub fn lists(&self, var: &str) -> Option<Vec<DType>> {
        match &self.kind {
            RuleKind::DTypes(vars, rows) => {
                let place = vars.iter().position(|own| own == var)?;
                let mut column: Vec<DType> = Vec::new();
                for row in rows {
                    if !column.contains(&row[place]) {
                        column.push(row[place]);
                    }
                }
                Some(column)
            }
            RuleKind::And(rules) => rules.iter().find_map(|rule| rule.lists(var)),
            RuleKind::Or(rules) => {
                let lists: Option<Vec<_>> = rules.iter().map(|rule| rule.lists(var)).collect();
                let mut union: Vec<DType> = Vec::new();
                for dtype in lists?.into_iter().flatten() {
                    if !union.contains(&dtype) {
                        union.push(dtype);
                    }
                }
                Some(union)
            }
            RuleKind::Compare(..)
            | RuleKind::Floats(..)
            | RuleKind::In(..)
            | RuleKind::Texts(..)
            | RuleKind::NoAlias(..)
            | RuleKind::Aligned(..)
            | RuleKind::Not(_) => None,
        }
    }
}

/// Whether an expression may have no value: it may overflow, or divide by what is not positive.
fn may_break(expr: &Expr) -> bool {
    match expr {
        Expr::Int(_) | Expr::Symbol(..) => false,
        Expr::Field(_, field, _) => *field == Field::Numel,
        Expr::Binary(op, a, b) => {
            let is_safe = match op {
                Op::Add | Op::Sub | Op::Mul => false,
                Op::FloorDiv | Op::Mod | Op::CeilDiv => b.as_int().is_some_and(|b| b > 0),
                Op::Min | Op::Max => true,
            };
            !is_safe || may_break(a) || may_break(b)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{When, parse_when};

    /// Expects outcomes of the rules where `T` is float16, `eps` the float32 0.1 and `n` 4: `+` it
    /// may hold, `-` it may not, `!` it may break.
    fn expect(rules: &str, expected: &str) {
        let when = parse_when(rules).unwrap();
        let When::Rules(rules) = &when else { panic!("rules") };
        let known = Known {
            values: &|name| match name {
                "n" => Some(KnownValue::Int(4)),
                "eps" => Some(KnownValue::Float(0.1, DType::FLOAT32)),
                "T" => Some(KnownValue::DType(DType::FLOAT16)),
                _ => None,
            },
        };
        let Outcomes { holds, fails, breaks } = Outcomes::of_all(rules, &known);
        let signs = [(holds, '+'), (fails, '-'), (breaks, '!')];
        let signs = signs.into_iter().filter(|(may, _)| *may).map(|(_, sign)| sign);
        assert_eq!(signs.collect::<String>(), expected, "{}", super::super::join(rules));
    }

    #[test]
    fn parts_that_are_known() {
        expect("T == float16", "+");
        expect("T != float16", "-");
        expect("T in {float32, float64}", "-");
        expect("U in {float32}", "+-");
        expect("(T, U) in {(float16, float32), (float32, float32)}", "+-");
        expect("(T, U) in {(float32, float32)}", "-");
        expect("n == 4, n in {1, 4}", "+");
        expect("n < 4", "-");
        expect("n in {5}", "-");
        expect("m in {5}", "+-");
        expect("n + m > 2", "+-!");
        expect("n // (n - 4) == 1", "!");
        expect("eps == 0.1, eps > 0, eps <= 0.1, 0.1 >= eps", "+");
        expect("eps != 0.1", "-");
        expect("lo > 1.5", "+-");
        expect("aligned(x, 16)", "+-");
        expect("noalias(x, y)", "+-!");
    }

    #[test]
    fn words_stop_where_pythons_do() {
        expect("T == float16 or 2*m > 2", "+");
        expect("2*m > 2 or T == float16", "+!");
        expect("T != float16 and 2*m > 2", "-");
        expect("2*m > 2 and T != float16", "-!");
        expect("not (2*m > 2 and T != float16)", "+!");
        expect("not (T != float16 and 2*m > 2)", "+");
        expect("T == float16 and U == float16", "+-");
        expect("T != float16 or U == float16", "+-");
        expect("n == 4 or n // (n - 4) == 1", "+");
        expect("n // (n - 4) == 1 or n == 4", "!");
        expect("T != float16, m > 2", "-");
        expect("not not T == float16", "+");
    }

    /// A name that has a value in any case cannot break what comes behind it.
    #[test]
    fn values_that_there_always_are() {
        for part in ["m > 2", "m % 4 == x.shape[0]", "min(m, -1) // 2 > ceildiv(x.ndim, 8)"] {
            expect(part, "+-");
            expect(&format!("{part} or T == float16"), "+");
        }
        for part in ["m + 1 > 2", "m // x.shape[0] == 1", "x.numel == 4", "2 > max(m, -m)"] {
            expect(part, "+-!");
            expect(&format!("{part} or T == float16"), "+!");
        }
    }

    #[test]
    fn dtypes_that_are_listed() {
        let lists = |rule: &str| {
            let listed = parse_when(rule).unwrap();
            let listed = listed.rules()[0].lists("T");
            listed.map(super::super::join)
        };
        let some = |dtypes: &str| Some(dtypes.to_string());
        assert_eq!(lists("T in {int8, float16}"), some("int8, float16"));
        assert_eq!(lists("(U, T) in {(int8, int16), (int4, int16)}"), some("int16"));
        assert_eq!(lists("n > 1 and T in {int8}"), some("int8"));
        assert_eq!(lists("T == int8 or T in {int16, int8}"), some("int8, int16"));
        assert_eq!(lists("T == int8 or n > 1"), None);
        assert_eq!(lists("T != int8"), None);
        assert_eq!(lists("U in {int8}"), None);
    }
}
