// SPDX-License-Identifier: Apache-2.0
//! Errors and warnings about a text, in two forms: drawn for people, JSON for programs.

use crate::draw;
use kernpack_syntax::{Diagnostic, Label, Texts, Told};
use serde_json::{Value, json};

/// For people: nothing where nothing is told.
pub fn text(told: &Told, colours: bool) -> String {
    draw::diagnostics(&told.texts, &told.diagnostics, colours)
}

/// For programs: a list.
pub fn json(told: &Told) -> Value {
    let diagnostics = told.diagnostics.0.iter();
    diagnostics.map(|diagnostic| diagnostic_json(&told.texts, diagnostic)).collect()
}

fn diagnostic_json(texts: &Texts, diagnostic: &Diagnostic) -> Value {
    let Diagnostic { code, severity, message, labels, help, detail } = diagnostic;
    let labels: Vec<_> = labels.iter().filter_map(|label| label_json(texts, label)).collect();
    let severity = severity.to_string();
    let rendered = draw::diagnostic(texts, diagnostic, false);
    json!({
        "code": code, "severity": severity, "message": message, "labels": labels, "help": help,
        "detail": detail, "rendered": rendered,
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
