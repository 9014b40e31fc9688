// SPDX-License-Identifier: Apache-2.0
//! Numbers: each operation on two integers is the instruction of its name and type.

use super::{expect_instructions, ptx_of};
use expect_test::expect;

/// The instructions between the loads of parameters and the store of the result.
fn instructions(op: &str, scalar: &str) -> String {
    let text = format!(
        "kernel k(v0 out: pointer.global {scalar} align 8 written, v1 a: {scalar}, v2 b: {scalar}) block [32, 1, 1] {{
          v3: {scalar} = {op} v1, v2
          store v0, v3 align 8
        }}"
    );
    let ptx = ptx_of(&text, "sm_80").replace('\t', " ");
    let code = ptx.lines().map(str::trim).skip_while(|line| *line != "{").skip(1);
    let words = code.map(|line| line.split_whitespace().next().unwrap_or(""));
    let of_numbers = words.filter(|word| {
        let ends = ["", "}", "ret;", ".reg"].contains(word);
        !ends && !word.starts_with("ld.param") && !word.starts_with("st.")
    });
    of_numbers.collect::<Vec<_>>().join(" ")
}

#[test]
fn operations_on_integers_are_instructions_of_their_type() {
    let ops = ["add", "sub", "mul", "mulhigh", "min", "max", "and", "or", "xor", "shl", "shr"];
    let mut listed = String::new();
    for op in ops {
        for scalar in ["int32", "uint32", "int64", "uint64"] {
            listed += &format!("{op} {scalar}: {}\n", instructions(op, scalar));
        }
    }
    expect![[r#"
        add int32: add.s32
        add uint32: add.s32
        add int64: add.s64
        add uint64: add.s64
        sub int32: sub.s32
        sub uint32: sub.s32
        sub int64: sub.s64
        sub uint64: sub.s64
        mul int32: mul.lo.s32
        mul uint32: mul.lo.s32
        mul int64: mul.lo.s64
        mul uint64: mul.lo.s64
        mulhigh int32: mul.hi.s32
        mulhigh uint32: mul.hi.u32
        mulhigh int64: mul.hi.s64
        mulhigh uint64: mul.hi.u64
        min int32: min.s32
        min uint32: min.u32
        min int64: min.s64
        min uint64: min.u64
        max int32: max.s32
        max uint32: max.u32
        max int64: max.s64
        max uint64: max.u64
        and int32: and.b32
        and uint32: and.b32
        and int64: and.b64
        and uint64: and.b64
        or int32: or.b32
        or uint32: or.b32
        or int64: or.b64
        or uint64: or.b64
        xor int32: xor.b32
        xor uint32: xor.b32
        xor int64: xor.b64
        xor uint64: xor.b64
        shl int32: shl.b32
        shl uint32: shl.b32
        shl int64: cvt.u32.u64 and.b32 shl.b64 setp.lt.u64 selp.b64
        shl uint64: cvt.u32.u64 and.b32 shl.b64 setp.lt.u64 selp.b64
        shr int32: min.u32 shr.s32
        shr uint32: shr.u32
        shr int64: min.u64 cvt.u32.u64 shr.s64
        shr uint64: cvt.u32.u64 and.b32 shr.u64 setp.lt.u64 selp.b64
    "#]]
    .assert_eq(&listed);
}

/// LLVM's text for operations on numbers with bounds.
fn given(params: &str, ops: &str) -> String {
    let text =
        format!("kernel k(v0 out: pointer.global int64 align 8 written, {params}) {{ {ops} }}");
    let kernel = super::kernel(&text);
    let llvm = super::super::llvm_text(&[&kernel], "sm_80".parse().expect("one"), false);
    let code = llvm.lines().skip_while(|line| !line.starts_with("entry:")).skip(1);
    let code = code.take_while(|line| !line.starts_with('}')).map(str::trim);
    let of_numbers = code.filter(|line| !line.starts_with("store") && !line.starts_with("ret"));
    of_numbers.map(|line| format!("{line}\n")).collect()
}

#[test]
fn what_is_known_of_numbers_is_said_of_their_instructions() {
    let ops = "
        v3: int64 = const 8
        v4: int64 = mul v1, v3
        v5: int64 = add v4, v2
        v6: int64 = sub v1, v2
        v7: int64 = mul v5, v6
        v8: int64 = add v7, v2
        store v0, v8 align 8";
    let bounded = "v1 a: int64 0..1000, v2 b: int64 0..1000";
    expect![[r#"
        %3 = trunc nuw nsw i64 %1 to i32
        %4 = trunc nuw nsw i64 %2 to i32
        %5 = shl nuw nsw i32 %3, 3
        %6 = add nuw nsw i32 %5, %4
        %7 = sub nsw i32 %3, %4
        %8 = mul nsw i32 %6, %7
        %9 = add nsw i32 %8, %4
        %10 = sext i32 %9 to i64
    "#]]
    .assert_eq(&given(bounded, ops));
    let with_signs = "v1 a: int64 -1000..1000, v2 b: int64 0..1000";
    expect![[r#"
        %3 = trunc nsw i64 %1 to i32
        %4 = trunc nuw nsw i64 %2 to i32
        %5 = shl nsw i32 %3, 3
        %6 = add nsw i32 %5, %4
        %7 = sub nsw i32 %3, %4
        %8 = mul nsw i32 %6, %7
        %9 = add nsw i32 %8, %4
        %10 = sext i32 %9 to i64
    "#]]
    .assert_eq(&given(with_signs, ops));
    let of_any_size = "v1 a: int64, v2 b: int64 0..";
    expect![[r#"
        %3 = shl i64 %1, 3
        %4 = add i64 %3, %2
        %5 = sub i64 %1, %2
        %6 = mul i64 %4, %5
        %7 = add i64 %6, %2
    "#]]
    .assert_eq(&given(of_any_size, ops));
}

#[test]
fn division_by_a_power_of_two_is_a_shift_that_keeps_a_sign() {
    let ops = "
        v3: int64 = const 8
        v4: int64 = floordiv v1, v3
        v5: int64 = floordiv v2, v3
        v6: int64 = floormod v1, v3
        v7: int64 = add v4, v5
        v8: int64 = add v7, v6
        store v0, v8 align 8";
    expect![[r#"
        %3 = ashr i64 %1, 3
        %4 = lshr i64 %2, 3
        %5 = and i64 %1, 7
        %6 = trunc nuw nsw i64 %5 to i32
        %7 = add nsw i64 %3, %4
        %8 = zext nneg i32 %6 to i64
        %9 = add nsw i64 %7, %8
    "#]]
    .assert_eq(&given("v1 a: int64, v2 b: int64 0..", ops));
}

#[test]
fn bfloats_of_a_loaded_vector_are_halves_of_its_words() {
    let text = "kernel k(v0 x: pointer.global bfloat16 align 8, v1 y: pointer.global float32 align 4 written) {
        v2: bfloat16x4 = load v0 align 8
        v3: bfloat16 = extract v2, 1
        v4: bfloat16 = extract v2, 2
        v5: float32 = convert v3
        v6: float32 = convert v4
        v7: float32 = add v5, v6
        store v1, v7 align 4
    }";
    let words = ["ld.global", "mov.b32", "shl", "and", "cvt", "add"];
    expect_instructions(
        text,
        "sm_90",
        &words,
        expect![[r#"
            ld.global.v2.b32  {%r1, %r2}, [%rd1];
            and.b32  %r3, %r1, -65536;
            shl.b32  %r4, %r2, 16;
            add.rn.f32  %r5, %r3, %r4;
        "#]],
    );
    let of_others = "kernel k(v0 x: pointer.global int64 align 16, v1 y: pointer.global float32 align 4 written) {
        v2: int64x2 = load v0 align 16
        v3: int64 = extract v2, 1
        v4: float32 = convert v3
        store v1, v4 align 4
    }";
    expect_instructions(
        of_others,
        "sm_90",
        &["cvt"],
        expect![[r#"
        cvt.rn.f32.s64  %r1, %rd3;
    "#]],
    );
}
