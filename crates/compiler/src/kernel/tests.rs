// SPDX-License-Identifier: Apache-2.0
//! Kernels in text, to PTX.

mod everything;

use super::*;
use expect_test::{Expect, expect};
use kernpack_kernel_ir::text::{self, Item};

fn kernel(text: &str) -> Kernel {
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

#[test]
fn add_one() {
    expect_code(
        ADD_ONE,
        "sm_90a",
        expect![[r#"
        {
        mov.u32  %r1, %ctaid.x;
        ld.param.s32  %rd5, [add_one_param_2];
        mul.wide.u32  %rd6, %r1, 256;
        mov.u32  %r2, %tid.x;
        cvt.u64.u32  %rd7, %r2;
        add.s64  %rd8, %rd6, %rd7;
        setp.ge.s64  %p1, %rd8, %rd5;
        @%p1 bra  $L__BB0_2;
        ld.param.b64  %rd3, [add_one_param_0];
        ld.param.b64  %rd4, [add_one_param_1];
        cvt.u32.u64  %r3, %rd8;
        mul.wide.s32  %rd9, %r3, 4;
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
            ld.param.b64  %rd6, [reduce_sum_param_2];
            cvt.u32.u64  %r1, %rd6;
            mov.u32  %r2, %ctaid.x;
            mov.u32  %r3, %tid.x;
            shl.b32  %r4, %r3, 2;
            cvt.u64.u32  %rd7, %r2;
            cvt.s64.s32  %rd8, %rd6;
            mul.lo.s64  %rd9, %rd8, %rd7;
            shl.b64  %rd10, %rd9, 2;
            mul.wide.u32  %rd11, %r3, 16;
            add.s64  %rd12, %rd10, %rd11;
            add.s64  %rd17, %rd5, %rd12;
            mov.b32  %r31, 0f00000000;
            mov.b32  %r32, %r4;
            $L__BB0_1:
            setp.ge.s32  %p1, %r32, %r1;
            @%p1 bra  $L__BB0_3;
            ld.global.nc.v4.b32  {%r24, %r25, %r26, %r27}, [%rd17];
            add.rn.f32  %r28, %r24, %r25;
            add.rn.f32  %r29, %r26, %r27;
            add.rn.f32  %r30, %r28, %r29;
            add.rn.f32  %r31, %r31, %r30;
            add.s32  %r32, %r32, 1024;
            add.s64  %rd17, %rd17, 4096;
            bra.uni  $L__BB0_1;
            $L__BB0_3:
            shfl.sync.bfly.b32  %r9, %r31, 16, 31, -1;
            add.rn.f32  %r10, %r31, %r9;
            shfl.sync.bfly.b32  %r11, %r10, 8, 31, -1;
            add.rn.f32  %r12, %r10, %r11;
            shfl.sync.bfly.b32  %r13, %r12, 4, 31, -1;
            add.rn.f32  %r14, %r12, %r13;
            shfl.sync.bfly.b32  %r15, %r14, 2, 31, -1;
            add.rn.f32  %r16, %r14, %r15;
            shfl.sync.bfly.b32  %r17, %r16, 1, 31, -1;
            and.b32  %r5, %r3, 31;
            shr.u32  %r6, %r3, 5;
            setp.ne.b32  %p2, %r5, 0;
            mov.b64  %rd14, reduce_sum$shared0;
            @%p2 bra  $L__BB0_5;
            mul.wide.u32  %rd13, %r6, 4;
            add.s64  %rd1, %rd14, %rd13;
            add.rn.f32  %r7, %r16, %r17;
            st.shared.b32  [%rd1], %r7;
            $L__BB0_5:
            bar.sync  0;
            setp.ne.b32  %p3, %r6, 0;
            @%p3 bra  $L__BB0_10;
            setp.lt.u32  %p4, %r5, 8;
            mov.b32  %r33, 0f00000000;
            @%p4 bra  $L__BB0_7;
            bra.uni  $L__BB0_8;
            $L__BB0_7:
            cvt.u64.u32  %rd15, %r4;
            add.s64  %rd2, %rd14, %rd15;
            ld.shared.b32  %r33, [%rd2];
            $L__BB0_8:
            shfl.sync.bfly.b32  %r18, %r33, 4, 31, -1;
            add.rn.f32  %r19, %r33, %r18;
            shfl.sync.bfly.b32  %r20, %r19, 2, 31, -1;
            add.rn.f32  %r21, %r19, %r20;
            shfl.sync.bfly.b32  %r22, %r21, 1, 31, -1;
            @%p2 bra  $L__BB0_10;
            shl.b32  %r23, %r2, 2;
            cvt.u64.u32  %rd16, %r23;
            add.s64  %rd3, %rd4, %rd16;
            add.rn.f32  %r8, %r21, %r22;
            st.global.b32  [%rd3], %r8;
            $L__BB0_10:
            ret;
            }
        "#]],
    );
}
