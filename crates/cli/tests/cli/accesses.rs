// SPDX-License-Identifier: Apache-2.0
//! `kernpack emit --as accesses`: how wide the accesses of each line became, and why no wider.

use crate::bench::Bench;
use expect_test::{Expect, expect};
use serde_json::Value;

/// A kernel of four elements a thread, and one that reads rows.
const KERNELS: &str = r#"
import kernpack as kp


@kp.kernel
def double(x, y):
    i = kp.block_idx()[0] * 256 + kp.thread_idx()[0]
    for j in kp.range_constexpr(4):
        if 4 * i + j < x.shape[0]:
            y[4 * i + j] = x[4 * i + j] * 2.0


@kp.kernel
def first_of_rows(x, out):
    row = kp.block_idx()[0]
    tile = kp.shared(kp.float32, 4)
    for j in kp.range_constexpr(4):
        tile[j] = x[row, j]
    out[row] = (tile[0] + tile[1]
                + tile[2] + tile[3])

"#;

/// The accesses of the kernel of a function.
fn shown(signature: &str, launch: &str) -> String {
    let names = signature.split_once('(').expect("parameters").1;
    let params = names.split(": Tensor").next().expect("a name").to_string();
    let second = if launch.contains("out") { "out" } else { "y" };
    let function = format!("@kp.jit(\"{signature}\")\ndef f({params}, {second}):\n    {launch}\n");
    let bench = Bench::with("k.py", &format!("{KERNELS}{function}"));
    bench.run(["emit", "k.py", "--as", "accesses", "--arch", "sm_90"]).to_string()
}

fn expect_double(signature: &str, expected: Expect) {
    let launch = "double(x, y).launch(grid=kp.ceil_div(x.shape[0], 1024), block=256)";
    expected.assert_eq(&shown(signature, launch));
}

fn expect_rows(signature: &str, expected: Expect) {
    expected.assert_eq(&shown(signature, "first_of_rows(x, out).launch(grid=x.shape[0], block=1)"));
}

#[test]
fn all_is_known() {
    expect_double(
        "f(x: Tensor([n], float32, align=16), y: Tensor([n], float32, align=16, mut)) \
         where n % 4 == 0, noalias(x, y)",
        expect![[r#"
            exit 0
            out: double for sm_90
            out:   k.py:10:13: writes `y`, 16 bytes
            out:   k.py:10:28: reads `x`, 16 bytes
        "#]],
    );
}

#[test]
fn a_rule_is_missing() {
    expect_double(
        "f(x: Tensor([n], float32, align=16), y: Tensor([n], float32, align=16, mut)) \
         where n % 2 == 0, noalias(x, y)",
        expect![[r#"
            exit 0
            out: double for sm_90
            out:   k.py:10:13: writes `y`, 2 × 8 bytes; 16 at once would need the rule `n % 4 == 0`
            out:   k.py:10:28: reads `x`, 2 × 8 bytes; 16 at once would need the rule `n % 4 == 0`
        "#]],
    );
}

#[test]
fn an_alignment_is_missing() {
    expect_double(
        "f(x: Tensor([n], float32), y: Tensor([n], float32, align=8, mut)) \
         where n % 4 == 0, noalias(x, y)",
        expect![[r#"
            exit 0
            out: double for sm_90
            out:   k.py:10:13: writes `y`, 2 × 8 bytes; 16 at once would need `align=16` of `y`
            out:   k.py:10:28: reads `x`, 4 × 4 bytes; 16 at once would need `align=16` of `x`
        "#]],
    );
}

#[test]
fn it_may_be_the_same_memory() {
    expect_double(
        "f(x: Tensor([n], float32, align=16), y: Tensor([n], float32, align=16, mut)) \
         where n % 4 == 0",
        expect![[r#"
            exit 0
            out: double for sm_90
            out:   k.py:10:13: writes `y`, 4 × 4 bytes; 16 at once would need `noalias` of `y` and what is written
            out:   k.py:10:28: reads `x`, 4 × 4 bytes; 16 at once would need `noalias` of `x` and what is written
        "#]],
    );
}

#[test]
fn rows_begin_anywhere_or_their_elements_lie_apart() {
    let rows = |x: &str| format!("f(x: Tensor({x}), out: Tensor([m], float32, mut))");
    expect_rows(
        &rows("[m, n], float32, align=16"),
        expect![[r#"
        exit 0
        out: first_of_rows for sm_90
        out:   k.py:18:9: writes `tile`, 16 bytes
        out:   k.py:18:19: reads `x`, 4 × 4 bytes; 16 at once would need the rule `n % 4 == 0`
        out:   k.py:19:5: writes `out`, 4 bytes
        out:   k.py:19:17: reads `tile`, 16 bytes
        out:   k.py:20:19: reads `tile`, with an access of another line
    "#]],
    );
    let known = rows("[m, n], float32, align=16") + " where n % 4 == 0, n >= 4";
    expect_rows(
        &known,
        expect![[r#"
        exit 0
        out: first_of_rows for sm_90
        out:   k.py:18:9: writes `tile`, 16 bytes
        out:   k.py:18:19: reads `x`, 16 bytes
        out:   k.py:19:5: writes `out`, 4 bytes
        out:   k.py:19:17: reads `tile`, 16 bytes
        out:   k.py:20:19: reads `tile`, with an access of another line
    "#]],
    );
    expect_rows(
        &rows("[m, n], float32, order=col, align=16"),
        expect![[r#"
            exit 0
            out: first_of_rows for sm_90
            out:   k.py:18:9: writes `tile`, 16 bytes
            out:   k.py:18:19: reads `x`, 4 × 4 bytes; no more than 4 lie side by side
            out:   k.py:19:5: writes `out`, 4 bytes
            out:   k.py:19:17: reads `tile`, 16 bytes
            out:   k.py:20:19: reads `tile`, with an access of another line
        "#]],
    );
}

#[test]
fn hints_are_told_and_leave_accesses_wide() {
    let text = r#"
import kernpack as kp


@kp.kernel
def move(x, y):
    to, of = kp.cached(y, "keep"), kp.cached(x, "stream")
    for j in kp.range_constexpr(4):
        to[4 * kp.thread_idx()[0] + j] = of[4 * kp.thread_idx()[0] + j]


@kp.kernel
def flags(x, y):
    kp.volatile(y)[0] = kp.volatile(x)[0] + kp.volatile(x)[1]


@kp.jit("f(x: Tensor([1024], float32, align=16), y: Tensor([1024], float32, align=16, mut)) where noalias(x, y)")
def f(x, y):
    move(x, y).launch(grid=1, block=256)
    flags(x, y).launch(grid=1, block=1)
"#;
    let bench = Bench::with("k.py", text);
    let ran = bench.run(["emit", "k.py", "--as", "accesses", "--arch", "sm_90"]);
    expect![[r#"
        exit 0
        out: move for sm_90
        out:   k.py:9:9: writes `y`, 16 bytes, `keep`
        out:   k.py:9:42: reads `x`, 16 bytes, `stream`
        out: flags for sm_90
        out:   k.py:14:5: writes `y`, 4 bytes, `volatile`
        out:   k.py:14:25: reads `x`, 2 × 4 bytes, `volatile`
    "#]]
    .assert_eq(&ran.to_string());
}

/// Of the loops that have no loop in them, the one that moves the fewest bytes at once.
#[test]
fn a_build_names_the_narrowest_loop() {
    let text = r#"
import kernpack as kp


@kp.kernel
def sums(x, y, out):
    total = kp.float32(0)
    for j in kp.range_constexpr(4):
        total += y[j]
    for i in range(x.shape[0] // 4):
        for j in kp.range_constexpr(2):
            total += x[4 * i + 2 * j] + x[4 * i + 2 * j + 1]
    out[0] = total


@kp.jit("f(x: Tensor([n], float32), y: Tensor([4], float32), out: Tensor([1], float32, mut)) where n % 4 == 0")
def f(x, y, out):
    sums(x, y, out).launch(grid=1, block=1)
"#;
    let bench = Bench::with("k.py", text);
    let ran = bench.run(["build", "k.py", "-o", "k.so", "--verbose", "--arch", "compute_90"]);
    let told = ran.stderr.lines().last().unwrap_or_default();
    expect!["the narrowest loop of `sums`: k.py:12:22: reads `x`, 4 × 4 bytes; 16 at once would need `align=16` of `x`"].assert_eq(told);
}

#[test]
fn programs_are_told_the_same() {
    let function = "@kp.jit(\"f(x: Tensor([n], float32, align=16), y: Tensor([n], float32, mut))\")\n\
                    def f(x, y):\n    double(x, y).launch(grid=1, block=256)\n";
    let bench = Bench::with("k.py", &format!("{KERNELS}{function}"));
    let ran = bench.run(["--json", "emit", "k.py", "--as", "accesses", "--arch", "sm_90"]);
    let answer: Value = serde_json::from_str(&ran.stdout).expect("JSON");
    expect![[r#"[{"kernel":"double","file":"k.py","line":10,"column":13,"tensor":"y","memory":"global","is_write":true,"qualifier":null,"bytes":[4,4,4,4],"adjacent_bytes":16,"missing":"the rule `n % 4 == 0` and `align=16` of `y`"},{"kernel":"double","file":"k.py","line":10,"column":28,"tensor":"x","memory":"global","is_write":false,"qualifier":null,"bytes":[4,4,4,4],"adjacent_bytes":16,"missing":"the rule `n % 4 == 0`"}]"#]].assert_eq(&answer["kernels"][0]["accesses"].to_string());
}

/// A demand that all guards of a row make is no reason for narrow accesses, and what an epilogue
/// reads at an edge is as wide as elsewhere.
#[test]
fn guards_of_two_dims_ask_for_what_differs() {
    let text = r#"
import kernpack as kp


@kp.kernel
def pairs(x, y):
    row, t = kp.block_idx()[0], kp.thread_idx()[0]
    for j in kp.range_constexpr(2):
        if row < x.shape[0] and 2 * t + j < x.shape[1]:
            y[row, 2 * t + j] = x[row, 2 * t + j] * 2.0


@kp.kernel
def tiles(bias, y):
    mma = kp.make_tiled_mma(kp.mma(kp.float16, kp.float32, (16, 8, 16)), (1, 1, 1))
    acc = mma.get_slice(kp.thread_idx()[0]).make_fragment_C((16, 16))
    acc.clear()
    place = kp.block_idx()[0], kp.block_idx()[1]
    kp.store_tile(mma, acc, y, place, lambda sum, row, column: sum + kp.float32(bias[column]))


@kp.jit("f(x: Tensor([m, n], float16), y: Tensor([m, n], float16, mut)) where noalias(x, y)")
def f(x, y):
    pairs(x, y).launch(grid=x.shape[0], block=128)


@kp.jit("g(x: Tensor([n], float16, align=4), y: Tensor([m, n], float16, align=16, mut)) where n % 8 == 0, noalias(x, y)")
def g(x, y):
    tiles(x, y).launch(grid=(kp.ceil_div(y.shape[0], 16), kp.ceil_div(y.shape[1], 16)), block=32)
"#;
    let bench = Bench::with("k.py", text);
    let ran = bench.run(["emit", "k.py", "--as", "accesses", "--arch", "sm_90"]);
    let shown = ran.to_string();
    let of_user = |line: &&str| !line.contains("<kernpack>");
    let of_user: Vec<&str> = shown.lines().filter(of_user).collect();
    expect![[r#"
        exit 0
        out: pairs for sm_90
        out:   k.py:10:13: writes `y`, 2 × 2 bytes; 4 at once would need the rule `n % 2 == 0` and `align=4` of `y`
        out:   k.py:10:33: reads `x`, 2 × 2 bytes; 4 at once would need the rule `n % 2 == 0` and `align=4` of `x`
        out: tiles for sm_90
        out:   k.py:19:81: reads `x`, 6 × 4 bytes; no more than 4 lie side by side
    "#]]
    .assert_eq(&format!("{}\n", of_user.join("\n")));
}
