// SPDX-License-Identifier: Apache-2.0
//! Why a command has no answer.

use crate::render;
use crate::told::Told;
use serde_json::{Value, json};

/// What is wrong with the input.
#[derive(Debug)]
pub enum Failure {
    /// Texts of the user's have problems.
    Diagnostics(Told),
    /// Something that is in no text.
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
            Failure::Diagnostics(told) => told.text(colours),
            Failure::Other(error) => render::error(&message(error), colours),
        }
    }

    /// For programs.
    pub fn json(&self) -> Value {
        match self {
            Failure::Diagnostics(told) => {
                json!({ "error": { "source": told.name, "diagnostics": told.json() } })
            }
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
