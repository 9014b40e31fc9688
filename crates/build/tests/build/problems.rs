// SPDX-License-Identifier: Apache-2.0
//! Errors of everything that may be wrong.

use crate::crate_folder::CrateFolder;
use expect_test::{Expect, expect};
use serde_json::json;
use std::process::Command;

/// Holds what is said of `norm.toml` in a crate.
#[track_caller]
fn expect_problem(folder: &CrateFolder, expected: &Expect) {
    folder.expect_problem(folder.package("norm.toml").try_compile(), expected);
}

#[test]
fn who_calls_this_has_to_be_a_build_script() {
    let mut folder = CrateFolder::new();
    folder.unset("OUT_DIR");
    expect_problem(
        &folder,
        &expect![[r#"
            the variable OUT_DIR is not set
            help: call this from a build script, `build.rs`, for which cargo sets it"#]],
    );
}

#[test]
fn there_are_not_packages_for_all_targets() {
    let mut folder = CrateFolder::new();
    folder.set("TARGET", "wasm32-unknown-unknown");
    expect_problem(
        &folder,
        &expect![[r#"
            there are no packages for the target `wasm32-unknown-unknown`
            help: there are for `x86_64-unknown-linux-gnu` and `aarch64-unknown-linux-gnu`"#]],
    );
}

#[test]
fn a_package_file_has_to_be_there() {
    let folder = CrateFolder::new();
    folder.expect_problem(
        folder.package("src/nrom.py").try_compile(),
        &expect![[r#"
            there is no file `src/nrom.py`
            help: paths begin at the folder of Cargo.toml, which is `ROOT/crate`"#]],
    );
}

#[test]
fn without_a_program_it_says_how_to_get_one() {
    let mut folder = CrateFolder::new();
    folder.set("PATH", "/nowhere");
    expect_problem(
        &folder,
        &expect![[r#"
            no program `kernpack` is on PATH
            help: install it by `pip install kernpack==VERSION`, or name it: by the variable KERNPACK, or by `.program(…)` in the build script
            help: to build without it, take what it has made before: `kernpack_build::prebuilt(…)`"#]],
    );
}

#[test]
fn a_program_that_is_named_has_to_be_one() {
    let mut folder = CrateFolder::new();
    folder.write("crate/kernpack", "not executable");
    folder.set("KERNPACK", "./kernpack");
    expect_problem(
        &folder,
        &expect![[r#"
            there is no program `ROOT/crate/./kernpack`, which the variable KERNPACK names
            help: install it by `pip install kernpack==VERSION`, or name it: by the variable KERNPACK, or by `.program(…)` in the build script
            help: to build without it, take what it has made before: `kernpack_build::prebuilt(…)`"#]],
    );
}

#[test]
fn the_program_is_of_the_crates_version() {
    let folder = CrateFolder::new();
    folder.write("bin/version", "kernpack 99.1.0\n");
    expect_problem(
        &folder,
        &expect![[r#"
            `ROOT/bin/kernpack` is kernpack 99.1.0, but the crate kernpack-build is VERSION
            help: have both of one version: by `pip install kernpack==VERSION`, or by "=99.1.0" for the crates kernpack and kernpack-build in Cargo.toml"#]],
    );
}

#[test]
fn another_program_is_seen_not_to_be_kernpack() {
    let folder = CrateFolder::new();
    folder.write("bin/version", "some tool, version 3\n");
    expect_problem(
        &folder,
        &expect![[r#"
            `ROOT/bin/kernpack` does not answer as kernpack does: it ended with exit status: 0
              some tool, version 3
            note: it was run as `ROOT/bin/kernpack --version`"#]],
    );
}

#[test]
fn a_program_that_the_system_does_not_run_is_named() {
    let folder = CrateFolder::new();
    let program = folder.path("bin/kernpack");
    std::fs::remove_file(&program).unwrap();
    // Another process writes it: what this one has open for writing, the system may not run.
    let script = "printf '#!/nowhere/python\n' > \"$0\" && chmod +x \"$0\"";
    assert!(Command::new("sh").args(["-c", script, &program]).status().unwrap().success());
    expect_problem(
        &folder,
        &expect![[r#"
            cannot run `ROOT/bin/kernpack`: No such file or directory (os error 2)
            help: see that it runs in a terminal"#]],
    );
}

#[test]
fn all_that_is_wrong_with_the_files_is_cargos_errors() {
    let folder = CrateFolder::new();
    let diagnostic = |code, severity, rendered| {
        json!({
            "code": code, "severity": severity, "message": "", "labels": [], "help": null,
            "detail": null, "rendered": rendered,
        })
    };
    let first = "error[unbound-symbol]: nothing gives `m` a value\n --> norm.toml:5:81\n  |\n";
    let second = "warning[kept-code]: `a.ptx` stays\n";
    let diagnostics =
        [diagnostic("unbound-symbol", "error", first), diagnostic("kept-code", "warning", second)];
    let error = json!({ "source": "norm.toml", "diagnostics": diagnostics });
    folder.answer(&json!({ "error": error }), "1");
    let error = folder.package("norm.toml").try_compile().unwrap_err();
    expect![[r#"
        error[unbound-symbol]: nothing gives `m` a value
         --> norm.toml:5:81
          |

        warning[kept-code]: `a.ptx` stays"#]]
    .assert_eq(&error.to_string());
    expect![[r#"
        cargo::error=error[unbound-symbol]: nothing gives `m` a value
        cargo::error= --> norm.toml:5:81
        cargo::error=  |
        cargo::warning=warning[kept-code]: `a.ptx` stays"#]]
    .assert_eq(&error.lines().join("\n"));
    assert_eq!(folder.made(), [""; 0]);
}

#[test]
fn what_is_wrong_in_no_file_says_how_the_program_was_run() {
    let mut folder = CrateFolder::new();
    folder.set("KERNPACK_ARCH", "sm_90a");
    folder.answer(&json!({ "error": { "message": "leave `--arch` out" } }), "1");
    let error = folder.package("norm.toml").try_compile().unwrap_err();
    let lines: Vec<_> = error.lines().iter().map(|line| folder.shown(line)).collect();
    let [what, how, whose] = &lines[..] else { panic!("three lines: {lines:#?}") };
    assert_eq!(what, "cargo::error=kernpack cannot build `norm.toml`: leave `--arch` out");
    let start = "cargo::error=note: it was run as `ROOT/bin/kernpack --json build \
                 --target=x86_64-linux-gnu --arch=sm_90a -o ROOT/out/.kernpack-";
    assert!(how.starts_with(start) && how.ends_with("/package.rs -- norm.toml`"), "{how}");
    assert_eq!(whose, "cargo::error=note: `--arch` is the variable KERNPACK_ARCH");
}

#[test]
fn a_program_that_crashes_has_its_last_words_shown() {
    let folder = CrateFolder::new();
    folder.write("bin/answer", "");
    folder.write("bin/stderr", "thread 'main' panicked\nout of memory\n");
    folder.write("bin/status", "killed");
    let error = folder.package("norm.toml").try_compile().unwrap_err().to_string();
    let error = folder.shown(&error);
    let start = "`ROOT/bin/kernpack` does not answer as kernpack does: it ended with signal: 9 \
                 (SIGKILL)\n  thread 'main' panicked\n  out of memory\nnote: it was run as `";
    assert!(error.starts_with(start), "{error}");
}

#[test]
fn an_answer_that_is_none_is_shown() {
    let folder = CrateFolder::new();
    folder.write("bin/answer", "all is well");
    let error = folder.package("norm.toml").try_compile().unwrap_err().to_string();
    assert!(error.contains("it ended with exit status: 0\n  all is well\n"), "{error}");
}

#[test]
fn outputs_that_are_not_there_are_missed() {
    let folder = CrateFolder::new();
    std::fs::remove_file(folder.path("bin/functions")).unwrap();
    let error = folder.package("norm.toml").try_compile().unwrap_err().to_string();
    let error = folder.shown(&error);
    let start = "`ROOT/bin/kernpack` says that it wrote `ROOT/out/.kernpack-";
    assert!(error.starts_with(start) && error.ends_with("/package.rs`, but that is not there"));
    assert_eq!(folder.made(), [""; 0]);
}

#[test]
fn a_folder_that_nothing_can_be_written_to_is_named() {
    let mut folder = CrateFolder::new();
    folder.write("file", "");
    folder.set("OUT_DIR", &folder.path("file"));
    let error = folder.package("norm.toml").try_compile().unwrap_err().to_string();
    let error = folder.shown(&error);
    let start = "cannot make the folder `ROOT/file/.kernpack-";
    assert!(error.starts_with(start) && error.contains("Not a directory"), "{error}");
}

#[test]
fn a_file_that_cargo_cannot_watch_is_refused() {
    let folder = CrateFolder::new();
    folder.answer(&json!({ "inputs": ["a\nb.h"], "warnings": [] }), "0");
    let error = folder.package("norm.toml").try_compile().unwrap_err().to_string();
    assert!(error.contains("it has a line break in it"), "{error}");
    assert_eq!(folder.made(), [""; 0]);
}

#[test]
fn two_packages_of_one_build_script_have_two_names() {
    let folder = CrateFolder::new();
    folder.write("crate/other.toml", "");
    folder.package("norm.toml").try_compile().unwrap();
    let error = folder.package("other.toml").try_compile().unwrap_err();
    expect![[r#"
        two packages of this build script have the name `norm`: `norm.toml` and `other.toml`
        help: give one of them another: a package file says it as `name`, and a kernel file has it as its own"#]]
    .assert_eq(&error.to_string());
    assert_eq!(folder.made(), ["libkernpack_norm.a", "norm.rs"]);
}
