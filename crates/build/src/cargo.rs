// SPDX-License-Identifier: Apache-2.0
//! The language that build scripts speak to cargo: lines of a key and a value.
//! <https://doc.rust-lang.org/cargo/reference/build-scripts.html#outputs-of-the-build-script>

use crate::problem::Problem;
use std::ffi::OsStr;

/// The key of errors.
pub const ERROR: &str = "error";
/// The key of warnings.
pub const WARNING: &str = "warning";
/// The key of folders with libraries.
pub const LINK_SEARCH: &str = "rustc-link-search";
/// The key of libraries.
pub const LINK_LIB: &str = "rustc-link-lib";
/// The key of files whose change has the build script run again.
pub const RERUN_IF_CHANGED: &str = "rerun-if-changed";
/// The key of variables whose change has the build script run again.
pub const RERUN_IF_ENV_CHANGED: &str = "rerun-if-env-changed";

/// A line that cargo acts upon.
///
/// # Errors
/// Where cargo would read another value.
pub fn line(key: &str, value: impl AsRef<OsStr>) -> Result<String, Problem> {
    let value = value.as_ref();
    let unsayable =
        |reason| Problem::Unsayable { value: value.to_string_lossy().into_owned(), reason };
    let text = value.to_str().ok_or_else(|| unsayable("is not UTF-8"))?;
    if text.contains(['\n', '\r']) {
        return Err(unsayable("has a line break in it"));
    }
    if text.trim_end() != text {
        return Err(unsayable("ends in white space"));
    }
    Ok(said(key, text))
}

/// A text that cargo shows: each line of it is one of its own, as cargo shows no more of it.
pub fn told(key: &str, text: &str) -> impl Iterator<Item = String> {
    text.lines().map(move |line| said(key, line))
}

fn said(key: &str, value: &str) -> String {
    format!("cargo::{key}={value}")
}

#[cfg(test)]
mod tests {
    use super::{ERROR, RERUN_IF_CHANGED, line, told};
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt;

    #[track_caller]
    fn expect_unsayable(value: &[u8], reason: &str) {
        let problem = line(RERUN_IF_CHANGED, OsStr::from_bytes(value)).unwrap_err().to_string();
        assert!(problem.contains(reason), "{problem}");
    }

    #[test]
    fn a_value_stands_in_one_line() {
        let said = line(RERUN_IF_CHANGED, "a folder/norm.toml").unwrap();
        assert_eq!(said, "cargo::rerun-if-changed=a folder/norm.toml");
    }

    #[test]
    fn what_cargo_would_misread_is_refused() {
        expect_unsayable(b"n\xf6rm.toml", "is not UTF-8");
        expect_unsayable(b"a\ncargo::rustc-link-lib=b", "has a line break in it");
        expect_unsayable(b"norm.toml ", "ends in white space");
    }

    #[test]
    fn a_text_keeps_its_lines_and_their_indentation() {
        let lines: Vec<_> = told(ERROR, "wrong\n --> a:1:2\n\n  | ^").collect();
        let expected = [
            "cargo::error=wrong",
            "cargo::error= --> a:1:2",
            "cargo::error=",
            "cargo::error=  | ^",
        ];
        assert_eq!(lines, expected);
    }
}
