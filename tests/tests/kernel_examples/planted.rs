// SPDX-License-Identifier: Apache-2.0
//! Defects that are planted in the examples: a race, an access beyond a tensor, a barrier that some
//! threads do not come to, a read of what was never written. Each is one change of the file's text,
//! and is found at its line, by the interpreter or before anything runs.

mod attention;
mod gemm;

use crate::call::{Arg, Array, Came, File, Found, Line, call_on};
use crate::{folder, text};
use gemm::{gemm, gemm_of_roles};
use kernpack_kernel_ir::Scalar;
use std::path::Path;
use tempfile::TempDir;

/// A function of an example with what it is called with.
struct Example {
    file: &'static str,
    function: &'static str,
    args: Vec<Arg>,
    /// The compute capability of the device.
    cc: i64,
}

/// What is found, at the only line that has a text in it; of a race, also the line of the other
/// access.
type Expected<'e> = (&'static str, &'e str, Option<&'e str>);

/// The library's products of tiles, which are text that anybody could have written.
const MATRIX: &str = include_str!("../../../crates/kernel-lang/library/matrix.py");
/// The same by warpgroups.
const WARPGROUP: &str = include_str!("../../../crates/kernel-lang/library/warpgroup.py");
/// The same by warpgroups with roles.
const RING: &str = include_str!("../../../crates/kernel-lang/library/ring.py");
/// Weights of scores.
const SOFTMAX: &str = include_str!("../../../crates/kernel-lang/library/softmax.py");
/// Rings of stages.
const PIPELINE: &str = include_str!("../../../crates/kernel-lang/library/pipeline.py");

/// The files that an example is of, with their texts: its own, and what it has in common with
/// others. `gemm_simple` has the library's part as a file, so that defects can be planted there,
/// too, and without the other function, which has a name of the library's.
fn files_of(example: &'static str, function: &str) -> Vec<(&'static str, String)> {
    let own = text(example);
    let names = ["raster", "tiled_mma", "tile_stream", "gemm", "store_tile"];
    if function == "gemm_simple" {
        let own = own.split("\n\nROWS, ").next().unwrap_or_default();
        let import = format!("kp\nfrom matrix import {}\n", names.join(", "));
        let own = own.replacen("kp\n", &import, 1);
        let own = names
            .iter()
            .fold(own, |own, name| own.replace(&format!("kp.{name}("), &format!("{name}(")));
        let matrix = MATRIX.replacen("kp\n", "kp\nfrom warpgroup import wgmma\n", 1);
        let matrix = matrix.replace("kp.wgmma(", "wgmma(");
        return vec![("gemm", own), ("matrix", matrix), ("warpgroup", WARPGROUP.to_string())];
    }
    if function == "gemm" {
        // Its ring is a file, too. What is found elsewhere in the library has lines there.
        let names = ["tile_ring", "store_parts"];
        let import = format!("kp\nfrom ring import {}\n", names.join(", "));
        let own = names
            .iter()
            .fold(own, |own, name| own.replace(&format!("kp.{name}("), &format!("{name}(")));
        let own = own.replacen("kp\n", &import, 1);
        return vec![
            ("gemm", own),
            ("ring", RING.to_string()),
            ("matrix", MATRIX.to_string()),
            ("warpgroup", WARPGROUP.to_string()),
        ];
    }
    if let Some(name) =
        ["tile_pipeline", "PipelineTmaAsync"].into_iter().find(|name| own.contains(*name))
    {
        let import = format!("kp\nfrom pipeline import {name}\n");
        let own = own.replace(&format!("kp.{name}"), name).replacen("kp\n", &import, 1);
        return vec![
            ("pipeline", PIPELINE.to_string()),
            ("matrix", MATRIX.to_string()),
            ("softmax", SOFTMAX.to_string()),
            (example, own),
        ];
    }
    let shared = own.contains("\nfrom rows import ").then(|| ("rows", text("rows")));
    [(example, own)].into_iter().chain(shared).collect()
}

/// The number of the only line with that in it; of the one in front, where it begins with `^`:
/// there begins the call that goes on with it; of the one behind, where it ends with `$`. Nothing
/// where no line has it.
fn line_of(text: &str, piece: &str) -> Option<u32> {
    if let Some(piece) = piece.strip_prefix('^') {
        return Some(line_of(text, piece)? - 1);
    }
    if let Some(piece) = piece.strip_suffix('$') {
        return Some(line_of(text, piece)? + 1);
    }
    let lines = text.lines().enumerate().filter(|(_, line)| line.contains(piece));
    let found: Vec<_> = lines.map(|(number, _)| number as u32 + 1).collect();
    assert!(found.len() < 2, "lines with `{piece}`: {found:?}");
    found.first().copied()
}

/// The text with kernels of one type, few widths, and clusters of one size: each of them takes its
/// time.
fn smaller(text: String) -> String {
    let text = text.replace("    (256, 1, 1),\n    (224, 1, 1),\n", "");
    let text = text.replace("    (128, 4, 1),\n    (256, 1, 2),\n", "");
    let text = text.replace("(256, 1, 1), (128, 1, 1), (256, 1, 2)", "(128, 1, 1), (192, 1, 2)");
    let text = text.replace("CLUSTERS = (2, 4, 8)", "CLUSTERS = (2,)");
    let text = text.replace("d in {64, 128}, page in {16, 64}", "d in {128}, page in {16}");
    let text = text.replace("d in {64, 128}", "d in {64}");
    let of_float32 = text.replace("{float16, bfloat16, float32}", "{float32}");
    of_float32.replace("{float16, bfloat16}", "{bfloat16}").replace("{int32, int64}", "{int32}")
}

impl Example {
    /// The same on a device without clusters.
    fn without_clusters(self) -> Example {
        Example { cc: 80, ..self }
    }

    /// What comes of the call with the files of a folder.
    fn came(&self, folder: &Path) -> Came {
        let function = File::read(folder, self.file).and_then(|file| file.function(self.function));
        match function {
            Err(found) => Came { tensors: vec![], found, launched: vec![] },
            Ok(function) => call_on(self.cc, &function, &self.args)
                .unwrap_or_else(|refused| panic!("{refused}")),
        }
    }

    /// What is found in the files of a folder.
    fn found(&self, folder: &Path) -> Vec<Found> {
        let mut found = self.came(folder).found;
        found.sort();
        found.dedup();
        found
    }

    /// The files with a defect, in a folder: the only place with the text `from` becomes `to`.
    #[track_caller]
    fn planted(&self, (from, to): (&str, &str)) -> (TempDir, Vec<(&'static str, String)>) {
        let mut texts = files_of(self.file, self.function);
        let places: usize = texts.iter().map(|(_, text)| text.matches(from).count()).sum();
        assert_eq!(places, 1, "places with `{from}`");
        let planted = tempfile::tempdir().expect("a folder");
        // Python leaves a folder there.
        let files =
            std::fs::read_dir(folder()).expect("the folder").map(|file| file.expect("a file"));
        for file in files.filter(|file| file.path().is_file()) {
            std::fs::copy(file.path(), planted.path().join(file.file_name())).expect("a copy");
        }
        for (name, text) in &mut texts {
            *text = smaller(text.replace(from, to));
            std::fs::write(planted.path().join(format!("{name}.py")), &*text).expect("a file");
        }
        (planted, texts)
    }

    /// Plants a defect.
    #[track_caller]
    fn expect(&self, (from, to): (&str, &str), expected: &[Expected<'_>]) {
        let (planted, texts) = self.planted((from, to));
        let line = |piece: &str| {
            let mut lines = texts.iter().filter_map(|(file, text)| {
                Some(Line { file: (*file).to_string(), number: line_of(text, piece)? })
            });
            lines.next_back().unwrap_or_else(|| panic!("a line with `{piece}`"))
        };
        let found = self.found(planted.path());
        let found: Vec<_> = found.iter().map(ToString::to_string).collect();
        let expected = expected.iter().map(|(code, piece, other)| {
            Found { code, line: line(piece), other: other.map(line) }.to_string()
        });
        assert_eq!(found, expected.collect::<Vec<_>>(), "{from} -> {to}");
    }

    /// Plants defects, one after the other, that break no rule and are seen of what is computed.
    #[track_caller]
    fn expect_other_results(&self, defects: &[(&str, &str)]) {
        let (first, _) = defects[0];
        let right = self.came(self.planted((first, first)).0.path());
        assert_eq!(right.found, []);
        for (from, to) in defects {
            let came = self.came(self.planted((from, to)).0.path());
            assert_eq!(came.found, [], "{from} -> {to}");
            let pairs = came.tensors.iter().flatten().zip(right.tensors.iter().flatten());
            let apart = pairs.map(|(came, right)| (came - right).abs()).fold(0.0, f64::max);
            assert!(apart > 1e-3, "{from} -> {to}: {apart}");
        }
    }
}

/// An index that its tensor has not. In the last row the memory has not the address either, which
/// is one mistake.
fn beyond(line: &str) -> [Expected<'_>; 1] {
    [("index-out-of-bounds", line, None)]
}

/// Numbers between -3 and 3.
fn input(element: Scalar, shape: &[i64]) -> Arg {
    let values = (0..shape.iter().product()).map(|i: i64| (i % 7) as f64 - 3.0).collect();
    Arg::Tensor(Array::of(element, shape, values))
}

fn fresh(element: Scalar, shape: &[i64]) -> Arg {
    Arg::Tensor(Array::fresh(element, shape))
}

/// A call with tensors of float32, of which the last is the result.
fn floats(file: &'static str, function: &'static str, shapes: &[&[i64]]) -> Example {
    let (result, inputs) = shapes.split_last().expect("there is a result");
    let inputs = inputs.iter().map(|shape| input(Scalar::F32, shape));
    let args = inputs.chain([fresh(Scalar::F32, result)]).collect();
    Example { file, function, args, cc: 90 }
}

#[test]
fn nothing_is_found_where_nothing_is_planted() {
    let examples = [
        add_one(),
        poly(),
        reduce_sum(),
        softmax(20),
        softmax(21),
        softmax(16388),
        softmax_backward(20),
        softmax_backward(21),
        cross_entropy(),
        cross_entropy_backward(),
        rms_norm(),
        fused_add_rms_norm(),
        rms_norm_backward(2, 1032),
        rms_norm_backward(2, 8200),
        rms_norm_backward(2, 8200).without_clusters(),
        layer_norm(),
        layer_norm_backward(1032),
        layer_norm_backward(8200),
        layer_norm_backward(8200).without_clusters(),
        transpose(),
        matmul(),
        gemm(16),
        gemm(192),
        gemm_of_roles(320),
    ];
    for example in examples {
        assert_eq!(example.found(&folder()), [], "{}", example.function);
    }
}

fn add_one() -> Example {
    floats("add_one", "add_one", &[&[301], &[301]])
}

#[test]
fn in_add_one() {
    let example = add_one();
    let line = "        b[i] = a[i] + 1";
    example.expect(
        (line, "        b[i // 2] = a[i] + 1"),
        &[("global-race", "b[i // 2]", Some("b[i // 2]"))],
    );
    example.expect(("if i < a.shape[0]", "if i <= a.shape[0]"), &beyond("b[i] = a[i] + 1"));
    let barrier = format!("{line}\n        kp.sync_threads()");
    example.expect((line, &barrier), &[("divergent", "sync_threads", Some("if i < a.shape[0]"))]);
    example.expect((line, "        b[i] = b[i] + 1"), &[("uninitialised-read", "b[i] + 1", None)]);
}

fn poly() -> Example {
    floats("elementwise", "poly", &[&[7, 43], &[7, 43]])
}

#[test]
fn in_elementwise() {
    let example = poly();
    let line = "        out[i] = f(x[i])";
    example.expect(
        (line, "        out[i // 2] = f(x[i])"),
        &[("global-race", "out[i // 2]", Some("out[i // 2]"))],
    );
    example.expect(("if i < x.shape[0]", "if i <= x.shape[0]"), &beyond("out[i] = f(x[i])"));
    let barrier = format!("{line}\n        kp.sync_threads()");
    example.expect((line, &barrier), &[("divergent", "sync_threads", Some("if i < x.shape[0]"))]);
    example
        .expect((line, "        out[i] = f(out[i])"), &[("uninitialised-read", "f(out[i])", None)]);
}

fn reduce_sum() -> Example {
    floats("reduce_sum", "reduce_sum", &[&[2, 700], &[2]])
}

#[test]
fn in_reduce_sum() {
    let example = reduce_sum();
    let (write, read) = ("partial[kp.warp_idx()] = acc", "acc = partial[kp.lane_idx()]");
    // The first warp reads before the others write.
    example.expect(
        ("    kp.sync_threads()\n", ""),
        &[("shared-race", write, Some(read)), ("uninitialised-read", read, None)],
    );
    example
        .expect(("kp.lane_idx() < threads // 32", "kp.lane_idx() <= threads // 32"), &beyond(read));
    let barrier = "    if t < 32:\n        kp.sync_threads()";
    example.expect(
        ("    kp.sync_threads()", barrier),
        &[("divergent", "sync_threads", Some("if t < 32"))],
    );
    let fewer = ("if kp.lane_idx() == 0:\n        partial", "if t == 0:\n        partial");
    example.expect(fewer, &[("uninitialised-read", read, None)]);
}

/// Where rows are read into registers or copied to shared memory, read from there, and written.
const STORED: &str = "held[None, k].store(source[None, i].load())";
const COPIED: &str = "kp.copy(source[None, i], held[None, k]";
const READ: &str = "return held[None, k].load()";
const WRITTEN: &str = "target[None, i].store(value";
/// Where the threads of a row add their parts.
const SUMMED: &str = "return gathered(kp.block_reduction_sum(value)";
/// A vector that two threads write.
const TWO_WRITE: Expected<'_> = ("global-race", WRITTEN, Some(WRITTEN));

fn softmax(n: i64) -> Example {
    floats("softmax", "softmax", &[&[2, n], &[2, n]])
}

fn softmax_backward(n: i64) -> Example {
    floats("softmax", "softmax_backward", &[&[2, n], &[2, n], &[2, n]])
}

#[test]
fn in_softmax() {
    // In registers, of a cluster, and read twice.
    let told = "kp.map_shared(mosts, lane)[warp] = most";
    let told_total = "kp.map_shared(totals, lane)[warp] = total";
    let (heard, heard_total) = ("most = kp.max(most, mosts[", "total += totals[warp]");
    let (registers, cluster, twice) = (softmax(20), softmax(16388), softmax(21));
    registers.expect(
        ("            held[None, k].fill(beyond)", "            pass"),
        &[("uninitialised-read", READ, None)],
    );
    registers.expect(
        ("if i >= source.shape[1]", "if i > source.shape[1]"),
        &[("index-out-of-bounds", STORED, None)],
    );
    registers.expect(
        ("if i < target.shape[1]", "if i <= target.shape[1]"),
        &[TWO_WRITE, ("index-out-of-bounds", WRITTEN, None)],
    );
    let line = "    mosts, totals = [kp.shared(";
    let fewer = "    if kp.thread_idx()[0] < 32:\n        kp.sync_threads()  # some\n";
    registers.expect(
        (line, &format!("{fewer}{line}")),
        &[("divergent", "# some", Some("if kp.thread_idx()[0] < 32:"))],
    );
    for not_awaited in [
        ("        await_part(held, k, shared)\n", ""),
        ("        if shared and apart:\n            kp.commit_group()\n", ""),
    ] {
        cluster.expect(
            not_awaited,
            &[("copy-in-flight", READ, Some(COPIED)), ("unawaited-copy", COPIED, None)],
        );
    }
    cluster.expect(
        ("kp.wait_group(held.shape[1] - 1 - k)", "kp.wait_group(held.shape[1] - k)"),
        &[("copy-in-flight", READ, Some(COPIED)), ("unawaited-copy", COPIED, None)],
    );
    cluster.expect(
        ("    meet(cluster)\n    width = ", "    width = "),
        &[
            ("absent-block", told, None),
            ("absent-block", told_total, None),
            ("shared-race", told, Some(heard)),
            ("shared-race", told_total, Some(heard_total)),
            ("shared-race", heard, Some(told)),
            ("shared-race", heard_total, Some(told)),
            ("shared-race", heard_total, Some(told_total)),
            ("uninitialised-read", heard, None),
            ("uninitialised-read", heard_total, None),
        ],
    );
    cluster.expect(
        ("    kp.cluster_arrive()\n", ""),
        &[
            ("absent-block", told, None),
            ("absent-block", told_total, None),
            ("misused-barrier", "kp.cluster_wait()", None),
        ],
    );
    cluster.expect(
        (
            "    if lane < cluster:\n        if cluster == 1:\n            mosts",
            "    if lane <= cluster:\n        if cluster == 1:\n            mosts",
        ),
        &[
            ("index-out-of-bounds", told, None),
            ("index-out-of-bounds", told_total, None),
            ("shared-race", told, Some(told)),
            ("shared-race", told_total, Some(told_total)),
        ],
    );
    cluster.expect(
        (
            "kp.map_shared(mosts, lane)[warp] = most",
            "kp.map_shared(mosts, lane)[kp.warp_idx()] = most",
        ),
        &[
            ("shared-race", "kp.map_shared(mosts, lane)", Some("kp.map_shared(mosts, lane)")),
            ("uninitialised-read", heard, None),
            ("uninitialised-read", heard_total, None),
        ],
    );
    cluster.expect(
        ("kp.block_idx_in_cluster() * threads * parts", "kp.block_idx_in_cluster() * threads"),
        &[TWO_WRITE],
    );
    let index = "first + k * threads, power(part(held, k) - all_most)";
    twice.expect((index, &format!("({}", index.replace(", power", ") // 2, power"))), &[TWO_WRITE]);
    let line = "    all_most = kp.block_reduction_max(most)";
    let fewer = format!("    all_most = most\n    if t < 64:\n    {line}");
    twice.expect((line, &fewer), &[("divergent", line, Some("if t < 64"))]);
}

#[test]
fn in_softmax_backward() {
    let (registers, twice) = (softmax_backward(20), softmax_backward(21));
    let hold = "    hold(held_dy, vectors(dy, row, width_of(y)), first, threads, shared_dy)\n";
    registers.expect((hold, ""), &[("uninitialised-read", READ, None)]);
    let loops = "dot)\n    for first in range(t, source";
    twice.expect((loops, &loops.replace("(t,", "(t // 2,")), &[TWO_WRITE]);
}

/// Logits of which two rows are of two blocks, and labels, of which the first is ignored.
fn logits() -> [Arg; 2] {
    let labels = Array::of(Scalar::I32, &[2], vec![-100.0, 2050.0]);
    [input(Scalar::F32, &[2, 4100]), Arg::Tensor(labels)]
}

fn cross_entropy() -> Example {
    let [x, labels] = logits();
    let losses = [fresh(Scalar::F32, &[2]), fresh(Scalar::F32, &[2])];
    let args = [x, labels].into_iter().chain(losses).chain([Arg::Int(-100)]).collect();
    Example { file: "cross_entropy", function: "cross_entropy", args, cc: 90 }
}

fn cross_entropy_backward() -> Example {
    let [x, labels] = logits();
    let losses = [input(Scalar::F32, &[2]), input(Scalar::F32, &[2])];
    let out = [fresh(Scalar::F32, &[2, 4100]), Arg::Int(-100)];
    let args = [x, labels].into_iter().chain(losses).chain(out).collect();
    Example { file: "cross_entropy", function: "cross_entropy_backward", args, cc: 90 }
}

#[test]
fn in_cross_entropy() {
    let example = cross_entropy();
    example.expect(
        ("if t == 0:", "if t < 2:"),
        &[
            ("global-race", "lse[row] = whole", Some("lse[row] = whole")),
            ("global-race", "loss[row] = 0", Some("loss[row] = 0")),
        ],
    );
    example.expect(
        ("0 if label == ignore_index else whole", "whole"),
        &[("index-out-of-bounds", "loss[row] = whole", None)],
    );
    let line = "    all_most = kp.block_reduction_max(most)";
    example.expect(
        (line, &format!("    all_most = most\n    if t < 64:\n    {line}")),
        &[("divergent", line, Some("if t < 64"))],
    );
}

#[test]
fn in_cross_entropy_backward() {
    let example = cross_entropy_backward();
    example.expect(("first = block * threads * parts", "first = block * threads"), &[TWO_WRITE]);
    example.expect(
        ("        share.store(power(part(held, k) - lse[row]))\n", ""),
        &[
            ("uninitialised-read", "share[j] -= 1.0", None),
            ("uninitialised-read", "write(target, i, share.load()", None),
        ],
    );
    example.expect(("write(target, i, share", "write(target, i // 2, share"), &[TWO_WRITE]);
    example.expect(
        ("lse[row]))", "lse[row + 1]))"),
        &[("index-out-of-bounds", "share.store(power(", None)],
    );
}

/// Calls of functions in bfloat16: inputs, results, and what stands behind them.
fn halves(
    [file, function]: [&'static str; 2],
    [inputs, results]: [&[&[i64]]; 2],
    more: &[Arg],
) -> Example {
    let inputs = inputs.iter().map(|shape| input(Scalar::BF16, shape));
    let results = results.iter().map(|shape| fresh(Scalar::BF16, shape));
    let args = inputs.chain(results).chain(more.iter().cloned()).collect();
    Example { file, function, args, cc: 90 }
}

const EPS: Arg = Arg::Float(1e-6);

fn rms_norm() -> Example {
    let x: &[i64] = &[2, 1032];
    halves(["rms_norm", "rms_norm"], [&[x, &[1032]], &[x]], &[EPS])
}

fn fused_add_rms_norm() -> Example {
    let x: &[i64] = &[2, 1032];
    halves(["rms_norm", "fused_add_rms_norm"], [&[x, x, &[1032]], &[x, x]], &[EPS])
}

fn rms_norm_backward(m: i64, d: i64) -> Example {
    let (x, w): (&[i64], &[i64]) = (&[m, d], &[d]);
    halves(["rms_norm", "rms_norm_backward"], [&[x, w, x], &[x, w]], &[EPS])
}

#[test]
fn in_rms_norm() {
    let example = rms_norm();
    let guard = "if i < weight.shape[1]:\n            by = held_or_read";
    example.expect((guard, &guard.replace("i <", "i <=")), &[("index-out-of-bounds", READ, None)]);
    let write = "write(target, i, part(held, k) * scale";
    example.expect((write, &write.replace("i,", "i // 2,")), &[TWO_WRITE]);
    let line = "    return kp.rsqrt(row_sum(total, cluster)";
    let fewer = "    if kp.thread_idx()[0] < 8:\n        kp.sync_threads()  # some\n";
    example.expect(
        (line, &format!("{fewer}{line}")),
        &[("divergent", "# some", Some("if kp.thread_idx()[0] < 8:"))],
    );
    let (x, w): (&[i64], &[i64]) = (&[1, 32776], &[32776]);
    let cluster = halves(["rms_norm", "rms_norm"], [&[x, w], &[x]], &[EPS]);
    let early = "        hold(early, weight, first, threads)\n";
    cluster.expect((early, "        pass\n"), &[("uninitialised-read", READ, None)]);
    let fused = fused_add_rms_norm();
    let hold = "        hold(added, vectors(residual, row, WIDTH), first, threads)\n        await";
    fused
        .expect((hold, "        await"), &[("uninitialised-read", "added[None, k].load())", None)]);
    let sums = "        add(held, added, vectors(summed, row, WIDTH), first, threads)\n    weight";
    fused.expect((sums, &sums.replace("row,", "row // 2,")), &[TWO_WRITE]);
}

#[test]
fn in_rms_norm_backward() {
    // A row for each block, two rows for one of them, and rows that are read twice.
    let (one, two) = (rms_norm_backward(2, 1032), rms_norm_backward(1585, 8));
    let twice = rms_norm_backward(2, 16392).without_clusters();
    two.expect(
        ("    kp.wait_group(ahead)\n", ""),
        &[("copy-in-flight", READ, Some(COPIED)), ("unawaited-copy", COPIED, None)],
    );
    one.expect(
        ("    sums.fill(0)\n", ""),
        &[
            ("uninitialised-read", "write(vectors(partial", None),
            ("uninitialised-read", "sums.store(kp.fma(a, b, sums.load()))", None),
        ],
    );
    one.expect(
        ("    kp.sync_threads()\n    if warp == 0", "    if warp == 0"),
        &[
            ("shared-race", "sums[lane, warp] = total", Some("total += sums[lane, other]")),
            ("uninitialised-read", "total += sums[lane, other]", None),
        ],
    );
    let barrier = "    if column < 32:\n        kp.sync_threads()  # some\n    if warp == 0";
    one.expect(
        ("    kp.sync_threads()\n    if warp == 0", barrier),
        &[("divergent", "# some", Some("if column < 32:"))],
    );
    one.expect(
        ("x[kp.min(row, rows - 1), column]", "x[kp.min(row, rows), column]"),
        &[("uninitialised-read", "value = x[", None)],
    );
    let meet = "    meet(cluster)\n    total = ";
    let (told, heard) = ("sums[kp.warp_idx(), half, turn] = own", "total += sums[warp + lane");
    one.expect(
        (meet, "    total = "),
        &[
            ("shared-race", told, Some(heard)),
            ("shared-race", heard, Some(told)),
            ("uninitialised-read", heard, None),
        ],
    );
    two.expect(
        ("stage, turn = after(stage, rooms), 1 - turn", "stage = after(stage, rooms)"),
        &[("shared-race", told, Some(heard)), ("shared-race", heard, Some(told))],
    );
    two.expect(
        ("ahead if stage == 0 else stage - 1", "stage"),
        &[
            ("copy-in-flight", COPIED, Some(COPIED)),
            ("copy-in-flight", READ, Some(COPIED)),
            ("uninitialised-read", READ, None),
        ],
    );
    two.expect(
        ("if row < sources[j].shape[0]", "if row <= sources[j].shape[0]"),
        &[("index-out-of-bounds", COPIED, None)],
    );
    twice.expect(
        ("        sums[None, i].fill(0)\n", "        pass\n"),
        &[("uninitialised-read", "sums[None, i].store(sums[None, i]", None)],
    );
}

fn layer_norm() -> Example {
    let (x, w): (&[i64], &[i64]) = (&[2, 1032], &[1032]);
    let rows = [fresh(Scalar::F32, &[2]), fresh(Scalar::F32, &[2]), EPS];
    halves(["layer_norm", "layer_norm"], [&[x, w, w], &[x]], &rows)
}

fn layer_norm_backward(d: i64) -> Example {
    let rows = [input(Scalar::F32, &[2]), input(Scalar::F32, &[2])];
    let (x, w): (&[i64], &[i64]) = (&[2, d], &[d]);
    let dy = input(Scalar::BF16, x);
    let results = [x, w, w].map(|shape| fresh(Scalar::BF16, shape));
    let more: Vec<_> = rows.into_iter().chain([dy]).chain(results).collect();
    halves(["layer_norm", "layer_norm_backward"], [&[x, w], &[]], &more)
}

#[test]
fn in_layer_norm() {
    let example = layer_norm();
    let rows = "        mean[row] = middle\n        rstd[row] = scale\n";
    example.expect(
        (
            &format!("if first == 0:\n{rows}"),
            &format!(
                "if first < 2:\n{}",
                rows.replace(" = middle", " = eps").replace(" = scale", " = middle")
            ),
        ),
        &[
            ("global-race", "mean[row] = eps", Some("mean[row] = eps")),
            ("global-race", "rstd[row] = middle", Some("rstd[row] = middle")),
        ],
    );
    let line = "    middle = mean_of(total_of(held), x, cluster)";
    example.expect(
        (line, &format!("    middle = eps\n    if first < 32:\n    {line}")),
        &[("divergent", SUMMED, Some("if first < 32"))],
    );
    let write = "write(target, i, normed * part(weight, i)";
    example.expect((write, &write.replace("i,", "i // 2,")), &[TWO_WRITE]);
}

#[test]
fn in_layer_norm_backward() {
    let (once, twice) = (layer_norm_backward(1032), layer_norm_backward(16392).without_clusters());
    once.expect(
        (
            "db = zeros((WIDTH, parts)), zeros((WIDTH, parts))",
            "db = zeros((WIDTH, parts)), kp.make_rmem_tensor((WIDTH, parts), kp.float32)",
        ),
        &[
            ("uninitialised-read", "db[None, k].store(db[None, k].load()", None),
            ("uninitialised-read", "write(vectors(dbs", None),
        ],
    );
    once.expect(
        ("rooms[0].shape[2] - 1\n    free", "rooms[0].shape[2]\n    free"),
        &[("copy-in-flight", READ, Some(COPIED)), ("unawaited-copy", COPIED, None)],
    );
    let second = "write(vectors(dbs, worker, WIDTH)";
    once.expect(
        (second, &second.replace("worker", "worker // 2")),
        &[TWO_WRITE, ("uninitialised-read", "value = x[", None)],
    );
    twice.expect(
        ("        db[None, i].fill(0)\n", ""),
        &[("uninitialised-read", "db[None, i].store(db[None, i]", None)],
    );
    let loops = "for i in range(t, weight.shape[1], threads):\n            normed";
    twice.expect(
        (loops, &loops.replace("(t,", "(t // 2,")),
        &[
            ("global-race", "dw[None, i].store(dw[None, i]", Some("dw[None, i].store(dw[None, i]")),
            ("global-race", "db[None, i].store(db[None, i]", Some("db[None, i].store(db[None, i]")),
            TWO_WRITE,
        ],
    );
}

fn transpose() -> Example {
    floats("transpose", "transpose", &[&[70, 50], &[50, 70]])
}

#[test]
fn in_transpose() {
    let example = transpose();
    let (write, read) = ("tile[ty + j * ROWS, tx + i * 32] = held[j, i]", "= tile[c, r]");
    example.expect(
        ("    kp.sync_threads()\n", ""),
        &[
            ("shared-race", write, Some(read)),
            ("shared-race", read, Some(write)),
            ("uninitialised-read", read, None),
        ],
    );
    example.expect(
        ("row * TILE + r < m and", "row * TILE + r <= m and"),
        &[("index-out-of-bounds", "held[j, i] = source[r, c]", None)],
    );
    let barrier = "    if tx < 16:\n        kp.sync_threads()";
    example.expect(
        ("    kp.sync_threads()", barrier),
        &[("divergent", "sync_threads", Some("if tx < 16"))],
    );
    example.expect(("    held.fill(0)\n", ""), &[("uninitialised-read", write, None)]);
}

fn matmul() -> Example {
    floats("matmul", "matmul", &[&[128, 32], &[32, 128], &[128, 128]])
}

#[test]
fn in_matmul() {
    let example = matmul();
    let (write_a, write_b) = ("shared_a[k + j, r] = held_a", "^held_b[None, i], kp.local_tile");
    let (read_a, read_b) = ("^local_tile(shared_a[k", "^local_tile(shared_b[k");
    example.expect(
        ("            kp.sync_threads()\n", ""),
        &[
            ("shared-race", write_b, Some(read_b)),
            ("shared-race", read_a, Some(write_a)),
            ("shared-race", read_b, Some(write_b)),
            ("uninitialised-read", read_b, None),
        ],
    );
    let further =
        ("if step + 1 < steps:\n            load", "if step + 1 <= steps:\n            load");
    example.expect(
        further,
        &[
            ("index-out-of-bounds", "kp.local_tile(a, ", None),
            ("index-out-of-bounds", "kp.local_tile(b, ", None),
        ],
    );
    let barrier = "    if t < 32:\n        kp.sync_threads()\n    for step";
    let plain = "    kp.sync_threads()\n    for step";
    example.expect((plain, barrier), &[("divergent", "^for step", Some("if t < 32"))]);
    let sum = "acc[i, j] = kp.fma";
    example.expect(("    acc.fill(0)\n", ""), &[("uninitialised-read", sum, None)]);
}
