// SPDX-License-Identifier: Apache-2.0
//! Launches of packed functions, and their problems.

use super::*;
use crate::argument::{Constant, FunctionArg, TensorArg};
use crate::file::KernelFiles;
use expect_test::{Expect, expect};
use kernpack_syntax::Texts;
use std::io;
use std::path::Path;

/// The launches of a file's packed functions, or their problems. `import kernpack as kp`
/// and the kernel `k`, which takes three arguments, stand in front of it.
pub(crate) fn check(source: &str, expected: Expect) {
    check_beside("", source, expected);
}

/// The same of a file that may import another one, `beside.py`, about which nothing is told.
pub(super) fn check_beside(beside: &str, source: &str, expected: Expect) {
    let before = "import kernpack as kp\n@kp.kernel\ndef k(a, b=None, c=None):\n    pass\n";
    let text = format!("{before}{source}");
    let mut texts = Texts::default();
    let mut door = |path: &Path| match path.to_str() {
        Some("f.py") => Ok(text.clone().into_bytes()),
        Some("beside.py") => Ok(beside.as_bytes().to_vec()),
        _ => Err(io::Error::from(io::ErrorKind::NotFound)),
    };
    let read = KernelFiles::read(Path::new("f.py"), &mut door, &mut texts);
    let (functions, problems) = match &read {
        Ok(files) => functions(files),
        Err(problems) => (vec![], problems.clone()),
    };
    let mut shown: String = functions.iter().map(show).collect();
    shown += &problems.in_texts(&texts);
    expected.assert_eq(&shown);
}

fn show(function: &PackedFunction) -> String {
    let mut text = format!("{}\n", function.signature.name);
    for PackedRow { row, launches, notes: _ } in &function.rows {
        if !row.is_empty() {
            let dtypes: Vec<_> = row.iter().map(|(var, dtype)| format!("{var}={dtype}")).collect();
            text += &format!("  {}\n", dtypes.join(" "));
        }
        for launch in launches {
            let sides = launch.branches.iter().map(|Branch { rule, holds }| match holds {
                true => format!("{rule}"),
                false => format!("!({rule})"),
            });
            let args: Vec<_> = launch.args.iter().map(show_arg).collect();
            let Geometry { grid, block, shared, .. } = &launch.geometry;
            let list = |all: &[kernpack_syntax::Placed<kernpack_validators::Expr>]| {
                all.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ")
            };
            text += &format!("  {}({})", launch.kernel.name(), args.join("; "));
            text += &format!(" grid {} block {}", list(grid), list(block));
            text += &match shared.as_int() {
                Some(0) => String::new(),
                _ => format!(" smem {shared}"),
            };
            let sides: Vec<_> = sides.collect();
            text += &if sides.is_empty() {
                "\n".into()
            } else {
                format!(" when {}\n", sides.join(", "))
            };
        }
    }
    text
}

pub(super) fn show_arg(arg: &Argument) -> String {
    match arg {
        Argument::Pointer(pointer) => {
            let TensorArg { name, element, align, .. } = &**pointer;
            format!("pointer {name}: {element} align {align}")
        }
        Argument::Tensor(tensor) => {
            let TensorArg { name, element, align, is_written, is_alone, view, offset, .. } =
                &**tensor;
            let written = if *is_written { " written" } else { "" };
            let alone = if *is_alone { " alone" } else { "" };
            let offset = if offset.is(0) { String::new() } else { format!(" at {offset}") };
            format!("{name}: {element} {view}{offset} align {align}{written}{alone}")
        }
        Argument::Scalar(scalar) => {
            let kernpack_kernel_ir::kernel::Facts { min, max, divisor } = scalar.facts;
            let bound = |value: i64| match value {
                i64::MIN | i64::MAX => String::new(),
                value => value.to_string(),
            };
            let divisor = if divisor > 1 { format!(" /{divisor}") } else { String::new() };
            format!("{}: {} {}..{}{divisor}", scalar.expr, scalar.scalar, bound(min), bound(max))
        }
        Argument::Constant(constant) => match constant {
            Constant::None => "None".to_string(),
            Constant::Bool(truth) => truth.to_string(),
            Constant::Int(value) => value.to_string(),
            Constant::Float(value) => format!("{value:?}"),
            Constant::Number(number) => format!("{} {number}", number.scalar()),
            Constant::Text(text) => format!("{text:?}"),
            Constant::DType(scalar) => scalar.to_string(),
            Constant::Layout(layout, None) => layout.to_string(),
            Constant::Layout(layout, Some(swizzle)) => format!("{swizzle} o 0 o {layout}"),
            Constant::Swizzle(swizzle) => swizzle.to_string(),
        },
        Argument::Layout(layout, _) => layout.to_string(),
        Argument::Function(FunctionArg::Builtin(name)) => format!("kp.{name}"),
        Argument::Function(FunctionArg::Written { function, captured, .. }) => {
            let captured: Vec<_> = captured
                .iter()
                .map(|(name, value)| format!("{name}={}", show_arg(value)))
                .collect();
            format!("{}[{}]", function.name.name, captured.join(", "))
        }
        Argument::Tuple(items) => {
            let items: Vec<_> = items
                .iter()
                .map(|(name, item)| match name {
                    Some(name) => format!("{name}={}", show_arg(item)),
                    None => show_arg(item),
                })
                .collect();
            format!("({})", items.join(", "))
        }
        Argument::Optional(optional) => {
            format!("{} ? {}", optional.given, show_arg(&optional.inner))
        }
    }
}

#[test]
fn tensors_and_numbers_are_passed_on() {
    check(
        r#"
@kp.jit("f(x: Tensor([m, n], float32, align=16), out: Tensor([m], float32, mut), s: int32, e: float16) where n % 8 == 0, m <= 100")
def f(x, out, s, e):
    """Does
    nothing."""
    m, n = x.shape
    k(x, out, 512).launch(grid=m, block=512)
    k((x, out), s, e).launch(grid=(m, kp.ceil_div(n, 4)), block=(32, 4), smem=4 * n)
    k(n // 2, m * n, x.element_type).launch(grid=(m + 1) // 2, block=x.shape[0])
"#,
        expect![[r#"
            f
              k(x: float32 (m,n):(n,1) align 16; out: float32 (m):(1) align 4 written; 512) grid m block 512
              k((x: float32 (m,n):(n,1) align 16, out: float32 (m):(1) align 4 written); s: int32 -2147483648..2147483647; e: float16 ..) grid m, n // 4 block 32, 4 smem 4*n
              k(n // 2: int64 0..4611686018427387900 /4; m*n: int64 0.. /8; float32) grid (m + 1) // 2 block m
        "#]],
    );
}

#[test]
fn compact_tensors_have_strides_of_dims() {
    check(
        r#"
@kp.jit("f(x: Tensor([a, b, 4], float32), y: Tensor([a, b, _], int8, order=col), z: Tensor([a, b, 3], float16, order=(2, 0, 1)))")
def f(x, y, z):
    k(x, y, z).launch(grid=1, block=1)

@kp.jit("g(x: Tensor([a, b], float32, strides=[s, 1]), y: Tensor([a, b], float32, strides=any), z: Tensor([a, b], float32, strides=[_, 2]))")
def g(x, y, z):
    k(x, y, z).launch(grid=1, block=1)

@kp.jit("h(x: Tensor([*b, d], float32), y: Tensor([d, *b], float32, order=col, mut), z: Tensor([*b], float32, strides=[2]))")
def h(x, y, z):
    k(x, y, z).launch(grid=x.shape[0], block=1)
"#,
        expect![[r#"
            f
              k(x: float32 (a,b,4):(4*b,4,1) align 4 alone; y: int8 (a,b,y.shape[2]):(1,a,a*b) align 1 alone; z: float16 (a,b,3):(b*3,1,b) align 2 alone) grid 1 block 1
            g
              k(x: float32 (a,b):(s,1) align 4 alone; y: float32 (a,b):(y.strides[0],y.strides[1]) align 4 alone; z: float32 (a,b):(z.strides[0],2) align 4 alone) grid 1 block 1
            h
              k(x: float32 (b.numel,d):(d,1) align 4; y: float32 (d,b.numel):(1,d) align 4 written; z: float32 (b.numel):(2) align 4) grid b.numel block 1
        "#]],
    );
}

#[test]
fn ifs_become_conditions_and_facts() {
    check(
        r#"
@kp.jit("f(x: Tensor([m, n], float32), mode: String, flag: bool, eps: float32) where n <= 4096")
def f(x, mode, flag, eps):
    m, n = x.shape
    if n == 4096:
        k(x).launch(grid=m, block=1)
    elif n % 4 == 0 and mode != "relu":
        k(x, n).launch(grid=m, block=2)
        if flag:
            k(x, 2).launch(grid=m, block=3)
    elif eps > 0.5 or mode in ("a", "b"):
        k(x).launch(grid=m, block=4)
    else:
        k(x, m).launch(grid=m, block=5)
    if n > 5000:
        k(x, "never").launch(grid=m, block=6)
    if n >= 0 and not n > 5000:
        k(x, "always").launch(grid=m, block=7)
"#,
        expect![[r#"
            f
              k(x: float32 (m,4096):(4096,1) align 4 alone; None; None) grid m block 1 when n == 4096
              k(x: float32 (m,n):(n,1) align 4 alone; n: int64 0..4092 /4; None) grid m block 2 when !(n == 4096), n % 4 == 0 and mode != "relu"
              k(x: float32 (m,n):(n,1) align 4 alone; 2; None) grid m block 3 when !(n == 4096), n % 4 == 0 and mode != "relu", flag != 0
              k(x: float32 (m,n):(n,1) align 4 alone; None; None) grid m block 4 when !(n == 4096), !(n % 4 == 0 and mode != "relu"), eps > 0.5 or mode in {"a", "b"}
              k(x: float32 (m,n):(n,1) align 4 alone; m: int64 0..; None) grid m block 5 when !(n == 4096), !(n % 4 == 0 and mode != "relu"), !(eps > 0.5 or mode in {"a", "b"})
              k(x: float32 (m,n):(n,1) align 4 alone; "always"; None) grid m block 7
        "#]],
    );
}

#[test]
fn ways_part_where_names_are_assigned() {
    check(
        r#"
@kp.jit("f(x: Tensor([m, n], float32)) -> y: Tensor([m], float32)")
def f(x, y):
    m, n = x.shape
    if m == 0:
        return
    width = 1
    if n % 4 == 0:
        width = 4
    k(x, y, width).launch(grid=m, block=256 // width)
"#,
        expect![[r#"
            f
              k(x: float32 (m,n):(n,1) align 4 alone; y: float32 (m):(1) align 16 written alone; 4) grid m block 64 when aligned(y, 16), !(m == 0), n % 4 == 0
              k(x: float32 (m,n):(n,1) align 4 alone; y: float32 (m):(1) align 16 written alone; 1) grid m block 256 when aligned(y, 16), !(m == 0), !(n % 4 == 0)
              k(x: float32 (m,n):(n,1) align 4 alone; y: float32 (m):(1) align 4 written alone; 4) grid m block 64 when !(aligned(y, 16)), !(m == 0), n % 4 == 0
              k(x: float32 (m,n):(n,1) align 4 alone; y: float32 (m):(1) align 4 written alone; 1) grid m block 256 when !(aligned(y, 16)), !(m == 0), !(n % 4 == 0)
        "#]],
    );
}

#[test]
fn dtypes_are_constants() {
    check(
        r#"
@kp.jit("f(x: Tensor([n], T), d: DataType, y: Tensor([n], d, mut)) where T in {float16, float32}, d in {int8, int32}")
def f(x, d, y):
    if x.element_type == kp.float16:
        k(x, T, kp.float32).launch(grid=1, block=1)
    else:
        block = 64 if d == kp.int8 else 32
        k(x, y, T.width).launch(grid=1, block=block)
"#,
        expect![[r#"
            f
              T=float16 d=int8
              k(x: float16 (n):(1) align 2 alone; float16; float32) grid 1 block 1
              T=float16 d=int32
              k(x: float16 (n):(1) align 2 alone; float16; float32) grid 1 block 1
              T=float32 d=int8
              k(x: float32 (n):(1) align 4; y: int8 (n):(1) align 1 written; 32) grid 1 block 64
              T=float32 d=int32
              k(x: float32 (n):(1) align 4; y: int32 (n):(1) align 4 written; 32) grid 1 block 32
        "#]],
    );
}

#[test]
fn results_and_workspaces_are_alone() {
    check(
        r#"
@kp.jit("f(x: Tensor([n], float32), y: Tensor([n], float32, mut), z: Tensor([n], float32)) -> r: Tensor([n], float32) where noalias(x, y)", workspace={"ws": "Tensor([4*n], uint8, align=128)"})
def f(x, y, z, r, ws):
    k(x, y, r).launch(grid=1, block=1)
    k(x, z, ws).launch(grid=1, block=1)
    k(x, y, z).launch(grid=1, block=1)
"#,
        expect![[r#"
            f
              k(x: float32 (n):(1) align 4 alone; y: float32 (n):(1) align 4 written alone; r: float32 (n):(1) align 16 written alone) grid 1 block 1 when aligned(r, 16)
              k(x: float32 (n):(1) align 4 alone; z: float32 (n):(1) align 4 alone; ws: uint8 (4*n):(1) align 128 written alone) grid 1 block 1 when aligned(r, 16)
              k(x: float32 (n):(1) align 4 alone; y: float32 (n):(1) align 4 written; z: float32 (n):(1) align 4) grid 1 block 1 when aligned(r, 16)
              k(x: float32 (n):(1) align 4 alone; y: float32 (n):(1) align 4 written alone; r: float32 (n):(1) align 4 written alone) grid 1 block 1 when !(aligned(r, 16))
              k(x: float32 (n):(1) align 4 alone; z: float32 (n):(1) align 4 alone; ws: uint8 (4*n):(1) align 128 written alone) grid 1 block 1 when !(aligned(r, 16))
              k(x: float32 (n):(1) align 4 alone; y: float32 (n):(1) align 4 written; z: float32 (n):(1) align 4) grid 1 block 1 when !(aligned(r, 16))
        "#]],
    );
}

#[test]
fn optionals_and_tuples() {
    check(
        r#"
@kp.jit("f(x: Tensor([n], float32), w: Optional[Tensor([n], float32)] = None)")
def f(x, w):
    k(x, w).launch(grid=1, block=1)
    if w is None:
        k(x, w).launch(grid=2, block=1)
    else:
        k(x, w).launch(grid=w.shape[0], block=1)

@kp.jit("g(p: Tuple(x: Tensor([n], float32), int32), s: Shape([n, 2*m, _]))")
def g(p, s):
    k(p, p.x, p[1]).launch(grid=s[2], block=s[1])
    k(s, p[0].shape[0]).launch(grid=p[1], block=1)
"#,
        expect![[r#"
            f
              k(x: float32 (n):(1) align 4 alone; w.given ? w: float32 (n):(1) align 4 alone; None) grid 1 block 1
              k(x: float32 (n):(1) align 4 alone; None; None) grid 2 block 1 when w.given == 0
              k(x: float32 (n):(1) align 4 alone; w: float32 (n):(1) align 4 alone; None) grid n block 1 when !(w.given == 0)
            g
              k((x=p.x: float32 (n):(1) align 4 alone, p[1]: int32 -2147483648..2147483647); p.x: float32 (n):(1) align 4 alone; p[1]: int32 -2147483648..2147483647) grid s[2] block 2*m
              k((n: int64 0.., 2*m: int64 0.. /2, s[2]: int64 0..); n: int64 0..; None) grid p[1] block 1
        "#]],
    );
}

#[test]
fn layouts_and_views() {
    check(
        r#"
THREADS, VALUES = 512, 4

@kp.jit("f(x: Tensor([m, n], float32))")
def f(x):
    thr = kp.make_layout((THREADS,), stride=(1,))
    tiler, tv = kp.make_layout_tv(thr, kp.make_layout((VALUES,)))
    gX = kp.zipped_divide(x, (1, tiler[0]))
    k(gX, tv, len(tiler)).launch(grid=kp.size(gX, mode=[1]), block=kp.size(thr))
    tile = kp.local_tile(x, (16, 16), (0, None))
    k(tile, x[None, 3], kp.make_swizzle(3, 4, 3)).launch(grid=1, block=1)
    k(lambda v: v * VALUES + thr, kp.exp, tiler).launch(grid=1, block=1)
"#,
        expect![[r#"
            f
              k(x: float32 ((1,2048),(m,ceildiv(n, 2048))):((0,1),(n,2048)) align 4 alone; (512,4):(4,1); 1) grid m*ceildiv(n, 2048) block 512
              k(x: float32 (16,16,ceildiv(n, 16)):(n,1,16) align 4 alone; x: float32 (m):(n) at 3 align 4 alone; S<3,4,3>) grid 1 block 1
              k(lambda[thr=(512):(1)]; kp.exp; (2048)) grid 1 block 1
        "#]],
    );
}

#[test]
fn what_is_wrong_is_told_all_at_once() {
    check(
        r#"
@kp.jit("f(x: Tensor([m, n], float32), mode: String, d: DataType, y: Tensor([n], d), p: Pointer) -> r: Tensor([m], float32) where d in {int8}")
def f(x, mode, d, y, p, r):
    k(x, nothing).launch(grid=1, block=1)
    k(x, mode, d).launch(grid=1, block=1)
    k(p).launch(grid=1, block=1)
    k(x, 1, 2, 3).launch(grid=1, block=1)
    k(q=x).launch(grid=1, block=1)
    k(x).launch(grid=1)
    k(x).launch(1, block=1, blocks=2)
    k(x).launch(grid=1.5, block=(1, 1, 1, 1))
    k(x)
    while k:
        k(x).launch(grid=1, block=1)
    if x.shape[0]:
        k(x, m).launch(grid=1, block=1)
    n = x.shape[1] / 2
    a, b, c = x.shape
    return 3
"#,
        expect![[r#"
            error[unknown-name]: `nothing` is not defined
              8:10 `nothing` no name of this function or file
            error[packed-argument]: the String `mode` chooses launches, and enters no kernel
              9:10 `mode` passed here
              help: ask for it by an `if`, and pass a constant
            error[packed-argument]: the DataType `d` chooses launches, and enters no kernel
              9:16 `d` passed here
              help: name the dtype of a tensor, `x.element_type`
            error[packed-argument]: `p`: nothing says what the pointer points to
              10:7 `p` passed here
              help: say it in its type: `Pointer(float32, align=4)`
            error[packed-argument]: `k` takes 3 arguments, not 4
              11:16 `3` one more than it takes
              help: it is `k(a, b=…, c=…)`
            error[packed-argument]: `k` has no parameter `q`
              12:7 `q` this one
              help: it is `k(a, b=…, c=…)`
            error[launch-argument]: the launch has no `block`
              13:5 `k(x).launch(grid=1)` missing
              help: write `block=…`, one to three numbers, x first
            error[launch-argument]: a launch takes its layout by name
              14:17 `1` without a name
              help: write `.launch(grid=…, block=…)`
            error[launch-argument]: a launch has no `blocks`
              14:29 `blocks` unknown
              help: it has grid, block, smem, cluster, cooperative, pdl, priority, stream, min_blocks, max_registers, arch
            error[launch-argument]: the launch has no `grid`
              14:5 `k(x).launch(1, block=1, blocks=2)` missing
              help: write `grid=…`, one to three numbers, x first
            error[packed-value]: expected an integer, found a float
              15:22 `1.5` a float
            error[launch-argument]: a layout of a launch has one to three numbers, not 4
              15:33 `(1, 1, 1, 1)` here
            error[packed-statement]: `k` is not launched
              16:5 `k(x)` here
              help: write `.launch(grid=…, block=…)` behind it
            error[packed-statement]: a packed function has no `while`
              17:5 `while k:` here
              help: write `for` over constants, or the loop in the kernel
            error[packed-value]: an integer is no condition
              19:8 `x.shape[0]` neither true nor false
              help: compare it: `n != 0`
            error[unknown-name]: `m` is not defined
              20:14 `m` no name of this function or file
            error[packed-value]: expressions over dims have no `/`
              21:9 `x.shape[1] / 2` not known yet
              help: write `//`, which rounds down
            error[packed-value]: 3 names for a tuple of 2
              22:5 `a, b, c` not as many
              help: name each part, `_` those unused
            error[packed-statement]: a function that is called for its launches returns nothing
              23:12 `3` nobody gets this
              help: write `return` alone"#]],
    );
    check(
        r#"
@kp.jit("f(x: Tensor([m, n], float32)) -> r: Tensor([m], float32)")
def f(x, r):
    m, n = x.shape
    if n > 4:
        k(x, r).launch(grid=m, block=1)
    elif m > 0:
        k(x).launch(grid=m, block=1)

@kp.jit("g(x: Tensor([m, n], float32)) -> r: Tensor([m], float32)")
def g(x, r):
    m, n = x.shape
    if m > 0:
        k(x, r).launch(grid=m, block=1)

@kp.jit("h(x: Tensor([m, n], float32)) -> r: Tensor([m], float32)")
def h(x, r):
    if x.shape[1] == 4:
        return
    k(x, r).launch(grid=1, block=1)
"#,
        expect![[r#"
            g
              k(x: float32 (m,n):(n,1) align 4 alone; r: float32 (m):(1) align 16 written alone; None) grid m block 1 when aligned(r, 16), m > 0
              k(x: float32 (m,n):(n,1) align 4 alone; r: float32 (m):(1) align 4 written alone; None) grid m block 1 when !(aligned(r, 16)), m > 0
            error[unwritten-result]: a call may leave the result `r` unwritten
              6:43 `r` this result
              11:10 `m > 0` where this holds
              help: launch a kernel there that is passed `r`
            error[unwritten-result]: a call may leave the result `r` unwritten
              20:43 `r` this result
              22:8 `x.shape[1] == 4` where this holds
              help: launch a kernel there that is passed `r`"#]],
    );
    check(
        r#"
@kp.jit("f(x: Tensor([m, n], float32)) -> r: Tensor([m], float32)", workspace={"ws": "Tensor([m], int8)"}, works=1)
def g(x, ws, r):
    pass

@kp.jit("f(x: Tensor([m, n], float32)) -> r: Tensor([m], float32)", workspace={"ws": "Tensor([m], int8)"})
def g(x, ws, r=3):
    pass

@kp.jit("f(x: Tensr([m], float32))")
def f(x):
    pass

@kp.jit(3)
def f(x):
    pass
"#,
        expect![[r#"
            error[decorator]: `kp.jit` takes no keyword `works`
              6:108 `works` unknown
              help: write `kp.jit("signature", workspace={"name": "Tensor(…)"})`
            error[packed-name]: `g` has the signature of `f`
              11:5 `g` the function
              10:10 `f` the name that callers use
              help: give both one name
            error[packed-parameters]: the parameters of `g` are not those of its signature
              11:7 `x, ws, r` expected its parameters, then its results, then the workspaces
              help: write `def g(x, r, ws):`
            error[packed-parameters]: defaults stand in the signature
              11:16 `3` has no effect here
              help: write it there: `x: int32 = 0`
            error[syntax]: expected a type, found `Tensr`
              14:15 `Tensr` expected a type
              help: the types are Tensor, Shape, Tuple, Optional, String, DataType, Pointer, Stream, EnvStream, a dtype for a scalar, and literals
            error[decorator]: `kp.jit` takes a signature, and nothing else
              18:9 `3` expected one text
              help: write `@kp.jit("name(x: Tensor([n], float32))")`"#]],
    );
}

#[test]
fn functions_are_gone_through() {
    check(
        r#"
WIDTHS = (1, 2, 4)

def threads(n, most=256):
    """Whole warps."""
    if most > 128:
        return most
    return kp.ceil_div(n, 32) * 32

def pick(i):
    widths = WIDTHS
    return widths[i]

def apply(f, x, scale=2):
    n = x.shape[0]
    if n == 0:
        return
    if n % 4 == 0:
        k(f, x, pick(2)).launch(grid=n // 4, block=threads(n))
        return
    k(f, x, scale).launch(grid=n, block=threads(n, 64))

@kp.jit("f(x: Tensor([n], float32, mut))")
def f(x):
    def local(v):
        return v
    apply(lambda v: v * 2, x)
    n = x.shape[0]
    apply(local, x, scale=n)

def loop(x):
    loop(x)

@kp.jit("g(x: Tensor([n], float32, mut))")
def g(x):
    loop(x)
    y = apply(None, x)
    apply()
    kp.exp(1.0)
"#,
        expect![[r#"
            f
              k(lambda[]; x: float32 (n):(1) align 4 written alone; 4) grid n // 4 block 256 when !(n == 0), n % 4 == 0
              k(local[]; x: float32 (n):(1) align 4 written alone; 4) grid n // 4 block 256 when !(n == 0), n % 4 == 0
              k(lambda[]; x: float32 (n):(1) align 4 written alone; 2) grid n block ceildiv(n, 32)*32 when !(n == 0), !(n % 4 == 0)
              k(local[]; x: float32 (n):(1) align 4 written alone; n: int64 1..) grid n block ceildiv(n, 32)*32 when !(n == 0), !(n % 4 == 0)
            error[recursion]: `loop` calls itself
              36:5 `loop(x)` this call
              help: write what it does: functions stand in the place of their calls
            error[packed-value]: which value it is depends on the call
              20:8 `n == 0` not known while the package is built
              help: write an `if` with a launch on each side
            error[packed-argument]: `apply` is not given its `f`
              42:5 `apply()` missing
              help: it is `apply(f, x, scale=…)`
            error[packed-argument]: `apply` is not given its `x`
              42:5 `apply()` missing
              help: it is `apply(f, x, scale=…)`
            error[packed-value]: `exp` is for kernels
              43:5 `kp.exp(1.0)` called while the package is built"#]],
    );
}

#[test]
fn a_function_that_computes_a_value_may_change_what_it_computes() {
    check(
        r#"
def blocks(n):
    count = n // 4
    count += 1
    count *= 2
    return count

@kp.jit("f(x: Tensor([n], float32, mut))")
def f(x):
    k(x).launch(grid=blocks(x.shape[0]), block=blocks(60))

@kp.jit("g(x: Tensor([n], float32, mut))")
def g(x):
    k(x).launch(grid=1, block=64, grid=2)
"#,
        expect![[r#"
            f
              k(x: float32 (n):(1) align 4 written alone; None; None) grid (n//4 + 1)*2 block 32
            error[launch-argument]: the launch has two `grid`
              18:35 `grid` the second
              help: write one of them"#]],
    );
}

#[test]
fn a_parameter_keeps_its_type_where_its_number_is_known() {
    check(
        r#"
@kp.jit("f(i: uint8, flag: bool, t: Tuple(int16, int64), n: int32)")
def f(i, flag, t, n):
    items = (10, 20, 30, 40, 50)
    k(i, flag, t).launch(grid=i, block=1)
    if i == 4 and flag and t[0] == -1:
        k(i, flag, t).launch(grid=i, block=kp.ceil_div(i, 3))
        k(i + 1, i * 0.5, -i).launch(grid=items[i], block=(abs(t[0]), min(i, 7)))
        k(lambda v: v + i, not flag, 1 if flag else 2).launch(grid=1, block=1)
        if t[0] in (i, -1) and n in (i, 5):
            k(n).launch(grid=1, block=1)
    elif not flag:
        k(flag, i).launch(grid=1, block=1)
"#,
        expect![[r#"
            f
              k(i: uint8 0..255; flag: bool 0..1; (t[0]: int16 -32768..32767, t[1]: int64 ..)) grid i block 1
              k(uint8 4; bool true; (int16 -1, t[1]: int64 ..)) grid 4 block 2 when i == 4 and flag != 0 and t[0] == -1
              k(5; 2.0; -4) grid 50 block 1, 4 when i == 4 and flag != 0 and t[0] == -1
              k(lambda[i=uint8 4]; false; 1) grid 1 block 1 when i == 4 and flag != 0 and t[0] == -1
              k(n: int32 4..5; None; None) grid 1 block 1 when i == 4 and flag != 0 and t[0] == -1, n in {4, 5}
              k(bool false; i: uint8 0..255; None) grid 1 block 1 when !(i == 4 and flag != 0 and t[0] == -1), not flag != 0
        "#]],
    );
}

#[test]
fn an_optional_is_what_it_is_asked_for() {
    check(
        r#"
@kp.jit("f(x: Tensor([n], float32), i: Optional[int32], e: Optional[float32], flag: Optional[bool], w: Optional[Tensor([n], float32)])")
def f(x, i, e, flag, w):
    call = k(x, i, w)
    call.launch(grid=1, block=1)
    if i is not None:
        call.launch(grid=i, block=i + 1)
        k(i, -i, x[None]).launch(grid=1, block=2)
    else:
        call.launch(grid=1, block=3)
    if e is not None and e > 1.0:
        k(e).launch(grid=1, block=4)
    if flag is not None and not flag:
        k(flag).launch(grid=1, block=5)
    absent = w is None
    if i is None or i > 3:
        if absent:
            k(absent, w).launch(grid=1, block=6)
        else:
            k(w.shape[0], w).launch(grid=1, block=7)

@kp.jit("g(i: Optional[int32], e: Optional[float32], w: Optional[Tensor([n], float32)])")
def g(i, e, w):
    k(i + 1, -e, w[None]).launch(grid=i, block=kp.size(w))
    if i > 3:
        k(w.shape).launch(grid=1, block=1)
    if i is None:
        k(i + 1).launch(grid=1, block=1)
"#,
        expect![[r#"
            f
              k(x: float32 (n):(1) align 4 alone; i.given ? i: int32 -2147483648..2147483647; w.given ? w: float32 (n):(1) align 4 alone) grid 1 block 1
              k(x: float32 (n):(1) align 4 alone; i: int32 -2147483648..2147483647; w.given ? w: float32 (n):(1) align 4 alone) grid i block i + 1 when i.given != 0
              k(i: int32 -2147483648..2147483647; 0 - i: int64 -2147483647..2147483648; x: float32 (n):(1) align 4 alone) grid 1 block 2 when i.given != 0
              k(x: float32 (n):(1) align 4 alone; None; w.given ? w: float32 (n):(1) align 4 alone) grid 1 block 3 when !(i.given != 0)
              k(e: float32 ..; None; None) grid 1 block 4 when e.given != 0 and e > 1.0
              k(bool false; None; None) grid 1 block 5 when flag.given != 0 and not flag != 0
              k(true; None; None) grid 1 block 6 when i.given == 0 or i > 3, w.given == 0
              k(n: int64 0..; w: float32 (n):(1) align 4 alone; None) grid 1 block 7 when i.given == 0 or i > 3, !(w.given == 0)
            error[unguarded]: `i` may be None
              28:7 `i + 1` used without having asked
              help: ask first: `if i is not None:`
            error[unguarded]: `e` may be None
              28:14 `-e` used without having asked
              help: ask first: `if e is not None:`
            error[unguarded]: `w` may be None
              28:18 `w[None]` used without having asked
              help: ask first: `if w is not None:`
            error[unguarded]: `i` may be None
              29:8 `i` used without having asked
              help: ask first: `if i is not None:`
            error[unguarded]: `w` may be None
              30:11 `w.shape` used without having asked
              help: ask first: `if w is not None:`
            error[packed-value]: expected a number, found `None`
              32:11 `i + 1` `None`"#]],
    );
}

#[test]
fn integers_have_any_size_until_they_are_passed() {
    check(
        r#"
@kp.jit("f(n: int32)")
def f(n):
    z = -170141183460469231731687303715884105727 - 1
    k(-z).launch(grid=1, block=1)
    k(1).launch(grid=abs(z), block=abs(-2))
    if -z > 0 and 10 ** 17 + 1 != 1e17:
        k(2, 10 ** 40 % 7).launch(grid=(10 ** 40) >> 130, block=1)
    k(n + z).launch(grid=1, block=1)
    k(9 ** 9 ** 9).launch(grid=1, block=1)
    k((0, 1)[10 ** 40]).launch(grid=1, block=1)
    k(abs(-3), abs(4), -(-5)).launch(grid=1, block=abs(-1.5))
"#,
        expect![[r#"
            error[packed-value]: 170141183460469231731687303715884105728 has more than 64 bits
              10:22 `abs(z)` no `int64`
              help: pass it to the kernel as it is
            error[packed-value]: expressions over dims have 64 bits
              13:7 `n + z` one of these has more
            error[packed-value]: `9 ** 387420489` has more than 65536 bits
              14:7 `9 ** 9 ** 9` here
              help: compute with smaller numbers
            error[packed-value]: a tuple of 2 has no item 10000000000000000000000000000000000000000
              15:7 `(0, 1)[10 ** 40]` beyond its end
            error[packed-value]: expected an integer, found a float
              16:52 `abs(-1.5)` a float"#]],
    );
}

/// Facts that kernels are compiled for name the checks, wherever in the body they are written.
#[test]
fn facts_of_assertions_are_because_of_rules() {
    let source = r#"
@kp.jit("f(n: int64, mode: String)")
def f(n, mode):
    k(n).launch(grid=1, block=1)
    assert n % 4 == 0
    if mode == "few":
        assert 0 < n <= 64
        k(n).launch(grid=2, block=1)
"#;
    let shown = known(source);
    expect![[r#"
        grid 1
          n % 4 in 0..=0: `n % 4 == 0` is checked
          n in -9223372036854775808..=9223372036854775804, a multiple of 4: `mode != "few" or 0 < n` is checked, `mode != "few" or n <= 64` is checked, `n % 4 == 0` is checked
        grid 2
          n % 4 in 0..=0: `n % 4 == 0` is checked
          n in 4..=64, a multiple of 4: `mode != "few" or 0 < n` is checked, `mode != "few" or n <= 64` is checked, `n % 4 == 0` is checked, `mode == "few"` holds here
    "#]]
    .assert_eq(&shown);
}

/// The facts about numbers that the launches of the first function of a file rely on.
fn known(source: &str) -> String {
    let text = format!("import kernpack as kp\n@kp.kernel\ndef k(a):\n    pass\n{source}");
    let mut door = |_: &Path| Ok(text.clone().into_bytes());
    let files = KernelFiles::read(Path::new("f.py"), &mut door, &mut Texts::default());
    let (functions, problems) = functions(&files.unwrap());
    assert_eq!(problems.to_string(), "");
    let launches = functions[0].rows.iter().flat_map(|row| &row.launches);
    let lines = launches.map(|launch| {
        let facts = launch.known.iter().map(|fact| format!("  {fact}\n"));
        format!("grid {}\n{}", launch.geometry.grid[0].value, facts.collect::<String>())
    });
    lines.collect()
}
