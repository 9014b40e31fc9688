// SPDX-License-Identifier: Apache-2.0
//! Defects in products of matrices by matrix units: in stages, phases, bytes, fences and waits, of
//! the example and of the library that it calls.

use super::{Example, beyond, fresh, input};
use kernpack_kernel_ir::Scalar;

pub(super) fn gemm(k: i64) -> Example {
    let [a, b] = [[120, k], [64, k]].map(|shape| input(Scalar::BF16, &shape));
    let args = vec![a, b, fresh(Scalar::BF16, &[120, 64])];
    Example { file: "gemm", function: "gemm_simple", args, cc: 80 }
}

/// The same by warpgroups.
pub(super) fn gemm_of_warpgroups(k: i64) -> Example {
    Example { cc: 90, ..gemm(k) }
}

/// The same by warpgroups with roles.
pub(super) fn gemm_of_roles(k: i64) -> Example {
    Example { function: "gemm", ..gemm_of_warpgroups(k) }
}

#[test]
fn in_gemm() {
    let barrier = "    acc = mma.zeros()\n    if kp.lane_idx() < 16:\n        kp.sync_threads()\n";
    gemm(16).expect(
        ("    acc = mma.zeros()\n", barrier),
        &[("divergent", "^for _ in range(ab.steps)", Some("if kp.lane_idx"))],
    );
}

/// Where the library copies, and loads what products take.
const COPY: &str = "^kp.local_tile(source[below";
const LOADS: [&str; 2] = ["fragment[None, i].store(kp.ldmatrix", "(0, j)).store(kp.ldmatrix"];

#[test]
fn in_the_stages_of_gemm() {
    let example = gemm(192);
    let both = |code| LOADS.map(|load| (code, load, Some(COPY)));
    let overwritten = LOADS.map(|load| ("shared-race", COPY, Some(load)));
    let unwritten = LOADS.map(|load| ("uninitialised-read", load, None));
    let (wait, sync) = ("        kp.wait_group(self.stages - 2)\n", "        kp.sync_threads()\n");
    example.expect(
        (&format!("{wait}{sync}"), wait),
        &[both("shared-race"), overwritten, unwritten].concat(),
    );
    let unawaited = [("unawaited-copy", COPY, None)];
    example.expect(
        ("kp.wait_group(self.stages - 2)", "kp.wait_group(self.stages - 1)"),
        &[&both("copy-in-flight")[..], &both("shared-race"), &unawaited].concat(),
    );
    example.expect(
        ("self.stages - 1 if self.stage == 0 else self.stage - 1", "self.stage"),
        &[both("copy-in-flight"), overwritten, unwritten].concat(),
    );
}

#[test]
fn at_the_edges_of_gemm() {
    let example = gemm(16);
    let unwritten = LOADS.map(|load| ("uninitialised-read", load, None));
    let beyond_it = [("index-out-of-bounds", COPY, None), ("out-of-bounds", COPY, None)];
    example.expect((" and first + row + below < x.shape[0]", ""), &[beyond_it, unwritten].concat());
    let line = "c[row, column + e] = values[e]";
    example.expect(("if row < c.shape[0] and column", "if column"), &beyond(line));
    let zeros = "        self.a.fill(0)\n        self.b.fill(0)\n\n    def gemm";
    let sum = "sums[None, i, j].store(kp.mma_sync";
    example.expect((zeros, "\n    def gemm"), &[("uninitialised-read", sum, None)]);
}

/// Where the device copies tiles of both factors, where they are waited for, and where warpgroups
/// multiply.
const BOXES: [&str; 2] = ["kp.copy(self.a[None", "kp.copy(self.b[None"];
const FILLED: &str = "self.full[self.stage].wait";
const PRODUCT: &str = "kp.wgmma_mma(self.values";

#[test]
fn in_the_stages_of_warpgroups() {
    let example = gemm_of_warpgroups(320);
    let overwritten = BOXES.map(|copy| ("product-in-flight", copy, Some(PRODUCT)));
    let (wait, sync) = ("        kp.wgmma_wait(1)\n", "        kp.sync_threads()\n        behind");
    let early = [("misused-barrier", FILLED, None), ("misused-barrier", FILLED, Some(BOXES[1]))];
    example.expect((&format!("{wait}{sync}"), "        behind"), &[early, overwritten].concat());
    example.expect((wait, "        kp.wgmma_wait(2)\n"), &overwritten);
    let fence = [("product-fence", PRODUCT, Some("self.values.fill(0)"))];
    example.expect(("kp.wgmma_fence()", "pass"), &fence);
    let line = "value, at = sums[e, j], pair";
    let in_flight = [("fragment-in-flight", line, Some(PRODUCT))];
    example.expect(("kp.wgmma_wait(0)", "pass"), &in_flight);
    let deadlock = [("deadlock", FILLED, None)];
    example.expect(("self.full[s].init(1)", "self.full[s].init(2)"), &deadlock);
    example.expect(("(m + n) * k", "(m + n + 8) * k"), &deadlock);
    let phase = [("misused-barrier", FILLED, None)];
    example.expect(("self.phase ^= 1", "self.phase ^= 0"), &phase);
}

#[test]
fn in_the_roles_of_gemm() {
    const EMPTY: &str = "self.empty[at].wait(self.state.phase";
    const FULL: &str = "self.full[at].wait(self.state.phase";
    const COPIES: [&str; 2] = ["kp.copy(a[None", "kp.copy(b[None"];
    const RELEASE: &str = "self.empty[stage].arrive()";
    let example = gemm_of_roles(448);
    let misused = |line, other| ("misused-barrier", line, other);
    let raced = COPIES.map(|copy| ("shared-race", copy, Some(PRODUCT)));
    let ahead = misused(FULL, Some(COPIES[1]));
    let deadlock = [("deadlock", EMPTY, None), ("deadlock", FULL, None)];
    example.expect(("self.state.phase ^ 1)", "self.state.phase)"), &deadlock);
    let early = [&[misused(EMPTY, None), ahead][..], &raced].concat();
    example
        .expect(("self.empty[s].init(mma.threads // WARPGROUP)", "self.empty[s].init(1)"), &early);
    let [all, less] = ["m + n", "m + n - 8"]
        .map(|rows| format!("^ 1)\n            full.arrive_and_expect_tx(({rows}) *"));
    example.expect((&all, &less), &[misused(COPIES[1], None)]);
    let other_phase = [misused(FULL, None)];
    example.expect((&format!("{FULL})"), &format!("{FULL} ^ 1)")), &other_phase);
    let [wait, less] = [1, 2].map(|n| format!("kp.wgmma_wait({n})\n            # All"));
    example.expect((&wait, &less), &[&[ahead][..], &raced].concat());
    let too_often = [&[misused(EMPTY, Some(RELEASE)), ahead][..], &raced].concat();
    example.expect(("            if step > self.first:", "            if True:"), &too_often);
    let grow = "kp.setmaxregister_increase(232)";
    let barrier = [("divergent", "# some", Some("if kp.warpgroup_idx() == 0"))];
    example.expect((grow, "kp.sync_threads()  # some"), &barrier);
    let most = "kp.setmaxregister_increase(248)";
    example.expect((grow, most), &[("registers", most, None)]);
    let unawaited = [
        &COPIES.map(|copy| ("copy-in-flight", copy, Some(copy)))[..],
        &[misused(EMPTY, Some(RELEASE))],
        &COPIES.map(|copy| ("unawaited-copy", copy, None)),
        &[("uninitialised-read", PRODUCT, None)],
    ];
    example.expect((&format!("{FULL})"), "pass"), &unawaited.concat());
    let one_stage = [
        ("copy-in-flight", COPIES[1], Some(COPIES[1])),
        ("copy-in-flight", PRODUCT, Some(COPIES[1])),
        ("shared-race", COPIES[1], Some(COPIES[1])),
        ("uninitialised-read", PRODUCT, None),
    ];
    example.expect(("self.tiles_b[None, None, at]", "self.tiles_b[None, None, 0]"), &one_stage);
}

/// Where the blocks of a cluster add up their parts of k.
#[test]
fn in_the_parts_of_gemm() {
    const PUT: &str = "c[row, column + e] = values[e]";
    const READ: &str = "sums.store(sums.load() + kp.local_tile(part";
    const WRITE: &str = "c[row, column + e] = c.element_type(value)";
    let example = gemm_of_roles(1104);
    let (absent, unwritten) = (("absent-block", READ, None), ("uninitialised-read", READ, None));
    let raced = [("shared-race", PUT, Some(READ)), ("shared-race", READ, Some(PUT))];
    let met = "    kp.cluster_sync()\n    for i in";
    example.expect((met, "    for i in"), &[&[absent][..], &raced, &[unwritten]].concat());
    let left = "        write_run(sums, c, at, epilogue)\n    kp.cluster_sync()\n";
    example.expect((left, "        write_run(sums, c, at, epilogue)\n"), &[absent]);
    example.expect(("        sums.fill(0)\n        for other", "        for other"), &[unwritten]);
    let share = "kp.block_idx_in_cluster() * rows +";
    let race = [("global-race", WRITE, Some(WRITE))];
    example.expect((share, "kp.block_idx_in_cluster() // 2 * rows +"), &race);
}
