// SPDX-License-Identifier: Apache-2.0
//! Texts in quotes: how they are written, and what they say.
//!
//! A text stands on one line. `\"`, `\\`, `\n` and `\t` stand for a quote, a backslash, the end of
//! a line and a tab; no other control character can be written, so that no text has a NUL in it.

use crate::character::{bidirectional, escaped};
use crate::{Diagnostic, Snippet};

/// Escapes: the character behind a backslash, and the one that it stands for.
const ESCAPES: [(char, char); 4] = [('"', '"'), ('\\', '\\'), ('n', '\n'), ('t', '\t')];

/// How many bytes the text has that `text` begins with, and whether it is closed on its line.
pub fn quoted_len(text: &str) -> (usize, bool) {
    let mut is_escaped = false;
    for (at, c) in text.char_indices().skip(1) {
        match c {
            '\n' => return (at, false),
            '"' if !is_escaped => return (at + 1, true),
            _ => is_escaped = c == '\\' && !is_escaped,
        }
    }
    (text.len(), false)
}

/// The problems of a text that is closed.
pub(crate) fn problems(quoted: Snippet<'_>) -> Vec<Diagnostic> {
    let mut problems = bidirectional(quoted);
    let mut characters = quoted.text.char_indices();
    while let Some((at, c)) = characters.next() {
        let (end, problem, help) = if c == '\\' {
            let Some((second, c)) = characters.next() else { break };
            if ESCAPES.iter().any(|(written, _)| *written == c) {
                continue;
            }
            let problem = format!("`\\` stands in front of {}", escaped(c));
            (second + c.len_utf8(), problem, "write `\\\\` for a backslash")
        } else if c.is_control() {
            let problem = format!("unexpected character {} in a text", escaped(c));
            (at + c.len_utf8(), problem, "write `\\n` or `\\t` for the end of a line or a tab")
        } else {
            continue;
        };
        let problem = Diagnostic::new("bad-character", problem);
        problems.push(problem.label(quoted.place(at, end), "no part of a text").help(help));
    }
    problems
}

/// The text that is written so, quotes included, and has no problem.
pub fn unquote(written: &str) -> String {
    let inside = written.get(1..written.len().saturating_sub(1)).unwrap_or_default();
    let mut text = String::new();
    let mut characters = inside.chars();
    while let Some(c) = characters.next() {
        let escape = if c == '\\' { characters.next() } else { None };
        let meant = ESCAPES.iter().find(|(written, _)| Some(*written) == escape);
        text.push(meant.map_or(c, |(_, meant)| *meant));
    }
    text
}

/// A text as it is written: [`unquote`] gives it back.
pub fn quote(text: &str) -> String {
    let mut quoted = String::from("\"");
    for c in text.chars() {
        match ESCAPES.iter().find(|(_, meant)| *meant == c) {
            Some((written, _)) => quoted.extend(['\\', *written]),
            None => quoted.push(c),
        }
    }
    quoted.push('"');
    quoted
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_read_back_as_they_are_written() {
        for text in ["", "relu", "a \"b\" \\n", "\n\t\\", "\\\"", "größe ≤"] {
            let written = quote(text);
            assert_eq!(quoted_len(&written), (written.len(), true), "{written}");
            assert_eq!(problems(written.as_str().into()), [], "{written}");
            assert_eq!(unquote(&written), text);
        }
        assert_eq!(quote("a\"\\\n\t"), r#""a\"\\\n\t""#);
    }

    #[test]
    fn a_text_ends_at_its_quote_or_its_line() {
        assert_eq!(quoted_len(r#""a" == "b""#), (3, true));
        assert_eq!(quoted_len(r#""a\" b"#), (6, false));
        assert_eq!(quoted_len(r#""a\\" b"#), (5, true));
        assert_eq!(quoted_len("\"a\nb\""), (2, false));
    }

    #[test]
    fn what_cannot_stand_in_a_text_is_reported() {
        let spans = |written: &str| {
            let problems = problems(written.into());
            assert!(problems.iter().all(|problem| problem.code == "bad-character"));
            let place = |problem: &Diagnostic| problem.labels[0].span;
            problems.iter().map(|it| (place(it).start, place(it).end)).collect::<Vec<_>>()
        };
        assert_eq!(spans(r#""a\x41 \é""#), [(2, 4), (7, 10)]);
        assert_eq!(spans("\"a\tb\0\""), [(2, 3), (4, 5)]);
        assert_eq!(spans("\"\u{202e}\""), [(1, 4)]);
    }
}
