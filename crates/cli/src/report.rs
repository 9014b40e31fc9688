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
}
