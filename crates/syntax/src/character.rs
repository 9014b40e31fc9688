// SPDX-License-Identifier: Apache-2.0
//! Characters that a reader does not see as what they are.

use crate::{Diagnostic, Snippet};

/// The mark that some editors put in front of a text: it says nothing in UTF-8.
pub const BYTE_ORDER_MARK: char = '\u{feff}';

/// Whether a character changes the direction in which the text behind it shows, so that a text may
/// read as another one than it is: the explicit embeddings, overrides and isolates of UAX #9.
fn is_bidirectional(c: char) -> bool {
    matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// Reports the characters that change the direction in which a text shows.
pub fn bidirectional(snippet: Snippet<'_>) -> Vec<Diagnostic> {
    let found = snippet.text.char_indices().filter(|(_, c)| is_bidirectional(*c));
    let report = |(at, c): (usize, char)| {
        let span = snippet.place(at, at + c.len_utf8());
        Diagnostic::new("bad-character", format!("unexpected character {}", escaped(c)))
            .label(span, "changes the direction in which the text shows")
            .help("remove it")
    };
    found.map(report).collect()
}

/// A character as messages show it: one that does not show by itself as its number.
pub(crate) fn escaped(c: char) -> String {
    match c.escape_debug().count() {
        1 => format!("`{c}`"),
        _ => format!("U+{:04X}", u32::from(c)),
    }
}

/// A text with escapes for the characters that change the direction in which it shows.
pub(crate) fn without_directions(text: &str) -> String {
    let shown = text.chars().map(|c| match is_bidirectional(c) {
        true => c.escape_unicode().to_string(),
        false => c.to_string(),
    });
    shown.collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Span;

    #[test]
    fn what_does_not_show_is_a_number() {
        let shown = ['/', '\u{e9}', '\u{1b}', '\u{feff}', '\u{202e}', '\u{200b}'].map(escaped);
        assert_eq!(shown, ["`/`", "`\u{e9}`", "U+001B", "U+FEFF", "U+202E", "U+200B"]);
    }

    #[test]
    fn characters_that_change_the_direction_are_escaped() {
        assert_eq!(without_directions("a\u{202e}b \u{5d0}\u{1b}"), "a\\u{202e}b \u{5d0}\u{1b}");
    }

    #[test]
    fn characters_that_change_the_direction_are_found() {
        let snippet = Snippet::from("a\u{202e}b\u{2069} \u{5d0}");
        let problems = bidirectional(Snippet { first: Some(10), ..snippet });
        let spans: Vec<_> = problems.iter().map(|problem| problem.labels[0].span).collect();
        assert_eq!(spans, [Span::new(11, 14), Span::new(15, 18)]);
    }
}
