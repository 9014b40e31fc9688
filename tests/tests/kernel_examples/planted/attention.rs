// SPDX-License-Identifier: Apache-2.0
//! Defects in attention: in stages, phases, counts, fences, waits and turns of the examples and of
//! the library's pipelines. Which keys a query sees, and what is made of their scores, is a matter
//! of what comes out.

use super::{Example, Expected, fresh};
use crate::call::{Arg, Array};
use kernpack_kernel_ir::Scalar;

/// Numbers between -0.9 and 0.9.
fn small(shape: &[i64], seed: i64) -> Arg {
    let values = 0..shape.iter().product();
    let values = values.map(|i: i64| ((i * 37 + seed * 11) % 29) as f64 / 16.0 - 0.9);
    Arg::Tensor(Array::of(Scalar::BF16, shape, values.collect()))
}

fn integers(shape: &[i64], values: impl Iterator<Item = i64>) -> Arg {
    Arg::Tensor(Array::of(Scalar::I32, shape, values.map(|value| value as f64).collect()))
}

/// Of fewer queries than a block has, and of more tiles of keys than there are stages.
fn attention() -> Example {
    let (rows, keys): (&[i64], &[i64]) = (&[1, 1, 100, 64], &[1, 1, 450, 64]);
    let inputs = [small(rows, 0), small(keys, 1), small(keys, 2)];
    let results = [fresh(Scalar::BF16, rows), fresh(Scalar::F32, &rows[..3])];
    let up_to = [Arg::Float(0.125), Arg::Int(-1), Arg::Int(0)];
    let args = inputs.into_iter().chain(results).chain(up_to).collect();
    Example { file: "attention", function: "attention", args, cc: 90 }
}

/// Of a sequence that ends within a page, and takes more steps than there are stages.
fn paged_decode() -> Example {
    let (heads, pages): (&[i64], &[i64]) = (&[1, 2, 128], &[16, 16, 1, 128]);
    let inputs = [small(heads, 0), small(pages, 1), small(pages, 2)];
    let places = [integers(&[1, 15], (1..16).rev()), integers(&[1], [230].into_iter())];
    let rest = [fresh(Scalar::BF16, heads), Arg::Float(0.125)];
    let args = inputs.into_iter().chain(places).chain(rest).collect();
    Example { file: "paged_decode", function: "paged_decode", args, cc: 90 }
}

/// Where roles wait for one another, by the library's pipelines.
const EMPTY: &str = "self.empty[state.index].wait(state.phase)";
const FULL: &str = "self.full[state.index].wait(state.phase)";
const DEADLOCK: [Expected<'_>; 2] = [("deadlock", EMPTY, None), ("deadlock", FULL, None)];
/// Where the device copies tiles, and where warpgroups multiply.
const COPY: &str = "kp.copy(self.source[None, place]";
const PRODUCT: &str = "kp.wgmma_mma(sums, a, b, accumulate)";
const TWICE: Expected<'_> = ("copy-in-flight", COPY, Some(COPY));
const UNWRITTEN: Expected<'_> = ("uninitialised-read", PRODUCT, None);

#[test]
fn in_the_stages_of_attention() {
    let example = attention();
    let overwritten = [("shared-race", COPY, Some(PRODUCT))];
    let (k, v) = ("kp.wgmma_wait(1)\n            stage_k", "kp.wgmma_wait(0)\n            stage_v");
    for (wait, stage) in [(k, "stage_k"), (v, "stage_v")] {
        let wait = format!("            {wait}.release()");
        let (first, second) = wait.split_once('\n').expect("two lines");
        example.expect((&wait, &format!("{second}\n{first}")), &overwritten);
        assert!(second.contains(stage));
    }
    let taken = "            stage_v.release()\n";
    let turn = ("deadlock", "kp.barrier(1 + unit, 256)", None);
    example.expect((taken, ""), &[&[turn][..], &DEADLOCK].concat());
    let index = "self.tiles[None, None, stage.index], to=stage)";
    let raced = [("shared-race", PRODUCT, Some(COPY)), ("shared-race", COPY, Some(COPY))];
    let early = ("copy-in-flight", PRODUCT, Some(COPY));
    let one_stage = [&[early, TWICE][..], &raced, &[UNWRITTEN]].concat();
    example.expect((index, &index.replace("stage.index", "0")), &one_stage);
    let used = "FilledTile(self.tiles[None, None, stage.index]";
    let other_stage = [&[early, raced[0]][..], &overwritten, &[UNWRITTEN]].concat();
    let next = "(stage.index + 1) % self.tiles.shape[2]";
    example.expect((used, &used.replace("stage.index", next)), &other_stage);
    let wait = "        self.pipeline.consumer_wait(self.state)\n";
    let blind = [
        TWICE,
        ("misused-barrier", EMPTY, Some("self.empty[state.index].arrive()")),
        ("product-in-flight", COPY, Some(PRODUCT)),
        ("unawaited-copy", COPY, None),
        UNWRITTEN,
    ];
    example.expect((wait, ""), &blind);
    let more = "for i in range(last - first):\n                # Keys";
    let unawaited = [("unawaited-copy", COPY, None)];
    example.expect((more, &more.replace("first)", "first + 1)")), &unawaited);
    let last = "            values.fill((part.batch, shared_head, first, 0))\n";
    example.expect((last, ""), &DEADLOCK[1..]);
}

#[test]
fn in_what_attention_counts() {
    let example = attention();
    let create = "PipelineTmaAsync.create(stages, 1, consumers)";
    example.expect((create, &create.replace("1,", "2,")), &DEADLOCK);
    example.expect((create, &create.replace("consumers", "2 * consumers")), &DEADLOCK);
    let commit = "to=stage)\n        stage.commit()\n";
    example.expect((commit, "to=stage)\n"), &DEADLOCK);
    let bytes = commit.replace("stage.commit", "stage.expect(16)\n        stage.commit");
    example.expect((commit, &bytes), &DEADLOCK);
    example.expect(("0, 0, 1 if user", "0, 0, 0 if user"), &DEADLOCK);
    let phase = "self.index = kp.int32(0)\n            self.phase ^= 1";
    let stays = [TWICE, ("deadlock", FULL, None), ("misused-barrier", FULL, None)];
    example.expect((phase, &phase.replace("^= 1", "^= 0")), &stays);
    let sync = "        kp.sync_threads()\n        return PipelineAsync";
    let unseen = [("shared-race", FULL, Some("full[stage].init(producers)"))];
    example.expect((sync, "        return PipelineAsync"), &unseen);
}

#[test]
fn in_the_turns_of_attention() {
    let example = attention();
    let [own, next] = ["kp.barrier(1 + unit, 256)", "kp.barrier_arrive(2 - unit, 256)"];
    let first = "        if unit == 1:\n            kp.barrier_arrive(1, 256)\n";
    let nobody = [("deadlock", own, None), DEADLOCK[0]];
    example.expect((first, ""), &nobody);
    let twice = [&nobody[..], &[("misused-barrier", own, None)]].concat();
    example.expect((next, "kp.barrier_arrive(1 + unit, 256)"), &twice);
    let more = format!("        {next}  # more\n{first}");
    example.expect((first, &more), &[("misused-barrier", "kp.barrier_arrive(1, 256)", None)]);
}

#[test]
fn in_the_products_of_attention() {
    let example = attention();
    let in_flight = |line| ("fragment-in-flight", line, Some(PRODUCT));
    let wait = "kp.wgmma_wait(0)\n            stage_v";
    let early = ["softmax.rescale(sums)", "            rounded.store(scores"].map(in_flight);
    example.expect((wait, &wait.replace('0', "1")), &early);
    let last = "        kp.wgmma_wait(0)\n        logarithms";
    example.expect((last, "        logarithms"), &[in_flight("softmax.finish(sums)")]);
    let zeros = "mma.zeros()";
    let unwritten = "mma.get_slice(kp.thread_idx()[0]).make_fragment_C(mma.tile)";
    example.expect((zeros, unwritten), &[UNWRITTEN]);
    let grow = "kp.setmaxregister_increase(240)";
    let most = "kp.setmaxregister_increase(248)";
    example.expect((grow, most), &[("registers", most, None)]);
    let role = [("divergent", "# some", Some("if kp.warpgroup_idx() == 0"))];
    example.expect((grow, "kp.sync_threads()  # some"), &role);
    let zero = "own_q[0, 0] = q.element_type(0)";
    let written = format!("        if thread == 0:\n            {zero}\n");
    let wait = "        own_q = kp.local_tile(queries.next().tile, (64, d), (unit, 0))\n";
    let unfenced = [("missing-proxy-fence", PRODUCT, Some(zero))];
    example.expect((wait, &format!("{wait}{written}")), &unfenced);
}

#[test]
fn at_the_edges_of_attention() {
    let example = attention();
    let write = "lse[part.batch, head, part.first_q + at] = logarithms";
    let outside = [("index-out-of-bounds", write, None)];
    example.expect(("lse is not None and at < part.n_q and", "lse is not None and"), &outside);
    let raced = [("global-race", write, Some(write))];
    example.expect((" and thread % 4 == 0", ""), &raced);
    let rows = "rows = kp.make_layout((part.n_q, d)";
    let stored = [("out-of-bounds", "            c[row, column + e] = values[e]", None)];
    example.expect((rows, &rows.replace("n_q", "n_q + 1")), &stored);
    let boxes = "box = kp.make_layout((1, 1, ROWS,";
    let smaller = [("layout", COPY, Some("queries.fill("))];
    example.expect((boxes, &boxes.replace("ROWS", "ROWS // 2")), &smaller);
}

#[test]
fn what_attention_computes() {
    attention().expect_other_results(&[
        ("for x in (k, v)", "for x in (k, k)"),
        ("part.first_seen(row) // KEYS", "last"),
        ("query + self.end, self.n_k)", "query + self.end - 1, self.n_k)"),
        ("ahead + behind + 1", "ahead + behind + 2"),
        ("ahead + behind + 1", "behind + 1"),
        ("softmax.rescale(sums)", "pass"),
    ]);
}

/// Where keys and values are copied, and where they are read.
const COPIES: [&str; 2] = ["kp.copy(from_k[None, box]", "kp.copy(from_v[None, box]"];
const READS: [&str; 2] = ["part.store(kp.ldmatrix(at))", "part.store(kp.ldmatrix(at, transpose"];

#[test]
fn in_the_stages_of_paged_decode() {
    let example = paged_decode();
    let create = "create(stages(d), 1, 32 * WARPS)";
    // What a block has not written, the second launch reads.
    let parts =
        ["high = kp.max(high, parts[", "by = kp.fast_exp2(parts[", "total += by", "mean += by"];
    let unwritten = parts.map(|line| ("uninitialised-read", line, None));
    let ends = [&DEADLOCK[..], &unwritten].concat();
    example.expect((create, &create.replace("WARPS", "(WARPS + 1)")), &ends);
    example.expect(("            filled.release()\n", ""), &ends);
    let early = [
        &[("misused-barrier", EMPTY, None)][..],
        &[("misused-barrier", FULL, Some("self.full[state.index].arrive()"))],
        &[0, 1].map(|i| ("shared-race", COPIES[i], Some(READS[i]))),
    ];
    example.expect((create, &create.replace("32 * WARPS", "32")), &early.concat());
    let filled = "filled = use.wait_and_advance()\n";
    let twice = format!("{filled}            filled.release()  # early\n");
    example.expect((filled, &twice), &early.concat());
    let commit = "                stage.commit()\n";
    example.expect((commit, ""), &ends);
    let of_v = "tiles_v[(None, p), None, stage.index]";
    let one_page =
        [("copy-in-flight", COPIES[1], Some(COPIES[1])), ("uninitialised-read", READS[1], None)];
    example.expect((of_v, &of_v.replace('p', "0")), &one_page);
    let at = "kp.min(i * (KEYS // page) + p, last)";
    let beyond = [("index-out-of-bounds", "numbers = [table[sequence, p]", None)];
    example.expect((at, "i * (KEYS // page) + p"), &beyond);
}

#[test]
fn in_the_warps_of_paged_decode() {
    let example = paged_decode();
    let zero = "values[x // d, x % d] = 0";
    let sync = [("shared-race", READS[1], Some(zero))];
    example.expect(("                kp.sync_warp()\n", ""), &sync);
    let zeros = "* d + lane, 16 * d, 32):";
    let further = zeros.replace("16 * d,", "16 * d + 32,");
    example.expect((zeros, &further), &[("index-out-of-bounds", zero, None)]);
    for (fill, line) in [
        ("        weights.fill(0)\n", "of_c.store(kp.mma_sync("),
        ("        query.fill(0)\n", "^query[None, None, None, c], part"),
    ] {
        example.expect((fill, ""), &[("uninitialised-read", line, None)]);
    }
    let [most, total] = ["d] = most", "d + 1] = total"];
    let raced = [most, total].map(|line| ("global-race", line, Some(line)));
    example.expect(("if column == 0:", "if column >= 0:"), &raced);
    let role = "    else:\n        row, column";
    let barrier = role.replace("else:\n", "else:\n        kp.sync_threads()  # some\n");
    example.expect((role, &barrier), &[("divergent", "# some", Some("if warp == WARPS:"))]);
}

#[test]
fn what_paged_decode_computes() {
    paged_decode().expect_other_results(&[
        ("from_v[None, box]", "from_k[None, box]"),
        ("steps = kp.ceil_div(n_keys, KEYS)", "steps = n_keys // KEYS"),
        ("8 * j + column + e < n_left", "8 * j + column + e <= n_left"),
        ("(2 * c + lane // 16,)", "(2 * c + 1 - lane // 16,)"),
    ]);
}
