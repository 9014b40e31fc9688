// SPDX-License-Identifier: Apache-2.0
//! Products of warpgroups that the language refuses, and operations do not. Others have their cases
//! in the suite: `tests/suite/kernels/warpgroups.md` and `findings.md`.

use super::trial;
use expect_test::expect;

/// Each warp finds it, of either factor.
#[test]
fn an_array_is_aligned_as_swizzles_ask_for() {
    let text = "kernel k() block [128, 1, 1] {
  shared0 a: bfloat16 bytes 4096 align 128
  local0 acc: float32 count 4
  v0: pointer.shared = shared0
  v1: int32 = call thread_idx.x()
  v2: int64 = convert v1
  v3: int64 = const 32
  v4: int64 = mul v2, v3
  v5: pointer.shared = offset v0, v4
  v6: bfloat16 = const 0.0
  v7: bfloat16x8 = splat v6
  v8: int64 = const 16
  v9: pointer.shared = offset v5, v8
  store v5, v7 align 16
  store v9, v7 align 16
  v10: bool = const false
  call fence.proxy_async()
  call barrier()
  call wgmma.fence()
  call wgmma.shared(local0, 0, v0, v0, v10, bfloat16, 8, k, swizzle32, 16, 256, k, swizzle32, 16, 256)
  call wgmma.commit()
  call wgmma.wait(0)
}";
    trial(text, 1, 128).expect_findings(expect![[r#"
        error[misaligned-access]: `a` is aligned to 128 bytes, and a swizzle of 32 asks for 256, in thread (0, 0, 0) of block (0, 0, 0)
        found 8 times
    "#]]);
}
