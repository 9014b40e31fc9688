// SPDX-License-Identifier: Apache-2.0
//! A cursor over tokens, with the few questions a recursive-descent parser asks.

use crate::{Diagnostic, Span, Token, TokenKind};

/// A position in a list of tokens.
pub struct Cursor<'t> {
    tokens: &'t [Token<'t>],
    at: usize,
}

impl<'t> Cursor<'t> {
    /// The start of `tokens`, which [`lex`](crate::lex) made.
    pub fn new(tokens: &'t [Token<'t>]) -> Cursor<'t> {
        Cursor { tokens, at: 0 }
    }

    /// The next token.
    pub fn peek(&self) -> Token<'t> {
        self.tokens[self.at]
    }

    /// The token after the next one; the end where there is none.
    pub fn peek_second(&self) -> Token<'t> {
        self.tokens[(self.at + 1).min(self.tokens.len() - 1)]
    }

    /// Takes the next token. The end is never passed.
    pub fn bump(&mut self) -> Token<'t> {
        let token = self.peek();
        self.at = (self.at + 1).min(self.tokens.len() - 1);
        token
    }

    /// Where the last token taken stands.
    pub fn previous(&self) -> Span {
        self.tokens[self.at.saturating_sub(1)].span
    }

    /// The position, to come back to.
    pub fn position(&self) -> usize {
        self.at
    }

    /// Goes back to a position.
    pub fn rewind(&mut self, position: usize) {
        self.at = position;
    }

    /// Whether the next token is that mark.
    pub fn at_mark(&self, mark: &str) -> bool {
        matches!(self.peek().kind, TokenKind::Mark(found) if found == mark)
    }

    /// Whether the next token is that name.
    pub fn at_name(&self, name: &str) -> bool {
        self.peek().kind == TokenKind::Name && self.peek().text == name
    }

    /// Takes the mark if it is next.
    pub fn eat(&mut self, mark: &str) -> bool {
        let found = self.at_mark(mark);
        if found {
            self.bump();
        }
        found
    }

    /// Takes the name if it is next.
    pub fn eat_name(&mut self, name: &str) -> bool {
        let found = self.at_name(name);
        if found {
            self.bump();
        }
        found
    }

    /// Takes the mark, or says what stands in its place.
    pub fn expect(&mut self, mark: &str) -> Result<Span, Diagnostic> {
        let span = self.peek().span;
        if self.eat(mark) { Ok(span) } else { Err(self.unexpected(&format!("`{mark}`"))) }
    }

    /// Takes any name, or says what stands in its place.
    pub fn expect_name(&mut self, what: &str) -> Result<(&'t str, Span), Diagnostic> {
        let token = self.peek();
        if token.kind != TokenKind::Name {
            return Err(self.unexpected(what));
        }
        self.bump();
        Ok((token.text, token.span))
    }

    /// A diagnostic: something else stands where `expected` should.
    pub fn unexpected(&self, expected: &str) -> Diagnostic {
        let token = self.peek();
        let found = match token.kind {
            TokenKind::End => "the end".to_string(),
            _ => format!("`{}`", token.text),
        };
        Diagnostic::new("syntax", format!("expected {expected}, found {found}"))
            .label(token.span, format!("expected {expected}"))
    }
}
