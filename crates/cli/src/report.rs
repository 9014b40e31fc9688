// SPDX-License-Identifier: Apache-2.0
//! The report of a command.

use kernpack_render::told;
use kernpack_syntax::Told;
use serde_json::Value;

/// An answer, in both forms.
#[derive(Debug)]
pub struct Report {
    /// For people.
    pub text: String,
    /// For programs.
    pub json: Value,
    /// Warnings, which people get on the standard error.
    pub warnings: Told,
    /// The exit code.
    pub code: u8,
}

impl Report {
    /// An answer without warnings.
    pub fn new(text: String, json: Value) -> Report {
        Report { text, json, warnings: Told::default(), code: crate::SUCCESS }
    }

    /// The same with warnings, for programs under `warnings`.
    pub fn with_warnings(mut self, mut warnings: Told) -> Report {
        warnings.diagnostics.sort();
        self.json["warnings"] = told::json(&warnings);
        Report { warnings, ..self }
    }
}
