// SPDX-License-Identifier: Apache-2.0
//! Messages about mistakes, and their places. The line of the import is counted.

use super::{elaborate_k, int, read, scalar, written};
use crate::argument::Argument;
use expect_test::{Expect, expect};
use kernpack_kernel_ir::Scalar::{BF16, F16, F32, I32, U32};

/// Elaborates a kernel of a body, with tensors `x`, `y` and `h`, `out`, which is written, and
/// numbers.
pub(super) fn check(body: &str, expected: Expect) {
    expected.assert_eq(&shown(body));
}

fn shown(body: &str) -> String {
    let lines: String = body.lines().map(|line| format!("    {line}\n")).collect();
    shown_file(&format!("@kp.kernel\ndef k(x, h, out, n, u, c):\n{lines}"))
}

pub(super) fn check_file(source: &str, expected: Expect) {
    expected.assert_eq(&shown_file(source));
}

fn shown_file(source: &str) -> String {
    let arguments = [
        read("x", F32, &["m", "n"]),
        read("h", F16, &["n"]),
        written("out", F32, &["n"]),
        scalar("i", I32),
        scalar("u", U32),
        int(4),
    ];
    shown_with(source, &arguments)
}

pub(super) fn check_with(source: &str, arguments: &[Argument], expected: Expect) {
    expected.assert_eq(&shown_with(source, arguments));
}

fn shown_with(source: &str, arguments: &[Argument]) -> String {
    match elaborate_k(source, arguments, 128) {
        Ok(instance) if instance.warnings.0.is_empty() => "fine".to_string(),
        Ok(instance) => instance.warnings.to_string(),
        Err(problems) => problems,
    }
}

#[test]
fn numbers_that_do_not_meet() {
    check(
        "n + u",
        expect![[r#"
            error[type]: `+` of int32 and uint32
              4:5 `n + u`
              help: convert one of them, as in `kp.int64(x)`"#]],
    );
    check(
        "n / 2",
        expect![[r#"
            error[division]: `/` of integers
              4:5 `n / 2`
              help: write `//`, or convert an operand, as in `kp.float32(n)`"#]],
    );
    check(
        "x[0, 0] // 2.0",
        expect![[r#"
            error[operator]: there is no `//` of float32 and a float
              4:5 `x[0, 0] // 2.0`
              help: write `kp.floor(a / b)` of floats"#]],
    );
    check(
        "x[0, 0] ** 2",
        expect![[r#"
            error[operator]: there is no `**` of float32 and an integer
              4:5 `x[0, 0] ** 2`
              help: write `kp.pow(a, b)` of floats, and products of integers"#]],
    );
    check(
        "n + 4294967296",
        expect![[r#"
            error[literal]: 4294967296 is no int32, which goes from -2147483648 to 2147483647
              4:5 `n + 4294967296`
              help: write one of these, or convert what it meets to a wider type"#]],
    );
    check(
        "(n < 3) + 1",
        expect![[r#"
            error[type]: `+` of a bool, which is no number
              4:5 `(n < 3) + 1`
              help: convert it, as in `kp.int32(b)`"#]],
    );
    check(
        "x[0, 0] & 1",
        expect![[r#"
            error[operator]: there is no `&` of float32 and an integer
              4:5 `x[0, 0] & 1`
              help: convert both to an integer"#]],
    );
    check(
        "kp.int8(300)",
        expect![[r#"
            error[literal]: 300 is no int8, which goes from -128 to 127
              4:13 `300`
              help: choose a wider type"#]],
    );
    check(
        "a = 1 // 0\nb = 7 / 2",
        expect![[r#"
            error[division]: `//` by zero
              4:9 `1 // 0`
              help: divide by something else"#]],
    );
    check(
        "n @ n",
        expect![[r#"
            error[operator]: there is no `@` of int32 and int32
              4:5 `n @ n`
              help: write loops, with `kp.fma`"#]],
    );
    check(
        "-x",
        expect![[r#"
            error[operator]: there is no `-` of a tensor
              4:5 `-x`
              help: convert it to a number first"#]],
    );
    check(
        "x + 1",
        expect![[r#"
            error[operator]: there is no `+` of a tensor and an integer
              4:5 `x + 1`
              help: use numbers, or elements of tensors"#]],
    );
    check(
        "'a' + 1",
        expect![[r#"
            error[operator]: there is no `+` of a text and an integer
              4:5 `'a' + 1`
              help: use numbers, or elements of tensors"#]],
    );
    let source = "@kp.kernel\ndef k(a, b):\n    a[0] + b[0]\n";
    check_with(
        source,
        &[read("a", F16, &["n"]), read("b", BF16, &["n"])],
        expect![[r#"
            error[type]: `+` of float16 and bfloat16
              4:5 `a[0] + b[0]`
              help: convert one of them, as in `kp.float32(x)`"#]],
    );
}

#[test]
fn what_a_function_or_an_attribute_takes_is_named() {
    check(
        "kp.pow((1.0, 2.0), 2.0)",
        expect![[r#"
            error[type]: expected a float, found a tuple
              4:12 `(1.0, 2.0)`
              help: write `kp.pow(kp.float32(x))`"#]],
    );
    check(
        "kp.pow(2.0, h)",
        expect![[r#"
            error[type]: expected a float, found a tensor
              4:17 `h`
              help: write `kp.pow(kp.float32(x))`"#]],
    );
    check(
        "kp.fma((1.0, 2.0), 2.0, 3.0)",
        expect![[r#"
            error[type]: expected a float, found a tuple
              4:5 `kp.fma((1.0, 2.0), 2.0, 3.0)`
              help: pass numbers"#]],
    );
    check(
        "out[kp.float32(n)] = 1",
        expect![[r#"
            error[type]: expected an integer, found float32
              4:5 `out[kp.float32(n)]`
              help: convert it, as in `kp.int64(x)`"#]],
    );
    check(
        "kp.make_identity_tensor((4, 2)).iterator",
        expect![[r#"
            error[attribute]: a tensor has no `iterator`
              4:37 `iterator`
              help: it has `shape`, `stride`, `layout`, `numel`, `size`, `ndim`, `load`, `store`, `fill`"#]],
    );
    check(
        "kp.make_identity_tensor((4, 2)).element_type",
        expect![[r#"
            error[attribute]: a tensor has no `element_type`
              4:37 `element_type`
              help: it has `shape`, `stride`, `layout`, `numel`, `size`, `ndim`, `load`, `store`, `fill`"#]],
    );
}

#[test]
fn calls_that_grow_have_an_end() {
    let call = |i: usize| format!("g{}(v)", i - 1);
    let calls =
        (1..14).map(|i| format!("def g{i}(v):\n    return {}\n", [&*call(i); 4].join(" + ")));
    let functions = calls.collect::<String>();
    let kernel = "@kp.kernel\ndef k(x, h, out, n, u, c):\n    out[0] = g13(1)\n";
    let shown = shown_file(&format!("def g0(v):\n    return v\n{functions}{kernel}"));
    let expected = "error[kernel-size]: the kernel has more than 1000000 operations, or takes";
    assert!(shown.starts_with(expected), "{shown}");
}

#[test]
fn constants_of_a_file_are_known() {
    for constant in
        ["(kp.exp(2.0), 1)", "kp.thread_idx()", "[kp.cos(kp.float32(i)) for i in (1, 2, 3)]"]
    {
        let source =
            format!("T = {constant}\n@kp.kernel\ndef k(x, h, out, n, u, c):\n    out[0] = T[0]\n");
        let expected = "error[constexpr]: a constant of a file is known while compiling, and this is not\n  2:5 ";
        assert!(shown_file(&source).starts_with(expected), "{}", shown_file(&source));
    }
    let source = "U = (kp.int32(3) + 4, [2.0 ** 2])\n@kp.kernel\ndef k(x, h, out, n, u, c):\n    out[U[0]] = U[1][0]\n";
    assert_eq!(shown_file(source), "fine");
}

#[test]
fn conditions_are_bools() {
    check(
        "if n:\n    pass",
        expect![[r#"
            error[condition]: a condition is a bool, found int32
              4:8 `n`
              help: compare it, as in `n != 0`"#]],
    );
    check(
        "if x:\n    pass",
        expect![[r#"
            error[condition]: a condition is a bool, found a tensor
              4:8 `x`
              help: compare it with something"#]],
    );
    check(
        "while n:\n    n -= 1",
        expect![[r#"
            error[condition]: a condition is a bool, found int32
              4:11 `n`
              help: compare it, as in `n != 0`"#]],
    );
    check(
        "not n",
        expect![[r#"
            error[condition]: a condition is a bool, found int32
              4:9 `n`
              help: compare it, as in `n != 0`"#]],
    );
    check(
        "n and n > 0",
        expect![[r#"
            error[condition]: a condition is a bool, found int32
              4:5 `n`
              help: compare it, as in `n != 0`"#]],
    );
    check(
        "1 if n else 2",
        expect![[r#"
            error[condition]: a condition is a bool, found int32
              4:10 `n`
              help: compare it, as in `n != 0`"#]],
    );
}

#[test]
fn a_name_keeps_its_first_type() {
    check(
        "acc = 0\nfor i in range(n):\n    acc += x[0, i]",
        expect![[r#"
            error[first-type]: `acc` is int64, and this is float32
              6:9 `acc += x[0, i]` float32
              4:5 `acc` int64 from here on
              help: begin with `acc = kp.float32(…)`"#]],
    );
    check(
        "acc = kp.float32(0)\nacc = kp.float64(1)",
        expect![[r#"
            error[first-type]: `acc` is float32, and this is float64
              5:11 `kp.float64(1)` float64
              4:5 `acc` float32 from here on
              help: write `kp.float32(…)` around it"#]],
    );
    check(
        "if n > 0:\n    a = kp.int32(1)\nelse:\n    a = 1.0\nout[0] = a",
        expect![[r#"
            error[first-type]: `a` is int32 in one branch and float32 in another
              5:9 `a` int32
              7:9 `a` float32
              help: convert one of them to the other's type"#]],
    );
    check(
        "a = 1\na = n < 1",
        expect![[r#"
            error[first-type]: `a` is int64, and this is bool
              5:9 `n < 1` bool
              4:5 `a` int64 from here on
              help: write `kp.int64(…)` around it"#]],
    );
}

#[test]
fn names_are_assigned_on_every_way() {
    check(
        "if n > 0:\n    a = 1\nout[a] = 1",
        expect![[r#"
            error[unassigned]: `a` is not assigned on every way here
              6:9 `a`
              help: assign `a` before the `if`, or in each of its branches"#]],
    );
    check(
        "for i in range(n):\n    a = i\nout[a] = 1",
        expect![[r#"
            error[unassigned]: `a` is assigned in a loop, which may not run
              6:9 `a`
              help: assign `a` before the loop"#]],
    );
    check(
        "for i in range(n):\n    pass\nout[i] = 1",
        expect![[r#"
            error[unassigned]: `i` is the index of a loop that has ended
              6:9 `i`
              help: assign it to another name in the loop"#]],
    );
    check(
        "if n > 0:\n    a = x\nelse:\n    a = out\na[0]",
        expect![[r#"
            error[unassigned]: `a` is no number, and is not the same on every way here
              8:5 `a`
              help: give `a` its value here, from numbers that were chosen"#]],
    );
    check(
        "v = x[0, None]\nfor i in range(n):\n    v[0]\n    v = x[i, None]",
        expect![[r#"
            error[unassigned]: `v` is no number, and is not the same on every way here
              6:9 `v`
              help: give `v` its value here, from numbers that were chosen"#]],
    );
    check(
        "b = a",
        expect![[r#"
            error[unknown-name]: `a` is not defined
              4:9 `a`
              help: assign it, pass it, or define it in the file"#]],
    );
    check(
        "thread_idx()",
        expect![[r#"
            error[unknown-name]: `thread_idx` is not defined
              4:5 `thread_idx`
              help: write `kp.thread_idx`"#]],
    );
}

#[test]
fn register_tensors_meet_where_they_have_the_same_elements() {
    let chosen = |one: &str, other: &str| {
        let body = format!(
            "a = kp.make_rmem_tensor({one})\na.fill(0)\nb = kp.make_rmem_tensor({other})\nb.fill(1)\nif n > 0:\n    e = a.load()\nelse:\n    e = b.load()\nout[0] = kp.float32((e + e)[0])"
        );
        shown(&body)
    };
    assert_eq!(chosen("4, kp.float32", "4, kp.float32"), "fine");
    let shorter = chosen("4, kp.float32", "2, kp.float32");
    let expected = "error[unassigned]: `e` is no number, and is not the same on every way here";
    assert!(shorter.starts_with(expected), "{shorter}");
    let integers = chosen("4, kp.float32", "4, kp.int32");
    let expected = "error[first-type]: `e` is float32 in one branch and int32 in another";
    assert!(integers.starts_with(expected), "{integers}");
}

#[test]
fn names_behind_a_condition_that_is_none_are_not_told_of() {
    check(
        "if x:\n    a = 1\nout[a] = 1",
        expect![[r#"
            error[condition]: a condition is a bool, found a tensor
              4:8 `x`
              help: compare it with something"#]],
    );
}

#[test]
fn what_a_loop_is_left_with_is_not_what_it_began_with() {
    let changed = [
        "v = x[n * 2, None]\nfor i in range(n):\n    v = x[i, None]\n    if i > 5:\n        break\n    v = x[n * 2, None]",
        "v = x[n * 2, None]\nfor i in range(n):\n    v = x[i, None]\n    if i > 5:\n        continue\n    v = x[n * 2, None]",
        "v = x[0, None]\nwhile n > 0:\n    if n > 3:\n        v = x[1, None]\n        break\n    else:\n        v = x[0, None]",
        "v = x[0, None]\nfor i in range(n):\n    for j in range(3):\n        v = x[j, None]\n    if i > 5:\n        break\n    v = x[0, None]",
        "l = kp.make_layout(4)\nv = l\nfor i in range(n):\n    v = kp.make_layout((2, n))\n    if i > 5:\n        continue\n    v = l\nv = (v(1),)",
    ];
    for body in changed {
        let line = body.lines().count() + if body.ends_with(')') { 3 } else { 4 };
        let text = format!("{body}\nout[0] = v[0]");
        let expected = format!(
            "error[unassigned]: `v` is no number, and is not the same on every way here\n  {line}:"
        );
        let shown = shown(&text);
        assert!(shown.starts_with(&expected), "{body}\n{shown}");
    }
    let index = "v = n * 2\nfor i in range(n):\n    for v in range(3):\n        pass\n    if i > 5:\n        continue\n    v = n * 2\nout[0] = v";
    let expected = "error[unassigned]: `v` is the index of a loop that has ended\n  11:";
    assert!(shown(index).starts_with(expected), "{}", shown(index));
}

#[test]
fn what_every_turn_leaves_as_it_was_is_known_behind_a_loop() {
    let unchanged = [
        "v = x[0, None]\nfor i in range(n):\n    if i > 5:\n        break\n    v = x[i, None]\n    out[0] = v[0]\n    v = x[0, None]",
        "v = x[0, None]\nfor i in range(n):\n    v = x[0, None]\n    if i > 5:\n        continue\n    v = x[i, None]\n    v = x[0, None]",
        "v = x[0, None]\nwhile n > 3:\n    v = x[0, None]",
        "v = x[0, None]\nfor i in range(n):\n    while n > i:\n        v = x[0, None]\n        break\n    v = x[0, None]",
    ];
    for body in unchanged {
        assert_eq!(shown(&format!("{body}\nout[0] = v[0]")), "fine", "{body}");
    }
}

#[test]
fn tensors_are_written_where_they_may_be() {
    check(
        "x[0, 0] = 1.0",
        expect![[r#"
            error[read-only]: `x` is not `mut`
              4:5 `x[0, 0]` written here
              help: write `mut` for `x` in the signature, or make it a result"#]],
    );
    check(
        "out[0] = n",
        expect![[r#"
            error[element-type]: elements are float32, and this is int32
              4:14 `n`
              help: write `kp.float32(…)` around it"#]],
    );
    check(
        "out[0] = h[0]",
        expect![[r#"
            error[element-type]: elements are float32, and this is float16
              4:14 `h[0]`
              help: write `kp.float32(…)` around it"#]],
    );
    check(
        "x[0]  \nx[0, 0, 0]",
        expect![[r#"
            error[rank]: `x` has 2 modes, and the index has 3
              5:5 `x[0, 0, 0]` the shape is (?,?)
              help: write an index for each mode, `None` for all of it"#]],
    );
    check(
        "x[0, None] = 1.0",
        expect![[r#"
            error[subscript]: a view is assigned to
              4:5 `x[0, None]`
              help: write `kp.copy(source, x[i, None])`, or assign each element in a loop"#]],
    );
    check(
        "s = kp.shared(kp.float32, 8)\ns[8]",
        expect![[r#"
            error[bounds]: 8 is out of bounds of `s`, which has 8
              5:5 `s[8]`
              help: count from 0 up to the extent"#]],
    );
    check(
        "out[-1] = 1.0",
        expect![[r#"
            error[bounds]: -1 is out of bounds of `out`
              4:5 `out[-1]`
              help: count from 0 up to the extent"#]],
    );
    check(
        "out[1.0]",
        expect![[r#"
            error[type]: expected an integer, found a float
              4:5 `out[1.0]`
              help: convert it, as in `kp.int64(x)`"#]],
    );
    check(
        "x[0:4, 0]",
        expect![[r#"
            error[foreign-python]: kernels have no slice with `:`
              4:7 `0:4` not part of the kernel language
              help: write `None` for all of a mode, and `kp.local_tile` for a part"#]],
    );
    check(
        "n[0]",
        expect![[r#"
            error[subscript]: int32 has no elements
              4:5 `n[0]`
              help: index a tensor or a tuple"#]],
    );
    check(
        "x.fill(0.0)",
        expect![[r#"
            error[read-only]: `x` is not `mut`
              4:5 `x.fill(0.0)` written here
              help: write `mut` for `x` in the signature, or make it a result"#]],
    );
    check(
        "out.store(kp.float32(1.0))",
        expect![[r#"
            error[register-tensor]: how many elements there are is not known while compiling
              4:5 `out.store(kp.float32(1.0))`
              help: take tiles of a constant shape, as with `kp.local_tile`"#]],
    );
}

#[test]
fn kernels_and_their_parameters_are_plain() {
    check_file(
        "@kp.kernel\nasync def k(x):\n    pass\n@kp.kernel\ndef k(*x, **y): pass\n",
        expect![[r#"
            error[module-statement]: a kernel file has imports, functions, classes and constants
              2:1 `@kp.kernel` this is something else
              help: write the statement without it
            error[foreign-python]: kernels have no `*args`
              6:7 `*x` not part of the kernel language
              help: name each parameter, or pass a tuple
            error[foreign-python]: kernels have no `**kwargs`
              6:11 `**y` not part of the kernel language
              help: name each parameter, or pass a tuple"#]],
    );
}

#[test]
fn syntax_errors_are_all_reported() {
    check_file(
        "def f(:\n    pass\n@kp.kernel\ndef k(x)\n    return 1 +\n",
        expect![[r#"
            error[python-syntax]: expected a parameter or the end of the parameter list
              2:7 `:`
            error[python-syntax]: expected `)`, found newline
              2:8 ``
            error[python-syntax]: expected `:`, found newline
              5:9 ``
            error[python-syntax]: expected an expression
              6:15 ``"#]],
    );
}

#[test]
fn loops_count_by_what_is_known() {
    check(
        "for i in range(0, 8, n):\n    pass",
        expect![[r#"
            error[loop]: the step is not known to be positive
              4:14 `range(0, 8, n)`
              help: count by a constant, or say in the signature that it is at least 1"#]],
    );
    check(
        "for i in range(0, 8, 0):\n    pass",
        expect![[r#"
            error[loop]: a step of 0
              4:14 `range(0, 8, 0)`
              help: count by another number"#]],
    );
    check(
        "for i in n:\n    pass",
        expect![[r#"
            error[loop]: a loop over int32
              4:14 `n`
              help: write `range(n)`, or `kp.range_constexpr(n)` to unroll"#]],
    );
    check(
        "for i in kp.range_constexpr(n):\n    pass",
        expect![[r#"
            error[constexpr]: this is not known while compiling: int32
              4:33 `n`
              help: write `range`, which runs in the kernel"#]],
    );
    check(
        "kp.const_expr(n)",
        expect![[r#"
            error[constexpr]: this is not known while compiling: int32
              4:19 `n`
              help: leave out `kp.const_expr`, or pass a constant"#]],
    );
    check(
        "break",
        expect![[r#"
            error[loop]: `break` stands in no loop
              4:5 `break`
              help: remove it"#]],
    );
    check(
        "for i in kp.range_constexpr(4):\n    if n > 0:\n        break",
        expect![[r#"
            error[unrolled]: `break` out of a loop that unrolls, on a condition of the kernel's
              6:13 `break`
              help: write `range` instead of `range_constexpr`, or put the rest behind `if`"#]],
    );
    check(
        "[i for i in range(n)]",
        expect![[r#"
            error[constexpr]: a comprehension is made while compiling
              4:17 `range(n)`
              help: let its range have constant bounds"#]],
    );
    check(
        "assert n > 0\nassert c == 5, 'five'",
        expect![[r#"
            error[assert]: five
              5:5 `assert c == 5, 'five'`
              help: see the arguments that the kernel is given"#]],
    );
    check(
        "a, b = 1, 2, 3",
        expect![[r#"
            error[unpack]: 2 names for a tuple of 3
              4:5 `a, b`
              help: name each part, `_` those unused"#]],
    );
    check(
        "a, b = n",
        expect![[r#"
            error[type]: expected a tuple, found int32
              4:12 `n`
              help: write a tuple, as in `(a, b)`"#]],
    );
}

#[test]
fn what_has_no_end_while_compiling_is_ended() {
    check(
        "for i in kp.range_constexpr(10 ** 12):\n    pass",
        expect![[r#"
            error[kernel-size]: the kernel has more than 1000000 operations, or takes more than 2000000 steps while compiling
              4:14 `kp.range_constexpr(10 ** 12)`
              help: write `range` where `range_constexpr` unrolls too much"#]],
    );
    check(
        "a = (1, 2) * 40000",
        expect![[r#"
            error[kernel-size]: a tuple or text of more than 65536 items
              4:9 `(1, 2) * 40000`
              help: use a tensor"#]],
    );
    check(
        "a = 'a'\nfor i in kp.range_constexpr(40):\n    a = a + a",
        expect![[r#"
            error[kernel-size]: a tuple or text of more than 65536 items
              6:13 `a + a`
              help: use a tensor"#]],
    );
    check(
        "a = (1, 2)\nfor i in kp.range_constexpr(40):\n    a = (a, a)",
        expect![[r#"
            error[kernel-size]: a tuple of more than 65536 items, those in its items among them
              6:13 `(a, a)`
              help: use a tensor"#]],
    );
    check(
        "a = (1, 2)\nfor i in kp.range_constexpr(12):\n    a = (a, a)\nb = kp.make_layout(a)",
        expect![[r#"
            error[layout]: a shape of more than 512 modes
              7:24 `a`
              help: make fewer modes of more elements"#]],
    );
}

/// A literal of more bits than constants have, which no page of the documents shows.
#[test]
fn literals_have_as_many_bits_as_constants() {
    let told = |digits: usize| {
        let source = format!("@kp.kernel\ndef k(n):\n    a = {}\n", "9".repeat(digits));
        match elaborate_k(&source, &[scalar("n", I32)], 1) {
            Ok(_) => "taken".to_string(),
            Err(problems) => problems.lines().next().unwrap_or_default().to_string(),
        }
    };
    assert_eq!(told(19_000), "taken");
    let refused = "error[foreign-python]: kernels have no integer of that size";
    assert_eq!([told(19_729), told(200_000)], [refused; 2]);
}
