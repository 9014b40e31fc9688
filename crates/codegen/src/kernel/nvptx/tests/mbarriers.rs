// SPDX-License-Identifier: Apache-2.0
//! Mbarriers in PTX.

use super::*;

#[test]
fn those_that_are_made_together_have_one_fence() {
    expect_code(
        "kernel k(v0 out: pointer.global int32 align 4 written) block [32, 1, 1] {
          shared0 bars: uint64 bytes 24 align 8
          v1: int32 = const 1
          v2: pointer.shared = shared0
          v3: int64 = const 8
          v4: pointer.shared = offset v2, v3
          v5: int64 = const 16
          v6: pointer.shared = offset v2, v5
          call mbarrier.init(v2, v1)
          call mbarrier.init(v4, v1)
          store v0, v1 align 4
          call mbarrier.init(v6, v1)
        }",
        "sm_90",
        expect![[r#"
            {
            // demoted variable
            .shared .align 8 .b8 k$shared0[24];
            ld.param.b64  %rd4, [k_param_0];
            mov.b64  %rd1, k$shared0;
            mov.b32  %r1, 1;
            // begin inline asm
            mbarrier.init.shared::cta.b64 [%rd1], %r1;
            // end inline asm
            add.s64  %rd2, %rd1, 8;
            // begin inline asm
            mbarrier.init.shared::cta.b64 [%rd2], %r1; fence.mbarrier_init.release.cluster; fence.proxy.async;
            // end inline asm
            st.global.b32  [%rd4], 1;
            add.s64  %rd3, %rd1, 16;
            // begin inline asm
            mbarrier.init.shared::cta.b64 [%rd3], %r1; fence.mbarrier_init.release.cluster; fence.proxy.async;
            // end inline asm
            ret;
            }
        "#]],
    );
}
