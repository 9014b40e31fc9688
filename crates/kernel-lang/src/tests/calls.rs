// SPDX-License-Identifier: Apache-2.0
//! Messages about calls and arguments, and their places. Lines are counted from the first one.

use super::diagnostics::{check, check_file, check_with};
use super::{int, read, scalar, text, written};
use crate::argument::{Argument, OptionalArg};
use expect_test::{Expect, expect};
use kernpack_kernel_ir::Scalar::{F32, I32};
use kernpack_validators::Expr;

#[test]
fn calls_have_the_arguments_they_need() {
    let source = "
def f(a, b=2, *, c=3):
    return a

@kp.kernel
def k(x, h, out, n, u, c):
    f()
    f(1, 2, 3)
    f(1, d=4)
    f(1, a=2)
    f(1, c=2)
    kp.exp()
    kp.exp(1.0, 2.0)
    kp.exp(1.0, y=2.0)
    kp.exp(n)
    kp.exp(x)
    k(x)
    n()
    kp.float32(1, 2)
";
    check_file(
        source,
        expect![[r#"
            error[arguments]: `f` is not given its `a`
              8:5 `f()`
              help: it is `f(a, b=…, *, c=…)`
            error[arguments]: `f` takes 2 arguments by position, not 3
              9:13 `3`
              help: it is `f(a, b=…, *, c=…)`
            error[arguments]: `f` has no parameter `d`
              10:10 `d`
              help: it is `f(a, b=…, *, c=…)`
            error[arguments]: `a` of `f` is given twice
              11:10 `a`
              help: it is `f(a, b=…, *, c=…)`
            error[arguments]: `kp.exp` is not given its `x`
              13:5 `kp.exp()`
              help: it is `kp.exp(x)`
            error[arguments]: `kp.exp` takes 1 argument, not 2
              14:17 `2.0`
              help: it is `kp.exp(x)`
            error[arguments]: `kp.exp` has no parameter `y`
              15:17 `y`
              help: it is `kp.exp(x)`
            error[type]: expected a float, found int32
              16:12 `n`
              help: write `kp.exp(kp.float32(x))`
            error[type]: expected a float, found a tensor
              17:12 `x`
              help: write `kp.exp(kp.float32(x))`
            error[call]: `k` is a kernel, and kernels do not call it
              18:5 `k(x)`
              help: call a plain `def`, which stands in the place of its call
            error[call]: int32 is no function
              19:5 `n()`
              help: call a function
            error[arguments]: `kp.float32` converts one number, and is given 2
              20:5 `kp.float32(1, 2)`
              help: write `kp.float32(x)`"#]],
    );
}

#[test]
fn functions_do_not_call_themselves() {
    let source = "
def f(a):
    return g(a)

def g(a):
    return f(a)

@kp.kernel
def k(x, h, out, n, u, c):
    f(1)
";
    check_file(
        source,
        expect![[r#"
            error[recursion]: `f` calls itself
              7:12 `f(a)`
              4:12 `g(a)` called here
              help: write a loop: functions stand in the place of their calls"#]],
    );
}

#[test]
fn functions_return_one_type_on_every_way() {
    let source = "
def f(a):
    if a > 0:
        return a
def g(a):
    if a > 0:
        return a
    return 1.0
@kp.kernel
def k(x, h, out, n, u, c):
    f(n)
    g(n)
    return 1
";
    check_file(
        source,
        expect![[r#"
            error[return]: `f` does not return a value on every way
              3:5 `f`
              5:9 `return a` returns one here
              help: return a value at its end
            error[return]: a float is returned here
              9:5 `return 1.0`
              8:9 `return a` and something else here
              13:5 `g(n)` called here
              help: return values of one type
            error[return]: a kernel returns nothing
              14:12 `1`
              help: store it in a tensor"#]],
    );
}

#[test]
fn names_that_kernpack_has_not() {
    check(
        "kp.syncthreads()",
        expect![[r#"
            error[unknown-name]: kernpack has no `syncthreads`
              4:8 `syncthreads`
              help: write `kp.sync_threads()`"#]],
    );
    check(
        "kp.sync_thread()",
        expect![[r#"
            error[unknown-name]: kernpack has no `sync_thread`
              4:8 `sync_thread`
              help: write `kp.sync_threads`"#]],
    );
    check(
        "kp.float8_e4m3fn(1)",
        expect![[r#"
            error[reserved]: `kp.float8_e4m3fn` is reserved for later
              4:8 `float8_e4m3fn`
              help: store uint8, and convert"#]],
    );
    check(
        "kp.cp_async(x, out)",
        expect![[r#"
            error[unknown-name]: kernpack has no `cp_async`
              4:8 `cp_async`
              help: write `kp.copy(source, target, to=kp.async_group)`"#]],
    );
    check(
        "kp.exp(kp.float64(1))",
        expect![[r#"
            error[reserved]: `kp.exp` of float64 is reserved for later
              4:5 `kp.exp(kp.float64(1))`
              help: convert it, as in `kp.float32(x)`"#]],
    );
    check(
        "x.T",
        expect![[r#"
            error[attribute]: a tensor has no `T`
              4:7 `T`
              help: compose it with a layout of swapped modes: `kp.select`"#]],
    );
    check(
        "torch.zeros(1)",
        expect![[r#"
            error[unknown-name]: `torch` is not defined
              4:5 `torch`
              help: assign it, pass it, or define it in the file"#]],
    );
    check_file(
        "import torch\n@kp.kernel\ndef k(x, h, out, n, u, c):\n    torch.zeros(1)\n",
        expect![[r#"
            error[python-name]: `torch` is Python's, and no part of kernels
              5:5 `torch`
              2:8 `torch` comes from here
              help: pass what is needed of it as an argument"#]],
    );
}

#[test]
fn arguments_that_may_be_none_are_asked_for() {
    let optional = || {
        Argument::Optional(Box::new(OptionalArg {
            given: Expr::Field(
                "w".into(),
                kernpack_validators::expr::Field::Given,
                Default::default(),
            ),
            inner: read("w", F32, &["n"]),
            name: "w".into(),
        }))
    };
    let check = |body: &str, expected: Expect| {
        let lines: String = body.lines().map(|line| format!("    {line}\n")).collect();
        let source = format!("@kp.kernel\ndef k(out, w):\n{lines}");
        check_with(&source, &[written("out", F32, &["n"]), optional()], expected);
    };
    check(
        "out[0] = w[0]",
        expect![[r#"
            error[unguarded]: `w` may be None here
              4:14 `w`
              help: ask first: `if w is not None:`"#]],
    );
    check("if w is not None:\n    out[0] = w[0]", expect!["fine"]);
    check(
        "if w is None:\n    out[0] = w[0]",
        expect![[r#"
            error[unguarded]: `w` may be None here
              5:18 `w`
              help: ask first: `if w is not None:`"#]],
    );
    check("if w is None:\n    return\nout[0] = w[0]", expect!["fine"]);
    check(
        "if w is not None and w[0] > 0.0:\n    out[0] = w[0]\nw.shape",
        expect![[r#"
            error[unguarded]: `w` may be None here
              6:7 `shape`
              help: ask first: `if w is not None:`"#]],
    );
    check("out[0] = w[0] if w is not None else 1.0", expect!["fine"]);
    check(
        "out[0] = kp.exp(w)",
        expect![[r#"
            error[unguarded]: `w` may be None here
              4:21 `w`
              help: ask first: `if w is not None:`"#]],
    );
}

#[test]
fn constants_are_constant() {
    let source = "@kp.kernel\ndef k(x, c: kp.Constexpr, d: kp.Constexpr):\n    pass\n";
    check_with(
        source,
        &[scalar("n", I32), scalar("n", I32), text("a")],
        expect![[r#"
            error[constexpr]: `c` is `kp.Constexpr`, and is given a number that differs from call to call
              3:10 `c`
              help: pass a constant, or leave out `kp.Constexpr`"#]],
    );
    let source = "A = B\nB = A\nC = kp.make_layout((2, 3))\n@kp.kernel\ndef k(x):\n    A + C\n";
    check_with(
        source,
        &[int(1)],
        expect![[r#"
            error[constexpr]: `A` is made of itself
              3:5 `A`
              help: give it a value of its own"#]],
    );
    check_with(
        "@kp.kernel\ndef k(x, y):\n    pass\n",
        &[int(1)],
        expect![[r#"
            error[arguments]: `k` misses its argument `y`
              3:10 `y`
              help: pass it in the launch"#]],
    );
    check_with(
        "@kp.kernel\ndef k(x):\n    pass\n",
        &[int(1), int(2)],
        expect![[r#"
            error[arguments]: `k` takes 1 arguments, and is given 2
              3:5 `k`
              help: launch it with as many as it takes"#]],
    );
}

#[test]
fn memory_of_threads_and_blocks_has_a_size() {
    check(
        "kp.make_rmem_tensor(n, kp.float32)",
        expect![[r#"
            error[register-tensor]: how many elements there are is not known while compiling
              4:5 `kp.make_rmem_tensor(n, kp.float32)`
              help: take tiles of a constant shape, as with `kp.local_tile`"#]],
    );
    check(
        "kp.make_rmem_tensor(100000, kp.float32)",
        expect![[r#"
            error[register-tensor]: 100000 elements of a thread
              4:5 `kp.make_rmem_tensor(100000, kp.float32)`
              help: let each thread have at most 4096"#]],
    );
    check(
        "kp.shared(kp.float32, n)\nkp.shared(kp.float32, 100000)",
        expect![[r#"
            error[shared]: the extents of a shared tensor are not known at the launch
              4:5 `kp.shared(kp.float32, n)`
              help: use constants, and dims of the signature
            error[shared]: 100000 elements of 4 bytes are more than a block has
              5:5 `kp.shared(kp.float32, 100000)`
              help: share at most 227 KiB"#]],
    );
}

#[test]
fn functions_of_kernpack_say_what_they_expect() {
    check(
        "kp.printf('a {} {}', n)\nkp.printf(n)\nkp.printf('{}', x)",
        expect![[r#"
            error[printf]: the format has 2 `{}`, and 1 values follow
              4:5 `kp.printf('a {} {}', n)`
              help: write `{}` once for each value
            error[type]: expected a constant text, found int32
              5:15 `n`
              help: pass a constant text as `format`
            error[printf]: a tensor cannot be printed
              6:21 `x`
              help: pass numbers"#]],
    );
    check(
        "kp.atomic_add(x, 0, 1.0)\nkp.atomic_min(out, 0, 1.0)\nkp.atomic_add(out, 0, 1.0, order='fast')",
        expect![[r#"
            error[read-only]: `x` is not `mut`
              4:19 `x` written here
              help: write `mut` for `x` in the signature, or make it a result
            error[atomic]: there is no `kp.atomic_min` of float32
              5:19 `out`
              help: use integers of 32 or 64 bits
            error[type]: expected "relaxed" or "acquire" or "release" or "acq_rel", found a text
              6:38 `'fast'`
              help: pass "relaxed" or "acquire" or "release" or "acq_rel" as `order`"#]],
    );
    check(
        "kp.copy(x, out)\nkp.copy(h, out)",
        expect![[r#"
            error[register-tensor]: how many elements there are is not known while compiling
              4:5 `kp.copy(x, out)`
              help: take tiles of a constant shape, as with `kp.local_tile`
            error[element-type]: a copy from float16 to float32
              5:5 `kp.copy(h, out)`
              help: write `y.store(x.load().to(kp.float32))`"#]],
    );
    check(
        "kp.warp_reduction_sum(n > 0)\nkp.warp_reduction_sum(n, 3)",
        expect![[r#"
            error[type]: a reduction of bools
              4:27 `n > 0`
              help: convert it, as in `kp.int32(b)`, or vote
            error[type]: expected a constant power of two up to 32, found an integer
              5:30 `3`
              help: pass a constant power of two up to 32 as `threads_in_group`"#]],
    );
    check(
        "kp.bitcast(n, kp.float64)\nkp.convert(n, kp.float32, rounding='odd')",
        expect![[r#"
            error[type]: int32 has 32 bits, and float64 has 64
              4:5 `kp.bitcast(n, kp.float64)`
              help: choose a dtype of as many bits
            error[type]: a rounding is "nearest" or "zero" or "down" or "up"
              5:40 `'odd'`
              help: write one of them"#]],
    );
    check(
        "kp.make_layout((2, 3), stride=(1,))\nkp.make_swizzle(9, 0, 1)",
        expect![[r#"
            error[layout]: the shape `(2,3)` and the stride `(1)` are not nested alike
              4:5 `kp.make_layout((2, 3), stride=(1,))`
              help: see the page on layouts for what is needed
            error[layout]: `S<9,0,1>` is no swizzle: the shift must be at least as wide as the bits, and all of them must lie in an index
              5:5 `kp.make_swizzle(9, 0, 1)`
              help: see the page on layouts for what is needed"#]],
    );
    check(
        "kp.local_tile(x, (4, 4), (0, 0, 0))",
        expect![[r#"
            error[rank]: `x` has 2 modes, and the index has 3
              4:30 `(0, 0, 0)` the shape is (?,?)
              help: write an index for each mode, `None` for all of it"#]],
    );
    check(
        "kp.ceil_div(n, 0)\nkp.min()\nkp.max(n, x)",
        expect![[r#"
            error[arguments]: `kp.min` of nothing
              5:5 `kp.min()`
              help: pass numbers
            error[type]: `kp.max` of int32 and a tensor
              6:5 `kp.max(n, x)`
              help: pass numbers"#]],
    );
}

#[test]
fn mistakes_in_functions_say_who_called() {
    let source = "
def f(a):
    return a / 2

@kp.kernel
def k(x, h, out, n, u, c):
    f(n)
    f(1.0)
    kp.int32(f(n))
";
    check_file(
        source,
        expect![[r#"
            error[division]: `/` of integers
              4:12 `a / 2`
              8:5 `f(n)` called here
              help: write `//`, or convert an operand, as in `kp.float32(n)`"#]],
    );
}
