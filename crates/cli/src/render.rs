// SPDX-License-Identifier: Apache-2.0
//! Drawing diagnostics: the text they are about, what is wrong under it, and what to do.

use annotate_snippets::{AnnotationKind, Group, Level, Renderer, Snippet};
use kernpack_syntax::{Diagnostic, Diagnostics, Label};
use std::ops::Range;

/// A text that diagnostics are about.
#[derive(Clone, Debug)]
pub struct Source {
    /// A file's name, or what the text is.
    pub name: String,
    /// The text.
    pub text: String,
}

impl Source {
    /// The line and column of a byte, both from 1; columns count characters.
    pub fn position(&self, byte: usize) -> (usize, usize) {
        let before = &self.text[..self.boundary(byte)];
        let line_start = before.rfind('\n').map_or(0, |newline| newline + 1);
        (before.matches('\n').count() + 1, before[line_start..].chars().count() + 1)
    }

    /// The start of the character that holds a byte.
    fn boundary(&self, byte: usize) -> usize {
        let within = byte.min(self.text.len());
        (0..=within).rev().find(|at| self.text.is_char_boundary(*at)).unwrap_or(0)
    }

    fn range(&self, label: &Label) -> Range<usize> {
        let start = self.boundary(label.span.start);
        start..self.boundary(label.span.end).max(start)
    }
}

/// Draws diagnostics one below the other.
pub fn diagnostics(source: &Source, diagnostics: &Diagnostics, colours: bool) -> String {
    let drawn = diagnostics.0.iter().map(|diagnostic| draw(source, diagnostic, colours));
    let mut text = drawn.collect::<Vec<_>>().join("\n\n");
    text.push('\n');
    text
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

/// A line below an error.
pub fn note(message: &str, colours: bool) -> String {
    let title = Level::NOTE.primary_title(message);
    renderer(colours).render(&[Group::with_title(title)]) + "\n"
}

fn draw(source: &Source, diagnostic: &Diagnostic, colours: bool) -> String {
    let title = Level::ERROR.primary_title(&diagnostic.message).id(diagnostic.code);
    let mut group = Group::with_title(title);
    if !diagnostic.labels.is_empty() {
        let kinds = [AnnotationKind::Primary].into_iter();
        let kinds = kinds.chain(std::iter::repeat(AnnotationKind::Context));
        let annotations = diagnostic.labels.iter().zip(kinds).map(|(label, kind)| {
            let annotation = kind.span(source.range(label));
            if label.text.is_empty() { annotation } else { annotation.label(&label.text) }
        });
        let snippet = Snippet::source(&source.text).path(&source.name);
        group = group.element(snippet.annotations(annotations));
    }
    if let Some(help) = &diagnostic.help {
        group = group.element(Level::HELP.message(help));
    }
    renderer(colours).render(&[group])
}

fn renderer(colours: bool) -> Renderer {
    if colours { Renderer::styled() } else { Renderer::plain() }
}
