// SPDX-License-Identifier: Apache-2.0
//! Why a command has no answer.

use crate::render;
use kernpack_compiler::{Problem, Problems, Reason};
use kernpack_syntax::{Diagnostic, Diagnostics, Label, Texts};
use serde_json::{Value, json};

/// What is wrong with the input.
#[derive(Debug)]
pub enum Failure {
    /// Texts of the user's have problems, the one of that name first of all.
    Diagnostics(String, Texts, Diagnostics),
    /// Functions of this package file do not fit together, or have sources that cannot be had.
    Problems(String, Problems),
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
            Failure::Diagnostics(_, texts, diagnostics) => {
                render::diagnostics(texts, diagnostics, colours)
            }
            Failure::Problems(package_file, problems) => {
                let text = |problem| problem_text(package_file, problem, colours);
                problems.0.iter().map(text).collect()
            }
            Failure::Other(error) => render::error(&message(error), colours),
        }
    }

    /// For programs.
    pub fn json(&self) -> Value {
        match self {
            Failure::Diagnostics(source, texts, diagnostics) => {
                let diagnostics = diagnostics.0.iter();
                let diagnostics: Vec<_> =
                    diagnostics.map(|diagnostic| diagnostic_json(texts, diagnostic)).collect();
                json!({ "error": { "source": source, "diagnostics": diagnostics } })
            }
            Failure::Problems(package_file, problems) => {
                let diagnostics: Vec<_> = problems.0.iter().flat_map(problem_json).collect();
                json!({ "error": { "source": package_file, "diagnostics": diagnostics } })
            }
            Failure::Other(error) => json!({ "error": { "message": message(error) } }),
        }
    }
}

fn problem_text(package_file: &str, problem: &Problem, colours: bool) -> String {
    let function = &problem.function;
    let place = format!("needed for function `{function}` of `{package_file}`");
    let place = render::note(&place, colours);
    match &problem.reason {
        Reason::Source(error) => render::error(&error.message, colours) + &place,
        Reason::Function(_) => render::error(&problem.to_string(), colours),
    }
}

fn problem_json(problem: &Problem) -> Vec<Value> {
    let one = |code: &str, message: &str, help: &Option<String>| {
        let (function, launch) = (&problem.function, problem.launch);
        json!({
            "code": code, "message": message, "labels": [], "help": help,
            "function": function, "launch": launch,
        })
    };
    match &problem.reason {
        Reason::Source(error) => vec![one(error.kind.code(), &error.message, &None)],
        Reason::Function(diagnostics) => {
            let all = diagnostics.0.iter();
            all.map(|problem| one(problem.code, &problem.message, &problem.help)).collect()
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
