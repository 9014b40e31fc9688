// SPDX-License-Identifier: Apache-2.0
//! Diagnostics of the user's files, as the program answers them. It draws that itself: nothing is
//! drawn here, and nothing drawn is read.

use crate::cargo;
use serde::Deserialize;
use std::fmt;

/// Diagnostics, in the order in which they are shown.
#[derive(Debug, Default, Deserialize)]
#[serde(transparent)]
pub struct Diagnostics(Vec<Diagnostic>);

/// A diagnostic, with those keys of its answer that are shown.
#[derive(Debug, Deserialize)]
struct Diagnostic {
    code: String,
    severity: Severity,
    message: String,
    #[serde(default)]
    labels: Vec<Label>,
    help: Option<String>,
    detail: Option<String>,
    /// All of it as people see it, with the lines of the file. A program that does not draw it
    /// leaves the key out.
    rendered: Option<String>,
}

/// How bad it is.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
enum Severity {
    Error,
    Warning,
    Note,
}

/// A place, and a remark on it.
#[derive(Debug, Deserialize)]
struct Label {
    file: String,
    line: u32,
    column: u32,
    text: String,
}

impl Diagnostics {
    /// In cargo's language, which has errors and warnings only.
    pub fn lines(&self) -> Vec<String> {
        let lines_of = |diagnostic: &Diagnostic| -> Vec<String> {
            let key = match diagnostic.severity {
                Severity::Error => cargo::ERROR,
                Severity::Warning | Severity::Note => cargo::WARNING,
            };
            cargo::told(key, &diagnostic.to_string()).collect()
        };
        self.0.iter().flat_map(lines_of).collect()
    }
}

/// One below the other, with an empty line between.
impl fmt::Display for Diagnostics {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let texts: Vec<_> = self.0.iter().map(ToString::to_string).collect();
        f.write_str(&texts.join("\n\n"))
    }
}

/// As it is drawn, else its parts, a line each.
impl fmt::Display for Diagnostic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(rendered) = &self.rendered {
            return f.write_str(rendered.trim_end());
        }
        write!(f, "{}[{}]: {}", self.severity, self.code, self.message)?;
        self.labels.iter().try_for_each(|label| write!(f, "\n --> {label}"))?;
        self.help.iter().try_for_each(|help| write!(f, "\n = help: {help}"))?;
        self.detail.iter().try_for_each(|detail| write!(f, "\n{}", detail.trim_end()))
    }
}

impl fmt::Display for Severity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Severity::Error => "error",
            Severity::Warning => "warning",
            Severity::Note => "note",
        })
    }
}

impl fmt::Display for Label {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Label { file, line, column, text } = self;
        write!(f, "{file}:{line}:{column}")?;
        if text.is_empty() { Ok(()) } else { write!(f, ": {text}") }
    }
}

#[cfg(test)]
mod tests {
    use super::Diagnostics;
    use expect_test::{Expect, expect};
    use serde_json::{Value, json};

    fn expect_lines(diagnostics: &Value, expected: &Expect) {
        let diagnostics: Diagnostics = serde_json::from_value(diagnostics.clone()).unwrap();
        expected.assert_eq(&diagnostics.lines().join("\n"));
    }

    fn unbound() -> Value {
        json!({
            "code": "unbound-symbol",
            "severity": "error",
            "message": "nothing gives the symbol `m` a value",
            "labels": [{
                "file": "norm.toml", "start": 90, "end": 91, "line": 5, "column": 81,
                "text": "not found in any dim",
            }],
            "help": "use `m` in some dim",
            "detail": null,
        })
    }

    #[test]
    fn what_is_drawn_is_shown_as_it_is() {
        let mut drawn = unbound();
        drawn["rendered"] =
            json!("error[unbound-symbol]: nothing\n --> norm.toml:5:81\n  |\n5 | m\n  | ^ not\n");
        expect_lines(
            &json!([drawn]),
            &expect![[r#"
                cargo::error=error[unbound-symbol]: nothing
                cargo::error= --> norm.toml:5:81
                cargo::error=  |
                cargo::error=5 | m
                cargo::error=  | ^ not"#]],
        );
    }

    #[test]
    fn what_is_not_drawn_has_its_parts_shown() {
        let mut noted = unbound();
        noted["severity"] = json!("note");
        noted["help"] = json!(null);
        noted["detail"] = json!("it said\nthis\n");
        expect_lines(
            &json!([unbound(), noted]),
            &expect![[r#"
                cargo::error=error[unbound-symbol]: nothing gives the symbol `m` a value
                cargo::error= --> norm.toml:5:81: not found in any dim
                cargo::error= = help: use `m` in some dim
                cargo::warning=note[unbound-symbol]: nothing gives the symbol `m` a value
                cargo::warning= --> norm.toml:5:81: not found in any dim
                cargo::warning=it said
                cargo::warning=this"#]],
        );
    }
}
