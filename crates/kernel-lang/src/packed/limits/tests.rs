// SPDX-License-Identifier: Apache-2.0
//! Growth and nesting without end is refused soon, in the stack of a test.

use crate::file::KernelFiles;
use crate::packed::functions;
use expect_test::{Expect, expect};
use kernpack_syntax::Texts;
use std::io;
use std::path::Path;

/// The distinct problems of a packed function with these statements, behind these definitions.
fn check(definitions: &str, statements: &[String], expected: Expect) {
    let body: String = statements.iter().map(|line| format!("    {line}\n")).collect();
    let text = format!(
        "import kernpack as kp\n@kp.kernel\ndef k(x, v):\n    pass\n{definitions}\n\
         @kp.jit(\"f(x: Tensor([n], float32, mut))\")\ndef f(x):\n    n = x.shape[0]\n{body}    \
         k(x, v).launch(grid=1, block=64)\n"
    );
    let mut door = |path: &Path| match path.to_str() {
        Some("f.py") => Ok(text.clone().into_bytes()),
        _ => Err(io::Error::from(io::ErrorKind::NotFound)),
    };
    let files = KernelFiles::read(Path::new("f.py"), &mut door, &mut Texts::default());
    let (_, problems) = functions(&files.expect("kernels are read"));
    let mut lines: Vec<String> = Vec::new();
    for problem in problems {
        let line = format!("[{}] {}\n", problem.code, problem.message);
        if !lines.contains(&line) {
            lines.push(line);
        }
    }
    expected.assert_eq(&lines.concat());
}

/// A first statement, and then another one again and again.
fn again(first: &str, next: &str, n: usize) -> Vec<String> {
    let rest = std::iter::repeat_n(next.to_string(), n);
    std::iter::once(first.to_string()).chain(rest).collect()
}

fn numbered(numbers: std::ops::Range<usize>, line: impl Fn(usize) -> String) -> String {
    numbers.map(line).collect()
}

#[test]
fn numbers_have_an_end() {
    let large =
        || expect!["[packed-size] a number of more than 512 operations, names and constants\n"];
    check("", &again("v = n", "v = v + v", 40), large());
    check("", &again("v = n", "v = v + n", 400), large());
    check("", &again("v = n", "v = v + n", 200), expect![""]);
    check("", &again("v = n", "v = max(v, -v)", 40), large());
    let mut shape = again("t = (n,)", "t = t + t", 9);
    shape.push("v = kp.size(kp.make_layout(t))".to_string());
    check("", &shape, large());
}

#[test]
fn other_values_have_an_end() {
    let then_one = |mut lines: Vec<String>| {
        lines.push("v = 1".to_string());
        lines
    };
    let tuple = || expect!["[packed-size] a tuple of too many parts\n"];
    check("", &then_one(again("t = (1,)", "t = t + t", 40)), tuple());
    check("", &then_one(again("t = (1,)", "t = (t, t)", 40)), tuple());
    check("", &then_one(again("t = (1,)", "t = (t,)", 400)), tuple());
    let condition = || expect!["[packed-size] a condition of too many parts\n"];
    check(
        "",
        &then_one(again("c = n > 3", "c = (n % 5 == 1 or c) and (n % 7 == 2 or c)", 40)),
        condition(),
    );
    check("", &then_one(again("c = n > 3", "c = not c", 400)), condition());
    let layouts = again("l = kp.make_layout((n, n))", "l = kp.make_layout((l.shape, l.shape))", 40);
    check("", &then_one(layouts), expect!["[packed-size] a layout of too many parts\n"]);
}

#[test]
fn what_is_made_of_itself_has_no_value() {
    let circle = "A = B + B\nB = A + A\n";
    check(circle, &again("v = A", "v = B", 1), expect!["[packed-value] `A` is made of itself\n"]);
    let twice = "def g(v):\n    return g(v) + g(v)\n";
    check(twice, &again("v = g(n)", "v = 1", 1), expect!["[recursion] `g` calls itself\n"]);
    let default = "def g(v, w=g(1)):\n    return v\n";
    check(default, &again("v = g(n)", "v = 1", 1), expect!["[recursion] `g` calls itself\n"]);
    let two = "def g(v):\n    return h(v)\ndef h(v):\n    return g(v) + g(v)\n";
    check(two, &again("v = g(n)", "v = 1", 1), expect!["[recursion] `g` calls itself\n"]);
}

#[test]
fn a_constant_is_found_out_once() {
    let doubled = numbered(1..60, |i| format!("A{i} = A{} + A{}\n", i - 1, i - 1));
    check(&format!("A0 = 1\n{doubled}"), &["v = A59".to_string()], expect![""]);
}

#[test]
fn steps_have_an_end() {
    let calls = numbered(1..32, |i| {
        format!("def g{i}(v):\n    return min(g{}(v), g{}(v))\n", i - 1, i - 1)
    });
    check(
        &format!("def g0(v):\n    return v\n{calls}"),
        &["v = g24(1)".to_string()],
        expect!["[packed-size] this function takes more than 1000000 steps\n"],
    );
}

#[test]
fn functions_that_are_passed_have_an_end() {
    let sums = |n: usize| {
        let next = |i| format!("g{i} = lambda v: g{}(v) + g{}(v)", i - 1, i - 2);
        let first = ["g0 = lambda v: v", "g1 = lambda v: v + 1"].map(String::from);
        let last = format!("v = g{n}");
        first.into_iter().chain((2..=n).map(next)).chain([last]).collect::<Vec<_>>()
    };
    check("", &sums(12), expect![""]);
    let many = || {
        expect![[r#"
            [packed-argument] `lambda` uses more than 1000 functions, or 64 in a row
        "#]]
    };
    check("", &sums(60), many());
    let next = |i| format!("g{i} = lambda v: g{}(v)", i - 1);
    let row = (1..3000).map(next);
    let lines = ["g0 = lambda v: v".to_string()].into_iter().chain(row);
    check("", &lines.chain(["v = g2999".to_string()]).collect::<Vec<_>>(), many());
}

#[test]
fn nesting_has_an_end() {
    let deep =
        || expect!["[too-deep] this is nested too deeply, in expressions, branches or calls\n"];
    let constants = numbered(1..400, |i| format!("A{i} = A{} + 1\n", i - 1));
    check(&format!("A0 = 1\n{constants}"), &["v = A399".to_string()], deep());
    let calls = numbered(1..400, |i| format!("def g{i}(v):\n    return g{}(v)\n", i - 1));
    let calls = format!("def g0(v):\n    return v\n{calls}");
    check(&calls, &["v = g399(n)".to_string()], deep());
    let elifs = numbered(1..3000, |i| format!("    elif n == {i}:\n        v = {i}\n"));
    let elifs = format!("if n == 0:\n        v = 0\n{elifs}");
    check("", &["v = 1".to_string(), elifs.replace("v = ", "pass # ")], deep());
    let few = numbered(1..200, |i| format!("    elif n == {i}:\n        pass\n"));
    check("", &["v = 1".to_string(), format!("if n == 0:\n        pass\n{few}")], expect![""]);
}
