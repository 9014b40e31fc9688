// SPDX-License-Identifier: Apache-2.0
//! Floats as Python's `repr` writes them.
//!
//! The digits are the fewest that read back as the same `f64`, and of those the nearest to it (Steele and White 1990;
//! Burger and Dybvig 1996, "Printing Floating-Point Numbers Quickly and Accurately"). All arithmetic is exact, in
//! [`BigUint`]. That is slow next to table-driven methods, a few microseconds to some tens, and small, which is what
//! a path that ends in an error wants.

use core::cmp::Ordering;

use crate::{big_uint::BigUint, text::Text};

const SIGN: u64 = 1 << 63;
const INFINITY: u64 = f64::INFINITY.to_bits();
const FRACTION_BITS: u32 = f64::MANTISSA_DIGITS - 1;
const HIDDEN_BIT: u64 = 1 << FRACTION_BITS;

/// The exponent of the last bit of a subnormal number, which is that of the smallest normal numbers too.
const MIN_EXPONENT: i32 = f64::MIN_EXP - f64::MANTISSA_DIGITS as i32;

impl Text {
    /// Appends `repr(x)` of the `f64` whose bits are `bits`: at most 24 bytes.
    #[inline(never)]
    pub(crate) fn push_float(&mut self, bits: u64) {
        let magnitude = bits & !SIGN;
        if magnitude > INFINITY {
            return self.push_str("nan");
        }
        if bits != magnitude {
            self.push(b'-');
        }
        match magnitude {
            0 => self.push_str("0.0"),
            INFINITY => self.push_str("inf"),
            _ => self.push_decimal(&Decimal::shortest(magnitude)),
        }
    }

    fn push_decimal(&mut self, decimal: &Decimal) {
        match decimal.point {
            -3..=16 => self.push_positional(decimal.digits.as_bytes(), decimal.point),
            _ => self.push_scientific(decimal.digits.as_bytes(), decimal.point - 1),
        }
    }

    fn push_positional(&mut self, digits: &[u8], point: i32) {
        if point <= 0 {
            self.push_str("0.");
            self.push_zeros(-point);
        }
        for (place, &digit) in (0..).zip(digits) {
            if place > 0 && place == point {
                self.push(b'.');
            }
            self.push(digit);
        }
        let n_digits = digits.len() as i32;
        if n_digits <= point {
            self.push_zeros(point - n_digits);
            self.push_str(".0");
        }
    }

    fn push_scientific(&mut self, digits: &[u8], exponent: i32) {
        for (place, &digit) in digits.iter().enumerate() {
            if place == 1 {
                self.push(b'.');
            }
            self.push(digit);
        }
        self.push_str(if exponent < 0 { "e-" } else { "e+" });
        let magnitude = exponent.unsigned_abs();
        if magnitude < 10 {
            self.push(b'0');
        }
        self.push_uint(magnitude.into());
    }

    fn push_zeros(&mut self, n: i32) {
        for _ in 0..n {
            self.push(b'0');
        }
    }
}

/// `0.digits` times 10 to the power of `point`.
struct Decimal {
    digits: Text,
    point: i32,
}

impl Decimal {
    /// The shortest decimal that reads back as the positive, finite `f64` with these bits.
    fn shortest(bits: u64) -> Self {
        let mut scaled = Scaled::from_bits(bits);
        let point = scaled.take_point();
        let mut digits = Text::EMPTY;
        loop {
            let digit = scaled.take_digit();
            let last = match (scaled.may_round_down(), scaled.may_round_up()) {
                (false, false) => {
                    digits.push(b'0' + digit);
                    scaled.mul_assign(10);
                    continue;
                }
                (true, false) => digit,
                (false, true) => digit + 1,
                (true, true) => digit + scaled.nearest(digit),
            };
            digits.push(b'0' + last);
            return Self { digits, point };
        }
    }
}

/// A number and what rounds to it, as exact fractions with one denominator.
///
/// Everything between `value - below` and `value + above`, all divided by `one`, reads back as the number.
struct Scaled {
    value: BigUint,
    above: BigUint,
    below: BigUint,
    one: BigUint,
    /// Whether the ends of the interval read back as the number too: ties go to an even mantissa.
    closed: bool,
}

impl Scaled {
    fn from_bits(bits: u64) -> Self {
        let fraction = bits % HIDDEN_BIT;
        let biased = (bits >> FRACTION_BITS) as i32;
        let (mantissa, exponent) = match biased {
            0 => (fraction, MIN_EXPONENT),
            _ => (fraction | HIDDEN_BIT, MIN_EXPONENT + biased - 1),
        };
        // Below a power of two the floats lie twice as close as above, except where they end.
        let widened = u32::from(fraction == 0 && biased > 1);
        let mut scaled = Self {
            value: BigUint::from_u64(mantissa << (1 + widened)),
            above: BigUint::from_u64(1 << widened),
            below: BigUint::from_u64(1),
            one: BigUint::from_u64(2 << widened),
            closed: mantissa.is_multiple_of(2),
        };
        if exponent < 0 {
            scaled.one.shl_assign(exponent.unsigned_abs());
        } else {
            scaled.value.shl_assign(exponent.unsigned_abs());
            scaled.above.shl_assign(exponent.unsigned_abs());
            scaled.below.shl_assign(exponent.unsigned_abs());
        }
        scaled
    }

    /// Divides by the power of ten that puts the first digit right before the point, and returns the power that puts
    /// it right after.
    fn take_point(&mut self) -> i32 {
        let mut point = 0;
        while self.may_round_up() {
            self.one.mul_assign(10);
            point += 1;
        }
        loop {
            self.mul_assign(10);
            if self.may_round_up() {
                return point;
            }
            point -= 1;
        }
    }

    /// Takes the whole part away and returns it. It is below 10: a larger one would have been rounded up before.
    fn take_digit(&mut self) -> u8 {
        let mut digit = 0;
        while self.value.cmp(&self.one).is_ge() {
            self.value.sub_assign(&self.one);
            digit += 1;
        }
        digit
    }

    fn mul_assign(&mut self, factor: u32) {
        self.value.mul_assign(factor);
        self.above.mul_assign(factor);
        self.below.mul_assign(factor);
    }

    /// Whether 0 reads back as the number.
    fn may_round_down(&self) -> bool {
        self.is_inside(self.below.cmp(&self.value))
    }

    /// Whether 1 reads back as the number.
    fn may_round_up(&self) -> bool {
        self.is_inside(self.value.plus(&self.above).cmp(&self.one))
    }

    /// Whether an end of the interval that compares so with a decimal has it inside.
    fn is_inside(&self, end: Ordering) -> bool {
        match end {
            Ordering::Less => false,
            Ordering::Equal => self.closed,
            Ordering::Greater => true,
        }
    }

    /// 0 or 1, whichever is nearer; if neither is, the one that makes `digit` even.
    fn nearest(&self, digit: u8) -> u8 {
        match self.value.plus(&self.value).cmp(&self.one) {
            Ordering::Less => 0,
            Ordering::Equal => digit % 2,
            Ordering::Greater => 1,
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::text::Text;
    use std::{
        format,
        string::{String, ToString},
    };

    fn repr(x: f64) -> String {
        let mut text = Text::EMPTY;
        text.push_float(x.to_bits());
        str::from_utf8(text.as_bytes()).unwrap().to_string()
    }

    /// The standard library's shortest digits, with the exponent as Python writes it.
    fn repr_by_std(x: f64) -> String {
        let text = format!("{x:?}");
        match text.split_once('e') {
            Some((digits, exponent)) => {
                format!("{digits}e{:+03}", exponent.parse::<i32>().unwrap())
            }
            None => text,
        }
    }

    /// Equal to the standard library's text, and so shortest; a tie between two shortest texts is the one case where
    /// it rounds up and Python rounds to even.
    #[track_caller]
    fn expect_shortest(x: f64) {
        let text = repr(x);
        assert_eq!(text.parse::<f64>().map(f64::to_bits), Ok(x.to_bits()), "{text} is not {x:e}");
        let by_std = repr_by_std(x);
        if text != by_std {
            let exact = format!("{x:.60e}");
            assert_eq!(significant(&exact), significant(&text) + "5", "std says {by_std}");
            assert_eq!(significant(&text).len(), significant(&by_std).len());
            assert!(significant(&text).ends_with(['2', '4', '6', '8']), "{text}");
        }
    }

    /// The digits without point, exponent and the zeros at both ends.
    fn significant(text: &str) -> String {
        let (mantissa, _) = text.split_once('e').unwrap_or((text, ""));
        let digits: String = mantissa.chars().filter(char::is_ascii_digit).collect();
        digits.trim_matches('0').to_string()
    }

    /// The floats next to `x`, on both sides of zero.
    #[track_caller]
    fn expect_shortest_around(x: f64) {
        for x in [x.next_down(), x, x.next_up()] {
            expect_shortest(x);
            expect_shortest(-x);
        }
    }

    /// splitmix64: the same numbers in every run.
    fn random_bits() -> impl Iterator<Item = u64> {
        let mut state = 0_u64;
        core::iter::repeat_with(move || {
            state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
            let mixed = (state ^ (state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
            let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
            mixed ^ (mixed >> 31)
        })
    }

    #[test]
    fn looks_like_python() {
        assert_eq!(repr(0.0), "0.0");
        assert_eq!(repr(-0.0), "-0.0");
        assert_eq!(repr(1.0), "1.0");
        assert_eq!(repr(0.1), "0.1");
        assert_eq!(repr(-1234.5), "-1234.5");
        assert_eq!(repr(100000.0), "100000.0");
        assert_eq!(repr(0.0001), "0.0001");
        assert_eq!(repr(0.00001), "1e-05");
        assert_eq!(repr(1e-6), "1e-06");
        assert_eq!(repr(1.5e-10), "1.5e-10");
        assert_eq!(repr(1e15), "1000000000000000.0");
        assert_eq!(repr(9999999999999998.0), "9999999999999998.0");
        assert_eq!(repr(1e16), "1e+16");
        assert_eq!(repr(1.2345678901234567e17), "1.2345678901234566e+17");
        assert_eq!(repr(1e300), "1e+300");
        assert_eq!(repr(f64::MAX), "1.7976931348623157e+308");
        assert_eq!(repr(-f64::MIN_POSITIVE), "-2.2250738585072014e-308");
        assert_eq!(repr(5e-324), "5e-324");
        assert_eq!(repr(f64::INFINITY), "inf");
        assert_eq!(repr(f64::NEG_INFINITY), "-inf");
        assert_eq!(repr(f64::NAN), "nan");
        assert_eq!(repr(-f64::NAN), "nan");
    }

    #[test]
    fn the_end_of_the_interval_counts_if_the_mantissa_is_even() {
        assert_eq!(repr(1e23), "1e+23");
        assert_eq!(repr(9007199254740992.0), "9007199254740992.0");
    }

    #[test]
    fn below_a_power_of_two_the_interval_is_half_as_wide() {
        assert_eq!(repr(2_f64.powi(-44)), "5.684341886080802e-14");
    }

    #[test]
    fn ties_go_to_the_even_digit() {
        let x = 2_f64.powi(50);
        assert_eq!(repr(x + 0.25), "1125899906842624.2");
        assert_eq!(repr(x + 0.75), "1125899906842624.8");
    }

    #[test]
    fn powers_of_two_and_their_neighbours() {
        for exponent in f64::MIN_EXP - f64::MANTISSA_DIGITS as i32..f64::MAX_EXP {
            // In two factors, because `powi` divides one by a power that may overflow.
            let half = exponent / 2;
            expect_shortest_around(2_f64.powi(half) * 2_f64.powi(exponent - half));
        }
    }

    #[test]
    fn powers_of_ten_and_their_neighbours() {
        for exponent in -323..=308 {
            expect_shortest_around(format!("1e{exponent}").parse().unwrap());
        }
    }

    #[test]
    fn random_bit_patterns() {
        let finite = random_bits().map(f64::from_bits).filter(|x| x.is_finite());
        finite.take(10_000).for_each(expect_shortest);
    }

    #[test]
    fn random_subnormals() {
        random_bits().take(2_000).for_each(|bits| expect_shortest(f64::from_bits(bits >> 12)));
    }

    #[test]
    fn random_numbers_of_every_size_near_one() {
        for bits in random_bits().take(20_000) {
            expect_shortest((bits >> 11) as f64 / 2_f64.powi((bits % 64) as i32));
        }
    }

    #[test]
    fn short_decimals() {
        for n in 0..20_000 {
            expect_shortest(f64::from(n) / 1000.0);
        }
    }
}
