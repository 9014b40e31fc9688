// SPDX-License-Identifier: Apache-2.0
//! Text to tokens: positions, one lexer for every grammar of kernpack, and the diagnostics that compile-time errors become.
//!
//! Not here: any grammar, and any drawing of diagnostics (the command line does that).

mod character;
mod cursor;
mod diagnostic;
mod lexer;

pub use character::{BYTE_ORDER_MARK, bidirectional};
pub use cursor::Cursor;
pub use diagnostic::{Diagnostic, Diagnostics, Label};
pub use lexer::{Token, TokenKind, bad_number, lex};

/// A range of bytes in a source text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Span {
    /// The first byte.
    pub start: usize,
    /// One past the last byte.
    pub end: usize,
}

impl Span {
    /// The bytes from `start` up to `end`.
    pub const fn new(start: usize, end: usize) -> Span {
        Span { start, end }
    }

    /// The smallest span that holds both.
    pub fn to(self, other: Span) -> Span {
        Span::new(self.start.min(other.start), self.end.max(other.end))
    }
}
