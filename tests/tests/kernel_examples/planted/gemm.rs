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
    let of_a_warp = [both("shared-race"), overwritten, unwritten].concat();
    example
        .expect((&format!("{wait}{sync}"), &format!("{wait}        kp.sync_warp()\n")), &of_a_warp);
    let some_groups =
        ("step)\n        kp.commit_group()\n", "step)\n            kp.commit_group()\n");
    let ends = [&both("copy-in-flight")[..], &both("shared-race"), &unawaited].concat();
    example.expect(some_groups, &ends);
    let all_filled = ("range_constexpr(stages - 1)", "range_constexpr(stages)");
    example.expect(all_filled, &[("copy-in-flight", COPY, Some(COPY))]);
    let no_stage = ("0 if self.stage == self.stages - 1", "0 if self.stage == self.stages");
    example.expect(no_stage, &LOADS.map(|load| ("index-out-of-bounds", load, None)));
    let too_few = ("(each * threads)):", "(each * threads) - 1):");
    example.expect(too_few, &unwritten);
}

#[test]
fn at_the_edges_of_gemm() {
    let example = gemm(16);
    let unwritten = LOADS.map(|load| ("uninitialised-read", load, None));
    let beyond_it = [("index-out-of-bounds", COPY, None), ("out-of-bounds", COPY, None)];
    example.expect((" and first + row + below < x.shape[0]", ""), &[beyond_it, unwritten].concat());
    let line = "c[row, column + e] = values[e]";
    example.expect(("row < c.shape[0] and column + e", "column + e"), &beyond(line));
    let zeros = "        self.a.fill(0)\n        self.b.fill(0)\n\n    def gemm";
    let sum = "sums[None, i, j].store(kp.mma_sync";
    example.expect((zeros, "\n    def gemm"), &[("uninitialised-read", sum, None)]);
    let step = "is_in_rows = step * k + chunk * each < x.shape[1]";
    let outside = [&beyond_it[1..], &unwritten].concat();
    example.expect((step, "is_in_rows = step >= 0"), &outside);
    let twice = ("global-race", line, Some(line));
    example.expect((" and column + e < c.shape[1]", ""), &[&[twice][..], &beyond(line)].concat());
    example.expect(("part.lane // 4\n", "part.lane // 8\n"), &[twice]);
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
    let line = "out[e, j] = c.element_type(sums[e, j])";
    let in_flight = [("fragment-in-flight", line, Some(PRODUCT))];
    example.expect(("kp.wgmma_wait(0)", "pass"), &in_flight);
    let deadlock = [("deadlock", FILLED, None)];
    example.expect(("self.full[s].init(1)", "self.full[s].init(2)"), &deadlock);
    example.expect(("(m + n) * k", "(m + n + 8) * k"), &deadlock);
    let phase = [("misused-barrier", FILLED, None)];
    example.expect(("self.phase ^= 1", "self.phase ^= 0"), &phase);
    example.expect(("kp.wgmma_commit()", "pass"), &in_flight);
    let unawaited = BOXES.map(|copy| ("unawaited-copy", copy, None));
    example.expect(("and step < self.steps", "and step <= self.steps"), &unawaited);
    let twice = BOXES.map(|copy| ("copy-in-flight", copy, Some(copy)));
    let next = "self.stage + behind if self.stage < 2 else self.stage - 2";
    example.expect((next, "self.stage"), &[&twice[..], &deadlock, &phase].concat());
    let too_many = ("range_constexpr(stages - 2)", "range_constexpr(stages - 1)");
    example.expect(too_many, &[&twice[..], &phase].concat());
    let unwritten = [("uninitialised-read", PRODUCT, None)];
    let blind = [&twice[..], &unawaited, &unwritten].concat();
    example.expect((&format!("{FILLED}(self.phase)"), "pass"), &blind);
    let skipped = ("        self.stage += 1\n", "        self.stage += 2\n");
    let flying = BOXES.map(|copy| ("product-in-flight", copy, Some(PRODUCT)));
    example.expect(skipped, &[&deadlock[..], &flying].concat());
}

#[test]
fn in_the_fences_of_warpgroups() {
    let wait = format!("{FILLED}(self.phase)\n");
    let write = "self.tiles_a[0, 0, self.stage] =";
    let number = format!("{write} self.mma.op.dtype(0)\n        kp.sync_threads()\n");
    let written = format!("{wait}        if kp.thread_idx()[0] == 0:\n            {number}");
    gemm_of_warpgroups(320).expect(
        (&wait, &written),
        &[
            ("missing-proxy-fence", PRODUCT, Some(write)),
            ("missing-proxy-fence", BOXES[0], Some(write)),
        ],
    );
    let copy = "            kp.copy(a[None";
    let zero = "self.tiles_a[0, 0, at] = self.mma.op.dtype(0)";
    gemm_of_roles(320).expect(
        (copy, &format!("            {zero}\n{copy}")),
        &[("missing-proxy-fence", COPIES[0], Some(zero))],
    );
}

/// Where roles wait for one another, fill stages of a ring and release them.
const EMPTY: &str = "self.empty[at].wait(self.state.phase";
const FULL: &str = "self.full[at].wait(self.state.phase";
const COPIES: [&str; 2] = ["kp.copy(a[None", "kp.copy(b[None"];
const SHARED_COPY: &str = "kp.copy(source, part";
const RELEASE: &str = "self.empty[stage].arrive()";

#[test]
fn in_the_roles_of_gemm() {
    let example = gemm_of_roles(448);
    let misused = |line, other| ("misused-barrier", line, other);
    let raced = COPIES.map(|copy| ("shared-race", copy, Some(PRODUCT)));
    let ahead = misused(FULL, Some(COPIES[1]));
    let deadlock = [("deadlock", EMPTY, None), ("deadlock", FULL, None)];
    example.expect(("self.state.phase ^ 1)", "self.state.phase)"), &deadlock);
    let early = [&[misused(EMPTY, None), ahead][..], &raced].concat();
    let arrivals = "self.empty[s].init(sharing * mma.threads // WARPGROUP)";
    example.expect((arrivals, "self.empty[s].init(1)"), &early);
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

/// Where two blocks share tiles: each brings a part to both, and releases what the other brings.
#[test]
fn in_what_blocks_share_of_gemm() {
    const RELAXED: &str = "kp.map_shared(self.empty[stage], thread)";
    const BROUGHT: [&str; 2] = [COPIES[0], SHARED_COPY];
    let example = gemm_of_roles(456);
    let tail = "if self.sharing > 1:$";
    let deadlock = [("deadlock", EMPTY, None), ("deadlock", FULL, None), ("deadlock", tail, None)];
    let own = "thread == kp.block_idx_in_cluster()";
    example.expect(("thread < self.sharing", own), &deadlock);
    let whole = "mcast_mask=(1 << self.sharing) - 1";
    example.expect((whole, "mcast_mask=1 << rank"), &deadlock);
    example.expect(("thread).arrive_relaxed()", "thread).expect_tx(0)"), &deadlock);
    let in_flight = BROUGHT.map(|copy| ("product-in-flight", copy, Some(PRODUCT)));
    let early = [
        &[("misused-barrier", EMPTY, None), ("misused-barrier", EMPTY, Some(RELAXED))][..],
        &in_flight,
        &BROUGHT.map(|copy| ("shared-race", copy, Some(copy))),
    ];
    example.expect(("init(sharing * mma.threads", "init(mma.threads"), &early.concat());
    let twice = ("copy-in-flight", SHARED_COPY, Some(SHARED_COPY));
    let unwritten = ("uninitialised-read", PRODUCT, None);
    example.expect((", (rank, 0))", ", (0, 0))"), &[twice, unwritten]);
    let ended = [("absent-block", SHARED_COPY, None), ("absent-block", RELAXED, None)];
    let (behind, kernel) = ("    ring.tail()\n", "\n\n@kp.kernel\ndef gemm_parts");
    example.expect((&format!("{behind}{kernel}"), kernel), &ended[1..]);
    let [cluster, block] = ["cluster_sync", "sync_threads"]
        .map(|barrier| format!("        else:\n            kp.{barrier}()\n"));
    let unmet = [
        ("shared-race", SHARED_COPY, Some("^self.empty[s].init(sharing")),
        ("shared-race", RELAXED, Some("self.empty[s].init(sharing")),
    ];
    example.expect((&cluster, &block), &[ended, unmet].concat());
    let [wait, less] = [1, 2].map(|n| format!("kp.wgmma_wait({n})\n            # All"));
    let ahead = [("misused-barrier", FULL, Some(SHARED_COPY))];
    let raced = BROUGHT.map(|copy| ("shared-race", copy, Some(PRODUCT)));
    example.expect((&wait, &less), &[&ahead[..], &in_flight, &raced].concat());
    let other = ("self.sharing + rank, step)", "self.sharing + 1 - rank, step)");
    example.expect_other_results(&[other]);
}

/// Where the blocks of a cluster add up their parts of k.
#[test]
fn in_the_parts_of_gemm() {
    const PUT: &str = "c[row, column + e] = values[e]";
    const READ: &str = "sums.store(sums.load() + kp.local_tile(part";
    const WRITE: &str = "c[row, column + e] = c.element_type(value)";
    let example = gemm_of_roles(2048);
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

/// There is a step more than stages, so that one of them is filled again.
#[test]
fn in_what_the_roles_of_gemm_count() {
    let example = gemm_of_roles(448);
    let deadlock = [("deadlock", EMPTY, None), ("deadlock", FULL, None)];
    let arrivals = "self.empty[s].init(sharing * mma.threads // WARPGROUP)";
    let (init, sync) = (
        format!("{arrivals}\n"),
        "        if sharing == 1:\n            kp.sync_threads()\n        \
         else:\n            kp.cluster_sync()\n",
    );
    let unseen = [("shared-race", FULL, Some("^self.empty[s].init(sharing"))];
    example.expect((&format!("{init}{sync}"), &init), &unseen);
    let of_a_warp = format!("{init}        kp.sync_warp()\n");
    example.expect((&format!("{init}{sync}"), &of_a_warp), &unseen);
    example.expect((arrivals, &arrivals.replace("WARPGROUP", "WARPGROUP + 1")), &deadlock);
    let [all, more] = ["m + n", "m + n + 8"]
        .map(|rows| format!("^ 1)\n            full.arrive_and_expect_tx(({rows}) *"));
    example.expect((&all, &more), &deadlock);
    let release = "self.release(before)\n            before";
    example.expect((release, &release.replace("(before)", "(at)")), &deadlock);
    let copy = "kp.copy(b[None, (column, step)], tile, to=full)";
    example.expect((copy, "pass"), &deadlock);
    example.expect((copy, &copy.replace("to=full", "to=self.empty[at]")), &deadlock);
    let elected = "thread = kp.thread_idx()[0] % WARPGROUP";
    example.expect((elected, "thread = kp.thread_idx()[0] - WARPGROUP"), &deadlock);
    let of_each_warp = [("misused-barrier", EMPTY, Some(RELEASE))];
    example.expect((elected, "thread = kp.thread_idx()[0] % 32"), &of_each_warp);
    let role = "    else:\n        kp.setmaxregister_increase";
    let one = role.replace("else", "elif kp.warpgroup_idx() == 1");
    example.expect((role, &one), &deadlock);
    let twice = COPIES.map(|copy| ("copy-in-flight", copy, Some(copy)));
    let one_stage = [("deadlock", FULL, None), ("misused-barrier", FULL, None)];
    let filled = "step, at)\n            self.state.advance()";
    example.expect((filled, "step, at)"), &[&twice[..], &one_stage].concat());
    let stages =
        "columns\"\n        )\n        layout_a = kp.make_smem_layout_a(mma, (m, k), stages";
    let beyond = [("deadlock", FULL, None), ("index-out-of-bounds", COPIES[0], None)];
    example.expect((stages, &format!("{stages} - 1")), &beyond);
}

/// Kernels of all widths are made. With 128 columns, as all with parts have, tiles of both factors
/// have one shape: where one is taken for the other, only layouts of the wider ones tell.
#[test]
fn in_the_tiles_of_gemm() {
    const BEGUN: &str = "acc.gemm(a, b, step > self.first)";
    const FILLS: [&str; 2] = ["ring.fill(kp.raster(number", "ring.fill(place)"];
    let example = gemm_of_roles(320);
    let multiplied = ("layout", BEGUN, Some(PRODUCT));
    let fill = "self.fill_b(a, place[1]";
    let others = [COPIES[1], SHARED_COPY].map(|copy| ("layout", copy, Some(fill)));
    example.expect(("self.fill_b(b, place[1]", fill), &others);
    let layouts = "columns\"\n        )\n        \
                   layout_a = kp.make_smem_layout_a(mma, (m, k), stages)\n        \
                   layout_b = kp.make_smem_layout_b(mma, (n, k";
    let fill = "self.fill_b(b, place[1]";
    let others = [COPIES[1], SHARED_COPY].map(|copy| ("layout", copy, Some(fill)));
    example.expect((layouts, &format!("{layouts} // 2")), &[&others[..], &[multiplied]].concat());
    let shared = "(b, part_b)\n        self.tiles_a = kp.shared(mma.op.dtype, layout_a)";
    let plain = "kp.make_layout((m, k, stages), stride=(k, 1, m * k))";
    example.expect(
        (shared, &shared.replace("layout_a", plain)),
        &[&FILLS.map(|fill| ("layout", COPIES[0], Some(fill)))[..], &[multiplied]].concat(),
    );
    let of_a = "part.make_fragment_A(self.tiles_a)";
    let apart = "kp.make_layout((128, 64, self.stages), stride=(72, 1, 8192))";
    let rows_apart = format!("kp.make_tensor(self.tiles_a.iterator, {apart})");
    example.expect((of_a, &of_a.replace("self.tiles_a", &rows_apart)), &[multiplied]);
}

#[test]
fn in_what_warpgroups_of_gemm_do_together() {
    let example = gemm_of_roles(320);
    let divergent = |line, other| [("divergent", line, Some(other))];
    let fewer = "        kp.setmaxregister_decrease(40)";
    let one = format!("        if kp.lane_idx() == 0:\n    {fewer}");
    example.expect((fewer, &one), &divergent(fewer, "if kp.lane_idx() == 0:"));
    let begun = "            acc.gemm(a, b, step";
    let by_one = format!("            if kp.lane_idx() == 1:\n    {begun}");
    example.expect((begun, &by_one), &divergent("acc.gemm(a, b, step", "if kp.lane_idx() == 1:"));
    let wait = "kp.wgmma_wait(1)\n            # All";
    let cleared = format!("acc.clear()\n            {wait}");
    let in_flight = [("fragment-in-flight", "acc.clear()", Some("acc.gemm(a, b, step"))];
    example.expect((wait, &cleared), &in_flight);
}
