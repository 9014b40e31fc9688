// SPDX-License-Identifier: Apache-2.0
//! Why a command has no answer.

use kernpack_compiler::CompileError;
use kernpack_render::{draw, told};
use kernpack_syntax::Told;
use serde_json::{Value, json};
use std::fmt;

/// The failure of a command.
#[derive(Debug)]
pub enum Failure {
    /// Texts of the user's have problems.
    Diagnostics(Told),
    /// Something that is in no text.
    Other(anyhow::Error),
}

/// The error where there is nothing that `--arch` could be for. Programs know it by its code.
#[derive(Debug)]
pub struct NoGpuCode {
    /// The name of the package file.
    pub name: String,
}

impl NoGpuCode {
    const CODE: &str = "no-gpu-code";
}

impl fmt::Display for NoGpuCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let NoGpuCode { name } = self;
        write!(
            f,
            "no source of `{name}` is CUDA C++ or a kernel file, which alone take `--arch`; leave \
             it out"
        )
    }
}

impl std::error::Error for NoGpuCode {}

impl<E: Into<anyhow::Error>> From<E> for Failure {
    fn from(error: E) -> Failure {
        Failure::Other(error.into())
    }
}

impl Failure {
    /// Why there is no package, with all that is told besides.
    pub fn of(told: Told, error: CompileError) -> Failure {
        match error {
            CompileError::Problems(problems) => {
                let mut told = told.and(problems);
                told.diagnostics.sort();
                Failure::Diagnostics(told)
            }
            error => error.into(),
        }
    }

    /// For people.
    pub fn text(&self, colours: bool) -> String {
        match self {
            Failure::Diagnostics(told) => told::text(told, colours),
            Failure::Other(error) => draw::error(&message(error), colours),
        }
    }

    /// For programs.
    pub fn json(&self) -> Value {
        match self {
            Failure::Diagnostics(told) => {
                json!({ "error": { "source": told.name, "diagnostics": told::json(told) } })
            }
            Failure::Other(error) => {
                let mut told = json!({ "message": message(error) });
                if error.is::<NoGpuCode>() {
                    told["code"] = NoGpuCode::CODE.into();
                }
                json!({ "error": told })
            }
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
