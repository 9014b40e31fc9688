// SPDX-License-Identifier: Apache-2.0
//! Arithmetic on numbers without a type, which only the compiler sees: Python's own, on integers of
//! any size and float64. Kernels and packed functions share it, each with values of its own around.

use crate::integer::Integer;
use crate::python::tree::BinaryOp;
use std::cmp::Ordering;
use std::fmt;

/// A number without a type.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Untyped {
    Int(Integer),
    Float(f64),
}

impl fmt::Display for Untyped {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Untyped::Int(int) => int.fmt(f),
            Untyped::Float(float) => write!(f, "{float:?}"),
        }
    }
}

/// Why there is no result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Refused {
    /// Division by zero.
    ByZero,
    /// It has more bits than constants have.
    TooLarge,
    /// One of both is beyond all floats.
    NoFloat,
    /// It is none of the operations of such numbers.
    Undefined,
}

/// The result of an operation.
pub(crate) fn binary(op: BinaryOp, left: &Untyped, right: &Untyped) -> Result<Untyped, Refused> {
    let float = |number: &Untyped| match number {
        Untyped::Int(int) => int.nearest().ok_or(Refused::NoFloat),
        Untyped::Float(float) => Ok(*float),
    };
    match (left, right) {
        (Untyped::Int(a), Untyped::Int(b)) => ints(op, a, b),
        (a, b) => floats(op, float(a)?, float(b)?),
    }
}

/// How two numbers compare, as exact numbers do; nothing where one of them is no number.
pub(crate) fn order(left: &Untyped, right: &Untyped) -> Option<Ordering> {
    match (left, right) {
        (Untyped::Int(a), Untyped::Int(b)) => Some(a.cmp(b)),
        (Untyped::Int(a), Untyped::Float(b)) => a.compare_float(*b),
        (Untyped::Float(a), Untyped::Int(b)) => b.compare_float(*a).map(Ordering::reverse),
        (Untyped::Float(a), Untyped::Float(b)) => a.partial_cmp(b),
    }
}

fn ints(op: BinaryOp, a: &Integer, b: &Integer) -> Result<Untyped, Refused> {
    let result = match op {
        BinaryOp::Add => a.add(b),
        BinaryOp::Sub => a.sub(b),
        BinaryOp::Mul => a.mul(b),
        BinaryOp::FloorDiv => return a.floor_div(b).map(Untyped::Int).ok_or(Refused::ByZero),
        BinaryOp::Mod => return a.floor_mod(b).map(Untyped::Int).ok_or(Refused::ByZero),
        BinaryOp::Div if b.is_zero() => return Err(Refused::ByZero),
        BinaryOp::Div => return a.true_div(b).map(Untyped::Float).ok_or(Refused::NoFloat),
        BinaryOp::Pow if b.is_negative() && a.is_zero() => return Err(Refused::ByZero),
        BinaryOp::Pow if b.is_negative() => {
            let (a, b) = (a.nearest().zip(b.nearest())).ok_or(Refused::NoFloat)?;
            return Ok(Untyped::Float(a.powf(b)));
        }
        BinaryOp::Pow => a.pow(b),
        BinaryOp::Shl | BinaryOp::Shr if b.is_negative() => return Err(Refused::Undefined),
        BinaryOp::Shl => a.shl(b),
        BinaryOp::Shr => a.shr(b),
        BinaryOp::And => Some(a.and(b)),
        BinaryOp::Or => Some(a.or(b)),
        BinaryOp::Xor => Some(a.xor(b)),
        BinaryOp::MatMul => return Err(Refused::Undefined),
    };
    result.map(Untyped::Int).ok_or(Refused::TooLarge)
}

fn floats(op: BinaryOp, a: f64, b: f64) -> Result<Untyped, Refused> {
    Ok(Untyped::Float(match op {
        BinaryOp::Add => a + b,
        BinaryOp::Sub => a - b,
        BinaryOp::Mul => a * b,
        BinaryOp::Div if b == 0.0 => return Err(Refused::ByZero),
        BinaryOp::Div => a / b,
        BinaryOp::Pow => a.powf(b),
        BinaryOp::FloorDiv
        | BinaryOp::Mod
        | BinaryOp::MatMul
        | BinaryOp::Shl
        | BinaryOp::Shr
        | BinaryOp::And
        | BinaryOp::Or
        | BinaryOp::Xor => return Err(Refused::Undefined),
    }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use expect_test::{Expect, expect};

    fn expect_results(op: BinaryOp, pairs: &[(Untyped, Untyped)], expected: Expect) {
        let shown = pairs.iter().map(|(a, b)| match binary(op, a, b) {
            Ok(number) => number.to_string(),
            Err(refused) => format!("{refused:?}"),
        });
        expected.assert_eq(&shown.collect::<Vec<_>>().join(", "));
    }

    fn ints(pairs: &[(i128, i128)]) -> Vec<(Untyped, Untyped)> {
        pairs.iter().map(|(a, b)| (Untyped::Int((*a).into()), Untyped::Int((*b).into()))).collect()
    }

    #[test]
    fn quotients_are_rounded_down() {
        let pairs = ints(&[(7, 2), (-7, 2), (7, -2), (-7, -2), (-8, 2), (7, 0), (i128::MIN, -1)]);
        expect_results(
            BinaryOp::FloorDiv,
            &pairs,
            expect!["3, -4, -4, 3, -4, ByZero, 170141183460469231731687303715884105728"],
        );
        expect_results(BinaryOp::Mod, &pairs, expect!["1, 1, -1, -1, 0, ByZero, 0"]);
    }

    /// The expected floats are Python's.
    #[test]
    fn a_quotient_of_integers_is_the_nearest_float() {
        let pairs = ints(&[(6, 3), (1, 3), (-7, 2), (1, 1 << 24), (0, -5), (1, 0)]);
        expect_results(
            BinaryOp::Div,
            &pairs,
            expect!["2.0, 0.3333333333333333, -3.5, 5.960464477539063e-8, -0.0, ByZero"],
        );
        // Rounded before it is divided, this were 3002399751580330.5.
        let large = ints(&[((1 << 53) + 1, 3)]);
        expect_results(BinaryOp::Div, &large, expect!["3002399751580331.0"]);
        let huge = Untyped::Int(Integer::from(10).pow(&400.into()).expect("small enough"));
        let one = Untyped::Int(1.into());
        let pairs = [(huge.clone(), huge.clone()), (huge.clone(), one.clone()), (one, huge)];
        expect_results(BinaryOp::Div, &pairs, expect!["1.0, NoFloat, 0.0"]);
    }

    #[test]
    fn integers_are_of_any_size_up_to_a_bound() {
        let large = ints(&[(i128::MAX, 2), (i128::MIN, 2), (-3, 2)]);
        expect_results(
            BinaryOp::Mul,
            &large,
            expect![
                "340282366920938463463374607431768211454, -340282366920938463463374607431768211456, -6"
            ],
        );
        expect_results(
            BinaryOp::Sub,
            &ints(&[(i128::MIN, 1)]),
            expect!["-170141183460469231731687303715884105729"],
        );
        let counts = ints(&[(3, 4), (0, 1 << 40), (-5, 1), (-5, 130), (1, 65535), (1, 65536)]);
        expect_results(
            BinaryOp::Shl,
            &counts,
            expect![
                "48, 0, -10, -6805647338418769269267492148635364229120, 10017649652034232324...22793947952859578368 (19729 digits), TooLarge"
            ],
        );
        expect_results(BinaryOp::Shr, &counts, expect!["0, 0, -3, -1, 0, 0"]);
        let powers = ints(&[(3, 4), (0, 1 << 40), (-5, 3), (10, 1 << 40), (2, -1), (0, -1)]);
        expect_results(BinaryOp::Pow, &powers, expect!["81, 0, -125, TooLarge, 0.5, ByZero"]);
        expect_results(BinaryOp::Shl, &ints(&[(1, -1)]), expect!["Undefined"]);
        expect_results(BinaryOp::Shr, &ints(&[(1, -1)]), expect!["Undefined"]);
    }

    #[test]
    fn what_is_beyond_all_floats_meets_none() {
        let large = Untyped::Int(Integer::from(10).pow(&400.into()).expect("small enough"));
        let pairs = [(large.clone(), Untyped::Float(0.5)), (Untyped::Float(0.5), large.clone())];
        expect_results(BinaryOp::Mul, &pairs, expect!["NoFloat, NoFloat"]);
        let found = [order(&large, &Untyped::Float(0.5)), order(&Untyped::Float(0.5), &large)];
        assert_eq!(found, [Some(Ordering::Greater), Some(Ordering::Less)]);
    }

    #[test]
    fn floats_have_fewer_operations() {
        let pairs = [
            (Untyped::Float(1.5), Untyped::Int(2.into())),
            (Untyped::Int(3.into()), Untyped::Float(-2.0)),
            (Untyped::Float(1.0), Untyped::Int(0.into())),
        ];
        expect_results(BinaryOp::Add, &pairs, expect!["3.5, 1.0, 1.0"]);
        expect_results(BinaryOp::Div, &pairs, expect!["0.75, -1.5, ByZero"]);
        expect_results(BinaryOp::Pow, &pairs, expect!["2.25, 0.1111111111111111, 1.0"]);
        expect_results(BinaryOp::Mod, &pairs, expect!["Undefined, Undefined, Undefined"]);
        let ints = ints(&[(6, 3)]);
        expect_results(BinaryOp::MatMul, &ints, expect!["Undefined"]);
        expect_results(BinaryOp::Xor, &ints, expect!["5"]);
    }
}
