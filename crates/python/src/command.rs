// SPDX-License-Identifier: Apache-2.0
//! The command line tool in this library: as a program's `main`, and as a function that answers.

#![expect(unsafe_code, reason = "a C program's arguments are pointers")]

use crate::ffi::{Args, Error, Value};
use serde_json::json;
use std::ffi::{CStr, OsStr, OsString, c_char, c_int};
use std::os::unix::ffi::OsStrExt;
use std::panic::catch_unwind;

/// `main` of the command line tool. It prints, and returns the code to exit with.
///
/// # Safety
/// There are as many arguments as `count` says, each of which ends in a NUL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kernpack_main(count: c_int, words: *const *const c_char) -> c_int {
    let count = usize::try_from(count).unwrap_or(0);
    let words: Vec<_> = (0..count)
        .map(|at| {
            // SAFETY: as the caller says.
            let place = unsafe { words.add(at) };
            // SAFETY: as the caller says.
            let word = unsafe { place.read() };
            // SAFETY: as the caller says.
            let word = unsafe { CStr::from_ptr(word) };
            OsStr::from_bytes(word.to_bytes()).to_owned()
        })
        .collect();
    catch_unwind(|| kernpack_cli::main(words)).map_or(101, c_int::from)
}

/// `kernpack_command(word, …) -> JSON`: what the command line tool answers to these words, which do
/// not begin with its name: `text`, `json`, and the `code` that it would exit with.
pub fn command(args: Args<'_>) -> Result<Value, Error> {
    let words = (0..args.len()).map(|at| Ok(OsString::from(args.text(at)?)));
    let words = words.collect::<Result<Vec<_>, Error>>()?;
    let answer = kernpack_cli::answer([OsString::from("kernpack")].into_iter().chain(words));
    let answer = json!({ "text": answer.text, "json": answer.json, "code": answer.code });
    Ok(Value::Text(answer.to_string()))
}
