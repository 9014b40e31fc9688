// SPDX-License-Identifier: Apache-2.0
//! The lexer: names, numbers and punctuation. White space separates tokens and is dropped.

use crate::{Diagnostic, Span};

/// What a token is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum TokenKind {
    /// A letter or `_`, then letters, digits and `_`.
    Name,
    /// A decimal integer, at most 2^63: so much fits 64 bits with a minus in front, which is a token of its own.
    Int(u64),
    /// A decimal number with a point or an exponent.
    Float(f64),
    /// Punctuation, such as `->`.
    Mark(&'static str),
    /// The end of the text.
    End,
}

/// A token and where it stands.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Token {
    /// What it is.
    pub kind: TokenKind,
    /// Where.
    pub span: Span,
}

/// Punctuation, longest first.
const MARKS: &[&str] = &[
    "->", "==", "!=", "<=", ">=", "//", "(", ")", "[", "]", "{", "}", ",", ":", "=", "<", ">", "+",
    "-", "*", "%", ".",
];

/// Splits `text` into tokens, the last of which is [`TokenKind::End`]. What is no token is reported and skipped.
pub fn lex(text: &str) -> (Vec<Token>, Vec<Diagnostic>) {
    let mut tokens = Vec::new();
    let mut diagnostics = Vec::new();
    let mut at = 0;
    while let Some(first) = text[at..].chars().next() {
        let rest = &text[at..];
        if first.is_whitespace() {
            at += first.len_utf8();
        } else if first.is_ascii_alphabetic() || first == '_' {
            let len = prefix(rest, |c| c.is_ascii_alphanumeric() || c == '_');
            tokens.push(Token { kind: TokenKind::Name, span: Span::new(at, at + len) });
            at += len;
        } else if first.is_ascii_digit() {
            let span = Span::new(at, at + number_len(rest));
            match number(&text[span.start..span.end]) {
                Some(kind) => tokens.push(Token { kind, span }),
                None => diagnostics.push(bad_number(span)),
            }
            at = span.end;
        } else if let Some(mark) = MARKS.iter().find(|mark| rest.starts_with(**mark)) {
            let span = Span::new(at, at + mark.len());
            tokens.push(Token { kind: TokenKind::Mark(mark), span });
            at = span.end;
        } else {
            diagnostics.push(unknown(first, at));
            at += first.len_utf8();
        }
    }
    tokens.push(Token { kind: TokenKind::End, span: Span::new(text.len(), text.len()) });
    (tokens, diagnostics)
}

fn prefix(text: &str, keep: impl Fn(char) -> bool) -> usize {
    text.find(|c| !keep(c)).unwrap_or(text.len())
}

/// The length of the number that `text` starts with: digits, a fraction, an exponent, and any letters stuck to it.
fn number_len(text: &str) -> usize {
    let digits = |text: &str| prefix(text, |c| c.is_ascii_digit());
    let mut len = digits(text);
    if text[len..].starts_with('.') {
        len += 1 + digits(&text[len + 1..]);
    }
    if text[len..].starts_with(['e', 'E']) {
        let sign = usize::from(text[len + 1..].starts_with(['+', '-']));
        len += 1 + sign + digits(&text[len + 1 + sign..]);
    }
    len + prefix(&text[len..], |c| c.is_ascii_alphanumeric() || c == '_')
}

fn number(text: &str) -> Option<TokenKind> {
    if text.bytes().all(|b| b.is_ascii_digit()) {
        text.parse().ok().filter(|value| *value <= i64::MIN.unsigned_abs()).map(TokenKind::Int)
    } else {
        text.parse().ok().filter(|value: &f64| value.is_finite()).map(TokenKind::Float)
    }
}

/// Of a number that is too large, or none.
pub fn bad_number(span: Span) -> Diagnostic {
    Diagnostic::new("bad-number", "not a number that fits 64 bits")
        .label(span, "expected a decimal integer or float")
}

fn unknown(found: char, at: usize) -> Diagnostic {
    let diagnostic = Diagnostic::new("bad-character", format!("unexpected character `{found}`"))
        .label(Span::new(at, at + found.len_utf8()), "not part of the language");
    match found {
        '/' => diagnostic.help("write `//` for floor division"),
        '\'' | '"' => diagnostic.help("write names without quotes"),
        _ => diagnostic,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_carry_their_spans() {
        let (tokens, diagnostics) = lex("a: Tensor([n//2, 1e-6])");
        assert!(diagnostics.is_empty());
        let kinds: Vec<_> = tokens.iter().map(|token| token.kind).collect();
        use TokenKind::*;
        assert_eq!(
            kinds,
            [
                Name,
                Mark(":"),
                Name,
                Mark("("),
                Mark("["),
                Name,
                Mark("//"),
                Int(2),
                Mark(","),
                Float(1e-6),
                Mark("]"),
                Mark(")"),
                End
            ]
        );
        assert_eq!(tokens[2].span, Span::new(3, 9));
    }

    #[test]
    fn integers_end_where_64_bits_do() {
        let (tokens, diagnostics) = lex("9223372036854775808 9223372036854775809");
        assert_eq!(tokens[0].kind, TokenKind::Int(1 << 63));
        assert_eq!(tokens[1].kind, TokenKind::End);
        assert_eq!(diagnostics.len(), 1);
    }

    #[test]
    fn what_is_no_token_is_reported_and_skipped() {
        let (tokens, diagnostics) = lex("n / 99999999999999999999 é 8x");
        assert_eq!(tokens.len(), 2);
        let codes: Vec<_> = diagnostics.iter().map(|d| d.code).collect();
        assert_eq!(codes, ["bad-character", "bad-number", "bad-character", "bad-number"]);
    }
}
