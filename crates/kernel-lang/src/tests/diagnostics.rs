// SPDX-License-Identifier: Apache-2.0
//! What is said of mistakes, and where. Lines are counted from the first of the source.

use super::{elaborate_k, int, read, scalar, text, written};
use crate::argument::{Argument, OptionalArg};
use expect_test::{Expect, expect};
use kernpack_kernel_ir::Scalar::{BF16, F16, F32, I32, U32};
use kernpack_validators::Expr;

/// Elaborates a kernel of a body, with tensors `x`, `y` and `h`, `out`, which is written, and
/// numbers.
fn check(body: &str, expected: Expect) {
    let lines: String = body.lines().map(|line| format!("    {line}\n")).collect();
    check_file(&format!("@kp.kernel\ndef k(x, h, out, n, u, c):\n{lines}"), expected);
}

fn check_file(source: &str, expected: Expect) {
    let arguments = [
        read("x", F32, &["m", "n"]),
        read("h", F16, &["n"]),
        written("out", F32, &["n"]),
        scalar("i", I32),
        scalar("u", U32),
        int(4),
    ];
    check_with(source, &arguments, expected);
}

fn check_with(source: &str, arguments: &[Argument], expected: Expect) {
    let shown = match elaborate_k(source, arguments, 128) {
        Ok(instance) if instance.warnings.0.is_empty() => "fine".to_string(),
        Ok(instance) => instance.warnings.to_string(),
        Err(problems) => problems,
    };
    expected.assert_eq(&shown);
}

#[test]
fn numbers_that_do_not_meet() {
    check("n + u", expect![[r#"
        error[type]: `+` of int32 and uint32
          3:5 `n + u` 
          help: convert one of them, as in `kp.int64(x)`"#]]);
    check("n / 2", expect![[r#"
        error[division]: `/` of integers
          3:5 `n / 2` 
          help: write `//`, or convert an operand, as in `kp.float32(n)`"#]]);
    check("x[0, 0] // 2.0", expect![[r#"
        error[operator]: there is no `//` of float32 and a float
          3:5 `x[0, 0] // 2.0` 
          help: write `kp.floor(a / b)` of floats"#]]);
    check("x[0, 0] ** 2", expect![[r#"
        error[operator]: there is no `**` of float32 and an integer
          3:5 `x[0, 0] ** 2` 
          help: write `kp.pow(a, b)` of floats, and products of integers"#]]);
    check("n + 4294967296", expect![[r#"
        error[literal]: 4294967296 is no int32, which goes from -2147483648 to 2147483647
          3:5 `n + 4294967296` 
          help: convert the other operand to a wider type"#]]);
    check("(n < 3) + 1", expect![[r#"
        error[type]: `+` of a bool, which is no number
          3:5 `(n < 3) + 1` 
          help: convert it, as in `kp.int32(b)`"#]]);
    check("x[0, 0] & 1", expect![[r#"
        error[operator]: there is no `&` of float32 and an integer
          3:5 `x[0, 0] & 1` 
          help: convert both to an integer"#]]);
    check("kp.int8(300)", expect![[r#"
        error[literal]: 300 is no int8, which goes from -128 to 127
          3:13 `300` 
          help: choose a wider type"#]]);
    check("a = 1 // 0\nb = 7 / 2", expect![[r#"
        error[division]: `//` by zero
          3:9 `1 // 0` 
          help: divide by something else
        error[division]: `/` of integers
          4:9 `7 / 2` 
          help: write `//`, or convert an operand, as in `kp.float32(n)`"#]]);
    check("n @ n", expect![[r#"
        error[operator]: there is no `@` of int32 and int32
          3:5 `n @ n` 
          help: write loops, with `kp.fma`"#]]);
    check("-x", expect![[r#"
        error[operator]: there is no `-` of a tensor
          3:5 `-x` 
          help: convert it to a number first"#]]);
    check("x + 1", expect![[r#"
        error[operator]: there is no `+` of a tensor and an integer
          3:5 `x + 1` 
          help: use numbers, or elements of tensors"#]]);
    check("'a' + 1", expect![[r#"
        error[operator]: there is no `+` of a text and an integer
          3:5 `'a' + 1` 
          help: use numbers, or elements of tensors"#]]);
    let source = "@kp.kernel\ndef k(a, b):\n    a[0] + b[0]\n";
    check_with(source, &[read("a", F16, &["n"]), read("b", BF16, &["n"])], expect![[r#"
        error[type]: `+` of float16 and bfloat16
          3:5 `a[0] + b[0]` 
          help: convert one of them, as in `kp.float32(x)`"#]]);
}

#[test]
fn conditions_are_bools() {
    check("if n:\n    pass", expect![[r#"
        error[condition]: a condition is a bool, found int32
          3:8 `n` 
          help: compare it, as in `n != 0`"#]]);
    check("if x:\n    pass", expect![[r#"
        error[condition]: a condition is a bool, found a tensor
          3:8 `x` 
          help: compare it with something"#]]);
    check("while n:\n    n -= 1", expect![[r#"
        error[condition]: a condition is a bool, found int32
          3:11 `n` 
          help: compare it, as in `n != 0`"#]]);
    check("not n", expect![[r#"
        error[condition]: a condition is a bool, found int32
          3:9 `n` 
          help: compare it, as in `n != 0`"#]]);
    check("n and n > 0", expect![[r#"
        error[condition]: a condition is a bool, found int32
          3:5 `n` 
          help: compare it, as in `n != 0`"#]]);
    check("1 if n else 2", expect![[r#"
        error[condition]: a condition is a bool, found int32
          3:10 `n` 
          help: compare it, as in `n != 0`"#]]);
}

#[test]
fn a_name_keeps_its_first_type() {
    check("acc = 0\nfor i in range(n):\n    acc += x[0, i]", expect![[r#"
        error[first-type]: `acc` is int64, and this is float32
          5:9 `acc += x[0, i]` float32
          3:5 `acc` int64 from here on
          help: begin with `acc = kp.float32(…)`"#]]);
    check("acc = kp.float32(0)\nacc = kp.float64(1)", expect![[r#"
        error[first-type]: `acc` is float32, and this is float64
          4:11 `kp.float64(1)` float64
          3:5 `acc` float32 from here on
          help: write `kp.float32(…)` around it"#]]);
    check("if n > 0:\n    a = kp.int32(1)\nelse:\n    a = 1.0\nout[0] = a", expect![[r#"
        error[first-type]: `a` is int32 in one branch and float32 in another
          4:9 `a` int32
          6:9 `a` float32
          help: convert one of them to the other's type"#]]);
    check("a = 1\na = n < 1", expect![[r#"
        error[first-type]: `a` is int64, and this is bool
          4:9 `n < 1` bool
          3:5 `a` int64 from here on
          help: write `kp.int64(…)` around it"#]]);
}

#[test]
fn names_are_assigned_on_every_way() {
    check("if n > 0:\n    a = 1\nout[a] = 1", expect![[r#"
        error[unassigned]: `a` is not assigned on every way here
          5:9 `a` 
          help: assign `a` before the `if`, or in each of its branches"#]]);
    check("for i in range(n):\n    a = i\nout[a] = 1", expect![[r#"
        error[unassigned]: `a` is assigned in a loop, which may not run
          5:9 `a` 
          help: assign `a` before the loop"#]]);
    check("for i in range(n):\n    pass\nout[i] = 1", expect![[r#"
        error[unassigned]: `i` is the index of a loop that has ended
          5:9 `i` 
          help: assign it to another name in the loop"#]]);
    check("if n > 0:\n    a = x\nelse:\n    a = out\na[0]", expect![[r#"
        error[unassigned]: `a` is no number, and is not the same on every way here
          7:5 `a` 
          help: give `a` its value here, from numbers that were chosen"#]]);
    check("v = x[0, None]\nfor i in range(n):\n    v[0]\n    v = x[i, None]", expect![[r#"
        error[unassigned]: `v` is no number, and is not the same on every way here
          5:9 `v` 
          help: give `v` its value here, from numbers that were chosen"#]]);
    check("b = a", expect![[r#"
        error[unknown-name]: `a` is not defined
          3:9 `a` 
          help: assign it, pass it, or define it in the file"#]]);
    check("thread_idx()", expect![[r#"
        error[unknown-name]: `thread_idx` is not defined
          3:5 `thread_idx` 
          help: write `kp.thread_idx`"#]]);
}

#[test]
fn tensors_are_written_where_they_may_be() {
    check("x[0, 0] = 1.0", expect![[r#"
        error[read-only]: `x` is not `mut`
          3:5 `x[0, 0]` written here
          help: write `mut` for `x` in the signature, or make it a result"#]]);
    check("out[0] = n", expect![[r#"
        error[element-type]: elements are float32, and this is int32
          3:14 `n` 
          help: write `kp.float32(…)` around it"#]]);
    check("out[0] = h[0]", expect![[r#"
        error[element-type]: elements are float32, and this is float16
          3:14 `h[0]` 
          help: write `kp.float32(…)` around it"#]]);
    check("x[0]  \nx[0, 0, 0]", expect![[r#"
        error[rank]: `x` has 2 modes, and the index has 3
          4:5 `x[0, 0, 0]` the shape is (?,?)
          help: write an index for each mode, `None` for all of it"#]]);
    check("x[0, None] = 1.0", expect![[r#"
        error[subscript]: a view is assigned to
          3:5 `x[0, None]` 
          help: write `kp.copy(source, x[i, None])`, or assign each element in a loop"#]]);
    check("s = kp.shared(kp.float32, 8)\ns[8]", expect![[r#"
        error[bounds]: 8 is out of bounds of `s`, which has 8
          4:5 `s[8]` 
          help: count from 0 up to the extent"#]]);
    check("out[-1] = 1.0", expect![[r#"
        error[bounds]: -1 is out of bounds of `out`, which has an index
          3:5 `out[-1]` 
          help: count from 0 up to the extent"#]]);
    check("out[1.0]", expect![[r#"
        error[type]: expected an integer, found a float
          3:5 `out[1.0]` 
          help: convert it, as in `kp.int64(x)`"#]]);
    check("x[0:4, 0]", expect![[r#"
        error[foreign-python]: kernels have no slice with `:`
          3:7 `0:4` not part of the kernel language
          help: write `None` for all of a mode, and `kp.local_tile` for a part"#]]);
    check("n[0]", expect![[r#"
        error[subscript]: int32 has no elements
          3:5 `n[0]` 
          help: index a tensor or a tuple"#]]);
    check("x.fill(0.0)", expect![[r#"
        error[read-only]: `x` is not `mut`
          3:5 `x.fill(0.0)` written here
          help: write `mut` for `x` in the signature, or make it a result"#]]);
    check("out.store(kp.float32(1.0))", expect![[r#"
        error[register-tensor]: how many elements there are is not known while compiling
          3:5 `out.store(kp.float32(1.0))` 
          help: take tiles of a constant shape, as with `kp.local_tile`"#]]);
}

#[test]
fn python_that_is_not_here() {
    check(
        "class A:\n    pass\ntry:\n    pass\nexcept E:\n    pass\nwith a:\n    pass\nglobal g\ndel n\nassert f'{n}'",
        expect![[r#"
            error[foreign-python]: kernels have no class
              3:5 `class A:` not part of the kernel language
              help: pass tuples, or several arguments
            error[foreign-python]: kernels have no `try`
              5:5 `try:` not part of the kernel language
              help: test the condition with `if`
            error[foreign-python]: kernels have no `with`
              9:5 `with a:` not part of the kernel language
              help: write the statements without it
            error[foreign-python]: kernels have no `global`
              11:5 `global g` not part of the kernel language
              help: pass the value, and return what it becomes
            error[foreign-python]: kernels have no `del`
              12:5 `del n` not part of the kernel language
              help: leave it out: names end with a function
            error[foreign-python]: kernels have no f-string
              13:12 `f'{n}'` not part of the kernel language
              help: write `kp.printf("x = {}", x)`, where `{}` stands for a value"#]],
    );
    check(
        "a = {1: 2}\nb = {1, 2}\nc = (d := 1)\nyield 1\nawait e\nimport torch\nx: int = 3\nraise E",
        expect![[r#"
            error[foreign-python]: kernels have no dictionary
              3:9 `{1: 2}` not part of the kernel language
              help: write a tuple
            error[foreign-python]: kernels have no set
              4:9 `{1, 2}` not part of the kernel language
              help: write a tuple
            error[foreign-python]: kernels have no `:=`
              5:10 `d := 1` not part of the kernel language
              help: assign on a line of its own
            error[foreign-python]: kernels have no `yield`
              6:5 `yield 1` not part of the kernel language
              help: return a tuple, or pass a function that is called
            error[foreign-python]: kernels have no `await`
              7:5 `await e` not part of the kernel language
              help: call the function
            error[foreign-python]: kernels have no `import`
              8:5 `import torch` not part of the kernel language
              help: import at the top of the file
            error[foreign-python]: kernels have no annotated assignment
              9:5 `x: int = 3` not part of the kernel language
              help: convert the value, as in `x = kp.float32(0)`
            error[foreign-python]: kernels have no `raise`
              10:5 `raise E` not part of the kernel language
              help: check arguments in the signature"#]],
    );
    check("for i in range(n):\n    pass\nelse:\n    pass\nmatch n:\n    case 1:\n        pass", expect![[r#"
        error[foreign-python]: kernels have no `else` of a loop
          3:5 `for i in range(n):` not part of the kernel language
          help: set a bool in the loop, and test it behind
        error[foreign-python]: kernels have no `match`
          7:5 `match n:` not part of the kernel language
          help: write `if`, `elif` and `else`"#]]);
    check("f(*a, **b)\nlambda *a: 1\nb'x'\n...\n1j", expect![[r#"
        error[foreign-python]: kernels have no `**` in calls
          3:5 `f(*a, **b)` not part of the kernel language
          help: pass each argument by its name
        error[foreign-python]: kernels have no `*args`
          4:12 `*a` not part of the kernel language
          help: name each parameter, or pass a tuple
        error[foreign-python]: kernels have no bytes
          5:5 `b'x'` not part of the kernel language
          help: write a text
        error[foreign-python]: kernels have no `...`
          6:5 `...` not part of the kernel language
          help: write `None` for each mode
        error[foreign-python]: kernels have no complex number
          7:5 `1j` not part of the kernel language
          help: keep both parts in names of their own"#]]);
    check_file("@kp.kernel\nasync def k(x):\n    pass\n@kp.kernel\ndef k(*x, **y): pass\n", expect![[r#"
        error[module-statement]: a kernel file has imports, functions and constants
          1:1 `@kp.kernel` this is something else
          help: write the statement without it
        error[foreign-python]: kernels have no `*args`
          5:7 `*x` not part of the kernel language
          help: name each parameter, or pass a tuple
        error[foreign-python]: kernels have no `**kwargs`
          5:11 `**y` not part of the kernel language
          help: name each parameter, or pass a tuple"#]]);
}

#[test]
fn syntax_errors_are_all_reported() {
    check_file("def f(:\n    pass\n@kp.kernel\ndef k(x)\n    return 1 +\n", expect![[r#"
        error[python-syntax]: expected a parameter or the end of the parameter list
          1:7 `:`
        error[python-syntax]: expected `)`, found newline
          1:8 ``
        error[python-syntax]: expected `:`, found newline
          4:9 ``
        error[python-syntax]: expected an expression
          5:15 ``"#]]);
}

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
    check_file(source, expect![[r#"
        error[arguments]: `f` misses its argument `a`
          7:5 `f()` 
          help: pass it
        error[arguments]: `f` takes 2 arguments, and is given 3
          8:5 `f(1, 2, 3)` 
          help: leave out those that it has no name for
        error[arguments]: `f` has no parameter `d`
          9:10 `d` 
          9:5 `f(1, d=4)` called here
          help: pass each parameter once, by its name
        error[arguments]: `a` is given twice
          10:10 `a` 
          10:5 `f(1, a=2)` called here
          help: pass each parameter once, by its name
        error[arguments]: `kp.exp` misses `x`
          12:5 `kp.exp()` 
          help: write `exp(x)`
        error[arguments]: `kp.exp` takes 1 arguments
          13:17 `2.0` 
          help: write `exp(x)`
        error[arguments]: `kp.exp` has no `y`
          14:17 `y` 
          help: write `exp(x)`
        error[type]: expected a float, found int32
          15:12 `n` 
          help: write `kp.exp(kp.float32(x))`
        error[type]: expected a float, found a tensor
          16:12 `x` 
          help: write `kp.exp(kp.float32(x))`
        error[call]: `k` is a kernel, and kernels do not call it
          17:5 `k(x)` 
          help: call a plain `def`, which stands in the place of its call
        error[call]: int32 is no function
          18:5 `n()` 
          help: call a function
        error[arguments]: `kp.float32` converts one number, and is given 2
          19:5 `kp.float32(1, 2)` 
          help: write `kp.float32(x)`"#]]);
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
    check_file(source, expect![[r#"
        error[recursion]: `f` calls itself
          6:12 `f(a)` 
          3:12 `g(a)` called here
          help: write a loop: functions stand in the place of their calls"#]]);
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
    check_file(source, expect![[r#"
        error[return]: `f` does not return a value on every way
          2:5 `f` 
          4:9 `return a` returns one here
          help: return a value at its end
        error[return]: a float is returned here
          8:5 `return 1.0` 
          7:9 `return a` and something else here
          12:5 `g(n)` called here
          help: return values of one type
        error[return]: a kernel returns nothing
          13:12 `1` 
          help: store it in a tensor"#]]);
}

#[test]
fn names_that_kernpack_has_not() {
    check("kp.syncthreads()", expect![[r#"
        error[unknown-name]: kernpack has no `syncthreads`
          3:8 `syncthreads` 
          help: write `kp.sync_threads()`"#]]);
    check("kp.sync_thread()", expect![[r#"
        error[unknown-name]: kernpack has no `sync_thread`
          3:8 `sync_thread` 
          help: write `kp.sync_threads`"#]]);
    check("kp.float8_e4m3fn(1)", expect![[r#"
        error[reserved]: `kp.float8_e4m3fn` is reserved for later
          3:8 `float8_e4m3fn` 
          help: store uint8, and convert"#]]);
    check("kp.cp_async(x, out)", expect![[r#"
        error[reserved]: `kp.cp_async` is reserved for later
          3:8 `cp_async` 
          help: write `kp.copy`, and `kp.sync_threads()` behind it"#]]);
    check("kp.exp(kp.float64(1))", expect![[r#"
        error[reserved]: `kp.exp` of float64 is reserved for later
          3:5 `kp.exp(kp.float64(1))` 
          help: convert it, as in `kp.float32(x)`"#]]);
    check("x.T", expect![[r#"
        error[attribute]: a tensor has no `T`
          3:7 `T` 
          help: compose it with a layout of swapped modes: `kp.select`"#]]);
    check("torch.zeros(1)", expect![[r#"
        error[unknown-name]: `torch` is not defined
          3:5 `torch` 
          help: assign it, pass it, or define it in the file"#]]);
    check_file("import torch\n@kp.kernel\ndef k(x, h, out, n, u, c):\n    torch.zeros(1)\n", expect![[r#"
        error[python-name]: `torch` is Python's, and no part of kernels
          4:5 `torch` 
          help: pass what is needed of it as an argument"#]]);
}

#[test]
fn loops_count_by_what_is_known() {
    check("for i in range(0, 8, n):\n    pass", expect![[r#"
        error[loop]: the step is not known to be positive
          3:14 `range(0, 8, n)` 
          help: count by a constant, or say in the signature that it is at least 1"#]]);
    check("for i in range(0, 8, 0):\n    pass", expect![[r#"
        error[loop]: a step of 0
          3:14 `range(0, 8, 0)` 
          help: count by another number"#]]);
    check("for i in n:\n    pass", expect![[r#"
        error[loop]: a loop over int32
          3:14 `n` 
          help: write `range(n)`, or `kp.range_constexpr(n)` to unroll"#]]);
    check("for i in kp.range_constexpr(n):\n    pass", expect![[r#"
        error[constexpr]: this is not known while compiling: int32
          3:33 `n` 
          help: write `range`, which runs in the kernel"#]]);
    check("kp.const_expr(n)", expect![[r#"
        error[constexpr]: this is not known while compiling: int32
          3:19 `n` 
          help: leave out `kp.const_expr`, or pass a constant"#]]);
    check("break", expect![[r#"
        error[python-syntax]: `break` stands in no loop
          3:5 `break` 
          help: remove it"#]]);
    check("for i in kp.range_constexpr(4):\n    if n > 0:\n        break", expect![[r#"
        error[unrolled]: `break` out of a loop that unrolls, on a condition of the kernel's
          5:13 `break` 
          help: write `range` instead of `range_constexpr`, or put the rest behind `if`"#]]);
    check("[i for i in range(n)]", expect![[r#"
        error[constexpr]: a comprehension is made while compiling
          3:17 `range(n)` 
          help: let its range have constant bounds"#]]);
    check("assert n > 0\nassert c == 5, 'five'", expect![[r#"
        error[assert]: `assert` is for what is known while compiling
          3:5 `assert n > 0` 
          help: write the condition in the signature, or `kp.printf` behind an `if`
        error[assert]: five
          4:5 `assert c == 5, 'five'` 
          help: see the arguments that the kernel is given"#]]);
    check("a, b = 1, 2, 3", expect![[r#"
        error[unpack]: 2 names for a tuple of 3
          3:5 `a, b` 
          help: name each part, `_` those unused"#]]);
    check("a, b = n", expect![[r#"
        error[type]: expected a tuple, found int32
          3:12 `n` 
          help: write a tuple, as in `(a, b)`"#]]);
}

#[test]
fn arguments_that_may_be_none_are_asked_for() {
    let optional = || {
        Argument::Optional(Box::new(OptionalArg {
            given: Expr::Field("w".into(), kernpack_validators::expr::Field::Given, Default::default()),
            inner: read("w", F32, &["n"]),
            name: "w".into(),
        }))
    };
    let check = |body: &str, expected: Expect| {
        let lines: String = body.lines().map(|line| format!("    {line}\n")).collect();
        let source = format!("@kp.kernel\ndef k(out, w):\n{lines}");
        check_with(&source, &[written("out", F32, &["n"]), optional()], expected);
    };
    check("out[0] = w[0]", expect![[r#"
        error[unguarded]: `w` may be None here
          3:14 `w` 
          help: ask first: `if w is not None:`"#]]);
    check("if w is not None:\n    out[0] = w[0]", expect!["fine"]);
    check("if w is None:\n    out[0] = w[0]", expect![[r#"
        error[unguarded]: `w` may be None here
          4:18 `w` 
          help: ask first: `if w is not None:`"#]]);
    check("if w is None:\n    return\nout[0] = w[0]", expect!["fine"]);
    check("if w is not None and w[0] > 0.0:\n    out[0] = w[0]\nw.shape", expect![[r#"
        error[unguarded]: `w` may be None here
          5:7 `shape` 
          help: ask first: `if w is not None:`"#]]);
    check("out[0] = w[0] if w is not None else 1.0", expect!["fine"]);
    check("out[0] = kp.exp(w)", expect![[r#"
        error[unguarded]: `w` may be None here
          3:21 `w` 
          help: ask first: `if w is not None:`"#]]);
}

#[test]
fn constants_are_constant() {
    let source = "@kp.kernel\ndef k(x, c: kp.Constexpr, d: kp.Constexpr):\n    pass\n";
    check_with(
        source,
        &[scalar("n", I32), scalar("n", I32), text("a")],
        expect![[r#"
            error[constexpr]: `c` is `kp.Constexpr`, and is given a number that differs from call to call
              2:10 `c` 
              help: pass a constant, or leave out `kp.Constexpr`"#]],
    );
    let source = "A = B\nB = A\nC = kp.make_layout((2, 3))\n@kp.kernel\ndef k(x):\n    A + C\n";
    check_with(source, &[int(1)], expect![[r#"
        error[constant]: `A` is made of itself
          2:5 `A` 
          help: give it a value of its own"#]]);
    check_with("@kp.kernel\ndef k(x, y):\n    pass\n", &[int(1)], expect![[r#"
        error[arguments]: `k` misses its argument `y`
          2:10 `y` 
          help: pass it in the launch"#]]);
    check_with("@kp.kernel\ndef k(x):\n    pass\n", &[int(1), int(2)], expect![[r#"
        error[arguments]: `k` takes 1 arguments, and is given 2
          2:5 `k` 
          help: launch it with as many as it takes"#]]);
}

#[test]
fn register_tensors_have_constant_indices() {
    let source = "
@kp.kernel
def k(x, h, out, n, u, c):
    r = kp.make_rmem_tensor(4, kp.float32)
    r.fill(0)
    for i in range(4):
        r[i] = x[0, i]
";
    check_file(source, expect![[r#"
        warning[local-memory]: `r` stays in local memory
          at 69..103: registers have no addresses
          at 149..163: this index is not known while compiling
          help: loop with `kp.range_constexpr`, so that each index is constant"#]]);
    check("kp.make_rmem_tensor(n, kp.float32)", expect![[r#"
        error[register-tensor]: how many elements there are is not known while compiling
          3:5 `kp.make_rmem_tensor(n, kp.float32)` 
          help: take tiles of a constant shape, as with `kp.local_tile`"#]]);
    check("kp.make_rmem_tensor(100000, kp.float32)", expect![[r#"
        error[register-tensor]: 100000 elements of a thread
          3:5 `kp.make_rmem_tensor(100000, kp.float32)` 
          help: let each thread have at most 4096"#]]);
    check("kp.shared(kp.float32, n)\nkp.shared(kp.float32, 100000)", expect![[r#"
        error[shared]: the extents of a shared tensor are not known at the launch
          3:5 `kp.shared(kp.float32, n)` 
          help: use constants, and dims of the signature
        error[shared]: 100000 elements of 4 bytes are more than a block has
          4:5 `kp.shared(kp.float32, 100000)` 
          help: share at most 227 KiB"#]]);
}

#[test]
fn functions_of_kernpack_say_what_they_expect() {
    check("kp.printf('a {} {}', n)\nkp.printf(n)\nkp.printf('{}', x)", expect![[r#"
        error[printf]: the format has 2 `{}`, and 1 values follow
          3:5 `kp.printf('a {} {}', n)` 
          help: write `{}` once for each value
        error[type]: expected a constant text, found int32
          4:15 `n` 
          help: pass a constant text as `format`
        error[printf]: a tensor cannot be printed
          5:21 `x` 
          help: pass numbers"#]]);
    check("kp.atomic_add(x, 0, 1.0)\nkp.atomic_min(out, 0, 1.0)\nkp.atomic_add(out, 0, 1.0, order='fast')", expect![[r#"
        error[read-only]: `x` is not `mut`
          3:19 `x` written here
          help: write `mut` for `x` in the signature, or make it a result
        error[atomic]: there is no `kp.atomic_min` of float32
          4:19 `out` 
          help: use integers of 32 or 64 bits
        error[type]: expected "relaxed" or "acquire" or "release" or "acq_rel", found a text
          5:38 `'fast'` 
          help: pass "relaxed" or "acquire" or "release" or "acq_rel" as `order`"#]]);
    check("kp.copy(x, out)\nkp.copy(h, out)", expect![[r#"
        error[register-tensor]: how many elements there are is not known while compiling
          3:5 `kp.copy(x, out)` 
          help: take tiles of a constant shape, as with `kp.local_tile`
        error[element-type]: a copy from float16 to float32
          4:5 `kp.copy(h, out)` 
          help: write `y.store(x.load().to(kp.float32))`"#]]);
    check("kp.warp_reduction_sum(n > 0)\nkp.warp_reduction_sum(n, 3)", expect![[r#"
        error[type]: a reduction of bools
          3:27 `n > 0` 
          help: convert it, as in `kp.int32(b)`, or vote
        error[type]: expected a constant power of two up to 32, found an integer
          4:30 `3` 
          help: pass a constant power of two up to 32 as `threads_in_group`"#]]);
    check("kp.bitcast(n, kp.float64)\nkp.convert(n, kp.float32, rounding='odd')", expect![[r#"
        error[type]: int32 has 32 bits, and float64 has 64
          3:5 `kp.bitcast(n, kp.float64)` 
          help: choose a dtype of as many bits
        error[type]: a rounding is "nearest" or "zero" or "down" or "up"
          4:40 `'odd'` 
          help: write one of them"#]]);
    check("kp.make_layout((2, 3), stride=(1,))\nkp.make_swizzle(9, 0, 1)", expect![[r#"
        error[layout]: the shape `(2,3)` and the stride `(1)` are not nested alike
          3:5 `kp.make_layout((2, 3), stride=(1,))` 
          help: see the page on layouts for what is needed
        error[layout]: `S<9,0,1>` is no swizzle: the shift must be at least as wide as the bits, and all of them must lie in an index
          4:5 `kp.make_swizzle(9, 0, 1)` 
          help: see the page on layouts for what is needed"#]]);
    check("kp.local_tile(x, (4, 4), (0, 0, 0))", expect![[r#"
        error[layout]: the coordinate `(0,0,0)` does not fit the shape `(?,?)`
          3:5 `kp.local_tile(x, (4, 4), (0, 0, 0))` 
          help: see the page on layouts for what is needed"#]]);
    check("kp.ceil_div(n, 0)\nkp.min()\nkp.max(n, x)", expect![[r#"
        error[layout]: `ceil_div` of `?` by 0
          3:5 `kp.ceil_div(n, 0)` 
          help: see the page on layouts for what is needed
        error[arguments]: `kp.min` of nothing
          4:5 `kp.min()` 
          help: pass numbers
        error[type]: `kp.max` of int32 and a tensor
          5:5 `kp.max(n, x)` 
          help: pass numbers"#]]);
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
    check_file(source, expect![[r#"
        error[division]: `/` of integers
          3:12 `a / 2` 
          7:5 `f(n)` called here
          help: write `//`, or convert an operand, as in `kp.float32(n)`"#]]);
}
