// SPDX-License-Identifier: Apache-2.0
//! What a command answers.

use crate::told::Told;
use serde_json::Value;

/// An answer, in both forms.
#[derive(Debug)]
pub struct Report {
    /// For people.
    pub text: String,
    /// For programs.
    pub json: Value,
    /// What there is to be said besides: to people on the standard error.
    pub warnings: Told,
}

impl Report {
    /// An answer without warnings.
    pub fn new(text: String, json: Value) -> Report {
        Report { text, json, warnings: Told::default() }
    }

    /// The same with warnings, for programs under `warnings`.
    pub fn with_warnings(mut self, mut warnings: Told) -> Report {
        warnings.diagnostics.sort();
        self.json["warnings"] = warnings.json();
        Report { warnings, ..self }
    }
}
