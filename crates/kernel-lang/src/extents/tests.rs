// SPDX-License-Identifier: Apache-2.0
//! Indices that the extent of something else alone bounds, and those that are bounded as they have
//! to be, or of which nothing is known.

use crate::file::KernelFiles;
use crate::packed::settle::Kernels;
use crate::packed::{Unrelated, functions};
use expect_test::{Expect, expect};
use kernpack_syntax::{Diagnostics, Texts};
use std::io;
use std::path::{Path, PathBuf};

/// The findings about the kernels of a file's packed functions.
fn told(source: &str, unrelated: Unrelated) -> (Result<Diagnostics, Diagnostics>, Texts) {
    let mut texts = Texts::default();
    let mut door = |path: &Path| match path.to_str() {
        Some("f.py") => Ok(source.as_bytes().to_vec()),
        _ => Err(io::Error::from(io::ErrorKind::NotFound)),
    };
    let files = KernelFiles::read(Path::new("f.py"), &mut door, &mut texts);
    let files = files.unwrap_or_else(|problems| panic!("{}\n{source}", problems.in_texts(&texts)));
    let (functions, problems) = functions(&files);
    assert!(problems.0.is_empty() && !functions.is_empty(), "{}", problems.in_texts(&texts));
    let mut kernels = Kernels::default();
    for function in &functions {
        if let Err(found) = kernels.settle(&files, &function.rows, unrelated) {
            return (Err(found), texts);
        }
    }
    (Ok(kernels.warnings), texts)
}

/// A file with a kernel `k` and a packed function that launches it.
fn file(signature: &str, kernel: &str, launch: &str) -> String {
    let params = signature.split(" where ").next().unwrap_or_default();
    let mut depth = 0;
    let mut names = Vec::new();
    for part in params.split_inclusive([',', '(', ')', '[', ']']) {
        if let (0, Some((name, _))) = (depth, part.split_once(':')) {
            names.push(name.trim().to_string());
        }
        depth += match part.chars().last() {
            Some('(' | '[') => 1,
            Some(')' | ']') => -1,
            _ => 0,
        };
    }
    let names = names.join(", ");
    let (head, rules) = match signature.split_once(" where ") {
        Some((params, rules)) => (params, format!(" where {rules}")),
        None => (signature, String::new()),
    };
    format!(
        "import kernpack as kp\n{kernel}\n@kp.jit(\"f({head}){rules}\")\ndef f({names}):\n    \
         {launch}\n"
    )
}

/// Two vectors, of which nothing is known together.
const VECTORS: &str = "x: Tensor([m], float32), y: Tensor([n], float32, mut)";
const BLOCKS: &str = "k(x, y).launch(grid=kp.ceil_div(x.shape[0], 256), block=256)";

/// A kernel of `x` and `y`, with these lines behind the index of a thread.
fn lines(lines: &str) -> String {
    let lines: String = lines.lines().map(|line| format!("    {line}\n")).collect();
    format!(
        "@kp.kernel\ndef k(x, y):\n    i = kp.block_idx()[0] * 256 + kp.thread_idx()[0]\n{lines}"
    )
}

/// Expects that of a file's kernels.
fn expect_of(source: &str, expected: Expect) {
    let (warnings, texts) = told(source, Unrelated::Warn);
    let warnings = warnings.unwrap_or_else(|found| panic!("{}", found.in_texts(&texts)));
    expected.assert_eq(&warnings.in_texts(&texts));
}

/// Expects that a kernel of two vectors is told of once, with that limit and that access.
fn expect_told(body: &str, limit: &str, access: &str) {
    expect_told_of(&file(VECTORS, &lines(body), BLOCKS), limit, access);
}

fn expect_told_of(source: &str, limit: &str, access: &str) {
    let (warnings, texts) = told(source, Unrelated::Warn);
    let warnings = warnings.unwrap_or_else(|found| panic!("{}", found.in_texts(&texts)));
    let text = warnings.in_texts(&texts);
    assert_eq!(warnings.0.len(), 1, "{text}\n{source}");
    let message = &warnings.0[0].message;
    assert!(message.starts_with(&format!("nothing but `{limit}` bounds index ")), "{text}");
    let second = text.lines().nth(1).unwrap_or_default();
    assert!(second.contains(&format!(" `{access}` ")), "{text}");
}

/// Expects that nothing is told.
fn expect_silent(source: &str) {
    let (warnings, texts) = told(source, Unrelated::Warn);
    let warnings = warnings.unwrap_or_else(|found| panic!("{}", found.in_texts(&texts)));
    assert!(warnings.0.is_empty(), "{}\n{source}", warnings.in_texts(&texts));
}

/// Expects that nothing is told of a kernel of two vectors, though it would be without something
/// that it has: `without` is the same without that.
fn expect_bounded(body: &str, without: &str) {
    expect_told(without, "x.shape[0]", "y[i]");
    expect_silent(&file(VECTORS, &lines(body), BLOCKS));
}

#[test]
fn an_index_that_another_extent_bounds_is_told_of() {
    expect_of(
        &file(VECTORS, &lines("if i < x.shape[0]:\n    y[i] = x[i] * 2"), BLOCKS),
        expect![[r#"
            warning[unrelated-extents]: nothing but `x.shape[0]` bounds index 0 of `y`, and is not known to be at most `y.shape[0]`
              6:9 `y[i]` an index here may be `x.shape[0] - 1`
              5:8 `i < x.shape[0]` bounded here
              10:5 `k(x, y).launch(grid=kp.ceil_div(x.shape[0], 256), block=256)` launched here
              help: write `assert x.shape[0] == y.shape[0]` in the packed function, or the same symbol for both in the signature"#]],
    );
}

#[test]
fn it_is_refused_where_that_is_asked() {
    let source = file(VECTORS, &lines("if i < x.shape[0]:\n    y[i] = x[i]"), BLOCKS);
    let (refused, texts) = told(&source, Unrelated::Refuse);
    let refused = refused.expect_err("it is refused").in_texts(&texts);
    assert!(refused.starts_with("error[unrelated-extents]: "), "{refused}");
    let (ignored, _) = told(&source, Unrelated::Ignore);
    assert_eq!(ignored, Ok(Diagnostics::default()));
}

#[test]
fn early_returns_bound() {
    expect_told("if i >= x.shape[0]:\n    return\ny[i] = 1", "x.shape[0]", "y[i]");
    expect_told("if not (i < x.shape[0]):\n    return\ny[i] = 1", "x.shape[0]", "y[i]");
}

#[test]
fn conditions_of_several_parts_bound() {
    expect_told("if i >= 0 and i < x.shape[0]:\n    y[i] = 1", "x.shape[0]", "y[i]");
    expect_told("if i < x.shape[0] and x[i] > 0:\n    y[i] = 1", "x.shape[0]", "y[i]");
    expect_told("if 0 <= i < x.shape[0]:\n    y[i] = 1", "x.shape[0]", "y[i]");
}

#[test]
fn loops_bound() {
    expect_told("for j in range(x.shape[0]):\n    y[j] = x[j]", "x.shape[0]", "y[j]");
    expect_told("for j in range(i, x.shape[0], 256):\n    y[j] = x[j]", "x.shape[0]", "y[j]");
    expect_told("while i < x.shape[0]:\n    y[i] = x[i]\n    i += 256", "x.shape[0]", "y[i]");
    let turns = "for j in range(4):\n    if i + j >= x.shape[0]:\n        break\n    y[i + j] = 1";
    expect_told(turns, "x.shape[0]", "y[i + j]");
}

#[test]
fn sums_are_compared() {
    expect_told("if i + 1 < x.shape[0]:\n    y[i] = 1", "x.shape[0] - 1", "y[i]");
    expect_told("if i < x.shape[0]:\n    y[i + 1] = 1", "x.shape[0] + 1", "y[i + 1]");
    expect_told("if i < x.shape[0] // 4:\n    y[4 * i + 3] = 1", "x.shape[0]//4*4", "y[4 * i + 3]");
}

#[test]
fn choices_bound() {
    expect_told("v = y[i] if i < x.shape[0] else 0.0\nkp.printf('{}', v)", "x.shape[0]", "y[i]");
}

#[test]
fn functions_that_are_called_bound() {
    let helper = "def inside(i, t):\n    return i < t.shape[0]\n";
    let kernel = lines("if inside(i, x):\n    y[i] = 1");
    let source = file(VECTORS, &format!("{helper}{kernel}"), BLOCKS);
    expect_told_of(&source, "x.shape[0]", "y[i]");
    let helper = "def put(y, i):\n    y[i] = 1\n";
    let kernel = lines("if i < x.shape[0]:\n    put(y, i)");
    expect_of(
        &file(VECTORS, &format!("{helper}{kernel}"), BLOCKS),
        expect![[r#"
        warning[unrelated-extents]: nothing but `x.shape[0]` bounds index 0 of `y`, and is not known to be at most `y.shape[0]`
          3:5 `y[i]` an index here may be `x.shape[0] - 1`
          7:8 `i < x.shape[0]` bounded here
          8:9 `put(y, i)` called here
          12:5 `k(x, y).launch(grid=kp.ceil_div(x.shape[0], 256), block=256)` launched here
          help: write `assert x.shape[0] == y.shape[0]` in the packed function, or the same symbol for both in the signature"#]],
    );
    let helper = "def put(x, y, i):\n    if i >= x.shape[0]:\n        return\n    y[i] = 1\n";
    let source = file(VECTORS, &format!("{helper}{}", lines("put(x, y, i)")), BLOCKS);
    expect_told_of(&source, "x.shape[0]", "y[i]");
}

#[test]
fn masked_copies_are_bounded_by_their_masks() {
    let body = "\
tx = kp.zipped_divide(x, (4,))
ty = kp.zipped_divide(y, (4,))
kp.copy(tx[None, i], ty[None, i], pred=4 * i + 3 < x.shape[0])";
    let copy = body.lines().last().unwrap_or_default();
    expect_told(body, "x.shape[0]", copy);
    let own = body.replace("< x.shape[0]", "< y.shape[0]");
    expect_told(&own, "y.shape[0]", &copy.replace("< x.shape[0]", "< y.shape[0]"));
    let both = body.replace("< x.shape[0]", "< kp.min(x.shape[0], y.shape[0])");
    expect_silent(&file(VECTORS, &lines(&both), BLOCKS));
}

#[test]
fn modes_are_told_of_one_by_one() {
    let kernel = "\
@kp.kernel
def k(x, y):
    row, col = kp.block_idx()[0], kp.thread_idx()[0]
    if row < x.shape[0] and col < x.shape[1]:
        y[row, col] = x[row, col]
";
    let launch = "k(x, y).launch(grid=x.shape[0], block=256)";
    let of = |signature: &str| file(signature, kernel, launch);
    let rows = of("x: Tensor([m, n], float32), y: Tensor([k, n], float32, mut)");
    expect_told_of(&rows, "x.shape[0]", "y[row, col]");
    let columns = of("x: Tensor([m, n], float32), y: Tensor([m, k], float32, mut)");
    expect_told_of(&columns, "x.shape[1]", "y[row, col]");
    expect_silent(&of("x: Tensor([m, n], float32), y: Tensor([m, n], float32, mut)"));
    expect_silent(&of("x: Tensor([m, n], float32), y: Tensor([m, k], float32, mut) where n <= k"));
    let constants = of("x: Tensor([m, n], float32), y: Tensor([m, 128], float32, mut)");
    expect_told_of(&constants, "x.shape[1]", "y[row, col]");
    expect_silent(&of(
        "x: Tensor([m, n], float32), y: Tensor([m, 128], float32, mut) where n <= 128",
    ));
}

#[test]
fn tuples_and_optionals_are_told_of() {
    let kernel = "\
@kp.kernel
def k(pair, w):
    i = kp.block_idx()[0] * 256 + kp.thread_idx()[0]
    if i < pair[0].shape[0]:
        pair[1][i] = 1
        if w is not None:
            w[i] = 1
";
    let launch = "k(p, w).launch(grid=8, block=256)";
    let of = |pair: &str, w: &str| {
        let signature = format!("p: Tuple({pair}), w: Optional[Tensor([{w}], float32, mut)]");
        file(&signature, kernel, launch)
    };
    let same = "Tensor([m], float32), Tensor([m], float32, mut)";
    let other = "Tensor([m], float32), Tensor([n], float32, mut)";
    expect_told_of(&of(other, "m"), "p[0].shape[0]", "pair[1][i]");
    expect_told_of(&of(same, "k"), "p[0].shape[0]", "w[i]");
    expect_silent(&of(same, "m"));
}

#[test]
fn numbers_of_the_call_are_told_of() {
    let kernel = "\
@kp.kernel
def k(y, count):
    i = kp.block_idx()[0] * 256 + kp.thread_idx()[0]
    if i < count:
        y[i] = 1
";
    let launch = "k(y, count).launch(grid=8, block=256)";
    let of = |signature: &str| file(signature, kernel, launch);
    expect_told_of(&of("y: Tensor([n], float32, mut), count: int32"), "count", "y[i]");
    expect_silent(&of("y: Tensor([n], float32, mut), count: int32 where count <= n"));
    expect_silent(&of("y: Tensor([count], float32, mut), count: int32"));
}

#[test]
fn own_bounds_are_enough() {
    let without = "if i < x.shape[0]:\n    y[i] = 1";
    for body in [
        "if i < x.shape[0] and i < y.shape[0]:\n    y[i] = 1",
        "if i < x.shape[0]:\n    if i < y.shape[0]:\n        y[i] = 1",
        "if i >= y.shape[0]:\n    return\nif i < x.shape[0]:\n    y[i] = 1",
        "if i >= x.shape[0] or i >= y.shape[0]:\n    return\ny[i] = 1",
        "n = kp.min(x.shape[0], y.shape[0])\nif i < n:\n    y[i] = 1",
        "for j in range(kp.min(x.shape[0], y.shape[0])):\n    y[j] = 1",
        "if i < x.shape[0] and x[i] > 0 and i < y.shape[0]:\n    y[i] = 1",
        "if i < x.shape[0]:\n    y[kp.min(i, y.shape[0] - 1)] = 1",
        "if i < x.shape[0]:\n    y[i % y.shape[0]] = 1",
        "j = i if i < y.shape[0] else 0\nif j < x.shape[0]:\n    y[j] = 1",
        "if i >= y.shape[0]:\n    i = 0\nif i < x.shape[0]:\n    y[i] = 1",
        "if x.shape[0] <= y.shape[0]:\n    if i < x.shape[0]:\n        y[i] = 1",
        "if x.shape[0] > y.shape[0]:\n    return\nif i < x.shape[0]:\n    y[i] = 1",
        "inside = i < y.shape[0]\nif inside and i < x.shape[0]:\n    y[i] = 1",
        "if i < x.shape[0]:\n    if x.shape[0] > 4:\n        if i >= y.shape[0]:\n            \
         return\n    y[i] = 1",
        "if i >= y.shape[0] and x.shape[0] > 4:\n    return\nif i < x.shape[0]:\n    y[i] = 1",
        "if i < x.shape[0]:\n    z = y.shape[0] - 1 - i\n    if z >= 0:\n        y[z] = 1",
        "if i < x.shape[0]:\n    if i == 0:\n        y[i] = 1",
        "j = kp.thread_idx()[0]\nif j <= i and i < y.shape[0]:\n    if j < x.shape[0]:\n        \
         y[j] = 1",
    ] {
        expect_bounded(body, without);
    }
}

#[test]
fn what_is_not_seen_through_is_not_told_of() {
    let without = "if i < x.shape[0]:\n    y[i] = 1";
    for body in [
        // Nothing, or nothing of the call, bounds the index.
        "y[i] = 1",
        "if i < 100:\n    y[i] = 1",
        "y[kp.int64(x[0])] = 1",
        "if i < x.shape[0]:\n    y[kp.int64(x[i])] = 1",
        "if i < x.shape[0]:\n    y[i // 2] = 1",
        // Data bounds it too.
        "if i < kp.int64(x[0]) and i < x.shape[0]:\n    y[i] = 1",
        // Other threads have a say.
        "if kp.vote_all_sync(i < y.shape[0]) and i < x.shape[0]:\n    y[i] = 1",
        // A float says it.
        "if kp.float32(i) < kp.float32(y.shape[0]) and i < x.shape[0]:\n    y[i] = 1",
        // No thread gets there.
        "if i < 0:\n    if i < x.shape[0]:\n        y[i] = 1",
        // The kernel's own memory is as large as it says itself.
        "s = kp.shared(kp.float32, 64)\nif i < x.shape[0]:\n    s[i] = 1\nkp.sync_threads()\n\
         kp.printf('{}', s[0])",
        // What is read of a mask that threads have written.
        "s = kp.shared(kp.bool, 256)\nt = kp.thread_idx()[0]\ns[t] = i < y.shape[0]\nif s[t]:\n    \
         if i < x.shape[0]:\n        y[i] = 1",
    ] {
        expect_bounded(body, without);
    }
    let helper =
        "def inside(i, y):\n    if i >= y.shape[0]:\n        return False\n    return True\n";
    let kernel = lines("if inside(i, y) and i < x.shape[0]:\n    y[i] = 1");
    expect_silent(&file(VECTORS, &format!("{helper}{kernel}"), BLOCKS));
}

#[test]
fn what_the_call_says_is_enough() {
    let kernel = lines("if i < x.shape[0]:\n    y[i] = 1");
    let of = |signature: &str| file(signature, &kernel, BLOCKS);
    expect_told_of(&of(VECTORS), "x.shape[0]", "y[i]");
    for (x, y, rules) in [
        ("m", "m", ""),
        ("m", "n", " where m == n"),
        ("m", "n", " where m <= n"),
        ("m", "n", " where n % m == 0"),
        ("m", "n", " where m <= l, l <= n, l >= 1"),
        ("m", "2 * m", ""),
        ("_", "_", " where x.shape[0] == y.shape[0]"),
        ("*s", "*s", ""),
        ("m", "128", " where m <= 128"),
        ("100", "128", ""),
        ("_", "_", " where x.numel == y.numel"),
        ("_", "_", " where y.numel >= 4, x.shape[0] <= y.numel"),
    ] {
        let l = if rules.contains('l') { ", l: int32" } else { "" };
        let tensors = format!("x: Tensor([{x}], float32), y: Tensor([{y}], float32, mut){l}");
        expect_silent(&of(&format!("{tensors}{rules}")));
    }
    let passed = lines("if i < n:\n    y[i] = 1").replace("(x, y)", "(x, y, n)");
    let launch = |n: &str| format!("k(x, y, {n}).launch(grid=8, block=256)");
    let of_number = |n: &str| file(VECTORS, &passed, &launch(n));
    expect_told_of(&of_number("x.shape[0]"), "x.shape[0]", "y[i]");
    expect_told_of(&of_number("x.shape[0] // 2"), "x.shape[0] // 2", "y[i]");
    expect_silent(&of_number("y.shape[0] // 2"));
    expect_silent(&of_number("min(x.shape[0], y.shape[0])"));
    for rule in ["x.shape[0] == y.shape[0]", "x.shape[0] <= y.shape[0]"] {
        let asserted = format!("assert {rule}\n    {BLOCKS}");
        expect_silent(&file(VECTORS, &kernel, &asserted));
    }
    let chosen = "if x.shape[0] == y.shape[0]:\n        k(x, y).launch(grid=8, block=256)";
    expect_silent(&file(VECTORS, &kernel, chosen));
}

#[test]
fn the_grid_may_be_enough() {
    let kernel = lines("if i < x.shape[0]:\n    y[i] = 1");
    let grid = |of: &str| format!("k(x, y).launch(grid={of}, block=256)");
    let of = |signature: &str, blocks: &str| file(signature, &kernel, &grid(blocks));
    // The last block goes beyond what it covers.
    expect_told_of(&of(VECTORS, "kp.ceil_div(y.shape[0], 256)"), "x.shape[0]", "y[i]");
    expect_silent(&of(VECTORS, "y.shape[0] // 256"));
    expect_silent(&of(VECTORS, "kp.ceil_div(y.shape[0], 1024)"));
    let filled = format!("{VECTORS} where n % 256 == 0");
    expect_silent(&of(&filled, "kp.ceil_div(y.shape[0], 256)"));
    let rows = "\
@kp.kernel
def k(x, y):
    row = kp.block_idx()[0]
    if row < x.shape[0]:
        y[row] = 1
";
    expect_silent(&file(VECTORS, rows, &grid("y.shape[0]")));
    expect_silent(&file(VECTORS, rows, &grid("kp.ceil_div(y.shape[0], 256)")));
    expect_told_of(&file(VECTORS, rows, &grid("x.shape[0]")), "x.shape[0]", "y[row]");
    let small = "x: Tensor([m], float32), y: Tensor([2048], float32, mut)";
    expect_silent(&of(small, "8"));
    expect_told_of(&of(small, "9"), "x.shape[0]", "y[i]");
}

#[test]
fn each_access_is_told_of_once() {
    let signature = "x: Tensor([m], T), y: Tensor([n], T, mut) where T in {float16, float32}";
    let kernel = lines("if i < x.shape[0]:\n    y[i] = x[i]\n    y[i] = x[i]");
    let launch = format!("{BLOCKS}\n    {BLOCKS}");
    expect_told_of(&file(signature, &kernel, &launch), "x.shape[0]", "y[i]");
}

/// Conditions of conditions are gone through once each.
#[test]
fn conditions_that_double_take_no_time() {
    let body = "\
a = i < x.shape[0]
b = i != 5
for j in kp.range_constexpr(20):
    a, b = a & b, b & a
if a & b:
    y[i] = 1";
    expect_told(body, "x.shape[0]", "y[i]");
}

#[test]
fn tiles_are_told_of() {
    let signature =
        "x: Tensor([m], float32), y: Tensor([n], float32, mut) where m % 4 == 0, n % 4 == 0";
    let kernel = "\
@kp.kernel
def k(x, y):
    i = kp.block_idx()[0] * 256 + kp.thread_idx()[0]
    if i < x.shape[1]:
        y[None, i].store(x[None, i].load())
";
    let launch = "\
vx, vy = kp.zipped_divide(x, (4,)), kp.zipped_divide(y, (4,))
    k(vx, vy).launch(grid=8, block=256)";
    expect_of(
        &file(signature, kernel, launch),
        expect![[r#"
        warning[unrelated-extents]: nothing but `x.shape[0] // 4` bounds index 1 of `y`, and is not known to be at most `y.shape[0] // 4`
          6:9 `y[None, i]` an index here may be `x.shape[0] // 4 - 1`
          5:8 `i < x.shape[1]` bounded here
          11:5 `k(vx, vy).launch(grid=8, block=256)` launched here
          help: write `assert x.shape[0] // 4 <= y.shape[0] // 4` in the packed function, or `where x.shape[0] // 4 <= y.shape[0] // 4` in the signature"#]],
    );
    let same = "x: Tensor([m], float32), y: Tensor([m], float32, mut) where m % 4 == 0";
    expect_silent(&file(same, kernel, launch));
}

/// Python in blocks of a page.
fn python(page: &str) -> Vec<String> {
    let mut blocks: Vec<String> = Vec::new();
    let mut is_python = false;
    for line in page.lines() {
        match (line.strip_prefix("```"), is_python) {
            (Some(info), false) => {
                is_python = info.starts_with("python") || info.starts_with("kernels");
                if is_python {
                    blocks.push("import kernpack as kp\n".to_string());
                }
            }
            (Some(_), true) => is_python = false,
            (None, true) => {
                if let Some(block) = blocks.last_mut() {
                    *block += &format!("{line}\n");
                }
            }
            (None, false) => {}
        }
    }
    blocks
}

/// A folder of the tree.
fn folder_of(folder: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(folder)
}

/// The files of a folder with an ending, as they are.
fn texts_of(folder: &str, ending: &str) -> Vec<String> {
    let root = folder_of(folder);
    let files = std::fs::read_dir(&root).unwrap_or_else(|error| panic!("{folder}: {error}"));
    let paths = files.map(|file| file.expect("it can be listed").path());
    let paths = paths.filter(|path| path.extension().is_some_and(|it| it == ending));
    paths.map(|path| std::fs::read_to_string(path).expect("it is text")).collect()
}

/// Kernels that others have written with a signature are right: nothing is told of any.
#[test]
fn kernels_of_examples_and_pages_are_silent() {
    let (mut n_functions, mut told) = (0, String::new());
    let examples = texts_of("examples/kernels", "py");
    let pages = [texts_of("tests/suite/kernels", "md"), texts_of("docs", "md")].concat();
    for source in examples.into_iter().chain(pages.iter().flat_map(|page| python(page))) {
        let mut texts = Texts::default();
        let mut door = |path: &Path| match path.to_str() {
            Some("f.py") => Ok(source.as_bytes().to_vec()),
            _ => std::fs::read(folder_of("examples/kernels").join(path)),
        };
        let Ok(files) = KernelFiles::read(Path::new("f.py"), &mut door, &mut texts) else {
            continue;
        };
        for function in functions(&files).0 {
            let mut kernels = Kernels::default();
            if kernels.settle(&files, &function.rows, Unrelated::Warn).is_ok() {
                n_functions += 1;
                kernels.warnings.0.retain(|warning| warning.code == "unrelated-extents");
                told += &kernels.warnings.in_texts(&texts);
            }
        }
    }
    assert!(n_functions > 40, "{n_functions}");
    expect![[r#"
        warning[unrelated-extents]: nothing but `m*n` bounds index 0 of `y`, and is not known to be at most `y.shape[0]`
          6:9 `y[i]` an index here may be `m*n - 1`
          5:8 `i < kp.size(layout)` bounded here
          11:5 `gather(x, y, layout).launch(grid=kp.ceil_div(kp.size(layout), 128), block=128)` launched here
          help: write `assert m*n <= y.shape[0]` in the packed function, or `where m*n <= y.shape[0]` in the signature"#]].assert_eq(&told);
}
