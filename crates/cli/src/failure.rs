// SPDX-License-Identifier: Apache-2.0
//! Why a command has no answer.

use crate::render::{self, Source};
use kernpack_syntax::{Diagnostic, Diagnostics, Label};
use serde_json::{Value, json};

/// What is wrong with the input.
#[derive(Debug)]
pub enum Failure {
    /// A text of the user's has problems.
    Diagnostics(Source, Diagnostics),
    /// The source of a function cannot be had.
    Source {
        /// The package file.
        package_file: String,
        /// The function.
        function: String,
        /// Why not.
        reason: anyhow::Error,
    },
    /// Something without a place in a text.
    Other(anyhow::Error),
}

impl<E: Into<anyhow::Error>> From<E> for Failure {
    fn from(error: E) -> Failure {
        Failure::Other(error.into())
    }
}

impl Failure {
    /// For people.
    pub fn text(&self, colours: bool) -> String {
        match self {
            Failure::Diagnostics(source, diagnostics) => {
                render::diagnostics(source, diagnostics, colours)
            }
            Failure::Source { package_file, function, reason } => {
                let place = format!("needed for function `{function}` of `{package_file}`");
                render::error(&message(reason), colours) + &render::note(&place, colours)
            }
            Failure::Other(error) => render::error(&message(error), colours),
        }
    }

    /// For programs.
    pub fn json(&self) -> Value {
        match self {
            Failure::Diagnostics(source, diagnostics) => {
                let diagnostics: Vec<_> = diagnostics
                    .0
                    .iter()
                    .map(|diagnostic| diagnostic_json(source, diagnostic))
                    .collect();
                json!({ "error": { "source": source.name, "diagnostics": diagnostics } })
            }
            Failure::Source { package_file, function, reason } => json!({
                "error": { "message": message(reason), "source": package_file, "function": function }
            }),
            Failure::Other(error) => json!({ "error": { "message": message(error) } }),
        }
    }
}

/// An error and its causes, without those that the one before has named already.
fn message(error: &anyhow::Error) -> String {
    let mut message = error.to_string();
    for cause in error.chain().skip(1).map(ToString::to_string) {
        if !message.ends_with(&cause) {
            message = format!("{message}: {cause}");
        }
    }
    message
}

fn diagnostic_json(source: &Source, diagnostic: &Diagnostic) -> Value {
    let Diagnostic { code, message, labels, help } = diagnostic;
    let labels: Vec<_> = labels.iter().map(|label| label_json(source, label)).collect();
    json!({ "code": code, "message": message, "labels": labels, "help": help })
}

fn label_json(source: &Source, label: &Label) -> Value {
    let Label { span, text } = label;
    let (line, column) = source.position(span.start);
    json!({ "start": span.start, "end": span.end, "line": line, "column": column, "text": text })
}
