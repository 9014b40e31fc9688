// SPDX-License-Identifier: Apache-2.0
//! Defects that are planted in the examples: a race, an access beyond a tensor, a barrier that some
//! threads do not come to, a read of what was never written. Each is one change of the file's text,
//! and is found at its line, by the interpreter or before anything runs.

use crate::call::{Arg, Array, File, Found, call};
use crate::text;
use kernpack_kernel_ir::Scalar;

/// A function of an example with what it is called with.
struct Example {
    file: &'static str,
    function: &'static str,
    /// The element type and the tensors' shapes. The last is the result.
    element: Scalar,
    shapes: Vec<Vec<i64>>,
    /// Behind the tensors.
    number: Option<f64>,
}

/// What is found, at the only line of the changed file that has a text in it; of a race, also the
/// line of the other access.
type Expected<'e> = (&'static str, &'e str, Option<&'e str>);

/// The number of the only line with that in it; of the one in front, where it begins with `^`:
/// there begins the call that goes on with it.
fn line_of(text: &str, piece: &str) -> u32 {
    if let Some(piece) = piece.strip_prefix('^') {
        return line_of(text, piece) - 1;
    }
    let lines = text.lines().enumerate().filter(|(_, line)| line.contains(piece));
    let found: Vec<_> = lines.map(|(number, _)| number as u32 + 1).collect();
    assert_eq!(found.len(), 1, "lines with `{piece}`");
    found[0]
}

impl Example {
    fn args(&self) -> Vec<Arg> {
        let (result, inputs) = self.shapes.split_last().expect("there is a result");
        let input = |shape: &Vec<i64>| {
            let values = (0..shape.iter().product()).map(|i: i64| (i % 7) as f64 - 3.0).collect();
            Arg::Tensor(Array::of(self.element, shape, values))
        };
        let result = Arg::Tensor(Array::fresh(self.element, result));
        inputs.iter().map(input).chain([result]).chain(self.number.map(Arg::Float)).collect()
    }

    /// What is found in the file's text where it is changed so.
    fn found(&self, text: &str) -> Vec<Found> {
        let function = File::read(text).and_then(|file| file.function(self.function));
        let mut found = match function {
            Err(found) => found,
            Ok(function) => match call(&function, &self.args()) {
                Ok(came) => came.found,
                Err(refused) => panic!("{refused}"),
            },
        };
        found.sort();
        found.dedup();
        found
    }

    /// Plants a defect: the only place with the text `from` becomes `to`.
    #[track_caller]
    fn expect(&self, (from, to): (&str, &str), expected: &[Expected<'_>]) {
        let text = text(self.file);
        assert_eq!(text.matches(from).count(), 1, "places with `{from}`");
        let text = text.replace(from, to);
        let found: Vec<_> = self.found(&text).iter().map(ToString::to_string).collect();
        let expected = expected.iter().map(|(code, line, other)| {
            let other = other.map(|other| line_of(&text, other));
            Found { code, line: line_of(&text, line), other }.to_string()
        });
        assert_eq!(found, expected.collect::<Vec<_>>(), "{from} -> {to}");
    }
}

/// An index that its tensor has not. In the last row the memory has not the address either, which
/// is one mistake.
fn beyond(line: &str) -> [Expected<'_>; 1] {
    [("index-out-of-bounds", line, None)]
}

fn floats(file: &'static str, function: &'static str, shapes: &[&[i64]]) -> Example {
    let shapes = shapes.iter().map(|shape| shape.to_vec()).collect();
    Example { file, function, element: Scalar::F32, shapes, number: None }
}

#[test]
fn nothing_is_found_where_nothing_is_planted() {
    for example in [add_one(), poly(), reduce_sum(), softmax(21), rms_norm(), transpose(), matmul()]
    {
        assert_eq!(example.found(&text(example.file)), [], "{}", example.function);
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

fn softmax(n: i64) -> Example {
    floats("softmax", "softmax", &[&[2, n], &[2, n]])
}

#[test]
fn in_softmax() {
    let (in_registers, twice) = (softmax(20), softmax(21));
    let write = "out[row, i] = kp.exp";
    twice.expect(
        (write, "out[row, i // 2] = kp.exp"),
        &[("global-race", "out[row, i // 2]", Some("out[row, i // 2]"))],
    );
    let further = (
        "range(t, n, threads):\n        out[row, i]",
        "range(t, n + 1, threads):\n        out[row, i]",
    );
    // What is beyond the first row is the second one's.
    let [index] = beyond(write);
    twice.expect(further, &[("global-race", write, Some(write)), index]);
    let most = "    all_most = kp.block_reduction_max(most)";
    let fewer = format!("    all_most = most\n    if t < 64:\n    {most}");
    twice.expect((most, &fewer), &[("divergent", "block_reduction_max(most)", Some("if t < 64"))]);
    let fill = "        else:\n            held[None, k].fill(-kp.float32.inf)\n";
    let read = "most = kp.block_reduction_max(held";
    // The elements that were never filled take part in the maximum, and stay when it is subtracted.
    in_registers.expect(
        (fill, ""),
        &[("uninitialised-read", read, None), ("uninitialised-read", "held.store(kp.exp", None)],
    );
}

fn rms_norm() -> Example {
    Example {
        element: Scalar::BF16,
        number: Some(1e-6),
        ..floats("rms_norm", "rms_norm", &[&[2, 1032], &[1032], &[2, 1032]])
    }
}

#[test]
fn in_rms_norm() {
    let example = rms_norm();
    let write = "target[None, i].store";
    example.expect(
        (write, "target[None, i // 2].store"),
        &[("global-race", "target[None, i // 2]", Some("target[None, i // 2]"))],
    );
    let read = "value = value * weight[None, i]";
    example.expect(
        ("if i < n:\n            value", "if i <= n:\n            value"),
        &[
            ("global-race", write, Some(write)),
            ("index-out-of-bounds", read, None),
            ("index-out-of-bounds", write, None),
        ],
    );
    let total = "    total = kp.block_reduction_sum(total)";
    let fewer = format!("    if t < 8:\n    {total}");
    example
        .expect((total, &fewer), &[("divergent", "block_reduction_sum(total)", Some("if t < 8"))]);
    let fill = "        else:\n            held[None, k].fill(0)\n";
    let read = "part = held[None, k].load()";
    example.expect((fill, ""), &[("uninitialised-read", read, None)]);
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
