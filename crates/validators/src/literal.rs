// SPDX-License-Identifier: Apache-2.0
//! Literals: default values, and parameters that must have exactly one value.

use kernpack_ffi_abi::{DType, TypeIndex};
use kernpack_syntax::quote;
use serde::{Serialize, Serializer};
use std::fmt;

/// A value written in a signature.
#[derive(Clone, Debug, PartialEq)]
pub enum Literal {
    /// `None`
    None,
    /// `True` or `False`
    Bool(bool),
    /// A 64-bit integer.
    Int(i64),
    /// A finite float.
    Float(f64),
    /// `"relu"`, without a NUL.
    Text(String),
    /// `float16`
    DType(DType),
}

impl Literal {
    /// The type index and payload of the `TVMFFIAny` that holds the value. The payload of a text
    /// would be its address, and is NULL.
    pub fn as_any(&self) -> (TypeIndex, i64) {
        match self {
            Literal::None => (TypeIndex::NONE, 0),
            Literal::Bool(value) => (TypeIndex::BOOL, (*value).into()),
            Literal::Int(value) => (TypeIndex::INT, *value),
            Literal::Float(value) => (TypeIndex::FLOAT, value.to_bits() as i64),
            Literal::Text(_) => (TypeIndex::RAW_STR, 0),
            Literal::DType(dtype) => (TypeIndex::DATA_TYPE, dtype.packed().into()),
        }
    }
}

/// As JSON has it: None is null, and a dtype its name.
impl Serialize for Literal {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Literal::None => serializer.serialize_unit(),
            Literal::Bool(value) => serializer.serialize_bool(*value),
            Literal::Int(value) => serializer.serialize_i64(*value),
            Literal::Float(value) => serializer.serialize_f64(*value),
            Literal::Text(text) => serializer.serialize_str(text),
            Literal::DType(dtype) => serializer.collect_str(dtype),
        }
    }
}

impl fmt::Display for Literal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Literal::None => f.write_str("None"),
            Literal::Bool(true) => f.write_str("True"),
            Literal::Bool(false) => f.write_str("False"),
            Literal::Int(value) => write!(f, "{value}"),
            Literal::Float(value) => f.write_str(&float_text(*value)),
            Literal::Text(text) => f.write_str(&quote(text)),
            Literal::DType(dtype) => dtype.fmt(f),
        }
    }
}

/// The shortest decimal text that reads back as `value`, laid out as Python's `repr` does.
pub fn float_text(value: f64) -> String {
    if !value.is_finite() {
        return if value.is_nan() { "nan".into() } else { format!("{value}") };
    }
    let sign = if value.is_sign_negative() { "-" } else { "" };
    let scientific = shortest(value.abs());
    let (digits, exponent) = scientific.split_once('e').expect("`{:e}` prints an exponent");
    let exponent: i32 = exponent.parse().expect("`{:e}` prints a decimal exponent");
    if !(-4..16).contains(&exponent) {
        return format!("{sign}{digits}e{exponent:+03}");
    }
    let digits = digits.replace('.', "");
    match usize::try_from(exponent + 1) {
        Ok(point @ 1..) if point >= digits.len() => format!("{sign}{digits:0<point$}.0"),
        Ok(point @ 1..) => format!("{sign}{}.{}", &digits[..point], &digits[point..]),
        _ => format!("{sign}0.{}{digits}", "0".repeat(-(exponent + 1) as usize)),
    }
}

/// The decimal with the fewest digits that reads back as `value`, and of those the nearest, as
/// `{:e}` prints it. Where two are equally near it is the one with the even digit at the end: the
/// standard library's shortest text ends in the greater one then.
fn shortest(value: f64) -> String {
    let text = format!("{value:e}");
    let n_digits = text.split('e').next().map_or(0, |digits| digits.replace('.', "").len());
    let nearest = format!("{value:.*e}", n_digits - 1);
    // At a power of two, the nearest decimal of so many digits may belong to the float below.
    if nearest.parse() == Ok(value) { nearest } else { text }
}

#[cfg(test)]
mod tests {
    use super::float_text;

    #[test]
    fn floats_print_as_python_does() {
        let cases = [
            (0.0, "0.0"),
            (-0.0, "-0.0"),
            (1.5, "1.5"),
            (0.0001, "0.0001"),
            (0.00001, "1e-05"),
            (1e15, "1000000000000000.0"),
            (1e16, "1e+16"),
            (123456789012345680.0, "1.2345678901234568e+17"),
            (f64::INFINITY, "inf"),
            (f64::NEG_INFINITY, "-inf"),
            (f64::NAN, "nan"),
            (-0.00012345, "-0.00012345"),
            (123456.789, "123456.789"),
            (9999999999999998.0, "9999999999999998.0"),
            (5e-324, "5e-324"),
            (-1.7976931348623157e308, "-1.7976931348623157e+308"),
        ];
        for (value, text) in cases {
            assert_eq!(float_text(value), text);
        }
    }

    #[test]
    fn of_two_nearest_decimals_the_even_one_prints() {
        let cases = [
            (50, 0.25, "1125899906842624.2"),
            (50, 0.75, "1125899906842624.8"),
            (49, 0.25, "562949953421312.2"),
            (46, 0.125, "70368744177664.12"),
            (46, 0.375, "70368744177664.38"),
            (43, 0.0625, "8796093022208.062"),
        ];
        for (power, fraction, text) in cases {
            let value = 2_f64.powi(power) + fraction;
            assert_eq!(float_text(value), text);
            assert_eq!(float_text(-value), format!("-{text}"));
        }
    }

    #[test]
    fn the_nearest_decimal_may_belong_to_the_float_below() {
        assert_eq!(float_text(2_f64.powi(-44)), "5.684341886080802e-14");
        assert_eq!(float_text(f64::MIN_POSITIVE), "2.2250738585072014e-308");
    }

    /// Over all kinds of bits: what prints reads back, and has as many digits as the standard
    /// library's text.
    #[test]
    fn floats_read_back_from_the_shortest_text() {
        let n_digits = |text: &str| {
            let digits = text.split('e').next().unwrap().replace(['.', '-'], "");
            digits.trim_matches('0').len()
        };
        for i in 0..100_000_u64 {
            let value = f64::from_bits(i.wrapping_mul(0x9e37_79b9_7f4a_7c15));
            if value.is_finite() {
                let text = float_text(value);
                assert_eq!(text.parse(), Ok(value), "{text}");
                assert_eq!(n_digits(&text), n_digits(&format!("{value:e}")), "{text}");
            }
        }
    }
}
