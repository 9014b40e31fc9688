// SPDX-License-Identifier: Apache-2.0
//! The lines of a C or C++ text that name other files: `#include`, and conditions and definitions
//! in which names of files stand.
//!
//! Lines are joined, comments skipped and digraphs known as in the language. Everything else is
//! taken more widely than a compiler does: a line counts that stands under an `#if`, in a comment
//! or in a raw string, as what is looked for in vain does no harm, and what is overlooked does.

use std::borrow::Cow;
use std::ops::Range;

/// The use of a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Use {
    /// `#include`
    Include,
    /// `#include_next`
    IncludeNext,
    /// `#include` of what a macro spells: the name is empty.
    IncludeMacro,
    /// `__has_include(…)`
    Has,
    /// `__has_include_next(…)`
    HasNext,
    /// Either of these of what a macro spells: the name is empty.
    HasMacro,
    /// Something else in a condition or a definition: a macro may spell the name where it counts.
    Mention,
}

/// A name of a file in a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Named {
    pub usage: Use,
    /// The name, any bytes.
    pub name: Vec<u8>,
    /// Whether it is `"name"`, not `<name>`.
    pub is_quoted: bool,
    /// Where it stands in the text, with what is around it. Of `#include_next` the word belongs to
    /// it.
    pub place: Range<usize>,
}

/// Every name of a file in a text, in order.
pub(crate) fn names(text: &[u8]) -> Vec<Named> {
    let (joined, removed) = join_lines(text);
    let mut reader = Reader { text: &joined, names: Vec::new() };
    let mut start = Some(0);
    while let Some(at) = start {
        let looked_at = reader.directive(at);
        start = reader.next_start(looked_at);
    }
    let mut names = reader.names;
    for named in &mut names {
        let place = &mut named.place;
        *place = place_before(place.start, &removed)..place_before(place.end - 1, &removed) + 1;
    }
    names
}

/// The names in a definition that is given as an option.
pub(crate) fn names_in_value(value: &[u8]) -> Vec<Named> {
    let mut reader = Reader { text: value, names: Vec::new() };
    reader.rest_of_line(0);
    reader.names
}

/// The text in which a line goes on behind a `\` at its end, and how many bytes are gone before
/// each place where some are.
fn join_lines(text: &[u8]) -> (Cow<'_, [u8]>, Vec<(usize, usize)>) {
    let mut removed = Vec::new();
    let mut joined: Vec<u8> = Vec::new();
    let mut kept = 0;
    for at in (0..text.len()).filter(|at| text[*at] == b'\\') {
        let blank = |byte: &&u8| matches!(byte, b' ' | b'\t' | b'\r');
        let n_blank = text[at + 1..].iter().take_while(blank).count();
        if text.get(at + 1 + n_blank) == Some(&b'\n') {
            joined.extend_from_slice(&text[kept..at]);
            kept = at + n_blank + 2;
            removed.push((joined.len(), kept - joined.len()));
        }
    }
    if removed.is_empty() {
        return (Cow::Borrowed(text), removed);
    }
    joined.extend_from_slice(&text[kept..]);
    (Cow::Owned(joined), removed)
}

/// Where a byte of the joined text is in the text.
fn place_before(at: usize, removed: &[(usize, usize)]) -> usize {
    let n_before = removed.partition_point(|(place, _)| *place <= at);
    at + n_before.checked_sub(1).map_or(0, |last| removed[last].1)
}

struct Reader<'t> {
    text: &'t [u8],
    names: Vec<Named>,
}

impl Reader<'_> {
    /// Reads the directive that begins here, if one does. Returns how far the text was looked at.
    fn directive(&mut self, at: usize) -> usize {
        let at = self.skip_blank(at);
        let Some(mark) = [&b"#"[..], b"%:"].into_iter().find(|mark| self.has(at, mark)) else {
            return at;
        };
        let word_at = self.skip_blank(at + mark.len());
        let is_word = |byte: &&u8| byte.is_ascii_alphanumeric() || **byte == b'_';
        let n_bytes = self.text[word_at..].iter().take_while(is_word).count();
        let end = word_at + n_bytes;
        match &self.text[word_at..end] {
            b"include" | b"import" | b"embed" => self.include(Use::Include, end..end),
            b"include_next" => self.include(Use::IncludeNext, word_at..end),
            b"define" => self.rest_of_line(end),
            b"if" | b"elif" => self.condition(end),
            _ => end,
        }
    }

    fn include(&mut self, usage: Use, word: Range<usize>) -> usize {
        let at = self.skip_blank(word.end);
        let Some(mut named) = self.name(at, usage) else {
            self.spelled_by_macro(Use::IncludeMacro, at);
            return at;
        };
        let end = named.place.end;
        if usage == Use::IncludeNext {
            named.place.start = word.start;
        }
        self.names.push(named);
        end
    }

    /// Reads the names in a condition. What is named without being asked for, a macro asks for.
    fn condition(&mut self, start: usize) -> usize {
        let n_before = self.names.len();
        let end = self.rest_of_line(start);
        if self.names[n_before..].iter().any(|named| named.usage == Use::Mention) {
            self.spelled_by_macro(Use::HasMacro, start);
        }
        end
    }

    /// Notes that a macro spells the name that stands here.
    fn spelled_by_macro(&mut self, usage: Use, at: usize) {
        self.names.push(Named { usage, name: vec![], is_quoted: false, place: at..at + 1 });
    }

    /// Reads the names in the rest of a line.
    fn rest_of_line(&mut self, start: usize) -> usize {
        let mut at = start;
        // What the name stands in that comes next.
        let mut usage = Use::Mention;
        loop {
            at = self.skip_blank(at);
            match self.text.get(at) {
                None | Some(b'\n') => return at,
                Some(b'"' | b'<') => match self.name(at, usage) {
                    Some(named) => {
                        at = named.place.end;
                        if usage != Use::Mention || may_be_file(&named.name) {
                            self.names.push(named);
                        }
                        usage = Use::Mention;
                    }
                    None => at += 1,
                },
                Some(b'(') => at += 1,
                Some(byte) if byte.is_ascii_alphabetic() || *byte == b'_' => {
                    let is_word = |byte: &&u8| byte.is_ascii_alphanumeric() || **byte == b'_';
                    let n_bytes = self.text[at..].iter().take_while(is_word).count();
                    usage = match &self.text[at..at + n_bytes] {
                        b"__has_include" | b"__has_embed" => Use::Has,
                        b"__has_include_next" => Use::HasNext,
                        _ => {
                            if usage != Use::Mention {
                                self.spelled_by_macro(Use::HasMacro, at);
                            }
                            Use::Mention
                        }
                    };
                    at += n_bytes;
                }
                Some(_) => (at, usage) = (at + 1, Use::Mention),
            }
        }
    }

    /// The name that begins here, within its line.
    fn name(&self, at: usize, usage: Use) -> Option<Named> {
        let (is_quoted, end) = match self.text.get(at)? {
            b'"' => (true, b'"'),
            b'<' => (false, b'>'),
            _ => return None,
        };
        let rest = &self.text[at + 1..];
        let length = rest.iter().position(|byte| *byte == end || *byte == b'\n')?;
        let name = (rest[length] == end).then(|| rest[..length].to_vec())?;
        Some(Named { usage, name, is_quoted, place: at..at + length + 2 })
    }

    /// Skips blanks and comments, which may go on over lines, but no end of a line.
    fn skip_blank(&self, mut at: usize) -> usize {
        loop {
            match self.text.get(at) {
                Some(b' ' | b'\t' | b'\r' | 0x0b | 0x0c) => at += 1,
                Some(b'/') if self.has(at, b"/*") => {
                    let rest = &self.text[at + 2..];
                    let length = rest.windows(2).position(|pair| pair == b"*/");
                    at = length.map_or(self.text.len(), |length| at + length + 4);
                }
                Some(b'/') if self.has(at, b"//") => {
                    let length = self.text[at..].iter().position(|byte| *byte == b'\n');
                    return length.map_or(self.text.len(), |length| at + length);
                }
                _ => return at,
            }
        }
    }

    /// Where a directive may begin next: at a line, or behind a comment that began earlier.
    fn next_start(&self, at: usize) -> Option<usize> {
        let rest = self.text.get(at..)?;
        let ends = |at: &usize| {
            rest[*at] == b'\n' || (*at > 0 && rest[*at - 1] == b'*' && rest[*at] == b'/')
        };
        (0..rest.len()).find(ends).map(|length| at + length + 1)
    }

    fn has(&self, at: usize, bytes: &[u8]) -> bool {
        self.text.get(at..).is_some_and(|rest| rest.starts_with(bytes))
    }
}

/// Whether a text in quotes or angle brackets is such as files are called.
fn may_be_file(name: &[u8]) -> bool {
    let is_common =
        |byte: &u8| byte.is_ascii_alphanumeric() || b"._-+/@".contains(byte) || *byte > 127;
    !name.is_empty() && name.iter().all(is_common)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The names in a text, as `Usage name` with their places.
    fn expect(text: &str, expected: &[&str]) {
        let found = names(text.as_bytes());
        let shown = found.iter().map(|named| {
            let name = String::from_utf8_lossy(&named.name);
            let around = if named.is_quoted { ['"', '"'] } else { ['<', '>'] };
            format!("{:?} {}{name}{}", named.usage, around[0], around[1])
        });
        assert_eq!(shown.collect::<Vec<_>>(), expected, "{text}");
    }

    #[test]
    fn every_spelling_of_an_include_is_one() {
        let quoted = ["Include \"a/b.h\""];
        for text in [
            "#include \"a/b.h\" // why \"so\"",
            "  #  include\"a/b.h\"\n",
            "%:include \"a/b.h\"\r\n",
            "/* one */ # /* two */ include /* three */ \"a/b.h\"",
            "int x; /* begun\n before */ #include \"a/b.h\"",
            "/* a\n b */\t#\tinclude /* c\n d */ \"a/b.h\"\n",
            "#inc\\\nlude \"a/\\\nb.h\"\n",
            "#include \\\n \"a/b.h\"\n",
            "\\\n#include \"a/b.h\"",
            "int x;\n#import \"a/b.h\"",
            "#if 0\n#include \"a/b.h\"\n#endif",
        ] {
            expect(text, &quoted);
        }
        expect("#include <b.h>\n#include_next <c.h>", &["Include <b.h>", "IncludeNext <c.h>"]);
        expect("#include NAME\n", &["IncludeMacro <>"]);
        for text in ["include \"a.h\"", "#includes <a.h>", "x #include <a.h>", "// #include <a.h>"]
        {
            expect(text, &[]);
        }
    }

    #[test]
    fn conditions_and_definitions_name_files() {
        expect("#if defined X && __has_include(<a.h>)", &["Has <a.h>"]);
        expect("#elif __has_include ( \"a b.h\" ) || 1 < 2", &["Has \"a b.h\""]);
        expect("#if __has_include_next(<a.h>)", &["HasNext <a.h>"]);
        expect("#if X && __has_include( NAME ) && Y", &["HasMacro <>"]);
        expect("#if defined(__has_include) && defined(X)", &[]);
        expect("#if HAS(<a.h>)", &["Mention <a.h>", "HasMacro <>"]);
        expect(
            "#define HEADER <a.h>\n#define OTHER \"b.h\"",
            &["Mention <a.h>", "Mention \"b.h\""],
        );
        expect("#define F(x) printf(\"%d\\n\", x)\n#if a < b && c > d\n", &[]);
        expect("#define F \\\n  \"a.h\"\n#pragma \"b.h\"", &["Mention \"a.h\""]);
    }

    #[test]
    fn names_have_their_places_and_may_be_any_bytes() {
        let text = b"#if 1\\\n\n# include \\\n<\xe9\\\n.h> // \xe9\n#include_next <b>\n";
        let found = names(text);
        assert_eq!(
            (&found[0].name[..], &text[found[0].place.clone()]),
            (&b"\xe9.h"[..], &b"<\xe9\\\n.h>"[..])
        );
        assert_eq!(&text[found[1].place.clone()], b"include_next <b>");
    }

    #[test]
    fn long_texts_of_comments_take_no_longer() {
        let text = [&b"/**/".repeat(50_000)[..], b"/*\n".repeat(50_000).as_slice()].concat();
        let start = std::time::Instant::now();
        assert!(names(&text).is_empty());
        assert!(start.elapsed().as_secs() < 5);
    }
}
