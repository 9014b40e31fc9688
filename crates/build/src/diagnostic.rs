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
    severity: Severity,
    /// All of it as people see it, with the lines of the file.
    rendered: String,
}

/// How bad it is.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
enum Severity {
    Error,
    Warning,
    Note,
}

impl Diagnostics {
    /// In cargo's language, which has errors and warnings only.
    pub fn lines(&self) -> Vec<String> {
        let lines_of = |diagnostic: &Diagnostic| -> Vec<String> {
            let key = match diagnostic.severity {
                Severity::Error => cargo::ERROR,
                Severity::Warning | Severity::Note => cargo::WARNING,
            };
            cargo::told(key, diagnostic.rendered.trim_end()).collect()
        };
        self.0.iter().flat_map(lines_of).collect()
    }
}

/// One below the other, with an empty line between.
impl fmt::Display for Diagnostics {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let texts: Vec<_> = self.0.iter().map(|each| each.rendered.trim_end()).collect();
        f.write_str(&texts.join("\n\n"))
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

    #[test]
    fn what_is_drawn_is_shown_as_it_is() {
        let drawn = |severity: &str, rendered: &str| json!({ "code": "unbound-symbol", "severity": severity, "rendered": rendered });
        let mark = "nothing\n --> norm.toml:5:81\n  |\n5 | m\n  | ^ not\n";
        expect_lines(
            &json!([drawn("error", &format!("error: {mark}")), drawn("note", "note: printed\n")]),
            &expect![[r#"
                cargo::error=error: nothing
                cargo::error= --> norm.toml:5:81
                cargo::error=  |
                cargo::error=5 | m
                cargo::error=  | ^ not
                cargo::warning=note: printed"#]],
        );
    }
}
