// SPDX-License-Identifier: Apache-2.0
//! The program's answer to `--json build`: the keys of it that are needed here.

use crate::diagnostic::Diagnostics;
use crate::problem::Problem;
use serde::Deserialize;
use std::path::{Path, PathBuf};

/// Either of the two answers that there are.
#[derive(Debug, Deserialize)]
#[serde(untagged)]
pub enum Answer {
    /// The package could not be built.
    Refused {
        /// Why not.
        error: Refusal,
    },
    /// The package was built.
    Made(Made),
}

impl Answer {
    /// The package, or what there is to be said of its file instead, with notes for what is in no
    /// text.
    pub fn made(self, file: &Path, notes: impl FnOnce() -> String) -> Result<Made, Problem> {
        match self {
            Answer::Made(made) => Ok(made),
            Answer::Refused { error: Refusal::Diagnostics { diagnostics } } => {
                Err(Problem::Diagnostics(diagnostics))
            }
            Answer::Refused { error: Refusal::Message { message, code } } => {
                let file = file.display().to_string();
                Err(Problem::Refused { code, file, message, notes: notes() })
            }
        }
    }
}

/// A package that was built.
#[derive(Debug, Deserialize)]
pub struct Made {
    /// The files that were read, the package file among them.
    pub inputs: Vec<PathBuf>,
    /// Diagnostics of files that were built nevertheless.
    pub warnings: Diagnostics,
    /// The version of the program; nothing where it does not say it.
    #[serde(default)]
    pub version: String,
}

/// Why a package could not be built.
#[derive(Debug, Deserialize)]
#[serde(untagged)]
pub enum Refusal {
    /// The user's files have problems.
    Diagnostics {
        /// All of them.
        diagnostics: Diagnostics,
    },
    /// Something that is in no text.
    Message {
        /// In words.
        message: String,
        /// A stable name, where it has one.
        code: Option<String>,
    },
}

impl Refusal {
    /// The code where nothing in a package is compiled for what `--arch` says.
    pub const NO_GPU_CODE: &str = "no-gpu-code";
}

#[cfg(test)]
mod tests {
    use super::{Answer, Made, Refusal};
    use expect_test::{Expect, expect};

    #[track_caller]
    fn expect_answer(text: &str, expected: &Expect) {
        let answer = match serde_json::from_str(text) {
            Ok(Answer::Made(Made { inputs, .. })) => format!("made from {inputs:?}"),
            Ok(Answer::Refused { error: Refusal::Diagnostics { diagnostics } }) => {
                format!("told:\n{diagnostics}")
            }
            Ok(Answer::Refused { error: Refusal::Message { message, .. } }) => message,
            Err(_) => "no answer".to_string(),
        };
        expected.assert_eq(&answer);
    }

    #[test]
    fn the_answers_of_a_build_are_told_apart() {
        expect_answer(
            r#"{"package": "norm", "target": "x86_64-linux-gnu", "outputs": ["norm.o"],
                "inputs": ["norm.toml"], "warnings": []}"#,
            &expect![[r#"made from ["norm.toml"]"#]],
        );
        expect_answer(
            r#"{"error": {"source": "norm.toml", "diagnostics": [
                {"severity": "error", "rendered": "error[source-file]: cannot read `a.ptx`\n"}]}}"#,
            &expect![[r#"
                told:
                error[source-file]: cannot read `a.ptx`"#]],
        );
        expect_answer(
            r#"{"error": {"message": "no space left on device"}}"#,
            &expect!["no space left on device"],
        );
    }

    #[test]
    fn anything_else_is_no_answer() {
        for text in ["", "{}", "[]", "kernpack 0.1.0", r#"{"inputs": []}"#, r#"{"error": {}}"#] {
            expect_answer(text, &expect!["no answer"]);
        }
    }
}
