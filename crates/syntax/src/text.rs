// SPDX-License-Identifier: Apache-2.0
//! Texts, and places in them. A [`Span`] says which of the [`Texts`] it is of, so that a signature
//! in a package file, that file and a kernel file can meet in one message. Whoever reads files owns
//! the table.
//!
//! Parsers take a [`Snippet`]: a whole text, or a string in one. Its spans are places in the
//! text from the beginning, so that nobody has to move them later.

use crate::Diagnostic;

/// A text of a table, by number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TextId(u32);

/// A range of bytes in a text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Span {
    /// The text; nothing where it is of no table, or where there is none, as of what was not
    /// written but built.
    pub text: Option<TextId>,
    /// The first byte.
    pub start: usize,
    /// One past the last byte.
    pub end: usize,
}

impl Span {
    /// The bytes from `start` up to `end` of a text of no table.
    pub const fn new(start: usize, end: usize) -> Span {
        Span { text: None, start, end }
    }

    /// The smallest span that holds both, which are of one text.
    pub fn to(self, other: Span) -> Span {
        debug_assert_eq!(self.text, other.text, "a span is of one text");
        let (start, end) = (self.start.min(other.start), self.end.max(other.end));
        Span { text: self.text, start, end }
    }

    /// Whether they have a byte in common.
    pub fn overlaps(self, other: Span) -> bool {
        self.text == other.text && self.start < other.end && other.start < self.end
    }

    /// This one where it is of a text of a table, else the other.
    pub fn or(self, other: Span) -> Span {
        if self.text.is_some() { self } else { other }
    }
}

/// A text with its name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Text {
    /// A file's name, or what the text is.
    pub name: String,
    /// The characters.
    pub characters: String,
    /// The line of the file in which they begin, counted from 1: a text may be a part of one.
    pub first_line: u32,
}

/// The texts that spans are of.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Texts(Vec<Text>);

impl Texts {
    /// Adds a text.
    pub fn add(&mut self, name: impl Into<String>, characters: impl Into<String>) -> TextId {
        self.add_part(name, characters, 1)
    }

    /// Adds a part of a file, which begins in the line `first_line`, counted from 1.
    pub fn add_part(
        &mut self,
        name: impl Into<String>,
        characters: impl Into<String>,
        first_line: u32,
    ) -> TextId {
        let (name, characters) = (name.into(), characters.into());
        self.0.push(Text { name, characters, first_line });
        TextId(self.0.len() as u32 - 1)
    }

    /// Adds what should be a text. Where it is none, it is added all the same, with U+FFFD for what
    /// is no UTF-8.
    ///
    /// # Errors
    /// The first place that is no UTF-8.
    pub fn add_bytes(
        &mut self,
        name: impl Into<String>,
        bytes: Vec<u8>,
    ) -> Result<TextId, Diagnostic> {
        let error = match String::from_utf8(bytes) {
            Ok(characters) => return Ok(self.add(name, characters)),
            Err(error) => error,
        };
        let (bytes, at) = (error.as_bytes(), error.utf8_error().valid_up_to());
        let byte = bytes[at];
        let id = self.add(name, String::from_utf8_lossy(bytes));
        let end = at + char::REPLACEMENT_CHARACTER.len_utf8();
        let label = format!("byte {at} is 0x{byte:02x}");
        Err(Diagnostic::new("encoding", "the text is not UTF-8")
            .label(Span { text: Some(id), start: at, end }, label)
            .help("save the file as UTF-8"))
    }

    /// A text of this table.
    pub fn get(&self, id: TextId) -> &Text {
        &self.0[id.0 as usize]
    }

    /// The text that was added first.
    pub fn first(&self) -> Option<TextId> {
        (!self.0.is_empty()).then_some(TextId(0))
    }

    /// The text of that name, if there is one.
    pub fn find(&self, name: &str) -> Option<TextId> {
        let place = self.0.iter().position(|text| text.name == name)?;
        Some(TextId(place as u32))
    }

    /// The whole of a text of this table.
    pub fn snippet(&self, id: TextId) -> Snippet<'_> {
        let text = &self.get(id).characters[..];
        let span = Span { text: Some(id), start: 0, end: text.len() };
        Snippet { text, span, first: Some(0) }
    }
}

impl Text {
    /// The line of the file and the column of a byte, both from 1; columns count characters.
    pub fn position(&self, byte: usize) -> (usize, usize) {
        let before = &self.characters[..self.boundary(byte)];
        let line_start = before.rfind('\n').map_or(0, |newline| newline + 1);
        let line = before.matches('\n').count() + self.first_line as usize;
        (line, before[line_start..].chars().count() + 1)
    }

    /// The start of the character that holds a byte; the end of the text where that is further.
    pub fn boundary(&self, byte: usize) -> usize {
        let within = byte.min(self.characters.len());
        (0..=within).rev().find(|at| self.characters.is_char_boundary(*at)).unwrap_or(0)
    }
}

/// A whole text, or a string in one, for a parser.
#[derive(Clone, Copy, Debug)]
pub struct Snippet<'t> {
    /// Its characters.
    pub text: &'t str,
    /// Where it stands: the string with its quotes.
    pub span: Span,
    /// The place of its first character; nothing where the text spells the characters otherwise, as
    /// with escapes.
    pub first: Option<usize>,
}

impl<'t> Snippet<'t> {
    /// The bytes from `start` up to `end` of its characters.
    pub fn piece(&self, start: usize, end: usize) -> Snippet<'t> {
        let first = self.first.map(|first| first + start);
        Snippet { text: &self.text[start..end], span: self.place(start, end), first }
    }

    /// Where the bytes from `start` up to `end` of its characters stand: the whole of it where they
    /// are spelled otherwise.
    pub fn place(&self, start: usize, end: usize) -> Span {
        match self.first {
            Some(first) => Span { start: first + start, end: first + end, ..self.span },
            None => self.span,
        }
    }
}

/// A text of no table.
impl<'t, T: AsRef<str> + ?Sized> From<&'t T> for Snippet<'t> {
    fn from(text: &'t T) -> Snippet<'t> {
        let text = text.as_ref();
        Snippet { text, span: Span::new(0, text.len()), first: Some(0) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn positions_count_lines_and_characters() {
        let (name, characters) = ("a".to_string(), "ab\n\u{e9}c\n".to_string());
        let text = Text { name, characters, first_line: 1 };
        let positions: Vec<_> = (0..=9).map(|byte| text.position(byte)).collect();
        let line = |line: usize, columns: [usize; 3]| columns.map(|column| (line, column));
        let expected = [line(1, [1, 2, 3]), line(2, [1, 1, 2])].concat();
        assert_eq!(positions[..6], expected);
        assert_eq!(positions[6..], [(2, 3), (3, 1), (3, 1), (3, 1)]);
        let part = Text { first_line: 12, ..text };
        assert_eq!([0, 3].map(|byte| part.position(byte)), [(12, 1), (13, 1)]);
    }

    #[test]
    fn bytes_are_a_text_or_say_where_they_are_none() {
        let mut texts = Texts::default();
        let id = texts.add_bytes("a", "\u{e9} = 1".into()).unwrap();
        assert_eq!(texts.get(id).characters, "\u{e9} = 1");
        let problem = texts.add_bytes("b", b"ab\xe9 = 1 # \xff".to_vec()).unwrap_err();
        let id = texts.find("b").unwrap();
        assert_eq!(texts.get(id).characters, "ab\u{fffd} = 1 # \u{fffd}");
        let label = &problem.labels[0];
        assert_eq!(label.span, Span { text: Some(id), start: 2, end: 5 });
        assert_eq!((problem.code, &label.text[..]), ("encoding", "byte 2 is 0xe9"));
    }

    #[test]
    fn pieces_stand_where_the_string_does() {
        let mut texts = Texts::default();
        texts.add("other", "x");
        let id = texts.add("file", "a = 'n + 1'");
        let span = Span { text: Some(id), start: 4, end: 11 };
        let snippet = Snippet { text: "n + 1", span, first: Some(5) };
        assert_eq!(snippet.place(4, 5), Span { text: Some(id), start: 9, end: 10 });
        assert_eq!(Snippet { first: None, ..snippet }.place(4, 5), span);
        assert_eq!(texts.snippet(id).span, Span { text: Some(id), start: 0, end: 11 });
        assert_eq!((texts.find("file"), texts.find("none")), (Some(id), None));
        assert_eq!(Snippet::from("n").place(0, 1), Span::new(0, 1));
    }
}
