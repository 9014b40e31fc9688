// SPDX-License-Identifier: Apache-2.0
//! What a command answers.

use serde_json::Value;

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
}
