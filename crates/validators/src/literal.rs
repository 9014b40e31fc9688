// SPDX-License-Identifier: Apache-2.0
//! Literals: default values, and parameters that must have exactly one value.

use kernpack_ffi_abi::TypeIndex;
use std::fmt;

/// A value written in a signature.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Literal {
    /// `None`
    None,
    /// `True` or `False`
    Bool(bool),
    /// A 64-bit integer.
    Int(i64),
    /// A finite float.
    Float(f64),
}

impl Literal {
    /// The type index and payload of the `TVMFFIAny` that holds the value.
    pub fn as_any(self) -> (TypeIndex, i64) {
        match self {
            Literal::None => (TypeIndex::NONE, 0),
            Literal::Bool(value) => (TypeIndex::BOOL, value.into()),
            Literal::Int(value) => (TypeIndex::INT, value),
            Literal::Float(value) => (TypeIndex::FLOAT, value.to_bits() as i64),
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
        }
    }
}

/// The shortest decimal text that reads back as `value`, laid out as Python's `repr` does.
pub fn float_text(value: f64) -> String {
    if !value.is_finite() {
        return if value.is_nan() { "nan".into() } else { format!("{value}") };
    }
    let scientific = format!("{value:e}");
    let (digits, exponent) = scientific.split_once('e').expect("`{:e}` prints an exponent");
    let exponent: i32 = exponent.parse().expect("`{:e}` prints a decimal exponent");
    if (-4..16).contains(&exponent) {
        format!("{value:?}")
    } else {
        let sign = if exponent < 0 { '-' } else { '+' };
        format!("{digits}e{sign}{:02}", exponent.abs())
    }
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
        ];
        for (value, text) in cases {
            assert_eq!(float_text(value), text);
        }
    }
}
