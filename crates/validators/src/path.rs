// SPDX-License-Identifier: Apache-2.0
//! Where in a call something stands: the argument's number, and the path to a part of it.

use crate::expr::Field;
use crate::fault::{Format, Phrase};
use crate::plan::Value;
use std::fmt;

/// The first argument whose place has the parameter's name: nobody counts further.
const FIRST_NAMED: usize = 10;

/// A parameter, or a part of one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Path {
    /// `p`, `p.x`, `p[0]`, `s[1]`.
    pub text: String,
    /// The same place, where it may also be counted from the last: `p.shape[-1]`.
    pub alias: Option<String>,
    /// The number of a dim that is known in a call only, and what stands before it: `p.shape[`.
    counted: Option<(String, Value)>,
    /// The number of the argument that holds it, from 0.
    pub arg_index: usize,
    /// Whether it is only a part of that argument.
    pub nested: bool,
}

impl Path {
    /// A whole argument.
    pub fn argument(name: &str, arg_index: usize) -> Path {
        let (text, alias, counted) = (name.to_string(), None, None);
        Path { text, alias, counted, arg_index, nested: false }
    }

    /// A part of this, written `part` behind it.
    pub fn part(&self, part: impl fmt::Display) -> Path {
        let (text, alias, counted) = (format!("{}{part}", self.text), None, None);
        Path { text, alias, counted, arg_index: self.arg_index, nested: true }
    }

    /// A name of its own for something here.
    pub fn called(&self, text: String) -> Path {
        Path { text, ..self.part("") }
    }

    /// The dim `i` of the `n_dims` that this has, or the extent, stride or element that belongs to
    /// it.
    pub fn dim(&self, field: impl Fn(i64) -> Field, i: usize, n_dims: usize) -> Path {
        let from_last = field(i as i64 - n_dims as i64);
        let alias = Some(format!("{}{from_last}", self.text));
        Path { alias, ..self.part(field(i as i64)) }
    }

    /// A dim whose number is known in a call only.
    pub fn counted_dim(&self, field: impl Fn(i64) -> Field, number: Value) -> Path {
        let text = self.part(field(0)).text;
        let before = text.trim_end_matches("0]").to_string();
        let text = format!("{before}i]");
        Path { counted: Some((before, number)), ..Path { text, ..self.part("") } }
    }

    /// The subject of a message: `Mismatched type on argument #0`, `Mismatched type on argument #10
    /// (alpha)`, or `Mismatched type on p.x in argument #0` for a part.
    pub fn location(&self, wrong: &str) -> Phrase {
        let Path { text, arg_index, nested, .. } = self;
        match nested {
            true => {
                let part = Phrase::text(format!("{wrong} on ")).and_phrase(self.phrase());
                part.and(format!(" in argument #{arg_index}"))
            }
            false if *arg_index < FIRST_NAMED => {
                Phrase::text(format!("{wrong} on argument #{arg_index}"))
            }
            false => Phrase::text(format!("{wrong} on argument #{arg_index} ({text})")),
        }
    }

    /// `p.shape[0]`, as messages have it.
    pub fn phrase(&self) -> Phrase {
        match &self.counted {
            None => Phrase::text(&self.text),
            Some((before, number)) => Phrase::text(before).and_value(*number, Format::Int).and("]"),
        }
    }

    /// `Mismatched p.shape[0] on argument #0`: the path itself as what something is wrong with.
    pub fn subject(&self, wrong: &str) -> Phrase {
        let subject = Phrase::text(format!("{wrong} ")).and_phrase(self.phrase());
        subject.and(format!(" on argument #{}", self.arg_index))
    }
}
