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
        expect![[""]],
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
        expect![[""]],
    );
}
