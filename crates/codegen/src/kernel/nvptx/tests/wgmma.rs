// SPDX-License-Identifier: Apache-2.0
//! Products of warpgroups, in PTX.

use super::*;

#[test]
fn sums_go_through_products_and_waits() {
    expect_code(
        "kernel k(v0 x: pointer.global float32 align 16 written) block [128, 1, 1] {
          shared0 a: bfloat16 bytes 2048 align 1024
          shared1 b: bfloat16 bytes 1024 align 1024
          local0 acc: float32 count 4
          v1: pointer.shared = shared0
          v2: pointer.shared = shared1
          v3: bool = const false
          call wgmma.fence()
          call wgmma.shared(local0, 0, v1, v2, v3, bfloat16, 8, k, swizzle32, 16, 256, k, swizzle32, 16, 256)
          call wgmma.commit()
          call wgmma.wait(0)
          v4: pointer.local = local0
          v5: float32x4 = load v4 align 16
          store v0, v5 align 16
        }",
        "sm_90a",
        expect![[r#"
            {
            // demoted variable
            .shared .align 1024 .b8 k$shared0[2048];
            // demoted variable
            .shared .align 1024 .b8 k$shared1[1024];
            ld.param.b64  %rd3, [k_param_0];
            // begin inline asm
            wgmma.fence.sync.aligned;
            // end inline asm
            mov.b64  %rd4, k$shared0;
            cvt.u32.u64  %r5, %rd4;
            shr.s32  %r6, %r5, 4;
            add.s32  %r7, %r6, 65536;
            cvt.u64.u32  %rd5, %r7;
            or.b64  %rd1, %rd5, -4611685949707911168;
            mov.b64  %rd6, k$shared1;
            cvt.u32.u64  %r8, %rd6;
            shr.s32  %r9, %r8, 4;
            add.s32  %r10, %r9, 65536;
            cvt.u64.u32  %rd7, %r10;
            or.b64  %rd2, %rd7, -4611685949707911168;
            mov.b32  %r1, 0;
            mov.b32  %r2, %r1;
            mov.b32  %r3, %r1;
            mov.b32  %r4, %r1;
            // begin inline asm
            { .reg .pred accumulate; setp.ne.b32 accumulate, %r1, 0; wgmma.mma_async.sync.aligned.m64n8k16.f32.bf16.bf16 {%r1, %r2, %r3, %r4}, %rd1, %rd2, accumulate, 1, 1, 0, 0; }
            // end inline asm
            // begin inline asm
            wgmma.commit_group.sync.aligned;
            // end inline asm
            // begin inline asm
            wgmma.wait_group.sync.aligned 0;
            // end inline asm
            st.global.v4.b32  [%rd3], {%r1, %r2, %r3, %r4};
            ret;
            }
        "#]],
    );
}

/// Of 16 bytes and multiples of that; of others the address is computed.
#[test]
fn what_is_constant_in_an_address_is_added_to_what_tells_it() {
    expect_code(
        "kernel k(v0 x: pointer.global float32 align 16 written) block [128, 1, 1] {
          shared0 a: bfloat16 bytes 8192 align 1024
          local0 acc: float32 count 4
          v1: pointer.shared = shared0
          v2: bool = const false
          v3: int64 = call warpgroup_idx()
          v4: int64 = const 2048
          v5: int64 = mul v3, v4
          v6: pointer.shared = offset v1, v5
          v7: int64 = const 1056
          v8: int64 = add v5, v7
          v9: pointer.shared = offset v1, v8
          v10: int64 = const 8
          v11: int64 = add v5, v10
          v12: pointer.shared = offset v1, v11
          call wgmma.fence()
          call wgmma.shared(local0, 0, v6, v6, v2, bfloat16, 8, k, swizzle32, 16, 256, k, swizzle32, 16, 256)
          call wgmma.shared(local0, 0, v9, v12, v2, bfloat16, 8, k, swizzle32, 16, 256, k, swizzle32, 16, 256)
          call wgmma.commit()
          call wgmma.wait(0)
          v13: pointer.local = local0
          v14: float32x4 = load v13 align 16
          store v0, v14 align 16
        }",
        "sm_90a",
        expect![[r#"
            {
            // demoted variable
            .shared .align 1024 .b8 k$shared0[8192];
            ld.param.b64  %rd4, [k_param_0];
            mov.u32  %r6, %tid.x;
            shl.b32  %r7, %r6, 4;
            and.b32  %r8, %r7, 14336;
            cvt.u64.u32  %rd5, %r8;
            mov.b64  %rd6, k$shared0;
            add.s64  %rd7, %rd6, %rd5;
            // begin inline asm
            wgmma.fence.sync.aligned;
            // end inline asm
            cvt.u32.u64  %r9, %rd7;
            shr.s32  %r10, %r9, 4;
            add.s32  %r11, %r10, 65536;
            cvt.u64.u32  %rd8, %r11;
            or.b64  %rd1, %rd8, -4611685949707911168;
            mov.b32  %r1, 0;
            mov.b32  %r2, %r1;
            mov.b32  %r3, %r1;
            mov.b32  %r4, %r1;
            mov.b32  %r5, %r1;
            // begin inline asm
            { .reg .pred accumulate; setp.ne.b32 accumulate, %r5, 0; wgmma.mma_async.sync.aligned.m64n8k16.f32.bf16.bf16 {%r2, %r3, %r4, %r5}, %rd1, %rd1, accumulate, 1, 1, 0, 0; }
            // end inline asm
            add.s32  %r12, %r10, 65602;
            cvt.u64.u32  %rd9, %r12;
            or.b64  %rd2, %rd9, -4611685949707911168;
            add.s32  %r13, %r9, 8;
            shr.s32  %r14, %r13, 4;
            add.s32  %r15, %r14, 65536;
            cvt.u64.u32  %rd10, %r15;
            or.b64  %rd3, %rd10, -4611685949707911168;
            // begin inline asm
            { .reg .pred accumulate; setp.ne.b32 accumulate, %r1, 0; wgmma.mma_async.sync.aligned.m64n8k16.f32.bf16.bf16 {%r2, %r3, %r4, %r5}, %rd2, %rd3, accumulate, 1, 1, 0, 0; }
            // end inline asm
            // begin inline asm
            wgmma.commit_group.sync.aligned;
            // end inline asm
            // begin inline asm
            wgmma.wait_group.sync.aligned 0;
            // end inline asm
            st.global.v4.b32  [%rd4], {%r2, %r3, %r4, %r5};
            ret;
            }
        "#]],
    );
}

#[test]
fn warpgroups_hand_registers_to_one_another() {
    expect_code(
        "kernel k() block [256, 1, 1] {
          v0: int64 = call warpgroup_idx()
          v1: int64 = const 0
          v2: bool = eq v0, v1
          if v2 {
            call registers.decrease(40)
          } else {
            call registers.increase(232)
          }
        }",
        "sm_90a",
        expect![[r#"
            {
            mov.u32  %r1, %tid.x;
            shr.u32  %r2, %r1, 7;
            setp.ne.b32  %p1, %r2, 0;
            @%p1 bra  $L__BB0_3;
            bra.uni  $L__BB0_1;
            $L__BB0_3:
            // begin inline asm
            setmaxnreg.inc.sync.aligned.u32 232;
            // end inline asm
            bra.uni  $L__BB0_2;
            $L__BB0_1:
            // begin inline asm
            setmaxnreg.dec.sync.aligned.u32 40;
            // end inline asm
            $L__BB0_2:
            ret;
            }
        "#]],
    );
}
