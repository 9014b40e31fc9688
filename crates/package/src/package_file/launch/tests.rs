// SPDX-License-Identifier: Apache-2.0
//! When launches run, as package files say it.

use crate::package_file::tests::{FUNCTION, HEADER, expect_problems};
use expect_test::{Expect, expect};

/// Compares the problems of a function of two tensors with a launch for each `when`.
fn expect_whens(whens: &[&str], expected: Expect) {
    let launch = |when: &&str| {
        format!(
            "[[function.launch]]\n{when}\nsource = {{ host = 'f.c' }}\nkernel = 'f'\nargs = ['x']\n"
        )
    };
    let launches: String = whens.iter().map(launch).collect();
    expect_problems(&format!("{HEADER}{FUNCTION}{launches}"), expected);
}

#[test]
fn otherwise_stands_behind_conditions() {
    expect_whens(
        &["when = 'otherwise'", "when = 'n > 1'", "when = 'otherwise'", "when = ' otherwise '"],
        expect![[r#"
            otherwise: nothing stands above the `otherwise` of launch 0
              "otherwise" 
              help: write it behind a launch with another `when`, or leave `when` out
            otherwise: nothing stands above the `otherwise` of launch 3
              "otherwise" 
              help: write it behind a launch with another `when`, or leave `when` out
        "#]],
    );
    expect_whens(
        &["when = 'n > 1'", "", "when = 'otherwise'"],
        expect![[r#"
        otherwise: nothing stands above the `otherwise` of launch 2
          "otherwise" 
          help: write it behind a launch with another `when`, or leave `when` out
    "#]],
    );
}

/// What is wrong above does not make an `otherwise` wrong.
#[test]
fn otherwise_behind_what_is_wrong() {
    expect_whens(
        &["when = 'n >'", "when = 'otherwise'"],
        expect![[r#"
            syntax: expected an expression, found the end
              "'" expected an expression
        "#]],
    );
    expect_whens(
        &["when = 'k > 1'", "when = 'otherwise'"],
        expect![[r#"
        unbound-symbol: `k` in the `when` of launch 0 has no value
          "k" 
          help: name a symbol, a parameter, or a field such as `x.shape[0]` or `x.given`
    "#]],
    );
}

#[test]
fn otherwise_stands_alone() {
    expect_whens(
        &["when = 'n > 1'", "when = 'otherwise, n > 4'"],
        expect![[r#"
        syntax: expected a comparison: ==, !=, <, <=, >, >= or in, found `,`
          "," expected a comparison: ==, !=, <, <=, >, >= or in
          help: write `otherwise` alone, and nothing else in a `when`
    "#]],
    );
    expect_whens(
        &["when = 'n > 1'", "when = 'n > 4, otherwise'"],
        expect![[r#"
            syntax: expected a comparison: ==, !=, <, <=, >, >= or in, found the end
              "'" expected a comparison: ==, !=, <, <=, >, >= or in
              help: write `otherwise` alone, and nothing else in a `when`
        "#]],
    );
    expect_whens(
        &["when = 'n > 1'", "when = 'otherwise and n > 4'"],
        expect![[r#"
        syntax: expected a comparison: ==, !=, <, <=, >, >= or in, found `and`
          "and" expected a comparison: ==, !=, <, <=, >, >= or in
          help: write `otherwise` alone, and nothing else in a `when`
    "#]],
    );
    expect_whens(
        &["when = 'n > 1'", "when = 'Otherwise'"],
        expect![[r#"
            syntax: expected a comparison: ==, !=, <, <=, >, >= or in, found the end
              "'" expected a comparison: ==, !=, <, <=, >, >= or in
        "#]],
    );
}
