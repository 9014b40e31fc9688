// SPDX-License-Identifier: Apache-2.0
//! How launches are submitted, as package files say it.

use crate::package::Submit;
use crate::package_file::tests::{FUNCTION, HEADER, expect_problems, on_gpu, parse};
use expect_test::{Expect, expect};
use std::path::Path;

const PTX: &str = "source = { ptx = 'b' }\nlaunch = { grid = [1], block = [1] }";

/// The ways of submitting that the package and its function name.
fn submits(text: &str) -> (Submit, Option<Submit>) {
    let package = parse(text, Path::new("")).unwrap_or_else(|problems| panic!("{problems}"));
    (package.submit, package.functions[0].submit)
}

/// Compares the problems of a function whose launch runs on a GPU, with this key.
fn expect_key(key: &str, expected: Expect) {
    expect_problems(&on_gpu(&format!("{PTX}\n{key}")), expected);
}

#[test]
fn a_package_says_it_for_all_functions_and_a_function_for_itself() {
    assert_eq!(submits(&on_gpu(PTX)), (Submit::Auto, None));
    for (submit, word) in Submit::TABLE {
        let key = format!("submit = '{word}'\n");
        assert_eq!(submits(&on_gpu(&format!("{PTX}\n{key}"))), (Submit::Auto, Some(submit)));
        let whole = format!("{HEADER}{key}{FUNCTION}kernel = 'k'\nargs = []\n{PTX}");
        assert_eq!(submits(&whole), (submit, None));
        // Of a package without launches on a GPU too.
        assert_eq!(submits(&format!("{HEADER}{key}{FUNCTION}")), (submit, None));
    }
}

#[test]
fn what_is_none_of_its_words_is_refused_where_it_stands() {
    expect_key(
        "submit = 'graphs'",
        expect![[r#"
            error[bad-value]: `graphs` is no way to submit launches
              9:10 `'graphs'` expected `"auto"`, `"plain"` or `"graph"`
              help: did you mean `graph`?"#]],
    );
    expect_key(
        "submit = 'lazily'",
        expect![[r#"
            error[bad-value]: `lazily` is no way to submit launches
              9:10 `'lazily'` expected `"auto"`, `"plain"` or `"graph"`"#]],
    );
    expect_key(
        "submit = true",
        expect![[r#"
            error[value-type]: `submit` is of type boolean
              9:10 `true` expected a string"#]],
    );
    let text = format!("{HEADER}submit = 'Plain'\n{FUNCTION}submits = 'plain'\n");
    expect_problems(
        &text,
        expect![[r#"
            error[bad-value]: `Plain` is no way to submit launches
              3:10 `'Plain'` expected `"auto"`, `"plain"` or `"graph"`
              help: did you mean `plain`?
            error[unknown-key]: a function has no key `submits`
              6:1 `submits` unknown key
              help: did you mean `submit`?"#]],
    );
}

#[test]
fn a_function_without_launches_on_a_gpu_cannot_have_it() {
    let host = "source = { host = 'f.c' }\nkernel = 'f'\nargs = ['x']";
    expect_problems(
        &format!("{HEADER}{FUNCTION}submit = 'auto'\n{host}"),
        expect![[r#"
            error[conflict]: `submit` is for launches on a GPU, and the function has none
              5:1 `submit` has no effect
              help: remove `submit`"#]],
    );
    expect_problems(
        &format!("{HEADER}{FUNCTION}submit = 'graph'"),
        expect![[r#"
            error[conflict]: `submit` is for launches on a GPU, and the function has none
              5:1 `submit` has no effect
              help: remove `submit`"#]],
    );
    // Of a launch that cannot be read, nothing is known.
    let unread = "submit = 'graph'\nsource = { ptx = 1 }\nkernel = 'k'\nargs = []";
    expect_problems(
        &format!("{HEADER}{FUNCTION}{unread}"),
        expect![[r#"
            error[value-type]: `ptx` is of type integer
              6:18 `1` expected a string"#]],
    );
}

#[test]
fn it_is_not_a_key_of_a_launch() {
    expect_problems(
        &on_gpu(
            "source = { ptx = 'b', submit = 'graph' }\nlaunch = { grid = [1], block = [1], submit = 'graph' }",
        ),
        expect![[r#"
            error[unknown-key]: a source has no key `submit`
              7:23 `submit` unknown key
              help: write `submit` on the function, for all its launches
            error[unknown-key]: a launch's layout has no key `submit`
              8:37 `submit` unknown key
              help: write `submit` on the function, for all its launches"#]],
    );
    let listed = "[[function.launch]]\nsubmit = 'graph'\nsource = { ptx = 'b' }\nkernel = 'k'\nargs = ['x']\ngrid = [1]\nblock = [1]";
    expect_problems(
        &format!("{HEADER}{FUNCTION}{listed}"),
        expect![[r#"
            error[unknown-key]: a launch has no key `submit`
              6:1 `submit` unknown key
              help: write `submit` on the function, for all its launches"#]],
    );
}
