// SPDX-License-Identifier: Apache-2.0
//! What a command answers.

use kernpack_compiler::Warning;
use serde_json::{Value, json};

/// An answer, in both forms.
#[derive(Debug)]
pub struct Report {
    /// For people.
    pub text: String,
    /// For programs.
    pub json: Value,
    /// What people are to know besides, on the standard error.
    pub remarks: String,
}

impl Report {
    /// An answer without remarks.
    pub fn new(text: String, json: Value) -> Report {
        Report { text, json, remarks: String::new() }
    }

    /// The same with warnings: under `warnings` for programs, in their own words for people.
    pub fn with_warnings(mut self, warnings: &[Warning]) -> Report {
        let one = |Warning { source, text }: &Warning| json!({ "source": source, "text": text });
        self.json["warnings"] = warnings.iter().map(one).collect();
        self.remarks.extend(warnings.iter().map(|warning| warning.text.clone() + "\n"));
        self
    }
}
