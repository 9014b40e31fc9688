// SPDX-License-Identifier: Apache-2.0
//! The compiler that is part of the build script: the feature `compiler`. It answers as the program
//! does.

use crate::answer::{Answer, Made, Refusal};
use crate::environment::Script;
use crate::problem::Problem;
use crate::program::Request;
use std::env;
use std::ffi::OsString;
use std::path::PathBuf;

/// Builds a package.
pub fn build(request: &Request<'_>, script: &Script) -> Result<Made, Problem> {
    let words = ["kernpack", "--json", "build"].map(OsString::from).into_iter();
    let options = request.options.iter().map(|word| word.to_os_string());
    let file = ["--".into(), file(request, script).into()];
    let answer = kernpack_cli::answer(words.chain(options).chain(file));
    let answer = serde_json::from_value(answer.json).unwrap_or(Answer::Refused {
        error: Refusal::Message { message: answer.text, code: None },
    });
    answer.made(request.file, || request.remark.to_string())
}

/// The user's file. Cargo runs build scripts in the folder that paths begin at, and there messages
/// have paths as the user has them.
fn file(request: &Request<'_>, script: &Script) -> PathBuf {
    let is_here = env::current_dir().is_ok_and(|folder| folder == script.manifest);
    if is_here { request.file.to_path_buf() } else { script.manifest.join(request.file) }
}
