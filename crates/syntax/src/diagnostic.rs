// SPDX-License-Identifier: Apache-2.0
//! A diagnostic is data: what is wrong, where, and what to do. Whoever shows it to a person draws
//! it.

use crate::character::without_directions;
use crate::{Span, Texts};
use std::fmt;

/// A remark on a piece of the text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Label {
    /// The piece.
    pub span: Span,
    /// The remark.
    pub text: String,
}

/// How bad it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Severity {
    /// Nothing is wrong: it was asked for.
    Note,
    /// It may be as it should.
    Warning,
    /// Nothing can be made of it.
    Error,
}

impl fmt::Display for Severity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Severity::Note => "note",
            Severity::Warning => "warning",
            Severity::Error => "error",
        })
    }
}

/// Something wrong with what the user wrote.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnostic {
    /// A stable kebab-case name to search for.
    pub code: &'static str,
    /// How bad it is.
    pub severity: Severity,
    /// The mistake, in one line without a final period.
    pub message: String,
    /// Where; the first label is the primary one.
    pub labels: Vec<Label>,
    /// Advice, as an imperative.
    pub help: Option<String>,
    /// Another program's words about it, of any number of lines.
    pub detail: Option<String>,
}

impl Diagnostic {
    /// An error without labels.
    pub fn new(code: &'static str, message: impl Into<String>) -> Diagnostic {
        let (severity, message) = (Severity::Error, message.into());
        Diagnostic { code, severity, message, labels: Vec::new(), help: None, detail: None }
    }

    /// A warning without labels.
    pub fn warning(code: &'static str, message: impl Into<String>) -> Diagnostic {
        Diagnostic { severity: Severity::Warning, ..Diagnostic::new(code, message) }
    }

    /// A note without labels.
    pub fn note(code: &'static str, message: impl Into<String>) -> Diagnostic {
        Diagnostic { severity: Severity::Note, ..Diagnostic::new(code, message) }
    }

    /// Adds a label.
    pub fn label(mut self, span: Span, text: impl Into<String>) -> Diagnostic {
        self.labels.push(Label { span, text: text.into() });
        self
    }

    /// Adds a label in a text of a table: what was not written has no place.
    pub fn mark(self, span: Span, text: impl Into<String>) -> Diagnostic {
        if span.text.is_some() { self.label(span, text) } else { self }
    }

    /// Says where it is, in a text of a table, unless a label does already.
    pub fn at(self, span: Span) -> Diagnostic {
        if self.labels.is_empty() { self.mark(span, "") } else { self }
    }

    /// Whether a label is in a text of a table, and so shows what it is about.
    pub fn has_place(&self) -> bool {
        self.labels.iter().any(|label| label.span.text.is_some())
    }

    /// Sets the help.
    pub fn help(mut self, text: impl Into<String>) -> Diagnostic {
        self.help = Some(text.into());
        self
    }

    /// Sets what another program says, if that is anything.
    pub fn detail(mut self, words: impl Into<String>) -> Diagnostic {
        self.detail = Some(words.into()).filter(|words| !words.is_empty());
        self
    }
}

impl Diagnostic {
    fn in_texts(&self, texts: &Texts) -> String {
        let mut lines = vec![format!("{}[{}]: {}", self.severity, self.code, self.message)];
        lines.extend(self.labels.iter().filter_map(|label| {
            let id = label.span.text?;
            let text = texts.get(id);
            let file = match texts.first() == Some(id) {
                true => String::new(),
                false => format!("{}:", text.name),
            };
            let (line, column) = text.position(label.span.start);
            let piece = text.characters.get(label.span.start..label.span.end).unwrap_or_default();
            let piece = without_directions(piece.lines().next().unwrap_or_default());
            let place = format!("  {file}{line}:{column} `{piece}` {}", label.text);
            Some(place.trim_end().to_string())
        }));
        let detail = self.detail.iter().flat_map(|detail| detail.lines());
        lines.extend(detail.map(|line| format!("  {line}")));
        lines.extend(self.help.iter().map(|help| format!("  help: {help}")));
        lines.join("\n")
    }
}

impl fmt::Display for Diagnostic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}[{}]: {}", self.severity, self.code, self.message)?;
        for label in &self.labels {
            write!(f, "\n  at {}..{}: {}", label.span.start, label.span.end, label.text)?;
        }
        if let Some(help) = &self.help {
            write!(f, "\n  help: {help}")?;
        }
        match &self.detail {
            Some(detail) => write!(f, "\n{detail}"),
            None => Ok(()),
        }
    }
}

/// Every diagnostic: the error of a function that parses or checks. Never empty when it is one.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Diagnostics(pub Vec<Diagnostic>);

impl Diagnostics {
    /// `Ok` where there is nothing to report.
    pub fn into_result(self) -> Result<(), Diagnostics> {
        if self.0.is_empty() { Ok(()) } else { Err(self) }
    }

    /// Adds one.
    pub fn push(&mut self, diagnostic: Diagnostic) {
        self.0.push(diagnostic);
    }

    /// Adds those that it has not: what is wrong in several cases alike is told once.
    pub fn extend_new(&mut self, others: impl IntoIterator<Item = Diagnostic>) {
        for other in others {
            if !self.0.contains(&other) {
                self.0.push(other);
            }
        }
    }

    /// Adds others.
    pub fn extend(&mut self, others: impl IntoIterator<Item = Diagnostic>) {
        self.0.extend(others);
    }

    /// Whether one is an error.
    pub fn has_errors(&self) -> bool {
        self.0.iter().any(|diagnostic| diagnostic.severity == Severity::Error)
    }

    /// As text in which each place is its line and column, and the piece of the text that stands
    /// there, as far as that line goes. A place that is not in the first text of the table has the
    /// name of its text in front. What is of no text has no place.
    ///
    /// ```text
    /// error[type]: `+` of int32 and uint32
    ///   3:5 `n + u` the sum
    ///   help: convert one of them
    /// ```
    pub fn in_texts(&self, texts: &Texts) -> String {
        let shown: Vec<_> = self.0.iter().map(|diagnostic| diagnostic.in_texts(texts)).collect();
        shown.join("\n")
    }

    /// Brings them into the order of what they are about: first those without a place, then text by
    /// text, from the beginning to the end.
    pub fn sort(&mut self) {
        let place = |diagnostic: &Diagnostic| {
            diagnostic.labels.first().map(|Label { span, .. }| (span.text, span.start))
        };
        self.0.sort_by_key(place);
    }
}

impl IntoIterator for Diagnostics {
    type Item = Diagnostic;
    type IntoIter = std::vec::IntoIter<Diagnostic>;
    fn into_iter(self) -> Self::IntoIter {
        self.0.into_iter()
    }
}

impl From<Diagnostic> for Diagnostics {
    fn from(diagnostic: Diagnostic) -> Diagnostics {
        Diagnostics(vec![diagnostic])
    }
}

impl fmt::Display for Diagnostics {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, diagnostic) in self.0.iter().enumerate() {
            write!(f, "{}{diagnostic}", if i > 0 { "\n" } else { "" })?;
        }
        Ok(())
    }
}

impl std::error::Error for Diagnostics {}
