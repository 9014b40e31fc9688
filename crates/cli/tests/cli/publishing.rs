// SPDX-License-Identifier: Apache-2.0
//! Files are read and written whole or not at all.

use crate::bench::{Bench, CHECKS, KERNPACK, Ran};
use expect_test::{Expect, expect};
use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{PermissionsExt, symlink};

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
            err: error[encoding]: the text is not UTF-8
            err:  --> latin1.toml:2:9
            err:   |
            err: 2 | name = "�"
            err:   |         ^ byte 18 is 0xe9
            err:   |
            err:   = help: save the file as UTF-8
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
        err: error: cannot write `none/a.so`: there is no folder `none`; make it first, or use `--out-dir`, which makes its own
    "#]],
    );
    // That is told before anything is compiled, or even read.
    bench.expect(
        &["build", "none.toml", "-o", "a.so", "--depfile", "none/deps/a.d"],
        expect![[r#"
        exit 1
        err: error: cannot write `none/deps/a.d`: there is no folder `none/deps`; make it first, or use `--out-dir`, which makes its own
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

/// Also where the link leads through another one, and to a file that is not there yet.
#[test]
fn a_link_stays_and_its_file_is_replaced() {
    let bench = Bench::with("checks.toml", CHECKS).and("old.h", "the old header");
    std::fs::create_dir(bench.path("far")).expect("a writable folder");
    for (link, to) in [
        ("a.h", "far/a.h"),
        ("far/a.h", "../old.h"),
        ("b.h", "far/new.h"),
        ("round.h", "ring.h"),
        ("ring.h", "round.h"),
        ("lost.h", "none/b.h"),
    ] {
        symlink(to, bench.path(link)).expect("a writable folder");
    }
    let ran = bench.run(["build", "checks.toml", "-o", "a.h", "-o", "b.h"]);
    assert_eq!(ran.to_string(), "exit 0\n");
    for link in ["a.h", "far/a.h", "b.h"] {
        assert!(bench.path(link).is_symlink(), "{link}");
    }
    let read = |name| std::fs::read_to_string(bench.path(name)).expect("it was written");
    assert!(read("old.h").contains("checks_check"));
    assert_eq!(read("old.h"), read("far/new.h"));
    bench.expect(
        &["build", "checks.toml", "-o", "round.h"],
        expect![[r#"
            exit 1
            err: error: cannot write `round.h`: too many links
        "#]],
    );
    bench.expect(
        &["build", "checks.toml", "-o", "lost.h"],
        expect![[r#"
            exit 1
            err: error: cannot write `lost.h`: No such file or directory (os error 2)
        "#]],
    );
    assert_eq!(bench.names("far"), ["a.h", "new.h"]);
}

#[test]
fn what_is_no_file_is_written_to() {
    let bench = Bench::with("checks.toml", CHECKS);
    let build = ["build", "checks.toml", "-o", "a.h", "--depfile"];
    let ran = bench.run(build.into_iter().chain(["/dev/stdout"]));
    assert_eq!(ran.to_string(), "exit 0\nout: a.h: \\\nout:   checks.toml\n");
    // Also where it goes to a file, which is not replaced.
    let log = bench.path("log");
    let mut command = bench.command(KERNPACK);
    command.args(build).arg("/dev/stdout");
    let status = command.stdout(File::create(&log).expect("a writable folder")).status();
    assert!(status.expect("it runs").success());
    assert_eq!(std::fs::read_to_string(log).expect("text"), "a.h: \\\n  checks.toml\n");
    // Root could replace it.
    assert_eq!(bench.run(build.into_iter().chain(["/dev/null"])).code, Some(0));
    assert!(!std::fs::metadata("/dev/null").expect("it is there").is_file());
}

#[test]
fn two_outputs_are_two_files() {
    let bench = Bench::with("checks.toml", CHECKS);
    let ran = bench.run(["build", "checks.toml", "-o", "a.h", "--depfile", "./a.h"]);
    assert_eq!(
        ran.to_string(),
        "exit 1\nerr: error: cannot write `./a.h`: it is the file `a.h`, too\n"
    );
    assert_eq!(bench.names("."), ["checks.toml"]);
}

#[test]
fn names_that_are_no_text_are_kept() {
    let name = |bytes: &[u8]| OsStr::from_bytes(bytes).to_os_string();
    let bench = Bench::with("checks.toml", CHECKS);
    let args = ["build", "--json", "checks.toml", "-o"].map(OsString::from);
    let rest = [name(b"a\xff.so"), "--depfile".into(), name(b"\xfe.d")];
    let ran = bench.run(args.into_iter().chain(rest));
    assert!(ran.stdout.contains("\"a\u{fffd}.so\""), "{ran}");
    let read = |bytes: &[u8]| std::fs::read(bench.path(".").join(name(bytes)));
    assert!(read(b"a\xff.so").expect("it was written").starts_with(b"\x7fELF"));
    assert_eq!(read(b"\xfe.d").expect("it was written"), b"a\xff.so: \\\n  checks.toml\n");

    std::fs::rename(bench.path("checks.toml"), bench.path(".").join(name(b"\xfd.toml"))).unwrap();
    let ran = bench.run([name(b"build"), name(b"\xfd.toml"), name(b"--out-dir"), name(b"\xfc")]);
    assert_eq!(ran.to_string(), "exit 0\n");
    assert!(bench.path(".").join(name(b"\xfc/checks.so")).is_file());
    let ran = bench.run([name(b"inspect"), name(b"\xfc/checks.so")]);
    assert_eq!(ran.code, Some(0), "{ran}");

    let folder = bench.path(".").join(name(b"\xfb $#"));
    std::fs::create_dir(&folder).expect("a writable folder");
    let package = CHECKS.to_string() + "source = { host = \"f.c\" }\nkernel = \"f\"\nargs = []\n";
    let code = "#include \"g.h\"\nvoid f(void) {}\n";
    for (file, text) in [("p.toml", &package[..]), ("f.c", code), ("g.h", "")] {
        std::fs::write(folder.join(file), text).expect("a writable folder");
    }
    let args = [&b"build"[..], b"\xfb $#/p.toml", b"-o", b"f.o", b"--depfile", b"f.d"].map(name);
    assert_eq!(bench.run(args).to_string(), "exit 0\n");
    let rule = read(b"f.d").expect("it was written");
    let lines: Vec<_> = rule.split(|byte| *byte == b'\n').collect();
    let own = b"  \xfb\\ $$\\#/g.h";
    assert!(lines.iter().any(|line| line.starts_with(own)), "{}", rule.escape_ascii());
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

/// Expects an outcome of a command where file systems are mounted for it and its children alone.
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
