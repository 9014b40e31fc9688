// SPDX-License-Identifier: Apache-2.0
//! The compilers of sources: which C compiler runs, what is said where none does, and what they
//! warn of.

use crate::bench::{Bench, KERNPACK, ONE, Ran};
use expect_test::{Expect, expect};
use std::path::Path;

/// A package whose C file has this text.
fn with_c(text: &str) -> Bench {
    Bench::with("one.toml", ONE).and("one.c", text)
}

/// Builds it with these variables, and no others that name a compiler.
fn build(bench: &Bench, variables: &[(&str, &str)], args: &[&str]) -> Ran {
    let mut command = bench.command(KERNPACK);
    command.env_remove("CC").env_remove(own_variable()).envs(variables.iter().copied());
    command.args(["build", "one.toml", "-o", "one.so"]).args(args);
    command.output().expect("the program runs").into()
}

/// The variable of this machine's target.
fn own_variable() -> String {
    format!("CC_{}_linux_gnu", std::env::consts::ARCH)
}

#[test]
fn a_compiler_may_have_arguments_and_a_program_in_front() {
    let text =
        "#if SIZE != 3 || !defined BY_WRAP\n#error\n#endif\nvoid one(float* x) { *x = SIZE; }\n";
    let bench = with_c(text).and_program("wrap", "exec \"$@\" -DBY_WRAP");
    let ran = build(&bench, &[("CC", "  ./wrap  cc\t-DSIZE=3 ")], &[]);
    assert_eq!(ran.to_string(), "exit 0\n");
    // The target's own variable goes first, whatever the other names.
    let variables = [("CC", "./missing"), (&own_variable()[..], "./wrap cc -DSIZE=3")];
    assert_eq!(build(&bench, &variables, &[]).to_string(), "exit 0\n");
}

#[test]
fn a_variable_without_a_program_counts_as_unset() {
    let bench = with_c("void one(float* x) { *x = 1; }\n");
    for empty in ["", " "] {
        let variables = [("CC", empty), (&own_variable()[..], empty)];
        assert_eq!(build(&bench, &variables, &[]).to_string(), "exit 0\n");
    }
    // The empty one hides nothing behind it.
    let variables = [("CC", "./missing"), (&own_variable()[..], "")];
    let ran = build(&bench, &variables, &["--no-cache"]);
    assert!(ran.stderr.contains("(from CC=\"./missing\")"), "{ran}");
}

#[test]
fn a_compiler_that_cannot_be_run_is_named_with_its_variable() {
    let bench = with_c("void one(float* x) { *x = 1; }\n").and_program("idle", "exit 0");
    let bench = bench.and_program("mute", "exit 3");
    let expect_error = |variables: &[(&str, &str)], args: &[&str], expected: Expect| {
        expected.assert_eq(&build(&bench, variables, args).to_string());
        assert!(!bench.names(".").contains(&"one.so".to_string()));
    };
    expect_error(
        &[("CC", "./missing")],
        &[],
        expect![[r#"
            exit 1
            err: error[c-compiler]: cannot run `./missing`, the C compiler for `one.c` (from CC="./missing"): No such file or directory (os error 2); set CC to a C compiler, or unset it
            err:  --> one.toml:6:19
            err:   |
            err: 6 | source = { host = "one.c" }
            err:   |                   ^^^^^^^
        "#]],
    );
    expect_error(
        &[("CC", "./missing gcc -m64")],
        &[],
        expect![[r#"
            exit 1
            err: error[c-compiler]: cannot run `./missing`, the C compiler for `one.c` (from CC="./missing gcc -m64"): No such file or directory (os error 2); set CC to a C compiler, or unset it
            err:  --> one.toml:6:19
            err:   |
            err: 6 | source = { host = "one.c" }
            err:   |                   ^^^^^^^
        "#]],
    );
    expect_error(
        &[("CC", "/")],
        &[],
        expect![[r#"
            exit 1
            err: error[c-compiler]: cannot run `/`, the C compiler for `one.c` (from CC="/"): Permission denied (os error 13); set CC to a C compiler, or unset it
            err:  --> one.toml:6:19
            err:   |
            err: 6 | source = { host = "one.c" }
            err:   |                   ^^^^^^^
        "#]],
    );
    let aarch64 = ["--target", "aarch64-linux-gnu"];
    expect_error(
        &[("CC_aarch64_linux_gnu", "/missing")],
        &aarch64,
        expect![[r#"
            exit 1
            err: error[c-compiler]: cannot run `/missing`, the C compiler for `one.c` (from CC_aarch64_linux_gnu="/missing"): No such file or directory (os error 2); set CC_aarch64_linux_gnu to a C compiler, or unset it
            err:  --> one.toml:6:19
            err:   |
            err: 6 | source = { host = "one.c" }
            err:   |                   ^^^^^^^
        "#]],
    );
    expect_error(
        &[("CC", "./idle")],
        &[],
        expect![[r#"
            exit 1
            err: error[c-compiler]: `./idle` (from CC="./idle") made no object of `one.c`; set CC to a C compiler, or unset it
            err:  --> one.toml:6:19
            err:   |
            err: 6 | source = { host = "one.c" }
            err:   |                   ^^^^^^^
        "#]],
    );
    expect_error(
        &[("CC", "./mute")],
        &[],
        expect![[r#"
            exit 1
            err: error[c-compiler]: `./mute` refused `one.c`
            err:  --> one.toml:6:19
            err:   |
            err: 6 | source = { host = "one.c" }
            err:   |                   ^^^^^^^
            err: it says nothing, and ended with exit status: 3
        "#]],
    );
    expect_error(
        &[("PATH", ""), ("CC", "")],
        &aarch64,
        expect![[r#"
            exit 1
            err: error[c-compiler]: no C compiler for `one.c`: tried aarch64-linux-gnu-gcc; install one, or set CC_aarch64_linux_gnu to its path
            err:  --> one.toml:6:19
            err:   |
            err: 6 | source = { host = "one.c" }
            err:   |                   ^^^^^^^
        "#]],
    );
}

/// The name of the folder is random, and in the system's own words.
#[test]
fn a_folder_that_cannot_be_made_is_not_the_source_that_cannot_be_read() {
    let ran = build(&with_c(""), &[("CC", "cc"), ("TMPDIR", "/missing")], &[]);
    let start = "error[c-compiler]: cannot make a folder in `/missing`, where the C compiler is to write: No such file";
    assert!(ran.stderr.starts_with(start), "{ran}");
    let end = "; set TMPDIR to a folder that can be written to\n --> one.toml:6:19\n";
    assert!(ran.stderr.contains(end), "{ran}");
}

#[test]
fn what_the_c_compiler_warns_of_is_shown() {
    let bench = with_c("#warning old\nvoid one(float* x) { *x = 1; }\n");
    let ran = build(&bench, &[], &[]);
    assert_eq!((ran.code, &ran.stdout[..]), (Some(0), ""), "{ran}");
    let (drawn, words) = ran.stderr.split_once("./one.c:1:2: ").expect("the compiler's words");
    expect![[r#"
        warning[compiler-warning]: the C compiler warns of `one.c`
         --> one.toml:6:19
          |
        6 | source = { host = "one.c" }
          |                   ^^^^^^^
    "#]]
    .assert_eq(drawn);
    assert!(words.starts_with("warning: #warning old"), "{ran}");
    assert!(words.ends_with('\n') && !words.ends_with("\n\n"), "{ran}");

    let as_json = build(&bench, &[], &["--json"]);
    assert_eq!(as_json.stderr, "", "{as_json}");
    let json: serde_json::Value = serde_json::from_str(&as_json.stdout).expect("JSON");
    let warnings = json["warnings"].as_array().expect("a list");
    assert_eq!(warnings.len(), 1, "{as_json}");
    let detail = warnings[0]["detail"].as_str().expect("text");
    assert_eq!(format!("./one.c:1:2: {}", words.trim_end()), detail);
    let keys = ["code", "severity", "message", "labels", "help", "detail"];
    assert!(keys.iter().all(|key| warnings[0].get(key).is_some()), "{as_json}");
    assert_eq!(warnings[0]["code"], "compiler-warning");
    assert_eq!(warnings[0]["severity"], "warning");
    expect![[r#"
        {
          "file": "one.toml",
          "start": 103,
          "end": 110,
          "line": 6,
          "column": 19,
          "text": ""
        }"#]]
    .assert_eq(&format!("{:#}", warnings[0]["labels"][0]));
}

/// CUDA C++ in two instances, and a variable that nobody uses.
#[test]
fn what_nvrtc_warns_of_is_shown_once_for_all_architectures() {
    let text = "extern \"C\" __global__ void one(float* x) { int unused; x[0] = 1; }\n";
    let package = ONE.replace(
        "{ host = \"one.c\" }",
        "{ cuda = \"one.cu\", arch = [\"sm_80\", \"sm_90\", \"compute_80\"] }\nlaunch = { grid = [1], block = [1] }",
    );
    let bench = Bench::with("one.toml", &package).and("one.cu", text);
    let own = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../.venv/bin/python");
    let python = std::env::var("KERNPACK_PYTHON").unwrap_or(own.display().to_string());
    let ran = build(&bench, &[("KERNPACK_PYTHON", &python)], &[]);
    assert_eq!((ran.code, &ran.stdout[..]), (Some(0), ""), "{ran}");
    assert!(
        ran.stderr.starts_with("warning[compiler-warning]: NVRTC warns of `one.cu`\n"),
        "{ran}"
    );
    assert!(ran.stderr.contains("\none.cu(1): warning #177-D: "), "{ran}");
    assert_eq!(ran.stderr.matches("warning #").count(), 1, "{ran}");

    let shown = bench.run(["inspect", "one.so"]).stdout;
    let launch = shown.lines().skip_while(|line| !line.starts_with("    launches")).take(3);
    let launch: String = launch.map(|line| format!("{}\n", &line[4..])).collect();
    expect![[r#"
        launches one(x)
          CUDA C++: machine code for sm_80, machine code for sm_90, PTX for compute_80
          grid [1], block [1]
    "#]]
    .assert_eq(&launch);
}

#[test]
fn files_without_bytes_are_told_so() {
    for (key, file) in [
        ("host", "a.o"),
        ("host", "a.a"),
        ("ptx", "a.ptx"),
        ("cubin", "a.cubin"),
        ("fatbin", "a.fatbin"),
    ] {
        let layout = if key == "host" { "" } else { "\nlaunch = { grid = [1], block = [1] }" };
        let source = format!("{{ {key} = \"{file}\" }}{layout}");
        let bench =
            Bench::with("one.toml", &ONE.replace("{ host = \"one.c\" }", &source)).and(file, "");
        let expected = format!(
            "exit 1\nerr: error[source-file]: `{file}` is empty; build or copy it again\nerr:  --> one.toml:6:"
        );
        let ran = build(&bench, &[], &[]).to_string();
        let code = if key == "host" { "source-file" } else { "gpu-image" };
        assert!(ran.starts_with(&expected.replace("source-file", code)), "{ran}");
    }
}
