// SPDX-License-Identifier: Apache-2.0
//! Where in a call something stands: the argument's number, and the path to a part of it.

use std::fmt;

/// The first argument whose place has the parameter's name: nobody counts further.
const FIRST_NAMED: usize = 10;

/// A parameter, or a part of one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Path {
    /// `p`, `p.x`, `p[0]`, `s[1]`.
    pub text: String,
    /// The number of the argument that holds it, from 0.
    pub arg_index: usize,
    /// Whether it is only a part of that argument.
    pub nested: bool,
}

impl Path {
    /// A whole argument.
    pub fn argument(name: &str, arg_index: usize) -> Path {
        Path { text: name.to_string(), arg_index, nested: false }
    }

    /// A part of this, written `part` behind it.
    pub fn part(&self, part: impl fmt::Display) -> Path {
        Path { text: format!("{}{part}", self.text), arg_index: self.arg_index, nested: true }
    }

    /// `on argument #0`, `on argument #10 (alpha)`, or `on p.x in argument #0` for a part.
    pub fn location(&self) -> String {
        let Path { text, arg_index, nested } = self;
        match nested {
            true => format!("on {text} in argument #{arg_index}"),
            false if *arg_index < FIRST_NAMED => format!("on argument #{arg_index}"),
            false => format!("on argument #{arg_index} ({text})"),
        }
    }

    /// `p.shape[0] on argument #0`: the path itself as the subject.
    pub fn subject(&self) -> String {
        format!("{} on argument #{}", self.text, self.arg_index)
    }
}
