// SPDX-License-Identifier: Apache-2.0
//! Reading TOML tables key by key: every problem is reported where it stands, and nothing stops at
//! one.

use kernpack_syntax::{Diagnostic, Diagnostics, Placed, Snippet, Span, bidirectional};
use std::ops::Range;
use std::path::{Path, PathBuf};
use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// A value of the file and its place.
pub(super) type Value<'t> = Spanned<DeValue<'t>>;

/// A table that is read key by key. Keys that nobody took are unknown.
pub(super) struct Fields<'t> {
    table: &'t DeTable<'t>,
    /// The table, or its header.
    pub span: Span,
    what: &'static str,
    known: Vec<&'static str>,
    /// Unknown keys that belong elsewhere, and where.
    misplaced: Vec<(&'static str, String)>,
    /// Keys that are missed, each with the number of the problem that says so.
    missed: Vec<(&'static str, usize)>,
}

impl<'t> Fields<'t> {
    /// The keys of `what`.
    pub fn new(table: &'t DeTable<'t>, span: Span, what: &'static str) -> Fields<'t> {
        Fields { table, span, what, known: vec![], misplaced: vec![], missed: vec![] }
    }

    /// The value of a key.
    pub fn take(&mut self, key: &'static str) -> Option<&'t Value<'t>> {
        self.take_entry(key).map(|(_, value)| value)
    }

    /// The place of a key; the table's where there is none.
    pub fn place(&self, key: &str) -> Span {
        let found = self.table.keys().find(|known| known.get_ref() == key);
        found.map_or(self.span, |key| self.span_of(key.span()))
    }

    /// A key's place, and its value.
    pub fn take_entry(&mut self, key: &'static str) -> Option<(Span, &'t Value<'t>)> {
        if !self.known.contains(&key) {
            self.known.push(key);
        }
        let entry = self.table.iter().find(|(known, _)| known.get_ref() == key);
        entry.map(|(key, value)| (self.span_of(key.span()), value))
    }

    /// Whether a key is there.
    pub fn has(&self, key: &str) -> bool {
        self.table.keys().any(|known| known.get_ref() == key)
    }

    /// Every key with its place, and its value, in the order of the file.
    pub fn entries(&self) -> Vec<(&'t str, Span, &'t Value<'t>)> {
        let entry =
            |(key, value): (&'t Spanned<_>, _)| (key_text(key), self.span_of(key.span()), value);
        let mut entries: Vec<_> = self.table.iter().map(entry).collect();
        entries.sort_by_key(|(_, span, _)| span.start);
        entries
    }

    /// Whether there are keys that nobody took so far.
    pub fn has_unknown(&self) -> bool {
        self.table.keys().any(|key| !self.known.contains(&key_text(key)))
    }

    /// A range of the TOML parser.
    fn span_of(&self, range: Range<usize>) -> Span {
        Span { start: range.start, end: range.end, ..self.span }
    }

    /// Says where a key belongs that is unknown here.
    pub fn misplace(&mut self, key: &'static str, help: impl Into<String>) {
        self.misplaced.push((key, help.into()));
    }

    /// Says which problem is that a key is not there: none, if it turns out to be misspelt.
    pub fn miss(&mut self, key: &'static str, problem: usize) {
        self.missed.push((key, problem));
    }

    /// Reports the keys that nobody took.
    pub fn finish(self, reader: &mut Reader<'_>) {
        for (key, span, _) in self.entries() {
            if self.known.contains(&key) {
                continue;
            }
            let message = format!("{} has no key `{key}`", self.what);
            let problem = Diagnostic::new("unknown-key", message).label(span, "unknown key");
            let misplaced = self.misplaced.iter().find(|(known, _)| *known == key);
            let help = match (misplaced, closest(&self.known, key)) {
                (Some((_, help)), _) => help.clone(),
                (None, Some(meant)) => {
                    let missed = self.missed.iter().filter(|(missed, _)| *missed == meant);
                    missed.for_each(|(_, problem)| reader.withdraw(*problem));
                    format!("did you mean `{meant}`?")
                }
                (None, None) => format!("use one of {}", quoted(&self.known)),
            };
            reader.report(problem.help(help));
        }
    }
}

/// The known word that an unknown one looks like.
pub(super) fn closest(known: &[&'static str], word: &str) -> Option<&'static str> {
    let distance = |known: &&str| strsim::damerau_levenshtein(known, word);
    let nearest = known.iter().copied().min_by_key(distance)?;
    (distance(&nearest) <= nearest.len() / 3 + 1).then_some(nearest)
}

fn key_text<'t>(key: &'t Spanned<std::borrow::Cow<'t, str>>) -> &'t str {
    key.get_ref()
}

/// Words in backticks.
pub(super) fn quoted(words: &[&str]) -> String {
    words.iter().map(|word| format!("`{word}`")).collect::<Vec<_>>().join(", ")
}

/// A reader of fields, with the problems so far.
pub(super) struct Reader<'f> {
    file: Snippet<'f>,
    base: &'f Path,
    /// By number; a problem that was withdrawn has left its place.
    problems: Vec<Option<Diagnostic>>,
}

impl<'f> Reader<'f> {
    /// A reader of `file`, in which paths start at `base`.
    pub fn new(file: Snippet<'f>, base: &'f Path) -> Reader<'f> {
        Reader { file, base, problems: vec![] }
    }

    /// A range of the TOML parser.
    pub fn span_of(&self, range: Range<usize>) -> Span {
        self.file.place(range.start, range.end)
    }

    /// Notes a problem, on at least one character each. Its number serves to withdraw it.
    pub fn report(&mut self, mut problem: Diagnostic) -> usize {
        for label in &mut problem.labels {
            label.span = self.visible(label.span);
        }
        self.problems.push(Some(problem));
        self.problems.len() - 1
    }

    /// A place with something in it: where there is nothing, the character behind it, or in front
    /// of the end.
    fn visible(&self, span: Span) -> Span {
        if span.start < span.end {
            return span;
        }
        let Some((before, behind)) = self.file.text.split_at_checked(span.start) else {
            return span;
        };
        match (behind.chars().next(), before.chars().next_back()) {
            (Some(next), _) => Span { end: span.start + next.len_utf8(), ..span },
            (None, Some(last)) => Span { start: span.start - last.len_utf8(), ..span },
            (None, None) => span,
        }
    }

    /// Forgets a problem that follows from another one.
    pub fn withdraw(&mut self, number: usize) {
        self.problems[number] = None;
    }

    /// How many problems there are so far.
    pub fn n_problems(&self) -> usize {
        self.problems.iter().flatten().count()
    }

    /// The problems, in the order of the text.
    pub fn into_problems(self) -> Diagnostics {
        let mut problems = Diagnostics(self.problems.into_iter().flatten().collect());
        problems.sort();
        problems
    }

    /// The path that a string of the file means.
    pub fn path(&self, text: &Snippet<'_>) -> Placed<PathBuf> {
        Placed::new(self.base.join(text.text), text.span)
    }

    /// Reports that `what`, a value, is something else.
    pub fn wrong_type(&mut self, what: &str, value: &Value<'_>, expected: &str) {
        let message = format!("{what} is of type {}", value.get_ref().type_str());
        let label = format!("expected {expected}");
        self.report(
            Diagnostic::new("value-type", message).label(self.span_of(value.span()), label),
        );
    }

    /// A key that must be there.
    pub fn required<'t>(
        &mut self,
        fields: &mut Fields<'t>,
        key: &'static str,
        message: &str,
    ) -> Option<&'t Value<'t>> {
        let value = fields.take(key);
        if value.is_none() {
            self.missing(fields, key, message, None);
        }
        value
    }

    /// Reports that a key is not there; the number of the problem.
    pub fn missing(
        &mut self,
        fields: &mut Fields<'_>,
        key: &'static str,
        message: &str,
        help: Option<&str>,
    ) -> usize {
        let problem = Diagnostic::new("missing-key", message);
        let problem = problem.label(fields.span, format!("expected `{key}`"));
        let number = self.report(Diagnostic { help: help.map(str::to_string), ..problem });
        fields.miss(key, number);
        number
    }

    /// A table that must be there.
    pub fn required_table<'t>(
        &mut self,
        fields: &mut Fields<'t>,
        key: &'static str,
        message: &str,
    ) -> Option<Fields<'t>> {
        let value = self.required(fields, key, message)?;
        self.table(key, value, "the package", "a table")
    }

    /// A string that must be there.
    pub fn required_string<'t>(
        &mut self,
        fields: &mut Fields<'t>,
        key: &'static str,
        message: &str,
    ) -> Option<Snippet<'t>> {
        let value = self.required(fields, key, message)?;
        self.text(key, value)
    }

    /// A string that may be there.
    pub fn string<'t>(
        &mut self,
        fields: &mut Fields<'t>,
        key: &'static str,
    ) -> Option<Snippet<'t>> {
        let value = fields.take(key)?;
        self.text(key, value)
    }

    /// A list of strings that may be there.
    pub fn strings<'t>(&mut self, fields: &mut Fields<'t>, key: &'static str) -> Vec<Snippet<'t>> {
        match fields.take(key) {
            Some(value) => self.texts(key, value),
            None => vec![],
        }
    }

    /// A value that is a list of strings.
    pub fn texts<'t>(&mut self, key: &str, value: &'t Value<'t>) -> Vec<Snippet<'t>> {
        match value.get_ref() {
            DeValue::Array(items) => {
                let item = format!("an item of `{key}`");
                items.iter().filter_map(|value| self.text_of(&item, value)).collect()
            }
            _ => {
                self.wrong_type(&format!("`{key}`"), value, "an array of strings");
                vec![]
            }
        }
    }

    /// A value that is a table.
    pub fn table<'t>(
        &mut self,
        key: &str,
        value: &'t Value<'t>,
        what: &'static str,
        expected: &str,
    ) -> Option<Fields<'t>> {
        match value.get_ref() {
            DeValue::Table(table) => Some(Fields::new(table, self.span_of(value.span()), what)),
            _ => {
                self.wrong_type(&format!("`{key}`"), value, expected);
                None
            }
        }
    }

    /// The value of a key that is a string.
    pub fn text<'t>(&mut self, key: &str, value: &'t Value<'t>) -> Option<Snippet<'t>> {
        self.text_of(&format!("`{key}`"), value)
    }

    /// The value of a key that is `true` or `false`.
    pub fn truth(&mut self, key: &str, value: &Value<'_>) -> Option<bool> {
        match value.get_ref() {
            DeValue::Boolean(truth) => Some(*truth),
            _ => {
                self.wrong_type(&format!("`{key}`"), value, "`true` or `false`");
                None
            }
        }
    }

    fn text_of<'t>(&mut self, what: &str, value: &'t Value<'t>) -> Option<Snippet<'t>> {
        let DeValue::String(string) = value.get_ref() else {
            self.wrong_type(what, value, "a string");
            return None;
        };
        let span = self.span_of(value.span());
        // Where the file spells the string differently, as with escapes, its characters cannot be
        // found.
        let spelled = self.file.text.get(value.span()).unwrap_or_default();
        let first = spelled.find(&**string).filter(|_| !string.is_empty());
        let first = first.map(|offset| span.start + offset);
        let snippet = Snippet { text: string, span, first };
        match bidirectional(snippet).into_iter().next() {
            // Escapes spell it: the file itself has no such character.
            Some(problem) => {
                self.report(problem);
                None
            }
            None => Some(snippet),
        }
    }

    /// The result of parsing a string.
    pub fn parse<'t, T>(
        &mut self,
        text: Snippet<'t>,
        parse: impl FnOnce(Snippet<'t>) -> Result<T, Diagnostics>,
    ) -> Option<T> {
        let problems = match parse(text) {
            Ok(value) => return Some(value),
            Err(problems) => problems,
        };
        problems.0.into_iter().for_each(|problem| _ = self.report(problem));
        None
    }

    /// Reports a name that is no C identifier.
    pub fn check_identifier(&mut self, what: &str, name: &str, place: Span) {
        if !is_identifier(name) {
            self.report(no_identifier(what, name, place));
        }
    }
}

/// That `what` is called something that is no C identifier.
pub(super) fn no_identifier(what: &str, name: &str, place: Span) -> Diagnostic {
    let message = format!("{what}, `{name}`, is no C identifier");
    let label = "expected letters, digits and `_`, no digit in front";
    Diagnostic::new("bad-name", message).label(place, label)
}

/// Whether a text is a C identifier.
pub(super) fn is_identifier(text: &str) -> bool {
    let starts_well = text.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
    starts_well && text.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
}
