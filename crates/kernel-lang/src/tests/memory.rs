// SPDX-License-Identifier: Apache-2.0
//! What tensors become: addresses, alignments, and how wide accesses are.

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
        inbounds v4, v10
        inbounds v4, v7
        v19: pointer.global = offset v0, v18
        v20: float32x4 = load v19 align 16
        v28: pointer.global = offset v3, v27
        store v28, v25 align 16
        passed x, n: int64, m: int64, out
    "#]],
    );
    check(
        body,
        &two("n"),
        expect![[r#"
        inbounds v4, v2
        inbounds v4, v2
        inbounds v4, v14
        inbounds v4, v9
        v23: pointer.global = offset v0, v22
        v24: float32 = load v23 align 4
        v29: pointer.global = offset v0, v28
        v30: float32 = load v29 align 4
        v35: pointer.global = offset v0, v34
        v36: float32 = load v35 align 4
        v41: pointer.global = offset v0, v40
        v42: float32 = load v41 align 4
        v45: pointer.global = offset v3, v44
        store v45, v24 align 4
        v50: pointer.global = offset v3, v49
        store v50, v30 align 4
        v55: pointer.global = offset v3, v54
        store v55, v36 align 4
        v60: pointer.global = offset v3, v59
        store v60, v42 align 4
        passed x, n: int64, m: int64, out
    "#]],
    );
    check(
        body,
        &two("n % 2"),
        expect![[r#"
        inbounds v4, v2
        inbounds v4, v2
        inbounds v4, v14
        inbounds v4, v9
        v23: pointer.global = offset v0, v22
        v24: float32x2 = load v23 align 8
        v31: pointer.global = offset v0, v30
        v32: float32x2 = load v31 align 8
        v38: pointer.global = offset v3, v37
        store v38, v35 align 8
        v44: pointer.global = offset v3, v43
        store v44, v41 align 8
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
            inbounds v9, v8
            inbounds v4, v2
            inbounds v15, v14
            v19: pointer.global = offset v0, v18
            v20: bfloat16x8 = load v19 align 16
            v33: pointer.global = offset v0, v32
            v34: bfloat16x8 = load v33 align 16
            v46: pointer.global = offset v3, v45
            store v46, v43 align 16
            v52: pointer.global = offset v3, v51
            store v52, v49 align 16
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
            inbounds v4, v2
            inbounds v7, v6
            inbounds v4, v2
            inbounds v11, v10
            v16: pointer.global = offset v0, v15
            v19: float32x4 = load v16 align 16 when v13 else v18
            v27: pointer.global = offset v3, v26
            store v27, v24 align 16 when v13
            passed x, n: int64, m: int64, out
        "#]],
    );
    let body = "a = kp.local_tile(x, (1, 2), (t, 0))\nb = kp.local_tile(out, (1, 2), (t, 0))\nwhere = kp.local_tile(kp.make_identity_tensor(x.shape), (1, 2), (t, 0))\np = kp.make_fragment_like(a, kp.bool)\nfor i in kp.range_constexpr(2):\n    p[i] = where[i][1] < x.shape[1]\nkp.copy(a, b, pred=p)";
    check(
        body,
        &two("n % 4"),
        expect![[r#"
            local0 p: bool count 2  @8:9
            inbounds v4, v2
            inbounds v7, v6
            inbounds v4, v2
            inbounds v11, v10
            inbounds v4, v2
            inbounds v15, v14
            v16: pointer.local = local0
            store v16, v18 align 1
            v22: pointer.local = offset v16, v21
            store v22, v20 align 1
            v23: bool = load v16 align 1
            v25: pointer.local = offset v16, v24
            v26: bool = load v25 align 1
            v29: pointer.global = offset v0, v28
            v31: float32 = load v29 align 4 when v23 else v30
            v36: pointer.global = offset v0, v35
            v38: float32 = load v36 align 4 when v26 else v37
            v41: pointer.global = offset v3, v40
            store v41, v31 align 4 when v23
            v46: pointer.global = offset v3, v45
            store v46, v38 align 4 when v26
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
            v13: pointer.global = offset v0, v12
            v14: float32 = load v13 align 4
            v18: pointer.global = offset v0, v17
            v19: float32 = load v18 align 4
            v25: pointer.global = offset v0, v24
            v26: float32 = load v25 align 4
            v32: pointer.global = offset v0, v31
            v33: float32 = load v32 align 4
            store v10, v14 align 4
            v35: pointer.local = offset v10, v34
            store v35, v19 align 4
            v37: pointer.local = offset v10, v36
            store v37, v26 align 4
            v39: pointer.local = offset v10, v38
            store v39, v33 align 4
            v41: pointer.local = offset v10, v40
            v42: float32 = load v41 align 4
            inbounds v43, v2
            inbounds v4, v1
            v46: pointer.global = offset v3, v45
            store v46, v42 align 4
            passed x, n: int64, m: int64, out
        "#]],
    );
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
            v18: pointer.shared = offset v8, v17
            store v18, v14 align 4
            store v9, v19 align 2
            inbounds v5, v7
            v23: pointer.shared = offset v8, v22
            v24: float32 = load v23 align 4
            inbounds v25, v2
            inbounds v5, v1
            v28: pointer.global = offset v3, v27
            store v28, v24 align 4
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
        v15: pointer.shared = offset v5, v14
        store v15, v10 align 4
        v20: pointer.shared = offset v5, v19
        v21: float32 = load v20 align 4
        inbounds v22, v2
        inbounds v4, v1
        v25: pointer.global = offset v3, v24
        store v25, v21 align 4
        passed x, n: int64, m: int64, out
        shared 65536
    "#]],
    );
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
            shared0 s: float32 bytes 1024 align 128
            v5: pointer.shared = shared0
            inbounds v7, v2
            inbounds v9, v11
            v27: pointer.global = offset v0, v26
            v28: float32x4 = load v27 align 16
            v41: pointer.shared = offset v5, v40
            store v41, v33 align 16
            v55: pointer.shared = offset v5, v54
            v56: float32 = load v55 align 4
            inbounds v57, v2
            inbounds v4, v1
            v60: pointer.global = offset v3, v59
            store v60, v56 align 4
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
        inbounds v4, v0
        store v2, v5 align 4
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
        v10: pointer.global = offset v0, v9
        v11: float16 = load v10 align 2
        inbounds v4, v1
        v14: pointer.global = offset v3, v13
        store v14, v11 align 2
        v16: pointer.global = offset v0, v15
        v17: uint8x4 = load v16 align 4
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
        v21: pointer.global = offset v0, v20
        v22: float32 = load v21 align 4
        v27: pointer.global = offset v1, v26
        store v27, v22 align 4
        v29: pointer.global = offset v0, v28
        v30: float32 = load v29 align 4
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
        store v2, v19 align 16
        passed x, m: int64, out
    "#]],
    );
}
