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
