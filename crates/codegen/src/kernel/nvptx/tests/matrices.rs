// SPDX-License-Identifier: Apache-2.0
//! Matrices that the lanes of a warp hold together, in PTX.

use super::*;

#[test]
fn matrices_are_loaded_multiplied_and_stored() {
    expect_code(
        "kernel k(v0 x: pointer.global float32 align 16 written) block [32, 1, 1] {
          shared0 there: uint16 bytes 512 align 16
          v1: pointer.shared = shared0
          v2: uint16x8 = call matrix.load4(v1, rows)
          v3: bfloat16x8 = bitcast v2
          v4: uint16x4 = call matrix.load2(v1, columns)
          v5: bfloat16x4 = bitcast v4
          v6: float32x4 = load v0 align 16
          v7: float32x4 = call mma.m16n8k16(v3, v5, v6)
          store v0, v7 align 16
          call matrix.store2(v1, v4, rows)
        }",
        "sm_90",
        expect![[r#"
            {
            // demoted variable
            .shared .align 16 .b8 k$shared0[512];
            ld.param.b64  %rd2, [k_param_0];
            mov.b64  %rd1, k$shared0;
            // begin inline asm
            ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%r5, %r6, %r7, %r8}, [%rd1];
            // end inline asm
            // begin inline asm
            ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 {%r9, %r10}, [%rd1];
            // end inline asm
            ld.global.v4.b32  {%r11, %r12, %r13, %r14}, [%rd2];
            // begin inline asm
            mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%r1, %r2, %r3, %r4}, {%r5, %r6, %r7, %r8}, {%r9, %r10}, {%r11, %r12, %r13, %r14};
            // end inline asm
            st.global.v4.b32  [%rd2], {%r1, %r2, %r3, %r4};
            // begin inline asm
            stmatrix.sync.aligned.m8n8.x2.shared.b16 [%rd1], {%r9, %r10};
            // end inline asm
            ret;
            }
        "#]],
    );
}

#[test]
fn floats_are_rounded_before_they_are_multiplied_and_bytes_have_signs_of_their_own() {
    expect_code(
        "kernel k(v0 x: pointer.global float32 align 16 written) block [32, 1, 1] {
          v1: float32x4 = load v0 align 16
          v2: float32x2 = load v0 align 8
          v3: float32x4 = call mma.m16n8k8(v1, v2, v1)
          store v0, v3 align 16
          v4: int8x16 = bitcast v1
          v5: uint8x8 = bitcast v2
          v6: int32x4 = bitcast v1
          v7: int32x4 = call mma.m16n8k32(v4, v5, v6)
          store v0, v7 align 16
        }",
        "sm_80",
        expect![[r#"
            {
            ld.param.b64  %rd1, [k_param_0];
            ld.global.v4.b32  {%r13, %r14, %r15, %r16}, [%rd1];
            // begin inline asm
            cvt.rna.tf32.f32 %r7, %r13;
            // end inline asm
            // begin inline asm
            cvt.rna.tf32.f32 %r8, %r14;
            // end inline asm
            // begin inline asm
            cvt.rna.tf32.f32 %r9, %r15;
            // end inline asm
            // begin inline asm
            cvt.rna.tf32.f32 %r10, %r16;
            // end inline asm
            ld.global.v2.b32  {%r1, %r2}, [%rd1];
            // begin inline asm
            cvt.rna.tf32.f32 %r11, %r1;
            // end inline asm
            // begin inline asm
            cvt.rna.tf32.f32 %r12, %r2;
            // end inline asm
            // begin inline asm
            mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%r3, %r4, %r5, %r6}, {%r7, %r8, %r9, %r10}, {%r11, %r12}, {%r13, %r14, %r15, %r16};
            // end inline asm
            st.global.v4.b32  [%rd1], {%r3, %r4, %r5, %r6};
            // begin inline asm
            mma.sync.aligned.m16n8k32.row.col.s32.s8.u8.s32 {%r17, %r18, %r19, %r20}, {%r13, %r14, %r15, %r16}, {%r1, %r2}, {%r13, %r14, %r15, %r16};
            // end inline asm
            st.global.v4.b32  [%rd1], {%r17, %r18, %r19, %r20};
            ret;
            }
        "#]],
    );
}
