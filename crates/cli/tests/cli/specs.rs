// SPDX-License-Identifier: Apache-2.0
//! `--specs`: signatures for functions of a kernel file that have none.

use crate::bench::Bench;
use expect_test::expect;

const SCALE: &str = r#"
import kernpack as kp

BLOCK = 64


@kp.kernel
def scale_elements(x, y, by):
    i = kp.block_idx()[0] * BLOCK + kp.thread_idx()[0]
    if i < x.shape[0]:
        y[i] = x[i] * x.element_type(by)


@kp.jit
def scale(x, y, by=2.0):
    assert x.shape == y.shape
    scale_elements(x, y, by).launch(grid=kp.ceil_div(x.shape[0], BLOCK), block=BLOCK)


@kp.jit(where="n % 2 == 0", strict=True, max_variants=4)
def doubled(x):
    y = kp.empty(x.shape, x.element_type)
    scale_elements(x, y, 2.0).launch(grid=kp.ceil_div(x.shape[0], BLOCK), block=BLOCK)
    return y


@kp.jit(strict=True)
def careless(x, y):
    scale_elements(x, y, 1.0).launch(grid=1, block=BLOCK)
"#;

const OF_SCALE: &str = "scale(x: Tensor([m], float16), y: Tensor([n], float16), by: float32 = 3.0)";
const OF_DOUBLED: &str = "doubled(x: Tensor([n], float32))";

fn bench() -> Bench {
    Bench::new().and("scale.py", &SCALE[1..]).and("scale.toml", "[package]\nname = \"scale\"\n")
}

#[test]
fn functions_without_a_signature_are_run() {
    let bench = bench();
    let run = ["run", "scale.py", "scale", "m=3", "n=3", "--fill", "count", "--specs", OF_SCALE];
    bench.expect(
        &run,
        expect![[r#"
            exit 0
            out: scale_elements: grid [1], block [64]
            out: y: float16 [3] = 0.0 3.0 6.0
        "#]],
    );
    let run = ["run", "scale.py", "doubled", "n=4", "--fill", "count", "--specs", OF_DOUBLED];
    bench.expect(
        &run,
        expect![[r#"
            exit 0
            out: scale_elements: grid [1], block [64]
            out: y: float32 [4] = 0.0 2.0 4.0 6.0
        "#]],
    );
    let odd = ["run", "scale.py", "doubled", "n=3", "--specs", OF_DOUBLED];
    bench.expect(
        &odd,
        expect![[r#"
            exit 1
            err: error: ValueError: Invalid x.shape[0] on argument #0 when calling: `doubled(x: Tensor([n], float32)) -> y: Tensor([n], float32)`, expected to be divisible by 2, got 3
        "#]],
    );
}

#[test]
fn several_are_built_into_one_package() {
    let bench = bench();
    let of_careless = "careless(x: Tensor([n], float32), y: Tensor([n], float32))";
    let mut build = vec!["build", "scale.py", "-o", "scale.so"];
    for spec in [OF_SCALE, OF_DOUBLED, of_careless] {
        build.extend(["--specs", spec]);
    }
    assert_eq!(bench.run(build).code, Some(0));
    let shown = bench.run(["inspect", "scale.so"]).stdout;
    for signature in [
        "scale(x: Tensor([m], float16), y: Tensor([n], float16, mut), by: float32 = 3.0) where m == n",
        "doubled(x: Tensor([n], float32)) -> y: Tensor([n], float32) where n % 2 == 0",
        "careless(x: Tensor([n], float32), y: Tensor([n], float32, mut))",
    ] {
        assert!(shown.contains(signature), "{signature}\n{shown}");
    }
}

#[test]
fn what_is_wrong_with_them_is_told() {
    let bench = bench();
    let all = [OF_SCALE, OF_DOUBLED, "careless(x: Tensor([m], float32), y: Tensor([n], float32))"];
    let check = |specs: &[&str]| {
        let specs = specs.iter().flat_map(|spec| ["--specs", spec]);
        bench.run(["check", "scale.py"].into_iter().chain(specs)).stderr
    };
    expect![[r#"
        error[empty-package]: `scale.py` has no packed functions
         --> scale.py:1:1
          |
        1 | import kernpack as kp
          | ^
          |
          = help: write `@kp.jit("name(x: Tensor([n], float32))")` in front of a function, or give the signature of one by `--specs`
    "#]]
    .assert_eq(&check(&[]));
    expect![[r#"
        error[unrelated-extents]: nothing but `x.shape[0]` bounds index 0 of `y`, and is not known to be at most `y.shape[0]`
          --> scale.py:10:9
           |
         9 |     if i < x.shape[0]:
           |        -------------- bounded here
        10 |         y[i] = x[i] * x.element_type(by)
           |         ^^^^ an index here may be `x.shape[0] - 1`
        ...
        28 |     scale_elements(x, y, 1.0).launch(grid=1, block=BLOCK)
           |     ----------------------------------------------------- launched here
           |
           = help: write `assert x.shape[0] == y.shape[0]` in the packed function, or the same symbol for both in the signature
    "#]].assert_eq(&check(&all));
    let others = [all[0], all[1], "careless(x: Tensor([n], float31))", "other()"];
    expect![[r#"
        error[unknown-dtype]: `float31` is no dtype
         --> --specs:1:25
          |
        1 | careless(x: Tensor([n], float31))
          |                         ^^^^^^^ expected a dtype or a dtype variable
          |
          = help: did you mean `float32`?
    "#]]
    .assert_eq(&check(&others));
    expect![[r#"
        error[decorator]: there is no function `other` without a signature
         --> --specs:1:1
          |
        1 | other()
          | ^^^^^ a signature is given for it
          |
          = help: name a function of the file whose decorator has none
    "#]]
    .assert_eq(&check(&[all[0], all[1], "careless(x: None, z: None)", "other()"]));
    let package = ["check", "scale.toml", "--specs", OF_SCALE];
    bench.expect(
        &package,
        expect![[r#"
        exit 1
        err: error: `scale.toml` is no file of kernels, whose functions `--specs` is for
    "#]],
    );
}
