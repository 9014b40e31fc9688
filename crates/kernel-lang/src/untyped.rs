// SPDX-License-Identifier: Apache-2.0
//! Arithmetic on numbers without a type, which only the compiler sees: Python's own, on integers of
//! 128 bits and float64. Kernels and packed functions share it, each with values of its own around.

use crate::python::tree::BinaryOp;
use std::fmt;

/// A number without a type.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Untyped {
    Int(i128),
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
    /// `/` of integers.
    IntDivision,
    /// Division by zero.
    ByZero,
    /// It does not fit.
    TooLarge,
    /// It is none of the operations of such numbers.
    Undefined,
}

/// The result of an operation.
pub(crate) fn binary(op: BinaryOp, left: Untyped, right: Untyped) -> Result<Untyped, Refused> {
    match (left, right) {
        (Untyped::Int(a), Untyped::Int(b)) => ints(op, a, b),
        (Untyped::Int(a), Untyped::Float(b)) => floats(op, a as f64, b),
        (Untyped::Float(a), Untyped::Int(b)) => floats(op, a, b as f64),
        (Untyped::Float(a), Untyped::Float(b)) => floats(op, a, b),
    }
}

fn ints(op: BinaryOp, a: i128, b: i128) -> Result<Untyped, Refused> {
    let shift = || u32::try_from(b).ok();
    let result = match op {
        BinaryOp::Add => a.checked_add(b),
        BinaryOp::Sub => a.checked_sub(b),
        BinaryOp::Mul => a.checked_mul(b),
        BinaryOp::FloorDiv | BinaryOp::Mod if b == 0 => return Err(Refused::ByZero),
        BinaryOp::FloorDiv => floor_div(a, b),
        BinaryOp::Mod => floor_div(a, b).and_then(|q| a.checked_sub(q.checked_mul(b)?)),
        BinaryOp::Div => return Err(Refused::IntDivision),
        BinaryOp::Pow if b < 0 => return Ok(Untyped::Float((a as f64).powf(b as f64))),
        BinaryOp::Pow => shift().and_then(|b| a.checked_pow(b)),
        BinaryOp::Shl => {
            let factor = shift().filter(|count| *count < 127).map(|count| 1_i128 << count);
            factor.and_then(|factor| a.checked_mul(factor))
        }
        BinaryOp::Shr => shift().map(|count| a >> count.min(127)),
        BinaryOp::And => Some(a & b),
        BinaryOp::Or => Some(a | b),
        BinaryOp::Xor => Some(a ^ b),
        BinaryOp::MatMul => return Err(Refused::Undefined),
    };
    result.map(Untyped::Int).ok_or(Refused::TooLarge)
}

fn floor_div(a: i128, b: i128) -> Option<i128> {
    let quotient = a.checked_div(b)?;
    let is_below = a % b != 0 && (a < 0) != (b < 0);
    Some(quotient - i128::from(is_below))
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
        let shown = pairs.iter().map(|(a, b)| match binary(op, *a, *b) {
            Ok(number) => number.to_string(),
            Err(refused) => format!("{refused:?}"),
        });
        expected.assert_eq(&shown.collect::<Vec<_>>().join(", "));
    }

    fn ints(pairs: &[(i128, i128)]) -> Vec<(Untyped, Untyped)> {
        pairs.iter().map(|(a, b)| (Untyped::Int(*a), Untyped::Int(*b))).collect()
    }

    #[test]
    fn quotients_are_rounded_down() {
        let pairs = ints(&[(7, 2), (-7, 2), (7, -2), (-7, -2), (-8, 2), (7, 0), (i128::MIN, -1)]);
        expect_results(BinaryOp::FloorDiv, &pairs, expect!["3, -4, -4, 3, -4, ByZero, TooLarge"]);
        expect_results(BinaryOp::Mod, &pairs, expect!["1, 1, -1, -1, 0, ByZero, TooLarge"]);
    }

    #[test]
    fn what_does_not_fit_is_refused() {
        let large = ints(&[(i128::MAX, 2), (i128::MIN, 2), (-3, 2)]);
        expect_results(BinaryOp::Mul, &large, expect!["TooLarge, TooLarge, -6"]);
        let sums = ints(&[(i128::MAX, 1), (i128::MAX, i128::MIN)]);
        expect_results(BinaryOp::Add, &sums, expect!["TooLarge, -1"]);
        let differences = ints(&[(i128::MIN, 1), (i128::MAX, i128::MAX)]);
        expect_results(BinaryOp::Sub, &differences, expect!["TooLarge, 0"]);
        let counts = ints(&[(3, 4), (0, 126), (0, 127), (-5, 1), (-5, 127), (-5, 500), (1, -1)]);
        expect_results(
            BinaryOp::Shl,
            &counts,
            expect!["48, 0, TooLarge, -10, TooLarge, TooLarge, TooLarge"],
        );
        expect_results(BinaryOp::Shr, &counts, expect!["0, 0, 0, -3, -1, -1, TooLarge"]);
        expect_results(BinaryOp::Pow, &counts, expect!["81, 0, 0, -5, TooLarge, TooLarge, 1.0"]);
    }

    #[test]
    fn floats_have_fewer_operations() {
        let pairs = [
            (Untyped::Float(1.5), Untyped::Int(2)),
            (Untyped::Int(3), Untyped::Float(-2.0)),
            (Untyped::Float(1.0), Untyped::Int(0)),
        ];
        expect_results(BinaryOp::Add, &pairs, expect!["3.5, 1.0, 1.0"]);
        expect_results(BinaryOp::Div, &pairs, expect!["0.75, -1.5, ByZero"]);
        expect_results(BinaryOp::Pow, &pairs, expect!["2.25, 0.1111111111111111, 1.0"]);
        expect_results(BinaryOp::Mod, &pairs, expect!["Undefined, Undefined, Undefined"]);
        let ints = ints(&[(6, 3)]);
        expect_results(BinaryOp::Div, &ints, expect!["IntDivision"]);
        expect_results(BinaryOp::MatMul, &ints, expect!["Undefined"]);
        expect_results(BinaryOp::Xor, &ints, expect!["5"]);
    }
}
