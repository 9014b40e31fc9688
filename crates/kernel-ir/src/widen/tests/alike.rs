// SPDX-License-Identifier: Apache-2.0
//! Conditions whose forms are equal hold alike, for all numbers that parameters can be.

use crate::builder::Builder;
use crate::constant::Const;
use crate::eval;
use crate::generate::rng::Rng;
use crate::kernel::{Facts, Kernel, Param, ParamKind, Value};
use crate::op::{Binary, Compare, Expr, OpKind, Rounding, Unary};
use crate::ranges::Ranges;
use crate::types::Scalar;
use crate::widen::condition::{Condition, Conditions};

/// How many numbers a parameter can be.
const NUMBERS: i64 = 12;

/// A parameter that is a multiple of something, often near an end of its type.
fn param(rng: &mut Rng, name: &str, scalar: Scalar) -> (Param, Vec<Const>) {
    let all = scalar.integers();
    let divisor = rng.pick(&[1, 2, 3, 4, 8]);
    let highest = (all.max as i64) / divisor;
    let lowest = (all.min as i64) / divisor;
    let first = match rng.below(3) {
        0 => lowest,
        1 => highest - NUMBERS + 1,
        _ => (lowest + rng.below(10) as i64).min(highest - NUMBERS + 1),
    };
    let numbers: Vec<_> = (first..first + NUMBERS).map(|number| number * divisor).collect();
    let facts = Facts { min: numbers[0], max: numbers[NUMBERS as usize - 1], divisor };
    let kind = ParamKind::Scalar(scalar, facts);
    let numbers = numbers.into_iter().map(|number| Const::int(scalar, number));
    (Param { name: name.to_string(), kind }, numbers.collect())
}

/// Adds an integer that is computed from others.
fn add_number(rng: &mut Rng, b: &mut Builder, numbers: &mut Vec<Value>, scalar: Scalar) {
    let left = rng.pick(numbers);
    let right = match rng.percent(70) {
        true => b.int(scalar, rng.within(0, 9) as i64),
        false => rng.pick(numbers),
    };
    let op = rng.pick(&[Binary::Add, Binary::Add, Binary::Sub, Binary::Mul]);
    let number = b.binary(op, left, right);
    let there_and_back = rng.percent(20);
    numbers.push(match there_and_back {
        true => {
            let between = rng.pick(&[Scalar::I16, Scalar::U8, Scalar::I8]);
            let converted = b.convert(number, between, Rounding::Zero);
            b.convert(converted, scalar, Rounding::Zero)
        }
        false => number,
    });
}

/// A condition on integers.
fn condition(rng: &mut Rng, b: &mut Builder, numbers: &[Value]) -> Value {
    let compared = |rng: &mut Rng, b: &mut Builder| {
        let (left, right) = (rng.pick(numbers), rng.pick(numbers));
        let compared = b.compare(rng.pick(Compare::ALL), left, right);
        if rng.percent(20) { b.unary(Unary::Not, compared) } else { compared }
    };
    let one = compared(rng, b);
    match rng.percent(20) {
        true => {
            let other = compared(rng, b);
            b.binary(Binary::And, one, other)
        }
        false => one,
    }
}

/// The values of a kernel that only computes, for some arguments.
fn computed(kernel: &Kernel, arguments: &[Const]) -> Vec<Const> {
    let mut values = arguments.to_vec();
    values.resize(kernel.values.len(), Const::int(Scalar::I64, 0));
    for op in &kernel.body.0 {
        let (Some(result), OpKind::Expr(expr)) = (op.result, &op.kind) else { panic!("{op:?}") };
        let of = |value: &Value| values[value.index()];
        values[result.index()] = match expr {
            Expr::Const(constant) => *constant,
            Expr::Unary(op, value) => eval::unary(*op, of(value)),
            Expr::Binary(op, left, right) => eval::binary(*op, of(left), of(right)),
            Expr::Compare(op, left, right) => {
                Const::from_bits(Scalar::Bool, eval::compare(*op, of(left), of(right)).into())
            }
            Expr::Convert(value, rounding) => {
                let to = kernel.ty(result).scalar().expect("a number");
                eval::convert(of(value), to, *rounding)
            }
            other => panic!("{other:?}"),
        };
    }
    values
}

#[test]
fn equal_forms_hold_alike() {
    let mut n_equal = 0;
    for seed in 0..400 {
        let mut rng = Rng::new(seed);
        let scalar = rng.pick(&[Scalar::I8, Scalar::U8, Scalar::I16]);
        let (params, ranges): (Vec<_>, Vec<_>) =
            ["a", "b"].map(|name| param(&mut rng, name, scalar)).into_iter().unzip();
        let mut b = Builder::new("k", params);
        let mut numbers = vec![Value(0), Value(1)];
        for _ in 0..10 {
            add_number(&mut rng, &mut b, &mut numbers, scalar);
        }
        let conditions: Vec<_> = (0..40).map(|_| condition(&mut rng, &mut b, &numbers)).collect();
        let kernel = b.finish();
        let found = Ranges::of(&kernel);
        let mut forms = Conditions::of(&kernel, &found);
        let forms: Vec<_> = conditions.iter().map(|value| forms.condition(*value)).collect();
        let mut equal = Vec::new();
        for (at, form) in forms.iter().enumerate() {
            let others = (0..at).filter(|other| forms[*other] == *form);
            equal.extend(others.map(|other| (conditions[other], conditions[at])));
        }
        equal.retain(|(one, other)| one != other);
        n_equal += equal.len();
        for first in &ranges[0] {
            for second in &ranges[1] {
                let values = computed(&kernel, &[*first, *second]);
                for (one, other) in &equal {
                    let holds = [one, other].map(|value| values[value.index()].as_bool());
                    assert_eq!(holds[0], holds[1], "{kernel}{one} {other} {first} {second}");
                }
            }
        }
    }
    assert!(n_equal > 200, "{n_equal}");
}

#[test]
fn conditions_of_no_integers_are_themselves() {
    let floats = ["a", "b"].map(|name| Param {
        name: name.to_string(),
        kind: ParamKind::Scalar(Scalar::F32, Facts::NONE),
    });
    let mut b = Builder::new("k", floats.into());
    let less = b.compare(Compare::Lt, Value(0), Value(1));
    let kernel = b.finish();
    let ranges = Ranges::of(&kernel);
    let form = Conditions::of(&kernel, &ranges).condition(less);
    assert_eq!(form, Condition::Is(less));
}
