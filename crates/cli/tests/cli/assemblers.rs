// SPDX-License-Identifier: Apache-2.0
//! Kernels that use matrix units, which ptxas assembles: found or not, and what it remarks on.

use crate::bench::{Bench, KERNPACK, Ran};
use expect_test::expect;

/// A product whose sums are used as `BETWEEN` says before the last one is waited for.
const PRODUCT: &str = r#"
import kernpack as kp


@kp.kernel
def multiply(out):
    zero = kp.float32(0)
    kp.ptx(
        "{ .reg .f32 f<8>; .reg .b64 d; .reg .b32 i; .reg .pred p; mov.u64 d, 4611686293305294848; mov.b32 i, 0; "
        "mov.f32 f0, {1}; mov.f32 f1, {1}; mov.f32 f2, {1}; mov.f32 f3, {1}; "
        "L: wgmma.fence.sync.aligned; "
        "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 { f0, f1, f2, f3 }, d, d, 1, 1, 1, 0, 0; "
        "wgmma.commit_group.sync.aligned; wgmma.wait_group.sync.aligned 1; BETWEEN"
        "add.u32 i, i, 1; setp.lt.u32 p, i, 8; @p bra L; wgmma.wait_group.sync.aligned 0; "
        "st.global.v4.f32 [{0}], { f0, f1, f2, f3 }; }",
        out.iterator,
        zero,
    )


@kp.jit("product(out: Tensor([n], float32, align=16, mut)) where n >= 4")
def product(out):
    multiply(out).launch(grid=1, block=128)
"#;

/// A product whose sums are used before it is waited for.
const EARLY: &str = r#"
import kernpack as kp

DESCRIPTOR = 4611686293305294848


@kp.kernel
def multiply(out):
    kp.ptx("wgmma.fence.sync.aligned;")
    sums = kp.ptx(
        "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 { {0}, {1}, {2}, {3} }, {4}, {4}, 0, 1, 1, 0, 0;",
        kp.uint64(DESCRIPTOR),
        result=(kp.float32, kp.float32, kp.float32, kp.float32),
        effects=True,
    )
    kp.ptx("wgmma.commit_group.sync.aligned;")
    out[kp.thread_idx()[0]] = sums[1]
    kp.ptx("wgmma.wait_group.sync.aligned 0;")

"#;

/// The package of it, with lines in its code.
const WITH_LINES: &str = r#"
[package]
name = "early"
[[function]]
signature = "early(out: Tensor([n], float32, mut)) where n >= 128"
kernel = "multiply"
args = ["out"]
launch = { grid = [1], block = [128] }
source = { kernel = "early.py", line_info = true, arch = ["sm_90a"] }
"#;

fn bench(between: &str) -> Bench {
    Bench::with("product.py", &PRODUCT.replace("BETWEEN", between))
}

/// Builds it for Hopper with these variables.
fn build(bench: &Bench, variables: &[(&str, &str)]) -> Ran {
    let args = ["build", "product.py", "-o", "product.so", "--arch", "sm_90a"];
    run(bench, variables, &args)
}

/// Runs the program, which finds the assembler of the tests' Python.
pub(crate) fn run(bench: &Bench, variables: &[(&str, &str)], args: &[&str]) -> Ran {
    let own = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../.venv/bin/python");
    let python = std::env::var("KERNPACK_PYTHON").unwrap_or(own.display().to_string());
    let mut command = bench.command(KERNPACK);
    command.env("KERNPACK_PYTHON", python).env_remove("KERNPACK_PTXAS");
    command.envs(variables.iter().copied());
    command.args(args).output().expect("the program runs").into()
}

/// The line of `inspect` that says what code there is.
fn code(bench: &Bench) -> String {
    let shown = bench.run(["inspect", "product.so"]).stdout;
    let line = shown.lines().find(|line| line.contains("kernel: "));
    line.unwrap_or_else(|| panic!("{shown}")).trim().to_string()
}

/// Somebody who says the version of a ptxas, and does not its work.
fn with_fake(bench: Bench, script: &str) -> Bench {
    let version =
        "[ \"$1\" = --version ] && { echo 'ptxas: x'; echo 'tools, release 12.8, V1'; exit; }";
    bench.and_program("ptxas", &format!("{version}\n{script}"))
}

#[test]
fn its_version_is_in_the_package_and_another_one_compiles_anew() {
    let bench = bench("");
    let none = [("KERNPACK_PTXAS", "/none/ptxas")];
    expect![[r#"
        exit 0
        err: warning[no-assembler]: for sm_90a there is PTX, which the driver assembles where it is loaded: found no ptxas, the assembler for kernels that use matrix units; install the Python package nvidia-cuda-nvcc, or set KERNPACK_PTXAS to the path of ptxas; these places were looked at
        err:   --> product.py:8:5
        err:    |
        err:  8 | /     kp.ptx(
        err:  9 | |         "{ .reg .f32 f<8>; .reg .b64 d; .reg .b32 i; .reg .pred p; mov.u64 d, 4611686293305294848; mov.b32 i, 0; "
        err: 10 | |         "mov.f32 f0, {1}; mov.f32 f1, {1}; mov.f32 f2, {1}; mov.f32 f3, {1}; "
        err: 11 | |         "L: wgmma.fence.sync.aligned; "
        err: ...  |
        err: 17 | |         zero,
        err: 18 | |     )
        err:    | |_____^
        err:   /none/ptxas: is not there
    "#]]
    .assert_eq(&build(&bench, &none).to_string());
    assert_eq!(code(&bench), "kernel: PTX for compute_90a");
    // From the cache, with the warning again.
    let again = build(&bench, &none);
    assert!(
        again.stderr.starts_with("warning[no-assembler]: for sm_90a there is PTX, "),
        "{again}"
    );
    assert_eq!(build(&bench, &[]).to_string(), "exit 0\n");
    let made = code(&bench);
    assert!(made.starts_with("kernel: machine code for sm_90a by ptxas 1"), "{made}");
    // What it was made by is gone: it is still what it was.
    assert_eq!(build(&bench, &none).to_string(), "exit 0\n");
    assert_eq!(code(&bench), made);
    let bench = with_fake(bench, "exit 3");
    let other = build(&bench, &[("KERNPACK_PTXAS", "./ptxas")]);
    assert!(other.stderr.contains("failed with code 3, and said nothing"), "{other}");
}

#[test]
fn one_that_does_not_run_is_an_error() {
    let bench = bench("").and_program("ptxas", "echo hello");
    let ran = build(&bench, &[("KERNPACK_PTXAS", "./ptxas")]);
    expect![[r#"
        exit 1
        err: error[gpu-assembler]: found no ptxas that runs, the assembler for kernels that use matrix units; install the Python package nvidia-cuda-nvcc, or set KERNPACK_PTXAS to the path of ptxas; these places were looked at
        err:  --> product.py:1:1
        err:   |
        err: 1 |
        err:   | ^
        err:   ./ptxas: says no version of ptxas, but `hello`
    "#]].assert_eq(&ran.to_string());
}

#[test]
fn what_slows_products_down_is_told_at_their_line() {
    let read = "ex2.approx.f32 f5, f1; st.global.f32 [{0} + 4], f5; ";
    expect![[r#"
        exit 1
        err: error[serialized-products]: products of `multiply` wait for one another for sm_90a: their sums are read while they are in flight
        err:   --> product.py:8:5
        err:    |
        err:  8 | /     kp.ptx(
        err:  9 | |         "{ .reg .f32 f<8>; .reg .b64 d; .reg .b32 i; .reg .pred p; mov.u64 d, 4611686293305294848; mov.b32 i, 0; "
        err: 10 | |         "mov.f32 f0, {1}; mov.f32 f1, {1}; mov.f32 f2, {1}; mov.f32 f3, {1}; "
        err: 11 | |         "L: wgmma.fence.sync.aligned; "
        err: ...  |
        err: 17 | |         zero,
        err: 18 | |     )
        err:    | |_____^
        err:    |
        err:    = help: wait for the products first, by `wgmma.wait_group`
        err: Potential Performance Loss: wgmma.mma_async instructions are serialized due to non wgmma instructions reading accumulator registers of  a wgmma between start and end of the pipeline stage in the function 'multiply'
    "#]].assert_eq(&build(&bench(read), &[]).to_string());
}

#[test]
fn with_lines_in_the_code_a_remark_stands_at_its_own() {
    let bench = Bench::with("early.toml", WITH_LINES).and("early.py", EARLY);
    let ran = run(&bench, &[], &["build", "early.toml", "-o", "early.so"]);
    expect![[r#"
        exit 0
        err: warning[injected-wait]: products of `multiply` are waited for early for sm_90a: sums are used before any wait for them
        err:   --> early.py:17:5
        err:    |
        err: 17 |     out[kp.thread_idx()[0]] = sums[1]
        err:    |     ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
        err:    |
        err:    = help: wait for the products first, by `wgmma.wait_group`
        err: warpgroup.wait is injected in around line 41 by compiler to allow use of registers defined by GMMA in function 'multiply'
    "#]]
    .assert_eq(&ran.to_string());
}

#[test]
fn who_wants_to_see_machine_code_is_told_that_there_is_no_ptxas() {
    let none = [("KERNPACK_PTXAS", "/none/ptxas")];
    for form in ["sass", "resources"] {
        let args = ["emit", "product.py", "--as", form, "--arch", "sm_90a"];
        let ran = run(&bench(""), &none, &args);
        assert_eq!(ran.code, Some(1), "{ran}");
        assert!(ran.stderr.starts_with("error[gpu-assembler]: found no ptxas, "), "{ran}");
        assert!(ran.stderr.contains("/none/ptxas: is not there"), "{ran}");
        let ran = run(&bench(""), &[], &args);
        assert_eq!(ran.code, Some(0), "{ran}");
    }
}
