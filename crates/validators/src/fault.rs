// SPDX-License-Identifier: Apache-2.0
//! Faults: what a failed check raises. A fault is a name, a kind and a text in pieces, some of
//! which are values of the call.
//!
//! Every text has one layout, and only this file knows it:
//!
//! ```text
//! <what is wrong> <where> when calling: `<signature>`, expected <what>, got <what>
//! Mismatched b.shape[0] on argument #1 when calling: `f(a: …)`, expected to match a.shape[0], got 126 (a.shape[0] is 128)
//! ```
//!
//! Static pieces are cut where texts repeat, so that a package stores each once. Which phrases a
//! check uses is its own business ([`check`](crate::check)).

use crate::literal::float_text;
use crate::plan::{MAX_PARTS, MAX_VALUES, Type, Value};
use kernpack_ffi_abi::{DType, DeviceType, ErrorKind, TypeIndex};

/// How a value of the call prints.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Format {
    /// A signed decimal.
    Int,
    /// An unsigned decimal.
    Uint,
    /// A float64 from its bits.
    Float,
    /// The word for a type index.
    TypeIndex,
    /// The name of a packed dtype.
    DType,
    /// The name of a device type.
    DeviceType,
    /// The contents of a text, as [`shown_text`] has it.
    Text,
}

impl Format {
    /// The type of the values that print so.
    fn shows(self) -> Type {
        if self == Format::Text { Type::Text } else { Type::Int }
    }

    /// The text of the integer `value`.
    pub fn text(self, value: i64) -> String {
        match self {
            Format::Int => value.to_string(),
            Format::Uint => (value as u64).to_string(),
            Format::Float => float_text(f64::from_bits(value as u64)),
            Format::TypeIndex => TypeIndex(value as i32).to_string(),
            Format::DType => DType::from_packed(value as u32).to_string(),
            Format::DeviceType => DeviceType(value as i32).to_string(),
            Format::Text => unreachable!("a verified plan shows texts as texts"),
        }
    }
}

/// How many characters a text shows that are its own.
const SHOWN: usize = 26;

/// A text of the call as a message shows it: its first characters in quotes, with an escape for
/// each byte that is no printable ASCII, and dots behind where there is more.
pub fn shown_text(bytes: &[u8]) -> String {
    let mut shown = String::from("\"");
    for byte in bytes {
        let character = match byte {
            b'"' => "\\\"".to_string(),
            b'\\' => "\\\\".to_string(),
            b'\n' => "\\n".to_string(),
            b'\t' => "\\t".to_string(),
            b' '..=b'~' => char::from(*byte).to_string(),
            _ => format!("\\x{byte:02x}"),
        };
        if shown.len() + character.len() > 1 + SHOWN {
            return shown + "\"...";
        }
        shown += &character;
    }
    shown + "\""
}

/// A piece of a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Part {
    /// Static text.
    Text(String),
    /// A value of the call.
    Value(Value, Format),
    /// A value of the call that there may be none of: `None` where the truth does not hold.
    Optional(Value, Value, Format),
    /// The words of [`calling`]: every fault has them, so that they are not kept with each.
    Calling,
}

/// The words between the subject and what was expected, in each fault of a function with that
/// short signature.
pub fn calling(signature: &str) -> String {
    format!(" when calling: `{signature}`, expected ")
}

/// The error that a failed check raises.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// A stable kebab-case name, one of [`CATALOGUE`](crate::check::CATALOGUE).
    pub name: &'static str,
    /// The kind of the error.
    pub kind: ErrorKind,
    /// The text.
    pub parts: Vec<Part>,
}

impl Fault {
    /// The values of the call in the text, in order.
    pub fn values(&self) -> impl Iterator<Item = Value> {
        self.shown().map(|(value, _)| value)
    }

    /// The values of the call in the text, in order, each with its type.
    pub fn shown(&self) -> impl Iterator<Item = (Value, Type)> {
        self.parts.iter().flat_map(|part| match part {
            Part::Text(_) | Part::Calling => vec![],
            Part::Value(value, format) => vec![(*value, format.shows())],
            Part::Optional(given, value, format) => {
                vec![(*given, Type::Bool), (*value, format.shows())]
            }
        })
    }

    /// The text for a function with that short signature, with `shown` giving the values of the
    /// call as they print, and `is_given` whether there are those that there may be none of.
    pub fn text<E>(
        &self,
        signature: &str,
        is_given: &dyn Fn(Value) -> Result<bool, E>,
        shown: &dyn Fn(Value, Format) -> Result<String, E>,
    ) -> Result<String, E> {
        let mut text = String::new();
        for part in &self.parts {
            match part {
                Part::Text(piece) => text.push_str(piece),
                Part::Calling => text.push_str(&calling(signature)),
                Part::Optional(given, ..) if !is_given(*given)? => text.push_str("None"),
                Part::Value(value, format) | Part::Optional(_, value, format) => {
                    text.push_str(&shown(*value, *format)?);
                }
            }
        }
        Ok(text)
    }
}

/// Pieces of text and values, in order: what a check says was expected, or received.
#[derive(Clone, Debug, Default)]
pub struct Phrase(pub Vec<Part>);

impl Phrase {
    /// Static text.
    pub fn text(text: impl Into<String>) -> Phrase {
        Phrase::default().and(text)
    }

    /// A value.
    pub fn value(value: Value, format: Format) -> Phrase {
        Phrase::default().and_value(value, format)
    }

    /// Adds static text.
    pub fn and(mut self, text: impl Into<String>) -> Phrase {
        let text = text.into();
        match self.0.last_mut() {
            _ if text.is_empty() => {}
            Some(Part::Text(last)) => last.push_str(&text),
            _ => self.0.push(Part::Text(text)),
        }
        self
    }

    /// Adds a value.
    pub fn and_value(mut self, value: Value, format: Format) -> Phrase {
        self.0.push(Part::Value(value, format));
        self
    }

    /// The same where a truth holds, and `None` for each value elsewhere.
    pub fn where_given(self, given: Value) -> Phrase {
        let optional = |part| match part {
            Part::Value(value, format) => Part::Optional(given, value, format),
            Part::Text(_) | Part::Optional(..) | Part::Calling => part,
        };
        Phrase(self.0.into_iter().map(optional).collect())
    }

    /// Adds another phrase.
    pub fn and_phrase(mut self, phrase: Phrase) -> Phrase {
        for part in phrase.0 {
            self = match part {
                Part::Text(text) => self.and(text),
                Part::Value(value, format) => self.and_value(value, format),
                Part::Optional(..) | Part::Calling => {
                    self.0.push(part);
                    self
                }
            };
        }
        self
    }
}

impl From<&Phrase> for Phrase {
    fn from(phrase: &Phrase) -> Phrase {
        phrase.clone()
    }
}

impl From<&str> for Phrase {
    fn from(text: &str) -> Phrase {
        Phrase::text(text)
    }
}

impl From<String> for Phrase {
    fn from(text: String) -> Phrase {
        Phrase::text(text)
    }
}

/// The message of a check that fails, before it is put together with its signature.
#[derive(Clone, Debug)]
pub struct Complaint {
    /// The fault's name.
    pub name: &'static str,
    /// The fault's kind.
    pub kind: ErrorKind,
    /// The subject: `Mismatched Tensor on argument #0`.
    pub subject: Phrase,
    /// The expected value.
    pub expected: Phrase,
    /// The received value.
    pub got: Phrase,
}

impl Complaint {
    /// The fault.
    pub fn into_fault(self) -> Fault {
        let mut parts = self.subject.0;
        parts.push(Part::Calling);
        parts.extend(self.expected.0);
        parts.push(Part::Text(", got ".to_string()));
        parts.extend(self.got.0);
        Fault { name: self.name, kind: self.kind, parts: with_room(parts) }
    }
}

/// The parts as far as a fault has room for them: a rule may name more than that.
fn with_room(parts: Vec<Part>) -> Vec<Part> {
    let n_values = |part: &Part| match part {
        Part::Text(_) | Part::Calling => 0,
        Part::Value(..) => 1,
        Part::Optional(..) => 2,
    };
    let mut left = MAX_VALUES;
    let fits = |part: &&Part| {
        let rest = left.checked_sub(n_values(part));
        left = rest.unwrap_or(0);
        rest.is_some()
    };
    let n_fit = parts.iter().take_while(fits).count();
    if n_fit == parts.len() && n_fit <= MAX_PARTS {
        return parts;
    }
    let shown = parts.into_iter().take(n_fit.min(MAX_PARTS - 1)).collect();
    Phrase(shown).and("...").0
}

#[cfg(test)]
mod tests {
    use super::shown_text;

    #[test]
    fn texts_are_escaped_and_shortened() {
        assert_eq!(shown_text(b"relu"), r#""relu""#);
        assert_eq!(shown_text(b""), r#""""#);
        assert_eq!(shown_text(b"a\"\\\n\t\0\x7f\xc3\xa9"), r#""a\"\\\n\t\x00\x7f\xc3\xa9""#);
        assert_eq!(shown_text(&[b'x'; 26]), format!("\"{}\"", "x".repeat(26)));
        assert_eq!(shown_text(&[b'x'; 27]), format!("\"{}\"...", "x".repeat(26)));
        assert_eq!(shown_text(&[0xff; 7]), format!("\"{}\"...", "\\xff".repeat(6)));
    }
}
