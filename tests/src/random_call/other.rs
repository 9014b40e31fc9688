// SPDX-License-Identifier: Apache-2.0
//! Random parameters that no expression names: floats, integers of 64 bits without a sign, Strings
//! and literals. What rules say of them stands beside what they say of numbers, and nothing of it
//! may be believed of a number.

use super::signature::Kind;
use crate::random_plan::Rng;
use crate::value::{Carrier, Value};

/// The texts that Strings are, and are compared with.
const TEXTS: [&str; 3] = ["a", "relu", "a longer text"];
/// The numbers that floats are, and are compared with.
const FLOATS: [f64; 5] = [0.0, 0.5, -1.0, 2.0, 1e30];

/// A parameter that is no integer of expressions.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Other {
    /// `float32`, `float64`
    Float(&'static str),
    /// `uint64`
    Uint64,
    /// `String`
    Text,
    /// `4`, `True`, `None`, `1.5`, `"a"`
    Literal(&'static str),
}

impl Other {
    pub fn new(rng: &mut Rng) -> Other {
        match rng.below(4) {
            0 => Other::Float(rng.pick(&["float32", "float64", "float16"])),
            1 => Other::Uint64,
            2 => Other::Text,
            _ => Other::Literal(rng.pick(&["4", "True", "None", "1.5", "\"a\""])),
        }
    }

    /// As it is written.
    pub fn text(self) -> &'static str {
        match self {
            Other::Float(dtype) | Other::Literal(dtype) => dtype,
            Other::Uint64 => "uint64",
            Other::Text => "String",
        }
    }

    /// Something that a rule says of it; nothing where it says nothing of such.
    pub fn rule(self, rng: &mut Rng, path: &str) -> Option<String> {
        let comparison = rng.pick(&["<", "<=", ">", ">=", "!=", "=="]);
        match self {
            Other::Float(_) => Some(format!("{path} {comparison} {:?}", rng.pick(&FLOATS[..4]))),
            Other::Uint64 => None,
            Other::Text => Some(match rng.below(3) {
                0 => format!("{path} in {{\"a\", \"relu\"}}"),
                1 => format!("{path} != {:?}", rng.pick(&TEXTS)),
                _ => format!("{path} == {:?}", rng.pick(&TEXTS)),
            }),
            Other::Literal(_) => None,
        }
    }

    /// What a call passes, now and then what is refused.
    pub fn value(self, rng: &mut Rng) -> Value {
        let text = |text: &str| Value::Str(Carrier::Any, text.as_bytes().to_vec());
        match self {
            Other::Float(_) if rng.sixteenths(2) => Value::Int(rng.pick(&[0, 1, 2])),
            Other::Float(_) if rng.sixteenths(1) => Value::Float(f64::NAN),
            Other::Float(_) => Value::Float(rng.pick(&FLOATS)),
            Other::Uint64 => match rng.below(8) {
                0 => Value::BigInt(vec![i64::MIN, 0]),
                1 => Value::Int(i64::MAX),
                _ => Value::Int(rng.pick(&[0, 1, 3, 8, 64])),
            },
            Other::Text => text(rng.pick(&TEXTS)),
            Other::Literal(_) if rng.below(64) == 0 => Value::Int(5),
            Other::Literal("4") => Value::Int(4),
            Other::Literal("True") => Value::Bool(1),
            Other::Literal("1.5") => Value::Float(1.5),
            Other::Literal("None") => Value::None,
            Other::Literal(_) => text("a"),
        }
    }
}

impl Kind {
    /// A default that calls may have; nothing for what has none.
    pub fn default(&self, rng: &mut Rng) -> Option<&'static str> {
        match self {
            Kind::Int("bool") => Some(rng.pick(&["True", "False"])),
            Kind::Int(_) | Kind::Other(Other::Uint64) => Some(rng.pick(&["0", "1", "4", "8"])),
            Kind::Other(Other::Float(_)) => Some(rng.pick(&["0.5", "2.0", "-1.0"])),
            Kind::Other(Other::Text) => Some(rng.pick(&["\"a\"", "\"relu\""])),
            Kind::Other(Other::Literal(value)) => Some(value),
            Kind::Optional(_) => Some("None"),
            Kind::Tensor(_) | Kind::Shape(_) | Kind::Tuple(_) => None,
        }
    }
}
