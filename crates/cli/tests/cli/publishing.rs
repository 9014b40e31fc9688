// SPDX-License-Identifier: Apache-2.0
//! Files are read and written whole or not at all.

use crate::bench::{Bench, CHECKS, KERNPACK, Ran};
use expect_test::{Expect, expect};
use std::os::unix::fs::PermissionsExt;

#[test]
fn package_files_that_cannot_be_read() {
    let bench = Bench::new().and("latin1.toml", b"[package]\nname = \"\xe9\"\n");
    bench.expect(
        &["build", "none.toml", "-o", "a.so"],
        expect![[r#"
        exit 1
        err: error: cannot read `none.toml`: No such file or directory (os error 2)
    "#]],
    );
    bench.expect(
        &["build", ".", "-o", "a.so"],
        expect![[r#"
        exit 1
        err: error: cannot read `.`: Is a directory (os error 21)
    "#]],
    );
    bench.expect(
        &["build", "latin1.toml", "-o", "a.so"],
        expect![[r#"
        exit 1
        err: error: cannot read `latin1.toml`: stream did not contain valid UTF-8
    "#]],
    );
}

#[test]
fn places_that_cannot_be_written_to() {
    let bench = Bench::with("checks.toml", CHECKS);
    std::fs::create_dir(bench.path("folder.so")).expect("a writable folder");
    bench.expect(
        &["build", "checks.toml", "-o", "none/a.so"],
        expect![[r#"
        exit 1
        err: error: cannot write `none/a.so`: No such file or directory (os error 2)
    "#]],
    );
    bench.expect(
        &["build", "checks.toml", "-o", "/proc/a.so"],
        expect![[r#"
        exit 1
        err: error: cannot write `/proc/a.so`: No such file or directory (os error 2)
    "#]],
    );
    bench.expect(
        &["build", "checks.toml", "-o", "a.o", "-o", "folder.so"],
        expect![[r#"
        exit 1
        err: error: cannot write `folder.so`: it is a folder
    "#]],
    );
    bench.expect(
        &["build", "checks.toml", "--out-dir", "checks.toml"],
        expect![[r#"
        exit 1
        err: error: cannot make the folder `checks.toml`: File exists (os error 17)
    "#]],
    );
    assert_eq!(bench.names("."), ["checks.toml", "folder.so"]);
    assert!(bench.names("folder.so").is_empty());
}

#[test]
fn the_old_file_stays_where_the_new_one_fails() {
    let bench = Bench::with("checks.toml", CHECKS).and("a.h", "the old header");
    let ran = bench.run(["build", "checks.toml", "-o", "a.h", "-o", "none/a.so"]);
    assert_eq!(ran.code, Some(1));
    assert_eq!(std::fs::read(bench.path("a.h")).expect("it is still there"), b"the old header");
    assert_eq!(bench.run(["build", "checks.toml", "-o", "a.h"]).code, Some(0));
    assert_ne!(std::fs::read(bench.path("a.h")).expect("it was replaced"), b"the old header");
}

#[test]
fn a_build_does_not_write_over_what_it_reads() {
    let bench = Bench::with("checks.toml", CHECKS);
    let args = ["build", "checks.toml", "-o", "a.h", "--depfile", "./checks.toml"];
    bench.expect(
        &args,
        expect![[r#"
        exit 1
        err: error: cannot write `./checks.toml`: the build reads it
    "#]],
    );
    assert_eq!(bench.names("."), ["checks.toml"]);
}

#[test]
fn files_get_the_permissions_that_the_umask_leaves() {
    let bench = Bench::with("checks.toml", CHECKS);
    let line = format!("umask 027; {KERNPACK} build checks.toml -o a.so");
    assert!(bench.command("sh").args(["-c", &line]).status().expect("a shell").success());
    let mode = bench.path("a.so").metadata().expect("it was written").permissions().mode();
    assert_eq!(mode & 0o777, 0o640);
}

/// On a file system of 16 KiB, which only this process and its children see.
#[test]
fn a_full_disk_is_left_as_it_was() {
    let bench = Bench::with("checks.toml", CHECKS);
    let build = format!("{KERNPACK} build checks.toml -o full/a.h -o full/a.o -o full/a.so");
    expect_with_mounts(
        &bench,
        "mkdir -p full && mount -t tmpfs -o size=16k none full",
        &format!("{build}; echo status $?; ls -A full"),
        expect![[r#"
        exit 0
        out: status 1
        err: error: cannot write `full/a.o`: No space left on device (os error 28)
    "#]],
    );
}

#[test]
fn without_proc_nothing_is_linked() {
    let bench = Bench::with("checks.toml", CHECKS);
    expect_with_mounts(
        &bench,
        "mount -t tmpfs none /proc",
        &format!("{KERNPACK} build checks.toml -o a.so"),
        expect![[r#"
            exit 1
            err: error: the linker needs /proc, which is not mounted here
        "#]],
    );
}

/// What a command says and does where file systems are mounted that it and its children alone see.
fn expect_with_mounts(bench: &Bench, mount: &str, then: &str, expected: Expect) {
    let run = |then: &str| {
        let line = format!("{mount} && {{ {then}; }}");
        bench.command("unshare").args(["-rm", "sh", "-c", &line]).output()
    };
    if !run("true").is_ok_and(|output| output.status.success()) {
        eprintln!("SKIPPED: this system mounts no file system of a user's own");
        return;
    }
    expected.assert_eq(&Ran::from(run(then).expect("it ran before")).to_string());
}
