// SPDX-License-Identifier: Apache-2.0
//! Constants in addresses, and atomic operations.

use super::{expect_code, expect_instructions};
use expect_test::expect;

/// Elements `8 * (i + 3)`, `8 * i`, `8 * i + 3 - n`, the one behind it, `n - 3` and 9: what is
/// constant is in the instructions.
#[test]
fn what_is_constant_in_an_address_is_added_by_the_access() {
    expect_instructions(
        "kernel k(v0 x: pointer.global float32 align 4 written, v1 i: int64 0..1000000, v2 n: int64) {
           v3: int64 = const 3
           v4: int64 = add v1, v3
           v5: int64 = const 8
           v6: int64 = mul v4, v5
           v7: int64 = const 4
           v8: int64 = mul v6, v7
           v9: pointer.global = offset v0, v8
           v10: float32 = load v9 align 4
           v11: int64 = mul v1, v5
           v12: int64 = mul v11, v7
           v13: pointer.global = offset v0, v12
           store v13, v10 align 4
           v14: int64 = sub v3, v2
           v15: int64 = mul v7, v14
           v16: pointer.global = offset v13, v15
           store v16, v10 align 4
           v17: pointer.global = offset v16, v7
           store v17, v10 align 4
           v18: int64 = sub v2, v3
           v19: int64 = mul v18, v7
           v20: pointer.global = offset v0, v19
           store v20, v10 align 4
           v21: int64 = mul v5, v7
           v22: int64 = add v21, v7
           v23: pointer.global = offset v0, v22
           store v23, v10 align 4
           v24: int64 = mul v1, v2
           v25: pointer.global = offset v16, v24
           store v25, v10 align 4
         }",
        "sm_80",
        &["ld.global", "st.global"],
        expect![[r#"
            ld.global.b32  %r3, [%rd5+96];
            st.global.b32  [%rd5], %r3;
            st.global.b32  [%rd7+12], %r3;
            st.global.b32  [%rd7+16], %r3;
            st.global.b32  [%rd8+-12], %r3;
            st.global.b32  [%rd1+36], %r3;
            st.global.b32  [%rd9+12], %r3;
        "#]],
    );
}

#[test]
fn atomic_operations_are_instructions_of_their_names() {
    let rows = ["add", "min", "max", "and", "or", "xor", "exchange"];
    let mut listed = String::new();
    for row in rows {
        for (space, scalar) in [("global", "int32"), ("shared", "uint64")] {
            let text = format!(
                "kernel k(v0 p: pointer.global {scalar} align 8 written, v1 a: {scalar}) block [32, 1, 1] {{
                  shared0 s: {scalar} bytes 8 align 8
                  v2: pointer.shared = shared0
                  v3: {scalar} = call atomic.{row}({}, v1, relaxed, gpu)
                  store v0, v3 align 8
                }}",
                if space == "global" { "v0" } else { "v2" }
            );
            let ptx = super::ptx_of(&text, "sm_80");
            let words = ptx.split_whitespace().filter(|word| word.starts_with("atom."));
            listed += &format!("{row}: {}\n", words.collect::<Vec<_>>().join(" "));
        }
    }
    expect![[r#"
        add: atom.relaxed.gpu.global.add.u32
        add: atom.relaxed.gpu.shared.add.u64
        min: atom.relaxed.gpu.global.min.s32
        min: atom.relaxed.gpu.shared.min.u64
        max: atom.relaxed.gpu.global.max.s32
        max: atom.relaxed.gpu.shared.max.u64
        and: atom.relaxed.gpu.global.and.b32
        and: atom.relaxed.gpu.shared.and.b64
        or: atom.relaxed.gpu.global.or.b32
        or: atom.relaxed.gpu.shared.or.b64
        xor: atom.relaxed.gpu.global.xor.b32
        xor: atom.relaxed.gpu.shared.xor.b64
        exchange: atom.relaxed.gpu.global.exch.b32
        exchange: atom.relaxed.gpu.shared.exch.b64
    "#]]
    .assert_eq(&listed);
}

/// Where 1.0 and -1 are stored in an array of a thread, -1 is combined with a zero that the
/// assembler does not know: what `llvm/hidden.rs` is about.
#[test]
fn the_assembler_cannot_take_minus_one_for_one() {
    let kernel = |ty: &str, first: &str, other: u32| {
        format!(
            "kernel k(v0 x: pointer.global {ty} align 16 written, v1 i: int64 0..3, v2 f: {ty}) {{
               local0 a: {ty} count 8
               v3: pointer.local = local0
               v4: int32 = const -1
               v5: {ty} = bitcast v4
               store v3, v5 align 4
               v6: int64 = const 8
               v7: pointer.local = offset v3, v6
               v8: {ty}x2 = splat v5
               v9: {ty}x2 = insert v8, 0, v2
               store v7, v9 align 8
               v10: int64 = const 16
               v11: pointer.local = offset v3, v10
               v12: {ty}x2 = vector {first}, v2
               store v11, v12 align 8
               v13: int32 = const {other}
               v14: {ty} = bitcast v13
               v15: int64 = const 4
               v16: int64 = mul v1, v15
               v17: pointer.local = offset v3, v16
               store v17, v14 align 4
               v18: {ty} = load v17 align 4
               store v0, v18 align 4
             }}"
        )
    };
    let words = ["ld.const", "st.local", "xor", "not"];
    let one = 1f32.to_bits();
    expect_instructions(
        &kernel("float32", "v5", one),
        "sm_80",
        &words,
        expect![[r#"
        ld.const.b32  %r2, [k$zeros];
        not.b32  %r3, %r2;
        st.local.b32  [%rd2], %r3;
        ld.const.v2.b32  {%r4, %r5}, [k$zeros];
        xor.b32  %r7, %r6, %r4;
        not.b32  %r8, %r5;
        st.local.v2.b32  [%rd2+8], {%r7, %r8};
        xor.b32  %r9, %r6, %r5;
        not.b32  %r10, %r4;
        st.local.v2.b32  [%rd2+16], {%r10, %r9};
        st.local.b32  [%rd4], 1065353216;
    "#]],
    );
    expect_instructions(
        &kernel("uint32", "v5", one),
        "sm_80",
        &words,
        expect![[r#"
        ld.const.b32  %r3, [k$zeros];
        not.b32  %r4, %r3;
        st.local.b32  [%rd2], %r4;
        ld.const.v2.b32  {%r5, %r6}, [k$zeros];
        xor.b32  %r7, %r2, %r5;
        not.b32  %r8, %r6;
        st.local.v2.b32  [%rd2+8], {%r7, %r8};
        xor.b32  %r9, %r2, %r6;
        not.b32  %r10, %r5;
        st.local.v2.b32  [%rd2+16], {%r10, %r9};
        st.local.b32  [%rd4], 1065353216;
    "#]],
    );
    expect_instructions(
        &kernel("float32", "v2", one + 1),
        "sm_80",
        &words,
        expect![[r#"
        st.local.b32  [%rd2], -1;
        st.local.v2.b32  [%rd2+8], {%r2, 0fFFFFFFFF};
        st.local.v2.b32  [%rd2+16], {%r2, %r2};
        st.local.b32  [%rd4], 1065353217;
    "#]],
    );
}

/// Two halves as one float, which is neither -1 nor 1.0.
#[test]
fn constants_of_other_bits_may_be_stored_beside_one() {
    expect_instructions(
        "kernel k(v0 x: pointer.global float32 align 4 written, v1 i: int64 0..1) {
           local0 a: float32 count 2
           v2: pointer.local = local0
           v3: float16 = const 2.0
           v4: float16x2 = splat v3
           v5: float32 = bitcast v4
           store v2, v5 align 4
           v6: int64 = const 4
           v7: int64 = mul v1, v6
           v8: pointer.local = offset v2, v7
           v9: float32 = const 1.0
           store v8, v9 align 4
           v10: float32 = load v8 align 4
           store v0, v10 align 4
         }",
        "sm_80",
        &["ld.const", "st.local", "xor", "not"],
        expect![[r#"
            st.local.b32  [%rd2], 1073758208;
            st.local.b32  [%rd4], 1065353216;
        "#]],
    );
}

/// No number of bytes is said where they are known to be given; 16 bytes go past the cache.
#[test]
fn copies_in_flight_are_instructions_of_their_widths() {
    let copies = [4, 8, 16].map(|bytes| {
        format!(
            "call copy.async(v4, v0, {bytes}, v5)
             call copy.async(v4, v0, {bytes}, v1)
             call copy.commit()\n"
        )
    });
    expect_instructions(
        &format!(
            "kernel k(v0 x: pointer.global float32 align 16, v1 given: bool) {{
               shared0 tile: float32 bytes 16 align 16
               v4: pointer.shared = shared0
               v5: bool = const true
               {}
               call copy.wait(1)
               call copy.wait(0)
             }}",
            copies.concat()
        ),
        "sm_80",
        &["cp.async"],
        expect![[r#"
            cp.async.ca.shared.global [k$shared0], [%rd1], 4;
            cp.async.ca.shared.global [k$shared0], [%rd1], 4, %r1;
            cp.async.commit_group;
            cp.async.ca.shared.global [k$shared0], [%rd1], 8;
            cp.async.ca.shared.global [k$shared0], [%rd1], 8, %r2;
            cp.async.commit_group;
            cp.async.cg.shared.global [k$shared0], [%rd1], 16;
            cp.async.cg.shared.global [k$shared0], [%rd1], 16, %r3;
            cp.async.commit_group;
            cp.async.wait_group  1;
            cp.async.wait_group  0;
        "#]],
    );
}

/// Behind the wait lies what another launch has written meanwhile: that is no constant, and is not
/// read before.
#[test]
fn a_load_behind_a_wait_for_another_launch_stays_there() {
    let kernel = |wait: &str| {
        format!(
            "kernel k(v0 x: pointer.global int32 align 4 alone,
                v1 out: pointer.global int32 align 4 alone written) {{
                {wait}
                v2: int32 = load v0 align 4
                call griddepcontrol.launch_dependents()
                store v1, v2 align 4
            }}"
        )
    };
    expect_code(
        &kernel("call griddepcontrol.wait()"),
        "sm_90",
        expect![[r#"
        {
        ld.param.b64  %rd1, [k_param_0];
        griddepcontrol.wait;
        ld.param.b64  %rd2, [k_param_1];
        ld.global.b32  %r1, [%rd1];
        griddepcontrol.launch_dependents;
        st.global.b32  [%rd2], %r1;
        ret;
        }
    "#]],
    );
    expect_code(
        &kernel(""),
        "sm_90",
        expect![[r#"
        {
        ld.param.b64  %rd1, [k_param_0];
        ld.global.nc.b32  %r1, [%rd1];
        ld.param.b64  %rd2, [k_param_1];
        griddepcontrol.launch_dependents;
        st.global.b32  [%rd2], %r1;
        ret;
        }
    "#]],
    );
}
