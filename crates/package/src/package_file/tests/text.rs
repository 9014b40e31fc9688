// SPDX-License-Identifier: Apache-2.0
//! A package file before its keys are read: characters and TOML.

use super::{FUNCTION, HEADER, LAUNCH, expect_package, expect_problems};
use expect_test::expect;

#[test]
fn a_byte_order_mark_is_skipped() {
    let package = expect_package(&format!("\u{feff}{HEADER}{FUNCTION}{LAUNCH}"));
    assert_eq!(super::launch(&package, 0).kernel.to_string(), "f");
}

#[test]
fn characters_that_change_the_direction_are_refused() {
    expect_problems(
        "[package]\nname = 'p' # \u{202e} ]\ndoc = '\u{2066}'\n[",
        expect![[r#"
            error[bad-character]: unexpected character U+202E
              2:14 `\u{202e}` changes the direction in which the text shows
              help: remove it
            error[bad-character]: unexpected character U+2066
              3:8 `\u{2066}` changes the direction in which the text shows
              help: remove it
            error[toml]: unquoted keys cannot be empty
              4:1 `[` expected letters, numbers, `-`, `_`"#]],
    );
    expect_problems(
        &format!("{HEADER}{FUNCTION}doc = \"a\\u202e b\"\n{LAUNCH}"),
        expect![[r#"
            error[bad-character]: unexpected character U+202E
              5:7 `"a\u202e b"` changes the direction in which the text shows
              help: remove it"#]],
    );
}

#[test]
fn errors_of_toml_come_alone() {
    expect_problems(
        "[package\nname = 1 2\nname = 'p'\n",
        expect![[r#"
            error[toml]: unclosed table
              1:9 `` expected `]`"#]],
    );
    expect_problems(
        "a = 1\na = 2",
        expect![[r#"
            error[toml]: duplicate key
              2:1 `a`"#]],
    );
}
