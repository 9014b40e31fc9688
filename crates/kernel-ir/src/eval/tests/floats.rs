// SPDX-License-Identifier: Apache-2.0
//! Floats against exact numbers: every result is the float that rounding says.

use super::exact::{Exact, sign, widths};
use super::{Random, of};
use crate::constant::Const;
use crate::eval::{Number, compare, convert, float, quiet, unary};
use crate::intrinsic::{self, Meaning};
use crate::op::{Binary, Compare, Rounding, Unary};
use crate::types::Scalar;

fn types() -> impl Iterator<Item = Scalar> {
    Scalar::ALL.iter().copied().filter(|scalar| scalar.is_float())
}

fn infinity(scalar: Scalar) -> u64 {
    let (exponent_bits, mantissa_bits) = widths(scalar);
    ((1 << exponent_bits) - 1) << mantissa_bits
}

/// Zero, subnormals, what lies beside them, around 1 and below infinity, and any: of both signs.
fn numbers(scalar: Scalar, n_any: usize) -> Vec<u64> {
    let (exponent_bits, mantissa_bits) = widths(scalar);
    let (normal, infinity) = (1_u64 << mantissa_bits, infinity(scalar));
    let one = ((1 << (exponent_bits - 1)) - 1) << mantissa_bits;
    let mut all = vec![0, 1, 2, 3, normal / 2, normal - 1, normal, normal + 1];
    all.extend([one - 1, one, one + 1, one + normal / 2, one + normal + normal / 2]);
    all.extend([infinity - 1, infinity - 2, infinity - normal, one - 3 * normal + 5]);
    let mut random = Random(exponent_bits.into());
    all.extend((0..n_any).map(|_| random.next() % infinity));
    // Numbers near 1, whose sums and products have many bits.
    all.extend((0..n_any).map(|_| one - 8 * normal + random.next() % (16 * normal)));
    let negative: Vec<_> = all.iter().map(|bits| bits | sign(scalar)).collect();
    all.extend(negative);
    all
}

/// Holds that a result is the exact number's float. The sign of an exact 0 is not looked at.
fn expect_rounded(scalar: Scalar, found: u64, exact: &Exact, what: impl Fn() -> String) {
    if exact.above.is_zero() {
        assert_eq!(found & !sign(scalar), 0, "{}", what());
        return;
    }
    let expected = exact.round(scalar, Rounding::NearestEven, found);
    assert_eq!(found, expected, "{scalar} {}: found {found:#x}, not {expected:#x}", what());
}

#[test]
fn arithmetic_rounds_once() {
    for (scalar, n_any) in
        [(Scalar::F16, 12), (Scalar::BF16, 12), (Scalar::F32, 5), (Scalar::F64, 1)]
    {
        let numbers = numbers(scalar, n_any);
        for &a in &numbers {
            for &b in &numbers {
                let (x, y) = (Exact::float(scalar, a), Exact::float(scalar, b));
                let check = |op: Binary, exact: &Exact| {
                    let what = || format!("{} of {a:#x} and {b:#x}", op.name());
                    expect_rounded(scalar, of(op, scalar, a, b), exact, what);
                };
                check(Binary::Add, &x.add(&y));
                check(Binary::Sub, &x.add(&y.neg()));
                check(Binary::Mul, &x.mul(&y));
                if !y.above.is_zero() {
                    check(Binary::Div, &x.div(&y));
                }
            }
        }
    }
}

#[test]
fn what_is_no_number_comes_out_as_of_float64() {
    // Whether a result is a NaN, an infinity or a zero, and its sign, does not hang on the type
    // where operands are 0, 1, infinities and NaN.
    let special = [0.0, -0.0, 1.0, -1.0, f64::INFINITY, -f64::INFINITY, f64::NAN];
    for scalar in types() {
        for a in special {
            for b in special {
                let [x, y] = [a, b].map(|number| Const::float(scalar, number).bits());
                for (op, exact) in [
                    (Binary::Add, a + b),
                    (Binary::Sub, a - b),
                    (Binary::Mul, a * b),
                    (Binary::Div, a / b),
                ] {
                    let expected = quiet(Const::float(scalar, exact)).bits();
                    assert_eq!(of(op, scalar, x, y), expected, "{} of {a} and {b}", op.name());
                }
            }
        }
    }
}

#[test]
fn minimum_and_maximum_leave_out_nan_and_order_zeros() {
    for scalar in types() {
        let at = |number: f64| Const::float(scalar, number).bits();
        let nan = scalar.float_format().quiet_nan();
        assert_eq!(at(f64::NAN), nan);
        for (a, b) in [(-0.0, 0.0), (1.0, 2.0), (f64::NEG_INFINITY, 0.0), (-2.0, -1.0)] {
            for (left, right) in [(a, b), (b, a)] {
                assert_eq!(of(Binary::Min, scalar, at(left), at(right)), at(a));
                assert_eq!(of(Binary::Max, scalar, at(left), at(right)), at(b));
            }
        }
        for op in [Binary::Min, Binary::Max] {
            assert_eq!(of(op, scalar, nan | sign(scalar), at(3.0)), at(3.0));
            assert_eq!(of(op, scalar, at(3.0), infinity(scalar) + 1), at(3.0));
            assert_eq!(of(op, scalar, nan | 1, nan | sign(scalar)), nan);
        }
    }
}

#[test]
fn signs_are_bits_and_comparisons_know_nan() {
    for scalar in types() {
        let mut bits = numbers(scalar, 3);
        bits.extend([infinity(scalar), scalar.float_format().quiet_nan()]);
        for &a in &bits {
            let x = Const::from_bits(scalar, a);
            assert_eq!(unary(Unary::Neg, x).bits(), a ^ sign(scalar));
            assert_eq!(unary(Unary::Abs, x).bits(), a & !sign(scalar));
            for &b in &bits {
                let y = Const::from_bits(scalar, b);
                let found: Vec<_> = Compare::ALL.iter().map(|op| compare(*op, x, y)).collect();
                let (x, y) = (float(x), float(y));
                assert_eq!(found, [x == y, x != y, x < y, x <= y, x > y, x >= y]);
            }
        }
    }
}

#[test]
fn floats_become_other_floats_in_each_direction() {
    for from in types() {
        for bits in numbers(from, 20) {
            let exact = Exact::float(from, bits);
            for to in types() {
                for how in Rounding::ALL {
                    let found = convert(Const::from_bits(from, bits), to, *how).bits();
                    let expected = exact.round(to, *how, found);
                    assert_eq!(found, expected, "{from} {bits:#x} to {to}, {}", how.name());
                }
            }
        }
        for to in types() {
            for how in Rounding::ALL {
                let given = |bits| convert(Const::from_bits(from, bits), to, *how).bits();
                assert_eq!(given(infinity(from)), infinity(to));
                assert_eq!(given(infinity(from) | sign(from)), infinity(to) | sign(to));
                assert_eq!(given(infinity(from) + 1), to.float_format().quiet_nan());
            }
        }
    }
}

/// Values between two float16 or bfloat16, and so little beside that a float32, or half of a
/// float64, does not show it.
#[test]
fn rounding_to_halves_sees_every_bit() {
    for scalar in [Scalar::F16, Scalar::BF16] {
        let (_, mantissa_bits) = widths(scalar);
        for place in [1.0, 1.5, 100.0, 1e-6, 3e-8] {
            let middle = place * (1.0 + 0.5 * 2_f64.powi(-(mantissa_bits as i32)));
            for ulps in [-1, 0, 1, 1 << 20] {
                let number = f64::from_bits(middle.to_bits().wrapping_add_signed(ulps));
                for number in [number, -number] {
                    let exact = Exact::float(Scalar::F64, number.to_bits());
                    let found = Const::float(scalar, number).bits();
                    let expected = exact.round(scalar, Rounding::NearestEven, found);
                    assert_eq!(found, expected, "{number:e}");
                }
            }
        }
    }
}

#[test]
fn integers_become_floats_in_each_direction() {
    let mut random = Random(9);
    let mut numbers: Vec<i128> = vec![0, 1, -1, 65504, 65519, 65520, 65536, 2049, 2051];
    for power in [7, 8, 11, 24, 31, 32, 53, 62, 63, 64] {
        let power = 1_i128 << power;
        numbers.extend([power - 1, power, power + 1, -power, 1 - power, -power - 1]);
        numbers.extend([power + power / 256, power + power / 512 + 1, power + power / 512 - 1]);
    }
    numbers.extend((0..60).map(|_| i128::from(random.next() as i64 >> (random.next() % 64))));
    for from in Scalar::ALL.iter().copied().filter(|scalar| scalar.is_int()) {
        let least = if from.is_signed() { -1_i128 << (from.bits() - 1) } else { 0 };
        let most = least + i128::from(from.mask());
        for number in numbers.iter().filter(|number| (least..=most).contains(number)) {
            let given = Const::from_bits(from, *number as u64);
            for to in types() {
                for how in Rounding::ALL {
                    let found = convert(given, to, *how).bits();
                    let expected = Exact::int(*number).round(to, *how, found);
                    assert_eq!(found, expected, "{from} {number} to {to}, {}", how.name());
                }
            }
        }
    }
}

/// The whole number that rounding says, within bounds: from the float's digits.
fn whole(value: f64, how: Rounding, least: i128, most: i128) -> i128 {
    if value.is_nan() {
        return 0;
    }
    if value.abs() >= 2_f64.powi(100) {
        return if value < 0.0 { least } else { most };
    }
    let number = Number::of_float(value);
    let magnitude = number.magnitude as i128;
    let exact = if number.is_negative { -magnitude } else { magnitude };
    let below = match number.exponent {
        0.. => return (exact << number.exponent).clamp(least, most),
        exponent => 1_i128 << (-exponent).min(120),
    };
    let (down, rest) = (exact.div_euclid(below), exact.rem_euclid(below));
    let is_up = match how {
        _ if rest == 0 => false,
        Rounding::NearestEven => rest * 2 > below || rest * 2 == below && down % 2 != 0,
        Rounding::Zero => exact < 0,
        Rounding::Down => false,
        Rounding::Up => true,
    };
    (down + i128::from(is_up)).clamp(least, most)
}

#[test]
fn floats_become_integers_within_bounds() {
    let mut values: Vec<f64> = vec![0.0, 0.5, 1.5, 2.5, 0.49999999999999994, 3.7, 1e-300, 1e300];
    for power in [7, 8, 15, 16, 31, 32, 52, 53, 63, 64] {
        let power = 2_f64.powi(power);
        values.extend([
            power,
            power - 1.0,
            power - 0.5,
            power + 0.5,
            power.next_down(),
            power.next_up(),
        ]);
    }
    values.extend([f64::INFINITY, f64::NAN, f64::MAX]);
    for from in types() {
        for value in values.iter().flat_map(|value| [*value, -value]) {
            let given = Const::float(from, value);
            for to in Scalar::ALL.iter().copied().filter(|scalar| scalar.is_int()) {
                let least = if to.is_signed() { -1_i128 << (to.bits() - 1) } else { 0 };
                let most = least + i128::from(to.mask());
                for how in Rounding::ALL {
                    let found = convert(given, to, *how);
                    let expected = whole(float(given), *how, least, most);
                    let expected = Const::from_bits(to, expected as u64);
                    assert_eq!(found, expected, "{given} to {to}, {}", how.name());
                }
            }
        }
    }
}

fn meaning(name: &str) -> fn(&[Const]) -> Const {
    match intrinsic::find(name).map(|row| row.meaning) {
        Some(Meaning::Pure(meaning)) => meaning,
        _ => panic!("`{name}` does not compute"),
    }
}

#[test]
fn fma_rounds_once() {
    let fma = meaning("fma");
    for (scalar, n_any) in [(Scalar::F16, 3), (Scalar::BF16, 3), (Scalar::F32, 1)] {
        let numbers = numbers(scalar, n_any);
        let few: Vec<_> = numbers.iter().step_by(3).copied().collect();
        for &a in &numbers {
            for &b in &few {
                let product = Exact::float(scalar, a).mul(&Exact::float(scalar, b));
                for &c in &few {
                    let found = fma(&[a, b, c].map(|bits| Const::from_bits(scalar, bits))).bits();
                    let exact = product.add(&Exact::float(scalar, c));
                    let what = || format!("fma of {a:#x}, {b:#x} and {c:#x}");
                    expect_rounded(scalar, found, &exact, what);
                }
            }
        }
    }
}

#[test]
fn square_roots_round_once() {
    let sqrt = meaning("sqrt");
    for scalar in [Scalar::F32, Scalar::F64] {
        for bits in numbers(scalar, 20) {
            let given = Const::from_bits(scalar, bits);
            let found = sqrt(&[given]).bits();
            if float(given) < 0.0 {
                assert_eq!(found, scalar.float_format().quiet_nan());
            } else if float(given) > 0.0 {
                let expected = Exact::float(scalar, bits).round_root(scalar, found);
                assert_eq!(found, expected, "the root of {given}");
            } else {
                assert_eq!(found, bits, "zeros keep their sign");
            }
        }
    }
}
