// SPDX-License-Identifier: Apache-2.0
//! Builds through the cache, and the command that looks after it.

use crate::bench::{Bench, CHECKS, KERNPACK, ONE, Ran};
use serde_json::Value;
use std::fs;

const WARNED: &str =
    "#warning \"look here\"\n#include \"value.h\"\nvoid one(float* x) { *x = V; }\n";

fn bench() -> Bench {
    Bench::with("one.toml", ONE).and("one.c", WARNED).and("value.h", "#define V 1\n")
}

fn run(bench: &Bench, args: &[&str], variables: &[(&str, &str)]) -> Ran {
    let mut command = bench.command(KERNPACK);
    command.args(args).envs(variables.iter().copied()).output().unwrap().into()
}

fn json(bench: &Bench, args: &[&str]) -> Value {
    let ran = run(bench, &[args, &["--json"]].concat(), &[]);
    serde_json::from_str(&ran.stdout).unwrap_or_else(|error| panic!("{error}: {}", ran.stdout))
}

const EVERYTHING: [&str; 7] =
    ["build", "one.toml", "--out-dir", "out", "--depfile", "one.d", "--json"];

#[test]
fn a_build_from_the_cache_is_the_same_in_all_that_it_leaves() {
    let bench = bench();
    let left = |args: &[&str], variables: &[(&str, &str)]| {
        let ran = run(&bench, args, variables).to_string();
        let files = bench.names("out").into_iter().map(|name| {
            let path = bench.path("out").join(&name);
            let bytes = fs::read(&path).unwrap();
            fs::remove_file(path).unwrap();
            (name, bytes)
        });
        let files: Vec<_> = files.collect();
        assert_eq!(files.len(), 5);
        (ran, files, fs::read_to_string(bench.path("one.d")).unwrap())
    };
    let without = left(&[&EVERYTHING[..], &["--no-cache"]].concat(), &[]);
    assert!(without.0.contains("look here"), "{}", without.0);
    assert!(json(&bench, &["cache", "show"])["entries"].as_array().unwrap().is_empty());
    let first = left(&EVERYTHING, &[]);
    // There is no compiler any more.
    let second = left(&EVERYTHING, &[("PATH", ""), ("CC", "")]);
    assert!(without == first, "{}\n{}", without.0, first.0);
    assert!(first == second, "{}\n{}", first.0, second.0);
}

#[test]
fn an_object_alone_comes_from_the_cache_too() {
    let bench = bench();
    let args = ["build", "one.toml", "-o", "one.o", "-o", "one.rs"];
    let [alone, first, second] = [
        (&[&args[..], &["--no-cache"]].concat()[..], &[][..]),
        (&args, &[]),
        // There is no compiler any more.
        (&args, &[("PATH", ""), ("CC", "")]),
    ]
    .map(|(args, variables)| {
        let ran = run(&bench, args, variables);
        assert_eq!(ran.code, Some(0), "{ran}");
        (ran.to_string(), ["one.o", "one.rs"].map(|name| fs::read(bench.path(name)).unwrap()))
    });
    assert!(alone == first && first == second, "{}\n{}\n{}", alone.0, first.0, second.0);
    assert_eq!(json(&bench, &["cache", "show"])["entries"].as_array().unwrap().len(), 1);
}

#[test]
fn an_object_may_need_what_no_shared_object_could_have() {
    let foreign = "void foreign(float*);\nvoid one(float* x) { foreign(x); }\n";
    let bench = Bench::with("one.toml", ONE).and("one.c", foreign);
    let refused = run(&bench, &["build", "one.toml", "-o", "one.so"], &[]);
    assert!(refused.stderr.contains("error[undefined-symbol]"), "{refused}");
    let ran = run(&bench, &["build", "one.toml", "-o", "one.o"], &[]);
    assert_eq!(ran.to_string(), "exit 0\n", "nothing is said of it");
    assert!(bench.path("one.o").is_file());
}

#[test]
fn what_is_wrong_is_said_once_whatever_is_wanted() {
    let bench = Bench::with("one.toml", ONE).and("one.c", "void one(float* x) { foreign(x) }\n");
    let [shared, object] =
        ["one.so", "one.o"].map(|name| run(&bench, &["build", "one.toml", "-o", name], &[]));
    assert!(object.stderr.contains("error[c-compiler]"), "{object}");
    assert_eq!(shared.to_string(), object.to_string());
}

#[test]
fn another_compiler_compiles_again_and_a_missing_one_does_not() {
    let own = "echo >> runs; exec cc \"$@\"";
    let bench = bench().and_program("one-cc", own).and_program("other-cc", &format!("{own} #"));
    let n_runs = |compiler: &str| {
        let args = ["build", "one.toml", "-o", "one.so"];
        let ran = run(&bench, &args, &[("CC", compiler)]);
        assert_eq!(ran.code, Some(0), "{ran}");
        assert!(ran.stderr.contains("look here"), "{ran}");
        fs::read_to_string(bench.path("runs")).unwrap().len()
    };
    assert_eq!(n_runs("./one-cc"), 1);
    assert_eq!(n_runs("./one-cc"), 1);
    assert_eq!(n_runs("./other-cc"), 2);
    assert_eq!(n_runs("./other-cc"), 2);
    assert_eq!(n_runs("./one-cc"), 2, "its record is still there");
    // Nothing of the others' serves who asks for one that is not there.
    let ran = run(&bench, &["build", "one.toml", "-o", "one.so"], &[("CC", "./none")]);
    assert_eq!(ran.code, Some(1), "{ran}");
    assert!(ran.stderr.contains("cannot run `./none`, the C compiler"), "{ran}");
    let ran = run(
        &bench,
        &["build", "one.toml", "-o", "one.so"],
        &[("CC", "./one-cc"), ("CPATH", "/nowhere")],
    );
    assert_eq!(ran.code, Some(0), "{ran}");
    assert_eq!(fs::read_to_string(bench.path("runs")).unwrap().len(), 3, "a variable it heeds");
}

#[test]
fn who_builds_may_compile_also_where_it_is_forbidden() {
    let bench = bench();
    let forbid = [("KERNPACK_JIT", "forbid")];
    assert_eq!(run(&bench, &["build", "one.toml", "-o", "one.so"], &forbid).code, Some(0));
}

#[test]
fn the_cache_is_shown_verified_and_cleared() {
    let bench = bench().and("checks.toml", CHECKS);
    for name in ["one", "checks"] {
        let ran = run(&bench, &["build", &format!("{name}.toml"), "-o", "a.so"], &[]);
        assert_eq!(ran.code, Some(0), "{ran}");
    }
    let shown = json(&bench, &["cache", "show"]);
    let entries = shown["entries"].as_array().unwrap();
    let mut names: Vec<_> =
        entries.iter().map(|entry| entry["package"].as_str().unwrap()).collect();
    names.sort();
    assert_eq!(names, ["checks", "one"]);
    assert!(entries.iter().all(|entry| entry["bytes"].as_u64().unwrap() > 10_000));
    let text = run(&bench, &["cache", "show"], &[]).stdout;
    assert!(text.contains("  checks: check\n") && text.contains("2 entries, "), "{text}");

    let verified = run(&bench, &["cache", "verify"], &[]);
    assert_eq!(verified.code, Some(0), "{verified}");
    assert!(verified.stdout.contains("4 entries and records are as they were written, 0 are not"));
    let damaged = std::path::Path::new(entries[0]["path"].as_str().unwrap()).join("package.h");
    fs::write(&damaged, "another header").unwrap();
    let verified = run(&bench, &["cache", "verify"], &[]);
    assert_eq!(verified.code, Some(1), "{verified}");
    assert!(verified.stdout.contains("the digest of its `package.h` is another"), "{verified}");
    assert!(!damaged.exists(), "it was set aside");
    assert_eq!(json(&bench, &["cache", "verify"])["damaged"].as_array().unwrap().len(), 0);

    let cleared = json(&bench, &["cache", "clear"]);
    assert_eq!(cleared["removed"]["entries"], 1, "{cleared}");
    assert_eq!(json(&bench, &["cache", "show"])["bytes"], 0);
}

#[test]
fn what_is_wrong_with_the_cache_is_a_warning_of_the_build() {
    let bench = bench().and("full", "no folder");
    let folder = bench.path("full");
    let variables = [("KERNPACK_CACHE_DIR", folder.to_str().unwrap())];
    let ran = run(&bench, &["build", "one.toml", "-o", "one.so", "--json"], &variables);
    assert_eq!(ran.code, Some(0), "{ran}");
    let answer: Value = serde_json::from_str(&ran.stdout).unwrap();
    let codes = answer["warnings"].as_array().unwrap().iter().map(|warning| &warning["code"]);
    assert_eq!(codes.collect::<Vec<_>>(), ["cache-unused", "compiler-warning"]);
    let off = [("KERNPACK_CACHE", "off"), variables[0]];
    let ran = run(&bench, &["cache", "show"], &off);
    assert_eq!(ran.to_string(), "exit 0\nout: no cache is in use\nout: 0 entries, 0 B\n");
}
