// SPDX-License-Identifier: Apache-2.0
//! Sums of products, as matrix units make them: each of all its terms at once.
//!
//! A GPU adds in an order, and with roundings, that nobody promises. So a product is exact where
//! every order gives the same: where all terms are multiples of one power of two, and no sum of
//! their magnitudes has more bits than the type. Small integers are such numbers.

use crate::constant::Const;
use crate::types::Scalar;

/// The numbers of a row of a left factor, or of a column of a right one.
pub(super) enum Terms {
    Ints(Vec<i64>),
    Floats {
        numbers: Vec<f64>,
        /// A power of two that all are multiples of.
        unit: f64,
    },
}

impl Terms {
    pub fn of(numbers: impl Iterator<Item = Const>) -> Terms {
        let mut numbers = numbers.peekable();
        if numbers.peek().is_some_and(|first| !first.scalar().is_float()) {
            return Terms::Ints(numbers.map(int).collect());
        }
        let numbers: Vec<_> = numbers.map(factor).collect();
        let unit = numbers.iter().map(|number| unit_of(*number)).fold(f64::INFINITY, f64::min);
        Terms::Floats { numbers, unit }
    }
}

/// The sum of a number and of the products of terms. It is exact no longer where another order of
/// adding may give another one.
pub(super) fn sum(added: Const, a: &Terms, b: &Terms, is_exact: &mut bool) -> Const {
    match (a, b) {
        (
            Terms::Floats { numbers: left, unit: of_a },
            Terms::Floats { numbers: right, unit: of_b },
        ) => {
            let (sum, magnitude) = float_sum(float(added), left, right);
            // Mostly this unit, which may be smaller than that of the products, is large enough.
            let unit = unit_of(float(added)).min(of_a * of_b);
            *is_exact = *is_exact
                && (fits(magnitude, unit)
                    || fits(magnitude, least_unit(float(added), left, right)));
            Const::float(added.scalar(), sum)
        }
        (Terms::Ints(left), Terms::Ints(right)) => {
            // It wraps around.
            let products = left.iter().zip(right).map(|(a, b)| a * b);
            Const::int(added.scalar(), products.fold(int(added), i64::wrapping_add))
        }
        (Terms::Ints(_), Terms::Floats { .. }) | (Terms::Floats { .. }, Terms::Ints(_)) => {
            unreachable!("both factors are integers, or both are floats")
        }
    }
}

/// A sum of floats, and that of magnitudes.
fn float_sum(added: f64, a: &[f64], b: &[f64]) -> (f64, f64) {
    a.iter().zip(b).fold((added, added.abs()), |(sum, magnitude), (a, b)| {
        (sum + a * b, magnitude + (a * b).abs())
    })
}

/// The largest power of two that a number and products are multiples of.
fn least_unit(added: f64, a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).fold(unit_of(added), |unit, (a, b)| unit.min(unit_of(a * b)))
}

/// Whether no sum of multiples of a unit has more bits than a float32, where that is the sum of
/// their magnitudes.
fn fits(magnitude: f64, unit: f64) -> bool {
    let most = unit * f64::from(1_u32 << f32::MANTISSA_DIGITS);
    magnitude <= most.min(f32::MAX.into()) && unit >= f64::from(f32::MIN_POSITIVE)
}

fn int(of: Const) -> i64 {
    of.as_int().unwrap_or_default()
}

fn float(of: Const) -> f64 {
    of.as_float().unwrap_or_default()
}

/// A factor as it is multiplied: of a float32 the bits of its mantissa that a product takes.
fn factor(of: Const) -> f64 {
    match of.scalar() {
        Scalar::F32 => float(Const::from_bits(Scalar::F32, round_to_tf32(of.bits()))),
        _ => float(of),
    }
}

/// The bits of a float32 whose mantissa has 10 bits, the nearest one, ties away from 0.
fn round_to_tf32(bits: u64) -> u64 {
    const DROPPED: u64 = 13;
    let is_finite = f32::from_bits(bits as u32).is_finite();
    let half = if is_finite { 1 << (DROPPED - 1) } else { 0 };
    (bits + half) >> DROPPED << DROPPED
}

/// The largest power of two that a number is a multiple of; infinity where it is 0.
fn unit_of(number: f64) -> f64 {
    if number == 0.0 {
        return f64::INFINITY;
    }
    let mantissa = number.to_bits() & ((1 << 52) - 1);
    let below = if mantissa == 0 { 52 } else { mantissa.trailing_zeros() as i32 };
    let exponent = (number.to_bits() >> 52 & 0x7ff) as i32 - 1023;
    // Those of the smallest numbers are too small in any case.
    let of_unit = (exponent - 52 + below).max(f64::MIN_EXP - 1);
    f64::from_bits(((of_unit + 1023) as u64) << 52)
}

#[cfg(test)]
mod tests {
    use super::{Terms, round_to_tf32, unit_of};
    use crate::constant::Const;
    use crate::types::Scalar;

    /// Whether a sum of float32s and of products by one is the same in every order, and the sum.
    fn sum(added: f64, terms: &[f64]) -> (f64, bool) {
        let float = |number| Const::float(Scalar::F16, number);
        let added = Const::float(Scalar::F32, added);
        let ones = Terms::of(terms.iter().map(|_| float(1.0)));
        let terms = Terms::of(terms.iter().map(|term| float(*term)));
        let mut is_exact = true;
        let sum = super::sum(added, &terms, &ones, &mut is_exact);
        (sum.as_float().unwrap_or_default(), is_exact)
    }

    #[test]
    fn sums_are_exact_where_every_order_gives_the_same() {
        let (least, most) = (2.0_f64.powi(-20), f64::from(1 << 24));
        assert_eq!(sum(0.0, &[]), (0.0, true));
        assert_eq!(sum(1.0, &[2.0, -3.0]), (0.0, true));
        assert_eq!(sum(0.25, &[8.0, -0.5]), (7.75, true));
        assert_eq!(sum(most - 1.0, &[1.0]), (most, true));
        assert_eq!(sum(most - 1.0, &[1.0, 1.0]), (most, false));
        assert_eq!(sum(1.0, &[least, 2.0]), (3.0 + least, true));
        assert_eq!(sum(16.0, &[least]), (16.0, false));
        // In another order the least is lost.
        assert_eq!(sum(16.0, &[least, -16.0]), (least, false));
        let tiny = f64::from(f32::MIN_POSITIVE);
        assert_eq!(sum(tiny, &[]), (tiny, true));
        assert_eq!(sum(tiny / 2.0, &[]), (tiny / 2.0, false));
        assert!(!sum(1.0, &[f64::INFINITY]).1);
        assert!(!sum(f64::NAN, &[]).1);
    }

    #[test]
    fn small_factors_of_large_ones_make_no_small_products() {
        let of = |numbers: [f64; 2]| {
            Terms::of(numbers.map(|number| Const::float(Scalar::BF16, number)).into_iter())
        };
        let (a, b) = (of([2.0_f64.powi(-20), 1.0]), of([2.0_f64.powi(20), 1.0]));
        let mut is_exact = true;
        let sum = super::sum(Const::float(Scalar::F32, 16.0), &a, &b, &mut is_exact);
        assert_eq!((sum.as_float(), is_exact), (Some(18.0), true));
    }

    #[test]
    fn the_unit_of_a_number_is_its_lowest_bit() {
        let units = [1.0, -6.0, 0.75, 3.0 * 2.0_f64.powi(-40), 0.0].map(unit_of);
        assert_eq!(units, [1.0, 2.0, 0.25, 2.0_f64.powi(-40), f64::INFINITY]);
    }

    #[test]
    fn factors_of_32_bits_are_rounded_to_the_nearest_of_19() {
        let rounded = |bits: u32| round_to_tf32(bits.into());
        assert_eq!(rounded(0x3f80_0fff), 0x3f80_0000);
        assert_eq!(rounded(0x3f80_1000), 0x3f80_2000);
        assert_eq!(rounded(0xbf80_1000), 0xbf80_2000);
        assert_eq!(rounded(0x3f80_3000), 0x3f80_4000);
        assert_eq!(rounded(0x7f7f_ffff), 0x7f80_0000);
        assert_eq!(rounded(0x7f80_0000), 0x7f80_0000);
        assert_eq!(rounded(0x7fc0_1fff), 0x7fc0_0000);
    }
}
