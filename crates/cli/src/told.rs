// SPDX-License-Identifier: Apache-2.0
//! What is told of a text and what it names: errors and warnings, with the texts that show where
//! they are. For people they are drawn, for programs they are JSON.

use crate::Failure;
use crate::render;
use kernpack_compiler::CompileError;
use kernpack_syntax::{Diagnostic, Diagnostics, Label, Texts};
use serde_json::{Value, json};

/// Diagnostics, and what they are about.
#[derive(Debug, Default)]
pub struct Told {
    /// What messages call the text that the user named.
    pub name: String,
    /// The texts.
    pub texts: Texts,
    /// What is told so far.
    pub diagnostics: Diagnostics,
}

impl Told {
    /// Nothing so far.
    pub fn of(name: impl Into<String>, texts: Texts) -> Told {
        Told { name: name.into(), texts, diagnostics: Diagnostics::default() }
    }

    /// More of it.
    pub fn and(mut self, more: impl IntoIterator<Item = Diagnostic>) -> Told {
        self.diagnostics.extend(more);
        self
    }

    /// Why there is no package, with all that is told besides.
    pub fn failure(self, error: CompileError) -> Failure {
        match error {
            CompileError::Problems(problems) => {
                let mut told = self.and(problems);
                told.diagnostics.sort();
                Failure::Diagnostics(told)
            }
            error => error.into(),
        }
    }

    /// For people: nothing where nothing is told.
    pub fn text(&self, colours: bool) -> String {
        render::diagnostics(&self.texts, &self.diagnostics, colours)
    }

    /// For programs: a list.
    pub fn json(&self) -> Value {
        let diagnostics = self.diagnostics.0.iter();
        diagnostics.map(|diagnostic| diagnostic_json(&self.texts, diagnostic)).collect()
    }
}

fn diagnostic_json(texts: &Texts, diagnostic: &Diagnostic) -> Value {
    let Diagnostic { code, severity, message, labels, help, detail } = diagnostic;
    let labels: Vec<_> = labels.iter().filter_map(|label| label_json(texts, label)).collect();
    let severity = severity.to_string();
    json!({
        "code": code, "severity": severity, "message": message, "labels": labels, "help": help,
        "detail": detail,
    })
}

fn label_json(texts: &Texts, Label { span, text }: &Label) -> Option<Value> {
    let of = texts.get(span.text?);
    let (line, column) = of.position(span.start);
    Some(json!({
        "file": of.name, "start": span.start, "end": span.end, "line": line, "column": column,
        "text": text,
    }))
}
