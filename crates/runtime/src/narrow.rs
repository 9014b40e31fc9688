// SPDX-License-Identifier: Apache-2.0
//! Rounding an `f64` to a float of 16 bits.
//!
//! Compilers lower `fptrunc`, and `fpext` on the way back, to calls into libgcc or compiler-rt on
//! targets without the instructions, and a package links neither. Going through `f32` would round
//! twice. So: integers, and one rounding to nearest, ties to even.
#![cfg_attr(
    kernpack_checks,
    expect(unsafe_code, reason = "generated code calls these functions by their names")
)]

/// IEEE 754 binary16 of the `f64` with these bits.
#[cfg_attr(kernpack_checks, unsafe(no_mangle))]
pub extern "C" fn kernpack_rt_f64_to_f16(bits: u64) -> u16 {
    narrow::<10>(bits)
}

/// bfloat16 of the `f64` with these bits.
#[cfg_attr(kernpack_checks, unsafe(no_mangle))]
pub extern "C" fn kernpack_rt_f64_to_bf16(bits: u64) -> u16 {
    narrow::<7>(bits)
}

/// The bits of the `f64` that has the value of the IEEE 754 binary16 of the `f64` with these bits.
#[cfg_attr(kernpack_checks, unsafe(no_mangle))]
pub extern "C" fn kernpack_rt_round_to_f16(bits: u64) -> u64 {
    widen::<10>(narrow::<10>(bits))
}

/// The bits of the `f64` that has the value of the bfloat16 of the `f64` with these bits.
#[cfg_attr(kernpack_checks, unsafe(no_mangle))]
pub extern "C" fn kernpack_rt_round_to_bf16(bits: u64) -> u64 {
    widen::<7>(narrow::<7>(bits))
}

/// The bits of the `f64` with the value of a float of the 16-bit format with `FROM_FRACTION_BITS`.
/// A NaN keeps its sign and payload.
fn widen<const FROM_FRACTION_BITS: u32>(bits: u16) -> u64 {
    const FRACTION_BITS: u32 = f64::MANTISSA_DIGITS - 1;
    const BIAS: u64 = f64::MAX_EXP as u64 - 1;
    let from_infinity = (1 << 15) - (1 << FROM_FRACTION_BITS);
    let from_bias = (1 << (14 - FROM_FRACTION_BITS)) - 1;

    let sign = u64::from(bits & 0x8000) << 48;
    let magnitude = u64::from(bits & 0x7fff);
    let moved = magnitude << (FRACTION_BITS - FROM_FRACTION_BITS);
    let above = (BIAS - from_bias) << FRACTION_BITS;
    if magnitude >= from_infinity {
        return sign | f64::INFINITY.to_bits() | moved;
    }
    if magnitude >> FROM_FRACTION_BITS > 0 {
        return sign | (moved + above);
    }
    // A subnormal number has no hidden bit: with one, it is as far above the smallest normal number
    // as it should be above 0.
    let smallest_normal = above + (1 << FRACTION_BITS);
    sign | (f64::from_bits(smallest_normal + moved) - f64::from_bits(smallest_normal)).to_bits()
}

/// Narrows to the 16-bit format with `TO_FRACTION_BITS`; a sign and the exponent take the rest.
///
/// A NaN stays one: quiet, with its sign and as much of its payload as fits.
fn narrow<const TO_FRACTION_BITS: u32>(bits: u64) -> u16 {
    const FRACTION_BITS: u32 = f64::MANTISSA_DIGITS - 1;
    const HIDDEN_BIT: u64 = 1 << FRACTION_BITS;
    const INFINITY: u64 = f64::INFINITY.to_bits();
    let to_infinity = (1 << 15) - (1 << TO_FRACTION_BITS);
    let to_quiet = 1 << (TO_FRACTION_BITS - 1);
    // Fraction bits that the narrow format lacks, and the biased `f64` exponent of its smallest
    // normal number.
    let n_lost = FRACTION_BITS - TO_FRACTION_BITS;
    let to_bias = (1 << (14 - TO_FRACTION_BITS)) - 1;
    let min_normal = f64::MAX_EXP as u32 - to_bias;

    let sign = (bits >> 48) as u16 & 0x8000;
    let magnitude = bits & (u64::MAX >> 1);
    let fraction = magnitude % HIDDEN_BIT;
    if magnitude > INFINITY {
        return sign | to_infinity | to_quiet | (fraction >> n_lost) as u16;
    }
    // `f64` subnormals round to zero in either format, so giving them the hidden bit does not
    // matter.
    let exponent = (magnitude >> FRACTION_BITS) as u32;
    let n_below_normal = min_normal.max(exponent) - exponent;
    let rounded = shr_round_to_even(fraction | HIDDEN_BIT, n_lost + n_below_normal);
    // The hidden bit, if still there, adds the first exponent; a carry out of the fraction adds the
    // next one.
    let n_above_normal = u64::from(min_normal.max(exponent) - min_normal);
    let result = (n_above_normal << TO_FRACTION_BITS) + rounded;
    sign | result.min(to_infinity.into()) as u16
}

/// `value` divided by 2^`n_bits`, to the nearest integer; a tie goes to the even one. `value` is
/// below 2^62.
fn shr_round_to_even(value: u64, n_bits: u32) -> u64 {
    let n_bits = n_bits.min(63);
    let floor = value >> n_bits;
    let rest = value - (floor << n_bits);
    let half = 1 << (n_bits - 1);
    floor + u64::from(rest > half || rest == half && floor % 2 == 1)
}

#[cfg(test)]
mod tests {
    use super::{
        kernpack_rt_f64_to_bf16, kernpack_rt_f64_to_f16, kernpack_rt_round_to_bf16,
        kernpack_rt_round_to_f16,
    };

    const F16_FRACTION_BITS: u32 = 10;
    const BF16_FRACTION_BITS: u32 = 7;

    /// The value of a finite 16-bit float, by the definition of the format. For the bits of
    /// infinity it is the power of two that would come next, from which rounding to infinity is
    /// defined.
    fn widen(bits: u16, fraction_bits: u32) -> f64 {
        let bias = (1 << (14 - fraction_bits)) - 1;
        let exponent = i32::from(bits >> fraction_bits);
        let fraction = f64::from(bits % (1 << fraction_bits)) / f64::from(1 << fraction_bits);
        match exponent {
            0 => fraction * 2_f64.powi(1 - bias),
            _ => (1.0 + fraction) * 2_f64.powi(exponent - bias),
        }
    }

    /// Every float of the format, and the `f64`s at and next to the middle between it and the next
    /// one.
    fn expect_nearest(narrow: extern "C" fn(u64) -> u16, fraction_bits: u32) {
        let infinity = (1 << 15) - (1 << fraction_bits);
        for low in 0..infinity {
            let high = low + 1;
            let even = if low % 2 == 0 { low } else { high };
            let exact = widen(low, fraction_bits);
            let middle = (exact + widen(high, fraction_bits)) / 2.0;
            let cases =
                [(exact, low), (middle.next_down(), low), (middle, even), (middle.next_up(), high)];
            for (x, expected) in cases {
                assert_eq!(narrow(x.to_bits()), expected, "{x:e}");
                assert_eq!(narrow((-x).to_bits()), expected | 0x8000, "-{x:e}");
            }
        }
        assert_eq!(narrow(f64::INFINITY.to_bits()), infinity);
        assert_eq!(narrow(f64::NEG_INFINITY.to_bits()), infinity | 0x8000);
        assert_eq!(narrow(f64::MAX.to_bits()), infinity);
        assert_eq!(narrow(f64::MIN_POSITIVE.to_bits()), 0);
        assert_eq!(narrow(5e-324_f64.to_bits()), 0);
    }

    #[test]
    fn f16_rounds_to_nearest_even() {
        expect_nearest(kernpack_rt_f64_to_f16, F16_FRACTION_BITS);
    }

    #[test]
    fn bf16_rounds_to_nearest_even() {
        expect_nearest(kernpack_rt_f64_to_bf16, BF16_FRACTION_BITS);
    }

    /// Every float of the format is what it rounds to, NaNs but for their quiet bit.
    fn expect_widened(
        round: extern "C" fn(u64) -> u64,
        narrow: extern "C" fn(u64) -> u16,
        fraction_bits: u32,
    ) {
        let infinity = (1 << 15) - (1 << fraction_bits);
        for bits in 0..infinity {
            let exact = widen(bits, fraction_bits);
            for x in [exact, -exact, exact.next_up()] {
                let rounded = f64::from_bits(round(x.to_bits()));
                assert_eq!(rounded, exact.copysign(x), "{x:e}");
                assert_eq!(rounded.is_sign_negative(), x.is_sign_negative(), "{x:e}");
            }
        }
        assert_eq!(round(f64::NEG_INFINITY.to_bits()), f64::NEG_INFINITY.to_bits());
        for nan in [0x7ff0_0000_0000_0001, 0xfff8_0000_0000_0000, u64::MAX] {
            assert!(f64::from_bits(round(nan)).is_nan());
            assert_eq!(narrow(round(nan)), narrow(nan));
        }
    }

    #[test]
    fn rounding_gives_the_value_of_the_narrow_float() {
        expect_widened(kernpack_rt_round_to_f16, kernpack_rt_f64_to_f16, F16_FRACTION_BITS);
        expect_widened(kernpack_rt_round_to_bf16, kernpack_rt_f64_to_bf16, BF16_FRACTION_BITS);
    }

    #[test]
    fn known_values() {
        assert_eq!(kernpack_rt_f64_to_f16(1.0_f64.to_bits()), 0x3c00);
        assert_eq!(kernpack_rt_f64_to_f16(65504.0_f64.to_bits()), 0x7bff);
        assert_eq!(kernpack_rt_f64_to_f16(65520.0_f64.to_bits()), 0x7c00);
        assert_eq!(kernpack_rt_f64_to_f16(2_f64.powi(-24).to_bits()), 1);
        assert_eq!(kernpack_rt_f64_to_bf16(1.0_f64.to_bits()), 0x3f80);
        assert_eq!(kernpack_rt_f64_to_bf16((-2.5_f64).to_bits()), 0xc020);
    }

    #[test]
    fn nan_stays_nan_with_its_sign_and_becomes_quiet() {
        const QUIET: u64 = 0x7ff8_0000_0000_0000;
        const SIGNALING: u64 = 0x7ff0_0000_0000_0001;
        const SIGN: u64 = 1 << 63;
        assert_eq!(kernpack_rt_f64_to_f16(QUIET), 0x7e00);
        assert_eq!(kernpack_rt_f64_to_f16(SIGNALING), 0x7e00);
        assert_eq!(kernpack_rt_f64_to_f16(SIGNALING | SIGN), 0xfe00);
        assert_eq!(kernpack_rt_f64_to_f16(u64::MAX), 0xffff);
        assert_eq!(kernpack_rt_f64_to_bf16(QUIET), 0x7fc0);
        assert_eq!(kernpack_rt_f64_to_bf16(SIGNALING | SIGN), 0xffc0);
    }
}
