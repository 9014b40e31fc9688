// SPDX-License-Identifier: Apache-2.0
//! Kernels with products of warpgroups, built for a GPU: things beside them that leave products in
//! flight, and some that do not. Kernels that the verifier refuses have their cases in the suite:
//! `tests/suite/kernels/warpgroups.md`.

use crate::assemblers::run;
use crate::bench::{Bench, Ran};
use expect_test::expect;
use std::path::Path;

/// Products, one of which is in flight, with a thing beside them in each kernel.
const HAZARDS: &str = r#"
import kernpack as kp


def tile():
    rows = kp.make_layout((64, 64, 2), stride=(64, 1, 64 * 64))
    return kp.shared(kp.bfloat16, kp.make_composed_layout(kp.make_swizzle(3, 3, 3), 0, rows))


@kp.kernel
def multiply(x, out, n, variant: kp.Constexpr):
    t, tiles = kp.thread_idx()[0], tile()
    acc = kp.make_rmem_tensor(32, kp.float32)
    wide = kp.int64(0)
    for i in range(n):
        for j in range(t, 64 * 64, 128):
            tiles[j // 64, j % 64, i % 2] = x[i, j]
        kp.fence_proxy_async()
        kp.sync_threads()
        stage = tiles[None, None, i % 2]
        kp.wgmma_fence()
        kp.wgmma_mma(acc, stage, stage, i > 0)
        kp.wgmma_commit()
        if variant == 1:
            wide += (kp.clock() << 20) // (kp.int64(kp.grid_dim()[0]) << 33)
        if variant == 2:
            assert kp.clock() != 12345, "in flight"
        if variant == 3:
            if kp.clock() == 12345:
                kp.ptx("trap;")
        if variant == 4:
            if n == 12345:
                kp.ptx("trap;")
        kp.wgmma_wait(1)
    kp.wgmma_wait(0)
    if variant == 5:
        acc[0] /= acc[1]
    if variant == 6:
        wide = (kp.clock() << 20) // (kp.int64(kp.grid_dim()[0]) << 33)
    if variant == 7:
        assert acc[0] != 12345.0, "after all"
    if variant == 8:
        if kp.clock() == 12345:
            kp.ptx("trap;")
    for j in kp.range_constexpr(32):
        out[j, t] = acc[j] + kp.float32(wide)


@kp.jit("hazards(x: Tensor([n, 4096], bfloat16), out: Tensor([32, 128], float32, mut))")
def hazards(x, out):
    for variant in kp.range_constexpr(9):
        multiply(x, out, x.shape[0], variant).launch(grid=1, block=128, arch="sm_90a")
"#;

/// More numbers beside products than there are registers.
const SPILLS: &str = r#"
import kernpack as kp


@kp.kernel
def multiply(x, out, n):
    t = kp.thread_idx()[0]
    rows = kp.make_layout((64, 64), stride=(64, 1))
    tile = kp.shared(kp.bfloat16, kp.make_composed_layout(kp.make_swizzle(3, 3, 3), 0, rows))
    acc = kp.make_rmem_tensor(32, kp.float32)
    kept = kp.make_rmem_tensor(64, kp.float32)
    for j in kp.range_constexpr(64):
        kept[j] = x[j, t]
    for i in range(n):
        for j in range(t, 64 * 64, 128):
            tile[j // 64, j % 64] = kp.bfloat16(x[i, j])
        kp.fence_proxy_async()
        kp.sync_threads()
        kp.wgmma_fence()
        kp.wgmma_mma(acc, tile, tile, i > 0)
        kp.wgmma_commit()
        kp.wgmma_wait(0)
        kp.sync_threads()
        for j in kp.range_constexpr(64):
            kept[j] = kept[j] * acc[j % 32] + 1.0
    for j in kp.range_constexpr(64):
        out[j, t] = kept[j]


@kp.jit("spills(x: Tensor([n, 4096], float32), out: Tensor([64, 128], float32, mut))")
def spills(x, out):
    multiply(x, out, x.shape[0]).launch(grid=1, block=128, arch="sm_90a", max_registers=88)
"#;

fn build(text: &str) -> Ran {
    let bench = Bench::with("products.py", text);
    run(&bench, &[], &["build", "products.py", "-o", "products.so", "--arch", "sm_90a"])
}

/// Divisions, assertions and traps, behind all products and while one is in flight: each on one way
/// of a warpgroup, and where threads part.
#[test]
fn divisions_assertions_and_traps_leave_products_in_flight() {
    expect![[r#"
        exit 0
    "#]]
    .assert_eq(&build(HAZARDS).to_string());
}

#[test]
fn printing_beside_products_is_refused_and_the_interpreter_does_it() {
    let text = HAZARDS.replace("assert acc[0] != 12345.0, \"after all\"", "kp.printf(\"{}\", n)");
    assert_ne!(text, HAZARDS);
    expect![[r#"
        exit 1
        err: error[printf]: printing is a call, for which an assembler has each product of a warpgroup wait for the one before
        err:   --> products.py:41:9
        err:    |
        err: 41 |         kp.printf("{}", n)
        err:    |         ^^^^^^^^^^^^^^^^^^
        err:    |
        err:    = help: run it on the interpreter, which prints, too: `kernpack run`; an assertion is no call
    "#]].assert_eq(&build(&text).to_string());
    let bench = Bench::with("products.py", &text);
    let ran = run(&bench, &[], &["run", "products.py", "hazards", "n=1"]);
    assert_eq!(ran.code, Some(0), "{ran}");
}

#[test]
fn values_that_have_no_register_are_a_warning() {
    expect![[r#"
        exit 0
        err: warning[register-spills]: `multiply` has more values than registers for sm_90a: 328 bytes of a thread go to memory and back
        err:  --> products.py:7:9
        err:   |
        err: 7 |     t = kp.thread_idx()[0]
        err:   |         ^^^^^^^^^^^^^^^
        err:   |
        err:   = help: keep less at once: smaller tiles, or more threads for one
    "#]].assert_eq(&build(SPILLS).to_string());
}

/// Two sums of a thread become one register, in each of the function's kernels for both types.
#[test]
fn two_sums_are_converted_at_once() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/kernels/gemm.py");
    let bench = Bench::with("gemm.py", &std::fs::read_to_string(path).expect("the example"));
    let ptx = bench.run(["emit", "gemm.py", "--as", "ptx", "--function", "gemm"]).stdout;
    let count = |word: &str| ptx.lines().filter(|line| line.contains(word)).count();
    let counts = ["f16x2", "bf16x2", "f16", "bf16"].map(|to| count(&format!("cvt.rn.{to}.f32")));
    // Tiles have 256, 224, 192 and 128 columns, and 256 and 192 where two blocks share some, of
    // which a thread has half as many sums; where rows are uneven, 256, 128 and 256. What blocks
    // add up in two more kernels, it writes by eights. The eight of tiles with 16 columns go to
    // columns of the result one by one.
    let pairs = (256 + 224 + 192 + 128 + 256 + 192 + 256 + 128 + 256) / 4 + 2 * 8 / 2;
    assert_eq!(counts, [pairs, pairs, 8, 8]);
}

/// A product whose sums the device stores, from shared memory.
const STORED: &str = r#"
import kernpack as kp


@kp.kernel
def product_tiles(a, b, c):
    m, n, _ = kp.block_idx()
    mma = kp.tiled_mma(a.element_type, (128, 128, 64), warps=8)
    out = kp.tma_store(mma, c, (128, 128))
    ab = kp.tile_stream(mma, (a, m), (b, n), stages=3)
    acc = mma.zeros()
    for _ in range(ab.steps):
        tile_a, tile_b = ab.next()
        kp.gemm(mma, acc, tile_a, tile_b)
    out.store_tile(acc, (m, n))
    out.tail()


@kp.jit(
    "product(a: Tensor([m, k], float16, align=16), b: Tensor([n, k], float16, align=16)) -> c: Tensor([m, n], float16)"
    " where m > 0, n > 0, k >= 8, k % 8 == 0, n % 8 == 0"
)
def product(a, b, c):
    grid = kp.ceil_div(c.shape[0], 128), kp.ceil_div(c.shape[1], 128)
    product_tiles(a, b, c).launch(grid=grid, block=256, arch="sm_90a")
"#;

#[test]
fn sums_that_the_device_stores_take_fewer_instructions() {
    let n_instructions = |text: &str| {
        let bench = Bench::with("products.py", text);
        let ptx = bench.run(["emit", "products.py", "--as", "ptx"]).stdout;
        ptx.lines().filter(|line| line.trim_end().ends_with(';')).count()
    };
    let by_threads = STORED
        .replace("    out = kp.tma_store(mma, c, (128, 128))\n", "")
        .replace("out.store_tile(acc, (m, n))", "kp.store_tile(mma, acc, c, (m, n))")
        .replace("    out.tail()\n", "");
    let [stored, by_threads] = [STORED, &by_threads].map(n_instructions);
    assert!(0 < stored && stored < by_threads, "{stored}, and by threads {by_threads}");
}
