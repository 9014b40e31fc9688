// SPDX-License-Identifier: Apache-2.0
//! Tensors in the kernel: addresses, alignments, and how wide accesses are.

use super::{Argument, elaborate_k, int, operations, read, written};
use crate::argument::{Constant, TensorArg};
use expect_test::{Expect, expect};
use kernpack_kernel_ir::Scalar::{BF16, F16, F32, U8};
use kernpack_kernel_ir::verify;

/// Expects loads, stores, bounds and arrays of a kernel of a body, and what it is passed.
fn check(body: &str, arguments: &[Argument], expected: Expect) {
    let lines: String = body.lines().map(|line| format!("    {line}\n")).collect();
    let params = ["x", "out", "c", "d"][..arguments.len()].join(", ");
    let source = format!("@kp.kernel\ndef k({params}):\n    t = kp.thread_idx()[0]\n{lines}");
    let instance =
        elaborate_k(&source, arguments, 64).unwrap_or_else(|problems| panic!("{problems}"));
    verify::verify(&instance.kernel).unwrap_or_else(|problems| panic!("{problems}"));
    let text = operations(&instance);
    let is_shown = |line: &&str| {
        ["load", "store", "inbounds", " shared", " local", "offset"]
            .iter()
            .any(|one| line.contains(one))
    };
    let mut shown: Vec<_> =
        text.lines().filter(is_shown).map(str::trim).map(str::to_string).collect();
    let args: Vec<_> = instance.args.iter().map(ToString::to_string).collect();
    shown.push(format!("passed {}", args.join(", ")));
    if let Some(shared) = &instance.shared {
        shown.push(format!("shared {shared}"));
    }
    expected.assert_eq(&(shown.join("\n") + "\n"));
}

fn two(divisor: &str) -> [Argument; 2] {
    [read("x", F32, &["m", divisor]), written("out", F32, &["m", divisor])]
}

#[test]
fn what_divides_extents_makes_accesses_wide() {
    let body = "a = kp.zipped_divide(x[t, None], (4,))\nb = kp.zipped_divide(out[t, None], (4,))\nb[None, t].store(a[None, t].load())";
    check(
        body,
        &two("n % 4"),
        expect![[r#"
            inbounds v4, v2
            inbounds v4, v2
            inbounds v4, v7
            inbounds v4, v7
            v11: pointer.global = offset v0, v10
            v12: float32x4 = load v11 align 16
            v13: pointer.global = offset v3, v10
            store v13, v12 align 16
            passed x, n: int64, m: int64, out
        "#]],
    );
    check(
        body,
        &two("n"),
        expect![[r#"
            inbounds v4, v2
            inbounds v4, v2
            inbounds v4, v10
            inbounds v4, v10
            inbounds v13, v1
            v15: pointer.global = offset v0, v14
            v16: float32 = load v15 align 4
            v19: pointer.global = offset v0, v18
            v20: float32 = load v19 align 4
            v24: pointer.global = offset v0, v23
            v25: float32 = load v24 align 4
            v28: pointer.global = offset v0, v27
            v29: float32 = load v28 align 4
            v30: pointer.global = offset v3, v14
            store v30, v16 align 4
            v31: pointer.global = offset v3, v18
            store v31, v20 align 4
            v32: pointer.global = offset v3, v23
            store v32, v25 align 4
            v33: pointer.global = offset v3, v27
            store v33, v29 align 4
            passed x, n: int64, m: int64, out
        "#]],
    );
    check(
        body,
        &two("n % 2"),
        expect![[r#"
            inbounds v4, v2
            inbounds v4, v2
            inbounds v4, v9
            inbounds v4, v9
            inbounds v12, v1
            v14: pointer.global = offset v0, v13
            v15: float32x2 = load v14 align 8
            v19: pointer.global = offset v0, v18
            v20: float32x2 = load v19 align 8
            v21: pointer.global = offset v3, v13
            store v21, v15 align 8
            v22: pointer.global = offset v3, v18
            store v22, v20 align 8
            passed x, n: int64, m: int64, out
        "#]],
    );
}

#[test]
fn halves_go_eight_at_a_time() {
    let arguments = [read("x", BF16, &["m", "n % 8"]), written("out", BF16, &["m", "n % 8"])];
    let body = "kp.copy(kp.local_tile(x, (1, 16), (t, 0)), kp.local_tile(out, (1, 16), (t, 0)))";
    check(
        body,
        &arguments,
        expect![[r#"
            inbounds v4, v2
            inbounds v10, v8
            inbounds v4, v2
            inbounds v10, v8
            inbounds v6, v1
            v13: pointer.global = offset v0, v12
            v14: bfloat16x8 = load v13 align 16
            v18: pointer.global = offset v0, v17
            v19: bfloat16x8 = load v18 align 16
            v20: pointer.global = offset v3, v12
            store v20, v14 align 16
            v21: pointer.global = offset v3, v17
            store v21, v19 align 16
            passed x, n: int64, m: int64, out
        "#]],
    );
}

#[test]
fn a_predicate_guards_accesses() {
    let body = "a = kp.local_tile(x, (1, 4), (t, 0))\nb = kp.local_tile(out, (1, 4), (t, 0))\nkp.copy(a, b, pred=t < x.shape[0])";
    check(
        body,
        &two("n % 4"),
        expect![[r#"
            inbounds v11, v12
            inbounds v13, v14
            inbounds v15, v16
            inbounds v17, v18
            v20: pointer.global = offset v0, v19
            v23: float32x4 = load v20 align 16 when v9 else v22
            v24: pointer.global = offset v3, v19
            store v24, v23 align 16 when v9
            passed x, n: int64, m: int64, out
        "#]],
    );
    let body = "a = kp.local_tile(x, (1, 2), (t, 0))\nb = kp.local_tile(out, (1, 2), (t, 0))\nwhere = kp.local_tile(kp.make_identity_tensor(x.shape), (1, 2), (t, 0))\np = kp.make_fragment_like(a, kp.bool)\nfor i in kp.range_constexpr(2):\n    p[i] = where[i][1] < x.shape[1]\nkp.copy(a, b, pred=p)";
    check(
        body,
        &two("n % 4"),
        expect![[r#"
            local0 p: bool count 2  @8:9
            v9: pointer.local = local0
            store v9, v10 align 1
            v13: pointer.local = offset v9, v11
            store v13, v12 align 1
            v14: bool = load v9 align 1
            v15: bool = load v13 align 1
            inbounds v19, v20
            inbounds v21, v22
            inbounds v23, v24
            inbounds v25, v26
            v29: pointer.global = offset v0, v28
            v31: float32 = load v29 align 4 when v14 else v30
            v34: pointer.global = offset v0, v33
            v35: float32 = load v34 align 4 when v15 else v30
            v36: pointer.global = offset v3, v28
            store v36, v31 align 4 when v14
            v37: pointer.global = offset v3, v33
            store v37, v35 align 4 when v15
            passed x, n: int64, m: int64, out
        "#]],
    );
}

#[test]
fn a_column_is_read_one_by_one() {
    let body = "a = kp.local_tile(x, (4, 1), (0, t))\nr = kp.make_rmem_tensor((4, 1), kp.float32)\nkp.copy(a, r)\nout[0, t] = r[3, 0]";
    check(
        body,
        &two("n % 4"),
        expect![[r#"
            local0 r: float32 count 4  @6:9
            inbounds v9, v8
            inbounds v4, v1
            v10: pointer.local = local0
            inbounds v6, v2
            v12: pointer.global = offset v0, v11
            v13: float32 = load v12 align 4
            v16: pointer.global = offset v0, v15
            v17: float32 = load v16 align 4
            v22: pointer.global = offset v0, v21
            v23: float32 = load v22 align 4
            v27: pointer.global = offset v0, v26
            v28: float32 = load v27 align 4
            store v10, v13 align 4
            v29: pointer.local = offset v10, v5
            store v29, v17 align 4
            v31: pointer.local = offset v10, v30
            store v31, v23 align 4
            v33: pointer.local = offset v10, v32
            store v33, v28 align 4
            v34: float32 = load v33 align 4
            inbounds v9, v2
            inbounds v4, v1
            v35: pointer.global = offset v3, v11
            store v35, v34 align 4
            passed x, n: int64, m: int64, out
        "#]],
    );
}

/// Two arrays that fit the 48 KiB of every kernel, but not with what lies between them; and as much
/// as a block has.
#[test]
fn a_launch_asks_for_what_arrays_have_together() {
    let asked = |counts: [u32; 2]| {
        let [a, b] = counts;
        let body = format!("s = kp.shared(kp.float32, {a})\n    r = kp.shared(kp.float32, {b})");
        let source = format!("@kp.kernel\ndef k(x):\n    {body}\n    s[0] = 1.0\n    r[0] = 1.0\n");
        let made = elaborate_k(&source, &[read("x", F32, &["m"])], 64);
        let instance = made.unwrap_or_else(|problems| panic!("{problems}"));
        let is_right = verify::verify(&instance.kernel).is_ok();
        (instance.shared.map(|shared| shared.to_string()), is_right)
    };
    assert_eq!(asked([4, 12284]), (None, true));
    assert_eq!(asked([1, 12284]), (None, true));
    assert_eq!(asked([1, 12287]), (Some("49164".to_string()), true));
    assert_eq!(asked([1, 58108]), (Some("232448".to_string()), true));
    assert_eq!(asked([1, 58109]), (Some("232452".to_string()), false));
}

/// Tiles beyond a mode of extent 1 are where the mode goes on.
#[test]
fn tiles_beyond_an_extent_of_one_have_addresses_of_their_own() {
    let arguments = [read("x", F32, &["1", "5"]), written("out", F32, &["4", "8"])];
    let source = "
@kp.kernel
def k(x, out):
    tile = kp.local_tile(x, (2, 4), (0, 1))
    where = kp.local_tile(kp.make_identity_tensor(x.shape), (2, 4), (0, 1))
    row, column = where[1, 2]
    if kp.elem_less((row, column), x.shape):
        out[0, 0] = tile[1, 2]
    out[row, column] = kp.float32(row * 10 + column)
    out[1, 0] = kp.float32(tile.stride[0])
";
    let made = elaborate_k(source, &arguments, 1).unwrap_or_else(|problems| panic!("{problems}"));
    let stores: Vec<_> = operations(&made).lines().map(str::to_string).collect();
    let shown = stores.iter().filter(|line| line.contains("const") || line.contains("store"));
    let shown: Vec<_> = shown.map(|line| line.trim()).collect();
    expect![[r#"
        v1: float32 = const 16.0
        v2: int64 = const 56
        store v3, v1 align 4
        v4: float32 = const 5.0
        v5: int64 = const 32
        store v6, v4 align 4"#]]
    .assert_eq(&shown.join("\n"));
}

#[test]
fn shared_arrays_grow_with_dims() {
    let arguments = [read("x", F32, &["m", "n"]), written("out", F32, &["m", "n"])];
    let body = "s = kp.shared(kp.float32, (x.shape[1] + 1, 2))\nr = kp.shared(kp.float16, 3)\ns[t, 1] = x[0, t]\nr[0] = kp.float16(1)\nkp.sync_threads()\nout[0, t] = s[t, 1]";
    check(
        body,
        &arguments,
        expect![[r#"
            shared0 s: float32 bytes v4 align 16
            shared1 r: float16 bytes 6 align 16
            v8: pointer.shared = shared0
            v9: pointer.shared = shared1
            inbounds v10, v2
            inbounds v5, v1
            v13: pointer.global = offset v0, v12
            v14: float32 = load v13 align 4
            inbounds v5, v7
            v17: pointer.shared = offset v8, v16
            store v17, v14 align 4
            store v9, v18 align 2
            inbounds v5, v7
            v19: float32 = load v17 align 4
            inbounds v10, v2
            inbounds v5, v1
            v20: pointer.global = offset v3, v12
            store v20, v19 align 4
            passed x, n: int64, m: int64, out, (n + 1)*2*4: int64
            shared ceildiv((n + 1)*2*4, 16)*16 + 16
        "#]],
    );
    let body = "s = kp.shared(kp.float32, (128, 128))\ns[t, 1] = x[0, t]\nout[0, t] = s[t, 1]";
    check(
        body,
        &arguments,
        expect![[r#"
            shared0 s: float32 bytes 65536 align 16
            v5: pointer.shared = shared0
            inbounds v6, v2
            inbounds v4, v1
            v9: pointer.global = offset v0, v8
            v10: float32 = load v9 align 4
            v14: pointer.shared = offset v5, v13
            store v14, v10 align 4
            v15: float32 = load v14 align 4
            inbounds v6, v2
            inbounds v4, v1
            v16: pointer.global = offset v3, v8
            store v16, v15 align 4
            passed x, n: int64, m: int64, out
            shared 65536
        "#]],
    );
}

#[test]
fn sums_of_sums_are_put_together_where_they_are_asked_for() {
    let arguments = [read("x", F32, &["m", "n"]), written("out", F32, &["m", "n"])];
    let shared = |doublings: u32| {
        let body = format!(
            "    y = x.shape[1]\n    for i in kp.range_constexpr({doublings}):\n        y = y + y\n    for i in kp.range_constexpr(20000):\n        z = y + i\n    s = kp.shared(kp.float32, y)\n    s[0] = 1.0\n    out[0, 0] = s[0]\n"
        );
        let source = format!("@kp.kernel\ndef k(x, out):\n{body}");
        elaborate_k(&source, &arguments, 64).map(|instance| instance.shared.is_some())
    };
    assert_eq!(shared(6), Ok(true));
    let refused = shared(15).expect_err("65,535 additions");
    assert!(refused.contains("are not known at the launch"), "{refused}");
}

#[test]
fn swizzles_move_bytes() {
    let body = "
l = kp.make_composed_layout(kp.make_swizzle(3, 2, 3), 0, kp.make_layout((8, 32), stride=(32, 1)))
s = kp.shared(kp.float32, l)
kp.copy(kp.local_tile(x, (1, 4), (t // 8, t % 8)), kp.local_tile(s, (1, 4), (t // 8, t % 8)))
kp.sync_threads()
out[0, t] = s[t % 8, 3]";
    check(
        body,
        &two("n % 4"),
        expect![[r#"
            shared0 s: float32 bytes 1024 align 1024
            v5: pointer.shared = shared0
            inbounds v7, v2
            inbounds v8, v10
            v18: pointer.global = offset v0, v17
            v19: float32x4 = load v18 align 16
            v26: pointer.shared = offset v5, v25
            store v26, v19 align 16
            v33: pointer.shared = offset v5, v32
            v34: float32 = load v33 align 4
            inbounds v35, v2
            inbounds v4, v1
            v37: pointer.global = offset v3, v36
            store v37, v34 align 4
            passed x, n: int64, m: int64, out
        "#]],
    );
}

#[test]
fn only_what_is_used_is_passed() {
    check(
        "out[0, 0] = 1.0",
        &two("n"),
        expect![[r#"
            inbounds v3, v1
            inbounds v3, v0
            store v2, v4 align 4
            passed n: int64, m: int64, out
        "#]],
    );
    check(
        "if c > 3:\n    out[0, 0] = 1.0",
        &[two("n")[0].clone(), two("n")[1].clone(), int(3)],
        expect![[r#"
        passed 
    "#]],
    );
}

#[test]
fn memory_is_recast() {
    let arguments = [read("x", U8, &["m", "n % 16"]), written("out", F16, &["n % 8"])];
    let body = "h = kp.recast_tensor(x, kp.float16)\nout[t] = h[0, t]\nv = kp.make_tensor(x.iterator + 32, kp.make_layout(4))\nv.load()";
    check(
        body,
        &arguments,
        expect![[r#"
            inbounds v7, v2
            inbounds v4, v6
            v9: pointer.global = offset v0, v8
            v10: float16 = load v9 align 2
            inbounds v4, v1
            v11: pointer.global = offset v3, v8
            store v11, v10 align 2
            v13: pointer.global = offset v0, v12
            v14: uint8x4 = load v13 align 4
            passed x, n: int64, m: int64, out
        "#]],
    );
}

#[test]
fn a_partition_is_a_threads_share() {
    let arguments = [read("x", F32, &["64", "64"]), written("out", F32, &["64", "64"])];
    let body = "
threads = kp.make_layout((8, 8), stride=(8, 1))
mine = kp.local_partition(x, threads, t)
to = kp.local_partition(out, threads, t)
to[7, 7] = mine[0, 7]
kp.make_tensor(x.iterator, kp.make_layout((64, 64)))[1, 2]";
    check(
        body,
        &arguments,
        expect![[r#"
            v13: pointer.global = offset v0, v12
            v14: float32 = load v13 align 4
            v18: pointer.global = offset v1, v17
            store v18, v14 align 4
            v20: pointer.global = offset v0, v19
            v21: float32 = load v20 align 4
            passed x, out
        "#]],
    );
}

#[test]
fn views_with_offsets_come_from_launches() {
    let Argument::Tensor(x) = read("x", F32, &["m", "n % 4"]) else { panic!("a tensor") };
    let moved = TensorArg { offset: kernpack_layout::Int::Known(4), ..(*x).clone() };
    let layout = kernpack_layout::Layout::mode(4, 1);
    let arguments = [
        Argument::Tensor(Box::new(moved)),
        written("out", F32, &["n % 4"]),
        Argument::Constant(Constant::Layout(layout, None)),
    ];
    let body = "kp.composition(out, c).store(kp.composition(x[0, None], c).load() * 2)";
    check(
        body,
        &arguments,
        expect![[r#"
            inbounds v3, v1
            v5: pointer.global = offset v0, v4
            v6: float32x4 = load v5 align 16
            store v2, v16 align 16
            passed x, m: int64, out
        "#]],
    );
}
