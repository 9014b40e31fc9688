// SPDX-License-Identifier: Apache-2.0
//! Floats as Python's `repr` writes them.
//!
//! The digits are the fewest that read back as the same `f64`, and of those the nearest to it, by
//! the Schubfach method (Raffaello Giulietti 2020, "The Schubfach way to render doubles"): the
//! number and the ends of the interval that rounds to it are multiplied by a power of ten that
//! leaves 16 or 17 digits before the point, and the shortest decimal is among the few integers
//! around there. Powers of ten are kept to 128 bits, which is what makes the products good enough.

use crate::text::Text;

const SIGN: u64 = 1 << 63;
const INFINITY: u64 = f64::INFINITY.to_bits();
const FRACTION_BITS: u32 = f64::MANTISSA_DIGITS - 1;
const HIDDEN_BIT: u64 = 1 << FRACTION_BITS;

/// The exponent of the last bit of a subnormal number, which is that of the smallest normal numbers
/// too.
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
            _ => self.push_decimal(Decimal::shortest(magnitude)),
        }
    }

    fn push_decimal(&mut self, Decimal { mut digits, mut exponent }: Decimal) {
        while digits % 10 == 0 {
            digits /= 10;
            exponent += 1;
        }
        let mut text = Text::EMPTY;
        text.push_uint(digits);
        let digits = text.as_bytes();
        let point = digits.len() as i32 + exponent;
        match point {
            -3..=16 => self.push_positional(digits, point),
            _ => self.push_scientific(digits, point - 1),
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

/// `digits` times 10 to the power of `exponent`.
#[derive(Clone, Copy)]
struct Decimal {
    digits: u64,
    exponent: i32,
}

impl Decimal {
    /// The shortest decimal that reads back as the positive, finite `f64` with these bits.
    fn shortest(bits: u64) -> Self {
        let fraction = bits % HIDDEN_BIT;
        let biased = (bits >> FRACTION_BITS) as i32;
        let (mantissa, exponent) = match biased {
            0 => (fraction, MIN_EXPONENT),
            _ => (fraction | HIDDEN_BIT, MIN_EXPONENT + biased - 1),
        };
        let n_fraction_bits = exponent.wrapping_neg() as u32;
        if n_fraction_bits <= FRACTION_BITS && mantissa.trailing_zeros() >= n_fraction_bits {
            return Self { digits: mantissa >> n_fraction_bits, exponent: 0 };
        }
        // Below a power of two the floats lie twice as close as above, except where they end.
        Self::nearest(mantissa, exponent, fraction == 0 && biased > 1)
    }

    /// The shortest decimal in the interval that rounds to `mantissa` times 2 to the power of
    /// `exponent`.
    fn nearest(mantissa: u64, exponent: i32, closer_below: bool) -> Self {
        let power = power_of_ten_below(exponent, closer_below);
        let scale = power_of_ten(-power);
        let shift = exponent + floor_log2_of_power_of_ten(-power) + 1;
        // In quarters, so that the ends of the interval are integers too.
        let scaled = |quarters: u64| mul_rounding_to_odd(scale, quarters << (shift as u32 % 64));
        let value = scaled(4 * mantissa);
        // The ends read back as the number too where its mantissa is even.
        let open = mantissa % 2;
        let first = scaled(4 * mantissa - 2 + u64::from(closer_below)) + open;
        let last = scaled(4 * mantissa + 2) - open;

        let digits = value / 4;
        let tens = digits / 10;
        let (below, above) = (first <= 40 * tens, 40 * tens + 40 <= last);
        if digits >= 10 && below != above {
            return Self { digits: tens + u64::from(above), exponent: power + 1 };
        }
        let (below, above) = (first <= 4 * digits, 4 * digits + 4 <= last);
        let middle = 4 * digits + 2;
        let nearer_above = value > middle || (value == middle && digits % 2 == 1);
        let up = if below != above { above } else { nearer_above };
        Self { digits: digits + u64::from(up), exponent: power }
    }
}

/// The largest power of ten that is not above the width of the interval that rounds to a float
/// whose last bit is 2 to the power of `exponent`.
fn power_of_ten_below(exponent: i32, closer_below: bool) -> i32 {
    // log10(2) and log10(4/3), times 2^22.
    (exponent * 1_262_611 - if closer_below { 524_031 } else { 0 }) >> 22
}

fn floor_log2_of_power_of_ten(power: i32) -> i32 {
    // log2(10) times 2^19.
    (power * 1_741_647) >> 19
}

/// The upper 64 of the 192 bits of a product, the last of them set if a bit below the 65th is.
fn mul_rounding_to_odd(scale: u128, factor: u64) -> u64 {
    let low = (scale & u128::from(u64::MAX)) * u128::from(factor);
    let high = (scale >> 64) * u128::from(factor) + (low >> 64);
    (high >> 64) as u64 | u64::from(high as u64 > 1)
}

/// The powers that [`BASES`] has: from the lowest that is needed, every so many.
const LOWEST_POWER: i32 = -292;
const POWERS_PER_BASE: i32 = 27;

/// 10 to some powers, as 192 bits, the first of which is set, rounded up. The high word comes
/// first.
#[rustfmt::skip]
const BASES: [[u64; 3]; 23] = [
    [0xff77_b1fc_bebc_dc4f, 0x25e8_e89c_13bb_0f7a, 0xdf9b_3029_44a8_8415],
    [0xce5d_73ff_402d_98e3, 0xfb0a_3d21_2dc8_128f, 0xb839_ca17_a14a_01cb],
    [0xa6b3_4ad8_c9df_c06f, 0xf42f_aa48_c0ea_481e, 0xd7bd_e826_0330_2c06],
    [0x86a8_d39e_f771_64bc, 0xae5d_ff9c_0203_3197, 0x02c8_5d6b_781b_02d4],
    [0xd98d_daee_1906_8c76, 0x3bad_d624_dd9b_0957, 0x2dbb_637d_5b77_493e],
    [0xafbd_2350_644e_eacf, 0xe5d1_929e_f908_98fa, 0x8886_5218_f549_3e65],
    [0x8df5_efab_c597_9c8f, 0xca8d_3ffa_1ef4_63c1, 0xd897_747e_d9d8_51e8],
    [0xe559_9087_9ddc_aabd, 0xcc42_0a6a_101d_0515, 0xc2f4_1cf1_39d5_9e10],
    [0xb944_7093_8fa8_9bce, 0xf808_e40e_8d5b_3e69, 0xbf95_3486_d996_6118],
    [0x95a8_6376_2798_9aad, 0xdde7_0013_79a4_4aa8, 0x2eb5_b82e_a93e_5f5d],
    [0xf1c9_0080_baf7_2cb1, 0x5324_c68b_12dd_6338, 0x70cb_1482_13ca_a7e5],
    [0xc350_0000_0000_0000, 0x0000_0000_0000_0000, 0x0000_0000_0000_0000],
    [0x9dc5_ada8_2b70_b59d, 0xf020_0000_0000_0000, 0x0000_0000_0000_0000],
    [0xfee5_0b70_25c3_6a08, 0x02f2_36d0_4753_d5b4, 0x8e80_0000_0000_0000],
    [0xcde6_fd5e_09ab_cf26, 0xed4c_0226_b55e_6f86, 0xad18_db24_1667_cf42],
    [0xa653_9930_bf6b_ff45, 0x84db_8346_b786_151c, 0x91d1_eac1_fe97_54be],
    [0x865b_8692_5b9b_c5c2, 0x0b8a_2392_ba45_a9b2, 0x5c66_58d4_09fb_8bf8],
    [0xd910_f7ff_2806_9da4, 0x1b2b_a151_8094_da04, 0xc4e8_e60f_9cf2_9c85],
    [0xaf58_4166_54a6_babb, 0x387a_c8d1_9700_27b2, 0x03c5_b3ee_bd70_b863],
    [0x8da4_71a9_de73_7e24, 0x5cea_ecfe_d289_e5d2, 0xac19_5df9_a797_06b7],
    [0xe4d5_e823_92a4_0515, 0x0fab_af3f_eaa5_334a, 0x611f_e6a4_3684_98ba],
    [0xb8da_1662_e7b0_0a17, 0x3d6a_751f_3b93_6243, 0xfcc1_493d_cb15_51e0],
    [0x9552_7a52_02df_0ccb, 0x0f37_801e_0c43_ebc8, 0x9850_3266_7e54_efd4],
];

/// 10 to a power from -292 to 324: 128 bits, the first of which is set, rounded down, and one more
/// in the last place.
fn power_of_ten(power: i32) -> u128 {
    let number = (power - LOWEST_POWER) / POWERS_PER_BASE;
    let base = BASES.get(number as usize).copied().unwrap_or_default();
    let offset = (power - LOWEST_POWER) % POWERS_PER_BASE;
    let factor = (0..offset).fold(1_u64, |factor, _| factor.wrapping_mul(5));
    let [high, middle, low] = base.map(|word| u128::from(word) * u128::from(factor));
    let middle = middle + (low >> 64);
    let high = high + (middle >> 64);
    // At most 64, as the first bit of the base is set. Word by word: a shift of 128 bits by as many
    // as are not known is a call into libgcc where code is to be small.
    let n_spare_bits = high.leading_zeros();
    let shifted = |word: u64, next: u64| {
        word.unbounded_shl(n_spare_bits) | next.unbounded_shr(64 - n_spare_bits)
    };
    let (first, second) = ((high >> 64) as u64, high as u64);
    let (first, second) = (shifted(first, second), shifted(second, middle as u64));
    ((u128::from(first) << 64) | u128::from(second)) + 1
}

#[cfg(test)]
mod tests {
    use super::{LOWEST_POWER, floor_log2_of_power_of_ten, power_of_ten};
    use crate::{big_uint::BigUint, text::Text};
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

    /// Equal to the standard library's text, and so shortest; a tie between two shortest texts is
    /// the one case where it rounds up and Python rounds to even.
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

    /// 10 to the power `n`, times 2 to the power `n_bits`, times `factor`.
    fn product(factor: u128, n: i32, n_bits: i32) -> BigUint {
        let mut product = BigUint::from_u128(factor);
        (0..n).for_each(|_| product.mul_assign(10));
        (0..n_bits).for_each(|_| product.mul_assign(2));
        product
    }

    #[test]
    fn every_power_of_ten_is_right_in_all_its_bits() {
        for power in LOWEST_POWER..=324 {
            let scale = power_of_ten(power);
            assert_eq!(scale.leading_zeros(), 0, "10^{power}");
            // scale - 1 <= 10^power / 2^exponent < scale, with all that is negative brought to the
            // other side.
            let exponent = floor_log2_of_power_of_ten(power) - 127;
            let scaled = |scale| product(scale, -power.min(0), exponent.max(0));
            let exact = product(1, power.max(0), -exponent.min(0));
            assert!(scaled(scale - 1).cmp(&exact).is_le(), "10^{power}");
            assert!(exact.cmp(&scaled(scale)).is_lt(), "10^{power}");
        }
    }
}
