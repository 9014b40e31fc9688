// SPDX-License-Identifier: Apache-2.0
//! Constants that kernels are passed: numbers with the C type that they are passed as.
//!
//! A constant fits its type: one that does not cannot be made. A float is read as a float64, and
//! rounded to its type as it is passed, as a float parameter is. The one constant among pointers is
//! `0: pointer`, which is NULL.

use super::Join;
use crate::check::scalar::{float_range, has_float, int_range, integers};
use crate::literal::float_text;
use crate::plan::{CScalar, LaunchArg};
use kernpack_ffi_abi::DType;
use kernpack_syntax::Diagnostic;
use std::fmt;

/// A number, or a truth.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Number {
    /// `true` or `false`, spelled as in C.
    Truth(bool),
    /// A whole number.
    Int(i128),
    /// A number with a point or an exponent, `inf` or `nan`.
    Float(f64),
}

/// The numbers that are words.
const WORDS: [(&str, Number); 4] = [
    ("true", Number::Truth(true)),
    ("false", Number::Truth(false)),
    ("inf", Number::Float(f64::INFINITY)),
    ("nan", Number::Float(f64::NAN)),
];

/// Words that stand for constants, here or in other languages, with how these are written.
const WRITTEN: [(&str, &str); 9] = [
    ("true", "true: bool"),
    ("false", "false: bool"),
    ("inf", "inf: float32"),
    ("nan", "nan: float32"),
    ("True", "true: bool"),
    ("False", "false: bool"),
    ("None", "0: pointer"),
    ("NULL", "0: pointer"),
    ("nullptr", "0: pointer"),
];

impl Number {
    /// The number that is this word.
    pub(crate) fn of_word(word: &str) -> Option<Number> {
        WORDS.iter().find(|(known, _)| *known == word).map(|(_, number)| *number)
    }

    /// The number behind a minus, where it has an opposite.
    pub(crate) fn negated(self) -> Option<Number> {
        match self {
            Number::Int(value) => Some(Number::Int(-value)),
            Number::Float(value) if !value.is_nan() => Some(Number::Float(-value)),
            Number::Truth(_) | Number::Float(_) => None,
        }
    }
}

impl fmt::Display for Number {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Number::Truth(truth) => write!(f, "{truth}"),
            Number::Int(value) => write!(f, "{value}"),
            Number::Float(value) => f.write_str(&float_text(*value)),
        }
    }
}

/// A number that fits its C type.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Constant {
    number: Number,
    c_type: CScalar,
}

impl Constant {
    /// The number as a value of that C type.
    ///
    /// # Errors
    /// Where it is none.
    pub fn new(number: Number, c_type: CScalar) -> Result<Constant, Diagnostic> {
        let expected = match (c_type, number) {
            (CScalar::Int(DType::BOOL), Number::Truth(_) | Number::Int(0 | 1)) => None,
            (CScalar::Int(DType::BOOL), _) => Some("`true` or `false`".to_string()),
            (CScalar::Int(dtype), Number::Int(value)) => {
                (!integers(dtype).contains(value)).then(|| int_range(dtype).expected)
            }
            (CScalar::Int(_), _) => Some("a whole number".to_string()),
            (CScalar::Float(_), Number::Truth(_)) => Some("a number".to_string()),
            (CScalar::Float(dtype), Number::Int(value)) => misfit(value as f64, dtype),
            (CScalar::Float(dtype), Number::Float(value)) => misfit(value, dtype),
            (CScalar::Pointer, Number::Int(0)) => None,
            (CScalar::Pointer, _) => Some("0, which is NULL".to_string()),
        };
        let Some(expected) = expected else { return Ok(Constant { number, c_type }) };
        let message = format!("`{number}` is no value of the C type {c_type}, expected {expected}");
        Err(Diagnostic::new("constant", message))
    }

    /// The number.
    pub fn number(self) -> Number {
        self.number
    }

    /// Its C type.
    pub fn c_type(self) -> CScalar {
        self.c_type
    }

    /// As an integer of a plan.
    fn bits(self) -> i64 {
        match (self.number, self.c_type) {
            (Number::Truth(truth), _) => truth.into(),
            (Number::Int(value), CScalar::Float(_)) => (value as f64).to_bits() as i64,
            (Number::Int(value), CScalar::Int(_) | CScalar::Pointer) => value as i64,
            (Number::Float(value), _) => value.to_bits() as i64,
        }
    }

    /// How the constant is written for which someone may take this word.
    pub(super) fn written(word: &str) -> Option<&'static str> {
        WRITTEN.iter().find(|(known, _)| *known == word).map(|(_, written)| *written)
    }
}

impl fmt::Display for Constant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.number, self.c_type)
    }
}

/// The words for what is expected in the place of a float, where that overflows in a dtype.
fn misfit(value: f64, dtype: DType) -> Option<String> {
    (!has_float(value, dtype)).then(|| float_range(dtype))
}

impl Join<'_, '_> {
    /// A constant as an argument.
    pub(super) fn constant(&mut self, constant: Result<Constant, Diagnostic>) -> Option<LaunchArg> {
        let constant = constant.map_err(|problem| self.diagnostics.push(problem)).ok()?;
        let word = constant.number.to_string();
        if self.cx.named(&word).is_some() || self.allocs.contains_key(&word) {
            let message = format!("`{word}` means two things: it is also the constant");
            let problem = Diagnostic::new("name-clash", message);
            self.diagnostics.push(problem.help("rename the parameter, symbol or workspace"));
            return None;
        }
        Some(LaunchArg::Value(self.cx.b.int(constant.bits()), constant.c_type))
    }
}

#[cfg(test)]
mod tests {
    use crate::{KernelArg, parse_kernel_arg};

    #[test]
    fn constants_print_as_they_are_read() {
        for text in [
            "true: bool",
            "false: bool",
            "1: bool",
            "-128: int8",
            "18446744073709551615: uint64",
            "-9223372036854775808: int64",
            "1: float32",
            "-0.0: float16",
            "1e-06: bfloat16",
            "-inf: float64",
            "nan: float32",
            "0: pointer",
            "struct(0.5: float32, struct(true: bool), n)",
        ] {
            assert_eq!(parse_kernel_arg(text).unwrap().to_string(), text);
        }
        assert_eq!(parse_kernel_arg("- 1.50:float32").unwrap().to_string(), "-1.5: float32");
    }

    fn expect_problem(text: &str, expected: &str) {
        assert_eq!(parse_kernel_arg(text).unwrap_err().to_string(), expected, "{text}");
    }

    #[test]
    fn a_constant_is_a_value_of_its_type() {
        let greatest = "3.4028234663852886e+38";
        for (number, c_type, expected) in [
            ("300", "uint8", "to be in uint8 range [0, 255]"),
            ("-1", "uint64", "to be in uint64 range [0, 18446744073709551615]"),
            (
                "9223372036854775808",
                "int64",
                "to be in int64 range [-9223372036854775808, 9223372036854775807]",
            ),
            ("128", "int8", "to be in int8 range [-128, 127]"),
            ("2", "bool", "`true` or `false`"),
            ("1.0", "bool", "`true` or `false`"),
            ("0.5", "int32", "a whole number"),
            ("true", "int32", "a whole number"),
            ("inf", "int64", "a whole number"),
            ("false", "float32", "a number"),
            ("65520.0", "float16", "to be in float16 range [-65504.0, 65504.0]"),
            ("65520", "float16", "to be in float16 range [-65504.0, 65504.0]"),
            ("-1e+39", "float32", &format!("to be in float32 range [-{greatest}, {greatest}]")),
            ("8", "pointer", "0, which is NULL"),
            ("0.0", "pointer", "0, which is NULL"),
        ] {
            let end = number.len();
            expect_problem(
                &format!("{number}: {c_type}"),
                &format!(
                    "error[constant]: `{number}` is no value of the C type {c_type}, expected {expected}\n  at 0..{end}: does not fit"
                ),
            );
        }
    }

    #[test]
    fn floats_have_a_type() {
        let untyped = |number: &str, place: &str| {
            format!(
                "error[constant]: the constant `{number}` has no C type\n  at {place}: expected a colon and a type behind it\n  help: write `{number}: float32`, or another type"
            )
        };
        expect_problem("0.0", &untyped("0.0", "0..3"));
        expect_problem("struct(n, -1.5, m)", &untyped("-1.5", "10..14"));
        expect_problem("struct(1e3)", &untyped("1000.0", "7..10"));
    }

    /// Numbers that are no constants are left to expressions.
    #[test]
    fn numbers_in_expressions() {
        for text in ["1 + 1: int8", "-1", "5", "-n: int32", "nan", "true + 1"] {
            assert!(matches!(parse_kernel_arg(text), Ok(KernelArg::Value(..))), "{text}");
        }
        for text in ["1.5*n: float32", "0.5 + 1: float32", "n + 0.5: float32", "1e400: float64"] {
            let problem = &parse_kernel_arg(text).unwrap_err().0[0];
            assert!(["syntax", "bad-number"].contains(&problem.code), "{text}: {problem}");
        }
    }
}
