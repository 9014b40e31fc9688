// SPDX-License-Identifier: Apache-2.0
//! Kernels in text, to PTX.

mod boxes;
mod halves;
mod matrices;
mod mbarriers;
mod memory;
mod numbers;
mod qualified;
mod wgmma;
mod wide;

use super::*;
use expect_test::{Expect, expect};
use kernpack_kernel_ir::text::{self, Item};

pub(super) fn kernel(text: &str) -> Kernel {
    let items = text::parse(&text.into()).unwrap_or_else(|problems| panic!("{problems}"));
    match items.into_iter().next() {
        Some(Item::Kernel(kernel)) => kernel,
        other => panic!("{other:?}"),
    }
}

fn ptx_of(text: &str, arch: &str) -> String {
    let mut kernel = kernel(text);
    kernpack_kernel_ir::expand(&mut kernel);
    kernpack_kernel_ir::verify(&kernel).unwrap_or_else(|problems| panic!("{problems}"));
    ptx(&[&kernel], arch.parse().expect(arch), false).expect("it is right").text
}

/// The instructions of a kernel.
fn expect_code(text: &str, arch: &str, expected: Expect) {
    let ptx = ptx_of(text, arch).replace('\t', " ");
    let lines = ptx.lines().map(str::trim);
    let code = lines.skip_while(|line| *line != "{").filter(|line| !line.starts_with(".reg"));
    let code: Vec<_> = code.filter(|line| !line.is_empty()).collect();
    expected.assert_eq(&format!("{}\n", code.join("\n")));
}

const ADD_ONE: &str = include_str!("tests/add_one.kir");
const REDUCE_SUM: &str = include_str!("tests/reduce_sum.kir");

/// Of so many operations that no other one shares its module.
fn large(name: &str) -> Kernel {
    let squares = (2..ENOUGH_OPERATIONS).map(|at| format!("v{at}: int64 = mul v{0}, v{0}", at - 1));
    let squares = squares.collect::<Vec<_>>().join("\n");
    let last = ENOUGH_OPERATIONS - 1;
    kernel(&format!(
        "kernel {name}(v0 x: pointer.global int64 align 8 written, v1 n: int64) {{\n\
         {squares}\nstore v0, v{last} align 8\n}}"
    ))
}

#[test]
fn small_kernels_share_a_module_and_all_share_a_text() {
    let named = |name: &str| Kernel { name: name.into(), ..kernel(ADD_ONE) };
    let kernels = [named("a"), named("b"), large("c"), large("d"), named("e"), named("f")];
    let kernels: Vec<_> = kernels.iter().collect();
    let sizes: Vec<_> = in_modules(&kernels).iter().map(|module| module.len()).collect();
    assert_eq!(sizes, [3, 1, 2]);
    let text = ptx(&kernels, "sm_90".parse().expect("it is one"), false).expect("right").text;
    let entries: Vec<_> = text.split(".entry ").skip(1).map(|entry| &entry[..2]).collect();
    assert_eq!(entries, ["a(", "b(", "c(", "d(", "e(", "f("]);
    assert_eq!(text.matches(".version").count(), 1, "{text}");
}

/// `x[i] = (n + i) * m` for four `i`, behind a product of matrices where there is one.
fn sums(name: &str, product: &str) -> Kernel {
    kernel(&format!(
        "kernel {name}(v0 x: pointer.global int32 align 4 written, v1 n: int32, v2 m: int32)
            block [32, 1, 1] {{
            v3: int32 = const 2
            v4: int32 = const 3
            v5: int32 = const 4
            v6: int64 = const 4
            v7: int64 = const 8
            v8: int32 = add v1, v3
            v9: int32 = mul v8, v2
            v10: int32 = add v1, v4
            v11: int32 = mul v10, v2
            v12: int32 = add v1, v5
            v13: int32 = mul v12, v2
            v14: pointer.global = offset v0, v6
            v15: pointer.global = offset v0, v7
            store v0, v9 align 4
            store v14, v11 align 4
            store v15, v13 align 4
            {product}
        }}"
    ))
}

const PRODUCT: &str = "
    v16: int32x4 = load v0 align 4
    v17: int8x16 = bitcast v16
    v18: int32x2 = load v0 align 4
    v19: int8x8 = bitcast v18
    v20: int32x4 = call mma.m16n8k32(v17, v19, v16)
    store v0, v20 align 4";

/// The code generator reduces the strength of what stands in no kernel with matrix units, whatever
/// stands beside it.
#[test]
fn kernels_with_matrix_units_have_modules_of_their_own() {
    let kernels = [sums("a", ""), sums("b", PRODUCT), sums("c", PRODUCT), sums("d", "")];
    let kernels: Vec<_> = kernels.iter().collect();
    let sizes: Vec<_> = in_modules(&kernels).iter().map(|module| module.len()).collect();
    assert_eq!(sizes, [1, 2, 1]);
    let text = ptx(&kernels, "sm_90".parse().expect("it is one"), false).expect("right").text;
    let products = text.split(".entry ").skip(1).map(|entry| entry.matches("mul.lo.s32").count());
    assert_eq!(products.collect::<Vec<_>>(), [1, 3, 3, 1]);
}

#[test]
fn demands_are_directives() {
    let directives = |head: &str| {
        let text = ptx_of(&format!("kernel k() {head} {{}}"), "sm_80");
        let lines = text.lines().skip_while(|line| !line.contains(".entry"));
        let lines = lines.filter(|line| line.starts_with('.'));
        lines.skip(1).map(str::to_string).collect::<Vec<_>>()
    };
    assert_eq!(directives("block [256, 1, 1]"), [".reqntid 256, 1, 1"]);
    let blocks = directives("block [256, 1, 1] min_blocks 4");
    assert_eq!(blocks, [".reqntid 256, 1, 1", ".minnctapersm 4"]);
    assert_eq!(directives("max_registers 64"), [".maxnreg 64"]);
}

#[test]
fn add_one() {
    expect_code(
        ADD_ONE,
        "sm_90a",
        expect![[r#"
            {
            ld.param.b64  %rd5, [add_one_param_2];
            mov.u32  %r1, %ctaid.x;
            mul.wide.u32  %rd6, %r1, 256;
            mov.u32  %r2, %tid.x;
            cvt.u64.u32  %rd7, %r2;
            add.s64  %rd8, %rd6, %rd7;
            setp.ge.s64  %p1, %rd8, %rd5;
            @%p1 bra  $L__BB0_2;
            ld.param.b64  %rd3, [add_one_param_0];
            ld.param.b64  %rd4, [add_one_param_1];
            cvt.u32.u64  %r3, %rd8;
            mul.wide.u32  %rd9, %r3, 4;
            add.s64  %rd1, %rd3, %rd9;
            add.s64  %rd2, %rd4, %rd9;
            ld.global.nc.b32  %r4, [%rd1];
            add.rn.f32  %r5, %r4, 0f3F800000;
            st.global.b32  [%rd2], %r5;
            $L__BB0_2:
            ret;
            }
        "#]],
    );
}

#[test]
fn reduce_sum() {
    expect_code(
        REDUCE_SUM,
        "sm_80",
        expect![[r#"
            {
            // demoted variable
            .shared .align 4 .b8 reduce_sum$shared0[32];
            ld.param.b64  %rd4, [reduce_sum_param_1];
            ld.param.b64  %rd5, [reduce_sum_param_0];
            ld.param.b32  %r1, [reduce_sum_param_2];
            mov.u32  %r2, %ctaid.x;
            mov.u32  %r3, %tid.x;
            shl.b32  %r30, %r3, 2;
            mul.wide.u32  %rd6, %r2, %r1;
            shl.b64  %rd7, %rd6, 2;
            mul.wide.u32  %rd8, %r3, 16;
            add.s64  %rd9, %rd7, %rd8;
            add.s64  %rd14, %rd5, %rd9;
            mov.b32  %r29, 0f00000000;
            $L__BB0_1:
            setp.ge.s32  %p1, %r30, %r1;
            @%p1 bra  $L__BB0_3;
            ld.global.nc.v4.b32  {%r22, %r23, %r24, %r25}, [%rd14];
            add.rn.f32  %r26, %r22, %r23;
            add.rn.f32  %r27, %r24, %r25;
            add.rn.f32  %r28, %r26, %r27;
            add.rn.f32  %r29, %r29, %r28;
            add.s32  %r30, %r30, 1024;
            add.s64  %rd14, %rd14, 4096;
            bra.uni  $L__BB0_1;
            $L__BB0_3:
            shfl.sync.bfly.b32  %r8, %r29, 16, 31, -1;
            add.rn.f32  %r9, %r29, %r8;
            shfl.sync.bfly.b32  %r10, %r9, 8, 31, -1;
            add.rn.f32  %r11, %r9, %r10;
            shfl.sync.bfly.b32  %r12, %r11, 4, 31, -1;
            add.rn.f32  %r13, %r11, %r12;
            shfl.sync.bfly.b32  %r14, %r13, 2, 31, -1;
            add.rn.f32  %r15, %r13, %r14;
            shfl.sync.bfly.b32  %r16, %r15, 1, 31, -1;
            and.b32  %r5, %r3, 31;
            shr.u32  %r6, %r3, 5;
            setp.ne.b32  %p2, %r5, 0;
            mov.b64  %rd11, reduce_sum$shared0;
            @%p2 bra  $L__BB0_5;
            add.rn.f32  %r4, %r15, %r16;
            mul.wide.u32  %rd10, %r6, 4;
            add.s64  %rd1, %rd11, %rd10;
            st.shared.b32  [%rd1], %r4;
            $L__BB0_5:
            bar.sync  0;
            setp.ne.b32  %p3, %r6, 0;
            @%p3 bra  $L__BB0_10;
            setp.lt.s32  %p4, %r5, 8;
            mov.b32  %r31, 0f00000000;
            @%p4 bra  $L__BB0_7;
            bra.uni  $L__BB0_8;
            $L__BB0_7:
            mul.wide.u32  %rd12, %r5, 4;
            add.s64  %rd2, %rd11, %rd12;
            ld.shared.b32  %r31, [%rd2];
            $L__BB0_8:
            shfl.sync.bfly.b32  %r17, %r31, 4, 31, -1;
            add.rn.f32  %r18, %r31, %r17;
            shfl.sync.bfly.b32  %r19, %r18, 2, 31, -1;
            add.rn.f32  %r20, %r18, %r19;
            shfl.sync.bfly.b32  %r21, %r20, 1, 31, -1;
            @%p2 bra  $L__BB0_10;
            add.rn.f32  %r7, %r20, %r21;
            mul.wide.u32  %rd13, %r2, 4;
            add.s64  %rd3, %rd4, %rd13;
            st.global.b32  [%rd3], %r7;
            $L__BB0_10:
            ret;
            }
        "#]],
    );
}

/// Of a kernel's instructions, those that begin with one of these words.
fn expect_instructions(text: &str, arch: &str, words: &[&str], expected: Expect) {
    let ptx = ptx_of(text, arch).replace('\t', " ");
    let lines = ptx.lines().map(str::trim);
    let told = lines.filter(|line| words.iter().any(|word| line.starts_with(word)));
    expected.assert_eq(&told.map(|line| format!("{line}\n")).collect::<String>());
}

#[test]
fn loads_are_of_constants_where_nobody_writes() {
    let kernel = |a: &str, b: &str| {
        format!(
            "kernel k(v0 a: pointer.global float32 align 4 {a}, v1 b: pointer.global float32 align 4 {b} written) {{
               v2: float32 = load v0 align 4
               store v1, v2 align 4
             }}"
        )
    };
    let words = ["ld.global"];
    expect_instructions(
        &kernel("alone", ""),
        "sm_80",
        &words,
        expect![[r#"
        ld.global.nc.b32  %r1, [%rd1];
    "#]],
    );
    expect_instructions(
        &kernel("", ""),
        "sm_80",
        &words,
        expect![[r#"
        ld.global.b32  %r1, [%rd1];
    "#]],
    );
    expect_instructions(
        &kernel("written", ""),
        "sm_80",
        &words,
        expect![[r#"
        ld.global.b32  %r1, [%rd1];
    "#]],
    );
    expect_instructions(
        &kernel("alone written", "alone"),
        "sm_80",
        &words,
        expect![[r#"
        ld.global.b32  %r1, [%rd1];
    "#]],
    );
}

/// Memory that other ranks write meanwhile is not read by way of a cache that is not told of it.
#[test]
fn loads_are_of_no_constants_where_the_kernel_hears_of_other_ranks() {
    let kernel = |scope: &str| {
        format!(
            "kernel k(v0 inbox: pointer.global float32 align 4 alone, v1 flag: pointer.global int32 align 4 alone written, v2 y: pointer.global float32 align 4 alone written) {{
               v3: int32 = call atomic.load.int32(v1, acquire, {scope})
               v4: float32 = load v0 align 4
               store v2, v4 align 4
             }}"
        )
    };
    let words = ["ld.global"];
    expect_instructions(
        &kernel("gpu"),
        "sm_80",
        &words,
        expect![[r#"
        ld.global.nc.b32  %r2, [%rd2];
    "#]],
    );
    expect_instructions(
        &kernel("sys"),
        "sm_80",
        &words,
        expect![[r#"
        ld.global.b32  %r2, [%rd2];
    "#]],
    );
}

#[test]
fn an_index_is_computed_in_32_bits_where_bounds_prove_it() {
    let kernel = |facts: &str| {
        format!(
            "kernel k(v0 p: pointer.global int64 align 8 written, v1 n: int64 {facts}, v2 m: int64 {facts}) {{
               v3: int64 = floordiv v1, v2
               v4: int64 = floormod v1, v2
               v5: int64 = add v3, v4
               v6: bool = lt v5, v1
               store v0, v5 align 8 when v6
             }}"
        )
    };
    let words = ["div", "rem", "mul", "add", "setp.lt", "setp.ge"];
    expect_instructions(
        &kernel("1..65536"),
        "sm_90",
        &words,
        expect![[r#"
        div.u32  %r3, %r1, %r2;
        mul.lo.s32  %r4, %r3, %r2;
        add.s32  %r6, %r3, %r5;
        setp.ge.s32  %p1, %r6, %r1;
    "#]],
    );
    expect_instructions(
        &kernel("0..65536"),
        "sm_90",
        &words,
        expect![[r#"
            div.u32  %r5, %r1, %r4;
            mul.lo.s32  %r9, %r5, %r4;
            add.s32  %r13, %r8, %r12;
            setp.ge.s32  %p3, %r13, %r1;
        "#]],
    );
    expect_instructions(
        &kernel("1.."),
        "sm_90",
        &words,
        expect![[r#"
        div.u64  %rd8, %rd3, %rd4;
        mul.lo.s64  %rd7, %rd8, %rd4;
        div.u32  %r3, %r2, %r1;
        mul.lo.s32  %r4, %r3, %r1;
        add.s64  %rd1, %rd8, %rd9;
        setp.ge.s64  %p2, %rd1, %rd3;
    "#]],
    );
    // What a pointer is moved by has 64 bits, where the index has 32.
    let large = "kernel k(v0 p: pointer.global float64 align 8 written, v1 n: int64 0..2000000000, v2 x: float64) {
        v3: int64 = const 8
        v4: int64 = mul v1, v3
        v5: pointer.global = offset v0, v4
        store v5, v2 align 8
    }";
    expect_instructions(
        large,
        "sm_90",
        &["mul", "shl", "add"],
        expect![[r#"
            mul.wide.u32  %rd3, %r1, 8;
            add.s64  %rd4, %rd1, %rd3;
        "#]],
    );
}

#[test]
fn short_integers_are_extended_by_themselves() {
    expect_instructions(
        "kernel k(v0 p: pointer.global int16 align 4 written) {
           v1: int16 = load v0 align 2
           v2: int32 = convert v1
           v3: int32 = const 16
           v4: int32 = shr v2, v3
           v5: int16 = convert v4
           store v0, v5 align 2
         }",
        "sm_80",
        &["ld.global", "cvt", "st.global"],
        expect![[r#"
            ld.global.b16  %rs1, [%rd1];
            cvt.s32.s16  %r1, %rs1;
            st.global.b16  [%rd1], %r2;
        "#]],
    );
}

#[test]
fn halves_are_rounded_by_each_operation() {
    let kernel = |ty: &str| {
        format!(
            "kernel k(v0 p: pointer.global {ty} align 2 written, v1 a: {ty}, v2 b: {ty}, v3 c: int64, v4 d: float64) {{
               v5: {ty} = mul v1, v2
               v6: {ty} = add v5, v1
               v7: {ty} = div v6, v2
               v8: {ty} = convert v3
               v9: {ty} = convert v4
               v10: {ty} = min v7, v8
               v11: {ty} = max v10, v9
               store v0, v11 align 2
             }}"
        )
    };
    let words = ["mul", "add", "fma", "div", "cvt", "min", "max"];
    expect_instructions(
        &kernel("float16"),
        "sm_80",
        &words,
        expect![[r#"
        mul.rn.f16  %rs3, %rs1, %rs2;
        add.rn.f16  %rs4, %rs3, %rs1;
        cvt.f32.f16  %r1, %rs4;
        cvt.f32.f16  %r2, %rs2;
        div.rn.f32  %r3, %r1, %r2;
        cvt.rn.f16.f32  %rs5, %r3;
        cvt.rz.f32.s64  %r4, %rd2;
        cvt.rzi.s64.f32  %rd4, %r4;
        cvt.rn.f16.f32  %rs6, %r6;
        cvt.rz.f32.f64  %r7, %rd3;
        cvt.f64.f32  %rd5, %r7;
        cvt.rn.f16.f32  %rs7, %r9;
        min.f16  %rs8, %rs5, %rs6;
        max.f16  %rs9, %rs8, %rs7;
    "#]],
    );
    expect_instructions(
        &kernel("bfloat16"),
        "sm_80",
        &words,
        expect![[r#"
        fma.rn.bf16  %rs4, %rs2, %rs3, %rs1;
        fma.rn.bf16  %rs6, %rs4, %rs5, %rs2;
        cvt.u32.u16  %r1, %rs6;
        cvt.u32.u16  %r3, %rs3;
        div.rn.f32  %r5, %r2, %r4;
        cvt.rn.bf16.f32  %rs7, %r5;
        cvt.rz.f32.s64  %r6, %rd2;
        cvt.rzi.s64.f32  %rd4, %r6;
        cvt.rn.bf16.f32  %rs8, %r8;
        cvt.rz.f32.f64  %r9, %rd3;
        cvt.f64.f32  %rd5, %r9;
        cvt.rn.bf16.f32  %rs9, %r11;
        min.bf16  %rs10, %rs7, %rs8;
        max.bf16  %rs11, %rs10, %rs9;
    "#]],
    );
    expect_instructions(
        &kernel("bfloat16"),
        "sm_90",
        &words,
        expect![[r#"
        mul.rn.bf16  %rs3, %rs1, %rs2;
        add.rn.bf16  %rs4, %rs3, %rs1;
        cvt.f32.bf16  %r1, %rs4;
        cvt.f32.bf16  %r2, %rs2;
        div.rn.f32  %r3, %r1, %r2;
        cvt.rn.bf16.f32  %rs5, %r3;
        cvt.rz.f32.s64  %r4, %rd2;
        cvt.rzi.s64.f32  %rd4, %r4;
        cvt.rn.bf16.f32  %rs6, %r6;
        cvt.rz.f32.f64  %r7, %rd3;
        cvt.f64.f32  %rd5, %r7;
        cvt.rn.bf16.f32  %rs7, %r9;
        min.bf16  %rs8, %rs5, %rs6;
        max.bf16  %rs9, %rs8, %rs7;
    "#]],
    );
}

#[test]
fn atomic_operations_say_order_and_scope() {
    let text = "kernel k(v0 p: pointer.global int32 align 4 written, v1 n: int32, v2 h: bfloat16) {
        v3: int32 = call atomic.add(v0, v1, relaxed, gpu)
        v4: int32 = call atomic.cas(v0, v3, v1, acq_rel, block)
        v5: int32 = call atomic.load.int32(v0, acq_rel, sys)
        call atomic.store(v0, v5, acquire, gpu)
        v6: bfloat16 = call atomic.add(v0, v2, release, gpu)
        call fence(block)
    }";
    let words = ["atom", "ld.r", "ld.a", "st.r", "fence", "fma"];
    expect_instructions(
        text,
        "sm_80",
        &words,
        expect![[r#"
            atom.relaxed.gpu.global.add.u32 %r2, [%rd1], %r3;
            atom.acq_rel.cta.global.cas.b32 %r1, [%rd1], %r2, %r3;
            fence.acq_rel.sys;
            ld.acquire.sys.global.b32 %r4, [%rd1];
            st.relaxed.gpu.global.b32 [%rd1], %r4;
            fence.acq_rel.gpu;
            ld.relaxed.gpu.global.b16 %rs5, [%rd1];
            fma.rn.bf16  %rs3, %rs5, %rs4, %rs2;
            atom.release.gpu.global.cas.b16 %rs1, [%rd1], %rs5, %rs3;
            fence.acq_rel.cta;
        "#]],
    );
    expect_instructions(
        text,
        "sm_90",
        &["atom.release"],
        expect![[r#"
        atom.release.gpu.global.add.noftz.bf16 %rs1, [%rd1], %rs2;
    "#]],
    );
}

#[test]
fn arrays_of_a_block_are_the_kernels_or_the_launchs() {
    let kernel = |size: &str| {
        format!(
            "kernel k(v0 p: pointer.global float32 align 4 written, v1 n: int64 0..) {{
               shared0 a: float32 bytes 16 align 16
               shared1 b: float32 bytes {size} align 128
               v2: pointer.shared = shared1
               v3: float32 = const 1.0
               store v2, v3 align 4
               call barrier()
               v4: float32 = load v2 align 4
               store v0, v4 align 4
             }}"
        )
    };
    let words = [".shared", ".extern", "mov.b64", "st.shared"];
    expect_instructions(
        &kernel("4096"),
        "sm_90",
        &words,
        expect![[r#"
        .shared .align 16 .b8 k$shared0[16];
        .shared .align 128 .b8 k$shared1[4096];
        st.shared.b32  [k$shared1], 1065353216;
    "#]],
    );
    expect_instructions(
        &kernel("49152"),
        "sm_90",
        &words,
        expect![[r#"
        .extern .shared .align 128 .b8 k$shared[];
        st.shared.b32  [k$shared+128], 1065353216;
    "#]],
    );
    expect_instructions(
        &kernel("v1"),
        "sm_90",
        &words,
        expect![[r#"
        .extern .shared .align 128 .b8 k$shared[];
        st.shared.b32  [k$shared+128], 1065353216;
    "#]],
    );
}

#[test]
fn lines_and_ptx_are_as_written() {
    let text = r#"kernel k(v0 n: int32, v1 x: float16, v2 is: bool) {
        s0 t: int32 s1 two: float16x2 s2 one: float32
        print "100% of {}: {} {}", v0, v1, v2
        ptx "{ .reg .b32 t; mov.b32 t, {1}; mov.b32 {0}, t; }" v0 effects sets s0
        v3: int32 = get s0
        ptx "two {0}, {1}, {2};" v0 effects sets s1, s2
        v4: float16x2 = get s1
        ptx "two {0};" v4
        ptx "nanosleep.u32 {0};" v3
    }"#;
    let ptx = ptx_of(text, "sm_80");
    let format = "100%% of %lld: %g %s\n".bytes().map(|byte| byte.to_string());
    assert!(ptx.contains(&format.collect::<Vec<_>>().join(", ")), "{ptx}");
    expect_instructions(
        text,
        "sm_80",
        &["{ .reg", "nanosleep", "two", "vprintf"],
        expect![[r#"
            { .reg .b32 t; mov.b32 t, %r2; mov.b32 %r3, t; }
            two {%rs1, %rs2}, %r1, %r2;
            two {%rs1, %rs2};
            nanosleep.u32 %r3;
        "#]],
    );
}

/// The record is behind the parameters; who fails looks at it, takes it, and says that it is whole.
#[test]
fn assertions_are_written_down() {
    let text = r#"kernel k(v0 is: bool, v1 n: int8) files "folder/k.py" {
        assert v0, "{} of\n", v1  @7:1
    }"#;
    let ptx = ptx_of(text, "sm_80");
    assert!(ptx.contains(".param .u64 .ptr .global .align 8 k_param_2"), "{ptx}");
    let words = "k\0k.py:7\0s\0\0 of\n".bytes().map(|byte| byte.to_string());
    assert!(ptx.contains(&words.collect::<Vec<_>>().join(", ")), "{ptx}");
    let words = ["activemask", "ld.relaxed", "atom.relaxed", "st.release", "cvt"];
    expect_instructions(
        text,
        "sm_80",
        &words,
        expect![[r#"
            ld.relaxed.sys.global.u32 %r4, [%rd4];
            ld.relaxed.sys.global.u32 %r2, [%rd5];
            atom.relaxed.gpu.global.cas.b32 %r3, [%rd5], %r4, %r5;
            cvt.u64.u16  %rd3, %rs3;
            cvt.s64.s8  %rd1, %rd3;
            st.release.sys.global.u32 [%rd2], %r5;
        "#]],
    );
}

/// As an assertion is. An index without a sign is compared once.
#[test]
fn checks_are_written_down() {
    let text = r#"kernel k(v0 i: int32, v1 n: int32, v2 j: uint64, v3 m: uint64) files "folder/k.py" {
        inbounds v0, v1 of "x"  @7:1
        inbounds v2, v3 of "y"  @8:1
        inbounds v0, v1
    }"#;
    let ptx = ptx_of(text, "sm_80");
    assert!(ptx.contains(".param .u64 .ptr .global .align 8 k_param_4"), "{ptx}");
    for words in [
        "k\0k.py:7\0ss\0index \0 of `x` is out of bounds: the extent is ",
        "k\0k.py:8\0uu\0index \0 of `y` is out of bounds: the extent is ",
    ] {
        let words: Vec<_> = words.bytes().map(|byte| byte.to_string()).collect();
        assert!(ptx.contains(&words.join(", ")), "{ptx}");
    }
    let words = ["setp.ge.s", "setp.lt", "setp.le", "setp.gt", "setp.ge.u", "st.release"];
    expect_instructions(
        text,
        "sm_80",
        &words,
        expect![[r#"
        setp.gt.s64  %p1, %rd1, -1;
        setp.lt.s64  %p2, %rd1, %rd2;
        setp.lt.u64  %p9, %rd3, %rd4;
        st.release.sys.global.u32 [%rd5], %r5;
        st.release.sys.global.u32 [%rd5], %r16;
    "#]],
    );
}

/// Checks of the library are told at the line of the user's that calls it.
#[test]
fn checks_of_the_library_are_told_where_it_is_called() {
    let text = r#"kernel k(v0 i: int32, v1 n: int32) files "k.py", "<kernpack>/pipeline.py" {
        inbounds v0, v1 of "full" @"<kernpack>/pipeline.py":83:1 < @"k.py":9:5
    }"#;
    let ptx = ptx_of(text, "sm_80");
    let words: Vec<_> = "k\0k.py:9\0ss\0".bytes().map(|byte| byte.to_string()).collect();
    assert!(ptx.contains(&words.join(", ")), "{ptx}");
}

/// Whoever fails a check again has been told of already; on another way nobody has.
#[test]
fn what_was_checked_is_not_checked_again() {
    let text = r#"kernel k(v0 i: uint64, v1 n: uint64, v2 is: bool) files "k.py" {
        if v2 {
            inbounds v1, v0 of "first"
            inbounds v1, v0 of "again"
        }
        inbounds v1, v0 of "behind"
        if v2 { inbounds v1, v0 of "within" }
        inbounds v0, v1 of "other"
    }"#;
    let ptx = ptx_of(text, "sm_80");
    let told = |name: &str| {
        let bytes: Vec<_> = name.bytes().map(|byte| byte.to_string()).collect();
        ptx.contains(&bytes.join(", "))
    };
    assert_eq!(["first", "behind", "other"].map(told), [true; 3], "{ptx}");
    assert_eq!(["again", "within"].map(told), [false; 2], "{ptx}");
}

/// A step that may be 0, or sums that may overflow, cost a comparison; what is proved costs none.
#[test]
fn loops_end_where_sums_overflow() {
    let kernel = |end: &str, step: &str| {
        format!(
            "kernel k(v0 p: pointer.global int64 align 8 written, v1 end: int64 {end}, v2 step: int64 {step}) {{
               v3: int64 = const 0
               for v4: int64 = v3 to v1 step v2 {{ store v0, v4 align 8 }}
             }}"
        )
    };
    let words = ["setp", "add", "sub"];
    expect_instructions(
        &kernel("0..1000", "1..4"),
        "sm_90",
        &words,
        expect![[r#"
            setp.ge.s32  %p1, %r3, %r1;
            add.s32  %r3, %r3, %r2;
        "#]],
    );
    expect_instructions(
        &kernel("", ""),
        "sm_90",
        &words,
        expect![[r#"
            setp.gt.s64  %p1, %rd4, 0;
            setp.lt.s64  %p2, %rd3, 1;
            add.s64  %rd1, %rd3, -1;
            setp.ne.b64  %p3, %rd6, 0;
            add.s64  %rd8, %rd9, 1;
            add.s64  %rd7, %rd7, %rd4;
            add.s64  %rd8, %rd8, -1;
            setp.ne.b64  %p4, %rd8, 0;
        "#]],
    );
}

/// A loop that counts in 32 bits may begin at a number that has more of them: it has no turns then.
#[test]
fn a_loop_begins_no_further_than_it_ends() {
    let kernel = "kernel k(v0 p: pointer.global int64 align 8 written, v1 first: int64 0.., v2 end: int64 0..1000) {
       v3: int64 = const 1
       for v4: int64 = v1 to v2 step v3 { store v0, v4 align 8 }
     }";
    expect_instructions(
        kernel,
        "sm_90",
        &["setp", "min", "cvt"],
        expect![[r#"
        cvt.u32.u64  %r1, %rd2;
        min.s64  %rd4, %rd3, %rd2;
        cvt.u32.u64  %r2, %rd4;
        setp.ge.s32  %p1, %r2, %r1;
        cvt.u64.u32  %rd5, %r2;
    "#]],
    );
}
