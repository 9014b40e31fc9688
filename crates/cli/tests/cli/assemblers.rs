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

fn bench(between: &str) -> Bench {
    Bench::with("product.py", PRODUCT.replace("BETWEEN", between))
}

/// Builds it for Hopper with these variables.
fn build(bench: &Bench, variables: &[(&str, &str)]) -> Ran {
    let own = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../.venv/bin/python");
    let python = std::env::var("KERNPACK_PYTHON").unwrap_or(own.display().to_string());
    let mut command = bench.command(KERNPACK);
    command.env("KERNPACK_PYTHON", python).env_remove("KERNPACK_PTXAS");
    command.envs(variables.iter().copied());
    command.args(["build", "product.py", "-o", "product.so", "--arch", "sm_90a"]);
    command.output().expect("the program runs").into()
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
    let shown = ran.to_string().replace(&bench.path("").display().to_string(), "FOLDER/");
    expect![[r#""#]].assert_eq(&shown);
}

#[test]
fn what_slows_products_down_is_told_at_their_line() {
    let read = "ex2.approx.f32 f5, f1; st.global.f32 [{0} + 4], f5; ";
    expect![[r#""#]].assert_eq(&build(&bench(read), &[]).to_string());
}
