// SPDX-License-Identifier: Apache-2.0
//! Tokens of a kernel's text. It has a lexer of its own, as it is read by people who look into a
//! compiler, and has `;`, `@` and bits of numbers, which no other text of kernpack has.

use kernpack_syntax::{Diagnostic, Snippet, Span, quoted_len};

/// The kinds of tokens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// Letters, digits and `_`, of which the first is no digit.
    Word,
    /// Digits, with a fraction or an exponent where they have one, or `0x` and digits.
    Number,
    /// A text in quotes.
    Text,
    /// Punctuation.
    Mark,
    /// Characters of no token, which have been reported.
    Bad,
    /// The end.
    End,
}

/// A token.
#[derive(Clone, Copy, Debug)]
pub(super) struct Token<'t> {
    pub kind: Kind,
    pub text: &'t str,
    pub span: Span,
    /// Whether it is the first of its line.
    pub is_first: bool,
}

/// Punctuation, longest first.
const MARKS: &[&str] = &["..", "(", ")", "[", "]", "{", "}", ",", ":", "=", ".", "-", "@", "<"];

/// Splits a text into tokens, the last of which is the end.
pub(super) fn lex(snippet: Snippet<'_>) -> (Vec<Token<'_>>, Vec<Diagnostic>) {
    let (mut tokens, mut problems) = (Vec::new(), Vec::new());
    let text = snippet.text;
    let (mut at, mut is_first) = (0, true);
    while let Some(first) = text[at..].chars().next() {
        let rest = &text[at..];
        let len = match first {
            '\n' => {
                is_first = true;
                1
            }
            ';' => rest.find('\n').unwrap_or(rest.len()),
            _ if first.is_whitespace() => first.len_utf8(),
            _ => {
                let (kind, len) = token(first, rest);
                let piece = snippet.piece(at, at + len);
                if kind == Kind::Bad {
                    problems.push(bad(piece));
                }
                tokens.push(Token { kind, text: piece.text, span: piece.span, is_first });
                is_first = false;
                len
            }
        };
        at += len;
    }
    let end = snippet.piece(text.len(), text.len());
    tokens.push(Token { kind: Kind::End, text: "", span: end.span, is_first: true });
    (tokens, problems)
}

/// The token of a text that begins with that character, and how many bytes it has.
fn token(first: char, text: &str) -> (Kind, usize) {
    if is_word(first) && !first.is_ascii_digit() {
        return (Kind::Word, prefix(text, is_word));
    }
    if first.is_ascii_digit() {
        return (Kind::Number, number_len(text));
    }
    if first == '"' {
        let (len, is_closed) = quoted_len(text);
        return (if is_closed { Kind::Text } else { Kind::Bad }, len);
    }
    match MARKS.iter().find(|mark| text.starts_with(**mark)) {
        Some(mark) => (Kind::Mark, mark.len()),
        None => (Kind::Bad, first.len_utf8()),
    }
}

const fn is_word(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_'
}

fn prefix(text: &str, keep: impl Fn(char) -> bool) -> usize {
    text.find(|c| !keep(c)).unwrap_or(text.len())
}

/// A number does not end in a point, so that `0..8` is two of them.
fn number_len(text: &str) -> usize {
    let mut len = prefix(text, |c| c.is_ascii_alphanumeric());
    let is_fraction =
        |rest: &str| rest.starts_with('.') && rest[1..].starts_with(|c: char| c.is_ascii_digit());
    if is_fraction(&text[len..]) {
        len += 1 + prefix(&text[len + 1..], |c| c.is_ascii_alphanumeric());
    }
    if text[..len].ends_with('e') && text[len..].starts_with(['-', '+']) {
        len += 1 + prefix(&text[len + 1..], |c| c.is_ascii_alphanumeric());
    }
    len
}

fn bad(piece: Snippet<'_>) -> Diagnostic {
    let problem = |message: &str| Diagnostic::new("ir-syntax", message);
    if piece.text.starts_with('"') {
        return problem("a text is not closed").label(piece.span, "its line ends first");
    }
    let shown: String = piece.text.chars().flat_map(char::escape_debug).collect();
    problem(&format!("unexpected character `{shown}`")).label(piece.span, "")
}

/// The contents of a text in quotes; nothing where a backslash stands in front of something else
/// than what it can.
pub(super) fn unquote(written: &str) -> Option<String> {
    let mut rest = written.get(1..written.len().checked_sub(1)?)?.chars();
    let mut text = String::new();
    while let Some(c) = rest.next() {
        text.push(if c == '\\' { escape(&mut rest)? } else { c });
    }
    Some(text)
}

fn escape(rest: &mut std::str::Chars<'_>) -> Option<char> {
    match rest.next()? {
        'n' => Some('\n'),
        't' => Some('\t'),
        c @ ('"' | '\\') => Some(c),
        'u' => {
            let (number, behind) = rest.as_str().strip_prefix('{')?.split_once('}')?;
            *rest = behind.chars();
            char::from_u32(u32::from_str_radix(number, 16).ok()?)
        }
        _ => None,
    }
}

/// A text as it is written.
pub(super) fn quote(text: &str) -> String {
    let mut quoted = String::from("\"");
    for c in text.chars() {
        match c {
            '"' | '\\' => quoted.extend(['\\', c]),
            '\n' => quoted.push_str("\\n"),
            '\t' => quoted.push_str("\\t"),
            _ if c.is_control() => quoted.extend(c.escape_unicode()),
            _ => quoted.push(c),
        }
    }
    quoted.push('"');
    quoted
}

/// Whether a name is written without quotes.
pub(super) fn is_plain(name: &str) -> bool {
    !name.is_empty() && !name.starts_with(|c: char| c.is_ascii_digit()) && name.chars().all(is_word)
}
