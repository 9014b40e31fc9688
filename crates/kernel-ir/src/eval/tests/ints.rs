// SPDX-License-Identifier: Apache-2.0
//! Integers of each width against integers of 128 bits and the definitions of the operations.

use super::{Random, of};
use crate::constant::Const;
use crate::eval::{compare, convert, unary};
use crate::op::{Binary, Compare, Rounding, Unary};
use crate::types::Scalar;

fn types() -> impl Iterator<Item = Scalar> {
    Scalar::ALL.iter().copied().filter(|scalar| scalar.is_int())
}

/// The ends of the range, what lies beside them and beside 0, powers of two, and any.
fn numbers(scalar: Scalar) -> Vec<u64> {
    let mut random = Random(scalar.bits().into());
    let mut all = vec![];
    for power in 0..scalar.bits() {
        all.extend([1 << power, (1_u64 << power) - 1, (1_u64 << power).wrapping_neg()]);
    }
    all.extend([3, 5, 7, 10, 100, !2, !4, !9]);
    all.extend((0..20).map(|_| random.next()));
    all.extend((0..20).map(|_| random.next() >> (random.next() % 64)));
    all.iter_mut().for_each(|bits| *bits &= scalar.mask());
    all.sort_unstable();
    all.dedup();
    all
}

/// The number that these bits are.
fn number(scalar: Scalar, bits: u64) -> i128 {
    let is_negative = scalar.is_signed() && bits >> (scalar.bits() - 1) == 1;
    i128::from(bits) - if is_negative { 1 << scalar.bits() } else { 0 }
}

fn wrapped(scalar: Scalar, number: i128) -> u64 {
    number.rem_euclid(1 << scalar.bits()) as u64
}

fn each_pair(check: impl Fn(Scalar, u64, u64, i128, i128)) {
    for scalar in types() {
        let numbers = numbers(scalar);
        for &a in &numbers {
            for &b in &numbers {
                check(scalar, a, b, number(scalar, a), number(scalar, b));
            }
        }
    }
}

#[test]
fn sums_differences_and_products_wrap() {
    each_pair(|scalar, a, b, x, y| {
        assert_eq!(of(Binary::Add, scalar, a, b), wrapped(scalar, x + y));
        assert_eq!(of(Binary::Sub, scalar, a, b), wrapped(scalar, x - y));
        // A product of two numbers of 64 bits without a sign has 128.
        let (product, high) = match scalar.is_signed() {
            true => (x * y, (x * y).div_euclid(1 << scalar.bits())),
            false => {
                let product = x as u128 * y as u128;
                ((product % (1 << 64)) as i128, (product >> scalar.bits()) as i128)
            }
        };
        assert_eq!(of(Binary::Mul, scalar, a, b), wrapped(scalar, product), "{x} * {y}");
        assert_eq!(of(Binary::MulHigh, scalar, a, b), wrapped(scalar, high), "{x} * {y}");
    });
}

#[test]
fn division_rounds_down_and_by_zero_gives_zero() {
    each_pair(|scalar, a, b, x, y| {
        let quotient = of(Binary::FloorDiv, scalar, a, b);
        let rest = of(Binary::FloorMod, scalar, a, b);
        if y == 0 {
            assert_eq!((quotient, rest), (0, a));
            return;
        }
        let rest = number(scalar, rest);
        assert!(if y > 0 { (0..y).contains(&rest) } else { rest <= 0 && rest > y }, "{x} % {y}");
        assert_eq!((x - rest) % y, 0, "{x} % {y}");
        // Only the quotient of the least number and -1 does not fit.
        assert_eq!(quotient, wrapped(scalar, (x - rest) / y), "{x} // {y}");
    });
}

#[test]
fn shifts_count_without_a_sign_and_go_beyond_the_width() {
    each_pair(|scalar, a, b, x, _| {
        let doubled = (0..b.min(100)).fold(a, |bits, _| wrapped(scalar, i128::from(bits) * 2));
        let halved = (0..b.min(100)).fold(x, |number, _| number.div_euclid(2));
        assert_eq!(of(Binary::Shl, scalar, a, b), doubled, "{x} << {b}");
        assert_eq!(of(Binary::Shr, scalar, a, b), wrapped(scalar, halved), "{x} >> {b}");
    });
}

#[test]
fn numbers_are_ordered_and_bits_are_bits() {
    each_pair(|scalar, a, b, x, y| {
        assert_eq!(of(Binary::Min, scalar, a, b), if x < y { a } else { b });
        assert_eq!(of(Binary::Max, scalar, a, b), if x > y { a } else { b });
        assert_eq!(of(Binary::And, scalar, a, b), a & b);
        assert_eq!(of(Binary::Or, scalar, a, b), a | b);
        assert_eq!(of(Binary::Xor, scalar, a, b), a ^ b);
        let [a, b] = [a, b].map(|bits| Const::from_bits(scalar, bits));
        let found = Compare::ALL.iter().map(|op| compare(*op, a, b));
        assert!(found.eq([x == y, x != y, x < y, x <= y, x > y, x >= y]));
    });
}

#[test]
fn signs_wrap_and_conversions_keep_low_bits() {
    for scalar in types() {
        for bits in numbers(scalar) {
            let (one, value) = (Const::from_bits(scalar, bits), number(scalar, bits));
            assert_eq!(unary(Unary::Neg, one).bits(), wrapped(scalar, -value));
            assert_eq!(unary(Unary::Abs, one).bits(), wrapped(scalar, value.abs()));
            assert_eq!(unary(Unary::Not, one).bits(), wrapped(scalar, -value - 1));
            for to in types() {
                assert_eq!(convert(one, to, Rounding::Up).bits(), wrapped(to, value));
            }
        }
    }
}
