// SPDX-License-Identifier: Apache-2.0
//! Facts about numbers, from signatures and conditions.

use super::*;
use expect_test::{Expect, expect};
use kernpack_validators::{When, parse_expr, parse_when};

/// The facts about expressions where a signature's launch has that condition: `min..max /divisor`,
/// as far as there is any, or the number.
fn check(signature: &str, when: &str, exprs: &[&str], expected: Expect) {
    let signature: Signature = signature.parse().unwrap();
    let bindings = signature.resolve().unwrap();
    let rows = bindings.combinations(&signature.rules);
    let vars = bindings.dtypes.keys().cloned();
    let row: Row = vars.zip(rows.first().cloned().unwrap_or_default()).collect();
    let mut facts = CallFacts::of(&signature, &bindings, &[], row);
    let negated = when.strip_prefix("else ");
    if let When::Rules(rules) = parse_when(negated.unwrap_or(when)).unwrap() {
        for rule in rules {
            facts = facts.on_side(&Branch { rule, holds: negated.is_none() });
        }
    }
    let shown = exprs.iter().map(|text| show(&facts, &parse_expr(*text).unwrap()));
    let mut shown = shown.collect::<Vec<_>>().join("\n");
    if facts.is_impossible() {
        shown = "never".to_string();
    }
    expected.assert_eq(&shown);
}

fn show(facts: &CallFacts, expr: &Expr) -> String {
    let expr = facts.canonical(expr);
    let Facts { min, max, divisor } = facts.facts(&expr);
    let mut text = expr.to_string();
    if expr.as_int().is_none() {
        let bound = |value: i64, none: i64| match value == none {
            true => String::new(),
            false => value.to_string(),
        };
        text += &format!(": {}..{}", bound(min, i64::MIN), bound(max, i64::MAX));
        text += &if divisor > 1 { format!(" /{divisor}") } else { String::new() };
    }
    text
}

#[test]
fn kinds_bound_numbers() {
    check(
        "f(x: Tensor([m, 4*n], float32), k: int8, b: bool, s: Shape([m, _]), u: uint32)",
        "m >= 0",
        &["m", "k", "b", "u", "x.shape[1]", "x.shape[-1]", "s[0]", "s[1]", "x.numel", "k % 8"],
        expect![[r#"
            m: 0..
            k: -128..127
            b: 0..1
            u: 0..4294967295
            4*n: 0.. /4
            4*n: 0.. /4
            m: 0..
            s[1]: 0..
            x.numel: 0..
            k % 8: 0..7"#]],
    );
}

#[test]
fn rules_bound_and_divide() {
    check(
        "f(x: Tensor([m, n], float32), k: int64) where n % 8 == 0, n <= 100, 3*m + 1 < 30, k in {4, 12}",
        "m >= 0",
        &["m", "n", "n // 8", "ceildiv(n, 4)", "m*n", "n % 4", "min(n, 200)", "k", "max(k, 2)"],
        expect![[r#"
            m: 0..9
            n: 0..96 /8
            n // 8: 0..12
            n // 4: 0..24 /2
            m*n: 0..864 /8
            0
            n: 0..96 /8
            k: 4..12 /4
            k: 4..12 /4"#]],
    );
    check(
        "f(x: Tensor([m, n], T)) where T in {float16, float32}, T == float16 and n % 8 == 0 or T == float32 and n % 4 == 0",
        "m >= 0",
        &["n"],
        expect!["n: 0..9223372036854775800 /8"],
    );
    check(
        "f(x: Tensor([m, n], float32)) where n % 8 == 0 or n % 12 == 0 and n > 20",
        "m >= 0",
        &["n"],
        expect!["n: 0..9223372036854775800 /4"],
    );
}

#[test]
fn conditions_add_to_rules() {
    let signature = "f(x: Tensor([m, n], float32)) where n % 8 == 0, n <= 100";
    check(
        signature,
        "n == 64, m < n",
        &["m", "n", "m*n", "x.shape[1] // 4"],
        expect![[r#"
        m: 0..63
        64
        m*64: 0..4032 /64
        16"#]],
    );
    check(signature, "n > 90", &["n"], expect!["96"]);
    check(signature, "n > 96", &["n"], expect!["never"]);
    check(signature, "n in {24, 48, 50, 200}", &["n"], expect!["n: 24..48 /24"]);
    check(
        signature,
        "not (m > 4 or n > 8)",
        &["m", "n"],
        expect![[r#"
        m: 0..4
        n: 0..8 /8"#]],
    );
    check(
        signature,
        "else m > 4 and n > 8",
        &["m", "n"],
        expect![[r#"
        m: 0..
        n: 0..96 /8"#]],
    );
    check(
        signature,
        "else m > 4 or n > 8",
        &["m", "n"],
        expect![[r#"
        m: 0..4
        n: 0..8 /8"#]],
    );
    check(
        signature,
        "m != 0, n != 96",
        &["m", "n"],
        expect![[r#"
        m: 1..
        n: 0..88 /8"#]],
    );
    check(
        signature,
        "n % 32 == 0",
        &["n", "n % 16"],
        expect![[r#"
        n: 0..96 /32
        0"#]],
    );
}

/// `2*m > 8` may overflow, and does not hold then.
#[test]
fn what_breaks_says_nothing() {
    let signature = "f(x: Tensor([m, n], float32))";
    check(signature, "2*m > 8", &["m"], expect!["m: 5..4611686018427387903"]);
    check(signature, "else 2*m > 8", &["m"], expect!["m: 0.."]);
}

#[test]
fn what_may_be_absent_may_be_0() {
    check(
        "f(x: Tensor([m], float32), w: Optional[Tensor([n, 4], float32)]) where n % 8 == 0, n >= 16, m >= n",
        "m >= 0",
        &["m", "n", "w.shape[1]", "w.given"],
        expect![[r#"
            m: 0..
            n: 0..9223372036854775800 /8
            w.shape[1]: 0..
            w.given: 0..1"#]],
    );
}

#[test]
fn rules_are_decided() {
    let signature: Signature =
        "f(x: Tensor([m, n], T, align=16), y: Tensor([n], float32)) where T in {float16, float32}, n % 8 == 0, n <= 100, aligned(y, 32)"
            .parse()
            .unwrap();
    let bindings = signature.resolve().unwrap();
    let row = Row::from([("T".to_string(), DType::FLOAT16)]);
    let facts = CallFacts::of(&signature, &bindings, &[], row);
    let decided = [
        "n <= 100",
        "n < 100",
        "n > 100",
        "n % 4 == 0",
        "n % 16 == 0",
        "T == float16",
        "T != float16",
        "T == float32 and n > 4",
        "T == float16 or n > 4",
        "n > 4 or T == float16",
        "not n > 100",
        "2*m > 8 or T == float16",
        "2*m > -8",
        "m > -8",
        "aligned(y, 16)",
        "aligned(y, 64)",
        "n in {3, 200}",
        "n in {200, 300}",
    ]
    .map(|text| {
        let When::Rules(rules) = parse_when(text).unwrap() else { panic!("rules") };
        format!("{text}: {:?}\n", facts.decide(&rules[0]))
    });
    expect![[r#"
        n <= 100: Some(true)
        n < 100: Some(true)
        n > 100: Some(false)
        n % 4 == 0: Some(true)
        n % 16 == 0: None
        T == float16: Some(true)
        T != float16: Some(false)
        T == float32 and n > 4: Some(false)
        T == float16 or n > 4: Some(true)
        n > 4 or T == float16: Some(true)
        not n > 100: Some(true)
        2*m > 8 or T == float16: None
        2*m > -8: None
        m > -8: Some(true)
        aligned(y, 16): Some(true)
        aligned(y, 64): None
        n in {3, 200}: Some(false)
        n in {200, 300}: Some(false)
    "#]]
    .assert_eq(&decided.concat());
}

fn facts_of(signature: &str, when: &str) -> CallFacts {
    let signature: Signature = signature.parse().unwrap();
    let bindings = signature.resolve().unwrap();
    let facts = CallFacts::of(&signature, &bindings, &[], Row::new());
    let When::Rules(rules) = parse_when(when).unwrap() else { panic!("rules") };
    let branches = rules.into_iter().map(|rule| Branch { rule, holds: true });
    branches.fold(facts, |facts, branch| facts.on_side(&branch))
}

#[test]
fn each_fact_names_what_establishes_it() {
    let facts = facts_of(
        "f(x: Tensor([m, n], float32, strides=[s, 1]), z: Optional[Tensor([n], float32, align=16)]) \
         -> y: Tensor([n], float16) where n % 4 == 0 and aligned(z, 32), s % 8 == 0",
        "m > 1, n > 0",
    );
    let shown: Vec<_> = facts.facts_here().iter().map(|fact| format!("{fact}\n")).collect();
    expect![[r#"
        m in 2..=9223372036854775807: `m > 1` holds here
        n % 4 in 0..=0: `n % 4 == 0 and aligned(z, 32)` is checked
        n in 4..=9223372036854775804, a multiple of 4: `n % 4 == 0 and aligned(z, 32)` is checked, `n > 0` holds here
        s % 8 in 0..=0: `s % 8 == 0` is checked, the strides `s` is checked, `m > 1` holds here, `n > 0` holds here
        s in 0..=9223372036854775800, a multiple of 8: `s % 8 == 0` is checked, the strides `s` is checked, `m > 1` holds here, `n > 0` holds here
        x apart from y: the call allocates `y`
        x at a multiple of 4 bytes: the address of x is checked
        x.strides[0] in 0..=9223372036854775800, a multiple of 8: the strides of x is checked, `m > 1` holds here, `n > 0` holds here
        x.strides[1] in 1..=1: the strides of x is checked
        y apart from z: the call allocates `y`
        y at a multiple of 2 bytes: the call allocates `y`
        y.strides[0] in 1..=1: the call allocates `y`
        z at a multiple of 32 bytes: `n % 4 == 0 and aligned(z, 32)` is checked
        z.strides[0] in 0..=1: the strides of z is checked
    "#]].assert_eq(&shown.concat());
}

/// A bound that comes of another one is established by what establishes that.
#[test]
fn a_fact_names_what_it_was_computed_from() {
    let facts = facts_of(
        "f(n: int64, m: int64, k: int64) where n <= 100, k > 3",
        "m < n, m == 8 or m == k",
    );
    let shown: Vec<_> = facts.facts_here().iter().map(|fact| format!("{fact}\n")).collect();
    expect![[r#"
        k in 4..=9223372036854775807: `k > 3` is checked, `n <= 100` is checked, `m < n` holds here, `m == 8 or m == k` holds here
        m in 4..=99: `k > 3` is checked, `n <= 100` is checked, `m < n` holds here, `m == 8 or m == k` holds here
        n in -9223372036854775807..=100: `n <= 100` is checked, `m < n` holds here
    "#]].assert_eq(&shown.concat());
}

#[test]
fn tensors_beside_an_absent_one_are_apart_as_far_as_they_are_compared() {
    let params =
        "x: Tensor([n], float32), y: Tensor([n], float32, mut), z: Optional[Tensor([n], float32)]";
    let are_apart = |rule: &str| {
        let facts = facts_of(&format!("f({params}) where {rule}"), "n > 0");
        (facts.are_apart("x", "y"), facts.are_apart("z", "y"))
    };
    assert_eq!(are_apart("noalias(z, y) and noalias(x, y)"), (true, true));
    assert_eq!(are_apart("noalias(z, y) or noalias(x, y)"), (false, false));
    assert_eq!(are_apart("not (not noalias(z, y) or not noalias(x, y))"), (true, true));
    assert_eq!(are_apart("z.given == 0 or noalias(x, y)"), (false, false));
}

/// A comparison that names what two Optionals hold is made where both are given.
#[test]
fn what_two_optionals_hold_is_compared_where_both_are_given() {
    let params = "y: Optional[Tensor([m], float32)], z: Optional[Tensor([k], float32)]";
    let divisor = |when: &str| {
        let facts = facts_of(&format!("f({params}) where m == 4*k"), when);
        facts.facts(&Expr::symbol("m")).divisor
    };
    assert_eq!(divisor("m >= 0"), 1);
    assert_eq!(divisor("y.given == 1"), 1);
    assert_eq!(divisor("y.given == 1, z.given == 1"), 4);
}

/// Nothing refuses a call for which nothing remains of a rule.
#[test]
fn a_rule_that_only_absence_meets_is_met_by_it() {
    let params = "z: Optional[Tensor([k], float32, align=16)]";
    let never =
        |rule: &str| facts_of(&format!("f({params}) where {rule}"), "k >= 0").is_impossible();
    assert!(!never("k > 4, k < 3"));
    assert!(!never("not (aligned(z, 8) and aligned(z, 16))"));
    assert!(never("k > 4, k < 3, z.given == 1"));
}

#[test]
fn what_a_side_rules_out_leaves_the_rest_of_a_rule() {
    check(
        "f(x: Tensor([n], float32), mode: String, e: float32) where mode != \"four\" or n % 4 == 0, not e > 1.5 or n <= 64",
        "mode == \"four\"",
        &["n"],
        expect!["n: 0..9223372036854775804 /4"],
    );
    check(
        "f(x: Tensor([n], float32), mode: String, e: float32) where mode != \"four\" or n % 4 == 0, not e > 1.5 or n <= 64",
        "e > 1.5",
        &["n"],
        expect!["n: 0..64"],
    );
    // A comparison that does not hold may have no value: its opposite is not known then.
    check(
        "f(n: int64, k: int8) where n * n <= 7 or k < 3",
        "else n * n > 7",
        &["k"],
        expect!["k: -128..127"],
    );
}

#[test]
fn what_a_rule_asks_of_what_may_be_left_out_is_not_taken_for_asked() {
    let always = |signature: &str, rule: &str| {
        let signature: Signature = signature.parse().unwrap();
        let bindings = signature.resolve().unwrap();
        let facts = CallFacts::of(&signature, &bindings, &[], Row::new());
        let When::Rules(rules) = parse_when(rule).unwrap() else { panic!("a rule") };
        facts.decide(&rules[0])
    };
    assert_eq!(
        always("f(mode: String) where mode in {\"a\", \"b\"}", "mode in {\"a\", \"b\"}"),
        Some(true)
    );
    let rule = "s % 3 == 0 or n > 4";
    assert_eq!(
        always(&format!("f(x: Tensor([n, 8], int8, strides=[s, 1])) where {rule}"), rule),
        None
    );
    assert_eq!(always(&format!("f(n: int32, s: int32) where {rule}"), rule), Some(true));
    assert_eq!(always(&format!("f(n: int32, s: Optional[int32]) where {rule}"), rule), None);
}
