// SPDX-License-Identifier: Apache-2.0
//! Problems of a package's functions, in the words that all of them have.

use kernpack_syntax::Diagnostic;

/// A diagnostic of a function. Where no place shows which function that is, as in a package that
/// nobody wrote as text, words do.
pub fn of_function(function: &str, diagnostic: Diagnostic) -> Diagnostic {
    if diagnostic.has_place() {
        return diagnostic;
    }
    let message = format!("in function `{function}`: {}", diagnostic.message);
    Diagnostic { message, ..diagnostic }
}
