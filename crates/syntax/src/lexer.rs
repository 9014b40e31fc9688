// SPDX-License-Identifier: Apache-2.0
//! The lexer: names, numbers, quoted texts and punctuation. White space, and comments from `#` to
//! the end of the line, separate tokens and are dropped.

use crate::character::{BYTE_ORDER_MARK, bidirectional, escaped};
use crate::quoted::{self, quoted_len};
use crate::{Diagnostic, Snippet, Span};

/// The kinds of tokens.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum TokenKind {
    /// A letter or `_`, then letters, digits and `_`.
    Name,
    /// A decimal integer. A minus in front is a token of its own.
    Int(u64),
    /// A decimal number with a point or an exponent.
    Float(f64),
    /// A text in quotes, which [`unquote`](crate::unquote) reads.
    Text,
    /// Punctuation, such as `->`.
    Mark(&'static str),
    /// Characters of no token, which have been reported: a parser that meets them has nothing to
    /// add.
    Bad,
    /// The end of the text.
    End,
}

/// A token and where it stands.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Token<'t> {
    /// Its kind.
    pub kind: TokenKind,
    /// Its characters.
    pub text: &'t str,
    /// Where.
    pub span: Span,
}

/// Punctuation, longest first.
const MARKS: &[&str] = &[
    "->", "==", "!=", "<=", ">=", "//", "(", ")", "[", "]", "{", "}", ",", ":", "=", "<", ">", "+",
    "-", "*", "%", ".",
];

/// The quotes of other languages' strings.
const QUOTES: [char; 2] = ['\'', '`'];

/// Splits a text into tokens, the last of which is [`TokenKind::End`]. What is no token is
/// reported.
pub fn lex(snippet: Snippet<'_>) -> (Vec<Token<'_>>, Vec<Diagnostic>) {
    let mut tokens = Vec::new();
    let mut diagnostics = Vec::new();
    let text = snippet.text;
    // A byte order mark says nothing in UTF-8, but editors write it.
    let mut at = if text.starts_with(BYTE_ORDER_MARK) { BYTE_ORDER_MARK.len_utf8() } else { 0 };
    while let Some(first) = text[at..].chars().next() {
        let rest = &text[at..];
        if first.is_whitespace() {
            at += first.len_utf8();
        } else if first == '#' {
            let len = prefix(rest, |c| c != '\n');
            diagnostics.extend(bidirectional(snippet.piece(at, at + len)));
            at += len;
        } else {
            let (kind, len) = token(rest);
            let piece = snippet.piece(at, at + len);
            if kind == TokenKind::Bad {
                diagnostics.push(bad_token(first, piece));
            }
            if kind == TokenKind::Text {
                diagnostics.extend(quoted::problems(piece));
            }
            tokens.push(Token { kind, text: piece.text, span: piece.span });
            at += len;
        }
    }
    let end = snippet.piece(text.len(), text.len());
    tokens.push(Token { kind: TokenKind::End, text: end.text, span: end.span });
    (tokens, diagnostics)
}

/// The token with which `text`, which begins with no white space, begins; and its bytes.
fn token(text: &str) -> (TokenKind, usize) {
    let first = text.chars().next().unwrap_or_default();
    if first.is_ascii_alphabetic() || first == '_' {
        (TokenKind::Name, prefix(text, |c| c.is_ascii_alphanumeric() || c == '_'))
    } else if first.is_ascii_digit() {
        let len = number_len(text);
        (number(&text[..len]).unwrap_or(TokenKind::Bad), len)
    } else if text.starts_with("/*") {
        (TokenKind::Bad, text.find("*/").map_or(text.len(), |end| end + 2))
    } else if first == '"' {
        let (len, is_closed) = quoted_len(text);
        (if is_closed { TokenKind::Text } else { TokenKind::Bad }, len)
    } else if QUOTES.contains(&first) {
        let inside = prefix(&text[1..], |c| c != first && c != '\n');
        let is_closed = text[1 + inside..].starts_with(first);
        (TokenKind::Bad, 1 + inside + usize::from(is_closed))
    } else if let Some(mark) = MARKS.iter().find(|mark| text.starts_with(**mark)) {
        (TokenKind::Mark(mark), mark.len())
    } else {
        (TokenKind::Bad, first.len_utf8())
    }
}

fn prefix(text: &str, keep: impl Fn(char) -> bool) -> usize {
    text.find(|c| !keep(c)).unwrap_or(text.len())
}

/// The length of the number that `text` starts with: digits, a fraction, an exponent, and any
/// letters stuck to it.
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
        text.parse().ok().map(TokenKind::Int)
    } else {
        text.parse().ok().filter(|value: &f64| value.is_finite()).map(TokenKind::Float)
    }
}

/// Of a number that is too large, or none.
pub fn bad_number(span: Span) -> Diagnostic {
    Diagnostic::new("bad-number", "not a number that fits 64 bits")
        .label(span, "expected a decimal integer or float")
}

/// Of a text that is no token.
fn bad_token(first: char, bad: Snippet<'_>) -> Diagnostic {
    let Snippet { text, span, .. } = bad;
    if first.is_ascii_digit() {
        return bad_number(span);
    }
    if let Some(problem) = bidirectional(bad).into_iter().next() {
        return problem;
    }
    let problem = |message: String| Diagnostic::new("bad-character", message);
    match first {
        '/' if text.len() > 1 => problem("comments have another form".to_string())
            .label(span, "not part of the language")
            .help("write `# …`, up to the end of the line"),
        '"' => problem("a text is not closed".to_string())
            .label(span, "its line ends first")
            .help("write `\"` behind it, and `\\n` for the end of a line"),
        _ if QUOTES.contains(&first) => problem("names have no quotes".to_string())
            .label(span, "not part of the language")
            .help(match text.strip_prefix('\'').and_then(|text| text.strip_suffix('\'')) {
                Some(inner) => format!("write `\"{inner}\"` for a text, and names without quotes"),
                None => "remove the quotes; a text stands in `\"`".to_string(),
            }),
        _ => {
            let problem = problem(format!("unexpected character {}", escaped(first)));
            let problem = problem.label(span, "not part of the language");
            if first == '/' { problem.help("write `//` for floor division") } else { problem }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_carry_their_spans() {
        let (tokens, diagnostics) = lex("a: Tensor([n//2, 1e-6])".into());
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
        let (tokens, diagnostics) = lex("18446744073709551615 18446744073709551616".into());
        assert_eq!(tokens[0].kind, TokenKind::Int(u64::MAX));
        assert_eq!(tokens[1].kind, TokenKind::Bad);
        assert_eq!(diagnostics.len(), 1);
    }

    #[test]
    fn what_is_no_token_is_reported() {
        let (tokens, diagnostics) =
            lex("n / 99999999999999999999 é 8x /* n */ 'n, m' \u{202e}".into());
        let kinds: Vec<_> = tokens[1..8].iter().map(|token| token.kind).collect();
        assert_eq!(kinds, [TokenKind::Bad; 7]);
        assert_eq!(tokens.len(), 9);
        let codes: Vec<_> = diagnostics.iter().map(|d| d.code).collect();
        let (character, number) = ("bad-character", "bad-number");
        assert_eq!(codes, [character, number, character, number, character, character, character]);
    }

    #[test]
    fn comments_go_to_the_end_of_the_line() {
        let (tokens, diagnostics) = lex("\u{feff}a # 'b / \u{e9}\n# c\nd#".into());
        assert!(diagnostics.is_empty());
        let spans: Vec<_> = tokens.iter().map(|token| token.span.start).collect();
        assert_eq!(spans, [3, 19, 21]);
    }
}
