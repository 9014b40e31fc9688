// SPDX-License-Identifier: Apache-2.0
//! Copies of boxes of tensors by their maps, in PTX.

use super::*;

#[test]
fn boxes_are_copied_by_maps_that_are_passed() {
    expect_code(
        "kernel k(v0 x: pointer.map bfloat16 box [64, 128] swizzle 128, v1 y: pointer.map bfloat16 box [64, 2, 8] written, v2 i: int32) block [32, 1, 1] {
          shared0 tile: bfloat16 bytes 16384 align 1024
          shared1 bar: uint64 bytes 8 align 8
          v3: pointer.shared = shared0
          v4: pointer.shared = shared1
          v5: int32 = const 0
          call tma.load2(v3, v0, v4, v2, v5)
          call tma.store3(v1, v3, v5, v2, v2)
        }",
        "sm_90",
        expect![[r#"
            {
            // demoted variable
            .shared .align 1024 .b8 k$shared0[16384];
            // demoted variable
            .shared .align 8 .b8 k$shared1[8];
            mov.b64  %rd5, k_param_0;
            mov.b64  %rd6, k_param_1;
            ld.param.b32  %r2, [k_param_2];
            cvta.param.u64  %rd2, %rd5;
            mov.b64  %rd1, k$shared0;
            mov.b64  %rd3, k$shared1;
            mov.b32  %r1, 0;
            // begin inline asm
            cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [%rd1], [%rd2, {%r2, %r1}], [%rd3];
            // end inline asm
            cvta.param.u64  %rd4, %rd6;
            // begin inline asm
            cp.async.bulk.tensor.3d.global.shared::cta.bulk_group [%rd4, {%r1, %r2, %r2}], [%rd1];
            // end inline asm
            ret;
            }
        "#]],
    );
}

#[test]
fn boxes_go_to_several_blocks_are_combined_and_fetched() {
    expect_code(
        "kernel k(v0 m: pointer.map int32 box [4, 2] written, v1 blocks: uint16) block [32, 1, 1] {
          shared0 tile: int32 bytes 32 align 128
          shared1 bar: uint64 bytes 8 align 8
          v2: pointer.shared = shared0
          v3: pointer.shared = shared1
          v4: int32 = const 5
          v5: int32 = const 7
          call tma.prefetch2(v0, v4, v5)
          call tma.multicast2(v2, v0, v3, v1, v4, v5)
          call fence.proxy_async_shared()
          call tma.reduce2(v0, v2, max, v4, v5)
        }",
        "sm_90",
        expect![[r#"
            {
            // demoted variable
            .shared .align 128 .b8 k$shared0[32];
            // demoted variable
            .shared .align 8 .b8 k$shared1[8];
            mov.b64  %rd4, k_param_0;
            ld.param.b16  %rs1, [k_param_1];
            cvta.param.u64  %rd2, %rd4;
            mov.b32  %r1, 5;
            mov.b32  %r2, 7;
            // begin inline asm
            cp.async.bulk.prefetch.tensor.2d.L2.global [%rd2, {%r1, %r2}];
            // end inline asm
            mov.b64  %rd1, k$shared0;
            mov.b64  %rd3, k$shared1;
            // begin inline asm
            cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster [%rd1], [%rd2, {%r1, %r2}], [%rd3], %rs1;
            // end inline asm
            // begin inline asm
            fence.proxy.async.shared::cta;
            // end inline asm
            // begin inline asm
            cp.reduce.async.bulk.tensor.2d.global.shared::cta.max.bulk_group [%rd2, {%r1, %r2}], [%rd1];
            // end inline asm
            ret;
            }
        "#]],
    );
}
