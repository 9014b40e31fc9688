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
        expect![[""]],
    );
}
