// SPDX-License-Identifier: Apache-2.0
//! The environment of a C compiler: folders that variables, `CC` and the options
//! of both name, and scripts in front of it.
//!
//! A variable belongs to a whole process, and so each question is asked by another one.

use super::bench::{Bench, Count, SCALE, expect_loadable};
use super::processes::say;
use crate::{Cache, Request};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Command;

/// A process of the tests below: says `compiled` or `found`.
#[test]
#[ignore = "a part of other tests"]
fn asker() {
    let Some(folder) = std::env::var_os("KERNPACK_TEST_FOLDER") else { return };
    let text = std::env::var("KERNPACK_TEST_TEXT").unwrap();
    let request = Request::new("demo.toml", &text, Path::new(&folder));
    let got = Cache::from_env().get(&request, &Count::default()).unwrap();
    expect_loadable(&got);
    say(if got.is_hit { "found" } else { "compiled" });
}

/// Whether the package is there already for a process that has these variables and is in the
/// bench's folder.
fn is_hit(bench: &Bench, text: &str, variables: &[(&str, &str)]) -> bool {
    let output = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "tests::variables::asker", "--ignored", "--nocapture"])
        .env("KERNPACK_TEST_FOLDER", bench.path("pkg"))
        .env("KERNPACK_TEST_TEXT", text)
        .env("KERNPACK_CACHE_DIR", bench.path("cache"))
        .envs(variables.iter().copied())
        .current_dir(bench.folder.path())
        .output()
        .unwrap();
    let said = String::from_utf8(output.stdout).unwrap();
    assert!(output.status.success(), "{said}");
    said.lines().any(|line| line == "found")
}

/// A bench whose C file begins with these lines and needs `FACTOR`.
fn bench(lines: &str) -> Bench {
    let bench = Bench::new();
    let rest = "void scale(float *x, long n) { for (long i = 0; i < n; i++) x[i] *= FACTOR; }";
    bench.write("pkg/scale.c", format!("{lines}\n{rest}\n"));
    bench
}

/// The package with these options.
fn with(options: &str) -> String {
    SCALE.replace("include =", &format!("options = [{options}], include ="))
}

fn script(bench: &Bench, text: &str) -> String {
    bench.write("cc", format!("#!/bin/sh\n{text}\n"));
    let path = bench.path("cc");
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
    path.display().to_string()
}

/// It is compiled, then there, and compiled again once it is changed so.
fn expect_seen(bench: &Bench, (text, variables): (&str, &[(&str, &str)]), change: impl Fn()) {
    let shown = || format!("{text}\n{variables:?}");
    assert!(!is_hit(bench, text, variables), "{}", shown());
    assert!(is_hit(bench, text, variables), "{}", shown());
    change();
    assert!(!is_hit(bench, text, variables), "changed: {}", shown());
}

#[test]
fn what_a_rule_for_make_leaves_out_by_itself_is_in_it() {
    let of_package = with("\"-isystem\", \"DIR/sys\"");
    for (text, cc) in [
        (&of_package, "gcc -MMD"),
        (&of_package, "gcc -Wp,-MMD,y.d"),
        (&of_package, "gcc -Wp,@opts"),
        (&of_package, "gcc @opts"),
    ] {
        let bench = bench("#include <only.h>");
        let text = text.replace("DIR", bench.folder.path().to_str().unwrap());
        bench.write("opts", "-DOTHER -MMD");
        bench.write("sys/only.h", "#define FACTOR 2\n");
        let cc = cc.replace("@", &format!("@{}/", bench.folder.path().display()));
        expect_seen(&bench, (&text, &[("CC", &cc)]), || {
            bench.write("sys/only.h", "#define FACTOR 3\n");
        });
    }
}

#[test]
fn files_of_options_of_the_compiler_count() {
    for mark in ["@", "-Wp,@", "-Wp,-DX,@"] {
        let bench = bench("");
        bench.write("opts", "-DFACTOR=2");
        expect_seen(&bench, (SCALE, &[("CC", &format!("gcc {mark}opts"))]), || {
            bench.write("opts", "-DFACTOR=3");
        });
    }
}

#[test]
fn without_a_rule_for_make_nothing_is_found_again() {
    let bench = bench("#define FACTOR 2");
    let cc = script(&bench, "exec gcc \"$@\" -Wp,-MMD,/dev/null");
    for _ in 0..2 {
        assert!(!is_hit(&bench, SCALE, &[("CC", &cc)]));
    }
}

/// Folders `a`, `b` and `c` in this order, by each of the ways to name them past the package's
/// `include`.
fn ways(bench: &Bench) -> Vec<(String, Vec<(&'static str, String)>)> {
    let of = |name: &str| bench.path(name).display().to_string();
    let joined = format!("{}:{}:{}", of("a"), of("b"), of("c"));
    let option = |name: &str| format!("\"--include-directory\", \"{}\"", of(name));
    let options = ["a", "b", "c"].map(option).join(", ");
    let words = format!("gcc -I{} -I {} -isystem {}", of("a"), of("b"), of("c"));
    vec![
        (SCALE.to_string(), vec![("CPATH", joined.clone())]),
        (SCALE.to_string(), vec![("C_INCLUDE_PATH", joined)]),
        (SCALE.to_string(), vec![("CC", script(bench, &format!("exec {words} \"$@\"")))]),
        (SCALE.to_string(), vec![("CC", words)]),
        (with(&options), vec![]),
    ]
}

#[test]
fn headers_of_other_folders_are_read_like_ones_own() {
    let lines = "#include <sub/x.h>\n#include <z.h>";
    for at in 0..ways(&Bench::new()).len() {
        let bench = bench(lines);
        let (text, variables) = ways(&bench).swap_remove(at);
        let variables: Vec<_> = variables.iter().map(|(name, it)| (*name, &it[..])).collect();
        bench.write("a/sub/x.h", "#include \"y.h\"\n");
        bench.write("b/y.h", "#define FACTOR 2\n");
        bench.write("a/z.h", "#include_next <z.h>\n");
        bench.write("c/z.h", "#define OTHER 2\n");
        expect_seen(&bench, (&text, &variables), || {
            bench.write("a/sub/y.h", "#define FACTOR 3\n");
        });
        assert!(is_hit(&bench, &text, &variables), "{variables:?}");
        bench.write("b/z.h", "#define OTHER 3\n");
        assert!(!is_hit(&bench, &text, &variables), "{variables:?}");
        assert!(is_hit(&bench, &text, &variables), "{variables:?}");
    }
}

#[test]
fn what_an_assembler_reads_in_a_header_of_another_folder_is_not_found_again() {
    let bench = bench("#include <blob.h>\n#define FACTOR 2");
    let line = "__asm__(\".section .rodata\\n.incbin \\\"DATA\\\"\\n.text\");\n";
    bench.write("a/blob.h", line.replace("DATA", bench.path("data").to_str().unwrap()));
    bench.write("data", "one");
    let folder = bench.path("a").display().to_string();
    for _ in 0..2 {
        assert!(!is_hit(&bench, SCALE, &[("CPATH", &folder)]));
    }
}

#[test]
fn a_name_in_angles_is_not_looked_for_in_folders_of_quoted_ones() {
    let lines = "#include <fac.h>\n#if __has_include(<new.h>)\n#define OTHER\n#endif";
    let bench = bench(lines);
    let quoted = bench.path("a").display().to_string();
    let text = with(&format!("\"-iquote\", \"{quoted}\""));
    bench.write("a/fac.h", "#define FACTOR 1\n");
    bench.write("a/new.h", "");
    bench.write("pkg/second/fac.h", "#define FACTOR 2\n");
    expect_seen(&bench, (&text, &[]), || bench.write("pkg/first/new.h", ""));
    assert!(is_hit(&bench, &text, &[]));
    bench.write("pkg/first/fac.h", "#define FACTOR 3\n");
    assert!(!is_hit(&bench, &text, &[]));
}

#[test]
fn variables_that_a_script_reads_count() {
    for text in [
        "exec gcc -DFACTOR=$KERNPACK_TEST_FACTOR \"$@\"",
        "exec gcc \"-DFACTOR=${KERNPACK_TEST_FACTOR:-1}\" \"$@\"",
    ] {
        let bench = bench("");
        let cc = script(&bench, text);
        let is_hit =
            |factor: &str| is_hit(&bench, SCALE, &[("CC", &cc), ("KERNPACK_TEST_FACTOR", factor)]);
        assert!(!is_hit("2"), "{text}");
        assert!(is_hit("2"), "{text}");
        assert!(!is_hit("3"), "{text}");
        assert!(is_hit("2"), "{text}");
    }
}
