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

/// An arrival orders what the cluster does where it is another block's, and nothing where it is
/// relaxed.
#[test]
fn arrivals_say_what_they_order() {
    expect_code(
        "kernel k() block [32, 1, 1] {
          shared0 bar: uint64 bytes 8 align 8
          v0: pointer.shared = shared0
          v1: int32 = const 1
          v2: pointer.cluster = call shared.map(v0, v1)
          call mbarrier.arrive(v0)
          call mbarrier.arrive_relaxed(v0)
          call mbarrier.arrive(v2)
          call mbarrier.arrive_relaxed(v2)
        }",
        "sm_90",
        expect![[r#"
            {
            // demoted variable
            .shared .align 8 .b8 k$shared0[8];
            mov.b64  %rd1, k$shared0;
            mov.b32  %r1, 1;
            // begin inline asm
            mapa.shared::cluster.u64 %rd2, %rd1, %r1;
            // end inline asm
            // begin inline asm
            mbarrier.arrive.release.cta.shared::cta.b64 _, [%rd1];
            // end inline asm
            // begin inline asm
            mbarrier.arrive.relaxed.cta.shared::cta.b64 _, [%rd1];
            // end inline asm
            // begin inline asm
            mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%rd2];
            // end inline asm
            // begin inline asm
            mbarrier.arrive.relaxed.cluster.shared::cluster.b64 _, [%rd2];
            // end inline asm
            ret;
            }
        "#]],
    );
}

#[test]
fn relaxed_arrivals_need_a_later_ptx() {
    let version = |arrive: &str| {
        let text = format!(
            "kernel k() block [32, 1, 1] {{
               shared0 bar: uint64 bytes 8 align 8
               v0: pointer.shared = shared0
               call mbarrier.{arrive}(v0)
             }}"
        );
        super::super::needs::needed_ptx(&[&kernel(&text)]).to_string()
    };
    assert_eq!([version("arrive"), version("arrive_relaxed")], ["8.0", "8.6"]);
}
