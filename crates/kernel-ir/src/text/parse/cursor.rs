// SPDX-License-Identifier: Apache-2.0
//! A cursor over the tokens of a kernel's text, and the questions that its reader asks.

use super::Parsed;
use crate::text::token::{Kind, Token, unquote};
use kernpack_syntax::{Diagnostic, Span};

pub(super) struct Cursor<'t> {
    /// The last one is the end, which is never passed.
    tokens: &'t [Token<'t>],
    at: usize,
}

impl<'t> Cursor<'t> {
    pub fn new(tokens: &'t [Token<'t>]) -> Cursor<'t> {
        Cursor { tokens, at: 0 }
    }

    pub fn peek(&self) -> Token<'t> {
        self.tokens[self.at]
    }

    fn second(&self) -> Token<'t> {
        self.tokens[(self.at + 1).min(self.tokens.len() - 1)]
    }

    pub fn bump(&mut self) -> Token<'t> {
        let token = self.peek();
        self.at = (self.at + 1).min(self.tokens.len() - 1);
        token
    }

    /// Where the last token taken stands.
    pub fn previous(&self) -> Span {
        self.tokens[self.at.saturating_sub(1)].span
    }

    pub fn is_at_end(&self) -> bool {
        self.peek().kind == Kind::End
    }

    pub fn is_at_bad(&self) -> bool {
        self.peek().kind == Kind::Bad
    }

    pub fn is_text(&self) -> bool {
        self.peek().kind == Kind::Text
    }

    /// Whether a number is next, or the minus in front of one.
    pub fn is_number(&self) -> bool {
        self.peek().kind == Kind::Number || self.is_mark("-")
    }

    fn is_mark(&self, mark: &str) -> bool {
        self.peek().kind == Kind::Mark && self.peek().text == mark
    }

    /// Whether an id with that prefix is next.
    pub fn is_id(&self, prefix: &str) -> bool {
        id(self.peek(), prefix).is_some()
    }

    /// Whether what is next is followed by a colon.
    pub fn is_definition(&self) -> bool {
        self.second().kind == Kind::Mark && self.second().text == ":"
    }

    /// Whether what is next is followed by a name.
    pub fn is_second_name(&self) -> bool {
        matches!(self.second().kind, Kind::Word | Kind::Text) && !self.second().is_first
    }

    pub fn eat(&mut self, mark: &str) -> bool {
        let is_next = self.is_mark(mark);
        if is_next {
            self.bump();
        }
        is_next
    }

    pub fn eat_word(&mut self, word: &str) -> bool {
        let is_next = self.peek().kind == Kind::Word && self.peek().text == word;
        if is_next {
            self.bump();
        }
        is_next
    }

    pub fn expect(&mut self, mark: &str) -> Parsed<()> {
        if self.eat(mark) { Ok(()) } else { Err(self.unexpected(&format!("`{mark}`"))) }
    }

    pub fn expect_word(&mut self, word: &str) -> Parsed<()> {
        if self.eat_word(word) { Ok(()) } else { Err(self.unexpected(&format!("`{word}`"))) }
    }

    pub fn word(&mut self, what: &str) -> Parsed<Token<'t>> {
        match self.peek().kind {
            Kind::Word => Ok(self.bump()),
            Kind::Number | Kind::Text | Kind::Mark | Kind::Bad | Kind::End => {
                Err(self.unexpected(what))
            }
        }
    }

    /// A name, in quotes or not.
    pub fn name(&mut self, what: &str) -> Parsed<String> {
        match self.is_text() {
            true => self.text(what),
            false => Ok(self.word(what)?.text.to_string()),
        }
    }

    /// The contents of a text in quotes.
    pub fn text(&mut self, what: &str) -> Parsed<String> {
        if !self.is_text() {
            return Err(self.unexpected(what));
        }
        let problem = self.unexpected("a backslash in front of `\"`, `\\`, `n`, `t` or `u{…}`");
        unquote(self.bump().text).ok_or(problem)
    }

    /// The number of an id.
    pub fn id(&mut self, prefix: &'static str, what: &str) -> Parsed<(u32, Span)> {
        match id(self.peek(), prefix) {
            Some(number) => Ok((number, self.bump().span)),
            None => Err(self.unexpected(&format!("{what}, as in `{prefix}0`"))),
        }
    }

    /// A number without a sign.
    pub fn number<T: std::str::FromStr>(&mut self, what: &str) -> Parsed<T> {
        let token = self.peek();
        match token.text.parse() {
            Ok(number) if token.kind == Kind::Number => {
                self.bump();
                Ok(number)
            }
            Ok(_) | Err(_) => Err(self.unexpected(what)),
        }
    }

    /// A number with or without a sign.
    pub fn integer(&mut self) -> Parsed<i64> {
        let problem = self.unexpected("an integer of 64 bits");
        let sign = if self.eat("-") { "-" } else { "" };
        let token = self.peek();
        if token.kind != Kind::Number {
            return Err(problem);
        }
        self.bump();
        format!("{sign}{}", token.text).parse().map_err(|_| problem)
    }

    /// How many tokens were taken.
    pub const fn position(&self) -> usize {
        self.at
    }

    /// Passes what is left of something that began at a position: up to the next line, with the
    /// regions that begin on the way. A `}` that ends the region around is left.
    pub fn skip_line(&mut self, start: usize) {
        let mut depth = 0_usize;
        while !self.is_at_end() {
            let token = self.peek();
            let is_mark = |mark| token.kind == Kind::Mark && token.text == mark;
            if depth == 0 && (is_mark("}") || (token.is_first && self.at > start)) {
                return;
            }
            match () {
                () if is_mark("{") => depth += 1,
                () if is_mark("}") => depth -= 1,
                () => {}
            }
            self.bump();
        }
    }

    /// Passes the rest of a region whose `{` was taken, with its `}`.
    pub fn skip_region(&mut self) {
        while !self.is_at_end() && !self.eat("}") {
            self.skip_line(self.at);
        }
    }

    /// Goes on to one of these words, where one begins a line.
    pub fn skip_to(&mut self, words: &[&str]) {
        self.bump();
        while !self.is_at_end() {
            let next = self.peek();
            if next.is_first && words.contains(&next.text) {
                return;
            }
            self.bump();
        }
    }

    /// Says that something else is expected than what is next.
    pub fn unexpected(&self, expected: &str) -> Diagnostic {
        let token = self.peek();
        let found = match token.kind {
            Kind::End => "the end".to_string(),
            Kind::Word | Kind::Number | Kind::Text | Kind::Mark | Kind::Bad => {
                format!("`{}`", token.text)
            }
        };
        Diagnostic::new("ir-syntax", format!("expected {expected}, found {found}"))
            .label(token.span, format!("expected {expected}"))
    }
}

/// The number of an id with that prefix: digits as they are printed.
fn id(token: Token<'_>, prefix: &str) -> Option<u32> {
    let digits = token.text.strip_prefix(prefix).filter(|_| token.kind == Kind::Word)?;
    let is_padded = digits.len() > 1 && digits.starts_with('0');
    digits.parse().ok().filter(|_| !is_padded)
}
