// SPDX-License-Identifier: Apache-2.0
//! Drawing diagnostics: the text they are about, what is wrong under it, and what to do.

use annotate_snippets::{AnnotationKind, Group, Level, Renderer, Snippet};
use kernpack_syntax::{Diagnostic, Diagnostics, Label, Severity, Text, TextId, Texts};
use std::ops::Range;

/// Draws diagnostics one below the other.
pub fn diagnostics(texts: &Texts, diagnostics: &Diagnostics, colours: bool) -> String {
    let drawn = diagnostics.0.iter().map(|each| diagnostic(texts, each, colours) + "\n");
    drawn.collect::<Vec<_>>().join("\n")
}

/// An error without a place: its first line as the title, any others as they are.
pub fn error(message: &str, colours: bool) -> String {
    let (title, rest) = message.split_once('\n').unwrap_or((message, ""));
    let title = renderer(colours).render(&[Group::with_title(Level::ERROR.primary_title(title))]);
    match rest {
        "" => format!("{title}\n"),
        rest => format!("{title}\n{rest}\n"),
    }
}

/// Draws a diagnostic.
pub fn diagnostic(texts: &Texts, diagnostic: &Diagnostic, colours: bool) -> String {
    let level = match diagnostic.severity {
        Severity::Note => Level::NOTE,
        Severity::Warning => Level::WARNING,
        Severity::Error => Level::ERROR,
    };
    let mut group = Group::with_title(level.primary_title(&diagnostic.message).id(diagnostic.code));
    for id in texts_of(diagnostic) {
        let text = texts.get(id);
        let labels = diagnostic.labels.iter().enumerate();
        let labels = labels.filter(|(_, label)| label.span.text == Some(id));
        let annotations = labels.map(|(number, label)| {
            let is_primary = number == 0;
            let kind = if is_primary { AnnotationKind::Primary } else { AnnotationKind::Context };
            let annotation = kind.span(range(text, label));
            if label.text.is_empty() { annotation } else { annotation.label(&label.text) }
        });
        let snippet =
            Snippet::source(&text.characters).path(&text.name).line_start(text.first_line as usize);
        group = group.element(snippet.annotations(annotations));
    }
    if let Some(help) = &diagnostic.help {
        group = group.element(Level::HELP.message(help));
    }
    let drawn = renderer(colours).render(&[group]);
    match &diagnostic.detail {
        Some(detail) => format!("{drawn}\n{detail}"),
        None => drawn,
    }
}

/// The texts that a diagnostic is about, that of the first label first.
fn texts_of(diagnostic: &Diagnostic) -> Vec<TextId> {
    let mut texts = Vec::new();
    for id in diagnostic.labels.iter().filter_map(|label| label.span.text) {
        if !texts.contains(&id) {
            texts.push(id);
        }
    }
    texts
}

/// The place of a label: whole characters. The end of a line is drawn as such, and not as the next
/// line.
fn range(text: &Text, label: &Label) -> Range<usize> {
    let start = text.boundary(label.span.start);
    let piece = &text.characters[start..text.boundary(label.span.end).max(start)];
    start..start + piece.trim_end_matches('\n').len()
}

fn renderer(colours: bool) -> Renderer {
    if colours { Renderer::styled() } else { Renderer::plain() }
}
