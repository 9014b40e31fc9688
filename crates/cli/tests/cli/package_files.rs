// SPDX-License-Identifier: Apache-2.0
//! Where a package file comes from, and what the command line overrules in it.

use crate::bench::{Bench, CHECKS, KERNPACK, ONE, Ran};
use expect_test::expect;
use std::io::Write;
use std::path::Path;
use std::process::Stdio;

/// Runs the program with a text as its standard input.
fn run_with(bench: &Bench, text: &str, args: &[&str]) -> Ran {
    let mut command = bench.command(KERNPACK);
    let (stdin, stdout, stderr) = (Stdio::piped(), Stdio::piped(), Stdio::piped());
    let child = command.args(args).stdin(stdin).stdout(stdout).stderr(stderr).spawn();
    let mut child = child.expect("the program runs");
    let mut stdin = child.stdin.take().expect("it is a pipe");
    // Where the program has enough, the rest of the text has nobody to read it.
    let _ = stdin.write_all(text.as_bytes());
    drop(stdin);
    child.wait_with_output().expect("the program runs").into()
}

#[test]
fn a_package_file_comes_from_the_standard_input() {
    let bench = Bench::new();
    for folder in ["here", "there"] {
        std::fs::create_dir(bench.path(folder)).expect("a writable folder");
    }
    let bench = bench.and("there/one.c", "void one(float* x) { *x = 1; }\n");
    let args = ["build", "-", "--base", "there", "-o", "one.so", "--depfile", "/dev/stdout"];
    let ran = run_with(&bench, ONE, &args);
    assert_eq!(ran.code, Some(0), "{ran}");
    assert!(ran.stdout.starts_with("one.so: \\\n  there/one.c"), "{ran}");

    // Without a folder, paths start at the current one.
    let ran = run_with(&bench, ONE, &["build", "-", "-o", "one.so"]);
    let expected = expect![[r#"
        exit 1
        err: error[source-file]: cannot read `one.c`: No such file or directory (os error 2)
        err:  --> <stdin>:6:19
        err:   |
        err: 6 | source = { host = "one.c" }
        err:   |                   ^^^^^^^
    "#]];
    expected.assert_eq(&ran.to_string());
    let ran = run_with(&bench, "[package]\nname = 3\n", &["build", "-", "-o", "one.so"]);
    assert!(ran.stderr.contains("--> <stdin>:2:8"), "{ran}");
}

#[test]
fn paths_start_at_another_folder_than_the_files() {
    let bench = Bench::new();
    for folder in ["files", "code"] {
        std::fs::create_dir(bench.path(folder)).expect("a writable folder");
    }
    let bench = bench.and("files/one.toml", ONE).and("code/one.c", "void one(float* x) {}\n");
    let build = ["build", "files/one.toml", "-o", "one.so"];
    assert_eq!(bench.run(build).code, Some(1));
    let ran = bench.run(build.into_iter().chain(["--base", "code"]));
    assert_eq!(ran.to_string(), "exit 0\n");
}

#[test]
fn a_text_has_an_end() {
    let bench = Bench::with("checks.toml", CHECKS);
    bench.expect(
        &["build", "/dev/zero", "-o", "a.h"],
        expect![[r#"
            exit 1
            err: error: cannot read `/dev/zero`: it has more than 16 MiB
        "#]],
    );
    let ran = run_with(&bench, &"#".repeat(17 << 20), &["build", "-", "-o", "a.h"]);
    let expected = expect![[r#"
        exit 1
        err: error: cannot read the standard input: it has more than 16 MiB
    "#]];
    expected.assert_eq(&ran.to_string());
    // As shells hand over what a command writes: `<(…)`.
    let line = format!("cat checks.toml | {KERNPACK} build /dev/stdin -o a.h");
    assert!(bench.command("sh").args(["-c", &line]).status().expect("a shell").success());
}

/// Builds a package of a CUDA C++ file and of PTX.
fn build_gpu(bench: &Bench, args: &[&str]) -> Ran {
    let own = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../.venv/bin/python");
    let python = std::env::var("KERNPACK_PYTHON").unwrap_or(own.display().to_string());
    let mut command = bench.command(KERNPACK);
    command.env("KERNPACK_PYTHON", python).args(["build", "gpu.toml"]).args(args);
    command.output().expect("the program runs").into()
}

#[test]
fn other_architectures_than_the_files() {
    let function = |name: &str, source: &str| {
        format!(
            "[[function]]\nsignature = \"{name}(x: Tensor([n], float32, mut))\"\nsource = {{ {source} }}\n\
             kernel = \"one\"\nargs = [\"x\"]\nlaunch = {{ grid = [1], block = [1] }}\n"
        )
    };
    let package = "[package]\nname = \"gpu\"\n".to_string();
    let compiled = function("a", "cuda = \"one.cu\", arch = [\"sm_75\"]");
    let ready = function("b", "ptx = \"one.ptx\"");
    let ptx = ".version 7.0\n.target sm_80\n.address_size 64\n.visible .entry one(.param .u64 x) { ret; }\n";
    let bench = Bench::with("gpu.toml", &(package.clone() + &compiled + &ready))
        .and("one.cu", "extern \"C\" __global__ void one(float* x) { x[0] = 1; }\n")
        .and("one.ptx", ptx);
    let ran = build_gpu(&bench, &["-o", "gpu.so", "--arch", "sm_90a,compute_80"]);
    let expected = expect![[r#"
        exit 0
        err: warning[kept-code]: `one.ptx` stays as it is: only CUDA C++ and kernel files take `--arch`
        err:   --> gpu.toml:11:18
        err:    |
        err: 11 | source = { ptx = "one.ptx" }
        err:    |                  ^^^^^^^^^
    "#]];
    expected.assert_eq(&ran.to_string());
    let shown = bench.run(["inspect", "gpu.so"]).stdout;
    assert!(shown.contains("CUDA C++: machine code for sm_90a, PTX for compute_80\n"), "{shown}");
    assert!(shown.contains("compiled GPU code: PTX for compute_80\n"), "{shown}");
    let ran = build_gpu(&bench, &["-o", "gpu.so", "--arch", "compute_90", "--json"]);
    let json: serde_json::Value = serde_json::from_str(&ran.stdout).expect("JSON");
    assert_eq!(json["warnings"][0]["code"], "kept-code", "{ran}");

    let bench = bench.and("gpu.toml", package + &ready);
    let ran = build_gpu(&bench, &["-o", "gpu.so", "--arch", "sm_90a"]);
    let expected = expect![[r#"
        exit 1
        err: error: no source of `gpu.toml` is CUDA C++ or a kernel file, which alone take `--arch`; leave it out
    "#]];
    expected.assert_eq(&ran.to_string());
    for wrong in ["sm90", "", "sm_90,", "sm_90,sm_90", "90"] {
        assert_eq!(build_gpu(&bench, &["-o", "gpu.so", "--arch", wrong]).code, Some(2), "{wrong}");
    }
}
