// SPDX-License-Identifier: Apache-2.0
//! `check` finds what `build` finds, and writes nothing.

use crate::bench::{Bench, CHECKS, KERNPACK, Ran};
use std::path::Path;

/// A package of one launch.
fn package(source: &str, more: &str) -> String {
    format!(
        "[package]\nname = \"one\"\n[[function]]\nsignature = \"one(x: Tensor([n], float32, mut))\"\n\
         source = {{ {source} }}\nkernel = \"one\"\nargs = [\"x\"]\n{more}"
    )
}

const ON_GPU: &str = "launch = { grid = [1], block = [1] }\n";

fn run(bench: &Bench, args: &[&str]) -> Ran {
    let own = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../.venv/bin/python");
    let python = std::env::var("KERNPACK_PYTHON").unwrap_or(own.display().to_string());
    let mut command = bench.command(KERNPACK);
    command.env("KERNPACK_PYTHON", python).args(args).output().expect("the program runs").into()
}

#[test]
fn what_a_build_refuses_is_found_without_one() {
    let on_host = package("host = \"one.c\"", "");
    let on_gpu = package("cuda = \"one.cu\"", ON_GPU);
    let refused = [
        (on_host.replace("[n]", "[n, 2*k + q]"), "void one(float* x) {}"),
        (on_host.replace("one.c", "none.c"), ""),
        (on_host.clone(), "void two(float* x) {}"),
        (on_host.clone(), "void one(float* x) { return 1 }"),
        (on_host.clone(), "void helper(float*);\nvoid one(float* x) { helper(x); }"),
        (on_gpu.clone(), "__global__ void one(float* x) { x = 1; }"),
        (on_gpu.clone(), "__global__ void two(float* x) {}"),
        (on_gpu.clone(), "__global__ void one(float* x, int n) {}"),
        ("[package]\n".to_string(), ""),
    ];
    for (package, code) in refused {
        let bench = Bench::with("one.toml", &package).and("one.c", code).and("one.cu", code);
        for json in [&[][..], &["--json"]] {
            let built = run(&bench, &[&["build", "one.toml", "-o", "one.so"], json].concat());
            let checked = run(&bench, &[&["check", "one.toml"], json].concat());
            assert_eq!(built.code, Some(1), "{package}{code}\n{built}");
            assert_eq!(checked.to_string(), built.to_string());
        }
        assert_eq!(bench.names("."), ["one.c", "one.cu", "one.toml"]);
    }
}

#[test]
fn what_a_build_warns_of_is_said() {
    let code = "#warning old\nvoid one(float* x) { *x = 1; }\n";
    let bench = Bench::with("one.toml", &package("host = \"one.c\"", "")).and("one.c", code);
    let built = run(&bench, &["build", "one.toml", "-o", "one.o"]);
    let checked = run(&bench, &["check", "one.toml"]);
    assert_eq!(checked.to_string(), built.to_string());
    let json = |ran: Ran| -> serde_json::Value { serde_json::from_str(&ran.stdout).expect("JSON") };
    let built = json(run(&bench, &["build", "one.toml", "-o", "one.o", "--json"]));
    let checked = json(run(&bench, &["check", "one.toml", "--json"]));
    for key in ["package", "target", "inputs", "warnings"] {
        assert_eq!(checked[key], built[key], "{key}");
    }
    assert_eq!(checked.get("outputs"), None);
}

/// Code for entry points is made where it is linked with a host function's, and only there.
#[test]
fn nothing_is_written_and_no_code_made_that_nobody_could_refuse() {
    let expect_phases = |bench: &Bench, file: &str, linked: bool| {
        let before = bench.names(".");
        let ran = run(bench, &["check", file, "--verbose"]);
        assert_eq!((ran.code, &ran.stdout[..]), (Some(0), ""), "{ran}");
        assert!(ran.stderr.contains("plan"), "{ran}");
        assert_eq!(ran.stderr.contains("link_shared"), linked, "{ran}");
        assert_eq!(bench.names("."), before);
    };
    expect_phases(&Bench::with("checks.toml", CHECKS), "checks.toml", false);
    let code = "void one(float* x) { *x = 1; }\n";
    let host = Bench::with("one.toml", &package("host = \"one.c\"", "")).and("one.c", code);
    expect_phases(&host, "one.toml", true);
    let code = "__global__ void one(float* x) { x[0] = 1; }\n";
    let gpu = Bench::with("one.toml", &package("cuda = \"one.cu\"", ON_GPU)).and("one.cu", code);
    expect_phases(&gpu, "one.toml", false);
}

#[test]
fn another_target_and_architecture_are_checked_for() {
    let code = "__global__ void one(float* x) {\n#if __CUDA_ARCH__ < 900\n#error old\n#endif\n}\n";
    let bench = Bench::with("one.toml", &package("cuda = \"one.cu\"", ON_GPU)).and("one.cu", code);
    assert_eq!(run(&bench, &["check", "one.toml"]).code, Some(1));
    assert_eq!(run(&bench, &["check", "one.toml", "--arch", "sm_90a"]).to_string(), "exit 0\n");
    let asm = "void one(float* x) { __asm__(\"pushq %rax; popq %rax\"); }\n";
    let bench = Bench::with("one.toml", &package("host = \"one.c\"", "")).and("one.c", asm);
    let codes = ["x86_64-linux-gnu", "aarch64-linux-gnu"]
        .map(|target| run(&bench, &["check", "one.toml", "--target", target]).code);
    assert_eq!(codes, [Some(0), Some(1)]);
}
