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
            error[otherwise]: nothing stands above the `otherwise` of launch 0
              6:9 `otherwise`
              help: write it behind a launch with another `when`, or leave `when` out
            error[otherwise]: nothing stands above the `otherwise` of launch 3
              21:10 `otherwise`
              help: write it behind a launch with another `when`, or leave `when` out"#]],
    );
    expect_whens(
        &["when = 'n > 1'", "", "when = 'otherwise'"],
        expect![[r#"
            error[otherwise]: nothing stands above the `otherwise` of launch 2
              16:9 `otherwise`
              help: write it behind a launch with another `when`, or leave `when` out"#]],
    );
}

/// A mistake above does not make an `otherwise` wrong.
#[test]
fn otherwise_behind_what_is_wrong() {
    expect_whens(
        &["when = 'n >'", "when = 'otherwise'"],
        expect![[r#"
            error[syntax]: expected an expression, found the end
              6:12 `'` expected an expression"#]],
    );
    expect_whens(
        &["when = 'k > 1'", "when = 'otherwise'"],
        expect![[r#"
            error[unbound-symbol]: `k` in the `when` of launch 0 has no value
              6:9 `k`
              help: name a symbol, a parameter, or a field such as `x.shape[0]` or `x.given`"#]],
    );
}

#[test]
fn otherwise_stands_alone() {
    expect_whens(
        &["when = 'n > 1'", "when = 'otherwise, n > 4'"],
        expect![[r#"
            error[syntax]: expected a comparison: ==, !=, <, <=, >, >= or in, found `,`
              11:18 `,` expected a comparison: ==, !=, <, <=, >, >= or in
              help: write `otherwise` alone, and nothing else in a `when`"#]],
    );
    expect_whens(
        &["when = 'n > 1'", "when = 'n > 4, otherwise'"],
        expect![[r#"
            error[syntax]: expected a comparison: ==, !=, <, <=, >, >= or in, found the end
              11:25 `'` expected a comparison: ==, !=, <, <=, >, >= or in
              help: write `otherwise` alone, and nothing else in a `when`"#]],
    );
    expect_whens(
        &["when = 'n > 1'", "when = 'otherwise and n > 4'"],
        expect![[r#"
            error[syntax]: expected a comparison: ==, !=, <, <=, >, >= or in, found `and`
              11:19 `and` expected a comparison: ==, !=, <, <=, >, >= or in
              help: write `otherwise` alone, and nothing else in a `when`"#]],
    );
    expect_whens(
        &["when = 'n > 1'", "when = 'Otherwise'"],
        expect![[r#"
            error[syntax]: expected a comparison: ==, !=, <, <=, >, >= or in, found the end
              11:18 `'` expected a comparison: ==, !=, <, <=, >, >= or in"#]],
    );
}
