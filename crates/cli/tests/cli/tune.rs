// SPDX-License-Identifier: Apache-2.0
//! `tune`: which Python does it, what that is told, and what becomes of how it ends. What it does
//! is tested with the Python package.

use crate::bench::{Bench, KERNPACK};
use expect_test::expect;

/// The answer of the command where that program is the Python.
fn tune(script: &str) -> String {
    let bench = Bench::new().and_program("python", script);
    let mut command = bench.command(KERNPACK);
    command.env("KERNPACK_PYTHON", bench.path("python"));
    command.args(["tune", "my kernels.py", "--shapes", "shapes.toml", "--seconds", "0.5"]);
    let ran: crate::bench::Ran = command.output().expect("the program runs").into();
    ran.to_string()
}

#[test]
fn the_python_that_is_named_tunes() {
    expect![[r#"
        exit 0
        out: -m
        out: kernpack._tune
        out: my kernels.py
        out: --shapes
        out: shapes.toml
        out: --seconds
        out: 0.5
    "#]]
    .assert_eq(&tune("for word; do echo \"$word\"; done"));
}

#[test]
fn it_ends_as_python_does() {
    expect!["exit 3\nerr: told\n"].assert_eq(&tune("echo told >&2; exit 3"));
    expect!["exit 143\n"].assert_eq(&tune("kill -TERM $$"));
}

#[test]
fn without_a_python_nothing_is_tuned() {
    let bench = Bench::new();
    let mut command = bench.command(KERNPACK);
    command.env_remove("KERNPACK_PYTHON").args(["tune", "k.py", "--shapes", "shapes.toml"]);
    let ran: crate::bench::Ran = command.output().expect("the program runs").into();
    expect![[r#"
        exit 1
        err: error: there is no Python to tune in: set KERNPACK_PYTHON to the one that kernpack is installed in
    "#]]
    .assert_eq(&ran.to_string());
}
