// SPDX-License-Identifier: Apache-2.0
//! Text to tokens: texts and places in them, one lexer for every grammar of kernpack, and the
//! diagnostics that compile-time errors become.
//!
//! Not here: any grammar, any file, and any drawing of diagnostics (the command line does that).

mod character;
mod cursor;
mod diagnostic;
mod lexer;
mod placed;
mod quoted;
mod text;
mod told;

pub use character::{BYTE_ORDER_MARK, bidirectional};
pub use cursor::Cursor;
pub use diagnostic::{Diagnostic, Diagnostics, Label, Severity};
pub use lexer::{Token, TokenKind, bad_number, lex};
pub use placed::Placed;
pub use quoted::{quote, quoted_len, unquote};
pub use text::{Snippet, Span, Text, TextId, Texts};
pub use told::Told;
